"""The methods of the free queue as contracts: what `prove` shows of them from their own source."""

# ruff: noqa: SIM300  (names in capitals are the unknowns of formulas)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import z3

from blockpool.proofs.prove.methods.errors import Raised
from blockpool.proofs.prove.methods.lists import Items
from blockpool.proofs.prove.methods.machine import Run
from blockpool.proofs.prove.methods.models import Queue
from blockpool.proofs.prove.methods.values import INT, TRUTH, integer
from blockpool.proofs.prove.methods.world import (
    And,
    B,
    I,
    Implies,
    Not,
    Or,
    every,
    queued,
    within,
)
from blockpool.proofs.prove.queue.order import Order, followed_by, represents, same_order, without_first
from blockpool.proofs.prove.queue.values import BLOCK, NONE


def remove_n(run: Run) -> Callable[[Any], None]:
    """`FreeKVCacheBlockQueue.remove_n`: all of the batch leaves, or nothing is changed."""

    def call(items: Items) -> None:
        from blockpool.impl.errors import QueueError

        before, at, n = run.heap["order"], items.at, items.length
        place = run.fresh("place in the batch", BLOCK, INT)
        if not run.branch(z3.Bool(run.named("the batch can be removed"))):
            i, j = run.fresh("i", INT), run.fresh("j", INT)
            unqueued, twice = Not(queued(before, at(i))), And(within(j, n), i != j, at(i) == at(j))
            run.know("it cannot", And(within(i, n), Or(unqueued, twice)))
            raise Raised(QueueError)
        legal = And(queued(before, at(I)), place(at(I)) == I)
        run.know("all are queued, each once", every([I], Implies(within(I, n), legal), at(I)))

        def gone(b: Any) -> Any:
            return And(within(place(b), n), at(place(b)) == b)

        after = Order(run.fresh("inside", BLOCK, TRUTH), run.fresh("place", BLOCK, INT), before.length - n)
        body = after.inside(B) == And(before.inside(B), Not(gone(B)))
        run.know("the others stay", every([B], body, after.inside(B), before.inside(B)))
        run.know("in their order", same_order(after, before))
        relinked(run, before, after)

    return call


def append_n(run: Run) -> Callable[[Any], None]:
    """`FreeKVCacheBlockQueue.append_n`: all of the batch joins at the end, or nothing is changed."""

    def call(items: Items) -> None:
        from blockpool.impl.errors import AlreadyQueued

        before, at, n = run.heap["order"], items.at, items.length
        place = run.fresh("place in the batch", BLOCK, INT)
        after, back = run.heap["next"], run.heap["prev"]

        def unlinked(b: Any) -> Any:
            return And(after(b) == NONE, back(b) == NONE)

        if not run.branch(z3.Bool(run.named("the batch can be added"))):
            i, j = run.fresh("i", INT), run.fresh("j", INT)
            twice = And(within(j, n), i != j, at(i) == at(j))
            run.know("it cannot", And(within(i, n), Or(Not(unlinked(at(i))), twice)))
            raise Raised(AlreadyQueued)
        legal = And(unlinked(at(I)), place(at(I)) == I)
        run.know("none is linked, each is there once", every([I], Implies(within(I, n), legal), at(I)))
        joins = run.fresh("joins", BLOCK, TRUTH)
        body = joins(B) == And(within(place(B), n), at(place(B)) == B)
        run.know("who joins", every([B], body, joins(B), place(B)))
        relinked(run, before, followed_by(before, joins, place, n))

    return call


def popleft_n(run: Run, at_place: Any) -> Callable[[Any], Items]:
    """`FreeKVCacheBlockQueue.popleft_n`: the first so many, which must be there. `at_place` names the blocks."""

    def call(number: Any) -> Items:
        before, n = run.heap["order"], integer(number)
        run.needs(And(0 <= n, n <= before.length), "as many as are taken are queued")
        relinked(run, before, without_first(before, n))
        return walked(run, n, before.place, at_place)

    return call


def walked(run: Run, length: Any, place: Any, at_place: Any) -> Items:
    """The first so many of the queue, in order."""
    made = Items(run, length, lambda i: at_place(i + 1))
    made._has(place=lambda b: place(b) - 1)
    return made


def relinked(run: Run, before: Order, after: Order) -> None:
    """The links represent another sequence; blocks outside have none, and others those that they had."""
    old_next, old_prev = run.heap["next"], run.heap["prev"]
    new_next, new_prev = run.fresh("next", BLOCK, BLOCK), run.fresh("prev", BLOCK, BLOCK)
    for name, fact in represents(new_next, new_prev, after).items():
        run.know(f"the queue: {name}", fact)
    left = And(before.inside(B), Not(after.inside(B)))
    cleared = And(new_next(B) == NONE, new_prev(B) == NONE)
    run.know("who left has no links", every([B], Implies(left, cleared), new_next(B), new_prev(B)))
    outside = Not(Or(before.inside(B), after.inside(B)))
    kept = And(new_next(B) == old_next(B), new_prev(B) == old_prev(B))
    run.know("others keep theirs", every([B], Implies(outside, kept), new_next(B), new_prev(B)))
    run.heap |= {
        "next": new_next,
        "prev": new_prev,
        "order": after,
        "free": run.heap["free"] - before.length + after.length,
    }


def queue(run: Run) -> Queue:
    """The free queue with the methods that the careful ways call."""
    return Queue(run, remove_n=remove_n(run), append_n=append_n(run))
