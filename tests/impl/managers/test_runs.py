"""Seeded random schedulers over mixed groups, with an oracle of what every block holds.

After every call: references are conserved, demand was exact, a refusal changed nothing. In every pass: each token that
is read was written for the same prefix. After it: every key in the index is true. At the end: all blocks are free.
"""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from blockpool.impl import BlockPool, KVCacheBlock, Request
from blockpool.impl.managers import Coordinator, GroupSpec, Kind, StillReadError

UNIT = 2
FULL, WINDOW, RING, STATE = Kind.FULL, Kind.WINDOW, Kind.RING, Kind.STATE
MODELS: dict[str, list[GroupSpec]] = {
    "full": [GroupSpec(FULL, 4)],
    "window": [GroupSpec(WINDOW, 2, 5)],
    "state": [GroupSpec(STATE, 4)],
    "ring": [GroupSpec(RING, 4)],
    "full and window": [GroupSpec(FULL, 4), GroupSpec(WINDOW, 2, 3)],
    "full and state": [GroupSpec(FULL, 2), GroupSpec(STATE, 6)],
    "cut tails": [GroupSpec(FULL, 6), GroupSpec(STATE, 4)],
    "narrow window": [GroupSpec(FULL, 4), GroupSpec(WINDOW, 4, 1), GroupSpec(STATE, 4)],
    "full and ring": [GroupSpec(RING, 4), GroupSpec(FULL, 2)],
    "all but ring": [GroupSpec(WINDOW, 4, 6), GroupSpec(STATE, 4), GroupSpec(FULL, 8)],
}
CASES = [(name, pools, seed) for name in MODELS for pools in ("one pool", "several pools") for seed in range(4)]


class Workers:
    """What every block holds: for attention, the prefix that each slot was written for; for a state, its prefix."""

    def __init__(self, specs: list[GroupSpec], coordinator: Coordinator) -> None:
        self.specs, self.coordinator = specs, coordinator
        self.memory: dict[KVCacheBlock, Any] = {}

    def run(self) -> None:
        for source, destination in self.coordinator.copies_to_run():
            self.memory[destination] = copy.copy(self.memory.get(source))
        chunks = [(r, *self.chunk(r)) for r in self.coordinator.running if self.chunk(r)[0] < self.chunk(r)[1]]
        for step in (self.read_states, self.write, self.read):
            for request, start, end in chunks:
                for group, spec in enumerate(self.specs):
                    step(request, spec, self.coordinator.tables(request)[group], start, end)
        for request in self.coordinator.running:  # whoever was scheduled: nobody overwrote what he holds
            for group, spec in enumerate(self.specs):
                end = self.coordinator.scheduled(request)
                self.read(request, spec, self.coordinator.tables(request)[group], end, end)

    def chunk(self, request: Any) -> tuple[int, int]:
        return self.coordinator.computed(request), self.coordinator.scheduled(request)

    def read_states(self, request: Any, spec: GroupSpec, table: Any, start: int, end: int) -> None:
        if spec.kind is STATE and start:
            assert self.memory[table[(start - 1) // spec.block_size]] == tuple(request.all_token_ids[:start])

    def write(self, request: Any, spec: GroupSpec, table: Any, start: int, end: int) -> None:
        tokens, s = tuple(request.all_token_ids), spec.block_size
        if spec.kind is STATE:
            block = table[(end - 1) // s]
            assert not block.is_null
            assert block.ref_cnt == 1 + sum(block in ends for ends in self.coordinator.copies_to_run())
            self.memory[block] = tokens[:end]
            return
        for position in range(start, end):
            block = table[0 if spec.kind is RING else position // s]
            assert not block.is_null
            if not isinstance(self.memory.get(block), dict):
                self.memory[block] = {}
            self.memory[block][position % s] = tokens[: position + 1]

    def read(self, request: Any, spec: GroupSpec, table: Any, start: int, end: int) -> None:
        tokens, s = tuple(request.all_token_ids), spec.block_size
        if spec.kind is STATE:
            assert self.memory[table[(end - 1) // s]] == tokens[:end]
            return
        first = {FULL: 0, WINDOW: max(0, start - spec.window + 1), RING: max(0, end - s)}[spec.kind]
        for position in range(first, end):
            block = table[0 if spec.kind is RING else position // s]
            assert self.memory[block][position % s] == tokens[: position + 1], (spec, position)

    def holds(self, block: KVCacheBlock, spec: GroupSpec, prefix: tuple[int, ...]) -> bool:
        held, n, s = self.memory[block], len(prefix), spec.block_size
        if spec.kind is STATE:
            return bool(held == prefix)
        return all(held[position % s] == prefix[: position + 1] for position in range((n - 1) // s * s, n))


class Scheduler:
    def __init__(self, rng: random.Random, specs: list[GroupSpec], several: bool, picture: Callable[..., Any]) -> None:
        self.rng, self.specs, self.picture = rng, specs, picture
        size = rng.choice([10, 20, 40])
        one = BlockPool(size, True, UNIT)
        self.pools = [BlockPool(size, True, UNIT) if several else one for _ in specs]
        self.coordinator = Coordinator(self.pools if several else one, specs)
        self.workers = Workers(specs, self.coordinator)
        self.waiting: list[Request] = []
        self.prefixes: dict[bytes, tuple[int, ...]] = {}
        self.deferred: Counter[KVCacheBlock] = Counter()
        self.pins: list[tuple[KVCacheBlock, Any]] = []
        self.promised: dict[KVCacheBlock, list[Any]] = {}
        self.seen: Counter[str] = Counter()
        self.made = 0

    # ---- requests ----

    def learn(self, request: Request) -> None:
        for i, digest in enumerate(request.block_hashes):
            self.prefixes[digest] = tuple(request.all_token_ids[: (i + 1) * UNIT])

    def arrive(self) -> None:
        self.made += 1
        common = [0, 1] * 8 if self.rng.random() < 0.8 else [5, 5, 6] * 5
        own = [self.rng.randrange(2) for _ in range(self.rng.choice([0, 0, 1, 3, 5]))]
        tokens = common[: self.rng.choice([4, 6, 6, 10, 14])] + own
        self.waiting.append(Request(f"r{self.made}", tokens, UNIT))
        self.learn(self.waiting[-1])

    def follow(self) -> None:
        """A request that begins like a running one is admitted in the same pass, and the other one is dropped."""
        c = self.coordinator
        in_pass = [request for request in c.running if c.scheduled(request) > c.computed(request)]
        if in_pass:
            leader = in_pass[-1]
            self.made += 1
            self.waiting.append(Request(f"r{self.made}", [*leader.all_token_ids, 1], UNIT))
            self.learn(self.waiting[-1])
            self.admit(self.waiting[-1])
            self.check_references()
            self.drop(leader)

    def end_of_chunk(self, start: int, limit: int) -> int:
        ends = [start + self.rng.randint(1, limit - start), limit, limit]
        ends += [(start // s.block_size + 1) * s.block_size for s in self.specs if s.kind is STATE]
        return min(limit, self.rng.choice(ends))

    # ---- calls, each with the demand that is expected of it ----

    def admit(self, request: Request | None = None) -> None:
        if not self.waiting:
            return
        request = request or self.rng.choice(self.waiting)
        prompt_len = len(request.all_token_ids)
        hit = self.coordinator.find_longest_hit(request, prompt_len)
        n, upto = hit.num_tokens, self.end_of_chunk(hit.num_tokens, prompt_len)
        demand: Counter[BlockPool] = Counter()
        for pool, spec, table in zip(self.pools, self.specs, hit.tables, strict=True):
            length = 1 if spec.kind is RING else -(-upto // spec.block_size)
            new = length - len(table)
            demand[pool] += (min(new, 1) if spec.kind is STATE else new) + (n % spec.block_size != 0)
            demand[pool] += len({block for block in table if not block.is_null and block.ref_cnt == 0})
        if self.attempt(demand, n, upto, lambda: self.coordinator.admit(request, prompt_len, upto)):
            self.waiting.remove(request)
            self.seen["hit"] += n > 0
            self.seen["copied hit"] += bool(n and any(n % spec.block_size for spec in self.specs))

    def grow(self) -> None:
        c = self.coordinator
        ready = [request for request in c.running if c.scheduled(request) == c.computed(request)]
        if not ready:
            return
        request: Any = self.rng.choice(ready)
        start = c.computed(request)
        if start == len(request.all_token_ids):
            request.append_tokens([self.rng.randrange(2)])
            self.learn(request)
        upto = self.end_of_chunk(start, len(request.all_token_ids))
        demand: Counter[BlockPool] = Counter()
        behind: Counter[BlockPool] = Counter()
        for pool, spec, table in zip(self.pools, self.specs, c.tables(request), strict=True):
            s = spec.block_size
            if spec.kind is STATE and start % s and upto <= (start // s + 1) * s:
                block = table[start // s]
                demand[pool] += bool(block.block_hash) + (block.ref_cnt > 1 or block in pool._watchers)
                self.seen["keys moved"] += bool(block.block_hash)
                self.seen["left"] += block.ref_cnt > 1 or block in pool._watchers
            elif spec.kind is not RING:
                new = max(0, -(-upto // s) - len(table))
                demand[pool] += min(new, 1) if spec.kind is STATE else new
            if spec.kind is WINDOW:
                out = [b for j, b in enumerate(table) if (j + 1) * s <= start - spec.window + 1 and not b.is_null]
                behind[pool] += sum(block.ref_cnt == 1 for block in out)
                self.seen["left the window"] += len(out)
        self.attempt(demand, start, upto, lambda: c.grow(request, upto), behind)

    def attempt(
        self,
        demand: Counter[BlockPool],
        start: int,
        upto: int,
        call: Callable[[], bool],
        behind: Counter[BlockPool] | None = None,
    ) -> bool:
        """The call succeeds exactly if the chunk is allowed and the demand fits, and then takes what was computed."""
        sizes = [spec.block_size for spec in self.specs if spec.kind is STATE]
        allowed = all(start % s == 0 or upto <= (start // s + 1) * s for s in sizes)
        free = {pool: pool.get_num_free_blocks() for pool in self.pools}
        before = [self.picture(pool) for pool in self.pools]
        done = call()
        assert done is (allowed and all(demand[pool] <= free[pool] for pool in self.pools))
        if done:
            for pool in self.pools:
                given_back = behind[pool] if behind else 0
                assert pool.get_num_free_blocks() == free[pool] - demand[pool] + given_back
        else:
            assert [self.picture(pool) for pool in self.pools] == before
            self.seen["no room" if allowed else "chunk refused"] += 1
        return done

    def drop(self, request: Any = None) -> None:
        c, rng = self.coordinator, self.rng
        if not c.running:
            return
        in_pass = [request for request in c.running if c.scheduled(request) > c.computed(request)]
        request = request or rng.choice(in_pass if in_pass and rng.random() < 0.4 else c.running)
        deferred = rng.random() < 0.3
        tables = c.tables(request)
        scheduled_now = c.scheduled(request) > c.computed(request)
        call = rng.choice([c.preempt, c.preempt, c.finish, c.abort])
        try:
            call(request, deferred)
        except StillReadError:
            self.seen["still read"] += 1
            assert c.is_running(request)
            return
        self.seen["dropped in its pass"] += scheduled_now
        if deferred:
            self.deferred.update(block for table in tables for block in table if not block.is_null)
        if call == c.preempt:
            self.waiting.append(request)

    # ---- connectors ----

    def pin(self) -> None:
        c, rng = self.coordinator, self.rng
        at_rest = [request for request in c.running if c.scheduled(request) == c.computed(request)]
        if at_rest and len(self.pins) < 2:
            request = rng.choice(at_rest)
            tables = c.tables(request)
            places = [
                (group, entry)
                for group, table in enumerate(tables)
                for entry, block in enumerate(table)
                if not block.is_null and self.specs[group].kind is not RING
            ]
            if places:
                group, entry = rng.choice(places[-3:])
                block = c.pin(request, group, entry)
                self.pins.append((block, self.content(request, block, entry * self.specs[group].block_size)))

    def content(self, request: Any, block: KVCacheBlock, start: int) -> Any:
        """What the request has computed of a block; other slots hold rests of an earlier use."""
        held, tokens = self.workers.memory[block], tuple(request.all_token_ids[: self.coordinator.computed(request)])
        if not isinstance(held, dict):
            return held
        return {slot: held[slot] for slot in range(len(tokens) - start) if slot in held}

    def intact(self, block: KVCacheBlock, content: Any) -> bool:
        held = self.workers.memory[block]
        return bool(held.items() >= content.items() if isinstance(content, dict) else held == content)

    def unpin(self) -> None:
        if not self.pins:
            return
        block, content = self.pins.pop(self.rng.randrange(len(self.pins)))
        assert self.intact(block, content)
        if self.rng.random() < 0.5:
            self.coordinator.unpin_now(block)
        else:
            self.promised.setdefault(block, []).append(content)
            self.coordinator.unpin(block, self.reused)

    def reused(self, block: KVCacheBlock) -> None:
        assert all(self.intact(block, content) for content in self.promised.pop(block))
        self.seen["told"] += 1

    def invalidate(self) -> None:
        if self.coordinator.running:
            self.coordinator.invalidate(self.rng.choice(self.coordinator.running))

    # ---- passes ----

    def check_references(self) -> None:
        c = self.coordinator
        expected = Counter(b for r in c.running for table in c.tables(r) for b in table if not b.is_null)
        expected.update(block for ends in c.copies_to_run() for block in ends)
        expected.update(self.deferred)
        expected.update(block for block, _ in self.pins)
        for pool in self.pools:
            assert [block.ref_cnt for block in pool.blocks] == [expected[block] for block in pool.blocks]

    def check_keys(self) -> None:
        for pool in self.pools:
            index = pool.cached_block_hash_to_block
            for digest, group in index:
                for block in index.blocks(digest, group):
                    assert self.workers.holds(block, self.specs[group], self.prefixes[digest])
                    self.seen["true keys"] += 1

    def run_pass(self) -> None:
        steps = {self.arrive: 4.0, self.admit: 6.0, self.grow: 6.0, self.drop: 4.0, self.follow: 0.5}
        steps |= {self.pin: 1.0, self.unpin: 1.0, self.invalidate: 0.2}
        for step in self.rng.choices(list(steps), weights=list(steps.values()), k=self.rng.randint(2, 10)):
            step()
            self.check_references()
        self.workers.run()
        self.coordinator.commit()
        self.deferred.clear()
        self.check_references()
        self.check_keys()

    def drain(self) -> None:
        while self.coordinator.running:
            self.drop()
        while self.pins:
            self.unpin()
        self.workers.run()
        self.coordinator.commit()
        self.deferred.clear()
        self.check_references()
        assert all(pool.get_num_free_blocks() == pool.num_gpu_blocks - 1 for pool in self.pools)
        assert self.coordinator.reset() is True
        assert not self.promised


@pytest.mark.parametrize(("name", "pools", "seed"), CASES)
def test_random_runs_read_only_what_was_written(name: str, pools: str, seed: int, picture: Callable[..., Any]) -> None:
    rng = random.Random(f"{name} {pools} {seed}")
    scheduler = Scheduler(rng, MODELS[name], pools == "several pools", picture)
    for _ in range(80):
        scheduler.run_pass()
    scheduler.drain()
    assert name == "ring" or scheduler.seen["true keys"] > 0


def test_the_runs_meet_what_they_are_for(picture: Callable[..., Any]) -> None:
    seen: Counter[str] = Counter()
    for seed in range(5):
        for name in ("full", "full and window", "cut tails", "all but ring"):
            scheduler = Scheduler(random.Random(seed), MODELS[name], False, picture)
            for _ in range(60):
                scheduler.run_pass()
            scheduler.drain()
            seen.update(scheduler.seen)
    wanted = ["hit", "copied hit", "no room", "chunk refused", "still read", "dropped in its pass", "told"]
    wanted += ["keys moved", "left", "left the window"]
    assert all(seen[what] >= 5 for what in wanted), seen
