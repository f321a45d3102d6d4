"""The longest hit of several groups: against a brute force from its definition, and by hand."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

import pytest

from blockpool.impl import BlockPool, KVCacheBlock, Request
from blockpool.impl.managers import Coordinator, GroupSpec, Hit, Kind

UNIT = 2
LENGTH = 26
NUM_WORLDS, CASES_A_WORLD = 200, 50
Mark = tuple[bytes, int, KVCacheBlock]


# ---- brute force: every length, longest first; every group; every block that the next token reads ----


def served_by(
    coordinator: Coordinator, pools: list[BlockPool], group: int, spec: GroupSpec, request: Request, n: int
) -> tuple[KVCacheBlock, ...] | None:
    """The table of a hit of n tokens in one group, or None if a block that it needs is not there."""
    pool, s = pools[group], spec.block_size

    def find(num_tokens: int, must_be_committed: bool) -> KVCacheBlock | None:
        digest = request.block_hashes[num_tokens // UNIT - 1]
        for block in pool.cached_block_hash_to_block.blocks(digest, group):
            if not must_be_committed or not coordinator._pass.is_fresh((digest, group, block)):
                return block
        return None

    if n == 0:
        return ()
    entries: list[KVCacheBlock | None] = []
    for j in range((n - 1) // s + 1):
        end = min((j + 1) * s, n)
        if spec.kind is Kind.RING:
            entries.append(None)
        elif spec.kind is Kind.FULL:
            entries.append(find(end, end % s != 0))
        elif spec.kind is Kind.WINDOW:
            read = any(j * s <= position < end for position in range(max(0, n - spec.window + 1), n))
            entries.append(find(end, end % s != 0) if read else pool.null_block)
        else:
            entries.append(find(n, True) if end == n else pool.null_block)
    found = tuple(block for block in entries if block is not None)
    return found if len(found) == len(entries) else None


def brute_force(
    coordinator: Coordinator, pools: list[BlockPool], specs: list[GroupSpec], request: Request, prompt_len: int
) -> Hit:
    for n in range((prompt_len - 1) // UNIT * UNIT, 0, -UNIT):
        tables = [served_by(coordinator, pools, g, spec, request, n) for g, spec in enumerate(specs)]
        if all(table is not None for table in tables):
            return Hit(n, tuple(table for table in tables if table is not None))
    return Hit(0, tuple(() for _ in specs))


# ---- generated caches ----


def random_spec(rng: random.Random) -> GroupSpec:
    kind = rng.choices(list(Kind), weights=[10, 10, 1, 5])[0]
    return GroupSpec(kind, rng.choice([2, 4, 4, 6, 8]), rng.randint(1, 11) if kind is Kind.WINDOW else 0)


@dataclass
class World:
    """A cache that is filled at random, by publishing blocks directly in the pools, and then keeps changing."""

    rng: random.Random
    specs: list[GroupSpec] = field(init=False)
    pools: list[BlockPool] = field(init=False)
    coordinator: Coordinator = field(init=False)
    request: Request = field(init=False)
    other: Request = field(init=False)
    marks: list[Mark] = field(init=False)

    def __post_init__(self) -> None:
        rng = self.rng
        self.specs = [random_spec(rng) for _ in range(rng.randint(1, 4))]
        one = BlockPool(90, True, UNIT)
        self.pools = [one if rng.random() < 0.8 else BlockPool(60, True, UNIT) for _ in self.specs]
        self.coordinator = Coordinator(self.pools, self.specs)
        tokens = [rng.randrange(3) for _ in range(LENGTH)]
        self.request = Request("r", tokens, UNIT)
        self.other = Request("o", [*tokens[:6], *(9 for _ in tokens[6:])], UNIT)
        self.marks = []
        density = rng.choice([0.7, 0.9, 1.0])
        for group, spec in enumerate(self.specs):
            for n in range(UNIT, LENGTH + 1, UNIT):
                whole = n % spec.block_size == 0 and spec.kind is not Kind.STATE
                if rng.random() < (density if whole else density / 2):
                    self.publish(group, n)

    def publish(self, group: int, num_tokens: int) -> None:
        """Under `num_tokens` tokens, on a new block or, under a shorter or longer prefix, on a used one."""
        pool, spec, rng = self.pools[group], self.specs[group], self.rng
        if spec.kind is Kind.RING:
            return
        request = self.other if rng.random() < 0.1 else self.request
        digest = request.block_hashes[num_tokens // UNIT - 1]
        keyed = [b for b in pool.blocks if b.ref_cnt and b.block_hash_num_tokens not in (None, num_tokens)]
        keyed = [b for b in keyed if any(g == group for _, g in pool.keys_of(b))]
        if rng.random() < 0.1 and keyed:
            block = rng.choice(keyed)
        elif pool.get_num_free_blocks():
            (block,) = pool.get_new_blocks(1)
        else:
            return
        if (digest, group) not in pool.keys_of(block):
            pool.cache_partial_block(request, block, num_tokens, group, spec.block_size)
            if rng.random() < 0.3:
                self.coordinator._pass.note_published(f"p{rng.randrange(3)}", (digest, group, block))

    def change(self) -> None:
        rng = self.rng
        group = rng.randrange(len(self.specs))
        choice = rng.random()
        if choice < 0.6:
            self.publish(group, rng.randrange(UNIT, LENGTH + 1, UNIT))
        elif choice < 0.85:
            keyed = [block for block in self.pools[group].blocks if block.block_hash]
            if keyed:
                block = rng.choice(keyed)
                self.pools[group].evict_blocks({block.block_id})
                self.pools[group].free_blocks([block])
        elif choice < 0.95:
            self.coordinator._pass.forget(f"p{rng.randrange(3)}")
        else:
            self.coordinator.commit()


@pytest.mark.parametrize("part", range(4))
def test_the_longest_hit_is_that_of_a_brute_force(part: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(part, NUM_WORLDS, 4):
        world = World(random.Random(seed))
        for _ in range(CASES_A_WORLD):
            world.change()
            prompt_len = world.rng.randint(1, LENGTH)
            expected = brute_force(world.coordinator, world.pools, world.specs, world.request, prompt_len)
            assert world.coordinator.find_longest_hit(world.request, prompt_len) == expected, (seed, world.specs)
            n = expected.num_tokens
            limit = (prompt_len - 1) // UNIT * UNIT
            seen["cases"] += 1
            seen["hits"] += n > 0
            seen["shorter"] += 0 < n < limit
            seen["cut"] += any(n % spec.block_size for spec in world.specs)
            seen["several groups"] += n > 0 and len(world.specs) > 1
    assert seen["cases"] == NUM_WORLDS * CASES_A_WORLD // 4
    assert min(seen["hits"], seen["shorter"], seen["cut"], seen["several groups"]) > seen["cases"] // 10, seen


# ---- by hand ----


def test_at_least_one_token_is_left_to_compute() -> None:
    pool = BlockPool(9, True, UNIT)
    coordinator = Coordinator(pool, [GroupSpec(Kind.FULL, 4)])
    request = Request("r", range(8), UNIT)
    blocks = pool.get_new_blocks(2)
    pool.cache_full_blocks(request, blocks, 0, 2, 4, 0)
    pool.cache_partial_block(request, blocks[1], 6, 0, 4)
    hits = {length: coordinator.find_longest_hit(request, length).num_tokens for length in range(1, 9)}
    assert hits == {1: 0, 2: 0, 3: 0, 4: 0, 5: 4, 6: 4, 7: 6, 8: 6}


def test_digests_that_do_not_exist_yet_end_the_hit() -> None:
    pool = BlockPool(9, True, UNIT)
    coordinator = Coordinator(pool, [GroupSpec(Kind.FULL, 2)])
    request = Request("r", range(6), UNIT, num_hash_lookahead_tokens=3)
    pool.cache_full_blocks(request, pool.get_new_blocks(1), 0, 1, 2, 0)
    assert coordinator.find_longest_hit(request, 6).num_tokens == 2


def test_a_window_needs_only_what_it_reads() -> None:
    pool = BlockPool(9, True, UNIT)
    coordinator = Coordinator(pool, [GroupSpec(Kind.WINDOW, 2, window=4)])
    request = Request("r", range(12), UNIT)
    blocks = pool.get_new_blocks(2)
    table = [pool.null_block] * 2 + blocks
    pool.cache_full_blocks(request, table, 0, 4, 2, 0)
    # Token 8 reads 5 to 8, in entries 2 and 3.
    assert coordinator.find_longest_hit(request, 12) == Hit(8, (tuple(table),))
    pool.evict_blocks({blocks[0].block_id})
    assert coordinator.find_longest_hit(request, 12) == Hit(0, ((),))


def test_a_lookup_changes_nothing() -> None:
    pool = BlockPool(9, True, UNIT)
    coordinator = Coordinator(pool, [GroupSpec(Kind.FULL, 2), GroupSpec(Kind.STATE, 2)])
    request = Request("r", range(6), UNIT)
    for group in (0, 1):
        pool.cache_full_blocks(request, pool.get_new_blocks(2), 0, 2, 2, group)
    before = [block.ref_cnt for block in pool.blocks]
    assert coordinator.find_longest_hit(request, 6).num_tokens == 4
    assert [block.ref_cnt for block in pool.blocks] == before
    assert not coordinator.running
