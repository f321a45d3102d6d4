"""Questions that change nothing, and taking the events."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import ClassVar

from blockpool.spec.pool.action import Action, refusals
from blockpool.spec.pool.events import Event, settled
from blockpool.spec.pool.prefix import Key, Prefix
from blockpool.spec.pool.state import Pool
from blockpool.spec.pool.terms import BlockId, GroupId, Reason


class Query(Action[object]):
    """An action without effect, never refused, not even while a watcher is told."""

    reasons: ClassVar[frozenset[Reason]] = frozenset()

    __slots__ = ()

    def guard(self, pool: Pool) -> frozenset[Reason]:
        return frozenset()

    def effect(self, pool: Pool, answer: object) -> Pool:
        return pool


@dataclass(frozen=True, slots=True)
class GetCachedBlock(Query):
    """A block for the prefix in each of the groups: all groups or nothing. Any block under the key will do.

    A hit is not a claim: until it is touched, the block may be evicted.
    """

    prefix: Prefix
    groups: tuple[GroupId, ...]

    name: ClassVar[str] = "get_cached_block"

    def answers(self, pool: Pool) -> Iterable[tuple[BlockId, ...] | None]:
        found = self.candidates(pool)
        return product(*map(sorted, found)) if all(found) else (None,)

    def allows(self, pool: Pool, answer: object) -> bool:
        found = self.candidates(pool)
        if not all(found):
            return answer is None
        return (
            isinstance(answer, tuple)
            and len(answer) == len(found)
            and all(block in blocks for block, blocks in zip(answer, found, strict=True))
        )

    def candidates(self, pool: Pool) -> list[frozenset[BlockId]]:
        """For each group the blocks that may be answered."""
        return [pool.index.get(Key(self.prefix, group), frozenset()) for group in self.groups]


@dataclass(frozen=True, slots=True)
class IsBlockWritable(Query):
    """May the holder of the block write into it? Not if it is shared, findable, watched, null or foreign."""

    block: BlockId

    name: ClassVar[str] = "is_block_writable"

    def answers(self, pool: Pool) -> Iterable[bool]:
        return (pool.is_writable(self.block),)


@dataclass(frozen=True, slots=True)
class GetNumFreeBlocks(Query):
    """How many blocks can be handed out now. Cached free blocks count as free."""

    name: ClassVar[str] = "get_num_free_blocks"

    def answers(self, pool: Pool) -> Iterable[int]:
        return (len(pool.queue),)


@dataclass(frozen=True, slots=True)
class GetUsage(Query):
    """The held share of the lendable blocks, 0 to 1; 0 for a pool that has none."""

    name: ClassVar[str] = "get_usage"

    def answers(self, pool: Pool) -> Iterable[float]:
        lendable = len(pool.lendable)
        return (1.0 - len(pool.queue) / lendable if lendable else 0.0,)


@dataclass(frozen=True, slots=True)
class TakeEvents(Action[tuple[Event, ...]]):
    """All events since the last call, oldest first. The order of removals in a row is not promised."""

    name: ClassVar[str] = "take_events"
    reasons: ClassVar = frozenset({Reason.RE_ENTRANT})

    def guard(self, pool: Pool) -> frozenset[Reason]:
        return refusals((Reason.RE_ENTRANT, pool.telling))

    def answers(self, pool: Pool) -> Iterable[tuple[Event, ...]]:
        return (pool.outbox,)

    def allows(self, pool: Pool, answer: object) -> bool:
        return isinstance(answer, tuple) and settled(answer) == settled(pool.outbox)

    def effect(self, pool: Pool, answer: tuple[Event, ...]) -> Pool:
        return replace(pool, outbox=())
