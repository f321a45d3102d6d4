"""Scopes: what is tried in them, that it is closed under renaming, and that too large ones are refused."""

from collections import Counter
from dataclasses import fields, replace
from itertools import permutations
from typing import Any

import pytest

from blockpool.proofs.explore.scopes import MOST_CALLS, SCOPES, Scope, ScopeTooLargeError, narrowed, vocabulary
from blockpool.proofs.explore.search import explore
from blockpool.spec import (
    ACTIONS,
    NULL,
    Action,
    CacheFullBlocks,
    CancelWatch,
    FreeBlocks,
    GroupId,
    Key,
    Prefix,
    Reason,
    Touch,
    UnpinBlocks,
    first_state,
    steps,
)

TINY = Scope("tiny", "2 blocks, a partial and a full key, 1 watcher", 2, watchers=1)
SMALLEST = Scope("smallest", "one block", 1, (Prefix((0,)),), block_sizes=(1,), watchers=0, batch=1, unpinned=1)
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
CUT = {part.name: replace(part, blocks=2, batch=2, max_refs=1) for part in (TINY, CONTENTS, GROUPS)}


def renamed(action: Action[Any], names: dict[int, int]) -> Action[Any]:
    """The same call with other blocks. Null and foreign blocks keep their names."""
    changes: dict[str, Any] = {}
    for field in fields(action):  # type: ignore[arg-type]
        value = getattr(action, field.name)
        if field.name in ("block", "source", "target"):
            changes[field.name] = names.get(value, value)
        elif field.name == "blocks":
            changes[field.name] = type(value)(names.get(block, block) for block in value)
    return replace(action, **changes) if changes else action  # type: ignore[type-var]


def normal(action: Action[Any]) -> Action[Any]:
    """One call for all that differ in what does not matter: null blocks, the order of a touch, what is left out."""
    if isinstance(action, Touch):
        return Touch(tuple(sorted(block for block in action.blocks if block != NULL)))
    if isinstance(action, FreeBlocks):
        return FreeBlocks(tuple(block for block in action.blocks if block != NULL))
    if isinstance(action, CacheFullBlocks) and not action.has_bad_range(first_state(1)):
        # A block that is left out, by a mask or by num_cached, is as good as a null block in its place.
        left = [0] * action.num_full
        for place in range(action.num_cached, action.num_full):
            if action.mask is None or action.mask[place - action.num_cached]:
                left[place] = action.blocks[place]
        return replace(action, blocks=tuple(left), num_cached=0, mask=None)
    return action


@pytest.mark.parametrize("scope", CUT.values(), ids=CUT.keys())
def test_calls_that_do_something_are_closed_under_renaming_of_blocks(scope: Scope) -> None:
    tried = {normal(action) for action in vocabulary(scope)}
    blocks = range(1, scope.blocks + 1)
    effective = {
        step.action
        for pool in explore(scope, depth=4).states[::7]
        for action in vocabulary(scope)
        for step in steps(pool, action)
        if step.after is not pool
    }
    assert len(effective) > 30
    for order in permutations(blocks):
        names = dict(zip(blocks, order, strict=True))
        assert {normal(renamed(action, names)) for action in effective} <= tried


@pytest.mark.parametrize("scope", CUT.values(), ids=CUT.keys())
def test_calls_are_closed_under_renaming_of_watchers(scope: Scope) -> None:
    calls = set(vocabulary(replace(scope, watchers=2)))
    good = set(range(1, scope.blocks + 1))
    watching = [action for action in calls if isinstance(action, UnpinBlocks) and set(action.blocks) <= good]
    watching += [action for action in calls if isinstance(action, CancelWatch) and action.block in good]
    assert len(watching) > 10
    assert {replace(action, watcher=1 - action.watcher) for action in watching} <= calls  # type: ignore[call-arg]


def test_how_many_calls_there_are_counted_by_hand() -> None:
    counted = Counter(action.name for action in vocabulary(SMALLEST))
    assert counted == {
        "get_new_blocks": 4,  # -1, 0, 1, 2
        "touch": 8,  # none, 1; null and foreign alone, before and after 1
        "free_blocks": 8,
        "unpin_blocks": 6,  # null and foreign alone, before and after 1: refused, so one watcher is enough
        "cancel_watch": 2,  # null and foreign
        "cache_full_blocks": 12,  # 2 tables, 2 masks, 1 start behind the end, 1 foreign, 6 bad ranges
        "cache_partial_block": 9,  # 1 token: again or not, null, foreign; 0 and 2 tokens: null, 1; no block size
        "move_block_hashes": 5,
        "evict_blocks": 7,  # none, 1; null and foreign alone and with 1; -1
        "reset_prefix_cache": 1,
        "get_cached_block": 2,  # no group, one group
        "is_block_writable": 3,
        "get_num_free_blocks": 1,
        "get_usage": 1,
        "take_events": 1,
    }


def test_every_action_is_tried_in_every_scope() -> None:
    for parts in SCOPES.values():
        for part in parts:
            assert {type(action) for action in vocabulary(part)} == set(ACTIONS)


def test_wrong_calls_are_tried() -> None:
    first = first_state(3)
    reasons = {reason for action in vocabulary(TINY) for reason in action.guard(first)}
    assert {Reason.BAD_COUNT, Reason.NOT_HELD, Reason.NULL_BLOCK, Reason.UNKNOWN_BLOCK, Reason.BAD_RANGE} <= reasons


def test_the_boundary() -> None:
    scope = replace(TINY, max_refs=2, max_watches=2, watchers=3)
    assert scope.admits(replace(first_state(3), refs={1: 2, 2: 2}))
    assert not scope.admits(replace(first_state(3), refs={1: 3, 2: 0}))
    assert scope.admits(replace(first_state(3), watchers={1: frozenset({0}), 2: frozenset({1})}))
    assert not scope.admits(replace(first_state(3), watchers={1: frozenset({0, 1}), 2: frozenset({1})}))


def test_all_keys_end_at_hash_units() -> None:
    assert [(key.prefix.tokens, key.group) for key in GROUPS.all_keys()] == [
        ((0, 1), 0), ((0, 1), 1), ((0, 1, 2, 3), 0), ((0, 1, 2, 3), 1)
    ]  # fmt: skip
    assert [key.prefix.tokens for key in CONTENTS.all_keys()] == [(0,), (0, 1), (0, 2)]


def test_only_whole_prefixes_and_groups_are_exchanged() -> None:
    assert [len(part.key_symmetries()) for part in (TINY, CONTENTS, GROUPS)] == [1, 2, 2]
    swap = CONTENTS.key_symmetries()[1]
    short, one, two = (Key(Prefix(tokens), GroupId(0)) for tokens in ((0,), (0, 1), (0, 2)))
    assert swap == {short: short, one: two, two: one}
    unequal = replace(CONTENTS, prefixes=(Prefix((0, 1)), Prefix((0, 2, 3))))
    assert len(unequal.key_symmetries()) == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"blocks": 30, "batch": 6}, "different calls from every state"),
        ({"blocks": 0}, "must be at least 1"),
        ({"blocks": -1}, "must be at least 1"),
        ({"batch": 0}, "must be at least 1"),
        ({"unpinned": 0}, "must be at least 1"),
        ({"max_refs": 0}, "must be at least 1"),
        ({"watchers": -1}, "at least 0"),
        ({"blocks": 20}, "Make --blocks or --batch smaller"),
    ],
)
def test_a_scope_that_cannot_be_searched_is_refused(changes: dict[str, int], words: str) -> None:
    scope = replace(TINY, **changes)  # type: ignore[arg-type]
    with pytest.raises(ScopeTooLargeError, match=words):
        vocabulary(scope)
    with pytest.raises(ScopeTooLargeError, match=words):
        explore(scope)


def test_a_scope_with_too_many_names_to_exchange_is_refused() -> None:
    with pytest.raises(ScopeTooLargeError):
        replace(TINY, blocks=1, watchers=9).check_size()


def test_the_scopes_of_the_command_are_far_from_the_limit() -> None:
    for parts in SCOPES.values():
        for part in parts:
            part.check_size()
            assert len(vocabulary(part)) < MOST_CALLS / 10


def test_a_narrowed_scope_expects_no_counts() -> None:
    parts = (replace(TINY, expected=(1, 2)),)
    assert narrowed(parts, blocks=None, batch=None) is parts
    [part] = narrowed(parts, blocks=1, batch=None, watchers=0)
    assert (part.blocks, part.batch, part.watchers, part.expected) == (1, TINY.batch, 0, None)
    with pytest.raises(ScopeTooLargeError):
        narrowed(parts, blocks=0)
