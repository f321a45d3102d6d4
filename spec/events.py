"""KV events: what the pool tells the outside about its cache, and the consumer that mirrors the cache from them.

A router that sends requests to the server with the longest cached prefix sees nothing but these events.

The *bag law*: since the last Cleared, a key was stored as often more than removed as there are blocks under it.
Moving keys from one block to another is silent, since the number does not change.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby

from spec.prefix import Key


@dataclass(frozen=True, slots=True)
class Stored:
    """Consecutive blocks of one prefix became findable.

    `keys` has one key a block, in order; `tokens` are the tokens of those blocks, `block_size` each.
    `parent` is the key of the prefix before them if the consumer knows it, or None.
    """

    keys: tuple[Key, ...]
    parent: Key | None
    tokens: tuple[int, ...]
    block_size: int


@dataclass(frozen=True, slots=True)
class Removed:
    """One block is no longer found under this key. Another block may be."""

    key: Key


@dataclass(frozen=True, slots=True)
class Cleared:
    """Nothing is findable any more."""


Event = Stored | Removed | Cleared


def settled(events: Iterable[Event]) -> tuple[Event, ...]:
    """The same events with neighbouring removals sorted: removals in a row commute, so their order is not promised."""
    out: list[Event] = []
    for kind, run in groupby(events, key=type):
        if kind is Removed:
            out.extend(sorted(run, key=lambda event: event.key))  # type: ignore[union-attr]
        else:
            out.extend(run)
    return tuple(out)


class FalseEventError(Exception):
    """An event stream that cannot be true: it names the event and the law."""


@dataclass
class Mirror:
    """A consumer: how many blocks it believes are under each key."""

    copies: Counter[Key] = field(default_factory=Counter)

    @classmethod
    def of(cls, index: Mapping[Key, frozenset[object]]) -> "Mirror":
        """The mirror that is right about this index."""
        return cls(Counter({key: len(blocks) for key, blocks in index.items()}))

    def read(self, event: Event) -> None:
        """Believe one event; raises FalseEventError if it contradicts the earlier ones."""
        match event:
            case Cleared():
                self.copies.clear()
            case Removed(key):
                if not self.copies[key]:
                    raise FalseEventError(f"{event}: removed more often than stored")
                self.copies[key] -= 1
                if not self.copies[key]:
                    del self.copies[key]
            case Stored(keys, parent, tokens, block_size):
                if not keys or len(tokens) != block_size * len(keys):
                    raise FalseEventError(f"{event}: {len(keys)} keys of {block_size} tokens, but {len(tokens)} tokens")
                if parent is not None and not self.copies[parent]:
                    raise FalseEventError(f"{event}: its parent was never stored")
                self.copies.update(keys)
