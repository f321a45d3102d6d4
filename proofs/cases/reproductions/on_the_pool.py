"""Findings that the pool alone shows: on the core files of the release, or on those of an installed one."""

from collections.abc import Iterator

from blockpool.proofs.cases.reproductions.saying import Told, listed, so, told
from blockpool.proofs.systems.vllm.testbench import UNIT, Lab


def a_key_is_told_removed_and_still_served(lab: Lab) -> Iterator[str]:
    pool, request = lab.pool(2, events=True), lab.request(range(UNIT))
    first, second = pool.get_new_blocks(2)
    lab.publish(pool, request, [first])
    lab.publish(pool, request, [second])
    pool.take_events()
    pool.evict_blocks({first.block_id})
    events, found = told(lab, pool, request, UNIT), lab.find(pool, request)
    yield so(events == [Told("Removed", (4,))], f"evicting one of two blocks with the same key tells {listed(events)}")
    yield so(found is second, f"a lookup of those 4 tokens still answers block {second.block_id}")


def events_name_tokens_without_keys(lab: Lab) -> Iterator[str]:
    pool, request = lab.pool(3, events=True), lab.request(range(3 * UNIT))
    blocks = pool.get_new_blocks(3)
    pool.cache_full_blocks(request, blocks, 0, 2, UNIT, 0, [False, False])
    masked = told(lab, pool, request, UNIT)
    yield so(masked == [Told("Stored", (), None, 8)], f"two blocks, both masked: {listed(masked)}")
    pool.cache_full_blocks(request, [pool.null_block] * 2, 0, 2, UNIT, 1)
    null = told(lab, pool, request, UNIT)
    yield so(null == [Told("Stored", (), None, 8)], f"the null block twice: {listed(null)}")
    pool.cache_full_blocks(request, blocks, 0, 3, UNIT, 2, [False, True, False])
    sparse = told(lab, pool, request, UNIT)
    yield so(sparse == [Told("Stored", (8,), None, 12)], f"three blocks, the second alone unmasked: {listed(sparse)}")


def parents_are_named_that_nobody_was_told_of(lab: Lab) -> Iterator[str]:
    pool, request = lab.pool(2, unit=2, events=True), lab.request(range(16), 2)
    (block,) = pool.get_new_blocks(1)
    pool.cache_partial_block(request, block, 6, 0, 8)
    events, parent = told(lab, pool, request, 2), pool.get_cached_block(request.block_hashes[1], [0])
    yield so(events == [Told("Stored", (6,), 4, 2)], f"6 tokens in a block of 8, units of 2: {listed(events)}")
    yield so(parent is None, "the first 4 tokens were never stored, and a lookup of them answers nothing")

    pool, request = lab.pool(2, events=True), lab.request(range(2 * UNIT))
    blocks = pool.get_new_blocks(2)
    pool.cache_full_blocks(request, blocks, 0, 1, UNIT, 0, [False])
    pool.take_events()
    pool.cache_full_blocks(request, blocks, 1, 2, UNIT, 0)
    events, parent = told(lab, pool, request, UNIT), lab.find(pool, request)
    yield so(events == [Told("Stored", (8,), 4, 4)], f"a block behind one that was masked: {listed(events)}")
    yield so(parent is None, "a lookup of its parent, the first 4 tokens, answers nothing")


def later_blocks_of_a_chain_stay_without_the_first(lab: Lab) -> Iterator[str]:
    pool, request = lab.pool(3), lab.request(range(3 * UNIT))
    blocks = pool.get_new_blocks(3)
    lab.publish(pool, request, blocks[:2])
    pool.evict_blocks({blocks[0].block_id})
    pool.cache_full_blocks(request, blocks, 2, 3, UNIT, 0)
    kept = [number * UNIT for number in (1, 2, 3) if lab.find(pool, request, number) is not None]
    stay = " and ".join(map(str, kept))
    yield so(kept == [8, 12], f"the first of two blocks evicted, a third published: keys of {stay} tokens stay")
    yield so(lab.find(pool, request) is None, "a lookup of the first 4 tokens answers nothing: no chain begins")
