"""A loop as one step from an arbitrary iteration.

Before the loop its invariant is claimed for step 0. Then everything that the loop changes is replaced by what the
invariant says after `k` steps, for a `k` that is not known. From there the path forks: the loop ends, and execution
goes on behind it; or its body runs once, after which the invariant is claimed for step `k + 1` and the path ends.
The invariant bounds `k`, so the loop ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import z3

from blockpool.proofs.prove.queue.execution import Execution, Facts, Stop
from blockpool.proofs.prove.queue.refusing import UnsupportedError
from blockpool.proofs.prove.queue.rewrite import LoopInfo
from blockpool.proofs.prove.queue.values import BLOCK, Field, Items, Node, Number, Reversed, Span, block_term


@dataclass(frozen=True)
class View:
    """What an invariant speaks about: the state between two steps."""

    heap: Mapping[str, Field]
    cursor: Any  # the block that is carried from step to step, if there is exactly one
    numbers: tuple[z3.ArithRef, ...]  # the numbers that are
    grown: Items | None  # the list that is appended to, if there is one
    ghost: Any = None  # what the invariant carries along, see invariants.py


class Invariant(Protocol):
    """What is true after `k` steps of a loop."""

    def heap(self, loop: Loop, k: Any) -> Mapping[str, Field]:
        """Fields of which the value after `k` steps is known; the others that the loop writes are arbitrary."""

    def facts(self, loop: Loop, k: Any, view: View) -> Facts:
        """Everything else; among it a bound of k."""

    def definitions(self, loop: Loop, k: Any) -> Facts:
        """What may be assumed without proof, because it defines names that nothing else speaks of."""

    def ghost(self, loop: Loop) -> Any:
        """A ghost with arbitrary values."""

    def first_ghost(self, loop: Loop) -> Any:
        """The ghost before the loop."""

    def next_ghost(self, loop: Loop, k: Any, ghost: Any) -> Any:
        """The ghost after one more step."""


@dataclass
class Loop:
    """One loop on one path."""

    run: Execution
    info: LoopInfo
    over: Any
    invariant: Invariant
    before: View
    k: Any = None
    fresh: dict[str, Any] = field(default_factory=dict)
    view: View | None = None
    stepped: bool = False
    history: Any = None  # see removal_invariants.py
    untouched: dict[str, Any] = field(default_factory=dict)  # what the loop, by its text, leaves alone

    @property
    def length(self) -> Any:
        """How many steps a `for` loop takes; None for `while`."""
        if isinstance(self.over, Items):
            return self.over.length
        if isinstance(self.over, Reversed):
            return self.over.items.length
        return z3.If(self.over.length > 0, self.over.length, 0) if isinstance(self.over, Span) else None

    def start(self, names: Mapping[str, Any]) -> None:
        self.k = self.run.fresh("k", z3.IntSort())
        for name, fact in self.invariant.definitions(self, self.k).items():
            self.run.know(name, fact)
        self.claim("before the loop", z3.IntVal(0), self.before, self.invariant.first_ghost(self))
        defined = self.invariant.heap(self, self.k)
        for name in sorted(self.info.written):
            self.run.heap[name] = defined.get(name) or self.run.fresh(name, BLOCK, BLOCK)
        for name in self.info.carried:
            if name in names:
                self.fresh[name] = self._arbitrary(name, names[name])
        if self.before.grown is not None:
            self.before.grown.length = self.run.fresh("length", z3.IntSort())
            self.before.grown.at = self.run.fresh("item", z3.IntSort(), BLOCK)
        self.view = seen(self, self.fresh, self.before.grown, self.invariant.ghost(self))
        for name, fact in self.all_facts(self.k, self.view).items():
            self.run.know(f"loop at line {self.info.line}: {name}", fact)
        self.untouched = self._outside()

    def _outside(self) -> dict[str, Any]:
        """Everything that the loop, by its text, leaves alone: fields of blocks and of the queue, and lists."""
        fields = {f"the link {name}": link for name, link in self.run.heap.items() if name not in self.info.written}
        own = {f"self.{name}": value for name, value in vars(self.run.start.queue).items()}
        lists = {f"list {i}": x.at for i, x in enumerate(self.run.lists) if x is not self.before.grown}
        return fields | own | lists

    def all_facts(self, k: Any, view: View) -> Facts:
        counted = {} if self.length is None else {"no more steps than items": k <= self.length}
        return {"steps are counted from 0": k >= 0, **counted, **self.invariant.facts(self, k, view)}

    def claim(self, when: str, k: Any, view: View, ghost: Any) -> None:
        view = View(view.heap, view.cursor, view.numbers, view.grown, ghost)
        block = z3.Const("b", BLOCK)
        claims = {
            f"{name} is as the invariant says": z3.ForAll([block], view.heap[name](block) == described(block))
            for name, described in self.invariant.heap(self, k).items()
        } | self.all_facts(k, view)
        words = f"the invariant of the loop at line {self.info.line} holds {when}"
        self.run.end("loop", words, claims=claims)

    def _arbitrary(self, name: str, value: Any) -> Any:
        if self._kind(name, value) is Number:
            return Number(self.run, self.run.fresh(name, z3.IntSort()))
        return Node(self.run, self.run.fresh(name, BLOCK))

    def _kind(self, name: str, value: Any) -> type:
        """A number, or a block or None."""
        if isinstance(value, Number) or type(value) is int:
            return Number
        if isinstance(value, Node) or value is None:
            return Node
        raise UnsupportedError(f"the loop at line {self.info.line} carries {name}, a {type(value).__name__}")

    # ---- what rewritten code calls ----

    def value(self, name: str) -> Any:
        return self.fresh[name]

    def again(self, names: Mapping[str, Any]) -> bool:
        if not self.stepped:
            self.stepped = True
            return True
        assert self.view is not None
        now = self._outside()
        for name, value in self.untouched.items():
            if now.get(name) is not value:
                raise UnsupportedError(
                    f"the loop at line {self.info.line} changes {name}, which its text does not show"
                )
        carried = {name: names[name] for name in self.fresh}
        for name, value in carried.items():
            if self._kind(name, value) is not type(self.fresh[name]):
                raise UnsupportedError(f"the loop at line {self.info.line} carries {name}, which changes its kind")
        after = seen(self, carried, self.before.grown)
        self.claim("after a step", self.k + 1, after, self.invariant.next_ghost(self, self.k, self.view.ghost))
        raise Stop

    def more(self) -> bool:
        return self.run.branch(self.k < self.length)

    def item(self) -> Any:
        if isinstance(self.over, Items):
            return Node(self.run, self.over.at(self.k))
        if isinstance(self.over, Reversed):
            return Node(self.run, self.over.items.at(self.over.items.length - 1 - self.k))
        return Number(self.run, self.k)


@dataclass(frozen=True)
class Invariants:
    """The invariants that are stated, by function and number of the loop in it."""

    stated: Mapping[tuple[str, int], Invariant]
    kind: type[Loop] = Loop

    def enter(self, run: Execution, info: LoopInfo, over: Any, names: Mapping[str, Any]) -> Loop:
        invariant = self.stated.get((info.function, info.number))
        where = f"the loop at line {info.line}, in {info.function}"
        if invariant is None:
            raise UnsupportedError(f"no invariant is stated for {where}")
        if not isinstance(over, Items | Reversed | Span | None):
            raise UnsupportedError(f"{where} runs over a {type(over).__name__}")
        if info.written - run.heap.keys():
            raise UnsupportedError(f"{where} writes {', '.join(sorted(info.written - run.heap.keys()))}")
        lists = [names[name] for name in info.grown if isinstance(names.get(name), Items)]
        listed = over.items if isinstance(over, Reversed) else over
        if len(lists) > 1 or any(listed is grown for grown in lists):
            raise UnsupportedError(f"{where} appends to several lists, or to the one that it runs over")
        loop = self.kind(run, info, over, invariant, View({}, None, (), None))
        loop.before = seen(loop, {name: names[name] for name in info.carried if name in names}, *lists)
        loop.start(names)
        return loop


def seen(loop: Loop, carried: Mapping[str, Any], grown: Items | None = None, ghost: Any = None) -> View:
    """The state now."""
    blocks = [block_term(value) for value in carried.values() if isinstance(value, Node) or value is None]
    numbers = tuple(
        z3.IntVal(v) if isinstance(v, int) else v.term
        for v in carried.values()
        if not isinstance(v, Node) and v is not None
    )
    return View(dict(loop.run.heap), blocks[0] if len(blocks) == 1 else None, numbers, grown, ghost)
