"""The calls of an engine on the pool, counted and timed.

Timed is each call by itself, in both modes, so neither the engine nor the spec counts. Included is one reading of the
clock for each call, less than 0.1 microseconds.
"""

from collections import Counter
from collections.abc import Sequence
from time import perf_counter
from typing import Any

from impl.block import KVCacheBlock
from impl.events import KVCacheEvent
from impl.pool import BlockPool
from impl.request import Request
from proofs.refine.lockstep import MismatchError

GROUP = 0
"""The one group of the model."""


class Calls:
    """A pool whose calls are counted and timed. Block tables and prefixes are in tokens of the scaled model."""

    def __init__(self, blocks: int, events: bool) -> None:
        self.pool = BlockPool(blocks + 1, True, 1, enable_kv_cache_events=events)
        self.by_method: Counter[str] = Counter()
        self.number = 0  # of the latest call
        self.seconds = 0.0
        self.full_comparisons = 0
        self._method = ""

    def get_cached_block(self, sequence: Request, length: int) -> KVCacheBlock | None:
        """A block for the first `length` tokens of the sequence."""
        found = self._call("get_cached_block", sequence.block_hashes[length - 1], [GROUP])
        return found[0] if found else None

    def touch(self, blocks: list[KVCacheBlock]) -> None:
        self._call("touch", blocks)

    def get_new_blocks(self, count: int) -> list[KVCacheBlock]:
        blocks: list[KVCacheBlock] = self._call("get_new_blocks", count)
        return blocks

    def cache_full_blocks(self, sequence: Request, table: Sequence[KVCacheBlock], start: int, end: int) -> None:
        self._call("cache_full_blocks", sequence, table, start, end, 1, GROUP)

    def free_blocks(self, blocks: list[KVCacheBlock]) -> None:
        self._call("free_blocks", blocks)

    def get_num_free_blocks(self) -> int:
        count: int = self._call("get_num_free_blocks")
        return count

    def take_events(self) -> list[KVCacheEvent]:
        events: list[KVCacheEvent] = self._call("take_events")  # none if events are off
        return events

    def conclude(self) -> None:
        """No more calls follow."""

    def describe(self) -> str:
        """The latest call in words."""
        return self._method

    def _call(self, method: str, *arguments: Any) -> Any:
        self.number += 1
        self.by_method[method] += 1
        self._method = method
        bound = getattr(self.pool, method)
        start = perf_counter()
        try:
            return bound(*arguments)
        except Exception as error:
            raise MismatchError(f"it raised {type(error).__name__}: {error}") from error
        finally:
            self.seconds += perf_counter() - start
