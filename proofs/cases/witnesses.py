"""Witnesses of the claims ledger: what a well-known article says of vLLM's pool, tried.

Each is run on every lab that its claim names, and fails if the pool does as the article says where that is wrong.
"""

import ast
import sys
from typing import Any

from blockpool.proofs.systems.vllm.files import release_folder
from blockpool.proofs.systems.vllm.release import core_release
from blockpool.proofs.systems.vllm.testbench import Lab


def cached_free_blocks_count_as_free(lab: Lab) -> None:
    pool, request = lab.pool(4), lab.request(range(16))
    blocks = pool.get_new_blocks(4)
    lab.publish(pool, request, blocks)
    pool.free_blocks(reversed(blocks))
    assert lab.find(pool, request, 4) is blocks[3]
    assert pool.get_usage() == 0.0


def pending_watchers_do_not_hinder_a_reset(lab: Lab) -> None:
    pool, told = lab.pool(2), list[Any]()
    pool.unpin_blocks(pool.get_new_blocks(2), told.append)
    assert pool.reset_prefix_cache() is True
    assert len(told) == 2


def the_longest_chain_of_a_batch_goes_first(lab: Lab) -> None:
    pool, request = lab.pool(4), lab.request(range(16))
    blocks = pool.get_new_blocks(4)
    lab.publish(pool, request, blocks)
    pool.free_blocks(reversed(blocks))
    covered = [pool.blocks[number].block_hash_num_tokens for number in lab.queue(pool)]
    assert covered == [16, 12, 8, 4]


def unpinned_blocks_are_not_handed_out_last(lab: Lab) -> None:
    pool, request = lab.pool(4), lab.request(range(8))
    blocks = pool.get_new_blocks(4)
    lab.publish(pool, request, blocks[:2])
    pool.unpin_blocks([blocks[2]], print)
    pool.free_blocks([blocks[1], blocks[0]])
    assert lab.queue(pool) == [3, 2, 1]


def a_move_leaves_the_source_without_a_key(lab: Lab) -> None:
    pool, request = lab.pool(2), lab.request(range(4))
    source, target = pool.get_new_blocks(2)
    lab.publish(pool, request, [source])
    pool.move_block_hashes(source, target)
    assert source.block_hash is None
    assert lab.find(pool, request) is target


def only_shorter_prefixes_make_further_keys(lab: Lab) -> None:
    pool, request = lab.pool(4, unit=2), lab.request(range(16), 2)
    promoted, masked, other, alias = pool.get_new_blocks(4)
    pool.cache_partial_block(request, promoted, 2, 0, UNIT_OF_BLOCKS)
    pool.cache_full_blocks(request, [promoted], 0, 1, UNIT_OF_BLOCKS, 0)
    pool.cache_full_blocks(request, [masked, other], 0, 2, UNIT_OF_BLOCKS, 1, [True, False])
    pool.cache_full_blocks(request, [alias], 0, 1, UNIT_OF_BLOCKS, 2)
    pool.cache_partial_block(request, alias, 2, 2, UNIT_OF_BLOCKS)
    assert [lab.keys(pool, block) for block in (promoted, masked, other, alias)] == [1, 1, 0, 2]


UNIT_OF_BLOCKS = 4


def a_block_that_is_not_full_carries_the_primary_key(lab: Lab) -> None:
    pool, request = lab.pool(1, unit=2), lab.request(range(4), 2)
    (block,) = pool.get_new_blocks(1)
    pool.cache_partial_block(request, block, 2, 0, 4)
    assert block.block_hash is not None
    assert block.block_hash_num_tokens == 2


def an_unpinned_block_may_stay_held(lab: Lab) -> None:
    pool = lab.pool(1)
    (block,) = pool.get_new_blocks(1)
    pool.touch([block])
    pool.unpin_blocks([block], print)
    assert block.ref_cnt == 1
    assert lab.queue(pool) == []


def the_reference_goes_before_the_watcher_comes(lab: Lab) -> None:
    pool, seen = lab.pool(1), list[tuple[int, list[int]]]()

    class Watchers(dict[int, Any]):
        def __setitem__(self, number: int, callback: Any) -> None:
            seen.append((pool.blocks[number].ref_cnt, lab.queue(pool)))
            super().__setitem__(number, callback)

    pool._reuse_watchers = Watchers()
    pool.unpin_blocks(pool.get_new_blocks(1), print)
    assert seen == [(0, [])]


def nobody_uses_what_eviction_answers(lab: Lab) -> None:
    tree = ast.parse((release_folder(lab.release) / "block_pool.py").read_text())
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "_maybe_evict_cached_block"
    ]
    assert calls
    assert all(id(call) in alone for call in calls)


def the_queue_has_no_prepend(lab: Lab) -> None:
    methods = [name for name in vars(lab.queue_class) if not name.startswith("_")]
    assert "prepend" not in methods
    assert len([name for name in methods if callable(getattr(lab.queue_class, name))]) == 8


def without_caching_keys_survive_reallocation(lab: Lab) -> None:
    pool, request = lab.pool(1, caching=False), lab.request(range(4))
    blocks = pool.get_new_blocks(1)
    lab.publish(pool, request, blocks)
    pool.free_blocks(blocks)
    (block,) = pool.get_new_blocks(1)
    assert block.block_hash is not None
    assert lab.find(pool, request) is block


def a_double_free_fails_in_an_innocent_caller(lab: Lab) -> None:
    pool = lab.pool(2)
    (block,) = pool.get_new_blocks(1)
    pool.free_blocks([block, block])  # the guilty call
    assert block.ref_cnt == -1
    assert _raises(AssertionError, pool.get_new_blocks, 2)


def a_negative_number_evicts_the_last_block(lab: Lab) -> None:
    pool, request = lab.pool(2), lab.request(range(8))
    blocks = pool.get_new_blocks(2)
    lab.publish(pool, request, blocks)
    pool.evict_blocks({-1})
    assert blocks[1].block_hash is None
    assert _raises(AssertionError, pool.evict_blocks, {3})


def cached_blocks_may_stand_first_and_blank_ones_last(lab: Lab) -> None:
    pool, request = lab.pool(3), lab.request(range(12))
    blocks = pool.get_new_blocks(3)
    lab.publish(pool, request, blocks)
    pool.free_blocks(reversed(blocks))
    pool.evict_blocks({1})
    assert lab.queue(pool) == [3, 2, 1]
    assert [pool.blocks[number].block_hash is None for number in (3, 2, 1)] == [False, False, True]


def inside_one_call_the_given_order_is_kept(lab: Lab) -> None:
    pool = lab.pool(4)
    one, two, three, four = pool.get_new_blocks(4)
    pool.free_blocks([one, two])
    pool.free_blocks([three, four])
    assert lab.queue(pool) == [3, 4, 1, 2]


def only_a_release_makes_a_block_recent(lab: Lab) -> None:
    pool, request = lab.pool(3), lab.request(range(12))
    blocks = pool.get_new_blocks(3)
    lab.publish(pool, request, blocks)
    pool.free_blocks(blocks)
    lab.find(pool, request)
    assert lab.queue(pool) == [1, 2, 3]
    pool.touch([blocks[0]])
    assert lab.queue(pool) == [2, 3]
    pool.free_blocks([blocks[0]])
    assert lab.queue(pool) == [2, 3, 1]


def the_first_copy_is_served(lab: Lab) -> None:
    pool, request = lab.pool(3), lab.request(range(4))
    one, two, three = pool.get_new_blocks(3)
    for block in (three, one, two):
        lab.publish(pool, request, [block])
    assert lab.find(pool, request) is three
    pool.evict_blocks({3})
    assert lab.find(pool, request) is one


def a_removal_is_told_while_a_copy_serves(lab: Lab) -> None:
    pool, request = lab.pool(2, events=True), lab.request(range(4))
    blocks = pool.get_new_blocks(2)
    for block in blocks:
        lab.publish(pool, request, [block])
    pool.take_events()
    pool.evict_blocks({1})
    assert [type(event).__name__ for event in pool.take_events()] == ["BlockRemoved"]
    assert lab.find(pool, request) is blocks[1]


def hashing_is_not_memoised(lab: Lab) -> None:
    assert not hasattr(core_release(lab.release).utils.hash_block_tokens, "cache_info")


def a_lookahead_delays_a_hash() -> None:
    from blockpool import impl

    plain, ahead = (impl.Request("r", range(8), 4, num_hash_lookahead_tokens=tokens) for tokens in (0, 2))
    assert (len(plain.block_hashes), len(ahead.block_hashes)) == (2, 1)
    ahead.append_tokens([8, 9])
    assert len(ahead.block_hashes) == 2


def a_released_block_with_a_key_goes_to_the_back(lab: Lab) -> None:
    pool, request = lab.pool(3), lab.request(range(4))
    keyed, blank = pool.get_new_blocks(2)
    lab.publish(pool, request, [keyed])
    pool.free_blocks([keyed])
    pool.free_blocks([blank])
    assert lab.queue(pool) == [2, 3, 1]


def publishing_makes_objects(lab: Lab) -> None:
    pool, request = lab.pool(2048), lab.request(range(4 * 2048))
    blocks = pool.get_new_blocks(2048)
    before = sys.getallocatedblocks()
    lab.publish(pool, request, blocks)
    assert sys.getallocatedblocks() - before > 2048


def a_raising_watcher_leaves_half_an_allocation(lab: Lab) -> None:
    pool = lab.pool(4)

    def gone(block: Any) -> None:
        raise KeyError("transport gone")

    pool.unpin_blocks(pool.get_new_blocks(2), gone)
    assert _raises(KeyError, pool.get_new_blocks, 4)
    assert pool.get_num_free_blocks() == 0
    assert all(block.ref_cnt == 0 for block in pool.blocks[1:])


def _raises(error: type[Exception], call: Any, *arguments: Any) -> bool:
    try:
        call(*arguments)
    except error:
        return True
    return False
