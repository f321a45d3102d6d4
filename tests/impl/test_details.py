"""Small facts that only mutants showed to be untested."""

from __future__ import annotations

import gc
import pickle
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from blockpool.impl import (
    AlreadyQueued,
    BlockPool,
    FreeKVCacheBlockQueue,
    HashIndex,
    KVCacheBlock,
    NotQueued,
    Refusal,
    RepeatedBlock,
    Request,
    UnknownBlock,
    WatcherErrors,
    checks,
)

Picture = Callable[[BlockPool], dict[str, Any]]
NumberOfPools = Callable[[int], AbstractContextManager[None]]


# --- the queue ---


def misuse(call: Callable[[FreeKVCacheBlockQueue, list[KVCacheBlock]], object]) -> Refusal:
    """Blocks 0 and 1 are queued, 2 and 3 are not."""
    blocks = [KVCacheBlock(number) for number in range(4)]
    queue = FreeKVCacheBlockQueue(blocks[:2])
    with pytest.raises(Refusal) as caught:
        call(queue, blocks)
    return caught.value


@pytest.mark.parametrize(
    ("call", "kind", "name", "block"),
    [
        (lambda queue, b: queue.remove_n([b[0], b[1], b[0]]), RepeatedBlock, "remove_n", 0),
        (lambda queue, b: queue.remove_n([b[0], b[2]]), NotQueued, "remove_n", 2),
        (lambda queue, b: queue.append_n([b[2], b[2]]), RepeatedBlock, "append_n", 2),
        (lambda queue, b: queue.append_n([b[2], b[1]]), AlreadyQueued, "append_n", 1),
        (lambda queue, b: queue.prepend_n([b[3], b[2], b[3]]), RepeatedBlock, "prepend_n", 3),
        (lambda queue, b: queue.prepend_n([b[2], b[1]]), AlreadyQueued, "prepend_n", 1),
        (lambda queue, b: queue.append(b[1]), AlreadyQueued, "append", 1),
        (lambda queue, b: queue.remove(b[3]), NotQueued, "remove", 3),
        (lambda queue, b: list(queue.iter_blocks_after(b[2])), NotQueued, "iter_blocks_after", 2),
    ],
)
def test_misuse_of_the_queue_names_call_block_and_fault(call: Any, kind: type[Refusal], name: str, block: int) -> None:
    error = misuse(call)
    assert type(error) is kind
    assert (error.call, error.block_id) == (name, block)
    assert len(error.detail) > 10


@pytest.mark.parametrize("link", ["prev_free_block", "next_free_block"])
def test_one_link_is_enough_to_be_queued_and_too_little_for_a_cursor(link: str) -> None:
    queue, block = FreeKVCacheBlockQueue([KVCacheBlock(0)]), KVCacheBlock(1)
    setattr(block, link, KVCacheBlock(2))
    with pytest.raises(AlreadyQueued):
        queue.append(block)
    with pytest.raises(NotQueued):
        queue.iter_blocks_after(block)


def test_the_sentinels_have_an_id_that_no_block_has() -> None:
    queue = FreeKVCacheBlockQueue([])
    assert (queue.fake_free_list_head.block_id, queue.fake_free_list_tail.block_id) == (-1, -1)


# --- what constructors set ---


def test_a_request_keeps_its_id_and_looks_ahead_at_nothing_by_default() -> None:
    request = Request("r", [1, 2, 3], 1)
    assert request.request_id == "r"
    assert request.num_hash_lookahead_tokens == 0
    assert len(request.block_hashes) == 3


@pytest.mark.parametrize(("unit", "lookahead"), [(0, 0), (-1, 0), (1, -1)])
def test_a_request_needs_a_unit(unit: int, lookahead: int) -> None:
    with pytest.raises(Refusal) as caught:
        Request("r", [1], unit, num_hash_lookahead_tokens=lookahead)
    assert (caught.value.call, caught.value.detail) == ("Request", f"unit {unit}, lookahead {lookahead} tokens")


def test_a_new_block_has_no_key_and_covers_nothing() -> None:
    block = KVCacheBlock(3)
    assert (block.ref_cnt, block.block_hash, block.block_hash_num_tokens) == (0, None, None)
    assert not block.is_null


def test_blocks_of_one_token_can_be_published() -> None:
    pool, request = BlockPool(3, True, 1), Request("r", [1, 2], 1)
    blocks = pool.get_new_blocks(2)
    pool.cache_full_blocks(request, blocks, 0, 2, 1, 0)
    assert [block.block_hash_num_tokens for block in blocks] == [1, 2]
    for size in (0, -1, 1.0):
        with pytest.raises(Refusal, match="block_size"):
            pool.cache_full_blocks(request, blocks, 0, 2, size, 0)  # type: ignore[arg-type]


def test_the_index_names_call_and_block_that_it_refuses() -> None:
    index, block = HashIndex(), KVCacheBlock(7)
    index.insert(b"x", 0, block)
    with pytest.raises(RepeatedBlock) as caught:
        index.insert(b"x", 0, block)
    assert (caught.value.call, caught.value.block_id) == ("insert", 7)
    with pytest.raises(UnknownBlock) as missing:
        index.remove(b"y", 0, block)
    assert (missing.value.call, missing.value.block_id) == ("remove", 7)


# --- errors of watchers ---


def test_the_error_of_a_watcher_names_the_call(pool: BlockPool) -> None:
    def fails(block: KVCacheBlock) -> None:
        raise OSError("gone")

    for name, call in (
        ("get_new_blocks", lambda: pool.get_new_blocks(5)),
        ("reset_prefix_cache", pool.reset_prefix_cache),
    ):
        [block] = pool.get_new_blocks(1)
        pool.unpin_blocks([block], fails)
        with pytest.raises(WatcherErrors) as caught:
            call()
        assert caught.value.call == name
        assert pool._telling is False
        pool.free_blocks([block for block in pool.blocks if block.ref_cnt])


# --- a refusal names the call ---

ATTEMPTS: dict[str, Callable[[BlockPool, KVCacheBlock, Request], object]] = {
    "get_new_blocks": lambda pool, block, r: pool.get_new_blocks(1),
    "touch": lambda pool, block, r: pool.touch([block]),
    "free_blocks": lambda pool, block, r: pool.free_blocks([block]),
    "unpin_blocks": lambda pool, block, r: pool.unpin_blocks([block], print),
    "cancel_watch": lambda pool, block, r: pool.cancel_watch(block, print),
    "cache_full_blocks": lambda pool, block, r: pool.cache_full_blocks(r, [block], 0, 1, 2, 0),
    "cache_partial_block": lambda pool, block, r: pool.cache_partial_block(r, block, 2, 0, 2),
    "move_block_hashes": lambda pool, block, r: pool.move_block_hashes(block, block),
    "evict_blocks": lambda pool, block, r: pool.evict_blocks({block.block_id}),
    "reset_prefix_cache": lambda pool, block, r: pool.reset_prefix_cache(),
    "take_events": lambda pool, block, r: pool.take_events(),
    "emit_cached_block_events": lambda pool, block, r: pool.emit_cached_block_events(r, 1, 2, 0),
}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_a_call_from_inside_a_watcher_is_refused_by_name(name: str, pool: BlockPool, request_a: Request) -> None:
    block, watched = pool.get_new_blocks(2)
    pool.unpin_blocks([watched], print)
    pool._telling = True
    with pytest.raises(Refusal) as caught:
        ATTEMPTS[name](pool, block, request_a)
    assert (caught.value.reason, caught.value.call) == ("re-entrant", name)


@pytest.mark.parametrize("name", ["cache_full_blocks", "cache_partial_block"])
def test_publishing_without_caching_is_refused_by_name(name: str, request_a: Request) -> None:
    pool = BlockPool(3, False, 2)
    with pytest.raises(Refusal) as caught:
        ATTEMPTS[name](pool, pool.get_new_blocks(1)[0], request_a)
    assert (caught.value.reason, caught.value.call) == ("caching disabled", name)


def test_an_error_is_the_same_after_pickling(pool: BlockPool) -> None:
    with pytest.raises(Refusal) as caught:
        pool.free_blocks([pool.blocks[3]])
    error = caught.value
    assert error.args == (error.call, error.detail, error.block_id) == ("free_blocks", error.detail, 3)
    twin = pickle.loads(pickle.dumps(error))
    assert (type(twin), twin.args, str(twin)) == (type(error), error.args, str(error))


def test_the_error_of_watchers_keeps_ids_and_counts_errors(pool: BlockPool) -> None:
    error = WatcherErrors("get_new_blocks", [OSError("a"), OSError("b")], [pool.blocks[2], pool.blocks[4]])
    assert error.detail == "2 callback(s) raised, first OSError('a'); the call has finished"
    assert pickle.loads(pickle.dumps(error)).result == [2, 4]
    assert pickle.loads(pickle.dumps(WatcherErrors("reset_prefix_cache", [OSError("a")], True))).result is True


def test_a_foreign_pool_that_is_telling_refuses_by_the_name_of_the_call(pool: BlockPool) -> None:
    other = BlockPool(3, True, 2)
    [mine], [foreign] = pool.get_new_blocks(1), other.get_new_blocks(1)
    other._telling = True
    with pytest.raises(Refusal) as caught:
        pool.free_blocks([mine, foreign])
    assert (caught.value.reason, caught.value.call) == ("re-entrant", "free_blocks")


class Tokenless:
    """A request that has digests but no tokens, of which no event can be made."""

    request_id = "tokenless"
    all_token_ids: tuple[int, ...] = ()

    def __init__(self, digests: list[Any]) -> None:
        self.block_hashes = digests


PUBLISHING = ["cache_full_blocks", "cache_partial_block", "emit_cached_block_events"]


@pytest.mark.parametrize("name", PUBLISHING)
@pytest.mark.parametrize("again", [False, True], ids=["first", "again"])
def test_an_event_without_tokens_is_refused_by_name(
    name: str, again: bool, pool: BlockPool, request_a: Request
) -> None:
    [block, other] = pool.get_new_blocks(2)
    if again or name == "emit_cached_block_events":
        pool.cache_full_blocks(request_a, [other], 0, 1, 2, 0)  # from now on the short cut is open
    with pytest.raises(Refusal) as caught:
        ATTEMPTS[name](pool, block, Tokenless(list(request_a.block_hashes)))  # type: ignore[arg-type]
    assert (caught.value.reason, caught.value.call) == ("bad range", name)


@pytest.mark.parametrize("name", PUBLISHING[:2])
def test_a_digest_that_cannot_be_a_key_is_refused_by_name(name: str, pool: BlockPool) -> None:
    with pytest.raises(Refusal) as caught:
        ATTEMPTS[name](pool, pool.get_new_blocks(1)[0], Tokenless([[]]))  # type: ignore[arg-type]
    assert caught.value.call == name


def test_more_blocks_than_digests_cannot_be_announced(pool: BlockPool, request_a: Request) -> None:
    for count, size in ((5, 2), (3, 4), (2, 8)):
        with pytest.raises(Refusal) as caught:
            pool.emit_cached_block_events(request_a, count, size, 0)
        assert (caught.value.reason, caught.value.call) == ("bad range", "emit_cached_block_events")
    with pytest.raises(Refusal) as wrong_group:
        pool.emit_cached_block_events(request_a, 1, 2, -1)
    assert wrong_group.value.call == "emit_cached_block_events"


# --- what pools leave behind ---


def test_pools_are_counted_as_long_as_they_exist() -> None:
    gc.collect()
    before = checks.num_pools
    pools = [BlockPool(3, True, 2), BlockPool(3, True, 2)]
    assert checks.num_pools == before + 2
    pools.clear()
    gc.collect()
    assert checks.num_pools == before


def test_making_a_pool_leaves_the_garbage_collector_as_it_was() -> None:
    assert gc.isenabled()
    BlockPool(3, True, 2)
    assert gc.isenabled()
    gc.disable()
    try:
        BlockPool(3, True, 2)
        assert not gc.isenabled()
    finally:
        gc.enable()


# --- what a refused call undoes, while there is one pool or several ---


BATCHES = [("touch", None), ("touch", "broken"), ("free_blocks", None), ("free_blocks", "unheld")]


@pytest.mark.parametrize(
    ("name", "wrong", "pools"),
    [
        *((*batch, pools) for batch in BATCHES for pools in (1, 2)),
        ("touch", "foreign", 2),
        ("free_blocks", "foreign", 2),
    ],
)
def test_a_refused_batch_is_undone(
    name: str, wrong: str | None, pools: int, pool: BlockPool, picture: Picture, number_of_pools: NumberOfPools
) -> None:
    held = pool.get_new_blocks(3)
    pool.touch([held[0], held[0]])
    pool.free_blocks([held[2]])
    request = Request("r", range(8), 2)
    pool.cache_full_blocks(request, held, 0, 2, 2, 0)
    batch: list[Any] = [held[0], pool.null_block, held[1], held[0]]
    if name == "touch":
        batch += [held[2]]
    match wrong:
        case "broken":
            pool.blocks[5].next_free_block = None
            batch += [pool.blocks[5]]
        case "unheld":
            batch += [held[2]]
        case "foreign":
            other = BlockPool(3, True, 2)
            batch += [other.get_new_blocks(1)[0], other.blocks[2]]
        case _:
            batch += [None]
    before = picture(pool) if wrong != "broken" else [block.ref_cnt for block in pool.blocks]
    with number_of_pools(pools):
        for repeated in (batch, [*batch, held[1]]):
            with pytest.raises(Refusal):
                getattr(pool, name)(repeated)
            after = picture(pool) if wrong != "broken" else [block.ref_cnt for block in pool.blocks]
            assert after == before


def test_a_pool_that_was_pickled_still_tells_its_blocks_from_others() -> None:
    """In a process that builds no pool itself, where nothing else says that there are two."""
    pools = pickle.dumps((BlockPool(3, True, 4), BlockPool(3, True, 4)))
    program = (
        "import pickle, sys\n"
        "one, other = pickle.loads(sys.stdin.buffer.read())\n"
        "block = other.get_new_blocks(1)\n"
        "try:\n    one.touch(block)\n"
        "except Exception as error:\n    print(type(error).__name__)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], input=pools, capture_output=True, check=True)
    assert ran.stdout.decode().strip() == "UnknownBlock"
