"""Replays at the command line: where the requests come from, and the report as an obligation and as text."""

from collections.abc import Callable
from pathlib import Path

from blockpool.proofs.core.obligation import Figures, Obligation, Verdict
from blockpool.proofs.replay import (
    ReplayReport,
    TraceRequest,
    check_block_size,
    replay,
    requests_from_file,
    synthetic_requests,
)

SERVES = "a_served_workload_stays_in_lockstep"
RUNS = "a_served_workload_leaks_nothing"


def read_requests(
    file: Path | None, block_size: int, limit: int | None, requests: int, seed: int
) -> list[TraceRequest]:
    """The requests of the file, or of the synthetic workload. Raises ValueError or OSError on bad input."""
    check_block_size(block_size)
    if file is None:
        return synthetic_requests(min(requests, limit or requests), seed)
    return requests_from_file(file, limit)


def replay_obligation(
    requests: list[TraceRequest],
    scope: str,
    blocks: int,
    block_size: int,
    concurrency: int,
    lockstep: bool,
    progress: Callable[[str], None],
) -> tuple[ReplayReport, Obligation]:
    """Replay, and what came of it."""
    report = replay(
        requests,
        blocks=blocks,
        block_size=block_size,
        concurrency=concurrency,
        lockstep=lockstep,
        progress=lambda done, total: progress(f"{done:,} of {total:,} requests"),
    )
    return report, judged(report, scope, report.seconds)


def judged(report: ReplayReport, scope: str, seconds: float) -> Obligation:
    """The obligation that a replay decides."""
    verdicts = {"agreed": Verdict.HOLDS, "timed": Verdict.HOLDS, "interrupted": Verdict.INCONCLUSIVE}
    verdict, words = verdicts.get(report.verdict, Verdict.REFUTED), ""
    if report.mismatch is not None:
        words = f"call {report.mismatch.call}, {report.mismatch.action}: {report.mismatch.words}"
    elif report.leaked_blocks:
        words = f"{report.leaked_blocks} blocks are still held at the end"
    elif report.interrupted:
        words = f"interrupted after {report.finished:,} requests"
    elif not report.finished:
        verdict, words = Verdict.VACUOUS, "every request is too large for this pool: give it more --blocks"
    figures: Figures = {
        "requests": report.requests,
        "calls": report.calls,
        "evictions": report.evictions,
        "preemptions": report.preemptions,
        "hit rate": f"{report.hit_rate:.2%}",
    }
    return Obligation(SERVES if report.lockstep else RUNS, "replay", scope, verdict, figures, seconds, words)
