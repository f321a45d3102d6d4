"""Small facts that only mutants showed to be untested."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from impl import (
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
)

Picture = Callable[[BlockPool], dict[str, Any]]
NumberOfPools = Callable[[bool], AbstractContextManager[None]]


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


# --- what a refused call undoes, while there is one pool or several ---


BATCHES = [("touch", None), ("touch", "broken"), ("free_blocks", None), ("free_blocks", "unheld")]


@pytest.mark.parametrize(
    ("name", "wrong", "several"),
    [
        *((*batch, several) for batch in BATCHES for several in (False, True)),
        ("touch", "foreign", True),
        ("free_blocks", "foreign", True),
    ],
)
def test_a_refused_batch_is_undone(
    name: str, wrong: str | None, several: bool, pool: BlockPool, picture: Picture, number_of_pools: NumberOfPools
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
    with number_of_pools(several):
        for repeated in (batch, [*batch, held[1]]):
            with pytest.raises(Refusal):
                getattr(pool, name)(repeated)
            after = picture(pool) if wrong != "broken" else [block.ref_cnt for block in pool.blocks]
            assert after == before
