"""A program as CPython runs it, and what can be seen of the heap."""

import sys
from dataclasses import dataclass
from itertools import pairwise
from types import FrameType, GeneratorType
from typing import Any

BLOCKS = 4
LABELS = ("head", "tail", *(f"b{number}" for number in range(BLOCKS)))
MOST_LINES = 2000
FILE = "<program>"
CRASHES = (AttributeError, TypeError, NameError, IndexError, UnboundLocalError, ValueError, KeyError, RecursionError)


class EndlessError(BaseException):
    """The program does not seem to end."""


@dataclass(frozen=True)
class Call:
    """The arguments of one call, by label."""

    block: str | None
    blocks: tuple[str, ...]
    number: int


@dataclass(frozen=True)
class Heap:
    """All that a call can see or change."""

    after: dict[str, str]
    before: dict[str, str]
    head: Any
    tail: Any
    count: Any

    @property
    def shown(self) -> str:
        links = ", ".join(f"{label} {self.before[label]}<>{self.after[label]}" for label in LABELS)
        return f"{links}; head {self.head}, tail {self.tail}, counted {self.count!r}"


@dataclass(frozen=True)
class Result:
    """What came of a call."""

    how: str  # returned, raised, crashed
    what: Any  # the answer, or the name of what was raised
    heap: Heap | None


class Native:
    """A program, with a queue on a heap, as Python makes them from its text."""

    def __init__(self, text: str, queued: int) -> None:
        scope: dict[str, Any] = {"__name__": "program"}
        exec(compile(text, FILE, "exec", dont_inherit=True), scope)
        self.queue = scope["Queue"]([])
        self.blocks = {"head": self.queue.head, "tail": self.queue.tail}
        self.blocks |= {label: scope["Block"](number) for number, label in enumerate(LABELS[2:])}
        row = ["head", *LABELS[2 : 2 + queued], "tail"]
        for left, right in pairwise(row):
            self.blocks[left].after, self.blocks[right].before = self.blocks[right], self.blocks[left]
        self.queue.count = queued
        self.lines = 0

    def label(self, value: Any) -> str:
        return next((label for label, block in self.blocks.items() if block is value), "none" if value is None else "?")

    def heap(self) -> Heap:
        after = {label: self.label(block.after) for label, block in self.blocks.items()}
        before = {label: self.label(block.before) for label, block in self.blocks.items()}
        queue = self.queue
        return Heap(after, before, self.label(queue.head), self.label(queue.tail), queue.count)

    def run(self, method: str, call: Call) -> Result:
        """Call the method; a call that ends with an exception may have changed the heap as well."""
        block = None if call.block is None else self.blocks[call.block]
        given = [self.blocks[label] for label in call.blocks]
        arguments = [block] if method == "iter_blocks_after" else [block, given, call.number]
        self.lines = 0
        how, what = self._traced(method, arguments)
        if [self.label(value) for value in given] != list(call.blocks):
            what = (what, "the list that was given has changed")
        return Result(how, what, self.heap())

    def _traced(self, method: str, arguments: list[Any]) -> tuple[str, Any]:
        sys.settrace(self._count)
        try:
            value = getattr(self.queue, method)(*arguments)
            value = list(value) if isinstance(value, GeneratorType) else value
        except CRASHES as error:
            return "crashed", type(error).__name__
        except Exception as error:  # noqa: BLE001  whatever the program raises
            return "raised", type(error).__name__
        finally:
            sys.settrace(None)
        return "returned", self._answer(value)

    def _count(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        if frame.f_code.co_filename != FILE:
            return None  # such as what Python runs to free memory
        self.lines += 1
        if self.lines > MOST_LINES:
            raise EndlessError
        return self._count

    def _answer(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.label(item) for item in value]
        return (type(value).__name__, value) if isinstance(value, bool | int | str) else self.label(value)
