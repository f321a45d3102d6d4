"""The actions on references and the free queue, as transitions."""

from typing import Any

import z3

from blockpool.proofs.prove.pool.effects import TOO_MANY, UNKNOWN, WELL_NAMED, all_keys_of, keys, names
from blockpool.proofs.prove.pool.transition import OPEN, Transition, Value, nothing
from blockpool.proofs.prove.pool.vocabulary import (
    AFTER,
    BEFORE,
    a,
    b,
    block,
    count,
    done,
    every,
    handed,
    handed_ahead,
    known,
    named,
    named_ahead,
    null,
    queued,
    some,
    telling,
    w,
    watcher,
)
from blockpool.spec.pool.allocation import CancelWatch, FreeBlocks, GetNewBlocks, Touch, UnpinBlocks
from blockpool.spec.pool.terms import Reason

And, Or, Not, If, Implies = z3.And, z3.Or, z3.Not, z3.If, z3.Implies


def get_new_blocks() -> Transition:
    """The victims are the first of the queue. With a block queued twice, its later place may end up anywhere."""

    def taken(x: Any) -> Any:
        return handed(x) > 0

    order = every(a, b, so=Implies(And(Not(taken(a)), Not(taken(b))), AFTER.ahead(a, b) == BEFORE.ahead(a, b)))
    gone = every(a, b, so=Implies(AFTER.ahead(a, b), And(queued(AFTER, a), queued(AFTER, b))))
    return Transition(
        GetNewBlocks,
        {Reason.RE_ENTRANT: telling, Reason.BAD_COUNT: count < 0, Reason.NOT_ENOUGH_FREE: count > BEFORE.free},
        effect={
            "counted": lambda x: Or(BEFORE.counted(x), taken(x)),
            "refs": lambda x: If(taken(x), 1, BEFORE.refs(x)),
            "places": lambda x: BEFORE.places(x) - handed(x),
            "ahead": And(order, gone),
            "free": lambda: BEFORE.free - count,
            "held": OPEN,
            "listed": lambda x: And(BEFORE.listed(x), Not(taken(x))),
            "watched": lambda x, y: And(BEFORE.watched(x, y), Not(taken(x))),
            **keys(taken),
        },
        answer={
            "only queued blocks": every(b, so=And(handed(b) >= 0, handed(b) <= BEFORE.places(b))),
            "the front": every(a, b, so=Implies(And(taken(b), BEFORE.ahead(a, b)), taken(a))),
            "in order": every(a, b, so=handed_ahead(a, b) == And(taken(a), taken(b), BEFORE.ahead(a, b))),
        },
        lost=all_keys_of(taken),
        tells=lambda x, y: And(taken(x), BEFORE.watched(x, y)),
    )


def touch() -> Transition:
    def revived(x: Any) -> Any:
        return And(names(x), BEFORE.refs(x) <= 0)

    return Transition(
        Touch,
        {Reason.RE_ENTRANT: telling, Reason.UNKNOWN_BLOCK: UNKNOWN},
        WELL_NAMED,
        effect={
            "counted": lambda x: Or(BEFORE.counted(x), names(x)),
            "refs": lambda x: BEFORE.refs(x) + If(x != null, named(x), 0),
            "places": lambda x: If(revived(x), 0, BEFORE.places(x)),
            "ahead": lambda x, y: And(BEFORE.ahead(x, y), Not(revived(x)), Not(revived(y))),
            "free": OPEN,
            "held": OPEN,
        },
    )


def given_back(to_the_front: Value) -> dict[str, Any]:
    """References dropped, and the freed blocks queued: these at the front, the others at the back."""

    def freed(x: Any) -> Any:
        return And(names(x), BEFORE.refs(x) == named(x))

    def first(x: Any) -> Any:
        return And(freed(x), to_the_front(x))

    def last(x: Any) -> Any:
        return And(freed(x), Not(to_the_front(x)), Not(queued(BEFORE, x)))

    def stays(x: Any) -> Any:
        return And(queued(BEFORE, x), Not(first(x)))

    def ahead(x: Any, y: Any) -> Any:
        return Or(
            And(first(x), first(y), named_ahead(x, y)),
            And(first(x), Or(stays(y), last(y))),
            And(stays(x), stays(y), BEFORE.ahead(x, y)),
            And(stays(x), last(y)),
            And(last(x), last(y), named_ahead(x, y)),
        )

    return {
        "counted": lambda x: Or(BEFORE.counted(x), names(x)),
        "refs": lambda x: BEFORE.refs(x) - If(x != null, named(x), 0),
        "places": lambda x: BEFORE.places(x) + If(freed(x), 1, 0),
        "ahead": ahead,
        "free": OPEN,
        "held": OPEN,
    }


def free_blocks() -> Transition:
    return Transition(
        FreeBlocks,
        {Reason.RE_ENTRANT: telling, Reason.UNKNOWN_BLOCK: UNKNOWN, Reason.NOT_HELD: TOO_MANY},
        WELL_NAMED,
        effect=given_back(lambda x: Not(Or(BEFORE.published(x), BEFORE.listed(x)))),
    )


def unpin_blocks() -> Transition:
    return Transition(
        UnpinBlocks,
        {
            Reason.RE_ENTRANT: telling,
            Reason.UNKNOWN_BLOCK: UNKNOWN,
            Reason.NULL_BLOCK: named(null) > 0,
            Reason.NOT_HELD: TOO_MANY,
        },
        WELL_NAMED,
        effect={
            **given_back(nothing),
            "listed": lambda x: Or(BEFORE.listed(x), named(x) > 0),
            "watched": lambda x, y: Or(BEFORE.watched(x, y), And(named(x) > 0, y == watcher)),
        },
    )


def cancel_watch() -> Transition:
    def others(x: Any) -> Any:
        return some(w, so=And(BEFORE.watched(x, w), w != watcher))

    def leaves(x: Any) -> Any:
        return And(done, x == block)

    return Transition(
        CancelWatch,
        {Reason.RE_ENTRANT: telling, Reason.UNKNOWN_BLOCK: Not(known(block))},
        effect={
            "listed": lambda x: And(BEFORE.listed(x), Not(And(leaves(x), Not(others(x))))),
            "watched": lambda x, y: And(BEFORE.watched(x, y), Not(And(leaves(x), y == watcher))),
        },
        answer={"was it watching": done == BEFORE.watched(block, watcher)},
    )
