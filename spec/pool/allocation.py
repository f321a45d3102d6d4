"""References and the free queue: handing blocks out, sharing them, taking them back."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

from blockpool.spec.pool.action import (
    Action,
    Handed,
    any_unknown,
    asks_for_too_much,
    drop_keys,
    namings,
    real,
    refusals,
    updated,
    without,
)
from blockpool.spec.pool.state import Pool
from blockpool.spec.pool.terms import NULL, BlockId, Reason, Watcher


@dataclass(frozen=True, slots=True)
class GetNewBlocks(Action[Handed]):
    """Hand out `count` blocks for new content, taken from the front of the queue; what was cached in them is gone.

    Watchers of these blocks are told first, while the pool still looks as it did before the call.
    """

    count: int

    name: ClassVar[str] = "get_new_blocks"
    reasons: ClassVar = frozenset({Reason.RE_ENTRANT, Reason.BAD_COUNT, Reason.NOT_ENOUGH_FREE})

    def guard(self, pool: Pool) -> frozenset[Reason]:
        return refusals(
            (Reason.RE_ENTRANT, pool.telling),
            (Reason.BAD_COUNT, self.count < 0),
            (Reason.NOT_ENOUGH_FREE, self.count > len(pool.queue)),
        )

    def answers(self, pool: Pool) -> Iterable[Handed]:
        victims = pool.queue[: self.count]
        return (Handed(victims, pool.told_about(victims)),)

    def effect(self, pool: Pool, answer: Handed) -> Pool:
        pool = drop_keys(pool, answer.blocks)
        return replace(
            pool,
            refs=updated(pool.refs, dict.fromkeys(answer.blocks, 1)),
            queue=pool.queue[len(answer.blocks) :],
            watchers=without(pool.watchers, answer.blocks),
        )


@dataclass(frozen=True, slots=True)
class Touch(Action[None]):
    """Add one reference for each time a block is named; a free block leaves the queue. This is how a hit is claimed.

    Keys and watchers stay: the content is intact. The null block is skipped.
    """

    blocks: tuple[BlockId, ...]

    name: ClassVar[str] = "touch"
    reasons: ClassVar = frozenset({Reason.RE_ENTRANT, Reason.UNKNOWN_BLOCK})

    def guard(self, pool: Pool) -> frozenset[Reason]:
        return refusals(
            (Reason.RE_ENTRANT, pool.telling),
            (Reason.UNKNOWN_BLOCK, any_unknown(pool, self.blocks)),
        )

    def answers(self, pool: Pool) -> Iterable[None]:
        return (None,)

    def effect(self, pool: Pool, answer: None) -> Pool:
        gained = namings(real(self.blocks))
        revived = {block for block in gained if not pool.is_held(block)}
        return replace(
            pool,
            refs=updated(pool.refs, {block: pool.refs[block] + count for block, count in gained.items()}),
            queue=tuple([block for block in pool.queue if block not in revived]) if revived else pool.queue,
        )


@dataclass(frozen=True, slots=True)
class FreeBlocks(Action[None]):
    """Give back one reference for each time a block is named. A block whose last reference goes becomes free.

    Worthless blocks (no key, no watcher) go to the front of the queue, the others to the back, each in the order
    given: a caller names the end of a sequence first, so that the beginning of a prefix survives longest.
    Naming a block twice is right for a caller that holds two references. The null block is skipped.

    A list that mixes blocks of several pools is one such call for each pool, and refused whole if any would refuse.
    """

    blocks: tuple[BlockId, ...]

    name: ClassVar[str] = "free_blocks"
    reasons: ClassVar = frozenset({Reason.RE_ENTRANT, Reason.UNKNOWN_BLOCK, Reason.NOT_HELD})

    def guard(self, pool: Pool) -> frozenset[Reason]:
        return refusals(
            (Reason.RE_ENTRANT, pool.telling),
            (Reason.UNKNOWN_BLOCK, any_unknown(pool, self.blocks)),
            (Reason.NOT_HELD, asks_for_too_much(pool, self.blocks)),
        )

    def answers(self, pool: Pool) -> Iterable[None]:
        return (None,)

    def effect(self, pool: Pool, answer: None) -> Pool:
        pool, freed = give_back(pool, real(self.blocks))
        worth_keeping = [block for block in freed if block in pool.primary or block in pool.watchers]
        worthless = [block for block in freed if block not in worth_keeping]
        return replace(pool, queue=(*worthless, *pool.queue, *worth_keeping))


@dataclass(frozen=True, slots=True)
class UnpinBlocks(Action[None]):
    """Give references back while still reading: `watcher` is told before any of these blocks is reused.

    A block whose last reference goes is queued at the very back, cached or not: the last resort at that moment.
    A block that others still hold is watched all the same.
    """

    blocks: tuple[BlockId, ...]
    watcher: Watcher

    name: ClassVar[str] = "unpin_blocks"
    reasons: ClassVar = frozenset({Reason.RE_ENTRANT, Reason.UNKNOWN_BLOCK, Reason.NULL_BLOCK, Reason.NOT_HELD})

    def guard(self, pool: Pool) -> frozenset[Reason]:
        return refusals(
            (Reason.RE_ENTRANT, pool.telling),
            (Reason.UNKNOWN_BLOCK, any_unknown(pool, self.blocks)),
            (Reason.NULL_BLOCK, NULL in self.blocks),
            (Reason.NOT_HELD, asks_for_too_much(pool, self.blocks)),
        )

    def answers(self, pool: Pool) -> Iterable[None]:
        return (None,)

    def effect(self, pool: Pool, answer: None) -> Pool:
        pool, freed = give_back(pool, self.blocks)
        nobody: frozenset[Watcher] = frozenset()
        watched = {block: pool.watchers.get(block, nobody) | {self.watcher} for block in self.blocks}
        return replace(pool, queue=(*pool.queue, *freed), watchers=updated(pool.watchers, watched))


@dataclass(frozen=True, slots=True)
class CancelWatch(Action[bool]):
    """A watcher that is done reading need not be told any more. Answers whether it was still watching."""

    block: BlockId
    watcher: Watcher

    name: ClassVar[str] = "cancel_watch"
    reasons: ClassVar = frozenset({Reason.RE_ENTRANT, Reason.UNKNOWN_BLOCK})

    def guard(self, pool: Pool) -> frozenset[Reason]:
        return refusals(
            (Reason.RE_ENTRANT, pool.telling),
            (Reason.UNKNOWN_BLOCK, not pool.knows(self.block)),
        )

    def answers(self, pool: Pool) -> Iterable[bool]:
        return (self.watcher in pool.watchers.get(self.block, ()),)

    def effect(self, pool: Pool, answer: bool) -> Pool:
        if not answer:
            return pool
        rest = pool.watchers[self.block] - {self.watcher}
        if rest:
            return replace(pool, watchers=updated(pool.watchers, {self.block: rest}))
        return replace(pool, watchers=without(pool.watchers, [self.block]))


def give_back(pool: Pool, blocks: Iterable[BlockId]) -> tuple[Pool, list[BlockId]]:
    """The pool with these references gone, and the blocks that became free, each where it was named last."""
    blocks = tuple(blocks)
    dropped = {block: pool.refs[block] - times for block, times in namings(blocks).items()}
    pool = replace(pool, refs=updated(pool.refs, dropped))
    by_last_naming = reversed(dict.fromkeys(reversed(blocks)))
    return pool, [block for block in by_last_naming if pool.refs[block] == 0]
