"""The free queue against a plain list, and each way to misuse it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockpool.impl import (
    AlreadyQueued,
    BadCount,
    FreeKVCacheBlockQueue,
    KVCacheBlock,
    NotEnoughFreeBlocks,
    NotQueued,
    QueueError,
    RepeatedBlock,
)


def make(n: int, spare: int = 0) -> tuple[FreeKVCacheBlockQueue, list[KVCacheBlock]]:
    """A queue of blocks 0..n-1, and these followed by `spare` blocks in no queue."""
    blocks = [KVCacheBlock(i) for i in range(n + spare)]
    return FreeKVCacheBlockQueue(blocks[:n]), blocks


def forward(queue: FreeKVCacheBlockQueue) -> list[int]:
    return [block.block_id for block in queue.get_all_free_blocks()]


def backward(queue: FreeKVCacheBlockQueue) -> list[int]:
    found: list[int] = []
    node = queue.fake_free_list_tail.prev_free_block
    while node is not queue.fake_free_list_head:
        assert node is not None
        found.append(node.block_id)
        node = node.prev_free_block
    return found


def holds(queue: FreeKVCacheBlockQueue, expected: list[int]) -> bool:
    same = forward(queue) == expected and backward(queue) == expected[::-1]
    return same and queue.num_free_blocks == len(expected)


def unlinked(*blocks: KVCacheBlock) -> bool:
    return all(b.prev_free_block is None and b.next_free_block is None for b in blocks)


def test_construction_links_in_order() -> None:
    queue, _ = make(4)
    assert holds(queue, [0, 1, 2, 3])
    empty, _ = make(0)
    assert holds(empty, [])


def test_popleft_takes_the_front_and_clears_its_links() -> None:
    queue, blocks = make(2)
    assert queue.popleft() is blocks[0]
    assert holds(queue, [1])
    assert queue.popleft() is blocks[1]
    assert holds(queue, [])
    assert unlinked(*blocks)


@pytest.mark.parametrize(("n", "left"), [(0, [0, 1, 2]), (1, [1, 2]), (3, [])])
def test_popleft_n_takes_the_first_n(n: int, left: list[int]) -> None:
    queue, blocks = make(3)
    assert queue.popleft_n(n) == blocks[:n]
    assert holds(queue, left)
    assert unlinked(*blocks[:n])


@pytest.mark.parametrize(("i", "left"), [(0, [1, 2]), (1, [0, 2]), (2, [0, 1])])
def test_remove_takes_a_block_from_any_place(i: int, left: list[int]) -> None:
    queue, blocks = make(3)
    queue.remove(blocks[i])
    assert holds(queue, left)
    assert unlinked(blocks[i])


@pytest.mark.parametrize(
    ("batch", "left"),
    [([], [0, 1, 2, 3]), ([1, 2], [0, 3]), ([2, 1], [0, 3]), ([3, 0], [1, 2]), ([0, 2, 1, 3], [])],
)
def test_remove_n_takes_a_batch_in_any_order(batch: list[int], left: list[int]) -> None:
    queue, blocks = make(4)
    queue.remove_n([blocks[i] for i in batch])
    assert holds(queue, left)
    assert unlinked(*(blocks[i] for i in batch))


def test_append_and_the_batches_keep_the_order_given() -> None:
    queue, blocks = make(1, spare=5)
    queue.append(blocks[1])
    queue.append_n([blocks[3], blocks[2]])
    queue.prepend_n([blocks[5], blocks[4]])
    queue.append_n([])
    queue.prepend_n([])
    assert holds(queue, [5, 4, 0, 1, 3, 2])


def test_batches_into_an_empty_queue() -> None:
    for method in ("append_n", "prepend_n"):
        queue, blocks = make(0, spare=3)
        getattr(queue, method)([blocks[2], blocks[0]])
        assert holds(queue, [2, 0])


Misuse = Callable[[FreeKVCacheBlockQueue, list[KVCacheBlock]], Any]

MISUSES: list[tuple[str, Misuse, type[Exception], str]] = [
    ("popleft_n negative", lambda q, b: q.popleft_n(-1), BadCount, "bad count"),
    ("popleft_n fraction", lambda q, b: q.popleft_n(1.0), BadCount, "bad count"),  # type: ignore[arg-type]
    ("popleft_n too many", lambda q, b: q.popleft_n(4), NotEnoughFreeBlocks, "not enough free blocks"),
    ("remove unqueued", lambda q, b: q.remove(b[3]), NotQueued, "not queued"),
    ("remove head", lambda q, b: q.remove(q.fake_free_list_head), NotQueued, "not queued"),
    ("remove_n unqueued last", lambda q, b: q.remove_n([b[1], b[0], b[3]]), NotQueued, "not queued"),
    ("remove_n unqueued first", lambda q, b: q.remove_n([b[3], b[0]]), NotQueued, "not queued"),
    ("remove_n tail", lambda q, b: q.remove_n([b[2], q.fake_free_list_tail]), NotQueued, "not queued"),
    ("remove_n head", lambda q, b: q.remove_n([b[0], q.fake_free_list_head]), NotQueued, "not queued"),
    ("remove_n repeated", lambda q, b: q.remove_n([b[0], b[1], b[2], b[1]]), RepeatedBlock, "repeated block"),
    ("remove_n twice at once", lambda q, b: q.remove_n([b[1], b[1]]), RepeatedBlock, "repeated block"),
    ("append queued", lambda q, b: q.append(b[0]), AlreadyQueued, "already queued"),
    ("append_n queued", lambda q, b: q.append_n([b[3], b[2]]), AlreadyQueued, "already queued"),
    ("append_n last queued", lambda q, b: q.append_n([b[2]]), AlreadyQueued, "already queued"),
    ("append_n repeated", lambda q, b: q.append_n([b[3], b[4], b[3]]), RepeatedBlock, "repeated block"),
    ("append_n twice at once", lambda q, b: q.append_n([b[3], b[3]]), RepeatedBlock, "repeated block"),
    ("append_n head", lambda q, b: q.append_n([b[3], q.fake_free_list_head]), AlreadyQueued, "already queued"),
    ("prepend_n queued", lambda q, b: q.prepend_n([b[4], b[3], b[0]]), AlreadyQueued, "already queued"),
    ("prepend_n repeated", lambda q, b: q.prepend_n([b[3], b[4], b[4]]), RepeatedBlock, "repeated block"),
    ("prepend_n tail", lambda q, b: q.prepend_n([q.fake_free_list_tail]), AlreadyQueued, "already queued"),
    ("cursor not queued", lambda q, b: q.iter_blocks_after(b[3]), NotQueued, "not queued"),
]


@pytest.mark.parametrize(("misuse", "error", "reason"), [m[1:] for m in MISUSES], ids=[m[0] for m in MISUSES])
def test_misuse_is_refused_and_changes_nothing(misuse: Misuse, error: type[Exception], reason: str) -> None:
    queue, blocks = make(3, spare=2)
    with pytest.raises(error) as caught:
        misuse(queue, blocks)
    assert caught.value.reason == reason  # type: ignore[attr-defined]
    assert holds(queue, [0, 1, 2])
    assert unlinked(*blocks[3:])


def test_popleft_of_an_empty_queue_is_refused() -> None:
    queue, _ = make(0)
    with pytest.raises(ValueError, match="not enough free blocks"):
        queue.popleft()
    assert holds(queue, [])


def test_queue_errors_are_runtime_errors() -> None:
    assert issubclass(NotQueued, QueueError)
    assert issubclass(AlreadyQueued, QueueError)
    assert issubclass(QueueError, RuntimeError)


def test_iteration_starts_behind_the_cursor() -> None:
    queue, blocks = make(4)
    assert list(queue.iter_blocks_after(None)) == blocks
    assert list(queue.iter_blocks_after(blocks[1])) == blocks[2:]
    assert list(queue.iter_blocks_after(blocks[3])) == []


def test_yielded_blocks_may_be_removed() -> None:
    queue, blocks = make(3)
    seen = []
    for block in queue.iter_blocks_after(None):
        queue.remove(block)
        seen.append(block)
    assert seen == blocks
    assert holds(queue, [])


def test_yielded_blocks_that_return_at_the_back_do_not_loop() -> None:
    queue, blocks = make(3)
    seen = []
    for block in queue.iter_blocks_after(blocks[0]):
        queue.remove(block)
        queue.append(block)
        seen.append(block.block_id)
    assert seen == [1, 2]
    assert holds(queue, [0, 1, 2])


def test_losing_the_next_block_is_loud() -> None:
    queue, blocks = make(3)
    walk = queue.iter_blocks_after(None)
    assert next(walk) is blocks[0]
    queue.remove(blocks[1])
    with pytest.raises(NotQueued):
        next(walk)


def test_iteration_is_bounded_whatever_happens() -> None:
    queue, blocks = make(3)
    seen = []
    for block in queue.iter_blocks_after(None):
        seen.append(block.block_id)
        if len(seen) == 1:
            queue.remove(blocks[2])  # the block at which it would have stopped
        queue.remove(block)
        queue.append(block)
    assert seen == [0, 1, 0]


@given(st.integers(0, 6), st.lists(st.sampled_from(["pop", "pop_n", "remove_n", "append_n", "prepend_n"])), st.data())
def test_queue_agrees_with_a_list(n: int, ops: list[str], data: st.DataObject) -> None:
    queue, blocks = make(n, spare=6 - n)
    model = list(range(n))
    for op in ops:
        outside = [i for i in range(6) if i not in model]
        if op == "pop" and model:
            assert queue.popleft().block_id == model.pop(0)
        elif op == "pop_n":
            k = data.draw(st.integers(0, len(model)))
            assert [b.block_id for b in queue.popleft_n(k)] == model[:k]
            model = model[k:]
        elif op == "remove_n":
            batch = data.draw(st.lists(st.sampled_from(model), unique=True)) if model else []
            queue.remove_n([blocks[i] for i in batch])
            model = [i for i in model if i not in batch]
        elif op in ("append_n", "prepend_n"):
            batch = data.draw(st.lists(st.sampled_from(outside), unique=True)) if outside else []
            getattr(queue, op)([blocks[i] for i in batch])
            model = model + batch if op == "append_n" else batch + model
        assert holds(queue, model)
        assert unlinked(*(b for b in blocks if b.block_id not in model))


@given(
    st.integers(0, 4), st.lists(st.integers(0, 5), max_size=6), st.sampled_from(["append_n", "prepend_n", "remove_n"])
)
def test_any_batch_is_done_or_refused_whole(n: int, batch: list[int], op: str) -> None:
    queue, blocks = make(n, spare=6 - n)
    wanted = set(range(n)) if op == "remove_n" else set(range(n, 6))
    legal = len(set(batch)) == len(batch) and set(batch) <= wanted
    expected = list(range(n))
    if legal:
        rest = [i for i in expected if i not in batch]
        expected = {"append_n": expected + batch, "prepend_n": batch + expected, "remove_n": rest}[op]
        getattr(queue, op)([blocks[i] for i in batch])
    else:
        with pytest.raises((QueueError, RepeatedBlock)):
            getattr(queue, op)([blocks[i] for i in batch])
    assert holds(queue, expected)
    assert unlinked(*(b for b in blocks if b.block_id not in expected))
