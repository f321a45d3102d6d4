"""The short cuts of the hot paths: they are taken, and end where the careful ways end."""

from __future__ import annotations

import dataclasses
import gc
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from blockpool.impl import (
    AllBlocksCleared,
    BlockPool,
    BlockRemoved,
    BlockStored,
    CacheRequest,
    Item,
    KVCacheBlock,
    Refusal,
    Request,
    publish,
    references,
)

Picture = Callable[[BlockPool], dict[str, Any]]
NumberOfPools = Callable[[int], AbstractContextManager[None]]
Script = Callable[[BlockPool, list[KVCacheBlock]], object]

A, B, C = Request("a", range(8), 2), Request("b", [9, *range(1, 8)], 2), Request("c", range(20, 36), 2)


def careful(*_: object) -> None:
    raise AssertionError("the careful way was taken")


def prepared(events: bool) -> tuple[BlockPool, list[KVCacheBlock]]:
    """Blocks 1 to 6 are held; 6 is published, and the tables for blocks of 2 and 4 tokens are there."""
    pool = BlockPool(9, True, 2, enable_kv_cache_events=events)
    blocks = pool.get_new_blocks(6)
    first = Request("first", range(50, 58), 2)
    pool.cache_full_blocks(first, [*blocks[5:], *blocks[4:5]], 0, 2, 2, 0)
    pool.evict_blocks({blocks[4].block_id})
    pool.cache_full_blocks(first, blocks[3:5], 0, 2, 4, 0)
    pool.evict_blocks({block.block_id for block in blocks[3:5]})
    pool.take_events()
    return pool, blocks


PUBLISHING: list[tuple[str, Script]] = [
    ("one", lambda p, b: p.cache_full_blocks(A, b, 0, 1, 2, 0)),
    ("one later", lambda p, b: p.cache_full_blocks(A, b, 2, 3, 2, 0)),
    ("two", lambda p, b: p.cache_full_blocks(A, b, 0, 2, 2, 0)),
    ("all of the table", lambda p, b: p.cache_full_blocks(A, b[:2], 0, 2, 2, 0)),
    ("up to the last digest", lambda p, b: p.cache_full_blocks(A, b, 1, 4, 2, 0)),
    ("two units", lambda p, b: p.cache_full_blocks(A, b, 0, 2, 4, 0)),
    ("later ones of two units", lambda p, b: p.cache_full_blocks(C, b, 1, 4, 4, 0)),
    ("second of two units", lambda p, b: p.cache_full_blocks(A, b, 1, 2, 4, 0)),
    ("copies", lambda p, b: [p.cache_full_blocks(A, b[i:], 0, 2, 2, 0) for i in (0, 2)]),
    ("two requests", lambda p, b: [p.cache_full_blocks(r, b[i:], 0, 2, 2, 0) for r, i in ((A, 0), (B, 2))]),
    ("going on", lambda p, b: [p.cache_full_blocks(A, b, i, i + 1, 2, 0) for i in range(4)]),
]


@pytest.mark.parametrize("pools", [1, 2, 3])
@pytest.mark.parametrize("events", [True, False], ids=["events", "quiet"])
@pytest.mark.parametrize("script", [script for _, script in PUBLISHING], ids=[name for name, _ in PUBLISHING])
def test_regular_publishing(
    script: Script,
    events: bool,
    pools: int,
    picture: Picture,
    number_of_pools: NumberOfPools,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool, blocks = prepared(events)
    twin, other = prepared(events)
    with monkeypatch.context() as slow:
        slow.setattr(publish, "cache_unkeyed", lambda *_: False)
        script(twin, other)
    monkeypatch.setattr(publish, "cache_full", careful)
    with number_of_pools(pools):
        script(pool, blocks)
    assert picture(pool) == picture(twin)
    assert picture(pool)["index"]


def test_a_range_that_ends_before_it_begins_publishes_nothing(picture: Picture) -> None:
    pool, blocks = prepared(False)
    before = picture(pool)
    for first, end in ((1, 0), (2, 1), (1, 1)):
        pool.cache_full_blocks(A, blocks, first, end, 2, 0)
    assert picture(pool) == before


def test_while_there_is_one_pool_nobody_asks_whose_a_block_is(
    number_of_pools: NumberOfPools, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool, blocks = prepared(False)
    for module in (references, publish):
        monkeypatch.setattr(module, "any_foreign", careful)
    with number_of_pools(1):
        pool.touch(blocks)
        pool.free_blocks(blocks)
        pool.cache_full_blocks(A, blocks, 0, 2, 2, 0)
    with number_of_pools(2):
        calls: list[Callable[[], object]] = [
            lambda: pool.touch(blocks),
            lambda: pool.free_blocks(blocks),
            lambda: pool.cache_full_blocks(B, blocks[2:4], 0, 2, 2, 0),
        ]
        for call in calls:
            with pytest.raises(AssertionError, match="careful way"):
                call()


def test_null_blocks_are_left_out_on_the_way(picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    pool, blocks = prepared(False)
    monkeypatch.setattr(publish, "cache_full", careful)
    pool.cache_full_blocks(A, [blocks[0], pool.null_block, blocks[1]], 0, 3, 2, 0)
    assert [block.block_hash_num_tokens for block in blocks[:2]] == [2, 6]
    assert pool.keys_of(pool.null_block) == ()


@pytest.mark.parametrize("events", [True, False], ids=["events", "quiet"])
@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_regular_allocation(events: bool, count: int, picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    def three_free() -> BlockPool:
        pool, blocks = prepared(events)
        pool.cache_full_blocks(A, blocks, 0, 2, 2, 0)
        pool.get_new_blocks(2)
        pool.free_blocks([blocks[1], blocks[0], blocks[2]])  # in the queue: 3, 2, 1
        pool.take_events()
        return pool

    pool, twin = three_free(), three_free()
    slow = references.lend(twin, count)
    monkeypatch.setattr(references, "lend", careful)
    monkeypatch.setattr(publish, "drop_keys", careful)  # no block has two keys, no key two blocks
    assert [block.block_id for block in pool.get_new_blocks(count)] == [block.block_id for block in slow]
    assert picture(pool) == picture(twin)


def test_a_removal_names_digest_medium_and_group() -> None:
    pool = BlockPool(2, True, 2, enable_kv_cache_events=True, medium="HBM")
    blocks = pool.get_new_blocks(1)
    pool.cache_full_blocks(A, blocks, 0, 1, 2, 3)
    pool.free_blocks(blocks)
    pool.take_events()
    pool.get_new_blocks(1)
    assert pool.take_events() == [BlockRemoved([A.block_hashes[0]], "HBM", 3)]


@pytest.mark.parametrize("pools", [1, 2, 3])
def test_regular_release(
    pools: int, picture: Picture, number_of_pools: NumberOfPools, monkeypatch: pytest.MonkeyPatch
) -> None:
    (pool, blocks), (twin, others) = prepared(False), prepared(False)
    batch = [0, 5, 0, 2, 4]
    for each, own in ((pool, blocks), (twin, others)):
        each.touch([own[0], own[1]])
    with monkeypatch.context() as slow:
        slow.setattr(references, "give_back", lambda *_: False)
        twin.free_blocks([twin.null_block, *(others[place] for place in batch)])
    monkeypatch.setattr(references, "release", careful)
    with number_of_pools(pools):
        pool.free_blocks([pool.null_block, *(blocks[place] for place in batch)])
    assert picture(pool) == picture(twin)
    assert pool.get_num_free_blocks() == 6


NULL = -1
MIXED = [
    [2, 1],  # own, shared
    [1, 2],
    [5, 1, 4, 0],  # own, shared, own, shared
    [1, 1, 2],  # all references of one block
    [1, 5, 1, 2],
    [NULL, 2, NULL, NULL, 1, NULL, 3],
    [1, 0, NULL],
    [1, 0, 1, 0, 1],
]


@pytest.mark.parametrize("batch", MIXED)
def test_a_release_in_any_order_takes_the_short_cut(
    batch: list[int], picture: Picture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (pool, blocks), (twin, others) = prepared(False), prepared(False)
    for each, own in ((pool, blocks), (twin, others)):
        each.touch([own[0], own[1], own[1]])
        own.append(each.null_block)  # at NULL
    references.release(twin, [others[place] for place in batch])
    monkeypatch.setattr(references, "release", careful)
    pool.free_blocks([blocks[place] for place in batch])
    assert picture(pool) == picture(twin)


@pytest.mark.parametrize("batch", MIXED)
def test_a_release_is_undone_wherever_it_stops(batch: list[int], picture: Picture) -> None:
    pool, blocks = prepared(False)
    pool.touch([blocks[0], blocks[1], blocks[1]])
    [freed] = pool.get_new_blocks(1)
    pool.free_blocks([freed])
    blocks.append(pool.null_block)
    before = picture(pool)
    for stop in range(len(batch) + 1):
        for wrong in (freed, None):
            mixed: list[Any] = [blocks[place] for place in batch]
            mixed.insert(stop, wrong)
            assert not references.give_back(pool, mixed)
            assert picture(pool) == before


@pytest.mark.parametrize("batch", [[], [2], [2, 0, 1], [1, 5, 5, 0, 2, 3, 4]])
def test_release_into_an_empty_queue(batch: list[int], picture: Picture, monkeypatch: pytest.MonkeyPatch) -> None:
    (pool, blocks), (twin, others) = prepared(False), prepared(False)
    for each, own in ((pool, blocks), (twin, others)):
        own.extend(each.get_new_blocks(each.get_num_free_blocks()))
        each.cache_full_blocks(A, own, 0, 2, 2, 0)
        each.touch([own[5]])
        assert each.get_num_free_blocks() == 0
    references.release(twin, [others[place] for place in batch])
    monkeypatch.setattr(references, "release", careful)
    pool.free_blocks([blocks[place] for place in batch])
    assert picture(pool) == picture(twin)
    assert pool.get_num_free_blocks() == len(set(batch))


def test_a_refused_release_leaves_an_empty_queue_empty(picture: Picture) -> None:
    pool, blocks = prepared(False)
    blocks += pool.get_new_blocks(pool.get_num_free_blocks())
    before = picture(pool)
    gone: Any = weakref.proxy(BlockPool(2, True, 2))  # raises an error of its own when it is looked at
    gc.collect()
    for wrong in ([blocks[0], blocks[0]], [blocks[1], None]):
        with pytest.raises(Refusal):
            pool.free_blocks(wrong)
        assert picture(pool) == before
    with pytest.raises(ReferenceError):
        pool.free_blocks([blocks[0], gone])
    assert picture(pool) == before
    with pytest.raises(ReferenceError):
        pool.touch([blocks[0], gone])
    assert picture(pool) == before


# --- what events say ---


class Plain:
    """A request as an engine may have it: its digests in a tuple, its adapter under another name."""

    request_id = "plain"
    block_hashes = tuple(A.block_hashes)
    all_token_ids = tuple(range(8))
    lora_request = type("Adapter", (), {"adapter_id": 7, "name": "seven"})()


class Nameless(Plain):
    lora_request = object()


def stored_by(request: CacheRequest, pool: BlockPool, end: int = 2) -> BlockStored:
    pool.cache_full_blocks(request, pool.get_new_blocks(end), 0, end, 2, 0)
    [event] = pool.take_events()
    assert isinstance(event, BlockStored)
    return event


def test_an_event_has_lists_of_its_own_and_the_adapter(pool: BlockPool) -> None:
    event = stored_by(Plain(), pool)  # type: ignore[arg-type]
    assert (event.lora_id, event.lora_name) == (7, "seven")
    assert (event.block_hashes, event.token_ids) == (A.block_hashes[:2], [0, 1, 2, 3])


@pytest.mark.parametrize("short", [True, False], ids=["short cut", "careful"])
def test_a_parent_that_is_no_digest_is_not_named(short: bool) -> None:
    pool, blocks = prepared(True)
    request: Any = Plain()
    request.block_hashes = ([1], *A.block_hashes[1:])
    pool.cache_full_blocks(request, blocks, 1, 2, 2, 0, None if short else [True])
    [event] = pool.take_events()
    assert isinstance(event, BlockStored)
    assert (event.block_hashes, event.parent_block_hash) == ([A.block_hashes[1]], None)
    assert pool.keys_of(blocks[1]) == ((A.block_hashes[1], 0),)


def test_an_adapter_without_name_is_no_error(pool: BlockPool) -> None:
    event = stored_by(Nameless(), pool)  # type: ignore[arg-type]
    assert (event.lora_id, event.lora_name) == (None, None)


def test_a_request_without_extra_keys_may_meet_a_pool_that_looks_ahead() -> None:
    pool = BlockPool(6, True, 2, enable_kv_cache_events=True, num_hash_lookahead_tokens=1)
    event = stored_by(Plain(), pool)  # type: ignore[arg-type]
    assert (event.extra_keys, event.lookahead_token_ids) == (None, [[2], [4]])


def test_extra_keys_are_those_of_each_block(pool: BlockPool) -> None:
    request = Request("r", range(8), 2, items=[Item("picture", 1, 2)])
    event = stored_by(request, pool, 3)
    assert event.extra_keys == [request.extra_keys_for(0, 2), request.extra_keys_for(2, 4), None]
    assert event.extra_keys[0] is not None
    assert event.extra_keys[0] != event.extra_keys[1]


def test_hits_are_announced_from_the_first_block(pool: BlockPool) -> None:
    pool.cache_full_blocks(A, pool.get_new_blocks(4), 0, 4, 2, 0)
    pool.take_events()
    for count in range(5):
        pool.emit_cached_block_events(A, count, 2, 0)
        events = pool.take_events()
        assert [len(event.block_hashes) for event in events] == ([count] if count else [])


def test_defaults_are_those_of_a_plain_pool() -> None:
    pool = BlockPool(3, True, 2)
    assert (pool.enable_kv_cache_events, pool.num_hash_lookahead_tokens, pool.medium) == (False, 0, "GPU")
    [block] = pool.get_new_blocks(1)
    pool.cache_partial_block(A, block, 4, 0, 4)
    pool.cache_partial_block(A, block, 2, 0, 4)  # an alias: what was there is kept
    assert len(pool.keys_of(block)) == 2


# --- ranges and masks where the short cut is open ---


@pytest.mark.parametrize("events", [True, False], ids=["events", "quiet"])
def test_an_empty_range_publishes_and_sends_nothing(events: bool, picture: Picture) -> None:
    pool, blocks = prepared(events)
    pool.cache_full_blocks(A, blocks, 0, 2, 2, 0)
    before = picture(pool)
    for place in range(3):
        pool.cache_full_blocks(B, blocks, place, place, 2, 0)
    assert picture(pool) == before


def test_more_blocks_than_digests_are_refused_as_well(picture: Picture) -> None:
    pool, blocks = prepared(False)
    pool.cache_full_blocks(B, blocks[2:], 0, 2, 4, 0)  # the short cut is open for four such blocks
    before = picture(pool)
    with pytest.raises(Refusal, match="bad range"):
        pool.cache_full_blocks(A, blocks, 0, 3, 4, 0)
    assert picture(pool) == before


def test_a_range_of_null_blocks_ends_with_the_digests_too() -> None:
    pool = BlockPool(6, True, 2)
    pool.cache_full_blocks(C, pool.get_new_blocks(3), 0, 3, 2, 0)  # the short cut is open for six blocks
    pool.cache_full_blocks(A, [pool.null_block] * 5, 0, 4, 2, 0)
    with pytest.raises(Refusal, match="bad range"):
        pool.cache_full_blocks(A, [pool.null_block] * 5, 4, 5, 2, 0)


def test_a_mask_begins_at_the_first_block_of_the_range() -> None:
    pool, blocks = prepared(False)
    pool.cache_full_blocks(A, blocks, 1, 4, 2, 0, [True, False, True])
    assert [block.block_hash_num_tokens for block in blocks[:4]] == [None, 4, None, 8]


def test_a_watcher_that_unpins_twice_is_told_once() -> None:
    pool, told = BlockPool(3, True, 2), []
    [block] = pool.get_new_blocks(1)
    pool.touch([block])
    watcher = told.append
    pool.unpin_blocks([block], watcher)
    pool.unpin_blocks([block], watcher)
    pool.get_new_blocks(2)
    assert told == [block]


# --- what classes declare ---


@pytest.mark.parametrize("event", [BlockStored, BlockRemoved, AllBlocksCleared])
def test_what_an_event_does_not_say_is_none(event: type) -> None:
    defaults = [field.default for field in dataclasses.fields(event) if field.default is not dataclasses.MISSING]
    assert defaults
    assert all(default is None for default in defaults)


def test_what_there_is_many_of_has_no_dictionary() -> None:
    pool = BlockPool(2, True, 2)
    index = pool.cached_block_hash_to_block
    for thing in (*pool.blocks, pool.free_block_queue, index, index.group(0)):
        assert not hasattr(thing, "__dict__")
    assert [block.is_null for block in pool.blocks] == [True, False]
