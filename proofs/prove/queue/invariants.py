"""The loop invariants, stated once for every queue that has such a method, and named by what the loop does.

They speak of the state before the loop (`loop.before`) and before the call (the constants of operations.py), never of
the names of locals: the block that a loop carries from step to step is its cursor.
"""

# ruff: noqa: SIM300  (names in capitals are the unknowns of formulas)

from collections.abc import Mapping
from typing import Any

import z3

from blockpool.proofs.prove.queue import order
from blockpool.proofs.prove.queue.execution import Facts
from blockpool.proofs.prove.queue.invariant_parts import (
    PlainInvariant,
    cursor_of,
    links_before,
    list_of,
    listed,
    met,
    under_way,
)
from blockpool.proofs.prove.queue.loops import Invariant, Invariants, Loop, View
from blockpool.proofs.prove.queue.operations import FIRST, INSIDE, ITEM, LENGTH, PLACE, WIDTH, linked, named
from blockpool.proofs.prove.queue.order import I
from blockpool.proofs.prove.queue.removal_invariants import (
    BatchLeaves,
    LeaversAreListed,
    LeaversReturn,
    LinksAreCleared,
)
from blockpool.proofs.prove.queue.values import NONE, Field


class ChainGrows(PlainInvariant):
    """Items of the batch are linked one behind the other, starting from the cursor before the loop."""

    def heap(self, loop: Loop, k: Any) -> Mapping[str, Field]:
        next_name, prev_name, after, before = links_before(loop)
        start = cursor_of(loop, loop.before)

        def next_of(b: Any) -> Any:
            inner = z3.If(z3.And(named(b), FIRST(b) < k - 1), ITEM(FIRST(b) + 1), after(b))
            return z3.If(z3.And(b == start, k > 0), ITEM(z3.IntVal(0)), inner)

        def prev_of(b: Any) -> Any:
            return z3.If(met(b, k), z3.If(FIRST(b) == 0, start, ITEM(FIRST(b) - 1)), before(b))

        return {next_name: next_of, prev_name: prev_of}

    def facts(self, loop: Loop, k: Any, view: View) -> Facts:
        accepted = z3.And(FIRST(ITEM(I)) == I, z3.Not(linked(ITEM(I))))
        start, cursor = cursor_of(loop, loop.before), cursor_of(loop, view)
        return {
            "what was linked could be": order.every([I], z3.Implies(z3.And(0 <= I, I < k), accepted), ITEM(I)),
            "the cursor is the last one linked": cursor == z3.If(k == 0, start, ITEM(k - 1)),
        }


class ChainIsUndone(PlainInvariant):
    """The chain of the loop around this one loses its last block at each step."""

    def heap(self, loop: Loop, k: Any) -> Mapping[str, Field]:
        next_name, prev_name, after, before = links_before(loop)
        width = under_way(loop, ChainGrows).k

        def gone(b: Any) -> Any:
            return z3.And(met(b, width), FIRST(b) >= width - k)

        return {
            next_name: lambda b: z3.If(gone(b), NONE, after(b)),
            prev_name: lambda b: z3.If(gone(b), NONE, before(b)),
        }

    def facts(self, loop: Loop, k: Any, view: View) -> Facts:
        outer = under_way(loop, ChainGrows)
        left = outer.k - k
        here = z3.If(left == 0, cursor_of(outer, outer.before), ITEM(left - 1))
        return {
            "the chain bounds the steps": k <= outer.k,
            "the cursor is the last one left": cursor_of(loop, view) == here,
        }


class FrontIsTaken(PlainInvariant):
    """The first blocks lose their links and are listed; the cursor is the next one."""

    def heap(self, loop: Loop, k: Any) -> Mapping[str, Field]:
        next_name, prev_name, after, before = links_before(loop)

        def gone(b: Any) -> Any:
            return z3.And(INSIDE(b), 1 <= PLACE(b), PLACE(b) <= k)

        return {
            next_name: lambda b: z3.If(gone(b), NONE, after(b)),
            prev_name: lambda b: z3.If(gone(b), NONE, before(b)),
        }

    def facts(self, loop: Loop, k: Any, view: View) -> Facts:
        cursor = cursor_of(loop, view)
        return {
            "the cursor is the next block": z3.And(INSIDE(cursor), PLACE(cursor) == k + 1),
            **listed(list_of(loop, view), 0, k),
        }


class Walk(PlainInvariant):
    """The cursor moves one place at each step, and what it leaves behind is listed."""

    def facts(self, loop: Loop, k: Any, view: View) -> Facts:
        start, cursor = cursor_of(loop, loop.before), cursor_of(loop, view)
        counted = {
            f"number {i} counts down": now == then - k
            for i, (now, then) in enumerate(zip(view.numbers, loop.before.numbers, strict=True))
        }
        return {
            "the walk starts inside": z3.And(INSIDE(start), PLACE(start) >= 1),
            "the cursor has moved one place a step": z3.And(INSIDE(cursor), PLACE(cursor) == PLACE(start) + k),
            "the list bounds the steps": k <= LENGTH + 1,
            **listed(list_of(loop, view), PLACE(start) - 1, k),
            **counted,
        }


class BuiltByIndex(PlainInvariant):
    """Neighbours in the batch are linked, item by item."""

    def heap(self, loop: Loop, k: Any) -> Mapping[str, Field]:
        next_name, prev_name, after, before = links_before(loop)

        def next_of(b: Any) -> Any:
            return z3.If(z3.And(met(b, k), FIRST(b) < WIDTH - 1), ITEM(FIRST(b) + 1), after(b))

        def prev_of(b: Any) -> Any:
            return z3.If(z3.And(met(b, k), FIRST(b) > 0), ITEM(FIRST(b) - 1), before(b))

        return {next_name: next_of, prev_name: prev_of}

    def facts(self, loop: Loop, k: Any, view: View) -> Facts:
        return {"the batch bounds the steps": k <= WIDTH}


STATED: dict[tuple[str, int], Invariant] = {
    ("__init__", 0): BuiltByIndex(),
    ("append_n", 0): ChainGrows(),
    ("prepend_n", 0): ChainGrows(),
    ("_unlink_chain", 0): ChainIsUndone(),
    ("popleft_n", 0): FrontIsTaken(),
    ("get_all_free_blocks", 0): Walk(),
    ("iter_blocks_after", 0): Walk(),
    ("_walk", 0): Walk(),
    ("remove_n", 0): BatchLeaves(),
    ("remove_n", 1): LinksAreCleared(),
    ("_not_removable", 0): LeaversAreListed(),
    ("_not_removable", 1): LeaversReturn(),
}
INVARIANTS = Invariants(STATED)
