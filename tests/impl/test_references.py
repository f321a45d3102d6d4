"""Lending, touching, releasing: counts, the order of the queue, and blocks of several pools in one call."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from blockpool.impl import BlockPool, KVCacheBlock, Request

Ids = Callable[[Any], list[int]]
Queue = Callable[[BlockPool], list[int]]


def refs(pool: BlockPool) -> list[int]:
    return [block.ref_cnt for block in pool.blocks]


def test_a_new_pool(queue_of: Queue) -> None:
    pool = BlockPool(4, True, 16)
    assert pool.blocks[0] is pool.null_block
    assert [b.is_null for b in pool.blocks] == [True, False, False, False]
    assert [b.block_id for b in pool.blocks] == [0, 1, 2, 3]
    assert all(b.pool is pool for b in pool.blocks)
    assert queue_of(pool) == [1, 2, 3]
    assert pool.get_num_free_blocks() == 3
    assert pool.medium == "GPU"
    assert pool.hash_block_size == 16
    assert pool.num_gpu_blocks == 4


@pytest.mark.parametrize("events", [False, True])
def test_blocks_are_lent_from_the_front(events: bool, ids: Ids, queue_of: Queue) -> None:
    pool = BlockPool(6, True, 2, events)
    assert pool.get_new_blocks(0) == []
    assert ids(pool.get_new_blocks(1)) == [1]
    assert ids(pool.get_new_blocks(3)) == [2, 3, 4]
    assert refs(pool) == [0, 1, 1, 1, 1, 0]
    assert queue_of(pool) == [5]


def test_usage(pool: BlockPool) -> None:
    assert pool.get_usage() == 0.0
    pool.get_new_blocks(2)
    assert pool.get_usage() == pytest.approx(0.4)
    assert pool.get_num_free_blocks() == 3
    assert BlockPool(1, True, 2).get_usage() == 0.0


def test_touch_counts_duplicates_and_skips_null(pool: BlockPool, queue_of: Queue) -> None:
    b = pool.blocks
    pool.touch([b[3], b[0], b[1], b[3]])
    assert refs(pool) == [0, 1, 0, 2, 0, 0]
    assert queue_of(pool) == [2, 4, 5]
    pool.touch((b[1],))
    pool.touch([])
    assert refs(pool) == [0, 2, 0, 2, 0, 0]


def test_release_order(pool: BlockPool, request_a: Request, queue_of: Queue) -> None:
    """Unkeyed blocks go to the front, keyed ones to the back, each batch in the order given."""
    b = pool.get_new_blocks(4)
    pool.cache_full_blocks(request_a, [b[0], b[2]], 0, 2, 2, 0)
    pool.free_blocks(reversed(b))
    assert queue_of(pool) == [4, 2, 5, 3, 1]


def test_one_call_may_give_back_several_references(pool: BlockPool, queue_of: Queue) -> None:
    one, two = pool.get_new_blocks(2)
    pool.touch([one])
    pool.free_blocks([one, two, pool.null_block, one])
    assert refs(pool) == [0] * 6
    assert queue_of(pool) == [2, 1, 3, 4, 5], "a block enters where its last reference went"


def test_releasing_one_of_two_references_keeps_the_block(pool: BlockPool, queue_of: Queue) -> None:
    (one,) = pool.get_new_blocks(1)
    pool.touch([one])
    pool.free_blocks([one])
    assert one.ref_cnt == 1
    assert queue_of(pool) == [2, 3, 4, 5]


def test_without_caching_everything_goes_to_the_front(queue_of: Queue) -> None:
    pool = BlockPool(5, False, 2)
    blocks = pool.get_new_blocks(2)
    pool.free_blocks(blocks)
    assert queue_of(pool) == [1, 2, 3, 4]
    assert pool.get_cached_block(b"d", [0]) is None
    assert pool.get_cached_block(b"d", []) == []


def test_blocks_of_several_pools_go_home(queue_of: Queue, request_a: Request) -> None:
    p, q, r = (BlockPool(4, True, 2) for _ in range(3))
    a, b = p.get_new_blocks(2), q.get_new_blocks(2)
    q.cache_full_blocks(request_a, [b[0]], 0, 1, 2, 0)
    q.touch([b[1]])
    r.free_blocks([b[1], a[1], q.null_block, b[0], r.null_block, a[0], b[1]])
    assert queue_of(p) == [2, 1, 3]
    assert refs(p) == [0, 0, 0, 0]
    assert queue_of(q) == [2, 3, 1], "b[1] unkeyed to the front, b[0] keyed to the back"
    assert refs(q) == [0, 0, 0, 0], "b[1] unkeyed to the front, b[0] keyed to the back"
    assert queue_of(r) == [1, 2, 3]


@pytest.mark.parametrize("pools", [2, 3])
def test_a_release_goes_home_while_there_are_so_many_pools(
    pools: int, queue_of: Queue, number_of_pools: Callable[[int], AbstractContextManager[None]]
) -> None:
    p, q = BlockPool(4, True, 2), BlockPool(4, True, 2)
    mine, foreign = p.get_new_blocks(1), q.get_new_blocks(1)
    with number_of_pools(pools):
        p.free_blocks([*foreign, *mine])
    assert (queue_of(p), queue_of(q)) == ([1, 2, 3], [1, 2, 3])
    assert (p.get_num_free_blocks(), q.get_num_free_blocks()) == (3, 3)


def test_watched_blocks_of_another_pool_go_to_its_back(queue_of: Queue) -> None:
    p, q = BlockPool(4, True, 2), BlockPool(4, True, 2)
    (b,) = q.get_new_blocks(1)
    q.touch([b])
    q.unpin_blocks([b], print)
    p.free_blocks([b])
    assert queue_of(q) == [2, 3, 1]


def test_writable_means_one_holder_and_no_reader(pool: BlockPool, request_a: Request) -> None:
    b = pool.get_new_blocks(4)
    pool.touch([b[1], b[3]])
    pool.cache_full_blocks(request_a, [b[2]], 0, 1, 2, 0)
    pool.unpin_blocks([b[3]], print)  # one reference left, but somebody still reads
    foreign = BlockPool(2, True, 2).get_new_blocks(1)[0]
    cases = [b[0], b[1], b[2], b[3], pool.blocks[5], pool.null_block, foreign, None]
    assert [pool.is_block_writable(x) for x in cases] == [True] + [False] * 7  # type: ignore[arg-type]


def test_blocks_compare_by_identity_and_print_flat() -> None:
    p, q = BlockPool(300, True, 2), BlockPool(300, True, 2)
    assert p.blocks[3] != q.blocks[3]
    assert p.blocks[3] == p.blocks[3]
    assert len({p.blocks[3], q.blocks[3], p.blocks[3]}) == 2
    assert repr(p.blocks[3]) == "KVCacheBlock(block_id=3, ref_cnt=0, key=None, queued=True)"
    assert not hasattr(p.blocks[3], "__dict__")
    assert repr(p) == "BlockPool(300 blocks, 299 free, 0 keys)"


def test_the_key_of_a_block_cannot_be_set() -> None:
    block = BlockPool(2, True, 2).blocks[1]
    with pytest.raises(AttributeError):
        block.block_hash = b"k"  # type: ignore[misc]
    public = {name for name in dir(KVCacheBlock) if not name.startswith("_")}
    assert public == {
        "block_id",
        "ref_cnt",
        "pool",
        "prev_free_block",
        "next_free_block",
        "block_hash",
        "block_hash_num_tokens",
        "is_null",
    }


class Collector:
    def __init__(self) -> None:
        self.log: list[tuple[str, int]] = []

    def on_block_allocated(self, block: KVCacheBlock) -> None:
        self.log.append(("allocated", block.block_id))

    def on_block_accessed(self, block: KVCacheBlock) -> None:
        self.log.append(("accessed", block.block_id))

    def on_block_evicted(self, block: KVCacheBlock) -> None:
        self.log.append(("evicted", block.block_id))

    def reset(self) -> None:
        self.log.append(("reset", -1))


def test_metrics_count_evictions_of_cached_blocks_only(request_a: Request) -> None:
    collector = Collector()
    pool = BlockPool(3, True, 2, metrics_collector=collector)
    b = pool.get_new_blocks(2)
    pool.cache_full_blocks(request_a, b, 0, 1, 2, 0)
    pool.touch([b[0], pool.null_block])
    pool.free_blocks([b[0], b[0], b[1]])
    pool.get_new_blocks(2)
    pool.evict_blocks({0, 1, 2})
    pool.cache_full_blocks(request_a, b, 0, 1, 2, 0)
    pool.evict_blocks({1, 2})
    pool.free_blocks(b)
    assert pool.reset_prefix_cache()
    allocated = [("allocated", 1), ("allocated", 2)]
    evicted, again = [("evicted", 1)], [("allocated", 2), ("allocated", 1)]
    assert collector.log == [*allocated, ("accessed", 1), *evicted, *again, *evicted, ("reset", -1)]
