"""Shared by the tests of `impl`: small pools and requests, and a picture of a whole pool."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from blockpool.impl import BlockPool, KVCacheBlock, Request, checks

UNIT = 2


def picture_of(pool: BlockPool) -> dict[str, Any]:
    """Everything a call may change, by value: counts, both directions of the queue, keys, index, watchers, events."""
    queue = pool.free_block_queue
    backward = []
    node = queue.fake_free_list_tail.prev_free_block
    while node is not None and node.block_id >= 0:
        backward.append(node.block_id)
        node = node.prev_free_block
    index = pool.cached_block_hash_to_block
    return {
        "refs": [block.ref_cnt for block in pool.blocks],
        "forward": [block.block_id for block in queue.get_all_free_blocks()],
        "backward": backward,
        "counter": queue.num_free_blocks,
        "linked": [(b.prev_free_block is None, b.next_free_block is None) for b in pool.blocks],
        "keys": [(pool.keys_of(block), block.block_hash_num_tokens) for block in pool.blocks],
        "index": [(key, [block.block_id for block in index.blocks(*key)]) for key in index],
        "watchers": [(block.block_id, list(told)) for block, told in pool._watchers.items()],
        "events": [repr(event) for event in pool.kv_event_queue],
        "telling": pool._telling,
    }


@pytest.fixture
def picture() -> Callable[[BlockPool], dict[str, Any]]:
    return picture_of


@pytest.fixture
def number_of_pools() -> Callable[[int], AbstractContextManager[None]]:
    """Pretend that there are so many pools, whatever tests before have left behind."""

    @contextmanager
    def pretend(number: int) -> Iterator[None]:
        gc.collect()  # so that none of those is counted out meanwhile
        change = number - checks.num_pools
        checks.num_pools += change
        try:
            yield
        finally:
            checks.num_pools -= change

    return pretend


@pytest.fixture
def pool() -> BlockPool:
    """Blocks 1 to 5 can be lent; hash unit of two tokens; events on."""
    return BlockPool(6, True, UNIT, enable_kv_cache_events=True)


@pytest.fixture
def request_a() -> Request:
    """Eight tokens, 10 to 17: four hash units."""
    return Request("a", range(10, 18), UNIT)


@pytest.fixture
def request_b() -> Request:
    """Differs from request_a in the first token."""
    return Request("b", [99, *range(11, 18)], UNIT)


@pytest.fixture
def ids() -> Callable[[Any], list[int]]:
    def block_ids(blocks: list[KVCacheBlock]) -> list[int]:
        return [block.block_id for block in blocks]

    return block_ids


@pytest.fixture
def queue_of() -> Callable[[BlockPool], list[int]]:
    def free_ids(pool: BlockPool) -> list[int]:
        return [block.block_id for block in pool.free_block_queue.get_all_free_blocks()]

    return free_ids
