"""Streams are recorded, replayed and compared: equal pools agree, and a pool that differs is reported."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from blockpool.impl import BlockPool, KVCacheBlock
from blockpool.impl.events import BlockRemoved, KVCacheEvent
from blockpool.proofs.bench.compare import difference
from blockpool.proofs.bench.contenders import Contender, UnknownContenderError, contender
from blockpool.proofs.bench.micro import WORKS, record_micro
from blockpool.proofs.bench.serving import record_serving
from blockpool.proofs.bench.stream import ALLOCATE, FREE, LOOKUP, PUBLISH, TOUCH, Stream, bind, parts_of, run
from blockpool.proofs.bench.workloads import workloads
from blockpool.proofs.replay.requests import TraceRequest
from blockpool.proofs.replay.synthetic import synthetic_requests

OURS = contender("blockpool")


def made_of(pool: type[Any]) -> Contender:
    return Contender(pool.__name__, lambda blocks, block_size, events: pool(blocks, True, block_size, events))


def served(events: bool = True) -> Stream:
    """A small pool, so that there are hits and evictions."""
    stream = Stream("chats", 100, 512, events)
    return record_serving(stream, BlockPool(100, True, 512), synthetic_requests(60, 3), 8)


class Reversed(BlockPool):
    def get_new_blocks(self, num_blocks: int) -> list[KVCacheBlock]:
        return super().get_new_blocks(num_blocks)[::-1]


class Forgetful(BlockPool):
    def cache_full_blocks(self, request: Any, blocks: Any, *rest: Any) -> None:
        super().cache_full_blocks(request, blocks, *rest)
        self.evict_blocks({blocks[0].block_id})


class FreesInOrder(BlockPool):
    def free_blocks(self, ordered_blocks: Iterable[KVCacheBlock]) -> None:
        super().free_blocks(list(ordered_blocks)[::-1])


class Silent(BlockPool):
    def take_events(self) -> list[KVCacheEvent]:
        return [event for event in super().take_events() if not isinstance(event, BlockRemoved)]


class Counting(BlockPool):
    def touch(self, blocks: Any) -> None:
        super().touch(blocks)
        for block in blocks[:1]:
            super().touch([block])


def test_a_pool_agrees_with_itself() -> None:
    assert difference(served(), OURS, OURS) is None


@pytest.mark.parametrize(
    ("pool", "words"),
    [
        (Reversed, "answer differs"),
        (Forgetful, "differs"),
        (FreesInOrder, "answer differs"),
        (Silent, "events differs"),
        (Counting, "differs"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_a_pool_that_differs_is_reported(pool: type[BlockPool], words: str) -> None:
    found = difference(served(), OURS, made_of(pool))
    assert found is not None
    assert words in found
    assert pool.__name__ in found


def test_the_order_of_the_queue_is_compared_at_the_end() -> None:
    class Shuffling(BlockPool):
        """Its last free turns the queue: no later call can tell."""

        def free_blocks(self, ordered_blocks: Iterable[KVCacheBlock]) -> None:
            super().free_blocks(ordered_blocks)
            if self.get_num_free_blocks() == self.num_gpu_blocks - 1:
                queue = self.free_block_queue
                queue.append(queue.popleft())

    stream = Stream("one request", 10, 512)
    record_serving(stream, BlockPool(10, True, 512), [TraceRequest(1000, 30, (1, 2))], 1)
    assert difference(stream, OURS, OURS) is None
    found = difference(stream, OURS, made_of(Shuffling))
    assert found == "after the last call: the order of the free queue differs"


def test_a_served_request_makes_the_calls_of_an_engine() -> None:
    stream = Stream("two requests", 10, 512)
    requests = [TraceRequest(1100, 5, (1, 2, 3)), TraceRequest(1100, 500, (1, 2, 4))]
    record_serving(stream, BlockPool(10, True, 512), requests, 1)
    kinds = [(call.kind, call.request, call.start, call.end) for call in stream.calls]
    assert kinds == [
        (LOOKUP, 0, 0, 1),  # the second probe is not made
        (ALLOCATE, 0, 0, 3),
        (PUBLISH, 0, 0, 2),
        (FREE, 0, 0, 3),
        (LOOKUP, 1, 0, 2),
        (TOUCH, 1, 0, 2),
        (ALLOCATE, 1, 0, 1),
        (PUBLISH, 1, 2, 3),
        (ALLOCATE, 1, 0, 1),
        (FREE, 1, 0, 4),
    ]


def test_requests_wait_for_room_and_too_large_ones_are_left_out() -> None:
    stream = Stream("crowded", 5, 512)
    requests = [TraceRequest(1024, 1, (1, 2)), TraceRequest(1536, 1, (3, 4, 5)), TraceRequest(3000, 1, tuple(range(6)))]
    record_serving(stream, BlockPool(5, True, 512), requests, 10)
    freed = [call.request for call in stream.calls if call.kind == FREE]
    assert freed == [0, 1], "the second starts when the first is done, and the third never fits"
    assert [call.request for call in stream.calls if call.kind == ALLOCATE] == [0, 1]


@pytest.mark.parametrize("name", WORKS)
def test_a_micro_workload_has_timed_parts_and_replays(name: str) -> None:
    stream = record_micro(Stream(name, 3000, 16, by_part=True), BlockPool(3000, True, 16), WORKS[name], 2)
    parts = list(parts_of(stream))
    assert sum(timed for timed, _ in parts) == 2
    assert parts[-1][1].stop == len(stream.calls)
    assert difference(stream, OURS, OURS) is None


def test_a_replay_leaves_the_pool_as_the_recording_did() -> None:
    recorded = BlockPool(100, True, 512)
    stream = record_serving(Stream("chats", 100, 512), recorded, synthetic_requests(60, 3), 8)
    replayed = BlockPool(100, True, 512)
    calls = bind(stream, replayed)
    for _, part in parts_of(stream):
        assert run(replayed, calls[part], False) > 0

    def blocks(pool: BlockPool) -> list[tuple[int, bytes | None]]:
        return [(block.ref_cnt, block.block_hash) for block in pool.blocks]

    assert blocks(replayed) == blocks(recorded)
    assert any(key for _, key in blocks(replayed))


def test_digests_are_objects_of_their_own_for_each_pool() -> None:
    stream = served()
    one, other = (bind(stream, BlockPool(100, True, 512)) for _ in range(2))
    published = [(a[1][0], b[1][0]) for a, b in zip(one, other, strict=True) if a[0] == PUBLISH]
    assert published
    for a, b in published:
        assert a.block_hashes == b.block_hashes
        assert all(x is not y for x, y in zip(a.block_hashes, b.block_hashes, strict=True))


def test_without_traces_there_are_built_in_requests(tmp_path: Path) -> None:
    names = [each.name for each in workloads(tmp_path, quick=True)]
    assert len(names) == len(set(names)) == 2 + len(WORKS)
    assert sum("built-in chats" in name for name in names) == 2
    (tmp_path / "mooncake_conversation.jsonl").touch()
    assert sum("conversation" in each.name for each in workloads(tmp_path, quick=True)) > 2


@pytest.mark.parametrize("name", ["nothing", "impl:NoPool", "no_such_module:Pool", "vllm==0.0.1"])
def test_an_unknown_pool_is_named(name: str) -> None:
    with pytest.raises(UnknownContenderError, match=name):
        contender(name)


def test_a_pool_of_any_module_can_be_measured() -> None:
    assert isinstance(contender("blockpool.impl.pool:BlockPool").make(5, 16, True), BlockPool)
