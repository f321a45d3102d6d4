"""The engine on a heap of which everything is known.

Nothing of the engine is replaced but what it does not know: a test is answered by the value that the heap gives its
condition, and the state after k steps of a loop, which is arbitrary in a proof, is the one that k steps lead to. For
that a method is executed again for each step, from the state that the step before left, as a proof does once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import z3

from blockpool.proofs.prove.differential.ground import value_of
from blockpool.proofs.prove.differential.native import LABELS, Call, Heap, Result
from blockpool.proofs.prove.queue.executable import Executable
from blockpool.proofs.prove.queue.execution import Execution, Refused, Stop
from blockpool.proofs.prove.queue.invariant_parts import PlainInvariant
from blockpool.proofs.prove.queue.loops import Invariants, Loop, View
from blockpool.proofs.prove.queue.methods import reached_methods
from blockpool.proofs.prove.queue.refusing import UnsupportedError
from blockpool.proofs.prove.queue.values import BLOCK, Items, Node, Number, Unknown

MOST_STEPS = 100
INT = z3.IntSort()


class CrashedError(BaseException):
    """The engine says that the method crashes here."""


@dataclass(frozen=True)
class State:
    """What a loop carries from one step to the next."""

    carried: Mapping[str, Any]
    heap: Mapping[str, Mapping[str, str]]
    grown: tuple[str, ...] | None


class Known(PlainInvariant):
    """Says nothing: the values are supplied."""

    def facts(self, loop: Loop, k: Any, view: View) -> Any:
        return {}


class Everywhere(dict[tuple[str, int], Any]):
    """Every loop has that invariant."""

    def get(self, _key: object, _default: object = None) -> Any:
        return Known()


class Stepped(Loop):
    """Notes the state after its step."""

    def again(self, names: Mapping[str, Any]) -> bool:
        if self.stepped:
            self.run.note(self, {name: names[name] for name in self.fresh})  # type: ignore[attr-defined]
        return super().again(names)


class ConcreteRun(Execution):
    """One execution on one heap, up to the end of a step of some loop, or to the end."""

    def begin(self, known: dict[str, Any], places: list[int], states: dict[tuple[int, ...], State]) -> None:
        self.known, self.places, self.states = known, places, states
        self.supplied: list[Any] = []
        self.indices: list[Loop] = []
        self.next_step: tuple[int, ...] = ()

    def value(self, term: Any) -> Any:
        return value_of(term, self.known)

    def branch(self, condition: z3.BoolRef) -> bool:
        self.decisions = [*self.taken, bool(self.value(condition))]
        return super().branch(condition)

    def crashes_if(self, condition: z3.BoolRef, words: str) -> None:
        ended = len(self.endings)
        super().crashes_if(condition, words)
        if len(self.endings) > ended and self.value(condition):
            raise CrashedError(words)

    def finds(self, items: Items, block: z3.ExprRef) -> bool:
        self.known[f"found_{self.names + 1}"] = self.value(block) in self.listed(items)
        return super().finds(items, block)

    def fresh(self, name: str, *sorts: z3.SortRef) -> Any:
        made = super().fresh(name, *sorts)
        if self.supplied:
            symbol = made if len(sorts) > 1 else made.decl()
            self.known[symbol.name()] = self.supplied.pop(0)
        return made

    def listed(self, items: Items) -> list[str]:
        return [self.value(items.at(z3.IntVal(place))) for place in range(self.value(items.length))]

    def table(self, name: str) -> dict[str, str]:
        return {label: self.value(self.heap[name](z3.Const(label, BLOCK))) for label in (*LABELS, "none")}

    # ---- loops ----

    def enter(self, key: int, over: Any, names: Mapping[str, Any]) -> Any:
        info, place = self.infos[key], len(self.indices)
        if place == len(self.places):
            self.places.append(0)
        self.indices.append(None)  # type: ignore[arg-type]
        state = self.states.get(tuple(self.places[: place + 1])) if self.places[place] else None
        state = state or self._state(info.written, {n: names[n] for n in info.carried if n in names}, info.grown, names)
        self.supplied = list(self._supplies(self.places[place], sorted(info.written), state))
        loop = super().enter(key, over, names)
        self.supplied = []
        self.indices[place] = loop
        return loop

    def _supplies(self, step: int, written: list[str], state: State) -> Iterator[Any]:
        """In the order in which a loop makes fresh symbols."""
        yield step
        yield from (state.heap[name].__getitem__ for name in written if name in state.heap)
        yield from state.carried.values()
        if state.grown is not None:
            listed = state.grown
            yield len(listed)
            yield lambda index: listed[index] if 0 <= index < len(listed) else "none"

    def _state(self, written: Any, carried: Mapping[str, Any], grown: Any, names: Mapping[str, Any]) -> State:
        lists = [names[name] for name in grown if isinstance(names.get(name), Items)]
        values = {name: self.plain(value) for name, value in carried.items()}
        tables = {name: self.table(name) for name in sorted(written) if name in self.heap}
        return State(values, tables, tuple(self.listed(lists[0])) if lists else None)

    def note(self, loop: Loop, carried: Mapping[str, Any]) -> None:
        place = self.indices.index(loop)
        self.next_step = (*self.places[:place], self.places[place] + 1)
        grown = loop.before.grown
        values = {name: self.plain(value) for name, value in carried.items()}
        tables = {name: self.table(name) for name in sorted(loop.info.written)}
        self.states[self.next_step] = State(values, tables, None if grown is None else tuple(self.listed(grown)))

    def plain(self, value: Any) -> Any:
        """A value as it can be compared; a block by its label."""
        if isinstance(value, Node | Number):
            return self.value(value.term)
        return "none" if value is None else value


def engine_result(executable: Executable, method: str, call: Call, heap: Heap) -> Result:
    """What the engine says comes of a call. Raises UnsupportedError where it says that it does not know."""
    if executable.refused:
        raise UnsupportedError(executable.refused)
    for name in sorted(reached_methods(executable.source, method) & executable.problems.keys()):
        raise UnsupportedError(executable.problems[name])
    if any(method.args.defaults for method in executable.source.methods.values()):
        executable.__dict__.pop("made", None)  # a proof sees each call alone
    places: list[int] = []
    states: dict[tuple[int, ...], State] = {}
    for _ in range(MOST_STEPS):
        run = _start(executable, heap, places, states)
        try:
            value = _called(run, method, call)
        except Stop:
            places = list(run.next_step)
            continue
        except Refused as refused:
            return Result("raised", refused.name, _heap_after(run))
        except CrashedError as crash:
            return Result("crashed", str(crash), None)
        return Result("returned", _answer(run, value), _heap_after(run))
    raise UnsupportedError(f"more than {MOST_STEPS} steps")


def _start(executable: Executable, heap: Heap, places: list[int], states: dict[tuple[int, ...], State]) -> ConcreteRun:
    after, before = z3.Function("after", BLOCK, BLOCK), z3.Function("before", BLOCK, BLOCK)
    run = ConcreteRun([], Invariants(Everywhere(), Stepped), executable.infos, {"after": after, "before": before}, {})
    tables = {"after": {**heap.after, "none": "none"}, "before": {**heap.before, "none": "none"}}
    run.begin({name: table.__getitem__ for name, table in tables.items()}, places, states)
    queue = executable.queue(run, _no_block)
    queue.head, queue.tail = (Node(run, z3.Const(label, BLOCK)) for label in (heap.head, heap.tail))
    queue.count = Number(run, z3.Int("count"))
    run.known["count"] = heap.count
    run.start = _Start(queue)
    return run


@dataclass
class _Start:
    queue: Any


def _no_block(*_: object, **__: object) -> Any:
    raise UnsupportedError("a block is made")


def _called(run: ConcreteRun, method: str, call: Call) -> Any:
    block = None if call.block is None else Node(run, z3.Const(call.block, BLOCK))
    run.known |= {
        "number": call.number,
        "width": len(call.blocks),
        "item": lambda index: call.blocks[index] if 0 <= index < len(call.blocks) else "none",
    }
    given = Items(run, z3.Int("width"), z3.Function("item", INT, BLOCK), given=True)
    arguments = [block] if method == "iter_blocks_after" else [block, given, Number(run, z3.Int("number"))]
    try:
        return getattr(run.start.queue, method)(*arguments)
    except Exception as error:
        raise UnsupportedError(f"{type(error).__name__}: {error}") from error


def _heap_after(run: ConcreteRun) -> Heap:
    queue = run.start.queue
    tables = [{label: table[label] for label in LABELS} for table in map(run.table, ("after", "before"))]
    return Heap(tables[0], tables[1], run.plain(queue.head), run.plain(queue.tail), run.plain(queue.count))


def _answer(run: ConcreteRun, value: Any) -> Any:
    if isinstance(value, Unknown):
        raise UnsupportedError("the answer is not modelled")
    if isinstance(value, Items):
        return run.listed(value)
    plain = run.plain(value)
    return (type(plain).__name__, plain) if isinstance(value, Number | bool | int) else plain
