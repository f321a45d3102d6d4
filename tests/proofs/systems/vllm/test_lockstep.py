"""Our pool and vLLM's own, driven alike: blocks, counts, hits, events and what the metrics collector hears.

Needs the vLLM that is supported; `blockpool[vllm]`, or an environment beside this one. What is left out is where the
two differ by intent: parents that nobody can find, events without a block, and evictions of blocks without a key.
"""

import random
from collections import Counter
from typing import Any

import pytest

vllm = pytest.importorskip("vllm", reason="the real vLLM is not installed here")

from vllm.lora.request import LoRARequest  # noqa: E402
from vllm.multimodal.inputs import MultiModalFeatureSpec, MultiModalKwargsItem, PlaceholderRange  # noqa: E402
from vllm.sampling_params import SamplingParams  # noqa: E402
from vllm.utils.hashing import sha256  # noqa: E402
from vllm.v1.core.block_pool import BlockPool as TheirPool  # noqa: E402
from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash  # noqa: E402
from vllm.v1.request import Request  # noqa: E402

from blockpool.impl.vllm.pool import RequestForEvents, VllmBlockPool  # noqa: E402
from blockpool.impl.vllm.replace import supported_release  # noqa: E402

UNIT, SIZE, BLOCKS = 2, 4, 24

KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "adapter": {"lora_request": LoRARequest("adapter", 7, "/adapter")},
    "salt": {"cache_salt": "pepper"},
    "session": {"session_id": "a session"},
    "items": {
        "mm_features": [
            MultiModalFeatureSpec(
                data=MultiModalKwargsItem.dummy(),
                modality="image",
                identifier=f"image {i}",
                mm_position=PlaceholderRange(offset=offset, length=length),
            )
            for i, (offset, length) in enumerate([(1, 2), (6, 9), (17, 1), (18, 3)])
        ]
    },
}


def request(name: str, tokens: list[int], lookahead: int, **kind: Any) -> Any:
    params = SamplingParams(max_tokens=8)
    params.update_from_generation_config({}, eos_token_id=-1)
    hasher = get_request_block_hasher(UNIT, sha256, lookahead)
    return Request(name, tokens, params, None, block_hasher=hasher, **kind)


class Collector:
    """Hears what a pool tells its metrics collector; of evictions, those of blocks with a key."""

    def __init__(self, keys_are_still_there: bool) -> None:
        self.heard: Counter[tuple[str, int]] = Counter()
        self._keys_are_still_there = keys_are_still_there

    def on_block_allocated(self, block: Any) -> None:
        self.heard["allocated", block.block_id] += 1

    def on_block_accessed(self, block: Any) -> None:
        self.heard["accessed", block.block_id] += 1

    def on_block_evicted(self, block: Any) -> None:
        if block.block_hash is not None or not self._keys_are_still_there:
            self.heard["evicted", block.block_id] += 1

    def reset(self) -> None:
        self.heard["reset", 0] += 1


class Pair:
    """Both pools, and the requests that use them alike."""

    def __init__(self, lookahead: int, seed: int) -> None:
        self.pools = [
            pool(BLOCKS, True, UNIT, True, Collector(pool is TheirPool), lookahead)
            for pool in (TheirPool, VllmBlockPool)
        ]
        self.lookahead, self.random = lookahead, random.Random(seed)
        self.tables: dict[Any, tuple[list[int], int]] = {}  # blocks of each request, and how many are published

    def both(self, ask: Any) -> Any:
        theirs, ours = (ask(pool) for pool in self.pools)
        assert theirs == ours
        return ours

    def step(self, number: int) -> None:
        steps = [self.admit, self.publish, self.publish_part, self.release, self.evict, self.reset]
        self.random.choices(steps, [6, 6, 3, 4, 1, 1])[0](number)
        self.both(lambda pool: [block.ref_cnt for block in pool.blocks])
        self.both(lambda pool: [(block.block_hash, block.block_hash_num_tokens) for block in pool.blocks])
        self.both(lambda pool: [block.block_id for block in pool.free_block_queue.get_all_free_blocks()])
        self.both(lambda pool: pool.metrics_collector.heard)
        theirs, ours = (list(map(self.shown, pool.take_events())) for pool in self.pools)
        for their, our in zip(theirs, ours, strict=True):
            if our.get("parent_block_hash", 0) is None:
                their["parent_block_hash"] = None  # one that nobody can find
            assert their == our

    @staticmethod
    def shown(event: Any) -> dict[str, Any]:
        return {"type": type(event), **{name: getattr(event, name) for name in event.__struct_fields__}}

    def admit(self, number: int) -> None:
        kind = KINDS[self.random.choice(list(KINDS))]
        tokens = [self.random.choice([0, 0, 0, 1]) for _ in range(self.random.randrange(1, 30))]
        made = request(f"r{number}", tokens, self.lookahead, **kind)
        hits = []
        for digest in made.block_hashes[SIZE // UNIT - 1 :: SIZE // UNIT]:
            found = self.both(lambda pool, digest=digest: ids(pool.get_cached_block(digest, [0])))
            if found is None:
                break
            hits += found
        self.both(lambda pool: pool.touch([pool.blocks[block] for block in hits]))
        wanted = -(-len(tokens) // SIZE) - len(hits)
        if wanted > self.pools[0].get_num_free_blocks():
            self.both(lambda pool: pool.free_blocks(pool.blocks[block] for block in reversed(hits)))
            return
        self.tables[made] = (hits + self.both(lambda pool: ids(pool.get_new_blocks(wanted))), len(hits))

    def publish(self, _: int) -> None:
        if self.tables:
            made = self.random.choice(list(self.tables))
            table, published = self.tables[made]
            full = self.random.randint(published, len(made.block_hashes) * UNIT // SIZE)
            if full > published:
                self.both(lambda pool: pool.cache_full_blocks(made, on(pool, table), published, full, SIZE, 0))
                self.tables[made] = (table, full)

    def publish_part(self, _: int) -> None:
        if self.tables:
            made = self.random.choice(list(self.tables))
            table, published = self.tables[made]
            tokens = published * SIZE + UNIT
            if tokens <= len(made.block_hashes) * UNIT:
                block = table[published]
                self.both(lambda pool: pool.cache_partial_block(made, pool.blocks[block], tokens, 0, SIZE))

    def release(self, _: int) -> None:
        if self.tables:
            table, _ = self.tables.pop(self.random.choice(list(self.tables)))
            self.both(lambda pool: pool.free_blocks(reversed(on(pool, table))))

    def evict(self, _: int) -> None:
        idle = [block.block_id for block in self.pools[0].blocks if block.ref_cnt == 0]
        self.both(lambda pool: pool.evict_blocks(set(idle[:2])))

    def reset(self, _: int) -> None:
        self.both(lambda pool: pool.reset_prefix_cache())


def ids(blocks: Any) -> Any:
    return None if blocks is None else [block.block_id for block in blocks]


def on(pool: Any, table: list[int]) -> list[Any]:
    return [pool.blocks[block] for block in table]


@pytest.mark.parametrize("lookahead", [0, 1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_they_do_the_same(lookahead: int, seed: int) -> None:
    supported_release()
    init_none_hash(sha256)
    pair = Pair(lookahead, seed)
    for number in range(600):
        pair.step(number)


def drops_extra_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RequestForEvents, "extra_keys_for", lambda *_: None)


def loses_a_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Collector, "on_block_accessed", lambda self, block: self.heard.update({type(block): 1}))


def queues_the_other_way(monkeypatch: pytest.MonkeyPatch) -> None:
    free = VllmBlockPool.free_blocks
    monkeypatch.setattr(VllmBlockPool, "free_blocks", lambda pool, blocks: free(pool, list(blocks)[::-1]))


@pytest.mark.parametrize("defect", [drops_extra_keys, loses_a_metric, queues_the_other_way])
def test_a_difference_is_found(defect: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    defect(monkeypatch)
    with pytest.raises(AssertionError):
        test_they_do_the_same(0, 0)
