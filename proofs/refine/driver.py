"""The driver: an action of the spec as a call of `impl.BlockPool`, and what came of it in the words of the spec."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from blockpool.impl import checks
from blockpool.impl.block import KVCacheBlock
from blockpool.impl.errors import Refusal, WatcherErrors
from blockpool.proofs.refine.abstraction import abstract, events_of
from blockpool.proofs.refine.correspondence import Bell, BrokenPoolError, Names
from blockpool.proofs.refine.lift import lift
from blockpool.spec import (
    Action,
    BlockId,
    CacheFullBlocks,
    CachePartialBlock,
    CancelWatch,
    EvictBlocks,
    FreeBlocks,
    GetCachedBlock,
    GetNewBlocks,
    GetNumFreeBlocks,
    GetUsage,
    Handed,
    IsBlockWritable,
    MoveBlockHashes,
    Pool,
    ResetDone,
    ResetPrefixCache,
    TakeEvents,
    Touch,
    UnpinBlocks,
    Watcher,
)


@dataclass(frozen=True, slots=True)
class Refused:
    """The pool refused, for this reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The pool answered."""

    answer: Any


class _WatcherFailedError(Exception):
    """What a watcher raises in a test of watchers that raise."""


class Subject:
    """A pool of `impl` under test, and the names to speak of it in the words of the spec."""

    def __init__(self, state: Pool, names: Names, *, raising: bool = False) -> None:
        self.names = names
        self.raising = raising  # do watchers raise when they are told?
        self.seen_inside: list[Pool] = []  # the states that watchers saw when they were told
        self._rung: list[tuple[BlockId, Watcher]] = []
        self._bells: dict[Watcher, Bell] = {}
        self.pool = lift(state, names, self._bell)

    def put_into(self, state: Pool) -> None:
        """Put the same pool into another state of the same size and settings."""
        lift(state, self.names, self._bell, self.pool)

    def state(self) -> Pool:
        """The state of the spec the pool is in now. Raises BrokenPoolError."""
        return abstract(self.pool, self.names)

    def take(self, action: Action[Any]) -> Refused | Answered:
        """Make the call. Exceptions that are no refusals pass: they are findings."""
        self._rung.clear()
        self.seen_inside.clear()
        others = checks.num_pools - 1 if self.names.alone else 0
        checks.num_pools -= others
        try:
            return Answered(_CALLS[type(action)](self, action))
        except Refusal as refusal:
            return Refused(refusal.reason)
        finally:
            checks.num_pools += others

    def told(self) -> frozenset[tuple[BlockId, Watcher]]:
        """Who was told in the last call."""
        if len(set(self._rung)) != len(self._rung):
            raise BrokenPoolError(f"a watcher was told twice: {self._rung}")
        return frozenset(self._rung)

    def block(self, block: BlockId) -> KVCacheBlock:
        """The block of the pool with this number; a foreign one if it has none."""
        return self.pool.blocks[block] if 0 <= block < len(self.pool.blocks) else self.names.stranger

    def blocks(self, blocks: tuple[BlockId, ...]) -> list[KVCacheBlock]:
        return [self.block(block) for block in blocks]

    def _bell(self, watcher: Watcher) -> Bell:
        if watcher not in self._bells:
            self._bells[watcher] = Bell(watcher, self._rung, self._look)
        return self._bells[watcher]

    def _look(self) -> None:
        self.seen_inside.append(self.state())
        if self.raising:
            raise _WatcherFailedError

    def _finished(self, call: Callable[[], Any]) -> Any:
        """The result of a call that tells watchers: it finishes and reports all failures together, if they raise."""
        try:
            result = call()
        except WatcherErrors as failed:
            if len(failed.errors) != len(self._rung) or not self.raising:
                raise BrokenPoolError(
                    f"{len(self._rung)} watchers raised, {len(failed.errors)} are reported"
                ) from failed
            return failed.result
        if self.raising and self._rung:
            raise BrokenPoolError("watchers raised, and nothing is reported")
        return result

    # --- the calls ---

    def get_new_blocks(self, action: GetNewBlocks) -> Handed:
        blocks = self._finished(lambda: self.pool.get_new_blocks(action.count))
        return Handed(tuple(BlockId(block.block_id) for block in blocks), self.told())

    def touch(self, action: Touch) -> None:
        return self.pool.touch(self.blocks(action.blocks))

    def free_blocks(self, action: FreeBlocks) -> None:
        names, blocks = self.names, self.blocks(action.blocks)
        # free_blocks would give a stranger back to the pool that owns it, which is right but not this action.
        return self.pool.free_blocks(
            [names.orphan if block is names.stranger and isinstance(block, KVCacheBlock) else block for block in blocks]
        )

    def unpin_blocks(self, action: UnpinBlocks) -> None:
        return self.pool.unpin_blocks(self.blocks(action.blocks), self._bell(action.watcher))

    def cancel_watch(self, action: CancelWatch) -> bool:
        return self.pool.cancel_watch(self.block(action.block), self._bell(action.watcher))

    def cache_full_blocks(self, action: CacheFullBlocks) -> None:
        return self.pool.cache_full_blocks(
            self.names.request(action.prefix),
            self.blocks(action.blocks),
            action.num_cached,
            action.num_full,
            action.block_size,
            action.group,
            None if action.mask is None else list(action.mask),
        )

    def cache_partial_block(self, action: CachePartialBlock) -> Any:
        key = self.pool.cache_partial_block(
            self.names.request(action.prefix),
            self.block(action.block),
            action.num_tokens,
            action.group,
            action.block_size,
            action.replace_existing,
        )
        return None if key is None else self.names.key(key[:-4], int.from_bytes(key[-4:], "big"))

    def move_block_hashes(self, action: MoveBlockHashes) -> None:
        return self.pool.move_block_hashes(self.block(action.source), self.block(action.target))

    def evict_blocks(self, action: EvictBlocks) -> None:
        return self.pool.evict_blocks(set(action.blocks))

    def reset_prefix_cache(self, action: ResetPrefixCache) -> ResetDone:
        return ResetDone(self._finished(self.pool.reset_prefix_cache), self.told())

    def get_cached_block(self, action: GetCachedBlock) -> tuple[BlockId, ...] | None:
        found = self.pool.get_cached_block(self.names.digest(action.prefix), list(action.groups))
        return None if found is None else tuple(BlockId(block.block_id) for block in found)

    def is_block_writable(self, action: IsBlockWritable) -> bool:
        return self.pool.is_block_writable(self.block(action.block))

    def get_num_free_blocks(self, action: GetNumFreeBlocks) -> int:
        return self.pool.get_num_free_blocks()

    def get_usage(self, action: GetUsage) -> float:
        return self.pool.get_usage()

    def take_events(self, action: TakeEvents) -> Any:
        return events_of(self.pool.take_events(), self.names)


_CALLS: dict[type[Action[Any]], Callable[[Subject, Any], Any]] = {
    GetNewBlocks: Subject.get_new_blocks,
    Touch: Subject.touch,
    FreeBlocks: Subject.free_blocks,
    UnpinBlocks: Subject.unpin_blocks,
    CancelWatch: Subject.cancel_watch,
    CacheFullBlocks: Subject.cache_full_blocks,
    CachePartialBlock: Subject.cache_partial_block,
    MoveBlockHashes: Subject.move_block_hashes,
    EvictBlocks: Subject.evict_blocks,
    ResetPrefixCache: Subject.reset_prefix_cache,
    GetCachedBlock: Subject.get_cached_block,
    IsBlockWritable: Subject.is_block_writable,
    GetNumFreeBlocks: Subject.get_num_free_blocks,
    GetUsage: Subject.get_usage,
    TakeEvents: Subject.take_events,
}
