"""KV events: what the pool tells the outside about its cache, and the consumer that mirrors the cache from them.

A router that sends requests to the server with the longest cached prefix sees nothing but these events.

The *bag law*: since the last Cleared, a key was stored as often more than removed as there are blocks under it.
Moving keys from one block to another is silent, since the number does not change. This pool keeps the bag law.

The *set law* is the other contract in use: a key is removed once, with the last block under it. A consumer must know
which of the two it reads: under the wrong one it forgets copies that are there, or keeps keys that are gone.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby

from blockpool.spec.pool.prefix import Key


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
    """A consumer: how many blocks it believes are under each key. Under the set law it counts only presence."""

    copies: Counter[Key] = field(default_factory=Counter)
    bag: bool = True  # or the set law

    @classmethod
    def of(cls, index: Mapping[Key, frozenset[object]]) -> "Mirror":
        """The mirror that is right about this index."""
        return cls(Counter({key: len(blocks) for key, blocks in index.items() if blocks}))

    def read(self, event: Event) -> None:
        """Believe one event; raises FalseEventError if it contradicts the earlier ones."""
        contradiction = self.contradiction(event)
        if contradiction is not None:
            raise FalseEventError(f"{event}: {contradiction[1]}")
        self.believe(event)

    def contradiction(self, event: Event) -> tuple[str, str] | None:
        """Which law the event breaks after the earlier ones, and how; None if it can be true."""
        match event:
            case Removed(key) if not self.copies[key]:
                return "what_is_removed_was_stored", "removed more often than stored"
            case Stored(keys, _, tokens, block_size) if not keys or len(tokens) != block_size * len(keys):
                return "tokens_fit_the_keys", f"{len(keys)} keys of {block_size} tokens, but {len(tokens)} tokens"
            case Stored(_, parent, _, _) if parent is not None and not self.copies[parent]:
                return "parents_are_known", "its parent was never stored"
        return None

    def believe(self, event: Event) -> None:
        """What the event says is so."""
        match event:
            case Cleared():
                self.copies.clear()
            case Removed(key):
                self.copies[key] -= 1
                if self.copies[key] <= 0:
                    del self.copies[key]
            case Stored(keys):
                for key in keys:
                    self.copies[key] = self.copies[key] + 1 if self.bag else 1
