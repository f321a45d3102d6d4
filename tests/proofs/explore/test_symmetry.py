"""Symmetry: renaming changes nothing, anything else does; and the search with it finds what one without it finds."""

import pickle
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockpool.proofs.explore.scopes import Scope, vocabulary
from blockpool.proofs.explore.search import explore
from blockpool.proofs.explore.symmetry import Symmetry, packed
from blockpool.spec import Key, Pool, Prefix, first_state, steps, while_telling

TINY = Scope("tiny", "2 blocks, a partial and a full key, 1 watcher", 2, watchers=1)
NESTED = Scope("nested", "2 blocks, calls from inside 2 watchers", 2, watchers=2, nested=True)
CONTENTS = Scope(
    "contents",
    "two prefixes that part after their first token",
    2,
    (Prefix((0, 1)), Prefix((0, 2))),
    watchers=1,
    batch=2,
)
GROUPS = Scope(
    "groups",
    "2 groups, hash units of 2 tokens, a tail without hash",
    2,
    (Prefix((0, 1, 2, 3, 4)),),
    (0, 1),
    (4,),
    2,
    watchers=1,
)
SMALL_SCOPES = {
    "one block, two watchers": replace(TINY, blocks=1, watchers=2),
    "one block, told": replace(NESTED, blocks=1),
    "two blocks": replace(TINY, batch=1, unpinned=1, max_refs=1, max_watches=1),
    "two contents": replace(CONTENTS, batch=1, unpinned=1, max_refs=1, watchers=0),
    "two groups": replace(GROUPS, prefixes=(Prefix((0, 1, 2)),), batch=1, unpinned=1, max_refs=1, watchers=0),
}
RenamedKeys = Mapping[Key, Key]


def frozen(pool: Pool) -> Any:
    """All of a state, as something that can be hashed."""
    maps = (pool.refs, pool.primary, pool.aliases, pool.index, pool.watchers)
    return pool.queue, pool.telling, *(frozenset(part.items()) for part in maps)


@cache
def without_symmetry(scope: Scope) -> dict[Any, Pool]:
    """Every state of the scope, renamings and all, by a plain breadth-first search."""
    first, calls = scope.first_state(), vocabulary(scope)
    seen, todo = {frozen(first): first}, [first]
    for pool in todo:
        for action in calls:
            for step in steps(pool, action):
                inside = while_telling(step) if scope.nested else None
                for after in filter(None, (replace(step.after, outbox=()), inside)):
                    if scope.admits(after) and frozen(after) not in seen:
                        seen[frozen(after)] = after
                        todo.append(after)
    return seen


def renamed(pool: Pool, blocks: Mapping[int, int], watchers: Mapping[int, int], keys: RenamedKeys) -> Pool:
    """The state with other names, written out variable by variable."""
    return replace(
        pool,
        refs={blocks[block]: count for block, count in pool.refs.items()},
        queue=tuple(blocks[block] for block in pool.queue),
        primary={blocks[b]: primary._replace(key=keys[primary.key]) for b, primary in pool.primary.items()},
        aliases={blocks[b]: frozenset(keys[key] for key in aliases) for b, aliases in pool.aliases.items()},
        index={keys[key]: frozenset(blocks[block] for block in found) for key, found in pool.index.items()},
        watchers={blocks[b]: frozenset(watchers[name] for name in names) for b, names in pool.watchers.items()},
    )


def key_renamings(scope: Scope) -> list[RenamedKeys]:
    """What may be exchanged in these scopes, by hand: the second token of `contents`, the groups of `groups`."""
    keys = scope.all_keys()
    found: list[RenamedKeys] = [{key: key for key in keys}]
    if scope.name == "contents":
        other = {1: 2, 2: 1, 0: 0}
        found.append({k: Key(Prefix(tuple(other[token] for token in k.prefix.tokens)), k.group) for k in keys})
    if scope.name == "groups":
        found.append({k: Key(k.prefix, 1 - k.group) for k in keys})
    return found


def all_renamings(scope: Scope) -> Iterable[tuple[dict[int, int], dict[int, int], RenamedKeys]]:
    blocks, watchers = range(1, scope.blocks + 1), range(scope.watchers)
    for block_order, order, keys in product(permutations(blocks), permutations(watchers), key_renamings(scope)):
        yield dict(zip(blocks, block_order, strict=True)), dict(zip(watchers, order, strict=True)), keys


def test_steps_are_counted_once() -> None:
    """With one block and one watcher there is nothing to rename, so a plain count must agree."""
    scope = replace(TINY, blocks=1, batch=2)
    steps_taken = [
        step
        for pool in without_symmetry(scope).values()
        for action in vocabulary(scope)
        for step in steps(pool, action)
    ]
    reports = sum(bool(step.after.outbox) for step in steps_taken)  # each is followed by a step that takes the events
    assert explore(scope).tally.steps == len(steps_taken) + reports


by_scope = pytest.mark.parametrize("scope", SMALL_SCOPES.values(), ids=SMALL_SCOPES.keys())


@by_scope
def test_the_search_finds_each_state_once_up_to_names(scope: Scope) -> None:
    raw, found, symmetry = without_symmetry(scope), explore(scope), Symmetry(scope)
    canons = {symmetry.canon(pool) for pool in found.states}
    assert len(canons) == len(found.states)
    assert {symmetry.canon(pool) for pool in raw.values()} == canons
    assert found.raw_states == sum(map(symmetry.orbit, found.states)) == len(raw)


@by_scope
def test_states_have_one_canon_exactly_if_one_is_a_renaming_of_the_other(scope: Scope) -> None:
    raw, symmetry = without_symmetry(scope), Symmetry(scope)
    by_canon: dict[Any, set[Any]] = {}
    for name, pool in raw.items():
        by_canon.setdefault(symmetry.canon(pool), set()).add(name)
    for pool in raw.values():
        orbit = {frozen(renamed(pool, *names)) for names in all_renamings(scope)}
        assert by_canon[symmetry.canon(pool)] == orbit
        assert symmetry.orbit(pool) == len(orbit)


@by_scope
def test_packed_descriptions_are_equal_exactly_if_they_are(scope: Scope) -> None:
    symmetry = Symmetry(scope)
    by_bytes: dict[bytes, set[Any]] = {}
    for before, action in product(explore(scope, depth=2).states, vocabulary(scope)):
        for step in steps(before, action):
            description = symmetry.described(step.after)
            as_from_another_process = pickle.loads(pickle.dumps(description))  # equal, but not the same objects
            for one in (description, as_from_another_process):
                by_bytes.setdefault(packed(one), set()).add(one)
    assert len(by_bytes) > 1
    assert all(len(descriptions) == 1 for descriptions in by_bytes.values())
    assert len(set().union(*by_bytes.values())) == len(by_bytes)


LARGER = Scope("small", "3 blocks, 2 watchers", 3, batch=2)
LARGER_STATES = explore(LARGER, depth=1).states
LARGER_SYMMETRY = Symmetry(LARGER)


@given(st.sampled_from(LARGER_STATES), st.permutations([1, 2, 3]), st.permutations([0, 1]))
def test_renaming_changes_nothing(pool: Pool, blocks: list[int], watchers: list[int]) -> None:
    same: RenamedKeys = {key: key for key in LARGER.all_keys()}
    twin = renamed(pool, dict(zip((1, 2, 3), blocks, strict=True)), dict(enumerate(watchers)), same)
    assert LARGER_SYMMETRY.canon(twin) == LARGER_SYMMETRY.canon(pool)
    assert LARGER_SYMMETRY.orbit(twin) == LARGER_SYMMETRY.orbit(pool)


A, AB = LARGER.all_keys()
HELD = replace(first_state(4), refs={1: 1, 2: 1, 3: 0}, queue=(3,))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (first_state(4), replace(first_state(4), telling=True)),
        (HELD, replace(HELD, refs={1: 2, 2: 1, 3: 0})),
        (HELD, replace(HELD, queue=())),
        (HELD, replace(HELD, queue=(3, 3))),
        (replace(HELD, watchers={1: frozenset({0})}), replace(HELD, watchers={3: frozenset({0})})),
        (replace(HELD, watchers={1: frozenset({0})}), replace(HELD, watchers={1: frozenset({0, 1})})),
        (
            replace(HELD, watchers={1: frozenset({0}), 2: frozenset({0})}),
            replace(HELD, watchers={1: frozenset({0}), 2: frozenset({1})}),
        ),
        (replace(HELD, index={A: frozenset({1})}), replace(HELD, index={AB: frozenset({1})})),
        (replace(HELD, index={A: frozenset({1})}), replace(HELD, index={A: frozenset({3})})),
        (replace(HELD, aliases={1: frozenset({A})}), HELD),
        (replace(HELD, index={A: frozenset()}), HELD),
        (HELD, replace(HELD, refs={1: 1, 2: 1, 3: -1})),
    ],
)
def test_states_that_differ_in_more_than_names_are_different(one: Pool, other: Pool) -> None:
    assert LARGER_SYMMETRY.canon(one) != LARGER_SYMMETRY.canon(other)


@pytest.mark.parametrize(
    "changes", [{"queue": (3, 0)}, {"refs": {**HELD.refs, 0: 1}}, {"watchers": {0: frozenset({0})}}]
)
def test_a_state_that_uses_the_null_block_is_different(changes: dict[str, Any]) -> None:
    assert LARGER_SYMMETRY.canon(replace(HELD, **changes)) != LARGER_SYMMETRY.canon(HELD)
