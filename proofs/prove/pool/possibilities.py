"""What must be possible, as formulas: an interesting pool, a call that does something, and the possibilities of `spec`.

Formulas about a step say for which action; one of several may do.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import z3

from blockpool.proofs.prove.pool.vocabulary import (
    AFTER,
    BEFORE,
    State,
    Watcher,
    a,
    asked,
    b,
    block,
    chosen,
    cleared,
    done,
    e,
    every,
    handed,
    has_key,
    j,
    k,
    named,
    parent,
    queued,
    refused,
    rewritten,
    s,
    some,
    source,
    telling,
    told,
    w,
)
from blockpool.spec.pool.action import Action
from blockpool.spec.pool.allocation import CancelWatch, FreeBlocks, GetNewBlocks, Touch, UnpinBlocks
from blockpool.spec.pool.eviction import EvictBlocks, MoveBlockHashes, ResetPrefixCache
from blockpool.spec.pool.publishing import CacheFullBlocks, CachePartialBlock
from blockpool.spec.pool.queries import GetCachedBlock, GetNumFreeBlocks, GetUsage, IsBlockWritable, TakeEvents

And, Or, Not, Implies = z3.And, z3.Or, z3.Not, z3.Implies
Kind = type[Action[Any]]
w2 = z3.Const("w2", Watcher)
taken = Not(refused)


def interesting(p: State) -> Any:
    """Two blocks are queued, the second of them cached and watched; another is shared, and found under two keys."""
    two_queued = some(a, b, w, so=And(p.ahead(a, b), p.published(b), p.watched(b, w)))
    shared = some(b, j, k, so=And(p.refs(b) >= 2, p.primary(b, j), p.alias(b, k)))
    return And(two_queued, shared)


AT_WORK: Mapping[Kind, Any] = {
    GetNewBlocks: some(a, b, so=And(handed(a) > 0, handed(b) > 0, a != b, BEFORE.published(b))),
    Touch: some(b, so=And(named(b) >= 2, queued(BEFORE, b))),
    FreeBlocks: some(b, so=And(named(b) >= 2, queued(AFTER, b), AFTER.published(b))),
    UnpinBlocks: some(b, so=And(named(b) >= 1, AFTER.refs(b) >= 1)),
    CancelWatch: done,
    CacheFullBlocks: some(b, k, so=And(chosen(b, k), BEFORE.published(b))),
    CachePartialBlock: some(k, so=And(AFTER.alias(block, k), Not(BEFORE.alias(block, k)))),
    MoveBlockHashes: some(k, so=BEFORE.alias(source, k)),
    EvictBlocks: some(b, k, so=And(named(b) > 0, BEFORE.alias(b, k))),
    ResetPrefixCache: Not(done),
    GetCachedBlock: And(done, some(k, so=asked(k))),
    IsBlockWritable: Not(done),
    GetNumFreeBlocks: BEFORE.free >= 2,
    GetUsage: BEFORE.held >= 1,
    TakeEvents: some(s, e, so=BEFORE.posted(s, e)),
}
"""That a call, taken from an interesting pool, does something."""


class Possible(NamedTuple):
    """A possibility as a formula about a step of one of these actions."""

    actions: tuple[Kind, ...]
    formula: Any


_GREW = some(b, so=And(BEFORE.published(b), AFTER.published(b), AFTER.coverage(b) > BEFORE.coverage(b)))
_LOST_A_KEY = some(k, so=And(has_key(BEFORE, block, k), Not(has_key(AFTER, block, k))))

POSSIBLE: Mapping[str, Possible] = {
    "a_block_is_shared_by_two_holders": Possible((Touch,), some(b, so=And(AFTER.refs(b) >= 2, AFTER.published(b)))),
    "a_cached_block_is_evicted_by_an_allocation": Possible(
        (GetNewBlocks,), And(taken, some(b, so=And(handed(b) > 0, BEFORE.published(b))))
    ),
    "a_freed_block_is_hit_and_revived": Possible(
        (Touch,), some(b, so=And(named(b) > 0, BEFORE.refs(b) == 0, BEFORE.published(b), AFTER.refs(b) > 0))
    ),
    "a_partial_block_is_promoted": Possible((CacheFullBlocks,), And(taken, _GREW)),
    "a_partial_block_grows": Possible((CachePartialBlock,), And(Not(rewritten), _GREW)),
    "a_rewritten_block_is_published_anew": Possible((CachePartialBlock,), And(rewritten, taken, _LOST_A_KEY)),
    "a_block_gets_an_alias": Possible((CachePartialBlock,), some(b, so=And(AFTER.aliased(b), Not(BEFORE.aliased(b))))),
    "keys_move_to_a_copy": Possible((MoveBlockHashes,), some(b, k, so=AFTER.primary(b, k) != BEFORE.primary(b, k))),
    "a_watcher_is_told_of_a_reuse": Possible((GetNewBlocks,), some(b, w, so=told(b, w))),
    "two_watchers_of_one_block_are_told": Possible(
        (GetNewBlocks, ResetPrefixCache), some(b, w, w2, so=And(told(b, w), told(b, w2), w != w2))
    ),
    "a_watched_block_is_touched": Possible((Touch,), some(b, so=And(named(b) > 0, AFTER.listed(b)))),
    "a_watcher_calls_back_into_the_pool": Possible((FreeBlocks,), And(telling, refused)),
    "two_blocks_are_under_one_key": Possible(
        (CacheFullBlocks,), some(a, b, k, so=And(AFTER.findable(k, a), AFTER.findable(k, b), a != b))
    ),
    "a_lookup_has_a_choice": Possible(
        (GetCachedBlock,),
        some(a, b, k, so=And(asked(k), BEFORE.findable(k, a), BEFORE.findable(k, b), a != b)),
    ),
    "every_block_is_lent": Possible(
        (GetNewBlocks,), And(every(b, so=Not(queued(AFTER, b))), some(b, so=AFTER.counted(b)))
    ),
    "a_block_is_released_twice_by_its_two_holders": Possible(
        (FreeBlocks,), And(taken, some(b, so=And(named(b) == 2, BEFORE.refs(b) > 0, AFTER.refs(b) == 0)))
    ),
    "an_unpinned_block_stays_held_by_another": Possible(
        (UnpinBlocks,), some(b, so=And(named(b) > 0, AFTER.refs(b) > 0, AFTER.listed(b)))
    ),
    "the_cache_is_reset": Possible(
        (ResetPrefixCache,), And(some(k, so=BEFORE.indexed(k)), every(k, so=Not(AFTER.indexed(k))))
    ),
    "a_stored_event_names_its_parent": Possible((CacheFullBlocks, CachePartialBlock), some(k, so=parent(k))),
    "a_cleared_event_is_sent": Possible((ResetPrefixCache,), cleared),
    "everything_is_free_again": Possible(
        (FreeBlocks, UnpinBlocks), And(some(b, so=BEFORE.refs(b) != 0), every(b, so=AFTER.refs(b) == 0))
    ),
}
"""Every possibility of `spec`, by its name."""
