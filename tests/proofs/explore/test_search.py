"""The exhaustive search: exact counts, shortest failures, workers, limits, and what it does at the boundary."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from blockpool.proofs.core.claim_names import DEFINED
from blockpool.proofs.core.memory import memory_left
from blockpool.proofs.explore import search
from blockpool.proofs.explore.machines import PoolMachine
from blockpool.proofs.explore.scopes import Scope, vocabulary
from blockpool.proofs.explore.search import Exploration, explore
from blockpool.spec import (
    INVARIANTS,
    STEP_PROPERTIES,
    Action,
    CacheFullBlocks,
    FreeBlocks,
    GetNewBlocks,
    GetUsage,
    Life,
    Pool,
    Prefix,
    Step,
    TakeEvents,
    Touch,
)

TINY = Scope("tiny", "2 blocks, a partial and a full key, 1 watcher", 2, watchers=1)
ONE_BLOCK = replace(TINY, blocks=1)
TWO_BLOCKS = replace(TINY, batch=2, max_refs=1, max_watches=1)


@dataclass
class Noting:
    """A follower that agrees with everything except what `objects` is true of."""

    objects: Callable[[Pool, Action[Any]], bool] = lambda pool, action: False
    seen: list[Pool] = field(default_factory=list)

    def follow(self, pool: Pool, action: Action[Any], allowed: Sequence[Step]) -> str | None:
        self.seen.append(pool)
        return "objection" if self.objects(pool, action) else None


def claims_that(monkeypatch: pytest.MonkeyPatch, judge: Callable[[Pool], bool | None]) -> None:
    """Put a wrong claim in the place of a right one."""
    planted = [
        replace(claim, judge=judge) if claim.name == "counts_are_never_negative" else claim for claim in INVARIANTS
    ]
    monkeypatch.setattr(PoolMachine, "invariants", planted)


def calls_of(found: Exploration, claim: str) -> list[Action[Any]]:
    """The calls to the failure, without those that take the events."""
    trace = found.trace(found.tally.failures[claim])
    return [line.action for line in trace if not isinstance(line.action, TakeEvents)]


# --- how much there is ---


def test_the_smallest_scope_counted_by_hand() -> None:
    scope = Scope("counted", "", 1, (Prefix((0,)),), block_sizes=(1,), watchers=0, batch=1, unpinned=1)
    scope = replace(scope, caching=False, reporting=False)
    found = explore(scope)
    # The block is held 0, 1 or 2 times; 70 calls in each; each with one outcome. From 2 references a touch leads to 3,
    # which is over the boundary.
    assert sorted(pool.refs[1] for pool in found.states) == [0, 1, 2]
    assert len(vocabulary(scope)) == 70
    assert found.tally.steps == 3 * 70
    assert found.raw_states == 3
    assert found.stopped is None
    assert not found.tally.failures
    assert found.tally.refused == sum(n for (_, what), n in found.tally.taken.items() if what != "taken") - sum(
        len(action.guard(pool)) - 1 for pool in found.states for action in vocabulary(scope) if action.guard(pool)
    )


@pytest.mark.parametrize(
    ("scope", "states", "raw_states"),
    [
        (ONE_BLOCK, 24, 24),
        (replace(ONE_BLOCK, watchers=2), 36, 48),
        (TWO_BLOCKS, 122, 240),
    ],
    ids=["one block", "one block, two watchers", "two blocks"],
)
def test_exact_counts(scope: Scope, states: int, raw_states: int) -> None:
    """The counts of one block by hand: held 0, 1 or 2 times; no key, either, or the long one with an alias; watched by

    any of the watchers. Two watchers make 4 sets, 3 up to their names. The last is as recorded; a search without
    symmetry, in test_symmetry.py, confirms such counts, and those of steps.
    """
    found = explore(scope)
    assert (len(found.states), found.raw_states) == (states, raw_states)
    assert not found.tally.failures
    assert found.tally.followed == 0


# --- shortest ---


def is_held_twice(pool: Pool) -> bool:
    return 2 in pool.refs.values()


def all_are_held(pool: Pool) -> bool:
    return not pool.queue


def is_cached(pool: Pool) -> bool:
    return any(pool.life_of(block) is Life.CACHED for block in pool.lendable)


def has_two_copies(pool: Pool) -> bool:
    return any(len(blocks) == 2 for blocks in pool.index.values())


def has_an_alias_and_is_watched(pool: Pool) -> bool:
    return any(block in pool.watchers for block in pool.aliases)


def a_cached_block_is_next(pool: Pool) -> bool:
    return len(pool.queue) == 2 and pool.life_of(pool.queue[0]) is Life.CACHED


@pytest.mark.parametrize(
    ("bad", "calls"),
    [
        (is_held_twice, 1),  # touch it twice
        (all_are_held, 1),  # get both
        (is_cached, 3),  # get, publish, free
        (has_two_copies, 3),  # get both, publish each
        (has_an_alias_and_is_watched, 4),  # get, publish long, publish short, unpin
        (a_cached_block_is_next, 3),  # get both, publish one, unpin both in that order
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
@pytest.mark.parametrize("reporting", [True, False], ids=["events", "quiet"])
def test_the_first_failure_is_a_shortest(
    monkeypatch: pytest.MonkeyPatch, bad: Callable[[Pool], bool], calls: int, reporting: bool
) -> None:
    claims_that(monkeypatch, lambda pool: not bad(pool))
    found = explore(replace(TINY, batch=2, reporting=reporting), first_failure_ends=True)
    assert found.stopped == "a failure was found"
    assert len(calls_of(found, "counts_are_never_negative")) == calls
    trace = found.trace(found.tally.failures["counts_are_never_negative"])
    assert reporting or len(trace) == calls


def test_a_follower_that_objects_is_led_there_by_the_shortest_way() -> None:
    follower = Noting(lambda pool, action: is_cached(pool) and action == GetUsage())
    found = explore(replace(TINY, reporting=False), follower=follower, follow_claim="agrees", first_failure_ends=True)
    *way, last = calls_of(found, "agrees")
    assert found.tally.failures["agrees"].words == "objection"
    assert last == GetUsage()
    assert [action.name for action in way] in (
        ["get_new_blocks", "cache_full_blocks", "free_blocks"],
        ["get_new_blocks", "cache_partial_block", "free_blocks"],
        ["touch", "cache_full_blocks", "free_blocks"],
        ["touch", "cache_partial_block", "free_blocks"],
    )


def test_events_are_taken_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    claims_that(monkeypatch, lambda pool: not is_cached(pool))
    found = explore(ONE_BLOCK, first_failure_ends=True)
    trace = found.trace(found.tally.failures["counts_are_never_negative"])
    assert [line.action.name for line in trace][-2:] == ["take_events", "free_blocks"]


def test_a_broken_step_property_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = [
        replace(
            STEP_PROPERTIES[1], judge=lambda step: not isinstance(step.action, Touch) or len(step.action.blocks) < 2
        )
    ]
    monkeypatch.setattr(PoolMachine, "step_properties", broken)
    found = explore(ONE_BLOCK, first_failure_ends=True)
    [last] = calls_of(found, STEP_PROPERTIES[1].name)
    assert isinstance(last, Touch)
    assert len(last.blocks) == 2


def test_an_exception_of_the_spec_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: FreeBlocks, pool: Pool, answer: None) -> Pool:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(FreeBlocks, "effect", fail)
    found = explore(ONE_BLOCK)
    assert found.tally.failures[DEFINED].words == "ZeroDivisionError: planted"
    assert found.stopped is None
    assert isinstance(calls_of(found, DEFINED)[-1], FreeBlocks)


def test_a_state_that_breaks_an_invariant_is_not_gone_on_from(monkeypatch: pytest.MonkeyPatch) -> None:
    claims_that(monkeypatch, lambda pool: not is_held_twice(pool))
    follower = Noting()
    found = explore(replace(ONE_BLOCK, reporting=False), follower=follower)
    assert not any(map(is_held_twice, found.states))
    assert not any(map(is_held_twice, follower.seen))


# --- the boundary ---


def test_states_behind_the_boundary_are_judged_and_not_gone_on_from(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[int] = []
    claims_that(monkeypatch, lambda pool: judged.append(max(pool.refs.values())) or True)  # type: ignore[func-returns-value]
    follower = Noting()
    found = explore(replace(ONE_BLOCK, max_refs=2, batch=3), follower=follower)
    assert set(judged) == {0, 1, 2, 3, 4, 5}  # from 2, three more in one call
    assert {max(pool.refs.values()) for pool in follower.seen} == {0, 1, 2}
    assert {max(pool.refs.values()) for pool in found.states} == {0, 1, 2}
    assert len(follower.seen) == found.tally.followed


def test_a_failure_behind_the_boundary_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    claims_that(monkeypatch, lambda pool: pool.refs[1] < 3)
    found = explore(replace(ONE_BLOCK, batch=2))
    assert len(calls_of(found, "counts_are_never_negative")) == 2


# --- workers ---

STUB = """
class Objecting:
    def follow(self, pool, action, allowed):
        return "objection" if 2 in map(len, pool.index.values()) and action.name == "touch" else None
"""


def test_workers_change_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "objecting_follower.py").write_text(STUB, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    from objecting_follower import Objecting  # type: ignore[import-not-found]  # workers must be able to import it

    alone, together = (
        explore(TWO_BLOCKS, follower=Objecting(), follow_claim="agrees", workers=workers) for workers in (1, 2)
    )
    assert together.states == alone.states
    assert together.origins == alone.origins
    assert (together.raw_states, together.depth, together.stopped) == (alone.raw_states, alone.depth, None)
    one, two = alone.tally, together.tally
    assert (two.steps, two.refused, two.followed) == (one.steps, one.refused, one.followed)
    assert two.taken == one.taken
    assert two.shown == one.shown
    assert two.failures == one.failures
    assert set(one.failures) == {"agrees"}
    steps = {claim.name for claim in STEP_PROPERTIES}
    assert {n: c for n, c in two.tested.items() if n in steps} == {n: c for n, c in one.tested.items() if n in steps}
    # Workers do not know which states the others have judged already.
    assert all(two.tested[name] >= count for name, count in one.tested.items())


# --- limits ---


def test_a_search_that_grows_too_large_is_given_up() -> None:
    found = explore(TINY, most_states=50)
    assert found.stopped == "50 states were the limit"
    assert 50 < len(found.states) < len(explore(TINY).states)


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_depth(depth: int) -> None:
    follower = Noting()
    found = explore(replace(ONE_BLOCK, reporting=False), depth=depth, follower=follower)
    assert found.stopped == f"depth {depth} was the limit"
    lengths = []
    for state in range(len(found.states)):
        origin, calls = found.origins[state]
        way = list(calls)
        while origin >= 0:
            origin, before = found.origins[origin]
            way = [*before, *way]
        lengths.append(len(way))
    assert max(lengths) == depth + 1  # states reached by the last calls are noted, and nothing is tried from them
    assert len(found.states) < 24
    assert len(set(map(id, follower.seen))) == sum(length <= depth for length in lengths)


def test_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "memory_left", lambda: 0.25)
    found = explore(ONE_BLOCK, memory=0.5)
    assert re.fullmatch(r"only 0\.2 GiB of memory left after \d+ states", found.stopped or "")
    assert found.depth == 1
    assert explore(ONE_BLOCK, memory=0.25).stopped is None
    assert explore(ONE_BLOCK, memory=None).stopped is None


def test_how_much_memory_is_left() -> None:
    assert 0 < memory_left() < 2**20


def test_where_the_system_does_not_tell_memory_is_endless(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError

    monkeypatch.setattr("builtins.open", fail)
    assert memory_left() == float("inf")


def test_an_interrupt_keeps_what_was_found() -> None:
    def interrupt(pool: Pool, action: Action[Any]) -> bool:
        if is_cached(pool):
            raise KeyboardInterrupt
        return False

    found = explore(ONE_BLOCK, follower=Noting(interrupt))
    assert found.stopped == "interrupted"
    assert 1 < len(found.states) < 24
    assert found.tally.steps > 0


# --- what is noted along the way ---


def test_progress_is_reported() -> None:
    lines: list[str] = []
    found = explore(ONE_BLOCK, progress=lines.append)
    assert all(
        re.fullmatch(r"tiny: depth \d+, [\d,]+ states, [\d,]+ steps, [\d,]+ states to go", line) for line in lines
    )
    assert len(lines) >= 5
    assert lines[-1] == f"tiny: depth 5, 24 states, {found.tally.steps:,} steps, 0 states to go"


def test_what_was_taken_and_refused() -> None:
    taken = explore(ONE_BLOCK).tally.taken
    assert taken["get_new_blocks", "bad count"] == 24  # once from every state
    assert taken["get_new_blocks", "taken"] == 24 + 8  # none always; one from the 8 states where the block is free
    assert ("get_new_blocks", "re-entrant") not in taken


def test_calls_from_inside_watchers_are_tried_where_the_scope_says_so() -> None:
    nested = replace(ONE_BLOCK, nested=True)
    assert any(pool.telling for pool in explore(nested).states)
    assert not any(pool.telling for pool in explore(ONE_BLOCK).states)
    found = explore(nested)
    witness = found.tally.shown["a_watcher_calls_back_into_the_pool"]
    trace = found.trace(witness)
    assert [line.nested for line in trace][-2:] == [True, False]
    assert isinstance(trace[0].action, GetNewBlocks | Touch)


def test_a_witness_is_a_shortest_one() -> None:
    found = explore(replace(TINY, reporting=False))
    lengths = {name: len(found.trace(witness)) for name, witness in found.tally.shown.items()}
    assert lengths["every_block_is_lent"] == 1  # get both
    assert lengths["a_block_is_shared_by_two_holders"] == 2  # touch twice, publish
    assert lengths["everything_is_free_again"] == 2  # get, free
    assert lengths["a_freed_block_is_hit_and_revived"] == 4  # get, publish, free, touch
    assert lengths["a_cached_block_is_evicted_by_an_allocation"] == 4
    assert lengths["a_partial_block_is_promoted"] == 3  # get, publish a part, publish all
    assert CacheFullBlocks in {
        type(line.action) for line in found.trace(found.tally.shown["a_partial_block_is_promoted"])
    }
