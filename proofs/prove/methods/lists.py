"""Lists of any length, what is looped over, and iterators that are set back.

What may change lives in the heap of the run, under names of its own, like the fields of blocks: a loop then sees
whatever its body changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import z3

from blockpool.proofs.prove.methods.errors import Raised, UnsupportedError
from blockpool.proofs.prove.methods.values import INT, Number, Poison, integer, term_of, wrapped
from blockpool.proofs.prove.queue.values import BLOCK

if TYPE_CHECKING:
    from blockpool.proofs.prove.methods.machine import Run


class Items(Poison):
    """A list: `length` items, of which item i is `at(i)`. `doubtful` ones may be no blocks."""

    def __init__(self, run: Run, length: Any, at: Any, sort: Any = BLOCK, doubtful: bool = False) -> None:
        name = run.named("list")
        self._has(run=run, name=name, sort=sort, doubtful=doubtful, count=None, place=None, kind=list)
        run.heap[f"{name}.length"], run.heap[f"{name}.at"] = length, at

    @property
    def length(self) -> Any:
        return self.run.heap[f"{self.name}.length"]

    @property
    def at(self) -> Any:
        return self.run.heap[f"{self.name}.at"]

    def append(self, value: Any) -> None:
        before, place, item = self.at, self.length, term_of(value, self.sort)
        self.run.heap[f"{self.name}.at"] = lambda i: z3.If(i == place, item, before(i))
        self.run.heap[f"{self.name}.length"] = place + 1

    def item(self, place: Any) -> Any:
        return wrapped(self.run, self.at(place), self.sort, self.doubtful)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._slice(index)
        place = integer(index)
        # From the end is not modelled: it must not happen.
        self.run.needs(place >= 0, "an item is not taken from the end of a list")
        if not self.run.branch(place < self.length):
            raise Raised(IndexError)
        return self.item(place)

    def _slice(self, index: slice) -> Items:
        start, stop = integer(0 if index.start is None else index.start), integer(index.stop)
        if index.step is not None:
            raise UnsupportedError("a slice with a step is not modelled")
        self.run.needs(z3.And(start >= 0, stop >= 0), "a slice is not taken from the end of a list")
        end = z3.If(stop < self.length, stop, self.length)
        at, length = self.at, z3.If(start < end, end - start, 0)
        made = Items(self.run, end if index.start is None else length, at, self.sort, self.doubtful)
        if index.start is not None:
            self.run.heap[f"{made.name}.at"] = lambda i: at(start + i)
        else:
            made._has(count=self.count, place=self.place)
        return made

    def __bool__(self) -> bool:
        return self.run.branch(self.length != 0)  # type: ignore[no-any-return]


class Cursor(Poison):
    """A list iterator, with the protocol by which CPython tells and sets how much is left.

    One that has ended is deaf to being set back; that it has not ended must be shown where it is set.
    """

    def __init__(self, run: Run, items: Items) -> None:
        name = run.named("iterator")
        self._has(run=run, items=items, name=name)
        run.heap[f"{name}.place"], run.heap[f"{name}.ended"] = z3.IntVal(0), z3.BoolVal(False)

    @property
    def place(self) -> Any:
        return self.run.heap[f"{self.name}.place"]

    def move(self, place: Any) -> None:
        self.run.heap[f"{self.name}.place"] = place

    def end(self) -> None:
        self.run.heap[f"{self.name}.ended"] = z3.BoolVal(True)

    def __getattr__(self, name: str) -> Any:
        if name == "__setstate__":
            return self.set_back
        if name == "__length_hint__":
            return self.left
        return super().__getattr__(name)

    def left(self) -> Number:
        return Number(self.run, self.items.length - self.place)

    __length_hint__ = left

    def set_back(self, to: Any) -> None:
        place = integer(to)
        self.run.needs(z3.And(place >= 0, place < self.items.length), "an iterator is set to a place in its list")
        self.run.needs(z3.Not(self.run.heap[f"{self.name}.ended"]), "an iterator is set before it has ended")
        self.move(place)

    __setstate__ = set_back

    def rest(self) -> Items:
        """What is left, drawn."""
        start, at, length = self.place, self.items.at, self.items.length
        self.move(length)
        self.end()
        whole = z3.is_int_value(start) and start.as_long() == 0
        if not whole:
            return Items(self.run, length - start, lambda i: at(start + i), self.items.sort, self.items.doubtful)
        made = Items(self.run, length, at, self.items.sort, self.items.doubtful)
        made._has(count=self.items.count)
        return made


class Span(Poison):
    """A range of numbers, or so many repetitions: only looped over."""

    def __init__(self, run: Run, length: Any, start: Any = 0) -> None:
        self._has(run=run, length=length, start=start)

    def item(self, k: Any) -> Any:
        return Number(self.run, self.start + k)


class Pairs(Poison):
    """`zip` of two lists: only looped over."""

    def __init__(self, one: Any, two: Any) -> None:
        if not isinstance(one, Items) or not isinstance(two, Items):
            raise UnsupportedError("a zip of other things than lists is not modelled")
        self._has(one=one, two=two, length=z3.If(one.length < two.length, one.length, two.length))

    def item(self, k: Any) -> Any:
        return self.one.item(k), self.two.item(k)


class Display(Poison):
    """A tuple of one item, or of none: only looped over."""

    def __init__(self, items: tuple[Any, ...]) -> None:
        if len(items) > 1:
            raise UnsupportedError("a loop over several written items is not modelled")
        self._has(items=items, length=z3.IntVal(len(items)))

    def item(self, _k: Any) -> Any:
        return self.items[0]


class Emits(Poison):
    """A written list of events: handed on as it is."""

    def __init__(self, events: list[Any]) -> None:
        self._has(events=events)


def new_list(run: Run, values: list[Any]) -> Any:
    """A list display."""
    if values and "part" in getattr(values[0], "__dict__", {}):
        return Emits(values)
    sort = INT if values and isinstance(values[0], int) else values[0].term.sort() if values else BLOCK
    made = Items(run, z3.IntVal(0), run.fresh("nothing", INT, sort), sort)
    for value in values:
        made.append(value)
    return made
