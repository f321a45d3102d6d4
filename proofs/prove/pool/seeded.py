"""Defects put into transitions, each a mistake that pools have made; the proofs of the claims named must fail.

A proof that goes through whatever the transition says proves nothing. Every claim is refuted by at least one defect.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import z3

from blockpool.proofs.prove.pool.effects import all_keys_of, keys, names
from blockpool.proofs.prove.pool.lending_transitions import given_back
from blockpool.proofs.prove.pool.tampering import Defect, tampered, with_effect, without_effect, without_reason
from blockpool.proofs.prove.pool.transition import nothing
from blockpool.proofs.prove.pool.transitions import TRANSITIONS
from blockpool.proofs.prove.pool.vocabulary import (
    AFTER,
    BEFORE,
    a,
    answered,
    asked,
    b,
    block,
    chosen,
    every,
    handed,
    has_key,
    k,
    key,
    named,
    null,
    queued,
    source,
    watcher,
)
from blockpool.spec import (
    CacheFullBlocks,
    CachePartialBlock,
    CancelWatch,
    EvictBlocks,
    FreeBlocks,
    GetCachedBlock,
    GetNewBlocks,
    GetUsage,
    MoveBlockHashes,
    Reason,
    ResetPrefixCache,
    TakeEvents,
    Touch,
    UnpinBlocks,
)

And, Or, Not, If, Implies = z3.And, z3.Or, z3.Not, z3.If, z3.Implies


def _taken(x: Any) -> Any:
    return handed(x) > 0


def _freed(x: Any) -> Any:
    return And(names(x), BEFORE.refs(x) == named(x))


_KEY_FIELDS = ("published", "primary", "coverage", "aliased", "alias", "indexed", "findable")
_NEW, _PARTIAL = TRANSITIONS[GetNewBlocks], TRANSITIONS[CachePartialBlock]
_EVICT, _MOVE = TRANSITIONS[EvictBlocks], TRANSITIONS[MoveBlockHashes]
_ACTS = BEFORE.published(source)
_ALWAYS_AN_ALIAS = And(block != null, Not(has_key(BEFORE, block, key)))

DEFECTS: Mapping[str, Defect] = {
    "an_allocation_keeps_the_keys": Defect(
        "A block handed out is still found under its old keys.",
        without_effect(GetNewBlocks, *_KEY_FIELDS),
        ("a_block_handed_out_is_the_callers_alone",),
    ),
    "an_allocation_forgets_the_index": Defect(
        "A block handed out loses its keys, but the index still answers it.",
        without_effect(GetNewBlocks, "findable", "indexed"),
        ("the_index_answers_only_blocks_that_carry_the_key", "a_writable_block_cannot_be_observed"),
    ),
    "an_allocation_tells_nobody": Defect(
        "The watchers of a block handed out are forgotten without being told.",
        replace(_NEW, tells=nothing),
        ("a_watcher_leaves_by_being_told_or_cancelled",),
    ),
    "an_allocation_keeps_the_watchers": Defect(
        "The watchers of a block handed out stay.",
        without_effect(GetNewBlocks, "listed", "watched"),
        ("a_block_handed_out_is_the_callers_alone",),
    ),
    "an_allocation_takes_any_block": Defect(
        "The blocks handed out are not those at the front.",
        replace(_NEW, answer={name: law for name, law in _NEW.answer.items() if name != "the front"}),
        ("blocks_are_handed_out_from_the_front",),
    ),
    "an_allocation_counts_no_reference": Defect(
        "A block handed out has no reference.",
        without_effect(GetNewBlocks, "refs"),
        ("references_change_only_as_asked", "unheld_blocks_are_queued", "every_block_is_free_or_held"),
    ),
    "a_revived_block_stays_queued": Defect(
        "A touch of a free block leaves it in the queue.",
        without_effect(Touch, "places", "ahead"),
        ("queued_blocks_are_unheld", "every_block_is_free_or_held"),
    ),
    "a_touch_counts_once": Defect(
        "A block touched twice in one call gains one reference.",
        with_effect(Touch, refs=lambda x: BEFORE.refs(x) + If(names(x), 1, 0)),
        ("references_change_only_as_asked", "each_step_is_a_step_of_the_ledger"),
    ),
    "a_touch_counts_the_null_block": Defect(
        "The null block is counted like any other.",
        with_effect(Touch, counted=lambda x: Or(BEFORE.counted(x), named(x) > 0)),
        ("the_null_block_is_never_used", "every_lendable_block_is_counted"),
    ),
    "a_refused_touch_counts": Defect(
        "A touch that is refused has already counted.",
        tampered(Touch, refs=every(b, so=AFTER.refs(b) == BEFORE.refs(b) + If(b != null, named(b), 0))),
        ("a_refused_call_changes_nothing",),
    ),
    "a_double_release_is_accepted": Defect(
        "More references are given back than are held.",
        without_reason(FreeBlocks, Reason.NOT_HELD),
        ("counts_are_never_negative", "each_step_is_a_step_of_the_ledger"),
    ),
    "a_freed_block_is_lost": Defect(
        "A block whose last reference goes is not queued.",
        without_effect(FreeBlocks, "places", "ahead"),
        ("unheld_blocks_are_queued", "every_block_is_free_or_held"),
    ),
    "a_block_named_twice_is_queued_twice": Defect(
        "A block is queued once for each time it is named.",
        with_effect(FreeBlocks, places=lambda x: BEFORE.places(x) + If(_freed(x), named(x), 0)),
        ("a_block_is_queued_at_most_once",),
    ),
    "a_freed_block_gets_no_place": Defect(
        "A freed block is counted as queued, but linked to no other.",
        without_effect(FreeBlocks, "ahead"),
        ("the_queue_is_a_sequence",),
    ),
    "a_release_turns_the_queue_around": Defect(
        "Freeing a block reverses the order of those that are queued.",
        with_effect(FreeBlocks, ahead=lambda x, y: given_back(nothing)["ahead"](y, x)),
        ("survivors_keep_their_order",),
    ),
    "a_freed_block_goes_anywhere": Defect(
        "A freed block is put somewhere between the queued ones.",
        tampered(
            FreeBlocks,
            ahead=every(
                a, b, so=Implies(And(queued(BEFORE, a), queued(BEFORE, b)), AFTER.ahead(a, b) == BEFORE.ahead(a, b))
            ),
        ),
        ("blocks_join_the_queue_only_at_its_ends",),
    ),
    "a_later_watcher_replaces_the_earlier": Defect(
        "A block has one watcher; unpinning it again forgets the first.",
        with_effect(UnpinBlocks, watched=lambda x, y: If(named(x) > 0, y == watcher, BEFORE.watched(x, y))),
        ("a_watcher_leaves_by_being_told_or_cancelled",),
    ),
    "only_freed_blocks_are_watched": Defect(
        "A block that somebody else still holds is not watched.",
        with_effect(UnpinBlocks, watched=lambda x, y: Or(BEFORE.watched(x, y), And(_freed(x), y == watcher))),
        ("every_unpinned_block_is_watched", "only_lendable_blocks_are_watched"),
    ),
    "the_null_block_is_watched": Defect(
        "The null block can be unpinned.",
        without_reason(UnpinBlocks, Reason.NULL_BLOCK),
        ("the_null_block_is_never_used", "only_lendable_blocks_are_watched"),
    ),
    "watchers_without_an_entry": Defect(
        "Unpinning adds a watcher to a block that has no entry for watchers.",
        without_effect(UnpinBlocks, "listed"),
        ("members_have_an_entry",),
    ),
    "a_cancelled_watch_leaves_an_empty_entry": Defect(
        "After the last watcher has cancelled, the block still counts as watched.",
        without_effect(CancelWatch, "listed"),
        ("only_lendable_blocks_are_watched",),
    ),
    "cancelling_counts": Defect(
        "Cancelling a watch drops a reference: its frame is too narrow.",
        with_effect(CancelWatch, refs=lambda x: BEFORE.refs(x) - If(And(x == block, BEFORE.refs(x) > 1), 1, 0)),
        ("references_change_only_as_asked", "each_step_is_a_step_of_the_ledger"),
    ),
    "a_touch_watches": Defect(
        "Touching a block adds a watcher to it.",
        with_effect(Touch, watched=lambda x, y: Or(BEFORE.watched(x, y), And(BEFORE.listed(x), names(x)))),
        ("only_unpinning_adds_watchers",),
    ),
    "promotion_keeps_the_old_keys": Defect(
        "A block published anew keeps its old primary besides the new one.",
        with_effect(CacheFullBlocks, primary=lambda x, y: Or(BEFORE.primary(x, y), chosen(x, y))),
        ("a_primary_is_one_key",),
    ),
    "publishing_forgets_the_index": Defect(
        "A published block is not entered into the index.",
        without_effect(CacheFullBlocks, "findable", "indexed"),
        ("what_is_published_is_found", "every_key_of_a_block_is_in_the_index", "events_say_what_the_index_does"),
    ),
    "publishing_without_caching": Defect(
        "A pool with caching disabled publishes.",
        without_reason(CacheFullBlocks, Reason.CACHING_DISABLED),
        ("without_caching_nothing_is_findable",),
    ),
    "publishing_again": Defect(
        "A block that is published already is published anew, with other or fewer tokens.",
        without_reason(CacheFullBlocks, Reason.ALREADY_CACHED),
        ("coverage_only_grows_within_a_life",),
    ),
    "a_longer_alias": Defect(
        "A longer prefix than the block has becomes an alias of it, not its primary.",
        replace(
            _PARTIAL,
            effect=keys(nothing, alias=lambda x, y: And(_ALWAYS_AN_ALIAS, x == block, y == key)),
            lost=nothing,
        ),
        ("no_alias_covers_more_than_the_primary", "aliases_need_a_primary"),
    ),
    "coverage_is_forgotten": Defect(
        "A block published with more tokens keeps its old coverage.",
        without_effect(CachePartialBlock, "coverage"),
        ("coverage_is_the_length_of_the_primary_key",),
    ),
    "a_move_leaves_the_aliases": Defect(
        "A move takes the primary key only; the aliases stay without one.",
        replace(_MOVE, effect={**_MOVE.effect, "alias": BEFORE.alias, "aliased": BEFORE.aliased}),
        ("aliases_need_a_primary",),
    ),
    "a_move_loses_keys": Defect(
        "A move drops the keys of the source and enters nothing for the target.",
        replace(_MOVE, effect=keys(lambda x: And(_ACTS, x == source)), gained=nothing),
        ("a_move_keeps_every_key", "events_say_what_the_index_does"),
    ),
    "a_move_is_reported": Defect(
        "A move sends events.",
        replace(_MOVE, silent=False),
        ("a_move_keeps_every_key",),
    ),
    "an_empty_entry_stays": Defect(
        "A key whose last block is evicted keeps an empty entry in the index.",
        without_effect(EvictBlocks, "indexed"),
        ("no_index_entry_is_empty",),
    ),
    "an_eviction_is_silent": Defect(
        "Keys that are evicted by name are not reported.",
        replace(_EVICT, silent=True),
        ("events_say_what_the_index_does",),
    ),
    "an_eviction_is_too_wide": Defect(
        "Evicting a block takes the keys of every free block.",
        replace(
            _EVICT,
            effect=keys(lambda x: Or(named(x) > 0, queued(BEFORE, x))),
            lost=all_keys_of(lambda x: Or(named(x) > 0, queued(BEFORE, x))),
        ),
        ("keys_leave_only_for_a_named_reason",),
    ),
    "an_eviction_unqueues": Defect(
        "Evicting a free block by name takes it out of the queue.",
        with_effect(
            EvictBlocks,
            places=lambda x: If(named(x) > 0, 0, BEFORE.places(x)),
            ahead=lambda x, y: And(BEFORE.ahead(x, y), named(x) == 0, named(y) == 0),
        ),
        ("only_lending_calls_change_the_queue", "unheld_blocks_are_queued"),
    ),
    "two_events_in_one_place": Defect(
        "An event is written over another.",
        tampered(EvictBlocks, posted=z3.BoolVal(True)),
        ("a_place_holds_one_event",),
    ),
    "a_reset_tells_nobody": Defect(
        "A reset forgets the watchers without telling them.",
        replace(TRANSITIONS[ResetPrefixCache], tells=nothing),
        ("a_watcher_leaves_by_being_told_or_cancelled",),
    ),
    "events_are_taken_one_by_one": Defect(
        "Taking the events leaves some of them.",
        tampered(TakeEvents, posted=z3.BoolVal(True)),
        ("the_outbox_grows_only_at_its_end",),
    ),
    "a_lookup_ages_the_queue": Defect(
        "A lookup makes a free block it finds the last to go.",
        tampered(GetCachedBlock, ahead=z3.BoolVal(True)),
        ("a_query_changes_nothing", "only_lending_calls_change_the_queue"),
    ),
    "a_lookup_answers_anything": Defect(
        "A lookup answers a block that does not carry the key.",
        replace(
            TRANSITIONS[GetCachedBlock],
            answer={
                **TRANSITIONS[GetCachedBlock].answer,
                "only what is found": every(k, b, so=Implies(answered(k, b), asked(k))),
            },
        ),
        ("a_hit_carries_the_key_in_every_group",),
    ),
    "asking_for_the_usage_publishes": Defect(
        "A question has an effect on the keys.",
        tampered(GetUsage, coverage=z3.BoolVal(True)),
        ("a_query_changes_nothing", "coverage_only_grows_within_a_life"),
    ),
}
"""Wrong transitions, by name."""
