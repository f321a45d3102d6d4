"""One replay from the first request to the report."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from typing import Any

from blockpool.impl.pool import BlockPool
from blockpool.proofs.refine.lockstep import MismatchError
from blockpool.proofs.replay.calls import CountedPool
from blockpool.proofs.replay.engine import Engine
from blockpool.proofs.replay.lockstep import LockstepPool
from blockpool.proofs.replay.managed import Managed
from blockpool.proofs.replay.memory import Memory
from blockpool.proofs.replay.report import Mismatch, ReplayReport
from blockpool.proofs.replay.requests import TRACE_BLOCK, TraceRequest, check_block_size

Around = Callable[[BlockPool], AbstractContextManager[object]]
"""A context in which a pool serves: a recorder, or a monitor."""


def replay(
    requests: Sequence[TraceRequest],
    *,
    blocks: int,
    block_size: int = TRACE_BLOCK,
    concurrency: int = 64,
    lockstep: bool = True,
    full_every: int = 2000,
    events: bool | None = None,
    around: Around = nullcontext,
    progress: Callable[[int, int], None] | None = None,
) -> ReplayReport:
    """Serve all requests with managers over one pool, and judge every call by the spec unless `lockstep` is off.

    `blocks` can be lent, the null block comes on top. `progress(done, total)` is called for each request done. A
    KeyboardInterrupt ends the replay early: the report then says `interrupted`. Raises ValueError for wrong arguments.
    `events` are on with lockstep and off without, unless said otherwise: without them the pool takes short cuts, which
    is another test.
    """
    _check(block_size, blocks=blocks, concurrency=concurrency, full_every=full_every)
    events = lockstep if events is None else events
    pool = LockstepPool(blocks, events, full_every) if lockstep else CountedPool(blocks, events)
    managed = Managed(pool, Memory() if lockstep else None)
    engine = Engine(managed, block_size, concurrency, _reporter(len(requests), progress))
    ending = _serve(engine, managed, requests, around)
    return ReplayReport(
        blocks=blocks,
        block_size=block_size,
        concurrency=concurrency,
        lockstep=lockstep,
        events=events,
        requests=len(requests),
        **asdict(engine.tally),
        evictions=pool.evictions,
        peak_used=pool.peak_used,
        calls_by_method=dict(sorted(pool.by_method.items())),
        seconds=pool.seconds,
        full_comparisons=pool.full_comparisons,
        **ending,
    )


def _serve(engine: Engine, managed: Managed, requests: Sequence[TraceRequest], around: Around) -> dict[str, Any]:
    """Serve to the end, or until something goes wrong: how it ended, as fields of the report."""
    ending: dict[str, Any] = {"mismatch": None, "leaked_blocks": None, "interrupted": False}
    try:
        with around(managed.pool):
            engine.serve(requests)
            managed.conclude()
        ending["leaked_blocks"] = managed.pool.used
    except MismatchError as error:
        ending["mismatch"] = Mismatch(managed.pool.number, managed.pool.describe(), str(error))
    except KeyboardInterrupt:
        ending["interrupted"] = True
    return ending


def _check(block_size: int, **at_least_one: int) -> None:
    """Raise ValueError for arguments that no replay can have."""
    check_block_size(block_size)
    for name, value in at_least_one.items():
        if value < 1:
            raise ValueError(f"{name} is {value}; at least 1 is needed")


def _reporter(total: int, progress: Callable[[int, int], None] | None) -> Callable[[], None]:
    """What the engine calls for each request that is done."""
    done = 0

    def one_more() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    return one_more
