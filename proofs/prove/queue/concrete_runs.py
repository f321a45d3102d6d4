"""The real methods, executed by Python alone on every small queue: a second opinion, which shares nothing with a proof.

A promise that fails here is refuted by a run that anybody can repeat. A promise that was proved and fails here would
show a defect of the engine.
"""

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, product
from types import GeneratorType
from typing import Any

from blockpool.proofs.prove.queue.small_heap import ENDS, SPARE, Queue, SmallHeap, shown_row
from blockpool.proofs.prove.queue.source import PlainBlock, QueueSource, build, with_fields

MOST_QUEUED = 3
MOST_IN_BATCH = 3
MOST_STEPS = 200
SCOPE = f"queues of at most {MOST_QUEUED} blocks, {SPARE} more outside, batches of at most {MOST_IN_BATCH}"


class EndlessLoopError(BaseException):
    """A loop did not end."""


Expectation = tuple[frozenset[str], Queue, Any]  # reasons to refuse; else the queue after, and the answer


def _batch(given: Queue, bad: Callable[[Any], bool], reason: str) -> frozenset[str]:
    found = {reason} if any(bad(block) for block in given) else set()
    return frozenset(found | ({"a repeated block"} if len(set(given)) < len(given) else set()))


def _in(*blocks: Sequence[Any]) -> Callable[[Any], bool]:
    return lambda block: any(block in some for some in blocks)


def _only(reason: str, when: bool) -> frozenset[str]:
    return frozenset({reason}) if when else frozenset()


def _popleft_n(queue: Queue, n: int) -> Expectation:
    reasons = _only("a negative count", n < 0) | _only("more blocks than there are", n > len(queue))
    return reasons, queue[max(n, 0) :], list(queue[: max(n, 0)])


def _after(queue: Queue, cursor: int | None) -> Expectation:
    behind = queue[queue.index(cursor) + 1 :] if cursor in queue else queue
    return _only("a cursor that is not queued", cursor is not None and cursor not in queue), queue, list(behind)


EXPECTED: dict[str, Callable[[Queue, Any], Expectation]] = {
    "__init__": lambda queue, given: (_batch(given, lambda b: b in queue, "a queued block"), given, None),
    "popleft": lambda queue, _: (_only("an empty queue", not queue), queue[1:], queue[0] if queue else None),
    "popleft_n": _popleft_n,
    "remove": lambda queue, b: (
        _only("a block that is not queued", b not in queue), tuple(x for x in queue if x != b), None,
    ),
    "remove_n": lambda queue, given: (
        _batch(given, lambda b: b not in queue, "a block that is not queued"),
        tuple(x for x in queue if x not in given), None,
    ),
    "append": lambda queue, b: (_only("a queued block", b in queue or b in ENDS), (*queue, b), None),
    "append_n": lambda queue, given: (_batch(given, _in(queue, ENDS), "a queued block"), (*queue, *given), None),
    "prepend_n": lambda queue, given: (_batch(given, _in(queue, ENDS), "a queued block"), (*given, *queue), None),
    "get_all_free_blocks": lambda queue, _: (frozenset(), queue, list(queue)),
    "iter_blocks_after": _after,
}  # fmt: skip


@dataclass(frozen=True)
class Run:
    """One call on one small queue, and what came of it."""

    before: str
    call: str
    promised: str
    broken: str  # the heap after, if it is not as promised

    def picture(self) -> str:
        """The heap before and after."""
        return f"before   {self.before}\ncall     {self.call}\npromised {self.promised}\n{self.broken}"


class Runner:
    """All runs of the methods of one class."""

    def __init__(self, source: QueueSource) -> None:
        self.source = source
        self.steps = 0

    @cached_property
    def made(self) -> Any:
        tree = with_fields(self.source.tree, body=copy.deepcopy(self.source.tree.body))
        return build(_Watched().visit(tree), {"_tick": self._tick, "_raised": _raised}, PlainBlock)

    def _tick(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise EndlessLoopError("a loop does not end")

    def runs(self, method: str) -> Iterator[tuple[frozenset[str], Run]]:
        """Every call of a method at the scope, with the reasons for which it must be refused."""
        for ends in ((), ENDS):
            for size in range(MOST_QUEUED + 1):
                for given in arguments(method, size, ends):
                    yield self._run(method, tuple(range(1, size + 1)), given)

    def broken(self, method: str) -> dict[str, Run]:
        """The first run that breaks each promise that some run breaks."""
        found: dict[str, Run] = {}
        for reasons, run in self.runs(method):
            for promise in [f"refuses {reason}" for reason in reasons] or ["refines the sequence"]:
                if run.broken:
                    found.setdefault(promise, run)
        return found

    def _run(self, method: str, queue: Queue, given: Any) -> tuple[frozenset[str], Run]:
        heap = SmallHeap(self.source, self.made, queue, method)
        reasons, after, answer = EXPECTED[method](queue, given)
        before = heap.links()
        self.steps = 0
        outcome, value = _call(heap, method, _values(heap, method, given))
        if reasons:
            now = heap.links()
            counted = heap.beside or heap.field(heap.layout.count) == len(queue)
            right = outcome.startswith("raises") and counted and all(now.get(b) == before[b] for b in before)
            promised = f"refuses {' or '.join(sorted(reasons))}"
        else:
            others = {b: before[b] if heap.beside else (None, None) for b in before if type(b) is int}
            right = outcome == "returns" and value == answer and heap.represents(after, others)
            promised = shown_row(after) + ("" if answer is None else f", answer {answer}")
        shown = "" if given is None and method != "iter_blocks_after" else given
        call = f"{method}({list(shown) if isinstance(shown, tuple) else shown}) {outcome}"
        words = call + ("" if value is None else f" {value}")
        broken = "" if right else f"after    {heap.shown()}"
        beside = "another queue: " if heap.beside else ""
        return reasons, Run(beside + shown_row(queue), words, promised, broken)


def _values(heap: SmallHeap, method: str, given: Any) -> list[Any]:
    """The arguments of a call: labels become blocks."""
    if isinstance(given, tuple):
        return [[heap.block(label) for label in given]]
    if method in ("remove", "append", "iter_blocks_after"):
        return [heap.block(given)]
    return [given] if method == "popleft_n" else []


def arguments(method: str, size: int, ends: Sequence[str]) -> Iterator[Any]:
    """What a method may be given; with `ends`, only what names a sentinel."""
    blocks = (*range(1, size + SPARE + 1), *ends)
    if method in ("__init__", "remove_n", "append_n", "prepend_n"):
        batches = chain.from_iterable(product(blocks, repeat=width) for width in range(MOST_IN_BATCH + 1))
        yield from (batch for batch in batches if not ends or (set(batch) & set(ends) and method != "__init__"))
    elif method in ("remove", "append", "iter_blocks_after"):
        yield from ends or (*blocks, *((None,) if method == "iter_blocks_after" else ()))
    elif not ends:
        yield from (*range(size + 2), -1, -2) if method == "popleft_n" else (None,)


def _call(heap: SmallHeap, method: str, arguments: list[Any]) -> tuple[str, Any]:
    """What the call does; an exception that no statement of the class raises is a crash."""
    try:
        if method == "__init__":
            heap.queue = heap.made(*arguments)
            return "returns", None
        value = getattr(heap.queue, method)(*arguments)
        value = list(value) if isinstance(value, GeneratorType) else value
    except EndlessLoopError:
        return "does not end", None
    except Exception as error:  # noqa: BLE001  whatever foreign code raises
        on_purpose = isinstance(error, AssertionError) or hasattr(error, _RAISED)
        return f"{'raises' if on_purpose else 'crashes:'} {type(error).__name__}", None
    return "returns", [heap.label(block) for block in value] if isinstance(value, list) else heap.label(value)


_RAISED = "_raised_on_purpose"


def _raised(error: Any) -> Any:
    """The exception of a raise statement, marked."""
    made = error() if isinstance(error, type) else error
    setattr(made, _RAISED, True)
    return made


class _Watched(ast.NodeTransformer):
    """Counts the steps of loops, and marks what is raised."""

    def _counted(self, node: Any) -> Any:
        self.generic_visit(node)
        return with_fields(node, body=[*ast.parse("_tick()").body, *node.body])

    visit_While = visit_For = _counted  # noqa: N815

    def visit_Raise(self, node: ast.Raise) -> ast.Raise:
        marked = None if node.exc is None else ast.Call(ast.Name("_raised", ast.Load()), [node.exc], [])
        return ast.Raise(marked, node.cause)
