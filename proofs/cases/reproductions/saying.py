"""What a reproduction says: sentences that are checked where they are said, and what a pool tells in events."""

from collections.abc import Callable, Iterable
from traceback import extract_tb
from typing import Any, NamedTuple

from blockpool.proofs.cases import CaseError
from blockpool.proofs.systems.vllm.testbench import Lab


class NotReproducedError(CaseError):
    """What a finding says is not so on this pool."""


def so(is_so: bool, sentence: str) -> str:
    """The sentence, if it is so. Raises NotReproducedError."""
    if not is_so:
        raise NotReproducedError(f"not so: {sentence}")
    return sentence


class Told(NamedTuple):
    """An event: which prefixes of a request it names, each by its number of tokens."""

    kind: str  # Stored, Removed, Cleared
    prefixes: tuple[int | None, ...] = ()  # None: a prefix of something else
    parent: int | None = None
    content: int = 0  # tokens

    def __str__(self) -> str:
        if self.kind == "Cleared":
            return "AllBlocksCleared"
        keys = " and ".join(map(str, self.prefixes)) or "no key"
        if self.kind == "Removed":
            return f"Removed({keys})"
        return f"Stored({keys}; parent {self.parent or 'none'}; {self.content} tokens)"


def told(lab: Lab, pool: Any, request: Any, unit: int, group: int | None = None) -> list[Told]:
    """What this pool, or whatever drains its events, has told; of one group if one is named."""
    numbers = {lab.in_events(digest): (place + 1) * unit for place, digest in enumerate(request.block_hashes)}
    found = []
    for event in pool.take_events():
        kind = {"BlockStored": "Stored", "BlockRemoved": "Removed", "AllBlocksCleared": "Cleared"}[type(event).__name__]
        if kind == "Cleared":
            found.append(Told(kind))
        elif group in (None, event.group_idx):
            prefixes = tuple(map(numbers.get, event.block_hashes))
            stored = kind == "Stored"
            parent = numbers.get(event.parent_block_hash) if stored else None
            found.append(Told(kind, prefixes, parent, len(event.token_ids) if stored else 0))
    return found


def listed(events: Iterable[Told]) -> str:
    """Events in the order in which they were told."""
    return ", ".join(map(str, events)) or "nothing"


def error_in(function: str, call: Callable[[], object]) -> str:
    """Which error comes out of a call from within this function; of the two kinds that are known to."""
    try:
        call()
    except (AssertionError, IndexError) as error:
        if function in {frame.name for frame in extract_tb(error.__traceback__)}:
            return f"{type(error).__name__} in {function}"
        raise
    return "no error"
