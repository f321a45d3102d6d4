"""Witnesses of the claims ledger: what the article has right, tried in the same way."""

from typing import Any

from blockpool.proofs.systems.vllm.testbench import Lab


def watchers_are_told_before_keys_go(lab: Lab) -> None:
    pool, request, seen = lab.pool(1), lab.request(range(4)), list[Any]()
    (block,) = pool.get_new_blocks(1)
    lab.publish(pool, request, [block])
    pool.unpin_blocks([block], lambda told: seen.append((told, lab.find(pool, request))))
    pool.get_new_blocks(1)
    assert seen == [(block, block)]
    assert lab.find(pool, request) is None


def blank_blocks_are_reused_last_in_first_out(lab: Lab) -> None:
    pool, request = lab.pool(4), lab.request(range(8))
    one, two, three, four = pool.get_new_blocks(4)
    lab.publish(pool, request, [one, two])
    for block in (one, three, two, four):
        pool.free_blocks([block])
    assert lab.queue(pool) == [4, 3, 1, 2]


def equal_prefixes_are_both_kept(lab: Lab) -> None:
    pool, request = lab.pool(2), lab.request(range(4))
    one, two = pool.get_new_blocks(2)
    lab.publish(pool, request, [one])
    lab.publish(pool, request, [two])
    assert (lab.keys(pool, one), lab.keys(pool, two)) == (1, 1)


def a_later_watcher_replaces_an_earlier(lab: Lab) -> None:
    pool, told = lab.pool(1), list[str]()
    (block,) = pool.get_new_blocks(1)
    pool.touch([block])
    pool.unpin_blocks([block], lambda _: told.append("first"))
    pool.unpin_blocks([block], lambda _: told.append("second"))
    pool.get_new_blocks(1)
    assert told == ["second"]


def the_null_block_is_skipped(lab: Lab) -> None:
    pool = lab.pool(2)
    pool.free_blocks([pool.null_block])
    pool.touch([pool.null_block])
    assert lab.queue(pool) == [1, 2]
    assert pool.get_usage() == 0.0


def a_key_belongs_to_one_group(lab: Lab) -> None:
    pool, request = lab.pool(1), lab.request(range(4))
    blocks = pool.get_new_blocks(1)
    lab.publish(pool, request, blocks, group=1)
    assert lab.find(pool, request, group=1) is blocks[0]
    assert lab.find(pool, request, group=0) is None


def the_free_count_is_kept_and_not_counted(lab: Lab) -> None:
    pool = lab.pool(3)
    pool.get_new_blocks(2)
    assert pool.free_block_queue.num_free_blocks == pool.get_num_free_blocks() == len(lab.queue(pool)) == 1
