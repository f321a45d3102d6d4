"""What the invariants have in common."""

from collections.abc import Mapping
from typing import Any

import z3

from blockpool.proofs.prove.queue import order
from blockpool.proofs.prove.queue.execution import Facts
from blockpool.proofs.prove.queue.loops import Loop, View
from blockpool.proofs.prove.queue.operations import FIRST, INSIDE, PLACE, named
from blockpool.proofs.prove.queue.refusing import UnsupportedError
from blockpool.proofs.prove.queue.values import Field


class PlainInvariant:
    """An invariant without a ghost, and with every field arbitrary."""

    def heap(self, loop: Loop, k: Any) -> Mapping[str, Field]:
        return {}

    def definitions(self, loop: Loop, k: Any) -> Facts:
        return {}

    def ghost(self, loop: Loop) -> Any:
        return None

    def first_ghost(self, loop: Loop) -> Any:
        return None

    def next_ghost(self, loop: Loop, k: Any, ghost: Any) -> Any:
        return None


def links_before(loop: Loop) -> tuple[str, str, Field, Field]:
    """The names of the links, and the links before the loop."""
    layout = loop.run.start.layout
    return layout.next, layout.prev, loop.before.heap[layout.next], loop.before.heap[layout.prev]


def cursor_of(loop: Loop, view: View) -> Any:
    if view.cursor is None:
        raise UnsupportedError(f"the loop at line {loop.info.line} does not carry exactly one block")
    return view.cursor


def list_of(loop: Loop, view: View) -> Any:
    if view.grown is None:
        raise UnsupportedError(f"the loop at line {loop.info.line} does not append to a list")
    return view.grown


def met(block: Any, k: Any) -> z3.BoolRef:
    """The block was met in the first `k` steps over the batch."""
    return z3.And(named(block), FIRST(block) < k)


def under_way(loop: Loop, kind: type) -> Loop:
    """The loop of that kind that was under way when this one began."""
    for other in reversed(loop.run.loops):
        if isinstance(other.invariant, kind):
            return other  # type: ignore[no-any-return]
    raise UnsupportedError(f"the loop at line {loop.info.line} was not entered from a loop over a batch")


def listed(grown: Any, start: Any, k: Any) -> Facts:
    """The `k` blocks behind place `start` are listed, in order."""
    b = order.B
    there = z3.And(INSIDE(b), start < PLACE(b), PLACE(b) <= start + k)
    item = grown.at(PLACE(b) - 1 - start) == b
    return {
        "one block is listed a step": grown.length == k,
        "the list has the blocks in order": order.every([b], z3.Implies(there, item), PLACE(b)),
    }
