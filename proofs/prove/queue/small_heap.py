"""A queue of a few blocks, built link by link, and what can be seen of it."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from blockpool.proofs.prove.queue.source import PlainBlock, QueueSource

ENDS = ("head", "tail")
"""Sentinels may be given like any block, and must be refused."""
Queue = tuple[Any, ...]
SPARE = 2
"""Blocks outside the queue."""


def shown_row(queue: Sequence[Any]) -> str:
    return " - ".join(["head", *map(str, queue), "tail"]) + f", counted {len(queue)}"


class SmallHeap:
    """A queue, built link by link, and some blocks outside. A constructor is called beside it, not on it."""

    def __init__(self, source: QueueSource, made: Any, queue: Queue, method: str) -> None:
        self.layout, self.made, self.beside = source.layout, made, method == "__init__"
        self.blocks = [PlainBlock() for _ in range(len(queue) + SPARE)]
        self.ends = PlainBlock(), PlainBlock()
        row = [self.ends[0], *self.blocks[: len(queue)], self.ends[1]]
        for left, right in pairwise(row):
            setattr(left, self.layout.next, right)
            setattr(right, self.layout.prev, left)
        self.queue = object.__new__(made)
        fields = (self.layout.head, self.ends[0]), (self.layout.tail, self.ends[1]), (self.layout.count, len(queue))
        for name, value in () if self.beside else fields:
            setattr(self.queue, name, value)

    def block(self, label: Any) -> Any:
        if label in ENDS:
            return self.ends[ENDS.index(label)]
        return None if label is None else self.blocks[label - 1]

    def label(self, value: Any) -> Any:
        """A block's number, a sentinel's name, and anything else as it is."""
        if not isinstance(value, PlainBlock):
            return value
        for number, block in enumerate(self.blocks, 1):
            if value is block:
                return number
        names = {"head": self.field(self.layout.head), "tail": self.field(self.layout.tail)}
        return next((name for name, end in names.items() if end is value), "another sentinel")

    def field(self, name: str) -> Any:
        return getattr(self.queue, name, None)

    def links(self) -> dict[Any, tuple[Any, Any]]:
        """Every block that there is, and the labels of its neighbours."""
        ends = [self.field(self.layout.head), self.field(self.layout.tail)]
        return {
            self.label(block): tuple(self.label(getattr(block, name)) for name in (self.layout.next, self.layout.prev))
            for block in (*self.blocks, *ends)
            if block is not None
        }

    def represents(self, queue: Queue, others: Mapping[Any, tuple[Any, Any]]) -> bool:
        """The links and the counter are those of `queue`, and blocks outside have those in `others`."""
        row = ["head", *queue, "tail"]
        links: dict[Any, tuple[Any, Any]] = dict(others)
        for before, label, after in zip([None, *row], row, [*row[1:], None], strict=False):
            links[label] = (after, before)
        return self.links() == links and self.field(self.layout.count) == len(queue)

    def shown(self) -> str:
        """Links in both directions as far as they lead, and the counter."""
        parts = []
        for end, link in ((self.layout.head, self.layout.next), (self.layout.tail, self.layout.prev)):
            block = self.field(end)
            labels = [str(self.label(block))]
            while (block := getattr(block, link, None)) is not None and len(labels) < len(self.blocks) + 3:
                labels.append(str(self.label(block)))
            parts.append(" > ".join(labels) + (" > ..." if block is not None else ""))
        return f"{parts[0]}; backwards {parts[1]}; counted {self.field(self.layout.count)}"
