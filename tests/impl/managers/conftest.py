"""Shared by the tests of the managers: a pool that writes down how it is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from blockpool.impl import BlockPool, KVCacheBlock

UNIT = 2
RECORDED = {
    "get_new_blocks": "new",
    "touch": "touch",
    "free_blocks": "free",
    "unpin_blocks": "unpin",
    "cache_full_blocks": "full",
    "cache_partial_block": "partial",
    "move_block_hashes": "move",
    "evict_blocks": "evict",
    "reset_prefix_cache": "reset",
}


def plain(value: Any) -> Any:
    """An argument as the log shows it: blocks by id, requests by name."""
    if isinstance(value, KVCacheBlock):
        return value.block_id
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return getattr(value, "request_id", value)


class SpyPool(BlockPool):
    """`log` lists every changing call as (name, plain arguments ..)."""

    def __init__(self, num_blocks: int, unit: int = UNIT) -> None:
        self.log: list[tuple[Any, ...]] = []
        super().__init__(num_blocks, True, unit, enable_kv_cache_events=True)


def recorded(method: str, name: str) -> Callable[..., Any]:
    def call(self: SpyPool, *args: Any) -> Any:
        args = tuple(list(arg) if method == "free_blocks" else arg for arg in args)
        self.log.append((name, *map(plain, args)))
        return getattr(BlockPool, method)(self, *args)

    return call


for _method, _name in RECORDED.items():
    setattr(SpyPool, _method, recorded(_method, _name))


@pytest.fixture
def spy() -> Callable[..., SpyPool]:
    return SpyPool


@pytest.fixture
def picture() -> Callable[[BlockPool], Any]:
    """Everything of a pool that a call may change, by value."""

    def picture_of(pool: BlockPool) -> Any:
        index = pool.cached_block_hash_to_block
        return (
            [(block.ref_cnt, pool.keys_of(block)) for block in pool.blocks],
            [block.block_id for block in pool.free_block_queue.get_all_free_blocks()],
            [(key, plain(index.blocks(*key))) for key in index],
            [(block.block_id, list(told)) for block, told in pool._watchers.items()],
            list(pool.kv_event_queue),
        )

    return picture_of
