"""A stream of KV cache events alone, from an unmodified server: can it be true, and what does it say is cached?

One JSON value a line, as a subscriber of vLLM's publisher decodes it:

    [ts, [event, ...], rank]                  a batch, as published
    {"seq": 7, "batch": [ts, [...], rank]}    the same with the number of the message, so that lost ones are noticed
    event                                     one event

An event is a map, {"type": "BlockStored", "block_hashes": [...], ...} (vLLM 0.24 and later), or an array with the
fields in the order in which releases added them, ["BlockStored", [...], ...] (0.9 to 0.23). Fields that later releases
add are passed over. Each rank and medium has a mirror of its own, and each group its own keys.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from blockpool.proofs.core.strict_json import FormatError, converted, decoded, shortened
from blockpool.spec.pool.events import Cleared, Event, Mirror, Removed, Stored

Hash = int | str
Place = tuple[int, str]
"""The rank that sent an event, and the medium it is about."""

ARRAY_FIELDS = {
    "BlockStored": [
        *("block_hashes", "parent_block_hash", "token_ids", "block_size"),
        *("lora_id", "medium", "lora_name", "extra_keys", "group_idx"),
    ],
    "BlockRemoved": ["block_hashes", "medium", "group_idx"],
    "AllBlocksCleared": [],
}
"""In the array encoding, by position."""

LAWS = {
    "no_batch_is_missing": "Messages are numbered one after the other.",
    "tokens_fit_the_keys": "A BlockStored has block_size tokens for each of its hashes, and at least one hash.",
    "parents_are_known": "The parent of a BlockStored was stored before and is not removed.",
    "what_is_removed_was_stored": "A hash is removed at most as often as it was stored (per copy), or while present.",
}
"""What each finding breaks, in words."""


class Batch(msgspec.Struct, array_like=True):
    """What the publisher sends at once."""

    ts: float
    events: list[Any]
    data_parallel_rank: int | None = None


class Numbered(msgspec.Struct):
    """A batch with the number of its message."""

    seq: int
    batch: Batch


class StoredEvent(msgspec.Struct):
    """The fields of BlockStored that matter here."""

    block_hashes: list[Hash]
    parent_block_hash: Hash | None
    token_ids: list[int]
    block_size: int
    medium: str | None = None
    group_idx: int | None = None


class RemovedEvent(msgspec.Struct):
    """The fields of BlockRemoved that matter here."""

    block_hashes: list[Hash]
    medium: str | None = None
    group_idx: int | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """A law that an event breaks."""

    line: int
    law: str
    words: str


@dataclass
class EventAudit:
    """Reads events and believes them all; what cannot be true is a finding."""

    per_copy: bool = True  # the bag law: a removal for each copy; else the set law: one with the last copy
    mirrors: dict[Place, Mirror] = field(default_factory=dict)
    events: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)  # findings by law
    _expected: int | None = None  # the next message number

    def read(self, lines: Iterable[str | bytes]) -> Iterator[Finding]:
        """All findings, line after line. Raises FormatError on a line that is not an event or batch."""
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                for law, words in self._line(line):
                    self.broken[law] += 1
                    yield Finding(number, law, words)
            except FormatError as error:
                raise error.at_line(number) from error

    def keys(self) -> dict[Place, tuple[int, int]]:
        """How many different keys, and how many copies, each mirror believes in."""
        return {place: (len(mirror.copies), mirror.copies.total()) for place, mirror in sorted(self.mirrors.items())}

    def _line(self, line: str | bytes) -> Iterator[tuple[str, str]]:
        document = decoded(line)
        if isinstance(document, dict) and "batch" in document:
            numbered: Numbered = converted(document, Numbered)
            if self._expected is not None and numbered.seq != self._expected:
                yield "no_batch_is_missing", f"message {numbered.seq} follows {self._expected - 1}"
            self._expected = numbered.seq + 1
            yield from self._batch(numbered.batch)
        elif isinstance(document, list) and document and not isinstance(document[0], str):
            yield from self._batch(converted(document, Batch))
        else:
            yield from self._event(document, 0)

    def _batch(self, batch: Batch) -> Iterator[tuple[str, str]]:
        for document in batch.events:
            yield from self._event(document, batch.data_parallel_rank or 0)

    def _event(self, document: Any, rank: int) -> Iterator[tuple[str, str]]:
        kind, fields = _named(document)
        self.events[kind] += 1
        if kind == "AllBlocksCleared":
            for place, mirror in self.mirrors.items():
                if place[0] == rank:
                    mirror.believe(Cleared())
            return
        event = converted(fields, StoredEvent if kind == "BlockStored" else RemovedEvent)
        mirror = self.mirrors.setdefault((rank, event.medium or "GPU"), Mirror(bag=self.per_copy))
        for meaning in _meanings(event):
            contradiction = mirror.contradiction(meaning)
            if contradiction is not None:
                law, words = contradiction
                yield law, f"{_words(event)}: {words}"
            mirror.believe(meaning)


def _named(document: Any) -> tuple[str, Mapping[str, Any]]:
    """The kind of an event and its fields by name, from either encoding."""
    if isinstance(document, dict):
        kind = document.get("type")
        fields = {name: value for name, value in document.items() if name != "type"}
    elif isinstance(document, list) and document:
        kind = document[0]
        names = ARRAY_FIELDS.get(kind, []) if isinstance(kind, str) else []
        fields = dict(zip(names, document[1:], strict=False))
    else:
        raise FormatError(f"an event or a batch of events is needed, not {shortened(document)}")
    if not isinstance(kind, str) or kind not in ARRAY_FIELDS:
        raise FormatError(f"unknown event {shortened(kind)}; known are {', '.join(ARRAY_FIELDS)}", "type")
    return kind, fields


def _meanings(event: StoredEvent | RemovedEvent) -> list[Event]:
    """The event in the words of the spec; a key is a hash in a group."""

    def key(found: Hash) -> Any:
        return (event.group_idx or 0, found)

    if isinstance(event, RemovedEvent):
        return [Removed(key(found)) for found in event.block_hashes]
    parent = None if event.parent_block_hash is None else key(event.parent_block_hash)
    return [Stored(tuple(map(key, event.block_hashes)), parent, tuple(event.token_ids), event.block_size)]


def _words(event: StoredEvent | RemovedEvent) -> str:
    kind = "BlockStored" if isinstance(event, StoredEvent) else "BlockRemoved"
    return f"{kind} {shortened(event.block_hashes)}"
