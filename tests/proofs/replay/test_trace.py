"""Prompts as block identities, and the built-in workload."""

from __future__ import annotations

import pytest

from blockpool.proofs.replay import TraceRequest, check_block_size, synthetic_requests


def test_blocks_of_512_are_the_ids_as_they_are_and_a_partial_one_is_left_out():
    assert TraceRequest(1000, 1, (7, 9)).full_blocks(512) == [7]
    assert TraceRequest(1024, 1, (7, 9)).full_blocks(512) == [7, 9]


def test_smaller_blocks_split_each_id():
    # 1000 tokens fill three blocks of 256: both halves of id 7, and the first half of id 9.
    assert TraceRequest(1000, 1, (7, 9)).full_blocks(256) == [14, 15, 18]
    # Two ids never share a part: 8 * 4 + 0 comes after 7 * 4 + 3.
    assert TraceRequest(1024, 1, (7, 8)).full_blocks(128) == [28, 29, 30, 31, 32, 33, 34, 35]


def test_the_last_output_token_is_not_computed():
    assert TraceRequest(10, 0, (1,)).computed_length == 10
    assert TraceRequest(10, 1, (1,)).computed_length == 10
    assert TraceRequest(10, 5, (1,)).computed_length == 14


def test_every_divisor_of_512_is_a_block_size():
    for size in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512):
        check_block_size(size)


@pytest.mark.parametrize("size", [-16, 0, 3, 100, 1024])
def test_other_block_sizes_are_refused_with_the_allowed_ones(size):
    with pytest.raises(ValueError, match=rf"block size {size} .* 1, 2, 4, 8, 16, 32, 64, 128, 256, 512$"):
        check_block_size(size)


def test_the_synthetic_workload_is_the_same_for_the_same_seed():
    assert synthetic_requests(50, 1) == synthetic_requests(50, 1)
    assert synthetic_requests(50, 1) != synthetic_requests(50, 2)
    # Pinned, since it must be the same on every version of Python.
    assert synthetic_requests(1000, 0)[:2] == [
        TraceRequest(1750, 42, (0, 1, 2, 3), 432.0),
        TraceRequest(1817, 415, (0, 1, 4, 5), 564.0),
    ]
    with pytest.raises(ValueError, match="at least 1"):
        synthetic_requests(0, 1)


def test_the_synthetic_workload_is_a_well_formed_trace_of_chats():
    requests = synthetic_requests(400, 3)
    before: dict[int, tuple[int, ...]] = {}
    for request in requests:
        assert request.input_length >= 1
        assert request.output_length >= 1
        assert len(request.hash_ids) == -(-request.input_length // 512)
        assert request.hash_ids[:2] == (0, 1)  # the system prompt
        for place, block in enumerate(request.hash_ids):  # an id stands for one whole prefix
            assert before.setdefault(block, request.hash_ids[:place]) == request.hash_ids[:place]
    assert [request.timestamp for request in requests] == sorted(request.timestamp for request in requests)
    turns = [request.hash_ids[2] for request in requests if len(request.hash_ids) > 3]
    popular = max(turns.count(chat) for chat in set(turns))
    assert popular > 3 * len(turns) / len(set(turns))  # far above the mean
