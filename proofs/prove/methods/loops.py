"""A loop as one step from an arbitrary iteration.

Before the loop its invariant is claimed for step 0. Then everything that the invariant covers is replaced by what it
says after `k` steps, for a `k` that is not known. From there the path forks: the loop ends, and execution goes on
behind it; or its body runs once, after which the invariant is claimed for step `k + 1` and the path ends. Whatever
the invariant does not cover must be, to the letter, what it was before the step; so nothing has to be read off the
text of the loop or of what it calls. `k` is bounded, so the loop ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import z3

from blockpool.proofs.prove.methods.errors import Stop, UnsupportedError
from blockpool.proofs.prove.methods.language import LoopInfo
from blockpool.proofs.prove.methods.lists import Cursor, Display, Items, Pairs, Span
from blockpool.proofs.prove.methods.machine import Facts, Run
from blockpool.proofs.prove.methods.values import INT, Node, Number
from blockpool.proofs.prove.methods.world import SIGNATURES, variables
from blockpool.proofs.prove.queue.values import BLOCK


class Rule:
    """The invariant of a loop. This one says nothing, of a loop that changes nothing."""

    grows: tuple[str, ...] = ()  # lists that the loop appends to, by the local that has them
    arbitrary: tuple[str, ...] = ()  # parts of the heap of which only the facts below are known

    def defines(self, loop: Loop, k: Any) -> Facts:
        """What may be assumed without proof, because it defines a name that nothing else speaks of."""
        return {}

    def heap(self, loop: Loop, k: Any, ghost: Any) -> dict[str, Any]:
        """Parts of the heap that are known after k steps, in closed form."""
        return {}

    def facts(self, loop: Loop, k: Any, names: Any, ghost: Any) -> Facts:
        """Everything else that is true after k steps, of the heap as well."""
        return {}

    def ghost(self, loop: Loop) -> Any:
        """What the invariant carries along, with arbitrary values."""
        return None

    def first(self, loop: Loop) -> Any:
        """The ghost before the loop."""
        return self.ghost(loop)

    def next(self, loop: Loop, k: Any, ghost: Any) -> Any:
        """The ghost after one more step."""
        return ghost


@dataclass
class Loop:
    """One loop on one path."""

    run: Run
    info: LoopInfo
    over: Any
    rule: Any
    lists: dict[str, Items]
    start: Any = None
    heap0: dict[str, Any] = field(default_factory=dict)  # before the loop
    k: Any = None
    ghost: Any = None
    values: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, Any] = field(default_factory=dict)  # of the lists that grow, after k steps
    kept: dict[str, Any] = field(default_factory=dict)
    stepped: bool = False

    @classmethod
    def entered(cls, run: Run, info: LoopInfo, over: Any, names: Mapping[str, Any]) -> Loop:
        rule = run.rules.get((info.function, info.number))
        if rule is None:
            raise UnsupportedError(f"no invariant is stated for loop {info.number} of {info.function}")
        over = Display(over) if isinstance(over, tuple) else over
        if not isinstance(over, Items | Span | Pairs | Display | Cursor) and not hasattr(type(over), "walked"):
            raise UnsupportedError(f"a loop over a {type(over).__name__} is not modelled")
        lists = {name: names[name] for name in rule.grows if isinstance(names.get(name), Items)}
        if any(over is grown for grown in lists.values()):
            raise UnsupportedError("a loop appends to the list that it runs over")
        loop = cls(run, info, over, rule, lists, heap0=dict(run.heap))
        loop.begin(names)
        return loop

    @property
    def length(self) -> Any:
        length = self.over.items.length if isinstance(self.over, Cursor) else self.over.length
        return z3.simplify(z3.If(length > 0, length, 0)) if isinstance(self.over, Span) else length

    def begin(self, names: Mapping[str, Any]) -> None:
        run, info = self.run, self.info
        self.start = self.over.place if isinstance(self.over, Cursor) else z3.IntVal(0)
        run.loops.append(self)
        self.claim("before it", self.start, names, self.rule.first(self))
        self.k = run.fresh("k", INT)
        for words, fact in self.rule.defines(self, self.k).items():
            run.know(words, fact)
        self.ghost = self.rule.ghost(self)
        covered = self._forget()
        self.values = {name: self._arbitrary(name, names[name]) for name in info.carried if name in names}
        for words, fact in self.all_facts(self.k, {**names, **self.values}, self.ghost).items():
            run.know(f"{info.function}, loop {info.number}: {words}", fact)
        self.sizes = {name: items.length for name, items in self.lists.items()}
        self.kept = {name: value for name, value in run.heap.items() if name not in covered}

    def _forget(self) -> set[str]:
        """Put what the invariant says, or nothing, in place of what it covers."""
        heap, covered = self.run.heap, set[str]()
        for name, value in self.rule.heap(self, self.k, self.ghost).items():
            heap[name] = value
            covered.add(name)
        for name in self.rule.arbitrary:
            heap[name] = self.run.fresh(name, *SIGNATURES[name])
            covered.add(name)
        for items in self.lists.values():
            heap[f"{items.name}.length"] = self.run.fresh("length", INT)
            heap[f"{items.name}.at"] = self.run.fresh("at", INT, items.sort)
            covered |= {f"{items.name}.length", f"{items.name}.at"}
        if isinstance(self.over, Cursor):
            self.over.move(self.k)
            covered |= {f"{self.over.name}.place", f"{self.over.name}.ended"}
        return covered

    def _arbitrary(self, name: str, value: Any) -> Any:
        if isinstance(value, Number | int) and not isinstance(value, bool):
            return Number(self.run, self.run.fresh(name, INT))
        if isinstance(value, Node):
            return Node(self.run, self.run.fresh(name, BLOCK))
        raise UnsupportedError(f"a loop carries {name}, a {type(value).__name__}, which is not modelled")

    def all_facts(self, k: Any, names: Mapping[str, Any], ghost: Any) -> Facts:
        end = self.length
        bounds = {"no more steps than items": z3.And(self.start <= k, k <= end)}
        return {**bounds, **self.rule.facts(self, k, SimpleNamespace(**names), ghost)}

    def claim(self, when: str, k: Any, names: Mapping[str, Any], ghost: Any) -> None:
        claims: Facts = {}
        for name, said in self.rule.heap(self, k, ghost).items():
            bound = variables(name)
            now = self.run.heap[name]
            same = z3.ForAll(bound, now(*bound) == said(*bound)) if bound else now == said
            claims[f"{name} is as said"] = same
        claims |= self.all_facts(k, names, ghost)
        self.run.end("loop", f"{self.info.where}: the invariant of the loop, {when}", claims)

    # ---- what rewritten code calls ----

    def value(self, name: str) -> Any:
        return self.values[name]

    def again(self, names: Mapping[str, Any]) -> bool:
        if not self.stepped:
            self.stepped = True
            return True
        for name, value in self.kept.items():
            if self.run.heap[name] is not value:
                raise UnsupportedError(f"the loop at {self.info.where} changes {name}, which its invariant leaves out")
        k = self.k + 1
        if isinstance(self.over, Cursor):
            k = self.over.place
            self.run.end("loop", f"{self.info.where}: the loop goes on", {"progress": k > self.k})
        self.claim("after a step", k, names, self.rule.next(self, self.k, self.ghost))
        raise Stop

    def more(self) -> bool:
        if z3.is_int_value(self.length) and self.length.as_long() == 0:
            return False
        yes = self.run.branch(self.k < self.length)
        if not yes and isinstance(self.over, Cursor):
            self.over.end()
        return yes

    def item(self) -> Any:
        if isinstance(self.over, Cursor):
            self.over.move(self.k + 1)
            return self.over.items.item(self.k)
        return self.over.item(self.k)


def under_way(run: Run, kind: type[Rule]) -> Loop:
    """The innermost loop with an invariant of this kind."""
    found: Loop = next(loop for loop in reversed(run.loops) if isinstance(loop.rule, kind))
    return found
