"""What stands for code that a method calls and that is not run with it.

Those of the queue are what `prove` shows of its methods from their own source. Those of the index and of `drop_keys`
say what these do to the relation between blocks and keys, and to events.
"""

# ruff: noqa: SIM300  (names in capitals are the unknowns of formulas)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import z3

from blockpool.proofs.prove.methods.errors import Raised
from blockpool.proofs.prove.methods.lists import Items
from blockpool.proofs.prove.methods.machine import Run
from blockpool.proofs.prove.methods.models import Queue
from blockpool.proofs.prove.methods.values import DIGEST, GROUP, INT, NO_DIGEST, TRUTH, Model, integer, term_of
from blockpool.proofs.prove.methods.world import (
    KEY_OF,
    SIGNATURES,
    And,
    B,
    I,
    If,
    Implies,
    K,
    Not,
    Or,
    every,
    keyed,
    own,
    queued,
    within,
)
from blockpool.proofs.prove.pool import vocabulary as words
from blockpool.proofs.prove.queue.order import Order, followed_by, represents, same_order, without_first
from blockpool.proofs.prove.queue.values import BLOCK, NONE


def any_foreign(run: Run) -> Callable[[Any, Any], bool]:
    """`checks.any_foreign`: a search."""

    def answer(_pool: Any, items: Items) -> bool:
        place, items_at, length = run.fresh("foreign", INT), items.at, items.length
        if run.branch(z3.Bool(run.named("something is foreign"))):
            run.know("it is foreign", And(within(place, length), Not(own(items_at(place)))))
            return True
        run.know("nothing is foreign", every([I], Implies(within(I, length), own(items_at(I))), items_at(I)))
        return False

    return answer


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


def drop_keys(run: Run) -> Callable[[Any, Any], bool]:
    """`publish.drop_keys`: all keys of a block go, with a Removed for each."""

    def call(_pool: Any, block: Any) -> bool:
        heap, at = run.heap, term_of(block, BLOCK)
        digest, group = heap["digest"], heap["group"]
        carries, alias, aliased = heap["carries"], heap["alias"], heap["aliased"]
        if run.branch(digest(at) == NO_DIGEST):
            return False
        if run.branch(words.reporting):
            removed, length, out_at = heap["removed"], heap["out.length"], heap["out.at"]
            lost = Or(keyed(digest, group, at, K), alias(at, K))
            now, more, new_at = run.fresh("removed", *SIGNATURES["removed"]), run.fresh("length", INT), None
            new_at = run.fresh("out", *SIGNATURES["out.at"])
            run.know("a Removed for each key", every([K], now(K) == removed(K) + If(lost, 1, 0), now(K)))
            run.know("at least one event", more > length)
            kept = Implies(within(I, length), new_at(I) == out_at(I))
            run.know("events before stay", every([I], kept, new_at(I)))
            heap |= {"removed": now, "out.length": more, "out.at": new_at}
        heap["carries"] = lambda b, k: And(carries(b, k), b != at)
        heap["alias"] = lambda b, k: And(alias(b, k), b != at)
        heap["aliased"] = lambda b: And(aliased(b), b != at)
        run.write("digest", at, NO_DIGEST)
        return True

    return call


def tell(run: Run) -> Callable[[Any, Any], Any]:
    """`watchers.tell`: all watchers of these blocks are told, then forgotten. Their errors are kept."""

    def call(_pool: Any, blocks: Items) -> Any:
        heap, place, at, length = run.heap, blocks.place, blocks.at, blocks.length
        listed, watched, told = heap["listed"], heap["watched"], heap["told"]

        def mine(b: Any) -> Any:
            return And(within(place(b), length), at(place(b)) == b)

        run.needs(every([I], Implies(within(I, length), And(listed(at(I)), place(at(I)) == I))), "each is watched")
        heap["told"] = lambda b, w: Or(told(b, w), And(mine(b), watched(b, w)))
        heap["watched"] = lambda b, w: And(watched(b, w), Not(mine(b)))
        heap["listed"] = lambda b: And(listed(b), Not(mine(b)))
        return Model(run)

    return call


def raise_watcher_errors(run: Run) -> Callable[[Any, Any, Any], None]:
    """What callbacks raised is raised now, with the result; the call has finished all the same."""

    def call(_call: Any, _errors: Any, result: Any) -> None:
        from blockpool.impl.errors import WatcherErrors

        if run.branch(z3.Bool(run.named("callbacks raised"))):
            run.parts["result"] = result
            raise Raised(WatcherErrors)

    return call


def claim(run: Run, group: Any) -> Callable[[Any, Any], Any]:
    """`Group.claim`, which is `dict.setdefault`: the block enters as the first of its key, unless there is one."""

    def call(digest: Any, block: Any) -> Any:
        from blockpool.proofs.prove.methods.values import Node

        key, at, carries = (
            KEY_OF(term_of(digest, DIGEST), term_of(group, GROUP)),
            term_of(block, BLOCK),
            run.heap["carries"],
        )
        holder = run.fresh("holder", BLOCK)
        if run.branch(z3.Bool(run.named("the key is known"))):
            run.know("by its holder", carries(holder, key))
            return Node(run, holder)
        run.know("nobody has the key", every([B], Not(carries(B, key)), carries(B, key)))
        run.heap["carries"] = lambda b, k: Or(carries(b, k), And(b == at, k == key))
        return block

    return call


def entering(run: Run) -> Callable[[Any, Any, Any], None]:
    """`HashIndex.insert_copy`: one more block carries a key that another carries."""

    def call(digest: Any, group: Any, block: Any) -> None:
        key, at, carries = (
            KEY_OF(term_of(digest, DIGEST), term_of(group, GROUP)),
            term_of(block, BLOCK),
            run.heap["carries"],
        )
        run.needs(z3.Exists([B], And(B != at, carries(B, key))), "a copy comes behind another block")
        run.needs(Not(carries(at, key)), "a copy has not got the key")
        run.heap["carries"] = lambda b, k: Or(carries(b, k), And(b == at, k == key))

    return call


def inserting(run: Run) -> Callable[[Any, Any, Any], None]:
    """`HashIndex.insert`: one more block carries a key."""

    def call(digest: Any, group: Any, block: Any) -> None:
        from blockpool.impl.errors import RepeatedBlock

        key, at = KEY_OF(term_of(digest, DIGEST), term_of(group, GROUP)), term_of(block, BLOCK)
        carries = run.heap["carries"]
        if run.branch(carries(at, key)):
            raise Raised(RepeatedBlock)
        run.heap["carries"] = lambda b, k: Or(carries(b, k), And(b == at, k == key))

    return call


def leaving(run: Run) -> Callable[[Any, Any, Any], None]:
    """`HashIndex.remove`: a block no longer carries a key."""

    def call(digest: Any, group: Any, block: Any) -> None:
        from blockpool.impl.errors import UnknownBlock

        key, at, carries = (
            KEY_OF(term_of(digest, DIGEST), term_of(group, GROUP)),
            term_of(block, BLOCK),
            run.heap["carries"],
        )
        if not run.branch(carries(at, key)):
            raise Raised(UnknownBlock)
        run.heap["carries"] = lambda b, k: And(carries(b, k), Not(And(b == at, k == key)))

    return call
