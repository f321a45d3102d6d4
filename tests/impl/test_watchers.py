"""unpin_blocks and its callbacks: who is told what, when, and what a callback may and may not do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from blockpool.impl import BlockPool, KVCacheBlock, ReEntrant, Refusal, Request, WatcherErrors

Picture = Callable[[BlockPool], dict[str, Any]]
Queue = Callable[[BlockPool], list[int]]


@pytest.fixture(params=[True, False], ids=["events", "quiet"])
def pool(request: pytest.FixtureRequest) -> BlockPool:
    """With and without events: events alone already send most calls the careful way."""
    return BlockPool(6, True, 2, enable_kv_cache_events=request.param)


class Reader:
    """Two of the same name are equal, as two reads of a bound method are."""

    def __init__(self, name: str, log: list[tuple[str, int]]) -> None:
        self.name, self.log = name, log

    def done(self, block: KVCacheBlock) -> None:
        self.log.append((self.name, block.block_id))


def test_each_watcher_is_told_once_in_order_of_registration(pool: BlockPool) -> None:
    log: list[tuple[str, int]] = []
    r, s = Reader("r", log), Reader("s", log)
    blocks = pool.get_new_blocks(2)
    pool.touch([blocks[0], *blocks])
    pool.unpin_blocks(blocks, s.done)
    pool.unpin_blocks([blocks[0], blocks[0], blocks[1]], r.done)  # r twice on block 1: one watcher
    assert log == []
    pool.get_new_blocks(5)
    assert log == [("s", 1), ("r", 1), ("s", 2), ("r", 2)]
    pool.free_blocks(blocks)
    pool.get_new_blocks(2)
    assert len(log) == 4, "told once"


def test_unpinned_blocks_go_to_the_back_in_order(pool: BlockPool, request_a: Request, queue_of: Queue) -> None:
    blocks = pool.get_new_blocks(3)
    pool.cache_full_blocks(request_a, blocks, 0, 1, 2, 0)
    pool.touch([blocks[2]])
    pool.unpin_blocks([blocks[2], blocks[1], blocks[2], blocks[0]], print)
    assert queue_of(pool) == [4, 5, 2, 3, 1]


def test_a_shared_block_is_watched_while_held_and_then_released_to_the_back(pool: BlockPool, queue_of: Queue) -> None:
    log: list[int] = []
    (block,) = pool.get_new_blocks(1)
    pool.touch([block])
    pool.unpin_blocks([block], lambda b: log.append(b.block_id))
    assert block.ref_cnt == 1
    assert not pool.is_block_writable(block)
    pool.free_blocks([block])
    assert queue_of(pool) == [2, 3, 4, 5, 1], "watched, hence to the back although unkeyed"
    pool.get_new_blocks(4)
    assert log == []
    pool.get_new_blocks(1)
    assert log == [1]


def test_touch_keeps_watchers(pool: BlockPool) -> None:
    log: list[int] = []
    (block,) = pool.get_new_blocks(1)
    pool.unpin_blocks([block], lambda b: log.append(b.block_id))
    pool.touch([block])
    pool.free_blocks([block])
    assert log == []
    pool.get_new_blocks(5)
    assert log == [1]


def test_cancel_watch(pool: BlockPool, queue_of: Queue) -> None:
    log: list[tuple[str, int]] = []
    r, s = Reader("r", log), Reader("s", log)
    (block,) = pool.get_new_blocks(1)
    pool.touch([block])
    pool.unpin_blocks([block], r.done)
    pool.unpin_blocks([block], s.done)
    assert pool.cancel_watch(block, r.done) is True
    assert pool.cancel_watch(block, r.done) is False
    assert pool.cancel_watch(pool.null_block, r.done) is False
    assert queue_of(pool) == [2, 3, 4, 5, 1], "its place stays"
    pool.get_new_blocks(5)
    assert log == [("s", 1)]
    pool.touch([block])
    pool.unpin_blocks([block], r.done)
    assert pool.cancel_watch(block, r.done)
    assert pool.is_block_writable(block)


def test_only_watchers_of_the_blocks_handed_out_are_told(pool: BlockPool) -> None:
    log: list[int] = []
    blocks = pool.get_new_blocks(5)
    pool.unpin_blocks(blocks, lambda b: log.append(b.block_id))
    pool.get_new_blocks(2)
    assert log == [1, 2]


def test_inside_a_callback_the_pool_is_as_before_the_call(
    pool: BlockPool, request_a: Request, picture: Picture
) -> None:
    seen: list[Any] = []

    def look(block: KVCacheBlock) -> None:
        view = picture(pool)
        view.pop("telling")
        hit = pool.get_cached_block(request_a.block_hashes[0], [0])
        seen.append((view, hit, pool.get_num_free_blocks(), pool.get_usage(), pool.is_block_writable(block)))

    blocks = pool.get_new_blocks(2)
    pool.cache_full_blocks(request_a, blocks, 0, 2, 2, 0)
    pool.unpin_blocks(blocks, look)
    before = picture(pool)
    before.pop("telling")
    pool.get_new_blocks(5)
    assert seen == [(before, [blocks[0]], 5, 0.0, False)] * 2


MUTATORS: dict[str, Callable[[BlockPool, Request, list[KVCacheBlock]], Any]] = {
    "get_new_blocks": lambda p, r, b: p.get_new_blocks(1),
    "get_new_blocks(0)": lambda p, r, b: p.get_new_blocks(0),
    "touch": lambda p, r, b: p.touch([b[0]]),
    "touch nothing": lambda p, r, b: p.touch([]),
    "free_blocks": lambda p, r, b: p.free_blocks([b[2]]),
    "free_blocks through another pool": lambda p, r, b: BlockPool(2, True, 2).free_blocks([b[2]]),
    "unpin_blocks": lambda p, r, b: p.unpin_blocks([b[2]], print),
    "cancel_watch": lambda p, r, b: p.cancel_watch(b[0], print),
    "cache_full_blocks": lambda p, r, b: p.cache_full_blocks(r, [b[2]], 0, 1, 2, 0),
    "cache_partial_block": lambda p, r, b: p.cache_partial_block(r, b[2], 2, 0, 2),
    "move_block_hashes": lambda p, r, b: p.move_block_hashes(b[0], b[2]),
    "evict_blocks": lambda p, r, b: p.evict_blocks({1}),
    "reset_prefix_cache": lambda p, r, b: p.reset_prefix_cache(),
    "take_events": lambda p, r, b: p.take_events(),
    "emit_cached_block_events": lambda p, r, b: p.emit_cached_block_events(r, 1, 2, 0),
}


@pytest.mark.parametrize("mutate", MUTATORS.values(), ids=MUTATORS.keys())
def test_a_callback_cannot_change_the_pool(
    mutate: Callable[[BlockPool, Request, list[KVCacheBlock]], Any],
    pool: BlockPool,
    request_a: Request,
    picture: Picture,
) -> None:
    outcome: list[Any] = []

    def meddle(block: KVCacheBlock) -> None:
        before = picture(pool)
        try:
            mutate(pool, request_a, blocks)
        except Refusal as refusal:
            outcome.append((refusal.reason, isinstance(refusal, RuntimeError), picture(pool) == before))

    blocks = pool.get_new_blocks(3)
    pool.cache_full_blocks(request_a, blocks, 1, 2, 2, 0)  # so that the shortcut is prepared
    pool.unpin_blocks(blocks[:2], meddle)
    pool.get_new_blocks(4)
    assert outcome == [("re-entrant", True, True)] * 2
    assert pool.get_num_free_blocks() == 0
    pool.free_blocks(blocks)  # and afterwards all is usable again
    assert pool.get_num_free_blocks() == 3


def test_another_pool_may_be_changed_from_a_callback(pool: BlockPool) -> None:
    other = BlockPool(4, True, 2)
    (block,) = pool.get_new_blocks(1)
    pool.unpin_blocks([block], lambda b: other.get_new_blocks(2) and None)
    pool.get_new_blocks(5)
    assert other.get_num_free_blocks() == 1


def test_a_block_is_watched_until_its_last_watcher_is_told_or_withdrawn(pool: BlockPool) -> None:
    blocks = pool.get_new_blocks(2)
    pool.touch([blocks[1]])
    assert [pool.is_watched(block) for block in pool.blocks] == [False] * 6
    pool.unpin_blocks(blocks, print)
    pool.unpin_blocks([blocks[1]], repr)
    assert [pool.is_watched(block) for block in blocks] == [True, True]
    pool.cancel_watch(blocks[1], print)
    assert pool.is_watched(blocks[1])
    pool.cancel_watch(blocks[1], repr)
    assert [pool.is_watched(block) for block in blocks] == [True, False]
    pool.get_new_blocks(5)
    assert not pool.is_watched(blocks[0])


def test_callbacks_that_raise_do_not_stop_the_call(pool: BlockPool, request_a: Request) -> None:
    log: list[int] = []

    def fail(block: KVCacheBlock) -> None:
        log.append(block.block_id)
        raise ValueError(block.block_id)

    blocks = pool.get_new_blocks(3)
    pool.cache_full_blocks(request_a, blocks, 0, 3, 2, 0)
    pool.unpin_blocks(blocks, fail)
    pool.take_events()
    with pytest.raises(RuntimeError) as caught:
        pool.get_new_blocks(5)
    error = caught.value
    assert isinstance(error, WatcherErrors)
    assert not isinstance(error, Refusal)
    assert log == [1, 2, 3]
    assert [e.args for e in error.errors] == [(1,), (2,), (3,)]
    assert [b.block_id for b in error.result] == [4, 5, 1, 2, 3]
    assert all(b.ref_cnt == 1 for b in error.result)
    assert len(pool.take_events()) == (3 if pool.enable_kv_cache_events else 0)
    assert len(pool.cached_block_hash_to_block) == 0
    pool.free_blocks(error.result)
    pool.get_new_blocks(5)
    assert log == [1, 2, 3], "told, though they raised"


def test_an_uncaught_re_entrant_call_is_carried_too(pool: BlockPool) -> None:
    (block,) = pool.get_new_blocks(1)
    pool.unpin_blocks([block], lambda b: pool.touch([b]))
    with pytest.raises(WatcherErrors) as caught:
        pool.get_new_blocks(5)
    assert [type(e) for e in caught.value.errors] == [ReEntrant]


def test_an_interrupt_in_a_callback_goes_on_after_the_call_has_finished(pool: BlockPool) -> None:
    def interrupt(block: KVCacheBlock) -> None:
        raise KeyboardInterrupt

    blocks = pool.get_new_blocks(2)
    pool.unpin_blocks(blocks, interrupt)
    with pytest.raises(KeyboardInterrupt) as caught:
        pool.get_new_blocks(5)
    cause = caught.value.__cause__
    assert isinstance(cause, WatcherErrors)
    assert len(cause.errors) == 2
    pool.free_blocks(cause.result)
    assert pool.get_num_free_blocks() == 5


def test_reset_tells_everyone_first_and_finishes(pool: BlockPool, request_a: Request, picture: Picture) -> None:
    seen: list[Any] = []

    def fail(block: KVCacheBlock) -> None:
        seen.append((block.block_id, len(pool.cached_block_hash_to_block), list(pool.kv_event_queue)))
        raise ValueError

    blocks = pool.get_new_blocks(2)
    pool.cache_full_blocks(request_a, blocks, 0, 2, 2, 0)
    pool.unpin_blocks(blocks, fail)
    pool.take_events()
    with pytest.raises(WatcherErrors) as caught:
        pool.reset_prefix_cache()
    assert seen == [(1, 2, []), (2, 2, [])]
    assert caught.value.result is True
    after = picture(pool)
    assert after["index"] == []
    assert after["watchers"] == []
    assert after["events"] == (["AllBlocksCleared(medium='GPU')"] if pool.enable_kv_cache_events else [])


def test_reset_with_a_held_block_tells_nobody(pool: BlockPool, picture: Picture) -> None:
    log: list[int] = []
    blocks = pool.get_new_blocks(2)
    pool.unpin_blocks(blocks[:1], lambda b: log.append(b.block_id))
    before = picture(pool)
    assert pool.reset_prefix_cache() is False
    assert log == []
    assert picture(pool) == before
