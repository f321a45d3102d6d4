"""`blockpool replay`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from blockpool.impl import contracts
from blockpool.proofs.faces.cli.console import Progress, err, out
from blockpool.proofs.faces.cli.session import JsonFile, Session
from blockpool.proofs.replay import ReplayReport
from blockpool.proofs.replay.obligation import read_requests, replay_obligation


def replay(
    file: Annotated[
        Path | None, typer.Argument(help="A request trace (JSON lines); a synthetic one if omitted.")
    ] = None,
    blocks: Annotated[int, typer.Option(help="Lendable blocks of the pool.")] = 2000,
    block_size: Annotated[int, typer.Option(help="Tokens in a block; a divisor of 512.")] = 512,
    limit: Annotated[int | None, typer.Option(min=1, help="Use only the first requests.")] = None,
    concurrency: Annotated[int, typer.Option(help="Most requests running at a time.")] = 64,
    lockstep: Annotated[bool, typer.Option(help="Judge every call by the spec, or time the pool alone.")] = True,
    requests: Annotated[int, typer.Option(min=1, help="Requests of the synthetic workload.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the synthetic workload.")] = 0,
    json_file: JsonFile = None,
) -> None:
    """Drive the pool as a serving engine would, from a request trace, with the spec judging every call.

    The trace has one JSON object a line: timestamp (ms), input_length, output_length (tokens), and hash_ids, one id
    for each 512 tokens of the prompt; equal ids mean equal prefixes.
    """
    try:
        served = read_requests(file, block_size, limit, requests, seed)
        if min(blocks, concurrency) < 1:
            raise ValueError(f"--blocks and --concurrency must be at least 1, not {blocks} and {concurrency}")
    except (ValueError, OSError) as error:
        err.print(f"error: {error}", style="red", markup=False)
        raise typer.Exit(2) from error
    session = Session(f"seed {seed}" if file is None else str(file), json_file)
    with Progress() as progress:
        report, obligation = replay_obligation(
            served, str(file or f"synthetic workload, seed {seed}"), blocks, block_size, concurrency, lockstep, progress
        )
    print_report(report)
    session.decide([obligation])
    session.end(report.interrupted)


def print_report(report: ReplayReport) -> None:
    """The figures, one a line."""
    rows = {
        "requests": f"{report.requests:,}, finished {report.finished:,}",
        "too large for this pool": f"{report.skipped_too_large:,}",
        "preemptions": f"{report.preemptions:,}",
        "prompt tokens": f"{report.prompt_tokens:,}",
        "hit rate by tokens": f"{report.hit_rate:.2%}",
        "evictions": f"{report.evictions:,}",
        "most blocks held": f"{report.peak_used:,} of {report.blocks:,}",
        "pool calls": f"{report.calls:,}",
        "pool calls per second": f"{report.calls_per_second:,.0f} (inside the pool, contracts {contracts.LEVEL})",
        "full comparisons": f"{report.full_comparisons:,}" if report.lockstep else "none: the pool ran alone",
    }
    for name, value in rows.items():
        out.print(Text(f"{name:<26}{value}"))
