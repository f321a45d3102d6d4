"""The pool as an abstract machine: its state variables, its first state, and the notions derived from them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from blockpool.spec.pool.events import Event
from blockpool.spec.pool.prefix import Key
from blockpool.spec.pool.terms import NULL, BlockId, Life, Watcher


class Primary(NamedTuple):
    """The one primary key of a cached block, and how many prefix tokens it covers."""

    key: Key
    tokens: int


@dataclass(frozen=True, slots=True)
class Pool:
    """One state of the pool. Never changed in place; an action yields the next one.

    The first four fields never change in the life of a pool.
    """

    size: int  # blocks are 0..size-1, block 0 is the null block
    unit: int = 1  # tokens in one hash unit
    caching: bool = True  # may anything be published?
    reporting: bool = True  # are KV events sent?
    refs: Mapping[BlockId, int] = field(default_factory=dict)  # references held on each block but the null block
    queue: tuple[BlockId, ...] = ()  # free blocks in eviction order, next victim first
    primary: Mapping[BlockId, Primary] = field(default_factory=dict)  # the primary key of each cached block
    aliases: Mapping[BlockId, frozenset[Key]] = field(default_factory=dict)  # further, no longer keys of a block
    index: Mapping[Key, frozenset[BlockId]] = field(default_factory=dict)  # what a lookup may answer
    watchers: Mapping[BlockId, frozenset[Watcher]] = field(default_factory=dict)  # who must be told before reuse
    outbox: tuple[Event, ...] = ()  # KV events not yet taken
    telling: bool = False  # is this the pool as a watcher sees it while it is being told?

    # --- derived notions ---

    @property
    def lendable(self) -> range:
        """Every block but the null block."""
        return range(1, self.size)

    def knows(self, block: BlockId) -> bool:
        """Is it a block of this pool, the null block included?"""
        return 0 <= block < self.size

    def is_held(self, block: BlockId) -> bool:
        """Does anybody hold a reference?"""
        return self.refs.get(block, 0) > 0

    def keys_of(self, block: BlockId) -> frozenset[Key]:
        """All keys of a block: its primary and its aliases."""
        aliases = self.aliases.get(block, frozenset())
        return aliases | {self.primary[block].key} if block in self.primary else aliases

    def is_writable(self, block: BlockId) -> bool:
        """May its holder write into it? Only if nobody else holds it, finds it or watches it."""
        return (
            block != NULL and self.refs.get(block, 0) == 1 and block not in self.primary and block not in self.watchers
        )

    def told_about(self, blocks: Iterable[BlockId]) -> frozenset[tuple[BlockId, Watcher]]:
        """Who is told what when these blocks are reused."""
        return frozenset([(block, watcher) for block in blocks for watcher in self.watchers.get(block, ())])

    def life_of(self, block: BlockId) -> Life:
        """Which of the six states the block is in."""
        if block == NULL:
            return Life.NULL
        findable = block in self.primary
        if self.is_held(block):
            return Life.PUBLISHED if findable else Life.PRIVATE
        if findable:
            return Life.CACHED
        return Life.WATCHED if block in self.watchers else Life.BLANK


def first_state(size: int, *, unit: int = 1, caching: bool = True, reporting: bool = True) -> Pool:
    """A new pool: every block but the null block is free, in ascending order; nothing is cached."""
    if size < 1 or unit < 1:
        raise ValueError(f"a pool has at least one block and one token a unit, not {size} and {unit}")
    blocks = [BlockId(block) for block in range(1, size)]
    return Pool(size, unit, caching, reporting, refs=dict.fromkeys(blocks, 0), queue=tuple(blocks))
