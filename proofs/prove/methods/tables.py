"""Dicts that blocks are the keys of: asked by block, counted in, or walked over, each key once."""

# ruff: noqa: SIM300  (names in capitals are the unknowns of formulas)

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import z3

from blockpool.proofs.prove.methods.errors import UnsupportedError
from blockpool.proofs.prove.methods.lists import Items
from blockpool.proofs.prove.methods.values import INT, Number, Poison, integer, term_of
from blockpool.proofs.prove.queue.values import BLOCK

if TYPE_CHECKING:
    from blockpool.proofs.prove.methods.machine import Run

I = z3.Int("i")  # noqa: E741
B = z3.Const("b", BLOCK)


class Table(Poison):
    """A dict from blocks to something."""

    def __init__(self, run: Run) -> None:
        self._has(run=run)

    def has(self, block: Any) -> Any:
        """Is it a key?"""
        raise UnsupportedError("it is not modelled which keys this dict has")


class Counts(Table):
    """A dict from blocks to numbers. There is at most one in a call; it begins empty."""

    def __init__(self, run: Run) -> None:
        if run.parts.get("counts"):
            raise UnsupportedError("a second dict in one call is not modelled")
        super().__init__(run)
        run.parts["counts"] = True
        run.heap["named.has"] = lambda _b: z3.BoolVal(False)
        run.heap["named.value"] = lambda _b: z3.IntVal(0)

    def has(self, block: Any) -> Any:
        return self.run.heap["named.has"](block)

    def get(self, block: Any, default: Any) -> Number:
        at = term_of(block, BLOCK)
        return Number(self.run, z3.If(self.has(at), self.run.heap["named.value"](at), integer(default)))

    def __setitem__(self, block: Any, value: Any) -> None:
        at, has = term_of(block, BLOCK), self.run.heap["named.has"]
        self.run.heap["named.has"] = lambda b: z3.Or(has(b), b == at)
        self.run.write("named.value", at, integer(value))


def chosen(run: Run, table: Table, passes: Callable[[Any], Any]) -> Items:
    """The keys of a table that pass a test, each once, in the order of the table, which is not known."""
    length, at, place = run.fresh("length", INT), run.fresh("key", INT, BLOCK), run.fresh("place", BLOCK, INT)
    wanted = z3.And(table.has(at(I)), passes(at(I)), place(at(I)) == I)
    inside = z3.And(0 <= place(B), place(B) < length, at(place(B)) == B)
    run.know("a table has a size", length >= 0)
    each = z3.Implies(z3.And(0 <= I, I < length), wanted)
    run.know("its keys, each once", z3.ForAll([I], each, patterns=[at(I)]))
    every = z3.Implies(z3.And(table.has(B), passes(B)), inside)
    run.know("all of its keys", z3.ForAll([B], every, patterns=[place(B)]))
    made = Items(run, length, at)
    made._has(place=place)
    return made
