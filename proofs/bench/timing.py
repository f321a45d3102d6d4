"""Ratios of the times that two pools take for the same stream, in one process, part by part in alternation.

Times of one run drift with the load of the machine, by a factor of two here; ratios of neighbouring parts hardly do.
"""

import gc
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from blockpool.proofs.bench.compare import Progress
from blockpool.proofs.bench.contenders import Contender
from blockpool.proofs.bench.stream import Stream, bind, parts_of, run


@dataclass(frozen=True, slots=True)
class Measured:
    """How many times faster `other` is than `one`, over several runs or parts."""

    workload: str
    calls: int
    block_operations: int
    ratios: tuple[float, ...]
    nanoseconds: tuple[
        float, float
    ]  # a block operation, in the fastest run of each; not to be compared with other runs

    @property
    def ratio(self) -> float:
        return median(self.ratios)

    @property
    def spread(self) -> tuple[float, float]:
        """All but the highest and the lowest tenth lie in between."""
        ordered, tenth = sorted(self.ratios), len(self.ratios) // 10
        return ordered[tenth], ordered[-1 - tenth]

    def as_dict(self) -> dict[str, Any]:
        return {
            "workload": self.workload,
            "calls": self.calls,
            "block_operations": self.block_operations,
            "ratio": round(self.ratio, 3),
            "p10": round(self.spread[0], 3),
            "p90": round(self.spread[1], 3),
            "samples": len(self.ratios),
            "ns_a_block": [round(each) for each in self.nanoseconds],
        }


def measure(stream: Stream, one: Contender, other: Contender, runs: int, progress: Progress) -> Measured:
    """Replay the stream `runs` times on both. New pools and new digests each time."""
    totals: list[tuple[int, int]] = []
    ratios: list[float] = []
    for number in range(runs):
        progress(f"timing {stream.name}: run {number + 1} of {runs}")
        times = _one_run(stream, (one, other), number)
        totals.append((sum(a for a, _ in times), sum(b for _, b in times)))
        ratios += [a / b for a, b in (times if stream.by_part else totals[-1:])]
    timed = sum(call.timed for call in stream.calls)
    blocks = max(stream.block_operations, 1)
    fastest = (min(a for a, _ in totals) / blocks, min(b for _, b in totals) / blocks)
    return Measured(stream.name, timed, stream.block_operations, tuple(ratios), fastest)


def _one_run(stream: Stream, contenders: Sequence[Contender], number: int) -> list[tuple[int, int]]:
    """The times of each timed part. The garbage collector is off, as vLLM's engine freezes what it has built."""
    gc.collect()  # what is left of pools before: a second pool in the process makes some pools slower
    pools = [each.make(stream.blocks, stream.block_size, stream.events) for each in contenders]
    bound = [bind(stream, pool) for pool in pools]
    times: list[tuple[int, int]] = []
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        for index, (timed, part) in enumerate(parts_of(stream)):
            took = [0, 0]
            for side in (0, 1) if (index + number) % 2 else (1, 0):
                took[side] = run(pools[side], bound[side][part], stream.events)
            if timed:
                times.append((took[0], took[1]))
    finally:
        gc.enable()
        gc.unfreeze()
    return times
