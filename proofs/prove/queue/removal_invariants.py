"""The loop invariants of a batch removal, and of its undo."""

# ruff: noqa: SIM300  (names in capitals are the unknowns of formulas)

from collections.abc import Mapping
from typing import Any

import z3

from blockpool.proofs.prove.queue import order
from blockpool.proofs.prove.queue.execution import Facts
from blockpool.proofs.prove.queue.invariant_parts import PlainInvariant, links_before, list_of, met, under_way
from blockpool.proofs.prove.queue.loops import Loop, View
from blockpool.proofs.prove.queue.operations import FIRST, INSIDE, INT, ITEM, LENGTH, QUEUED, queued
from blockpool.proofs.prove.queue.order import I, Order
from blockpool.proofs.prove.queue.values import BLOCK, NONE, Field


class History:
    """The links after each step of a batch removal: what an undo goes back through.

    Two functions are defined by recursion over the steps. A definition is an assumption, which is given only where it
    is needed: for the first state, and for one step.
    """

    def __init__(self, loop: Loop) -> None:
        self.after = loop.run.fresh("next_at", INT, BLOCK, BLOCK)
        self.before = loop.run.fresh("prev_at", INT, BLOCK, BLOCK)

    def begins(self, after: Field, before: Field) -> z3.BoolRef:
        b = order.B
        return z3.ForAll([b], z3.And(self.after(0, b) == after(b), self.before(0, b) == before(b)))

    def neighbours(self, step: Any) -> tuple[Any, Any, Any]:
        """The item that a step takes out, and what stood on its sides."""
        item = ITEM(step)
        return item, self.before(step, item), self.after(step, item)

    def steps(self, step: Any) -> z3.BoolRef:
        b = order.B
        item, left, right = self.neighbours(step)
        then_before = z3.If(b == item, NONE, z3.If(b == right, left, self.before(step, b)))
        linked_then = z3.And(
            self.after(step + 1, b) == z3.If(b == left, right, self.after(step, b)),
            self.before(step + 1, b) == then_before,
        )
        return z3.Implies(step >= 0, order.every_block(linked_then, self.after(step + 1, b), self.before(step + 1, b)))

    def sound(self, step: Any) -> z3.BoolRef:
        """The item stood between two others, and they knew it."""
        item, left, right = self.neighbours(step)
        known = z3.And(self.after(step, left) == item, self.before(step, right) == item)
        return z3.And(z3.Distinct(item, left, right, NONE), known)


class BatchLeaves(PlainInvariant):
    """Each item leaves the list, and keeps a stale link forward. The ghost is the sequence that is left."""

    def definitions(self, loop: Loop, k: Any) -> Facts:
        _, _, after, before = links_before(loop)
        loop.history = History(loop)
        return {
            "the history begins with the links before": loop.history.begins(after, before),
            "the history goes on with this step": loop.history.steps(k),
        }

    def heap(self, loop: Loop, k: Any) -> Mapping[str, Field]:
        layout, history = loop.run.start.layout, loop.history
        return {layout.next: lambda b: history.after(k, b), layout.prev: lambda b: history.before(k, b)}

    def facts(self, loop: Loop, k: Any, view: View) -> Facts:
        layout, left = loop.run.start.layout, view.ghost
        after, before = view.heap[layout.next], view.heap[layout.prev]
        b = order.B
        gone, outside = met(b, k), z3.And(z3.Not(INSIDE(b)), b != NONE)
        accepted = z3.And(FIRST(ITEM(I)) == I, queued(ITEM(I)))
        earlier = z3.And(0 <= I, I < k)
        return {
            "each step is known": order.every([I], z3.Implies(earlier, loop.history.sound(I)), ITEM(I)),
            **order.represents(after, before, left),
            "what has left was named": order.every_block(
                left.inside(b) == z3.And(INSIDE(b), z3.Not(gone)), left.inside(b)
            ),
            "one block leaves a step": left.length == LENGTH - k,
            "what has left could leave": order.every([I], z3.Implies(earlier, accepted), ITEM(I)),
            "the others stand in the same order": order.same_order(left, QUEUED),
            "what has left keeps one link": order.every_block(
                z3.Implies(gone, z3.And(before(b) == NONE, after(b) != NONE)), after(b), before(b)
            ),
            "blocks outside have no links": order.every_block(
                z3.Implies(outside, z3.And(before(b) == NONE, after(b) == NONE)), after(b), before(b)
            ),
        }

    def ghost(self, loop: Loop) -> Order:
        run = loop.run
        return Order(run.fresh("left", BLOCK, z3.BoolSort()), run.fresh("place", BLOCK, INT), run.fresh("length", INT))

    def first_ghost(self, loop: Loop) -> Order:
        return QUEUED

    def next_ghost(self, loop: Loop, k: Any, ghost: Any) -> Order:
        return order.without(ghost, ITEM(k))


class LeaversAreListed(PlainInvariant):
    """The items that had left when a batch removal was refused are listed."""

    def facts(self, loop: Loop, k: Any, view: View) -> Facts:
        outer, grown = under_way(loop, BatchLeaves), list_of(loop, view)
        listed = z3.Implies(z3.And(0 <= I, I < k), grown.at(I) == ITEM(I))
        return {
            "no more are listed than had left": k <= outer.k,
            "one item is listed a step": grown.length == k,
            "the list has the items in order": order.every([I], listed, ITEM(I), grown.at(I)),
        }


class LeaversReturn(PlainInvariant):
    """The last one that left comes back first: the links go back through their history."""

    def definitions(self, loop: Loop, k: Any) -> Facts:
        outer = under_way(loop, BatchLeaves)
        return {"the history went on with the step undone now": outer.history.steps(outer.k - 1 - k)}

    def heap(self, loop: Loop, k: Any) -> Mapping[str, Field]:
        outer, layout = under_way(loop, BatchLeaves), loop.run.start.layout
        history, step = outer.history, outer.k - k
        return {layout.next: lambda b: history.after(step, b), layout.prev: lambda b: history.before(step, b)}

    def facts(self, loop: Loop, k: Any, view: View) -> Facts:
        return {"no more return than had left": loop.length == under_way(loop, BatchLeaves).k}


class LinksAreCleared(PlainInvariant):
    """Each item loses its link forward."""

    def heap(self, loop: Loop, k: Any) -> Mapping[str, Field]:
        next_name, _, after, _ = links_before(loop)
        return {next_name: lambda b: z3.If(met(b, k), NONE, after(b))}

    def facts(self, loop: Loop, k: Any, view: View) -> Facts:
        return {}
