"""How fast the oracle judges: calls a second of a pool that is watched or recorded, and of a trace that is audited."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from blockpool.impl.pool import BlockPool
from blockpool.proofs.bench.rate import Rate
from blockpool.proofs.bench.serving import record_serving
from blockpool.proofs.bench.stream import Stream, bind, run
from blockpool.proofs.oracle.audit import audit
from blockpool.proofs.replay.synthetic import synthetic_requests
from blockpool.proofs.systems.vllm.record import record
from blockpool.proofs.systems.vllm.watch import watch, watch_counts

BLOCKS, BLOCK_SIZE, RUNNING = 20_000, 16, 64

Listener = Callable[[Any], AbstractContextManager[Any]]


def judging_rates(requests: int, rounds: int) -> list[Rate]:
    """Built-in chats on pools of `impl`: alone and with each listener in alternation, `rounds` times; medians.

    Nine of ten calls are lookups, as in an engine that serves chats.
    """
    stream = Stream(f"{requests} built-in chats", BLOCKS, BLOCK_SIZE)
    record_serving(stream, _pool(), synthetic_requests(requests, 0), RUNNING)
    with TemporaryDirectory() as folder:
        trace = Path(folder, "trace.jsonl")
        ways: dict[str, Callable[[], float]] = {
            "calls, nobody listens": lambda: _replayed(stream, lambda pool: nullcontext()),
            "calls, counts watched": lambda: _replayed(stream, watch_counts),
            "calls, everything watched": lambda: _replayed(stream, watch),
            "calls, recorded": lambda: _replayed(stream, lambda pool: record(pool, trace)),
            "calls, audited": lambda: _audited(trace),
        }
        samples = [{name: way() for name, way in ways.items()} for _ in range(rounds)]
        calls = audit(trace).calls - 1  # the first is the start of the pool
    alone, *others = ways
    bare = median(sample[alone] for sample in samples)
    rates = [Rate(alone, stream.name, 1, calls, bare)]
    for name in others:
        seconds = median(sample[name] for sample in samples)
        rates.append(Rate(name, stream.name, 1, calls, seconds, seconds / bare, "the time of the pool alone"))
    return rates


def _pool() -> BlockPool:
    return BlockPool(BLOCKS, True, BLOCK_SIZE)


def _replayed(stream: Stream, listener: Listener) -> float:
    pool = _pool()
    bound = bind(stream, pool)
    with listener(pool):
        return run(pool, bound, False) / 1e9


def _audited(trace: Path) -> float:
    started = process_time()
    judged = audit(trace)
    assert judged.breach is None, judged.story()
    return process_time() - started
