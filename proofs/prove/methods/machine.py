"""One path of a method, and all paths of it.

A path answers every test by a list of decisions; the first test beyond the list is answered with yes, and the list
with no is noted for later. So a method is executed once for each path, by Python itself. What is known on a path, and
what must be shown on it, are kept as Z3 formulas.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import z3

from blockpool.proofs.prove.methods.errors import Raised, Stop, UnsupportedError
from blockpool.proofs.prove.methods.language import LoopInfo
from blockpool.proofs.prove.methods.values import Maybe, Node, Number, Poison, Thing, Truth, term_of
from blockpool.proofs.prove.queue.values import NONE

MOST_PATHS = 600
Facts = dict[str, Any]


@dataclass(frozen=True)
class Ending:
    """Where a path ended, or something that has to be shown on its way."""

    kind: str  # returned, raised, loop, needs
    words: str
    facts: Facts
    claims: Facts | None  # None at the end of the method: what is then to be shown depends on the method
    run: Run
    value: Any = None
    taken: tuple[bool, ...] = ()


@dataclass
class Probe:
    """A test that is executed for both answers at once, to turn it into a formula."""

    decisions: list[bool]
    conditions: list[Any] = field(default_factory=list)
    later: list[list[bool]] = field(default_factory=list)


@dataclass
class Run:
    """The state of one path. The code that is executed knows it as `_engine`."""

    decisions: list[bool]
    facts: Facts
    heap: dict[str, Any]  # all that may change: fields of blocks as functions, lists, iterators, counters
    rules: Mapping[tuple[str, int], Any]  # see loops.py
    infos: list[LoopInfo]
    is_null: Callable[[Any], Any]
    is_no_block: Callable[[Any], Any]
    of_groups: dict[str, Callable[..., Any]] = field(default_factory=dict)
    special: dict[tuple[type, type], Callable[[Any, Any], Any]] = field(default_factory=dict)  # identity of models
    parts: dict[str, Any] = field(default_factory=dict)  # the models that goals ask about
    taken: list[bool] = field(default_factory=list)
    later: list[list[bool]] = field(default_factory=list)
    endings: list[Ending] = field(default_factory=list)
    loops: list[Any] = field(default_factory=list)
    names: int = 0
    probe: Probe | None = None
    Raised: Any = Raised  # what executed handlers catch
    forgotten: Poison = field(default_factory=Poison)

    # ---- what is known, and what must be shown ----

    def know(self, name: str, fact: Any) -> None:
        self.facts[f"{name} [{len(self.facts)}]"] = fact

    def named(self, name: str) -> str:
        self.names += 1
        return f"{name}!{self.names}"

    def fresh(self, name: str, *sorts: Any) -> Any:
        """A new constant, or function if there are several sorts; the same one whenever this path is executed."""
        unique = self.named(name)
        return z3.Const(unique, sorts[0]) if len(sorts) == 1 else z3.Function(unique, *sorts)

    def branch(self, condition: Any) -> bool:
        simple = z3.simplify(condition)
        if z3.is_true(simple) or z3.is_false(simple):
            return bool(z3.is_true(simple))
        if self.probe is not None:
            return self._probed(self.probe, condition)
        negated = z3.Not(condition)
        for known in self.facts.values():
            if known.eq(condition) or known.eq(negated):
                return bool(known.eq(condition))
        if len(self.taken) < len(self.decisions):
            answer = self.decisions[len(self.taken)]
        else:
            answer = True
            self.later.append([*self.taken, False])
        self.taken.append(answer)
        self.know("branch", condition if answer else negated)
        return answer

    def _probed(self, probe: Probe, condition: Any) -> bool:
        place = len(probe.conditions)
        if place == len(probe.decisions):
            probe.later.append([*probe.decisions, False])
            probe.decisions.append(True)
        probe.conditions.append(condition if probe.decisions[place] else z3.Not(condition))
        return probe.decisions[place]

    def formula(self, test: Callable[[], Any]) -> Any:
        """When the test is true; it must not change anything."""
        before, pending, cases = dict(self.heap), [list[bool]()], []
        while pending:
            self.probe = probe = Probe(pending.pop())
            try:
                if test():
                    cases.append(z3.And(probe.conditions))
            finally:
                self.probe = None
            pending += probe.later
        if any(self.heap.get(name) is not value for name, value in before.items()):
            raise UnsupportedError("the test of a filter changes something")
        return z3.Or(cases)

    def needs(self, condition: Any, words: str) -> None:
        """To be shown here; from here on it is known."""
        if z3.is_true(z3.simplify(condition)) or any(known.eq(condition) for known in self.facts.values()):
            return
        if self.probe is not None:
            raise UnsupportedError(f"the test of a filter needs that {words}")
        self.end("needs", words, {words: condition})
        self.know(words, condition)

    def end(self, kind: str, words: str, claims: Facts | None, value: Any = None) -> None:
        self.endings.append(Ending(kind, words, dict(self.facts), claims, self, value, tuple(self.taken)))

    # ---- blocks ----

    def meets_block(self, node: Node, name: str) -> None:
        """Something of the block is read or written: it must be one."""
        if node.sure:
            return
        if node.doubtful and self.branch(self.is_no_block(node.term)):
            raise Raised(AttributeError)
        self.needs(node.term != NONE, f"{name} is not asked of None")

    def write(self, field_name: str, at: Any, value: Any) -> None:
        old = self.heap[field_name]
        self.heap[field_name] = lambda b: value if b.eq(at) else z3.If(b == at, value, old(b))

    # ---- what rewritten code calls ----

    def same(self, left: Any, right: Any) -> Any:
        """`left is right`. The identity of numbers, strings and lists is not modelled."""
        special = self.special.get((type(left), type(right)))
        if special is not None:
            return special(left, right)
        if isinstance(left, Node | Thing) or isinstance(right, Node | Thing):
            return Truth(self, _of_one_sort(left, right))
        if left is None or right is None or (isinstance(left, type) and isinstance(right, type)):
            other = right if left is None else left
            unknown = type(other) is Poison or isinstance(other, Number | Truth)
            if unknown or not isinstance(other, Poison | type | None):
                raise UnsupportedError(f"the identity of a {type(other).__name__} is asked")
            if isinstance(other, Maybe):
                return Truth(self, z3.Not(other.there))
            return left is right
        raise UnsupportedError(f"the identity of a {type(left).__name__} and a {type(right).__name__} is asked")

    def different(self, left: Any, right: Any) -> Any:
        answer = self.same(left, right)
        return Truth(self, z3.Not(answer.term)) if isinstance(answer, Truth) else not answer

    def refusal(self, kind: Any) -> BaseException:
        if not isinstance(kind, type) or not issubclass(kind, BaseException):
            raise UnsupportedError("what is raised is no class of exceptions")
        return Raised(kind)

    def catches(self, raised: Any, kinds: Any) -> bool:
        return bool(issubclass(raised.kind, kinds))

    def follows(self) -> bool:
        """Is a `finally` reached by the method itself, and not by a path that was cut off?"""
        return isinstance(sys.exception(), Raised | None)

    def enter(self, key: int, over: Any, names: Mapping[str, Any]) -> Any:
        from blockpool.proofs.prove.methods.loops import Loop

        return Loop.entered(self, self.infos[key], over, names)

    def new_list(self, values: list[Any]) -> Any:
        from blockpool.proofs.prove.methods.lists import new_list

        return new_list(self, values)

    def new_table(self) -> Any:
        from blockpool.proofs.prove.methods.tables import Counts

        return Counts(self)

    def copied(self, value: Any = None) -> Any:
        from blockpool.proofs.prove.methods.known import copied

        return copied(self, value)

    def filtered(self, items: Any, test: Callable[[Any], Any]) -> Any:
        from blockpool.proofs.prove.methods.known import filtered

        return filtered(self, items, test)


def _of_one_sort(left: Any, right: Any) -> Any:
    one, other = (left, right) if isinstance(left, Node | Thing) else (right, left)
    return one.term == term_of(other, one.term.sort())


def explore(begin: Callable[[list[bool]], Run], call: Callable[[Run], Any], file: str) -> Iterator[Ending]:
    """Every ending of every path, once. `begin` makes the first state, the same each time; `call` runs the method."""
    pending: list[list[bool]] = [[]]
    seen: set[tuple[Any, ...]] = set()
    paths = 0
    while pending:
        paths += 1
        if paths > MOST_PATHS:
            raise UnsupportedError(f"there are more than {MOST_PATHS} paths")
        run = begin(pending.pop())
        followed(run, call, file)
        pending += run.later
        for number, ending in enumerate(run.endings):
            key = (number, ending.kind, ending.words, ending.taken)
            if key not in seen:
                seen.add(key)
                yield ending


def followed(run: Run, call: Callable[[Run], Any], file: str) -> None:
    """Follow one path to where it ends."""
    try:
        value = call(run)
        run.end("returned", f"returns {type(value).__name__}", None, value)
    except Raised as raised:
        run.end("raised", f"raises {raised.kind.__name__}", None, raised.kind)
    except Stop:
        pass  # another path follows what comes next
    except UnsupportedError as error:
        raise UnsupportedError(f"{_line_of(error, file)}{error}") from error
    except (TypeError, AttributeError, NameError, RecursionError, ValueError, KeyError, IndexError) as error:
        # Python itself does not know how to go on, so neither do we.
        raise UnsupportedError(f"{_line_of(error, file)}{type(error).__name__}: {error}") from error


def _line_of(error: BaseException, file: str) -> str:
    """File and line in the method where it was raised."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(file)]
    return f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""
