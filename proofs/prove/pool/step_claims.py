"""The claims about one step as formulas, under their names in `spec`: for each action what the claim says of it.

Where two blocks of a queue are compared, the formula looks at first places: it says what `spec` says as long as no
block is queued twice, which is an invariant. The events of a step are taken as `spec` sends them, removals first.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import z3

from blockpool.proofs.prove.pool.claims import And, Implies, Not, Or
from blockpool.proofs.prove.pool.transition import same, unchanged
from blockpool.proofs.prove.pool.vocabulary import (
    AFTER,
    BEFORE,
    a,
    answered,
    asked,
    b,
    block,
    c,
    chosen,
    cleared,
    done,
    e,
    every,
    handed,
    handed_ahead,
    has_key,
    k,
    key,
    lendable,
    named,
    null,
    parent,
    queued,
    refused,
    removed,
    reporting,
    rewritten,
    s,
    some,
    source,
    stored,
    told,
    w,
    watcher,
    writable,
)
from blockpool.spec.pool.action import Action
from blockpool.spec.pool.allocation import CancelWatch, FreeBlocks, GetNewBlocks, Touch, UnpinBlocks
from blockpool.spec.pool.eviction import EvictBlocks, MoveBlockHashes, ResetPrefixCache
from blockpool.spec.pool.publishing import CacheFullBlocks, CachePartialBlock
from blockpool.spec.pool.queries import GetCachedBlock, Query, TakeEvents

Kind = type[Action[Any]]


@dataclass(frozen=True)
class NotSaid:
    """Why a claim is no formula here, and what covers it instead."""

    reason: str


StepFormula = Callable[[Kind], Any]
"""The claim about steps of this action: a formula, or None if the claim says nothing of such steps."""

taken = Not(refused)


def a_refused_call_changes_nothing(action: Kind) -> Any:
    return Implies(refused, same())


def a_query_changes_nothing(action: Kind) -> Any:
    return same() if issubclass(action, Query) else None


def survivors_keep_their_order(action: Kind) -> Any:
    stay = And(queued(BEFORE, a), queued(AFTER, a), queued(BEFORE, b), queued(AFTER, b))
    return every(a, b, so=Implies(stay, BEFORE.ahead(a, b) == AFTER.ahead(a, b)))


def blocks_join_the_queue_only_at_its_ends(action: Kind) -> Any:
    between = And(AFTER.ahead(a, b), AFTER.ahead(b, c), queued(BEFORE, a), queued(BEFORE, c))
    return every(a, b, c, so=Implies(between, queued(BEFORE, b)))


def only_lending_calls_change_the_queue(action: Kind) -> Any:
    if issubclass(action, GetNewBlocks | Touch | FreeBlocks | UnpinBlocks):
        return None
    return And(unchanged("places"), unchanged("ahead"))


def blocks_are_handed_out_from_the_front(action: Kind) -> Any:
    if action is not GetNewBlocks:
        return None
    front = And(
        handed(b) >= 0,
        AFTER.places(b) == BEFORE.places(b) - handed(b),
        Implies(And(handed(b) > 0, BEFORE.ahead(a, b)), handed(a) > 0),
        handed_ahead(a, b) == And(handed(a) > 0, handed(b) > 0, BEFORE.ahead(a, b)),
        Implies(And(queued(AFTER, a), queued(AFTER, b)), BEFORE.ahead(a, b) == AFTER.ahead(a, b)),
    )
    return Implies(taken, every(a, b, so=front))


def a_block_handed_out_is_the_callers_alone(action: Kind) -> Any:
    if action is not GetNewBlocks:
        return None
    alone = And(handed(b) == 1, BEFORE.refs(b) <= 0, writable(AFTER, b))
    return Implies(taken, every(b, so=Implies(handed(b) > 0, alone)))


def references_change_only_as_asked(action: Kind) -> Any:
    wanted = asked_for(action, b)
    kept = z3.If(BEFORE.counted(b), AFTER.refs(b) == BEFORE.refs(b) + wanted, wanted == 0)
    return Implies(taken, every(b, so=kept))


def a_watcher_leaves_by_being_told_or_cancelled(action: Kind) -> Any:
    gone = And(BEFORE.watched(b, w), Not(AFTER.watched(b, w)))
    if issubclass(action, GetNewBlocks | ResetPrefixCache):
        return every(b, w, so=told(b, w) == gone)
    allowed = And(b == block, w == watcher) if action is CancelWatch else False
    return every(b, w, so=Implies(gone, allowed))


def only_unpinning_adds_watchers(action: Kind) -> Any:
    new = And(AFTER.watched(b, w), Not(BEFORE.watched(b, w)))
    allowed = And(named(b) > 0, w == watcher) if action is UnpinBlocks else False
    return every(b, w, so=Implies(new, allowed))


def every_unpinned_block_is_watched(action: Kind) -> Any:
    if action is not UnpinBlocks:
        return None
    return Implies(taken, every(b, so=Implies(named(b) > 0, AFTER.watched(b, watcher))))


def keys_leave_only_for_a_named_reason(action: Kind) -> Any:
    allowed: Mapping[Kind, Any] = {
        GetNewBlocks: handed(b) > 0,
        EvictBlocks: named(b) > 0,
        ResetPrefixCache: True,
        MoveBlockHashes: b == source,
        CacheFullBlocks: some(k, so=chosen(b, k)),
        CachePartialBlock: b == block,
    }
    lost = And(BEFORE.published(b), some(k, so=And(has_key(BEFORE, b, k), Not(has_key(AFTER, b, k)))))
    return every(b, so=Implies(lost, And(taken, allowed.get(action, False))))


def what_is_published_is_found(action: Kind) -> Any:
    if action is CacheFullBlocks:
        return Implies(taken, every(b, k, so=Implies(chosen(b, k), AFTER.findable(k, b))))
    return Implies(And(taken, done), AFTER.findable(key, block)) if action is CachePartialBlock else None


def a_move_keeps_every_key(action: Kind) -> Any:
    if action is not MoveBlockHashes:
        return None
    kept = And(AFTER.indexed(k) == BEFORE.indexed(k), AFTER.copies(k) == BEFORE.copies(k))
    silent = And(stored(k) == 0, removed(k) == 0, Not(cleared))
    return Implies(taken, every(k, so=And(kept, silent)))


def coverage_only_grows_within_a_life(action: Kind) -> Any:
    other_key = some(k, so=BEFORE.primary(b, k) != AFTER.primary(b, k))
    changed = Or(other_key, AFTER.coverage(b) != BEFORE.coverage(b))
    stays = And(BEFORE.published(b), AFTER.published(b))
    grows = every(b, so=Implies(And(stays, changed), AFTER.coverage(b) > BEFORE.coverage(b)))
    return Or(rewritten, grows) if action is CachePartialBlock else grows


def the_outbox_grows_only_at_its_end(action: Kind) -> Any:
    kept = every(s, e, so=Implies(BEFORE.posted(s, e), AFTER.posted(s, e)))
    emptied = every(s, e, so=Not(AFTER.posted(s, e)))
    return z3.If(taken, emptied, kept) if action is TakeEvents else kept


def events_say_what_the_index_does(action: Kind) -> Any:
    if action is TakeEvents:
        return None
    believed = z3.If(cleared, 0, BEFORE.copies(k))
    true = And(
        removed(k) <= believed,
        Implies(parent(k), believed - removed(k) > 0),
        AFTER.copies(k) == believed - removed(k) + stored(k),
    )
    return Implies(reporting, every(k, so=true))


def a_hit_carries_the_key_in_every_group(action: Kind) -> Any:
    if action is not GetCachedBlock:
        return None
    one_each = every(k, so=Implies(asked(k), some(b, so=answered(k, b))))
    carried = every(k, b, so=Implies(answered(k, b), And(asked(k), has_key(BEFORE, b, k))))
    return Implies(done, And(one_each, carried))


def each_step_is_a_step_of_the_ledger(action: Kind) -> Any:
    lent, then = lent_out(BEFORE.refs(b), b), lent_out(AFTER.refs(b), b)
    entry = asked_for(action, b)
    mine = entry != 0
    if action is GetNewBlocks:
        allowed = Implies(mine, And(entry == 1, lendable(b), lent == 0))
    elif action is Touch:
        allowed = Implies(mine, lendable(b))
    else:
        allowed = Implies(mine, -entry <= lent)
    entered = And(allowed, then == lent + entry)
    return every(b, so=z3.If(refused, then == lent, entered))


def lent_out(references: Any, x: Any) -> Any:
    """What the ledger sees of the references on a block."""
    return z3.If(x == null, 0, references)


def asked_for(action: Kind, x: Any) -> Any:
    """By how much the references on a block are to change."""
    if action is GetNewBlocks:
        return handed(x)
    if action is Touch:
        return z3.If(x == null, 0, named(x))
    if issubclass(action, FreeBlocks | UnpinBlocks):
        return z3.If(x == null, 0, -named(x))
    return z3.IntVal(0)


STEP_CLAIMS: Mapping[str, StepFormula | NotSaid] = {
    claim.__name__: claim
    for claim in (
        a_refused_call_changes_nothing,
        a_query_changes_nothing,
        survivors_keep_their_order,
        blocks_join_the_queue_only_at_its_ends,
        only_lending_calls_change_the_queue,
        blocks_are_handed_out_from_the_front,
        a_block_handed_out_is_the_callers_alone,
        references_change_only_as_asked,
        a_watcher_leaves_by_being_told_or_cancelled,
        only_unpinning_adds_watchers,
        every_unpinned_block_is_watched,
        keys_leave_only_for_a_named_reason,
        what_is_published_is_found,
        a_move_keeps_every_key,
        coverage_only_grows_within_a_life,
        the_outbox_grows_only_at_its_end,
        events_say_what_the_index_does,
        a_hit_carries_the_key_in_every_group,
        each_step_is_a_step_of_the_ledger,
    )
} | {
    "stored_events_name_their_tokens": NotSaid(
        "it is about the tokens inside an event, which have no symbol here; explored and compared with impl instead"
    )
}
"""Every claim about steps, by its name in `spec`."""
