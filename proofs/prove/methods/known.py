"""The builtins and library functions that are understood, and filters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import z3

from blockpool.proofs.prove.methods.errors import UnsupportedError
from blockpool.proofs.prove.methods.lists import Cursor, Items, Pairs, Span
from blockpool.proofs.prove.methods.machine import Run
from blockpool.proofs.prove.methods.tables import Table, chosen
from blockpool.proofs.prove.methods.values import GROUP, INT, WATCHER, Node, Number, Thing, Truth, integer
from blockpool.proofs.prove.queue.values import BLOCK, NONE

I = z3.Int("i")  # noqa: E741
J = z3.Int("j")
B = z3.Const("b", BLOCK)


def builtins(run: Run) -> dict[str, Any]:
    """What any function may call."""

    def length(value: Any) -> Number:
        if not isinstance(value, Items):
            raise UnsupportedError(f"the length of a {type(value).__name__} is asked")
        return Number(run, value.length)

    def iterator(value: Any) -> Cursor:
        if isinstance(value, Cursor):
            return value
        if not isinstance(value, Items):
            raise UnsupportedError(f"a {type(value).__name__} is iterated")
        return Cursor(run, value)

    def span(first: Any, end: Any = None) -> Span:
        start = integer(0 if end is None else first)
        return Span(run, integer(first if end is None else end) - start, start)

    def can_be_called(value: Any) -> bool:
        if isinstance(value, Thing) and value.term.sort() == WATCHER:
            return True
        raise UnsupportedError(f"it is asked whether a {type(value).__name__} can be called")

    # `int` and `list` are compared with types as well, so they stay what they are; a call of `list` goes here.
    return {
        "len": length, "iter": iterator, "range": span, "type": kind, "zip": Pairs,
        "isinstance": lambda value, wanted: instance(run, value, wanted), "callable": can_be_called,
        "islice": lambda items, times: items[:times],
        "repeat": lambda _item, times: Span(run, integer(times)), "int": int,
        "list": list, "Any": Any, **{error.__name__: error for error in (
            Exception, TypeError, AttributeError, IndexError, KeyError)},
    }  # fmt: skip


def kind(value: Any) -> type:
    """`type(value)`."""
    if isinstance(value, Items):
        return value.kind  # type: ignore[no-any-return]
    if isinstance(value, Number) or (isinstance(value, Thing) and value.term.sort() == GROUP):
        return int
    raise UnsupportedError(f"the type of a {type(value).__name__} is asked")


def instance(run: Run, value: Any, wanted: Any) -> Any:
    """`isinstance(value, wanted)`."""
    if wanted is int and (isinstance(value, Number) or (isinstance(value, Thing) and value.term.sort() == GROUP)):
        return True
    if isinstance(value, Node) and getattr(wanted, "__name__", "") == "KVCacheBlock":
        return Truth(run, z3.Not(run.is_no_block(value.term))) if value.doubtful else True
    raise UnsupportedError(f"it is asked whether a {type(value).__name__} is a {wanted!r}")


def copied(run: Run, value: Any = None) -> Items:
    """`list(value)`, `[*value]`: a list of its own."""
    if value is None:
        return Items(run, z3.IntVal(0), run.fresh("nothing", INT, BLOCK))
    if isinstance(value, Cursor):
        rest: Items = value.rest()
        return rest
    if isinstance(value, Table):
        return chosen(run, value, lambda _block: z3.BoolVal(True))
    if not isinstance(value, Items):
        raise UnsupportedError(f"a list is made of a {type(value).__name__}")
    made = Items(run, value.length, value.at, value.sort, value.doubtful)
    made._has(count=value.count)
    return made


def filtered(run: Run, items: Any, test: Callable[[Any], Any]) -> Items:
    """The items that pass the test, in their order."""
    if isinstance(items, Table):
        return chosen(run, items, lambda block: run.formula(lambda: test(Node(run, block, sure=True))))
    if not isinstance(items, Items) or items.sort != BLOCK:
        raise UnsupportedError(f"a {type(items).__name__} is filtered")
    block = z3.And(z3.Not(run.is_no_block(items.at(I))), items.at(I) != NONE)
    run.needs(z3.ForAll([I], z3.Implies(_within(I, items.length), block)), "everything that is filtered is a block")

    def passes(block: Any) -> Any:
        return run.formula(lambda: test(Node(run, block, sure=True)))

    source, length, at = run.fresh("source", INT, INT), run.fresh("length", INT), run.fresh("kept", INT, BLOCK)
    made = Items(run, length, at)
    whence = z3.And(_within(source(I), items.length), items.at(source(I)) == at(I), passes(at(I)))
    run.know("a filtered list is no longer", z3.And(length >= 0, length <= items.length))
    run.know("it has items that pass", z3.ForAll([I], z3.Implies(_within(I, length), whence), patterns=[at(I)]))
    ordered = z3.Implies(z3.And(I >= 0, I < J, length > J), source(I) < source(J))
    run.know("in their order", z3.ForAll([I, J], ordered, patterns=[z3.MultiPattern(source(I), source(J))]))
    if items.place is not None:  # no item is there twice
        place, old = run.fresh("place", BLOCK, INT), items.place
        there = z3.And(_within(old(B), items.length), items.at(old(B)) == B, passes(B))
        kept = z3.And(_within(place(B), length), at(place(B)) == B)
        once = z3.Implies(_within(I, length), place(at(I)) == I)
        made._has(place=place)
        run.know("all that pass", z3.ForAll([B], z3.Implies(there, kept), patterns=[place(B)]))
        run.know("each once", z3.ForAll([I], once, patterns=[at(I)]))
    if items.count is not None:  # that it names what passes as often is proved by induction: see lemmas.py
        count, whole = run.fresh("count", INT, BLOCK, INT), items.count
        made._has(count=count, filter_of=items, passes=passes)
        run.know("counts begin at 0", z3.ForAll([B], count(0, B) == 0, patterns=[count(0, B)]))
        often = z3.Implies(passes(B), count(length, B) == whole(items.length, B))
        run.know("it names what passes as often", z3.ForAll([B], often, patterns=[count(length, B)]))
    return made


def _within(i: Any, length: Any) -> Any:
    return z3.And(i >= 0, i < length)
