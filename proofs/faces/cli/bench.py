"""`blockpool bench`."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blockpool.proofs.core.obligation import Obligation, Verdict
from blockpool.proofs.faces.cli.console import Progress, err, out, versions
from blockpool.proofs.faces.cli.session import CORES, JsonFile, ScopeName, Session, Workers

if TYPE_CHECKING:
    from blockpool.proofs.bench.contenders import Contender
    from blockpool.proofs.bench.report import Measurements
    from blockpool.proofs.bench.workloads import Workload

app = typer.Typer(invoke_without_command=True, help="Measure pools against each other, and the checker itself.")

SAME = "same_results"
POOLS = "blockpool, vllm (importable), vllm==VERSION (fetched core files), or MODULE:CLASS"


@app.callback()
def bench(
    context: typer.Context,
    one: Annotated[str, typer.Option("--a", help=f"The pool to compare with: {POOLS}.")] = "vllm==0.33.0",
    other: Annotated[str, typer.Option("--b", help="The pool that may be faster.")] = "blockpool",
    path: Annotated[
        list[Path] | None, typer.Option(help="Folders to import pools from, such as the site-packages of another venv.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option(help="Workloads whose name contains this.")] = None,
    traces: Annotated[Path | None, typer.Option(help="Folder of mooncake_*.jsonl; ../shared/traces if there.")] = None,
    runs: Annotated[int, typer.Option(min=1, help="Replays of each workload on each pool.")] = 5,
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of it all, to see that it works.")] = False,
    scale: Annotated[list[int] | None, typer.Option(min=2, help="Also make pools of so many blocks.")] = None,
    instructions: Annotated[
        bool, typer.Option("--instructions", help="Also count instructions of serving, quick ones, with valgrind.")
    ] = False,
    markdown: Annotated[Path | None, typer.Option(help="Write the table there.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the ratios there (extra `bench`).")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all figures there.")] = None,
) -> None:
    """Replay the same streams of calls on two pools, and say how their times relate.

    Before anything is timed, both take the stream in lockstep: answers, counts, keys, events and the order of the
    queue must be the same. That is what the exit code is about; a ratio never fails.
    """
    if context.invoked_subcommand is not None:
        return
    sys.path[:0] = [str(folder.absolute()) for folder in path or ()]
    if plot is not None and find_spec("matplotlib") is None:
        raise typer.BadParameter("--plot needs matplotlib: pip install 'blockpool[bench]'")
    contenders = _contender("--a", one), _contender("--b", other)
    session = Session(f"{runs} runs")
    with Progress() as progress:
        found = _measure(session, contenders, _chosen(traces, quick, only or []), runs, progress)
        if instructions:
            _count(found, (one, other), traces, progress)
        _scale(found, contenders, scale or [], progress)
    _write(found, session, markdown, plot, json_file)
    session.end()


def _contender(option: str, name: str) -> "Contender":
    from blockpool.proofs.bench.contenders import UnknownContenderError, contender

    try:
        return contender(name)
    except UnknownContenderError as error:
        raise typer.BadParameter(f"{option} {error}") from error


def _chosen(traces: Path | None, quick: bool, only: list[str]) -> "list[Workload]":
    from blockpool.proofs.bench.workloads import TRACES, workloads

    every = list(workloads(traces or TRACES, quick))
    chosen = [each for each in every if not only or any(part in each.name for part in only)]
    if not chosen:
        raise typer.BadParameter(f"no workload matches; there are:\n{chr(10).join(each.name for each in every)}")
    return chosen


def _measure(
    session: Session,
    contenders: "tuple[Contender, Contender]",
    chosen: "list[Workload]",
    runs: int,
    progress: Progress,
) -> "Measurements":
    from blockpool.proofs.bench.compare import difference
    from blockpool.proofs.bench.report import Measurements
    from blockpool.proofs.bench.timing import measure

    one, other = contenders
    found = Measurements(one.name, other.name)
    for workload in chosen:
        started = perf_counter()
        empty = workload.stream()
        progress(f"recording {empty.name}")
        stream = workload.record(empty, one.make(empty.blocks, empty.block_size, False))
        differs = difference(stream, one, other, progress)
        figures: dict[str, int | float | str] = {"calls": len(stream.calls), "blocks": stream.block_operations}
        if differs is None:
            measured = measure(stream, one, other, runs, progress)
            found.measured.append(measured)
            figures["ratio"] = round(measured.ratio, 2)
        verdict = Verdict.HOLDS if differs is None else Verdict.REFUTED
        name = f"{SAME}: {stream.name}"
        obligation = Obligation(
            name, "bench", f"{stream.blocks:,} blocks", verdict, figures, perf_counter() - started, differs or ""
        )
        session.decide([obligation])
    return found


def _count(found: "Measurements", names: tuple[str, str], traces: Path | None, progress: Progress) -> None:
    """Instructions of the quick form of each serving workload that was measured."""
    from blockpool.proofs.bench.counted import NoInstructionsError, instructions
    from blockpool.proofs.bench.workloads import TRACES, quick_names

    for full, quick in quick_names(traces or TRACES):
        if any(each.workload in (full, quick) for each in found.measured):
            progress(f"counting instructions of {quick}")
            try:
                counted = [instructions(name, quick, traces or TRACES) for name in names]
            except NoInstructionsError as error:
                err.print(f"no instructions: {error}", style="yellow", markup=False)
                return
            found.instructions[full] = found.instructions[quick] = (counted[0], counted[1])


def _scale(
    found: "Measurements", contenders: "tuple[Contender, Contender]", sizes: list[int], progress: Progress
) -> None:
    from blockpool.proofs.bench.scale import measure_scale

    for blocks in sizes:
        found.scales.append(measure_scale(*contenders, blocks, 5, progress))


def _write(
    found: "Measurements", session: Session, markdown: Path | None, plot: Path | None, json_file: Path | None
) -> None:
    from blockpool.proofs.bench import report

    for line in [*report.lines(found), report.NOTE]:
        out.print(line, markup=False)
    command = " ".join(["blockpool", *sys.argv[1:]])
    if markdown is not None:
        markdown.write_text(report.markdown(found, command, versions()), encoding="utf-8")
    if plot is not None:
        report.plot(found.measured, found.title, plot)
    if json_file is not None:
        document: dict[str, Any] = {"format": "blockpool-bench/1", "command": command, "versions": versions()}
        document |= {**found.as_dict(), "obligations": [each.as_dict() for each in session.obligations]}
        json_file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


@app.command()
def checker(
    scope: ScopeName = "tiny",
    depth: Annotated[int | None, typer.Option(min=1, help="Search only so deep.")] = None,
    runs: Annotated[int, typer.Option(min=1, help="Random histories of about 100 calls.")] = 50,
    workers: Workers = CORES,
    rounds: Annotated[int, typer.Option(min=1, help="Search so often; the median counts.")] = 3,
    json_file: JsonFile = None,
) -> None:
    """Measure the checker: states, transitions and edges in lockstep a second, with one worker and with several;
    steps of random histories; calls that are watched, recorded and audited.
    """
    from blockpool.proofs.bench.checker import checker_rates
    from blockpool.proofs.explore.scopes import SCOPES

    if scope not in SCOPES:
        raise typer.BadParameter(f"no scope {scope}; there are {', '.join(SCOPES)}")
    with Progress() as progress:
        rates = checker_rates(scope, depth, runs, workers, progress, rounds)
    for rate in rates:
        processes = "1 worker, a CPU second" if rate.workers == 1 else f"{rate.workers} workers, a second"
        counted = f"{rate.number:,} in {rate.seconds:.1f} s"
        if rate.times is not None:
            counted += f", {rate.times:.2f} times {rate.than}"
        out.print(f"{rate.what:28} {rate.scope:20} {processes:24} {rate.per_second:>10,.0f}  ({counted})")
    if json_file is not None:
        document = {"format": "blockpool-bench-checker/1", "versions": versions()}
        json_file.write_text(json.dumps({**document, "rates": [each.as_dict() for each in rates]}, indent=1) + "\n")
