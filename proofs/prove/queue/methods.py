"""The promises of each method as verification conditions, from what its paths reach."""

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from blockpool.proofs.prove.queue import order
from blockpool.proofs.prove.queue.executable import Executable
from blockpool.proofs.prove.queue.execution import Ending, Execution, Facts, explore
from blockpool.proofs.prove.queue.invariants import INVARIANTS
from blockpool.proofs.prove.queue.operations import (
    AFTER,
    BEFORE,
    GIVEN,
    ITEM,
    LENGTH,
    NUMBER,
    QUEUED,
    WIDTH,
    Operation,
)  # fmt: skip
from blockpool.proofs.prove.queue.refusing import UnsupportedError
from blockpool.proofs.prove.queue.source import Layout, QueueSource
from blockpool.proofs.prove.queue.values import HEAD, NONE, TAIL, Items, Node, Number, updated

REFINES = "refines the sequence"


@dataclass
class Start:
    """What a method is called on."""

    operation: Operation
    layout: Layout
    queue: Any = None


@dataclass(frozen=True)
class Claim:
    """What has to follow from the facts at one ending of a path."""

    name: str
    facts: Facts
    goal: z3.BoolRef
    always: bool  # it is worth trying without knowing what the call is


@dataclass(frozen=True)
class Promise:
    """One thing that a method promises, and what has to be shown for it."""

    name: str
    case: Facts  # the calls that it is about
    claims: tuple[Claim, ...]


def endings(executable: Executable, operation: Operation) -> Iterator[Ending]:
    """Every ending of every path of the method, for any queue and any arguments."""
    if executable.refused:
        raise UnsupportedError(executable.refused)
    if executable.problems:
        reached = reached_methods(executable.source, operation.name) & executable.problems.keys()
        if reached:
            raise UnsupportedError("; ".join(executable.problems[name] for name in sorted(reached)))

    def begin(decisions: list[bool]) -> Execution:
        layout = executable.source.layout
        facts = dict(operation.arguments) | (_nothing_yet() if operation.name == "__init__" else _any_queue())
        heap = {layout.next: AFTER, layout.prev: BEFORE}
        run = Execution(decisions, INVARIANTS, executable.infos, heap, facts)
        run.start = Start(operation, layout, _queue(executable, run, layout, operation))
        return run

    def call(run: Execution) -> Any:
        arguments: dict[str, list[Any]] = {
            "a block": [Node(run, GIVEN)],
            "a number": [Number(run, NUMBER)],
            "a batch": [Items(run, WIDTH, ITEM, given=True)],
            "nothing": [],
        }
        return getattr(run.start.queue, operation.name)(*arguments[operation.takes])

    return explore(begin, call)


def reached_methods(source: QueueSource, name: str) -> set[str]:
    """The method and those that it calls, however deep."""
    pending, seen = [name], {name}
    while pending:
        for node in ast.walk(source.methods[pending.pop()]):
            of_self = isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self"
            called = node.attr if isinstance(node, ast.Attribute) and of_self else ""
            if called in source.methods and called not in seen:
                seen.add(called)
                pending.append(called)
    return seen


def _any_queue() -> Facts:
    """A queue of any length, in any state that its links can represent."""
    return order.represents(AFTER, BEFORE, QUEUED) | order.outside_unlinked(AFTER, BEFORE, QUEUED)


def _nothing_yet() -> Facts:
    """Before a queue is built: two blocks that nothing leads to will be its sentinels."""
    new = [block != sentinel for block in (AFTER(order.B), BEFORE(order.B)) for sentinel in (HEAD, TAIL)]
    return {
        "the sentinels are two, and no None": z3.Distinct(HEAD, TAIL, NONE),
        "no link leads to the new sentinels": order.every_block(z3.And(new), AFTER(order.B), BEFORE(order.B)),
    }


def _queue(executable: Executable, run: Execution, layout: Layout, operation: Operation) -> Any:
    def make_block(*_args: object, **_kwargs: object) -> Node:
        if run.made == 2 or operation.name != "__init__":
            raise UnsupportedError("more blocks are made than two sentinels")
        made = (HEAD, TAIL)[run.made]
        run.made += 1
        for name in (layout.next, layout.prev):
            run.heap[name] = updated(run.heap[name], made, NONE)
        return Node(run, made)

    queue = executable.queue(run, make_block)
    if operation.name != "__init__":
        setattr(queue, layout.head, Node(run, HEAD))
        setattr(queue, layout.tail, Node(run, TAIL))
        setattr(queue, layout.count, Number(run, LENGTH))
    return queue


def promises(operation: Operation, reached: Sequence[Ending]) -> Iterator[Promise]:
    """What the method promises. The claims of loops belong to each of its promises."""
    yield _promise(REFINES, {"the call is legal": operation.legal}, reached, _after_legal_call)
    for reason, formula in operation.reasons.items():
        yield _promise(f"refuses {reason}", {f"the call names {reason}": formula}, reached, _after_refusal)


def _promise(name: str, case: Facts, reached: Sequence[Ending], goals: Callable[[Ending], Facts]) -> Promise:
    claims = []
    for number, ending in enumerate(reached):
        goal = z3.And(list((ending.claims if ending.kind == "loop" else goals(ending)).values()))
        claims.append(Claim(f"path {number} {ending.words}", ending.facts, goal, ending.kind in ("loop", "crashed")))
    return Promise(name, case, tuple(claims))


def _after_legal_call(ending: Ending) -> Facts:
    """The method returned, and the links represent the sequence that they should."""
    if ending.kind != "returned":
        return {"this is not reached": z3.BoolVal(False)}
    operation, layout = ending.run.start.operation, ending.run.start.layout
    ghosts = [loop.view.ghost for loop in ending.run.loops if loop.view.ghost is not None]
    if operation.name == "remove_n" and not ghosts:
        raise UnsupportedError("remove_n has no loop of which the invariant carries the sequence")
    expected, facts = operation.result(ending.value, ghosts[-1] if ghosts else None)
    after, before = ending.run.heap[layout.next], ending.run.heap[layout.prev]
    others = order.outside_unlinked(after, before, expected)
    if operation.name == "__init__":
        others = order.unchanged(AFTER, BEFORE, after, before, expected.inside)
    represented = order.represents(after, before, expected)
    return {**represented, **others, **facts, **_fields(ending, expected.length)}


def _after_refusal(ending: Ending) -> Facts:
    """The method raised an exception, and nothing is different."""
    if ending.kind != "refused":
        return {"this is not reached": z3.BoolVal(False)}
    layout = ending.run.start.layout
    after, before = ending.run.heap[layout.next], ending.run.heap[layout.prev]
    if ending.run.start.operation.name == "__init__":  # the queue is not there; its sentinels are nobody's
        return order.unchanged(AFTER, BEFORE, after, before, lambda b: z3.Or(b == HEAD, b == TAIL))
    return order.unchanged(AFTER, BEFORE, after, before, lambda b: z3.BoolVal(False)) | _fields(ending, LENGTH)


def _fields(ending: Ending, length: Any) -> Facts:
    layout, fields = ending.run.start.layout, vars(ending.run.start.queue)
    head, tail, count = (fields.get(name) for name in (layout.head, layout.tail, layout.count))
    if not (isinstance(head, Node) and isinstance(tail, Node) and (isinstance(count, Number) or type(count) is int)):
        raise UnsupportedError("the sentinels or the counter are not what they were")
    return {
        "the sentinels stay": z3.And(head.term == HEAD, tail.term == TAIL),
        "the counter is the number of blocks": (z3.IntVal(count) if isinstance(count, int) else count.term) == length,
    }
