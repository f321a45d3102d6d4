"""Each claim can be broken: a bad state or step, made by hand, on which its judge answers False; and a good one.

Also what each possibility accepts as shown, and what it does not.
"""

from dataclasses import replace
from typing import Any

import pytest

from blockpool.spec import (
    CLAIMS,
    INVARIANTS,
    POSSIBILITIES,
    STEP_PROPERTIES,
    Action,
    CacheFullBlocks,
    CachePartialBlock,
    CancelWatch,
    Cleared,
    EvictBlocks,
    FreeBlocks,
    GetCachedBlock,
    GetNewBlocks,
    GetNumFreeBlocks,
    GetUsage,
    Handed,
    Invariant,
    Key,
    MoveBlockHashes,
    Pool,
    Possibility,
    Prefix,
    Primary,
    Reason,
    Removed,
    ResetDone,
    ResetPrefixCache,
    Step,
    StepProperty,
    Stored,
    TakeEvents,
    Touch,
    UnpinBlocks,
    first_state,
)
from blockpool.spec.claims.claim import collect

PROMPT = Prefix((1, 2, 3))
A, AB, ABC = (Key(Prefix(PROMPT.tokens[:end]), 0) for end in (1, 2, 3))
NONE: frozenset[Any] = frozenset()
JUDGES = {claim.name: claim.judge for claim in CLAIMS}

NEW = first_state(4)
# 1 is held and published, 2 is cached and has an alias, 3 is free and watched.
GOOD = replace(
    NEW,
    refs={1: 1, 2: 0, 3: 0},
    queue=(2, 3),
    primary={1: Primary(A, 1), 2: Primary(AB, 2)},
    aliases={2: frozenset({A})},
    index={A: frozenset({1, 2}), AB: frozenset({2})},
    watchers={3: frozenset({0})},
)
# 1 is private
PRIVATE = replace(NEW, refs={1: 1, 2: 0, 3: 0}, queue=(2, 3))

BAD_STATES: list[tuple[str, Pool]] = [
    ("every_block_is_free_or_held", replace(GOOD, queue=(2,))),
    ("every_block_is_free_or_held", replace(GOOD, queue=(2, 3, 1))),
    ("every_block_is_free_or_held", replace(GOOD, queue=(1, 2, 3))),
    ("every_lendable_block_is_counted", replace(GOOD, refs={1: 1, 2: 0})),
    ("every_lendable_block_is_counted", replace(GOOD, refs={1: 1, 2: 0, 3: 0, 4: 0})),
    ("a_block_is_queued_at_most_once", replace(GOOD, queue=(2, 3, 2))),
    ("queued_blocks_are_unheld", replace(GOOD, queue=(1, 2))),
    ("queued_blocks_are_unheld", replace(GOOD, queue=(2, 7))),
    ("unheld_blocks_are_queued", replace(GOOD, queue=(2,))),
    ("counts_are_never_negative", replace(GOOD, refs={1: 1, 2: -1, 3: 0})),
    ("coverage_is_the_length_of_the_primary_key", replace(GOOD, primary={1: Primary(AB, 1)})),
    ("aliases_need_a_primary", replace(GOOD, aliases={3: frozenset({A})})),
    ("aliases_need_a_primary", replace(GOOD, aliases={2: frozenset({AB})})),
    ("aliases_need_a_primary", replace(GOOD, aliases={2: NONE})),
    ("no_alias_covers_more_than_the_primary", replace(GOOD, aliases={2: frozenset({A, ABC})})),
    ("every_key_of_a_block_is_in_the_index", replace(GOOD, index={A: frozenset({1, 2})})),
    ("every_key_of_a_block_is_in_the_index", replace(GOOD, index={A: frozenset({1}), AB: frozenset({2})})),
    ("the_index_answers_only_blocks_that_carry_the_key", replace(GOOD, primary={2: Primary(AB, 2)})),
    ("the_index_answers_only_blocks_that_carry_the_key", replace(GOOD, aliases={})),
    ("no_index_entry_is_empty", replace(GOOD, index={**GOOD.index, ABC: NONE})),
    ("the_null_block_is_never_used", replace(GOOD, refs={0: 1, **GOOD.refs})),
    ("the_null_block_is_never_used", replace(GOOD, queue=(2, 3, 0))),
    ("the_null_block_is_never_used", replace(GOOD, primary={0: Primary(A, 1)})),
    ("the_null_block_is_never_used", replace(GOOD, aliases={0: frozenset({A})})),
    ("the_null_block_is_never_used", replace(GOOD, watchers={0: frozenset({0})})),
    ("the_null_block_is_never_used", replace(GOOD, index={A: frozenset({0, 1})})),
    ("only_lendable_blocks_are_watched", replace(GOOD, watchers={3: NONE})),
    ("only_lendable_blocks_are_watched", replace(GOOD, watchers={4: frozenset({0})})),
    ("only_lendable_blocks_are_watched", replace(GOOD, watchers={0: frozenset({0})})),
    ("a_writable_block_cannot_be_observed", replace(PRIVATE, index={A: frozenset({1})})),
    ("without_caching_nothing_is_findable", replace(GOOD, caching=False)),
    ("without_caching_nothing_is_findable", replace(NEW, caching=False, index={A: frozenset({1})})),
    ("without_caching_nothing_is_findable", replace(NEW, caching=False, aliases={1: frozenset({A})})),
]


def step(before: Pool, action: Action[Any], answer: Any = None, *refused: Reason, **changes: Any) -> Step:
    """A step that changes these state variables."""
    return Step(before, action, frozenset(refused), answer, replace(before, **changes) if changes else before)


TURNED = {"queue": (3, 2)}
LENT = {"refs": {1: 1, 2: 1, 3: 0}, "queue": (3,)}
GET_ONE = GetNewBlocks(1)
GOT_TWO = Handed((2,), NONE)
PUBLISH = CacheFullBlocks(PROMPT, (1,), 0, 1, 1, 0)
PUBLISHED: dict[str, Any] = {"primary": {1: Primary(A, 1)}, "index": {A: frozenset({1})}}
UNPINNED: dict[str, Any] = {"refs": {1: 0, 2: 0, 3: 0}, "queue": (2, 3, 1), "watchers": {1: frozenset({0})}}
ALL_FREE = replace(GOOD, refs={1: 0, 2: 0, 3: 0}, queue=(2, 3, 1))


def stored(keys: tuple[Key, ...], parent: Key | None, tokens: tuple[int, ...], size: int = 1) -> Step:
    return step(PRIVATE, PUBLISH, None, outbox=(Stored(keys, parent, tokens, size),))


BAD_STEPS: list[tuple[str, Step]] = [
    ("a_refused_call_changes_nothing", step(GOOD, GET_ONE, None, Reason.RE_ENTRANT, **TURNED)),
    ("a_query_changes_nothing", step(GOOD, GetUsage(), 0.5, **TURNED)),
    ("a_query_changes_nothing", step(GOOD, GetCachedBlock(PROMPT, ()), (), watchers={})),
    ("survivors_keep_their_order", step(GOOD, Touch(()), **TURNED)),
    ("survivors_keep_their_order", step(GOOD, FreeBlocks((1,)), queue=(3, 1, 2))),
    ("blocks_join_the_queue_only_at_its_ends", step(GOOD, FreeBlocks((1,)), queue=(2, 1, 3))),
    ("only_lending_calls_change_the_queue", step(GOOD, EvictBlocks(frozenset({2})), queue=(3,))),
    ("only_lending_calls_change_the_queue", step(GOOD, ResetPrefixCache(), ResetDone(False, NONE), **TURNED)),
    ("blocks_are_handed_out_from_the_front", step(GOOD, GET_ONE, Handed((3,), NONE), queue=(2,))),
    ("blocks_are_handed_out_from_the_front", step(GOOD, GetNewBlocks(2), Handed((3, 2), NONE), queue=())),
    ("blocks_are_handed_out_from_the_front", step(GOOD, GET_ONE, GOT_TWO, queue=(3, 2))),
    ("a_block_handed_out_is_the_callers_alone", step(PRIVATE, GET_ONE, Handed((1,), NONE))),
    ("a_block_handed_out_is_the_callers_alone", step(GOOD, GET_ONE, GOT_TWO, **LENT)),  # it keeps its keys
    ("a_block_handed_out_is_the_callers_alone", step(PRIVATE, GET_ONE, GOT_TWO, watchers={2: NONE}, **LENT)),
    ("a_block_handed_out_is_the_callers_alone", step(PRIVATE, GET_ONE, GOT_TWO, refs={1: 1, 2: 2, 3: 0})),
    ("a_block_handed_out_is_the_callers_alone", step(PRIVATE, GetNewBlocks(2), Handed((2, 2), NONE), **LENT)),
    ("references_change_only_as_asked", step(GOOD, Touch((2, 2)), **LENT)),
    ("references_change_only_as_asked", step(GOOD, GET_ONE, GOT_TWO, queue=(3,))),
    ("references_change_only_as_asked", step(GOOD, FreeBlocks((1,)), refs={1: -1, 2: 0, 3: 0})),
    ("references_change_only_as_asked", step(GOOD, UnpinBlocks((1,), 0), refs={1: 0, 2: 1, 3: 0})),
    ("references_change_only_as_asked", step(GOOD, EvictBlocks(NONE), **LENT)),
    ("references_change_only_as_asked", step(GOOD, Touch((0,)), **LENT)),
    ("a_watcher_leaves_by_being_told_or_cancelled", step(GOOD, GET_ONE, GOT_TWO, watchers={})),
    ("a_watcher_leaves_by_being_told_or_cancelled", step(GOOD, GET_ONE, Handed((3,), frozenset({(3, 0)})))),
    ("a_watcher_leaves_by_being_told_or_cancelled", step(GOOD, Touch((3,)), watchers={})),
    ("a_watcher_leaves_by_being_told_or_cancelled", step(GOOD, CancelWatch(3, 1), True, watchers={})),
    ("a_watcher_leaves_by_being_told_or_cancelled", step(GOOD, ResetPrefixCache(), ResetDone(True, NONE), watchers={})),
    ("only_unpinning_adds_watchers", step(PRIVATE, Touch((1,)), watchers={1: frozenset({0})})),
    ("only_unpinning_adds_watchers", step(PRIVATE, UnpinBlocks((1,), 0), watchers={1: frozenset({1})})),
    ("only_unpinning_adds_watchers", step(PRIVATE, UnpinBlocks((1,), 0), watchers={2: frozenset({0})})),
    ("every_unpinned_block_is_watched", step(PRIVATE, UnpinBlocks((1,), 0))),
    ("every_unpinned_block_is_watched", step(PRIVATE, UnpinBlocks((1,), 0), watchers={1: frozenset({1})})),
    ("every_unpinned_block_is_watched", step(PRIVATE, UnpinBlocks((1, 2), 0), watchers={1: frozenset({0})})),
    ("keys_leave_only_for_a_named_reason", step(GOOD, replace(PUBLISH, mask=(False,)), primary={2: GOOD.primary[2]})),
    ("what_is_published_is_found", step(PRIVATE, PUBLISH, primary={1: Primary(A, 1)})),
    ("what_is_published_is_found", step(PRIVATE, PUBLISH, index={A: frozenset({2})})),
    ("what_is_published_is_found", step(PRIVATE, CachePartialBlock(PROMPT, 1, 1, 0, 2), A)),
    ("keys_leave_only_for_a_named_reason", step(GOOD, Touch((2,)), primary={1: Primary(A, 1)}, aliases={})),
    ("keys_leave_only_for_a_named_reason", step(GOOD, FreeBlocks((1,)), aliases={})),
    ("keys_leave_only_for_a_named_reason", step(GOOD, GET_ONE, Handed((3,), NONE), aliases={})),
    ("keys_leave_only_for_a_named_reason", step(GOOD, EvictBlocks(frozenset({1})), primary={}, aliases={})),
    ("keys_leave_only_for_a_named_reason", step(GOOD, MoveBlockHashes(1, 3), primary={}, aliases={})),
    ("keys_leave_only_for_a_named_reason", step(GOOD, PUBLISH, primary={1: Primary(A, 1)}, aliases={})),
    ("keys_leave_only_for_a_named_reason", step(GOOD, CachePartialBlock(PROMPT, 1, 2, 0, 2), A, aliases={})),
    ("a_move_keeps_every_key", step(GOOD, MoveBlockHashes(1, 3), index={A: frozenset({2}), AB: frozenset({2})})),
    ("a_move_keeps_every_key", step(GOOD, MoveBlockHashes(1, 3), outbox=(Removed(A),))),
    ("coverage_only_grows_within_a_life",
     step(GOOD, CachePartialBlock(PROMPT, 2, 1, 0, 2), A, primary={2: Primary(A, 1)})),
    ("coverage_only_grows_within_a_life", step(GOOD, MoveBlockHashes(1, 2), primary={2: Primary(ABC, 2)})),
    ("the_outbox_grows_only_at_its_end", step(replace(NEW, outbox=(Cleared(),)), GET_ONE, GOT_TWO, outbox=())),
    ("the_outbox_grows_only_at_its_end",
     step(replace(NEW, outbox=(Cleared(),)), GET_ONE, GOT_TWO, outbox=(Removed(A), Cleared()))),
    ("the_outbox_grows_only_at_its_end",
     step(replace(NEW, outbox=(Cleared(), Cleared())), TakeEvents(), (), outbox=(Cleared(),))),
    ("the_outbox_grows_only_at_its_end",
     step(replace(NEW, outbox=(Cleared(),)), TakeEvents(), None, Reason.RE_ENTRANT, outbox=())),
    ("events_say_what_the_index_does", step(PRIVATE, PUBLISH, **PUBLISHED)),  # not reported
    ("events_say_what_the_index_does", step(PRIVATE, PUBLISH, outbox=(Stored((A,), None, (1,), 1),))),  # not published
    ("events_say_what_the_index_does", step(PRIVATE, EvictBlocks(frozenset({1})), outbox=(Removed(A),))),
    ("events_say_what_the_index_does", step(GOOD, ResetPrefixCache(), ResetDone(True, NONE), outbox=(Cleared(),))),
    ("events_say_what_the_index_does",
     step(PRIVATE, PUBLISH, outbox=(Stored((A,), None, (1,), 1),), **{**PUBLISHED, "index": {A: frozenset({1, 2})}})),
    ("stored_events_name_their_tokens", stored((A,), None, (2,))),
    ("stored_events_name_their_tokens", stored((AB,), None, (1, 2))),
    ("stored_events_name_their_tokens", stored((AB, ABC), None, (2, 2))),
    ("stored_events_name_their_tokens", stored((ABC,), A, (3,))),
    ("stored_events_name_their_tokens", stored((AB,), Key(Prefix((1,)), 1), (2,))),
    ("stored_events_name_their_tokens", stored((Key(Prefix((7,)), 0), AB), None, (1, 2))),
    ("stored_events_name_their_tokens", stored((A, Key(Prefix((1, 2)), 1)), None, (1, 2))),
    ("a_hit_carries_the_key_in_every_group", step(GOOD, GetCachedBlock(Prefix((1,)), (0,)), (3,))),
    ("a_hit_carries_the_key_in_every_group", step(GOOD, GetCachedBlock(Prefix((1,)), (0, 1)), (1, 1))),
    ("a_hit_carries_the_key_in_every_group", step(GOOD, GetCachedBlock(Prefix((1,)), (0, 1)), (1,))),
    ("each_step_is_a_step_of_the_ledger", step(PRIVATE, GET_ONE, Handed((1,), NONE), refs={1: 1, 2: 0, 3: 0})),
    ("each_step_is_a_step_of_the_ledger", step(PRIVATE, GET_ONE, GOT_TWO)),
    ("each_step_is_a_step_of_the_ledger", step(PRIVATE, Touch((2,)), refs={1: 1, 2: 2, 3: 0})),
    ("each_step_is_a_step_of_the_ledger", step(PRIVATE, FreeBlocks((2,)), refs={1: 1, 2: -1, 3: 0})),
    ("each_step_is_a_step_of_the_ledger", step(PRIVATE, GetUsage(), 0.5, refs={1: 0, 2: 0, 3: 0})),
    ("each_step_is_a_step_of_the_ledger",
     step(PRIVATE, FreeBlocks((1,)), None, Reason.NOT_HELD, refs={1: 0, 2: 0, 3: 0})),
]  # fmt: skip

GOOD_STEPS: list[tuple[str, Step]] = [
    ("a_refused_call_changes_nothing", step(GOOD, GET_ONE, None, Reason.RE_ENTRANT)),
    ("a_query_changes_nothing", step(GOOD, GetUsage(), 0.5)),
    ("survivors_keep_their_order", step(GOOD, FreeBlocks((1,)), queue=(1, 2, 3))),
    ("blocks_join_the_queue_only_at_its_ends", step(GOOD, FreeBlocks((1,)), queue=(2, 3, 1))),
    ("only_lending_calls_change_the_queue", step(GOOD, EvictBlocks(frozenset({2})))),
    ("blocks_are_handed_out_from_the_front", step(GOOD, GET_ONE, GOT_TWO, queue=(3,))),
    ("a_block_handed_out_is_the_callers_alone", step(PRIVATE, GET_ONE, GOT_TWO, **LENT)),
    ("references_change_only_as_asked", step(GOOD, Touch((0, 2)), **LENT)),
    ("a_watcher_leaves_by_being_told_or_cancelled", step(GOOD, CancelWatch(3, 0), True, watchers={})),
    ("only_unpinning_adds_watchers", step(PRIVATE, UnpinBlocks((1,), 0), **UNPINNED)),
    ("every_unpinned_block_is_watched", step(PRIVATE, UnpinBlocks((1,), 0), **UNPINNED)),
    ("what_is_published_is_found", step(PRIVATE, PUBLISH, **PUBLISHED)),
    ("keys_leave_only_for_a_named_reason", step(GOOD, EvictBlocks(frozenset({2})), aliases={}, primary=GOOD.primary)),
    ("a_move_keeps_every_key", step(GOOD, MoveBlockHashes(1, 3), index={A: frozenset({3, 2}), AB: frozenset({2})})),
    ("coverage_only_grows_within_a_life", step(GOOD, PUBLISH, primary={1: Primary(AB, 2), 2: Primary(AB, 2)})),
    ("the_outbox_grows_only_at_its_end", step(replace(NEW, outbox=(Cleared(),)), TakeEvents(), (), outbox=())),
    ("events_say_what_the_index_does", step(PRIVATE, PUBLISH, outbox=(Stored((A,), None, (1,), 1),), **PUBLISHED)),
    ("stored_events_name_their_tokens", stored((AB, ABC), A, (2, 3))),
    ("a_hit_carries_the_key_in_every_group", step(GOOD, GetCachedBlock(Prefix((1,)), (0, 0)), (1, 2))),
    ("each_step_is_a_step_of_the_ledger", step(PRIVATE, GET_ONE, GOT_TWO, **LENT)),
]


def numbered(cases: list[tuple[str, Any]]) -> list[str]:
    return [f"{name}-{number}" for number, (name, _) in enumerate(cases)]


@pytest.mark.parametrize(("name", "state"), BAD_STATES, ids=numbered(BAD_STATES))
def test_a_bad_state_breaks_the_invariant(name: str, state: Pool) -> None:
    assert JUDGES[name](state) is False


@pytest.mark.parametrize("claim", INVARIANTS, ids=lambda claim: claim.name)
def test_an_invariant_holds_of_good_states(claim: Invariant) -> None:
    uncached = first_state(3, caching=False)
    assert claim.judge(GOOD) in (True, None)
    assert [claim.judge(state) for state in (GOOD, PRIVATE, ALL_FREE, NEW, uncached)].count(True) > 0


@pytest.mark.parametrize(("name", "bad"), BAD_STEPS, ids=numbered(BAD_STEPS))
def test_a_bad_step_breaks_the_property(name: str, bad: Step) -> None:
    assert JUDGES[name](bad) is False


@pytest.mark.parametrize(("name", "good"), GOOD_STEPS, ids=numbered(GOOD_STEPS))
def test_a_property_holds_of_a_good_step(name: str, good: Step) -> None:
    assert JUDGES[name](good) is True


def test_every_invariant_and_property_is_broken_by_something() -> None:
    assert {name for name, _ in BAD_STATES} == {claim.name for claim in INVARIANTS}
    assert {name for name, _ in BAD_STEPS} == {claim.name for claim in STEP_PROPERTIES}
    assert {name for name, _ in GOOD_STEPS} == {claim.name for claim in STEP_PROPERTIES}


IRRELEVANT: list[tuple[str, Any]] = [
    ("a_block_is_queued_at_most_once", first_state(1)),
    ("queued_blocks_are_unheld", first_state(1)),
    ("unheld_blocks_are_queued", first_state(1)),
    ("counts_are_never_negative", first_state(1)),
    ("coverage_is_the_length_of_the_primary_key", NEW),
    ("aliases_need_a_primary", NEW),
    ("no_alias_covers_more_than_the_primary", NEW),
    ("every_key_of_a_block_is_in_the_index", NEW),
    ("the_index_answers_only_blocks_that_carry_the_key", NEW),
    ("no_index_entry_is_empty", NEW),
    ("only_lendable_blocks_are_watched", NEW),
    ("a_writable_block_cannot_be_observed", NEW),
    ("without_caching_nothing_is_findable", NEW),
    ("a_refused_call_changes_nothing", step(GOOD, GET_ONE, GOT_TWO)),
    ("a_query_changes_nothing", step(GOOD, GET_ONE, GOT_TWO)),
    ("survivors_keep_their_order", step(replace(GOOD, queue=(2,)), Touch(()))),
    ("blocks_join_the_queue_only_at_its_ends", step(GOOD, Touch(()))),
    ("only_lending_calls_change_the_queue", step(GOOD, Touch(()))),
    ("blocks_are_handed_out_from_the_front", step(GOOD, Touch(()))),
    ("a_block_handed_out_is_the_callers_alone", step(GOOD, GetNewBlocks(0), Handed((), NONE))),
    ("references_change_only_as_asked", step(GOOD, Touch((9,)), None, Reason.UNKNOWN_BLOCK)),
    ("a_watcher_leaves_by_being_told_or_cancelled", step(NEW, Touch(()))),
    ("only_unpinning_adds_watchers", step(GOOD, Touch(()))),
    ("every_unpinned_block_is_watched", step(GOOD, UnpinBlocks((), 0))),
    ("every_unpinned_block_is_watched", step(GOOD, UnpinBlocks((2,), 0), None, Reason.NOT_HELD)),
    ("what_is_published_is_found", step(GOOD, Touch(()))),
    ("what_is_published_is_found", step(GOOD, PUBLISH, None, Reason.ALREADY_CACHED)),
    ("what_is_published_is_found", step(GOOD, CachePartialBlock(PROMPT, 0, 1, 0, 2))),
    ("keys_leave_only_for_a_named_reason", step(GOOD, Touch(()))),
    ("the_outbox_grows_only_at_its_end", step(GOOD, Touch(()))),
    ("a_move_keeps_every_key", step(GOOD, Touch(()))),
    ("coverage_only_grows_within_a_life", step(GOOD, Touch(()))),
    ("events_say_what_the_index_does", step(GOOD, Touch(()))),
    ("events_say_what_the_index_does", step(replace(PRIVATE, reporting=False), PUBLISH, **PUBLISHED)),
    ("stored_events_name_their_tokens", step(GOOD, Touch(()))),
    ("a_hit_carries_the_key_in_every_group", step(GOOD, GetCachedBlock(PROMPT, (0,)))),
]


@pytest.mark.parametrize(("name", "subject"), IRRELEVANT, ids=numbered(IRRELEVANT))
def test_a_claim_says_when_it_has_nothing_to_say(name: str, subject: Any) -> None:
    assert JUDGES[name](subject) is None


# --- possibilities: what shows each, and what is close but does not ---

TWO_WATCHERS = replace(GOOD, watchers={3: frozenset({0, 1})})
PARTIAL = replace(PRIVATE, **PUBLISHED)
GREW: dict[str, Any] = {"primary": {1: Primary(AB, 2)}, "index": {AB: frozenset({1})}}
SHARED = replace(PARTIAL, refs={1: 2, 2: 0, 3: 0})
REPLACE = CachePartialBlock(PROMPT, 1, 1, 0, 2, True)
SHOWN: list[tuple[str, Step, Step]] = [
    ("a_block_is_shared_by_two_holders", step(SHARED, GetUsage(), 0.5), step(PARTIAL, GetUsage(), 0.5)),
    (
        "a_cached_block_is_evicted_by_an_allocation",
        step(GOOD, GET_ONE, GOT_TWO, **LENT),
        step(PRIVATE, GET_ONE, GOT_TWO, **LENT),
    ),
    ("a_freed_block_is_hit_and_revived", step(GOOD, Touch((2,)), **LENT), step(GOOD, Touch((3,)), refs={3: 1})),
    ("a_partial_block_is_promoted", step(PARTIAL, PUBLISH, **GREW), step(PRIVATE, PUBLISH, **PUBLISHED)),
    (
        "a_partial_block_grows",
        step(PARTIAL, CachePartialBlock(PROMPT, 1, 2, 0, 2), AB, **GREW),
        step(PARTIAL, CachePartialBlock(PROMPT, 1, 2, 0, 2, True), AB, **GREW),
    ),
    (
        "a_rewritten_block_is_published_anew",
        step(replace(PARTIAL, **GREW), REPLACE, A, **PUBLISHED),
        step(PARTIAL, REPLACE, A),
    ),
    (
        "a_block_gets_an_alias",
        step(replace(GOOD, aliases={}), Touch(()), aliases=GOOD.aliases),
        step(GOOD, Touch(())),
    ),
    (
        "keys_move_to_a_copy",
        step(GOOD, MoveBlockHashes(1, 3), primary={3: Primary(A, 1)}),
        step(GOOD, MoveBlockHashes(3, 1)),
    ),
    (
        "a_watcher_is_told_of_a_reuse",
        step(GOOD, GetNewBlocks(2), Handed((2, 3), frozenset({(3, 0)}))),
        step(ALL_FREE, ResetPrefixCache(), ResetDone(True, frozenset({(3, 0)}))),
    ),
    (
        "two_watchers_of_one_block_are_told",
        step(TWO_WATCHERS, GetNewBlocks(2), Handed((2, 3), frozenset({(3, 0), (3, 1)}))),
        step(GOOD, GetNewBlocks(2), Handed((2, 3), frozenset({(3, 0), (2, 1)}))),
    ),
    ("a_watched_block_is_touched", step(GOOD, Touch((3,))), step(GOOD, Touch((2,)))),
    (
        "a_watcher_calls_back_into_the_pool",
        step(replace(GOOD, telling=True), GET_ONE, None, Reason.RE_ENTRANT),
        step(replace(GOOD, telling=True), GetUsage(), 0.5),
    ),
    ("two_blocks_are_under_one_key", step(GOOD, Touch(())), step(PARTIAL, Touch(()))),
    (
        "a_lookup_has_a_choice",
        step(GOOD, GetCachedBlock(Prefix((1,)), (0,)), (1,)),
        step(GOOD, GetCachedBlock(Prefix((1, 2)), (0,)), (2,)),
    ),
    ("every_block_is_lent", step(GOOD, GetNewBlocks(2), queue=()), step(first_state(1), GetUsage(), 0.0)),
    (
        "a_block_is_released_twice_by_its_two_holders",
        step(SHARED, FreeBlocks((1, 1)), refs={1: 0, 2: 0, 3: 0}),
        step(PARTIAL, FreeBlocks((1,)), refs={1: 0, 2: 0, 3: 0}),
    ),
    (
        "an_unpinned_block_stays_held_by_another",
        step(SHARED, UnpinBlocks((1,), 0), refs={1: 1}, watchers={1: frozenset({0})}),
        step(PRIVATE, UnpinBlocks((1,), 0), **UNPINNED),
    ),
    (
        "the_cache_is_reset",
        step(ALL_FREE, ResetPrefixCache(), ResetDone(True, NONE), index={}),
        step(NEW, ResetPrefixCache(), ResetDone(True, NONE)),
    ),
    ("a_stored_event_names_its_parent", stored((AB,), A, (2,)), stored((A,), None, (1,))),
    (
        "a_cleared_event_is_sent",
        step(NEW, ResetPrefixCache(), ResetDone(True, NONE), outbox=(Cleared(),)),
        step(NEW, ResetPrefixCache(), ResetDone(True, NONE)),
    ),
    (
        "everything_is_free_again",
        step(PRIVATE, FreeBlocks((1,)), refs={1: 0, 2: 0, 3: 0}),
        step(NEW, GetNumFreeBlocks(), 3),
    ),
]


@pytest.mark.parametrize(("name", "shows", "misses"), SHOWN, ids=[case[0] for case in SHOWN])
def test_what_shows_a_possibility(name: str, shows: Step, misses: Step) -> None:
    assert JUDGES[name](shows) is True
    assert JUDGES[name](misses) is False


def test_every_possibility_is_shown_by_something() -> None:
    assert [name for name, _, _ in SHOWN] == [claim.name for claim in POSSIBILITIES]


# --- claims as objects ---


def test_names_are_unique() -> None:
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS) == len(INVARIANTS + STEP_PROPERTIES + POSSIBILITIES)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_a_claim_is_a_sentence_with_a_reason(claim: Any) -> None:
    assert claim.name.islower()
    assert claim.name.isidentifier()
    for text in (claim.sentence, claim.reason):
        assert text.endswith(".")
        assert "\n" not in text
        assert "  " not in text
    assert claim.sentence != claim.reason


@pytest.mark.parametrize("text", ["", "One paragraph only.", "\n\nA reason only.", "A claim.\n\n"])
def test_a_claim_needs_both_paragraphs(text: str) -> None:
    def judge(pool: Pool) -> bool:
        return True

    judge.__doc__ = text
    with pytest.raises(ValueError, match="judge needs a docstring of two paragraphs"):
        collect(Invariant, judge)


def test_claims_know_their_kind() -> None:
    assert all(type(claim) is Invariant for claim in INVARIANTS)
    assert all(type(claim) is StepProperty for claim in STEP_PROPERTIES)
    assert all(type(claim) is Possibility for claim in POSSIBILITIES)
