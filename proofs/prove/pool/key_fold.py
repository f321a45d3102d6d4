"""The fold of keys: the index, the numbers of copies, and the events. See `folds.py`."""

from collections.abc import Iterator
from typing import Any

import z3

from blockpool.proofs.prove.pool.claims import And, Implies, Not, Or, no_index_entry_is_empty, sizes
from blockpool.proofs.prove.pool.folds import Part, it, its_key, refusal
from blockpool.proofs.prove.pool.transition import Transition, Value, definition, nothing, same
from blockpool.proofs.prove.pool.vocabulary import (
    AFTER,
    BEFORE,
    MIDDLE,
    NEXT,
    NUMBER,
    TRUTH,
    Block,
    Key,
    State,
    b,
    every,
    k,
    refused,
    removed,
    reporting,
    source,
    stored,
    symbol,
    target,
)
from blockpool.spec.pool.allocation import GetNewBlocks
from blockpool.spec.pool.eviction import EvictBlocks, MoveBlockHashes
from blockpool.spec.pool.publishing import CacheFullBlocks, CachePartialBlock

If = z3.If
LATER = State.version("~''")  # one step after NEXT

left, left_next = symbol("left", Block, Key, TRUTH), symbol("left'", Block, Key, TRUTH)
came, came_next = symbol("came", Block, Key, TRUTH), symbol("came'", Block, Key, TRUTH)
leavings, leavings_next = symbol("leavings", Key, NUMBER), symbol("leavings'", Key, NUMBER)
comings, comings_next = symbol("comings", Key, NUMBER), symbol("comings'", Key, NUMBER)
"""Which keys have left and come so far, and how often each key did."""

MOVES_KEYS = (GetNewBlocks, CacheFullBlocks, CachePartialBlock, MoveBlockHashes, EvictBlocks)
"""The actions that change the index one key after another."""


def keys_left(transition: Transition, state: State, so_far: Any, times: Any) -> dict[str, Any]:
    """The loop invariant while keys leave: the index is without those that have left, and each is counted."""
    said = {
        "left: some of those that leave": every(b, k, so=Implies(so_far(b, k), transition.lost(b, k))),
        "left: findable": definition(state, "findable", lambda y, x: And(BEFORE.findable(y, x), Not(so_far(x, y)))),
        "left: copies": every(k, so=And(times(k) >= 0, state.copies(k) == BEFORE.copies(k) - times(k))),
    }
    if transition.action is MoveBlockHashes:
        said["left: each once"] = every(k, so=times(k) == If(so_far(source, k), 1, 0))
    return said


def keys_came(transition: Transition, state: State, so_far: Any, times: Any) -> dict[str, Any]:
    """The loop invariant while keys come, after MIDDLE: the index has those that have come, and each is counted."""
    said = {
        "came: some of those that come": every(b, k, so=Implies(so_far(b, k), transition.gained(b, k))),
        "came: findable": definition(state, "findable", lambda y, x: Or(MIDDLE.findable(y, x), so_far(x, y))),
        "came: copies": every(k, so=And(times(k) >= 0, state.copies(k) == MIDDLE.copies(k) + times(k))),
    }
    if transition.action is MoveBlockHashes:
        said["came: each once"] = every(k, so=times(k) == If(so_far(target, k), 1, 0))
    return said


def one_key(old: State, new: State, ghosts: tuple[Any, Any, Any, Any], pair: Value, comes: bool) -> dict[str, Any]:
    """One key leaves or comes to one block: from the old state to the new."""
    so_far, so_far_next, times, times_next = ghosts
    member = old.findable(its_key, it)
    moved = If(member, 0, 1) if comes else -If(member, 1, 0)

    def mine(y: Any, x: Any) -> Any:
        return And(y == its_key, x == it)

    return {
        "turn": And(pair(it, its_key), Not(so_far(it, its_key))),
        "one more pair": every(b, k, so=so_far_next(b, k) == Or(so_far(b, k), mine(k, b))),
        "one more time": every(k, so=times_next(k) == times(k) + If(k == its_key, 1, 0)),
        "one: findable": definition(
            new, "findable", lambda y, x: If(mine(y, x), z3.BoolVal(comes), old.findable(y, x))
        ),
        "one: copies": every(k, so=new.copies(k) == old.copies(k) + If(k == its_key, moved, 0)),
    }


def key_parts(transition: Transition, claim: Any) -> Iterator[Part]:
    """The fold of the keys that leave, then of those that come, up to the claim about copies and events."""
    now = {"not refused": Not(refused)}
    leaving = (left, left_next, leavings, leavings_next)
    coming = (came, came_next, comings, comings_next)
    none_left = {"none left yet": every(b, k, so=And(Not(left(b, k)), leavings(k) == 0))}
    none_came = {"none came yet": every(b, k, so=And(Not(came(b, k)), comings(k) == 0))}
    all_left = {"all left": every(b, k, so=left(b, k) == transition.lost(b, k))}
    all_came = {"all came": every(b, k, so=came(b, k) == transition.gained(b, k))}
    leaves = keys_left(transition, MIDDLE, left, leavings)
    comes = keys_came(transition, NEXT, came, comings)
    real = {"sizes: in the middle": sizes(MIDDLE)}
    filled = {"proved: no_index_entry_is_empty": no_index_entry_is_empty(AFTER)}
    yield Part("no key has left", now | none_left | {"start": same(BEFORE, MIDDLE)}, leaves, False)
    step = one_key(MIDDLE, NEXT, leaving, transition.lost, comes=False)
    yield Part("a key leaves", now | leaves | step | real, keys_left(transition, NEXT, left_next, leavings_next), False)
    yield Part("no key has come", now | leaves | all_left | none_came | {"start": same(MIDDLE, NEXT)}, comes, False)
    if transition.gained is not nothing:
        step = one_key(NEXT, LATER, coming, transition.gained, comes=True)
        later = keys_came(transition, LATER, came_next, comings_next)
        yield Part("a key comes", now | leaves | all_left | comes | step | real, later, False)
    alike = definition(AFTER, "findable", NEXT.findable)
    ended = now | leaves | all_left | comes | all_came
    yield Part("all have come", ended, {"the index is that of the call": alike})
    # What was just proved equal has equal sizes.
    equal = {"equal sets have equal sizes": every(k, so=AFTER.copies(k) == NEXT.copies(k)), "proved: the index": alike}
    yield Part("claim", ended | real | filled | equal | one_event_each(transition), {"": claim})
    yield refusal(claim)


def one_event_each(transition: Transition) -> dict[str, Any]:
    """A Removed for each key that leaves and a Stored for each that comes, if they are reported at all."""
    if transition.silent:
        return {}
    return {
        "a Removed for each key that left": Implies(reporting, every(k, so=removed(k) == leavings(k))),
        "a Stored for each key that came": Implies(reporting, every(k, so=stored(k) == comings(k))),
    }
