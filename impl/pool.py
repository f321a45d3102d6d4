"""The block pool: lends blocks out, shares them between requests with a common prefix, and takes them back.

Shape of the hot methods: one pass through the regular case does the work while it checks. If it meets anything
irregular it is undone, exactly, and the untouched call goes the careful way, which checks all of it, then refuses or
does the work. So a refused call changes nothing, and the regular case pays for one pass.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import Any, NoReturn

from blockpool.impl import contracts, events, publish, references
from blockpool.impl.block import KVCacheBlock, NullKVCacheBlock
from blockpool.impl.checks import count_in, is_count, listed, not_while_telling, own_block
from blockpool.impl.contracts import changes_pool, promises, remembers
from blockpool.impl.errors import BadCount, BadRange
from blockpool.impl.events import AllBlocksCleared, BlockRemoved, KVCacheEvent
from blockpool.impl.free_queue import FreeKVCacheBlockQueue
from blockpool.impl.hash_index import HashIndex
from blockpool.impl.request import CacheRequest
from blockpool.impl.watchers import OnReuse, raise_watcher_errors, tell


class BlockPool:
    """`num_gpu_blocks` blocks, of which block 0 is the null block and the others can be lent.

    Args:
        num_gpu_blocks: size of the pool in blocks, at least 1.
        enable_caching: keep released blocks findable by their prefix; otherwise every cache_* call is refused.
        hash_block_size: tokens per hash unit; the block size of every group is a multiple of it.
        enable_kv_cache_events: collect KV events for take_events.
        metrics_collector: told of each allocation, hit and eviction of a cached block, after the pool has changed.
            Its methods (on_block_allocated, on_block_accessed, on_block_evicted, reset) must not raise.
        num_hash_lookahead_tokens: how many tokens behind a unit its digest also covers; events repeat them.
        medium: where the blocks live; stamped on every event.

    Not thread-safe: one scheduler drives a pool. An error is of the family in `errors.py` and says what to do.
    """

    def __init__(
        self,
        num_gpu_blocks: int,
        enable_caching: bool,
        hash_block_size: int,
        enable_kv_cache_events: bool = False,
        metrics_collector: Any = None,
        num_hash_lookahead_tokens: int = 0,
        medium: str = "GPU",
    ) -> None:
        if not is_count(num_gpu_blocks) or num_gpu_blocks == 0:
            raise BadCount("BlockPool", f"num_gpu_blocks is {num_gpu_blocks!r}; block 0 alone needs 1")
        if not is_count(hash_block_size) or hash_block_size == 0:
            raise BadRange("BlockPool", f"hash_block_size is {hash_block_size!r}, not a positive number of tokens")
        if not is_count(num_hash_lookahead_tokens):
            raise BadRange("BlockPool", f"num_hash_lookahead_tokens is {num_hash_lookahead_tokens!r}")
        count_in(self)
        self.num_gpu_blocks = num_gpu_blocks
        self.enable_caching = enable_caching
        self.hash_block_size = hash_block_size
        self.enable_kv_cache_events = enable_kv_cache_events
        self.metrics_collector = metrics_collector
        self.num_hash_lookahead_tokens = num_hash_lookahead_tokens
        self.medium = medium
        self.null_block: KVCacheBlock = NullKVCacheBlock(0, self)
        self.blocks: list[KVCacheBlock] = [self.null_block]
        self._make_blocks()
        self.cached_block_hash_to_block = HashIndex()
        self.kv_event_queue: list[KVCacheEvent] = []
        # Rare facts about blocks, kept apart so that one truth test tells a call whether any block has them.
        self._aliases: dict[KVCacheBlock, list[tuple[bytes, int]]] = {}
        self._watchers: dict[KVCacheBlock, list[OnReuse]] = {}
        self._telling = False
        # Token counts by block size: [s, 2s, ..].
        self._coverages: dict[int, list[int]] = {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A pool that was pickled exists, too: see `checks.num_pools`."""
        self.__dict__.update(state)
        count_in(self)

    def __copy__(self) -> NoReturn:
        """Refused: both would lend the same blocks. Raises: TypeError."""
        raise TypeError("a BlockPool is one piece of memory: two copies would lend the same blocks. Make another one.")

    def _make_blocks(self) -> None:
        """Make and queue the blocks that can be lent, with the garbage collector held off.

        None of them is garbage; a collector that keeps walking over a million new objects is 2/3 of the time.
        """
        collecting = gc.isenabled()
        gc.disable()
        try:
            self.blocks += [KVCacheBlock(i, self) for i in range(1, self.num_gpu_blocks)]
            self.free_block_queue = FreeKVCacheBlockQueue(self.blocks[1:])
        finally:
            if collecting:
                gc.enable()

    # ---- lending and taking back ----

    @remembers(contracts.free_count, "free")
    @promises(contracts.are_new_blocks, "distinct own blocks, one reference, no key and no watcher each")
    @promises(contracts.as_many_as_asked, "as many blocks as asked left the queue and are in the answer")
    @changes_pool
    def get_new_blocks(self, num_blocks: int) -> list[KVCacheBlock]:
        """Lend the first `num_blocks` blocks of the free queue, with one reference each and without keys. O(n).

        Watchers of these blocks are told first, while the pool still is as before the call.
        Raises: BadCount, NotEnoughFreeBlocks, ReEntrant; WatcherErrors after the call has finished.
        """
        queue = self.free_block_queue
        if (
            type(num_blocks) is not int
            or not 0 <= num_blocks <= queue.num_free_blocks
            or self._watchers  # also true while telling
            or self.metrics_collector is not None
        ):
            return references.lend(self, num_blocks)
        blocks: list[KVCacheBlock] = []
        # No block has several keys, no key several blocks? Asked once, for the tables may empty on the way.
        simple = not self._aliases and not self.cached_block_hash_to_block._later
        outbox = self.kv_event_queue if self.enable_kv_cache_events else None
        head = queue.fake_free_list_head
        block: Any = head.next_free_block
        # `popleft_n` and `drop_keys` in one: saves a second pass and a call a block. A range would make integers.
        for _ in (None,) if num_blocks == 1 else repeat(None, num_blocks):
            blocks.append(block)
            digest = block._digest
            if digest is not None:
                if simple:
                    del block._group[digest]
                    block._digest = None
                    if outbox is not None:
                        outbox.append(BlockRemoved([digest], self.medium, block._group.group_id))
                else:
                    publish.drop_keys(self, block)
            block._refs = 1
            after = block.next_free_block
            block.prev_free_block = block.next_free_block = None
            block = after
        head.next_free_block = block
        block.prev_free_block = head
        queue.num_free_blocks -= num_blocks
        return blocks

    @remembers(contracts.free_count, "free")
    @promises(contracts.named_are_held, "every named block is held")
    @promises(contracts.no_block_became_free, "no block became free")
    @changes_pool
    def touch(self, blocks: Sequence[KVCacheBlock]) -> None:
        """Take one more reference on each of `blocks`, as often as it is named; free ones leave the queue. O(n).

        Keys and watchers stay: the content is intact. The null block is skipped.

        Raises: UnknownBlock, ReEntrant.
        """
        if type(blocks) is not list:
            blocks = listed("touch", blocks)
        if self._telling or not references.take(self, blocks):
            references.refuse_to_take(self, blocks)
        if self.metrics_collector is not None:
            for block in blocks:
                if not block.is_null:
                    self.metrics_collector.on_block_accessed(block)

    @remembers(contracts.free_count, "free")
    @promises(contracts.no_block_was_lent, "no block left the queue")
    @changes_pool
    def free_blocks(self, ordered_blocks: Iterable[KVCacheBlock]) -> None:
        """Give back one reference for each time a block is named, in eviction order: earlier is reused sooner. O(n).

        A block whose last reference goes is queued: at the front if it has neither key nor watcher (nothing is lost
        by reusing it), else at the back; each batch keeps the order given. The null block is skipped. Blocks of
        other BlockPools go back to their owners, all or nothing over all pools.

        Raises: NotHeld, UnknownBlock, ReEntrant.
        """
        try:
            blocks = [*ordered_blocks]
        except TypeError:
            listed("free_blocks", ordered_blocks)
            raise
        # Watchers change the order, and while they are being told nothing may change.
        if self._watchers or not references.give_back(self, blocks):
            references.release(self, blocks)

    @remembers(contracts.free_count, "free")
    @promises(contracts.no_block_was_lent, "no block left the queue")
    @promises(contracts.named_are_watched, "on_reuse watches every named block")
    @changes_pool
    def unpin_blocks(self, blocks: Iterable[KVCacheBlock], on_reuse: OnReuse) -> None:
        """Give references back while the content is still being read; `on_reuse(block)` ends the reading. O(n).

        Each named block gains the watcher, also when others still hold it. It is told once, when the block is handed
        out again or the cache is reset. Blocks whose last reference goes are queued at the back, in order: reused
        last as of now. Several different watchers of a block are all told; equal ones once.

        Raises: NotHeld, NullBlock, UnknownBlock, BadWatcher, ReEntrant.
        """
        references.unpin(self, blocks, on_reuse)

    @promises(contracts.is_not_watching, "the watcher is gone")
    @changes_pool
    def cancel_watch(self, block: KVCacheBlock, on_reuse: OnReuse) -> bool:
        """Withdraw one watcher of `block`: whether it was registered. The block keeps its place in the queue.

        Raises: UnknownBlock, ReEntrant.
        """
        not_while_telling(self, "cancel_watch")
        watchers = self._watchers.get(own_block(self, "cancel_watch", block), [])
        if on_reuse not in watchers:
            return False
        watchers.remove(on_reuse)
        if not watchers:
            del self._watchers[block]
        return True

    # ---- publishing and dropping keys ----

    @remembers(contracts.free_count, "free")
    @promises(contracts.published_are_keyed, "each selected block covers exactly the prefix that ends with it")
    @promises(contracts.free_count_is_unchanged, "no block is lent or released")
    @changes_pool
    def cache_full_blocks(
        self,
        request: CacheRequest,
        blocks: Sequence[KVCacheBlock],
        num_cached_blocks: int,
        num_full_blocks: int,
        block_size: int,
        kv_cache_group_id: int,
        block_mask: Sequence[bool] | None = None,
    ) -> None:
        """Publish blocks[num_cached_blocks:num_full_blocks] of a request, so that lookups find them. O(n).

        Block j goes under the digest of the first (j + 1) * block_size tokens. Null blocks, and those whose entry in
        `block_mask` (one for each block of the range) is false, are left out. A shorter prefix that a block was
        published under gives way, aliases included. Only publish what has been, or is being, computed in this pass.

        Raises: CachingDisabled, BadRange, UnknownBlock, RepeatedBlock, NotHeld, AlreadyCached, ReEntrant.
        """
        try:
            if (
                block_mask is None
                and self.enable_caching
                and not self._telling
                and publish.cache_unkeyed(
                    self, request, blocks, num_cached_blocks, num_full_blocks, block_size, kv_cache_group_id
                )
            ):
                return
        except (AttributeError, IndexError, KeyError, TypeError):
            pass  # something was not of the declared type or range: the careful way says what
        publish.cache_full(
            self, request, blocks, num_cached_blocks, num_full_blocks, block_size, kv_cache_group_id, block_mask
        )

    @remembers(contracts.free_count, "free")
    @promises(contracts.is_key_of_block, "the block carries the key that is returned")
    @promises(contracts.free_count_is_unchanged, "no block is lent or released")
    @changes_pool
    def cache_partial_block(
        self,
        request: CacheRequest,
        block: KVCacheBlock,
        num_tokens: int,
        kv_cache_group_id: int,
        block_size: int,
        replace_existing_hashes: bool = False,
    ) -> bytes | None:
        """Publish `block` under the first `num_tokens` tokens of a request, which may end inside the block. O(keys).

        A prefix longer than the block's primary one replaces all its keys, a shorter one becomes an alias, a known
        one changes nothing. `replace_existing_hashes` drops all keys first: the content was overwritten.

        Returns: the key (digest and group id in one), or None for the null block, which is never published.
        Raises: CachingDisabled, BadRange, UnknownBlock, NotHeld, DifferentContent, ReEntrant.
        """
        return publish.cache_partial(
            self, request, block, num_tokens, kv_cache_group_id, block_size, replace_existing_hashes
        )

    @remembers(contracts.keys_of_source, "keys")
    @promises(contracts.keys_have_moved, "the destination has the keys that the source had, and only it")
    @changes_pool
    def move_block_hashes(self, src_block: KVCacheBlock, dst_block: KVCacheBlock) -> None:
        """Hand all keys of `src_block` to `dst_block`, which holds a copy of the content. Silent: no events. O(keys).

        Raises: UnknownBlock, NullBlock, NotHeld, AlreadyCached (of the destination), ReEntrant.
        """
        publish.move_keys(self, src_block, dst_block)

    @remembers(contracts.free_count, "free")
    @promises(contracts.named_are_unkeyed, "no named block carries a key")
    @promises(contracts.free_count_is_unchanged, "no block is lent or released")
    @changes_pool
    def evict_blocks(self, block_ids: set[int]) -> None:
        """Drop all keys of the named blocks, held or not; references, queue and watchers stay. O(len(block_ids)).

        Raises: UnknownBlock, ReEntrant.
        """
        publish.evict(self, block_ids)

    @promises(contracts.cleared_or_in_use, "true: no key or watcher is left; false: some block is held")
    @changes_pool
    def reset_prefix_cache(self) -> bool:
        """Drop every key, unless a block is held: then answer False and change nothing. O(keys + watchers).

        All watchers are told first. The queue keeps its order.

        Raises: ReEntrant; WatcherErrors after the call has finished.
        """
        call = "reset_prefix_cache"
        not_while_telling(self, call)
        if self.free_block_queue.num_free_blocks != self.num_gpu_blocks - 1:
            return False
        errors = tell(self, list(self._watchers))
        for block in self.cached_block_hash_to_block.all_blocks():
            block._digest = None
        self.cached_block_hash_to_block.clear()
        self._aliases.clear()
        if self.enable_kv_cache_events:
            self.kv_event_queue.append(AllBlocksCleared(self.medium))
        if self.metrics_collector is not None:
            self.metrics_collector.reset()
        raise_watcher_errors(call, errors, True)
        return True

    # ---- queries: they change nothing and may be asked from inside a callback ----

    @promises(contracts.answers_every_group, "one block for each group, and it carries the key")
    def get_cached_block(self, block_hash: bytes, kv_cache_group_ids: Sequence[int]) -> list[KVCacheBlock] | None:
        """One block for each group that carries the digest, or None if some group has none. O(groups).

        No reference is taken: touch the blocks before anything else is allocated.
        """
        groups = self.cached_block_hash_to_block._groups
        try:
            if len(kv_cache_group_ids) == 1:  # nearly always: saves the loop
                find = groups[kv_cache_group_ids[0]].find  # called in one go, it would be searched for as a method
                first = find(block_hash)
                return None if first is None else [first]
            found = []
            for group_id in kv_cache_group_ids:
                block = groups[group_id].find(block_hash)
                if block is None:
                    return None
                found.append(block)
        except KeyError:  # nothing was ever published in that group
            return None
        return found

    def keys_of(self, block: KVCacheBlock) -> tuple[tuple[bytes, int], ...]:
        """The keys of a block as (digest, group id): the primary first, then the aliases in order of publication."""
        digest = block._digest
        return () if digest is None else ((digest, block._group.group_id), *self._aliases.get(block, ()))

    def is_block_writable(self, block: KVCacheBlock) -> bool:
        """Whether nobody but the one holder can see the content: one reference, no key, no watcher."""
        own = getattr(block, "pool", None) is self
        return own and block.ref_cnt == 1 and block._digest is None and block not in self._watchers

    def is_watched(self, block: KVCacheBlock) -> bool:
        """Whether a watcher is still to be told before the block is reused."""
        return block in self._watchers

    def get_num_free_blocks(self) -> int:
        """Number of blocks that can be lent now, cached and watched ones included."""
        return self.free_block_queue.num_free_blocks

    def get_usage(self) -> float:
        """The share of blocks that are held, 0.0 to 1.0; 0.0 if there is nothing to lend."""
        capacity = self.num_gpu_blocks - 1
        return 1.0 - self.free_block_queue.num_free_blocks / capacity if capacity else 0.0

    # ---- events ----

    @promises(contracts.outbox_is_empty, "every event is taken once")
    def take_events(self) -> list[KVCacheEvent]:
        """The events since the last call, oldest first; always empty when events are off.

        Raises: ReEntrant.
        """
        not_while_telling(self, "take_events")
        taken, self.kv_event_queue = self.kv_event_queue, []
        return taken

    @changes_pool
    def emit_cached_block_events(
        self, request: CacheRequest, num_cached_blocks: int, block_size: int, kv_cache_group_id: int
    ) -> None:
        """Report again, as Stored, those of a request's first `num_cached_blocks` blocks that are findable. O(n).

        For consumers that want every hit; outside the bag law, since nothing was registered.

        Raises: BadRange, ReEntrant.
        """
        events.announce_hits(self, request, num_cached_blocks, block_size, kv_cache_group_id)

    def __repr__(self) -> str:
        free = self.free_block_queue.num_free_blocks
        return f"BlockPool({self.num_gpu_blocks} blocks, {free} free, {len(self.cached_block_hash_to_block)} keys)"
