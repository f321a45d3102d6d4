"""Large pools: how long they take to make and to reset, and how much memory a block takes."""

import gc
import tracemalloc
from dataclasses import dataclass
from statistics import median
from time import thread_time_ns
from typing import Any

from blockpool.proofs.bench.compare import Progress
from blockpool.proofs.bench.contenders import Contender
from blockpool.proofs.bench.stream import PoolRequest

BATCH = 1000


@dataclass(frozen=True, slots=True)
class Scale:
    """Of pools of `blocks` blocks: ratios of times by what was done, bytes a block of each pool."""

    blocks: int
    ratios: dict[str, tuple[float, ...]]
    milliseconds: dict[str, tuple[float, float]]
    empty_bytes: tuple[float, float]
    cached_bytes: tuple[float, float]  # on top, digests themselves aside

    def as_dict(self) -> dict[str, Any]:
        return {
            "blocks": self.blocks,
            "ratios": {what: [round(ratio, 2) for ratio in ratios] for what, ratios in self.ratios.items()},
            "medians": {what: round(median(ratios), 2) for what, ratios in self.ratios.items()},
            "milliseconds": {what: [round(ms, 3) for ms in each] for what, each in self.milliseconds.items()},
            "bytes_a_block": [round(each, 1) for each in self.empty_bytes],
            "bytes_more_when_published": [round(each, 1) for each in self.cached_bytes],
        }


def measure_scale(one: Contender, other: Contender, blocks: int, runs: int, progress: Progress) -> Scale:
    """Make, fill and reset both pools in turn, `runs` times."""
    pairs = []
    for number in range(runs):
        progress(f"pools of {blocks:,} blocks: run {number + 1} of {runs}")
        order = (one, other) if number % 2 else (other, one)
        times = {each.name: _times(each, blocks) for each in order}
        pairs.append((times[one.name], times[other.name]))
    whats = pairs[0][0].keys()
    ratios = {what: tuple(a[what] / b[what] for a, b in pairs) for what in whats}
    fastest = {what: (min(a[what] for a, _ in pairs), min(b[what] for _, b in pairs)) for what in whats}
    progress(f"pools of {blocks:,} blocks: memory")
    memory = [_memory(each, blocks) for each in (one, other)]
    (a_empty, a_cached), (b_empty, b_cached) = memory
    return Scale(blocks, ratios, fastest, (a_empty, b_empty), (a_cached, b_cached))


def _times(contender: Contender, blocks: int) -> dict[str, float]:
    """Milliseconds. A pool is made with the garbage collector on, as it is at the start of an engine."""
    gc.collect()
    started = thread_time_ns()
    pool = contender.make(blocks, 16, False)
    times = {"construction": (thread_time_ns() - started) / 1e6}
    for what, published in (("reset, all published", blocks - 1), ("reset, 100 published", min(100, blocks - 1))):
        _publish_and_free(pool, published)
        gc.disable()
        started = thread_time_ns()
        pool.reset_prefix_cache()
        times[what] = (thread_time_ns() - started) / 1e6
        gc.enable()
    return times


def _publish_and_free(pool: Any, blocks: int) -> None:
    held = pool.get_new_blocks(blocks)
    for start in range(0, blocks, BATCH):
        part = held[start : start + BATCH]
        pool.cache_full_blocks(_request(start, len(part)), part, 0, len(part), 16, 0)
    pool.free_blocks(reversed(held))


def _request(start: int, blocks: int) -> PoolRequest:
    return PoolRequest(start, [number.to_bytes(32, "big") for number in range(start, start + blocks)], 0)


def _memory(contender: Contender, blocks: int) -> tuple[float, float]:
    """Bytes a block: of the empty pool, and how many more when all blocks are published."""
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        pool = contender.make(blocks, 16, False)
        empty, _ = tracemalloc.get_traced_memory()
        requests = [_request(start, min(BATCH, blocks - 1 - start)) for start in range(0, blocks - 1, BATCH)]
        held = pool.get_new_blocks(blocks - 1)
        ready, _ = tracemalloc.get_traced_memory()
        for number, request in enumerate(requests):
            part = held[number * BATCH : (number + 1) * BATCH]
            pool.cache_full_blocks(request, part, 0, len(part), 16, 0)
        published, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return (empty - before) / blocks, (published - ready) / blocks
