"""The pool under the managers, its calls counted and timed.

Timed is each call by itself, in both modes, so neither the managers nor the spec count. Included is one reading of the
clock for each call, less than 0.1 microseconds.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import ParamSpec, TypeVar

from blockpool.impl.block import KVCacheBlock
from blockpool.impl.events import KVCacheEvent
from blockpool.impl.pool import BlockPool
from blockpool.impl.request import CacheRequest
from blockpool.proofs.refine.lockstep import MismatchError

GROUP = 0
"""The one group of the model."""

P = ParamSpec("P")
T = TypeVar("T")


class CountedPool(BlockPool):
    """A pool of `blocks` blocks that can be lent, with hash unit 1."""

    def __init__(self, blocks: int, events: bool) -> None:
        super().__init__(blocks + 1, True, 1, enable_kv_cache_events=events)
        self.by_method: Counter[str] = Counter()
        self.number = 0  # of the latest call
        self.seconds = 0.0
        self.full_comparisons = 0
        self.evictions = 0  # published blocks that were handed out for something else
        self.peak_used = 0
        self._published: set[KVCacheBlock] = set()  # and not handed out since
        self._method = ""

    # --- the calls ---

    def get_cached_block(self, block_hash: bytes, kv_cache_group_ids: Sequence[int]) -> list[KVCacheBlock] | None:
        return self._count("get_cached_block", super().get_cached_block, block_hash, kv_cache_group_ids)

    def touch(self, blocks: Sequence[KVCacheBlock]) -> None:
        self._count("touch", super().touch, blocks)

    def get_new_blocks(self, num_blocks: int) -> list[KVCacheBlock]:
        blocks = self._count("get_new_blocks", super().get_new_blocks, num_blocks)
        evicted = self._published.intersection(blocks)
        self._published -= evicted
        self.evictions += len(evicted)
        self.peak_used = max(self.peak_used, self.used)
        return blocks

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
        start, end, group = num_cached_blocks, num_full_blocks, kv_cache_group_id
        self._count(
            "cache_full_blocks", super().cache_full_blocks, request, blocks, start, end, block_size, group, block_mask
        )
        self._published.update(blocks[start:end])

    def evict_blocks(self, block_ids: set[int]) -> None:
        self._count("evict_blocks", super().evict_blocks, block_ids)
        self._published.difference_update([self.blocks[block_id] for block_id in block_ids])

    def free_blocks(self, ordered_blocks: Iterable[KVCacheBlock]) -> None:
        self._count("free_blocks", super().free_blocks, ordered_blocks)

    def get_num_free_blocks(self) -> int:
        return self._count("get_num_free_blocks", super().get_num_free_blocks)

    def take_events(self) -> list[KVCacheEvent]:
        return self._count("take_events", super().take_events)  # none if events are off

    # --- around them ---

    @property
    def used(self) -> int:
        """Blocks that are held."""
        return self.num_gpu_blocks - 1 - self.free_block_queue.num_free_blocks

    def will_ask_about(self, request: CacheRequest) -> None:
        """The lookups that follow are for prefixes of this request."""

    def conclude(self) -> None:
        """No more calls follow."""

    def describe(self) -> str:
        """The latest call in words."""
        return self._method

    def words_for(self, error: Exception) -> str:
        """What it means that the latest call raised this."""
        return f"it raised {type(error).__name__}: {error}"

    def _count(self, method: str, bound: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        self.number += 1
        self.by_method[method] += 1
        self._method = method
        start = perf_counter()
        try:
            return bound(*arguments, **named)
        except Exception as error:
            raise MismatchError(self.words_for(error)) from error
        finally:
            self.seconds += perf_counter() - start
