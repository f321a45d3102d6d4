"""KV events: one for each registration and removal, runs, parents, and the fields of a Stored."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from blockpool.impl import (
    Adapter,
    AllBlocksCleared,
    BlockPool,
    BlockRemoved,
    BlockStored,
    Request,
)


def removed(*digests: bytes, group: int = 0) -> list[BlockRemoved]:
    return [BlockRemoved([digest], "GPU", group) for digest in digests]


def stored(request: Request, first: int, end: int, parent: bytes | None, size: int = 2, group: int = 0) -> BlockStored:
    """Blocks first to end of `size` tokens of a plain request."""
    k = size // 2
    hashes = [request.block_hashes[(j + 1) * k - 1] for j in range(first, end)]
    tokens = request.all_token_ids[first * size : end * size]
    extra = [None] * (end - first)
    return BlockStored(hashes, parent, tokens, size, None, "GPU", None, extra_keys=extra, group_idx=group)


def test_one_stored_event_for_a_run(pool: BlockPool, request_a: Request) -> None:
    h = request_a.block_hashes
    blocks = pool.get_new_blocks(4)
    pool.cache_full_blocks(request_a, blocks, 0, 2, 2, 0)
    pool.cache_full_blocks(request_a, blocks, 2, 4, 2, 0)
    assert pool.take_events() == [stored(request_a, 0, 2, None), stored(request_a, 2, 4, h[1])]
    assert pool.take_events() == []
    event = stored(request_a, 2, 4, h[1])
    assert event.token_ids == [14, 15, 16, 17]
    assert event.block_hashes == [h[2], h[3]]


def test_gaps_split_the_event_and_unknown_parents_are_not_named(pool: BlockPool, request_a: Request) -> None:
    h = request_a.block_hashes
    a, b, c = pool.get_new_blocks(3)
    pool.cache_full_blocks(request_a, [pool.null_block, a, b, c], 0, 4, 2, 0, [True, True, False, True])
    assert pool.take_events() == [stored(request_a, 1, 2, None), stored(request_a, 3, 4, None)]
    pool.cache_full_blocks(request_a, [a, a, b], 2, 3, 2, 0)
    assert pool.take_events() == [stored(request_a, 2, 3, h[1])]


def test_null_blocks_split_the_event(pool: BlockPool, request_a: Request) -> None:
    h = request_a.block_hashes
    a, b = pool.get_new_blocks(2)
    for _ in range(2):  # the second time the shortcut is prepared
        pool.cache_full_blocks(request_a, [a, pool.null_block, b], 0, 3, 2, 0)
        assert pool.take_events() == [stored(request_a, 0, 1, None), stored(request_a, 2, 3, None)]
        pool.evict_blocks({1, 2})
        assert sorted(pool.take_events(), key=repr) == sorted(removed(h[0], h[2]), key=repr)


def test_a_parent_counts_in_its_own_group_only(pool: BlockPool, request_a: Request) -> None:
    a, b = pool.get_new_blocks(2)
    pool.cache_full_blocks(request_a, [a], 0, 1, 2, 0)
    pool.cache_full_blocks(request_a, [a, b], 1, 2, 2, 3)
    assert pool.take_events()[1] == stored(request_a, 1, 2, None, group=3)


def test_the_parent_is_looked_up_after_the_call(pool: BlockPool, request_a: Request) -> None:
    """The call promotes the very block that carried the parent, so the parent is gone."""
    h = request_a.block_hashes
    a, b = pool.get_new_blocks(2)
    pool.cache_full_blocks(request_a, [a], 0, 1, 2, 0)
    pool.take_events()
    pool.cache_full_blocks(request_a, [b, a], 1, 2, 2, 0)
    assert pool.take_events() == [*removed(h[0]), stored(request_a, 1, 2, None)]


def test_nothing_selected_nothing_reported(pool: BlockPool, request_a: Request) -> None:
    blocks = pool.get_new_blocks(2)
    pool.cache_full_blocks(request_a, blocks, 0, 2, 2, 0, [False, False])
    assert pool.take_events() == []


def test_coarse_blocks(pool: BlockPool, request_a: Request) -> None:
    h = request_a.block_hashes
    blocks = pool.get_new_blocks(2)
    pool.cache_full_blocks(request_a, blocks, 0, 1, 4, 0)
    pool.cache_full_blocks(request_a, blocks, 1, 2, 4, 0)
    first, second = pool.take_events()
    assert first == stored(request_a, 0, 1, None, size=4)
    assert second == stored(request_a, 1, 2, h[1], size=4)


def test_partial_blocks_report_one_unit(pool: BlockPool, request_a: Request, request_b: Request) -> None:
    h = request_a.block_hashes
    (block,) = pool.get_new_blocks(1)
    pool.cache_partial_block(request_a, block, 2, 0, 8)
    pool.cache_partial_block(request_a, block, 4, 0, 8)  # grown: the parent went in the same call
    pool.cache_partial_block(request_a, block, 2, 0, 8)  # an alias
    pool.cache_partial_block(request_a, block, 2, 0, 8)  # known
    unit_2 = stored(request_a, 0, 1, None)
    assert pool.take_events() == [unit_2, *removed(h[0]), stored(request_a, 1, 2, None), unit_2]
    pool.cache_partial_block(request_b, block, 4, 0, 8, True)
    assert pool.take_events() == [*removed(h[1], h[0]), stored(request_b, 1, 2, None)]
    pool.cache_partial_block(request_b, block, 4, 0, 8, True)
    assert pool.take_events() == [*removed(request_b.block_hashes[1]), stored(request_b, 1, 2, None)]


def test_one_removed_for_each_key_of_each_block(pool: BlockPool, request_a: Request) -> None:
    h = request_a.block_hashes
    a, b = pool.get_new_blocks(2)
    for block in (a, b):
        pool.cache_partial_block(request_a, block, 4, 1, 4)
        pool.cache_partial_block(request_a, block, 2, 1, 4)
    pool.take_events()
    pool.evict_blocks({2})
    assert pool.take_events() == removed(h[1], h[0], group=1)
    pool.free_blocks([a, b])
    pool.get_new_blocks(5)
    assert pool.take_events() == removed(h[1], h[0], group=1)


def test_reset_reports_one_cleared(request_a: Request) -> None:
    pool = BlockPool(4, True, 2, enable_kv_cache_events=True, medium="CPU")
    blocks = pool.get_new_blocks(2)
    pool.cache_full_blocks(request_a, blocks, 0, 1, 2, 0)
    pool.free_blocks(blocks)
    pool.reset_prefix_cache()
    event, cleared = pool.take_events()
    assert isinstance(event, BlockStored)
    assert event.medium == "CPU"
    assert cleared == AllBlocksCleared("CPU")


def test_quiet_pools_report_nothing(request_a: Request) -> None:
    pool = BlockPool(4, True, 2)
    blocks = pool.get_new_blocks(2)
    pool.cache_full_blocks(request_a, blocks, 0, 2, 2, 0)
    pool.cache_partial_block(request_a, blocks[1], 2, 0, 2)
    pool.emit_cached_block_events(request_a, 2, 2, 0)
    pool.evict_blocks({1})
    pool.free_blocks(blocks)
    assert pool.reset_prefix_cache()
    assert pool.take_events() == []


def test_adapter_salt_session_and_lookahead_are_reported() -> None:
    pool = BlockPool(4, True, 2, True, num_hash_lookahead_tokens=1)
    request = Request("r", range(5), 2, adapter=Adapter("poet", 7), cache_salt="s", num_hash_lookahead_tokens=1)
    request.session_id = "chat"  # type: ignore[attr-defined]
    pool.cache_full_blocks(request, pool.get_new_blocks(2), 0, 2, 2, 0)
    (event,) = pool.take_events()
    assert isinstance(event, BlockStored)
    assert (event.lora_name, event.lora_id, event.session_id) == ("poet", 7, "chat")
    assert event.lookahead_token_ids == [[2], [4]]
    assert event.extra_keys == [(("adapter", "poet", 7), ("salt", "s")), (("adapter", "poet", 7),)]


def test_a_request_of_vllm_shape_is_read() -> None:
    pool = BlockPool(4, True, 2, True)
    lora = SimpleNamespace(adapter_id=4, name="lora")
    request = SimpleNamespace(request_id="v", block_hashes=[b"x"], all_token_ids=[1, 2, 3], lora_request=lora)
    pool.cache_full_blocks(request, pool.get_new_blocks(1), 0, 1, 2, 0)
    expected = BlockStored([b"x"], None, [1, 2], 2, 4, "GPU", "lora", group_idx=0)
    assert pool.take_events() == [expected]


@pytest.mark.parametrize("emitted", [0, 4])
def test_hits_are_reported_again_only_if_findable(emitted: int, pool: BlockPool, request_a: Request) -> None:
    h = request_a.block_hashes
    blocks = pool.get_new_blocks(4)
    pool.cache_full_blocks(request_a, blocks, 0, 4, 2, 0, [True, True, False, True])
    pool.take_events()
    pool.emit_cached_block_events(request_a, emitted, 2, 0)
    runs = [stored(request_a, 0, 2, None), stored(request_a, 3, 4, None)]
    assert pool.take_events() == (runs if emitted else [])
    pool.emit_cached_block_events(request_a, 2, 4, 0)
    assert pool.take_events() == [stored(request_a, 0, 2, None, size=4)], "digests of 4 and 8 tokens are findable"
    pool.evict_blocks({2})
    pool.take_events()
    pool.emit_cached_block_events(request_a, 2, 4, 0)
    assert pool.take_events() == [stored(request_a, 1, 2, None, size=4)]
    assert h[1] != h[3]
