"""Keys of blocks: publishing, promotion, aliases, duplicates, moving, eviction, reset."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from blockpool.impl import BlockPool, Request, make_block_hash_with_group_id

Picture = Callable[[BlockPool], dict[str, Any]]
Queue = Callable[[BlockPool], list[int]]


@pytest.fixture(params=[True, False], ids=["events", "quiet"])
def pool(request: pytest.FixtureRequest) -> BlockPool:
    """Events send every call the careful way; without them the shortcuts are taken."""
    return BlockPool(6, True, 2, enable_kv_cache_events=request.param)


def test_published_blocks_are_found_by_their_prefix(pool: BlockPool, request_a: Request, request_b: Request) -> None:
    h = request_a.block_hashes
    blocks = pool.get_new_blocks(3)
    pool.cache_full_blocks(request_a, blocks, 0, 1, 2, 0)
    pool.cache_full_blocks(request_a, blocks, 1, 3, 2, 0)
    assert [pool.get_cached_block(digest, [0]) for digest in h] == [[blocks[0]], [blocks[1]], [blocks[2]], None]
    assert [block.block_hash for block in blocks] == [digest + bytes(4) for digest in h[:3]]
    assert [block.block_hash_num_tokens for block in blocks] == [2, 4, 6]
    assert pool.get_cached_block(h[0], [1]) is None
    assert pool.get_cached_block(request_b.block_hashes[0], [0]) is None


def test_a_hit_needs_every_group(pool: BlockPool, request_a: Request) -> None:
    h = request_a.block_hashes
    a, b = pool.get_new_blocks(2)
    pool.cache_full_blocks(request_a, [a], 0, 1, 2, 0)
    assert pool.get_cached_block(h[0], [0, 1]) is None
    pool.cache_full_blocks(request_a, [b], 0, 1, 2, 1)
    assert pool.get_cached_block(h[0], [0, 1]) == [a, b]
    assert pool.get_cached_block(h[0], [1, 0]) == [b, a]
    assert pool.get_cached_block(h[0], []) == []


def test_a_block_of_several_units_uses_the_last_digest_inside_it(pool: BlockPool, request_a: Request) -> None:
    for _ in range(2):  # the second time through the shortcut
        blocks = pool.get_new_blocks(2)
        pool.cache_full_blocks(request_a, blocks, 0, 2, 4, 0)
        assert [block.block_hash_num_tokens for block in blocks] == [4, 8]
        assert [block.block_hash for block in blocks] == [request_a.block_hashes[i] + bytes(4) for i in (1, 3)]
        pool.evict_blocks({block.block_id for block in blocks})


def test_null_and_masked_blocks_are_left_out(pool: BlockPool, request_a: Request) -> None:
    a, b, c = pool.get_new_blocks(3)
    pool.cache_full_blocks(request_a, [pool.null_block, a, b, c], 0, 4, 2, 0, [True, True, False, True])
    assert [block.block_hash_num_tokens for block in (a, b, c)] == [4, None, 8]
    pool.cache_full_blocks(request_a, [pool.null_block, a, b, pool.null_block], 2, 4, 2, 0)
    assert b.block_hash_num_tokens == 6
    assert pool.null_block.block_hash is None


def test_nothing_to_publish_is_no_error(pool: BlockPool, request_a: Request, picture: Picture) -> None:
    before = picture(pool)
    for first, end in ((0, 0), (2, 1), (9, 9)):
        pool.cache_full_blocks(request_a, [], first, end, 2, 0)
    assert picture(pool) == before


@pytest.mark.parametrize("n", [1, 2])
def test_full_block_replaces_its_shorter_keys(n: int, pool: BlockPool, request_a: Request, request_b: Request) -> None:
    blocks = pool.get_new_blocks(2)
    pool.cache_partial_block(request_a, blocks[0], 2, 0, 4)
    pool.cache_full_blocks(request_a, blocks, 0, n, 4, 0)
    assert pool.keys_of(blocks[0]) == ((request_a.block_hashes[1], 0),)
    assert pool.get_cached_block(request_a.block_hashes[0], [0]) is None
    assert len(pool.cached_block_hash_to_block) == n


def test_partial_blocks_grow_and_collect_aliases(pool: BlockPool, request_a: Request, request_b: Request) -> None:
    h = request_a.block_hashes
    (block,) = pool.get_new_blocks(1)
    assert pool.cache_partial_block(request_a, block, 2, 7, 8) == h[0] + b"\x00\x00\x00\x07"
    assert pool.cache_partial_block(request_a, block, 6, 7, 8) == make_block_hash_with_group_id(h[2], 7)
    assert pool.keys_of(block) == ((h[2], 7),), "grown: the short one is gone"
    assert block.block_hash_num_tokens == 6, "grown: the short one is gone"
    pool.cache_partial_block(request_a, block, 4, 7, 8)
    pool.cache_partial_block(request_b, block, 2, 7, 8)
    assert pool.keys_of(block) == ((h[2], 7), (h[1], 7), (request_b.block_hashes[0], 7))
    assert block.block_hash_num_tokens == 6
    assert pool.get_cached_block(h[1], [7]) == [block]
    for tokens in (6, 4):  # known keys
        assert pool.cache_partial_block(request_a, block, tokens, 7, 8) == make_block_hash_with_group_id(
            h[tokens // 2 - 1], 7
        )
    assert len(pool.keys_of(block)) == 3
    pool.cache_partial_block(request_a, block, 8, 7, 8)
    assert pool.keys_of(block) == ((h[3], 7),)
    assert not pool._aliases


def test_replacing_drops_every_old_key(pool: BlockPool, request_a: Request, request_b: Request) -> None:
    (block,) = pool.get_new_blocks(1)
    pool.cache_partial_block(request_a, block, 4, 0, 4)
    pool.cache_partial_block(request_a, block, 2, 0, 4)
    pool.cache_partial_block(request_b, block, 4, 0, 4, replace_existing_hashes=True)
    assert pool.keys_of(block) == ((request_b.block_hashes[1], 0),)
    assert len(pool.cached_block_hash_to_block) == 1
    pool.cache_partial_block(request_b, block, 2, 0, 4, replace_existing_hashes=True)
    assert block.block_hash_num_tokens == 2


def test_the_null_block_is_never_published_in_part(pool: BlockPool, request_a: Request, picture: Picture) -> None:
    before = picture(pool)
    assert pool.cache_partial_block(request_a, pool.null_block, 2, 0, 4) is None
    assert picture(pool) == before


def test_equal_keys_are_kept_and_the_first_is_served(pool: BlockPool, request_a: Request) -> None:
    digest = request_a.block_hashes[0]
    blocks = pool.get_new_blocks(3)
    for block in blocks:
        pool.cache_full_blocks(request_a, [block], 0, 1, 2, 0)
    assert pool.get_cached_block(digest, [0]) == [blocks[0]]
    pool.evict_blocks({1})
    assert pool.get_cached_block(digest, [0]) == [blocks[1]]
    pool.free_blocks([blocks[2], blocks[1], blocks[0]])
    pool.get_new_blocks(4)  # blocks 1, 4, 5 and then 3
    assert pool.get_cached_block(digest, [0]) == [blocks[1]]
    assert blocks[2].block_hash is None
    pool.get_new_blocks(1)
    assert pool.get_cached_block(digest, [0]) is None
    assert len(pool.cached_block_hash_to_block) == 0


def test_a_lent_block_has_lost_all_its_keys(pool: BlockPool, request_a: Request) -> None:
    (block,) = pool.get_new_blocks(1)
    pool.cache_partial_block(request_a, block, 4, 0, 4)
    pool.cache_partial_block(request_a, block, 2, 1, 4)
    pool.free_blocks([block])
    assert pool.get_cached_block(request_a.block_hashes[1], [0]) == [block], "free, but still a hit"
    assert pool.get_new_blocks(5)[-1] is block
    assert pool.keys_of(block) == ()
    assert block.block_hash_num_tokens is None
    assert len(pool.cached_block_hash_to_block) == 0


def test_moving_hands_over_all_keys_silently(pool: BlockPool, request_a: Request) -> None:
    h = request_a.block_hashes
    src, dst, copy = pool.get_new_blocks(3)
    pool.cache_partial_block(request_a, src, 6, 0, 8)
    pool.cache_partial_block(request_a, src, 4, 0, 8)
    pool.cache_partial_block(request_a, copy, 4, 0, 8)
    pool.take_events()
    pool.move_block_hashes(src, dst)
    assert pool.keys_of(dst) == ((h[2], 0), (h[1], 0))
    assert dst.block_hash_num_tokens == 6
    assert pool.keys_of(src) == ()
    assert src.block_hash is None
    assert pool.take_events() == []
    assert pool.get_cached_block(h[1], [0]) == [copy], "the moved one is last now"
    pool.free_blocks([src])
    pool.move_block_hashes(dst, copy) if not pool.keys_of(copy) else pool.evict_blocks({copy.block_id})
    pool.move_block_hashes(dst, copy)
    assert pool.keys_of(copy) == ((h[2], 0), (h[1], 0))


def test_moving_nothing_changes_nothing(pool: BlockPool, picture: Picture) -> None:
    a, b = pool.get_new_blocks(2)
    before = picture(pool)
    for src in (a, b, pool.null_block, pool.blocks[4]):
        pool.move_block_hashes(src, b)
    assert picture(pool) == before


def test_keys_of_a_free_block_can_move(pool: BlockPool, request_a: Request, queue_of: Queue) -> None:
    src, dst = pool.get_new_blocks(2)
    pool.cache_full_blocks(request_a, [src], 0, 1, 2, 0)
    pool.free_blocks([src])
    pool.move_block_hashes(src, dst)
    assert queue_of(pool) == [3, 4, 5, 1]
    assert pool.get_cached_block(request_a.block_hashes[0], [0]) == [dst]


def test_eviction_drops_keys_and_nothing_else(pool: BlockPool, request_a: Request, queue_of: Queue) -> None:
    blocks = pool.get_new_blocks(3)
    pool.cache_full_blocks(request_a, blocks, 0, 3, 2, 0)
    pool.free_blocks([blocks[1]])
    pool.evict_blocks({0, 1, 2, 5})
    assert [pool.keys_of(block) for block in blocks[:2]] == [(), ()]
    assert pool.get_cached_block(request_a.block_hashes[2], [0]) == [blocks[2]]
    assert [block.ref_cnt for block in blocks] == [1, 0, 1]
    assert queue_of(pool) == [4, 5, 2]
    pool.evict_blocks(set())


def test_reset_clears_keys_but_not_the_order(pool: BlockPool, request_a: Request, queue_of: Queue) -> None:
    blocks = pool.get_new_blocks(3)
    pool.cache_full_blocks(request_a, blocks, 0, 2, 2, 0)
    pool.cache_partial_block(request_a, blocks[1], 2, 0, 2)
    pool.cache_full_blocks(request_a, blocks[2:], 0, 1, 2, 0)
    assert pool.reset_prefix_cache() is False
    assert len(pool.cached_block_hash_to_block) == 2
    pool.free_blocks(blocks)
    assert pool.reset_prefix_cache() is True
    assert queue_of(pool) == [4, 5, 1, 2, 3]
    assert len(pool.cached_block_hash_to_block) == 0
    assert [pool.keys_of(block) for block in pool.blocks] == [()] * 6
    assert not pool._aliases
    assert pool.reset_prefix_cache() is True


def test_reset_of_a_pool_with_nothing_to_lend() -> None:
    assert BlockPool(1, True, 2).reset_prefix_cache() is True


def test_vllm_like_requests_will_do(pool: BlockPool) -> None:
    class Bare:
        request_id = "bare"
        block_hashes = (b"x" * 32, b"y" * 32)
        all_token_ids = (1, 2, 3, 4)

    for _ in range(2):
        blocks = tuple(pool.get_new_blocks(2))
        pool.cache_full_blocks(Bare(), blocks, 0, 2, 2, 0)
        assert pool.get_cached_block(b"y" * 32, [0]) == [blocks[1]]
        pool.evict_blocks({block.block_id for block in blocks})
