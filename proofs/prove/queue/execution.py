"""One path of a method, and all paths of it.

A path is an execution that answers every test by a list of decisions; the first test beyond the list is answered with
yes, and the list with no is noted for later. So a method is executed once for each path, by Python itself. What is
known on a path, and what it reaches, are kept as Z3 formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import z3

from blockpool.proofs.prove.queue import values
from blockpool.proofs.prove.queue.refusing import UnsupportedError, located
from blockpool.proofs.prove.queue.rewrite import LoopInfo
from blockpool.proofs.prove.queue.values import NONE, Items, Node, Number, Reversed, Span, Unknown, block_term, integer

MOST_PATHS = 200

Facts = dict[str, z3.BoolRef]


class Stop(BaseException):
    """This path has been followed far enough: what comes next is followed by another one."""


class Refused(BaseException):
    """The method raised an exception on purpose."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass(frozen=True)
class Ending:
    """Where a path ended, or a claim that it has to establish on its way."""

    kind: str  # returned, refused, crashed, loop
    words: str
    facts: Facts
    run: Execution
    value: Any = None
    claims: Facts = field(default_factory=dict)  # for a loop: what is to be shown here


@dataclass
class Execution:
    """The state of one path. The code that is executed knows it as `_engine`."""

    decisions: list[bool]
    invariants: Any  # see loops.py
    infos: list[LoopInfo]
    heap: dict[str, values.Field]
    facts: Facts
    start: Any = None  # what the operation is about: see operations.py
    later: list[list[bool]] = field(default_factory=list)
    endings: dict[tuple[str, tuple[bool, ...]], Ending] = field(default_factory=dict)
    taken: list[bool] = field(default_factory=list)
    loops: list[Any] = field(default_factory=list)
    lists: list[Items] = field(default_factory=list)
    names: int = 0
    made: int = 0
    by_identity: bool = True  # blocks are equal only to themselves
    file: str = ""  # of the source
    forgotten: Unknown = field(default_factory=lambda: Unknown("a local that a loop sets, after that loop,"))

    # ---- what is known ----

    def know(self, name: str, formula: z3.BoolRef) -> None:
        self.facts[f"{name} [{len(self.facts)}]"] = formula

    def fresh(self, name: str, *sorts: z3.SortRef) -> Any:
        """A new constant, or function if there are several sorts; the same one whenever this path is executed."""
        self.names += 1
        unique = f"{name}_{self.names}"
        return z3.Const(unique, sorts[0]) if len(sorts) == 1 else z3.Function(unique, *sorts)

    def branch(self, condition: z3.BoolRef) -> bool:
        simple = z3.simplify(condition)
        if z3.is_true(simple) or z3.is_false(simple):
            return bool(z3.is_true(simple))
        for known in self.facts.values():
            if known.eq(condition):
                return True
            if known.eq(z3.Not(condition)):
                return False
        if len(self.taken) < len(self.decisions):
            answer = self.decisions[len(self.taken)]
        else:
            answer = True
            self.later.append([*self.taken, False])
        self.taken.append(answer)
        self.know("branch", condition if answer else z3.Not(condition))
        return answer

    def crashes_if(self, condition: z3.BoolRef, words: str) -> None:
        """The path in which the method crashes ends here; the other one goes on."""
        if z3.is_false(z3.simplify(condition)) or any(known.eq(z3.Not(condition)) for known in self.facts.values()):
            return
        self.end("crashed", words, extra={"here": condition})
        self.know("no crash", z3.Not(condition))

    def end(
        self, kind: str, words: str, value: Any = None, *, extra: Facts | None = None, claims: Facts | None = None
    ) -> None:
        key = (f"{kind}: {words}: {self.names}: {len(self.facts)}", tuple(self.taken))
        kept = Execution(
            self.decisions, self.invariants, self.infos, dict(self.heap), {}, self.start, loops=list(self.loops)
        )
        kept.made = self.made
        self.endings.setdefault(key, Ending(kind, words, {**self.facts, **(extra or {})}, kept, value, claims or {}))

    def finds(self, items: Items, block: z3.ExprRef) -> bool:
        """Whether `block` is in the list."""
        place, any_place = self.fresh("place", z3.IntSort()), z3.Int("i")
        inside = z3.And(place >= 0, place < items.length, items.at(place) == block)
        nowhere = z3.ForAll(
            [any_place], z3.Implies(z3.And(any_place >= 0, any_place < items.length), items.at(any_place) != block)
        )
        found = z3.Bool(f"found_{self.names}")
        answer = self.branch(found)
        self.know("in the list" if answer else "not in the list", inside if answer else nowhere)
        return answer

    # ---- what rewritten code calls ----

    def same(self, left: Any, right: Any) -> bool:
        if isinstance(left, Node) or isinstance(right, Node):
            return self.branch(block_term(left) == block_term(right))
        if all(value is None or isinstance(value, bool | Items) for value in (left, right)):
            return left is right
        raise UnsupportedError(f"the identity of a {type(left).__name__} is asked")

    def different(self, left: Any, right: Any) -> bool:
        return not self.same(left, right)

    def compares_blocks(self) -> None:
        if not self.by_identity:
            raise UnsupportedError("blocks are compared by ==, which the block class does not do by identity")

    def message(self, *_parts: Any) -> Unknown:
        return Unknown("a message")

    def new_list(self, items: list[Any]) -> Items:
        made = Items(self, z3.IntVal(0), lambda index: NONE)
        for item in items:
            made.append(item)
        return made

    def refusal(self, error: Any, _message: Any = None) -> Refused:
        kind = error if isinstance(error, type) else type(error)
        if not issubclass(kind, BaseException):
            self.end("crashed", f"raises a {kind.__name__}, which is no exception")
            raise Stop
        return Refused(kind.__name__)

    def enter(self, key: int, over: Any, names: Mapping[str, Any]) -> Any:
        loop = self.invariants.enter(self, self.infos[key], over, names)
        self.loops.append(loop)
        return loop

    # ---- builtins ----

    def length(self, value: Any) -> Any:
        if not isinstance(value, Items):
            raise UnsupportedError(f"the length of a {type(value).__name__} is asked")
        return Number(self, value.length)

    def instance(self, value: Any, _int: type) -> bool:
        if isinstance(value, Number):
            return True
        if value is None or isinstance(value, int | str):
            return isinstance(value, int)
        raise UnsupportedError(f"the type of a {type(value).__name__} is asked")

    def span(self, *bounds: Any) -> Span:
        if len(bounds) != 1:
            raise UnsupportedError("a range with a start or a step is not modelled")
        return Span(integer(bounds[0]))

    def reverse(self, value: Any) -> Reversed:
        if not isinstance(value, Items):
            raise UnsupportedError("only lists are reversed")
        return Reversed(value)

    def copy(self, value: Any = None) -> Items:
        if value is None:
            return self.new_list([])
        if not isinstance(value, Items):
            raise UnsupportedError("only lists are copied")
        return Items(self, value.length, value.at)


def explore(begin: Callable[[list[bool]], Execution], call: Callable[[Execution], Any]) -> Iterator[Ending]:
    """Every ending of every path. `begin` makes the first state, the same each time; `call` runs the method on it."""
    pending: list[list[bool]] = [[]]
    seen: set[tuple[str, tuple[bool, ...]]] = set()
    paths = 0
    while pending:
        paths += 1
        if paths > MOST_PATHS:
            raise UnsupportedError(f"the method has more than {MOST_PATHS} paths")
        run = begin(pending.pop())
        try:
            value = call(run)
            run.end("returned", "returns", value)
        except Refused as refused:
            run.end("refused", f"raises {refused.name}")
        except Stop:
            pass  # another path follows what comes next
        except (UnsupportedError, Exception) as error:
            raise located(error, run.file) from error
        pending += run.later
        for key, ending in run.endings.items():
            if key not in seen:
                seen.add(key)
                yield ending
