"""The `blockpool` command.

Exit codes: 0 everything holds; 1 something is refuted; 2 wrong usage or bad input; 3 inconclusive; 4 vacuous;
130 interrupted.
"""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from proofs import jobs
from proofs.console import (
    Progress,
    as_document,
    err,
    out,
    print_obligation,
    print_summary,
    save_counterexamples,
)
from proofs.decide import COUNTED, SEARCHED, decide, search
from proofs.detect.defects import CANARIES, DEFECTS
from proofs.explain import explain_name, list_names, nearest
from proofs.explore.scopes import SCOPES, Scope, ScopeTooLargeError, narrowed
from proofs.explore.search import AnyScope, Exploration
from proofs.explore.serving import SERVING_SCOPES, ServingScope, with_rules
from proofs.replaying import print_report, read_requests, replay_obligation
from proofs.verdicts import Obligation, exit_code
from spec import RULES

app = typer.Typer(
    name="blockpool",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="What a KV-cache block pool promises, and whether it keeps it. Start with `blockpool check`.",
    epilog="Exit codes: 0 all holds, 1 refuted, 2 wrong usage or input, 3 inconclusive, 4 vacuous, 130 interrupted.",
)

ScopeName = Annotated[str, typer.Option("--scope", help=f"How much to search: {', '.join(SCOPES)}.")]
Workers = Annotated[int, typer.Option(min=1, help="Processes to use.", show_default="all cores")]
JsonFile = Annotated[Path | None, typer.Option("--json", help="Also write verdicts and figures to this file.")]
SaveFolder = Annotated[Path | None, typer.Option("--save", help="Write each counterexample there, as a pytest file.")]
Seed = Annotated[int | None, typer.Option(help="Explore with this seed; without one every run does the same.")]
Memory = Annotated[float, typer.Option(min=0.0, help="Give up when less memory than this is left, in GiB.")]


class MachineName(StrEnum):
    """What can be searched."""

    POOL = "pool"
    REQUESTS = "requests"


CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


@dataclass
class Session:
    """One command: prints each obligation as it is decided, and ends with a summary and the exit code."""

    note: str
    json_file: Path | None = None
    save: Path | None = None
    obligations: list[Obligation] = field(default_factory=list)
    started: float = field(default_factory=perf_counter)

    def __post_init__(self) -> None:
        for path in filter(None, (self.json_file, self.save)):
            if not path.absolute().parent.is_dir():
                raise typer.BadParameter(f"{path} cannot be written: there is no folder {path.absolute().parent}")

    def decide(self, obligations: list[Obligation]) -> None:
        for obligation in obligations:
            print_obligation(obligation)
            self.obligations.append(obligation)

    def end(self, interrupted: bool = False) -> None:
        seconds = perf_counter() - self.started
        print_summary(self.obligations, seconds, self.note)
        if self.save is not None:
            for path in save_counterexamples(self.obligations, self.save):
                out.print(f"wrote {path}")
        if self.json_file is not None:
            document = as_document(["blockpool", *sys.argv[1:]], self.obligations, seconds)
            self.json_file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        if interrupted:
            err.print("interrupted; what is above was decided before", style="yellow")
            raise typer.Exit(130)
        raise typer.Exit(exit_code(self.obligations))


@app.command()
def check(
    scope: ScopeName = "small",
    workers: Workers = CORES,
    seed: Seed = None,
    json_file: JsonFile = None,
    save: SaveFolder = None,
    memory: Memory = 1.0,
) -> None:
    """Run everything: the main job, for CI.

    Searches every state and every call of the scope, in the spec and on `impl`; runs long random traces, a served
    workload and the contracts; and shows that seeded defects are caught. One line for each obligation.
    """
    parts = _parts(scope)
    session = Session(f"scope {scope}, {_seeded(seed)}", json_file, save)
    with _interruptible(session), Progress() as progress:
        _search(session, scope, parts, with_impl=True, workers=workers, memory=memory, progress=progress)
        serving = SERVING_SCOPES["small"]
        _search(session, "requests", serving, with_impl=True, workers=workers, memory=memory, progress=progress)
        work: list[jobs.Job] = [
            jobs.new_pools,
            partial(jobs.long_runs, 150, 60, seed),
            partial(jobs.requests, 200, 40, seed),
            partial(jobs.contracts, 60, 60),
            partial(jobs.digests, 2000, seed),
            partial(jobs.several_pools, 300, seed or 0),
            partial(jobs.served, 400, 300, seed or 0),
            *(partial(jobs.needed, rule) for rule in RULES),
            *jobs.trials(CANARIES),
        ]
        _run(session, work, workers, progress)
    session.end()


@app.command()
def explore(
    scope: ScopeName = "small",
    machine: Annotated[
        MachineName, typer.Option(help="The pool alone, or with requests and memory around it.")
    ] = MachineName.POOL,
    broken: Annotated[
        list[str] | None, typer.Option("--break", help="A rule of the requests to break, to see what it is good for.")
    ] = None,
    blocks: Annotated[int | None, typer.Option(help="Lendable blocks, instead of the scope's.")] = None,
    refs: Annotated[int | None, typer.Option(help="Most references on one block.")] = None,
    watchers: Annotated[int | None, typer.Option(help="Different watchers.")] = None,
    batch: Annotated[int | None, typer.Option(help="Most blocks named in one call.")] = None,
    workers: Workers = CORES,
    json_file: JsonFile = None,
    save: SaveFolder = None,
    memory: Memory = 1.0,
) -> None:
    """Search the spec alone: every reachable state, every call, every claim.

    Answers whether the spec keeps its own claims, whether every action, refusal and possibility is met, and how many
    states there are. With --blocks, --refs, --watchers or --batch the scope is changed and no counts are expected.

    With --machine requests the pool is searched together with requests, passes, copies, transfers and what memory
    really holds; --break RULE breaks one of the rules that a scheduler owes the pool.
    """
    parts: Sequence[AnyScope]
    if machine is MachineName.REQUESTS:
        parts = _serving_parts(scope, broken or [])
    else:
        parts = _narrowed(scope, blocks, refs, watchers, batch)
    session = Session(f"machine {machine}, scope {scope}", json_file, save)
    with _interruptible(session), Progress() as progress:
        _search(session, scope, parts, with_impl=False, workers=workers, memory=memory, progress=progress)
    session.end()


@app.command()
def refine(
    scope: ScopeName = "small",
    blocks: Annotated[int | None, typer.Option(help="Lendable blocks, instead of the scope's.")] = None,
    refs: Annotated[int | None, typer.Option(help="Most references on one block.")] = None,
    watchers: Annotated[int | None, typer.Option(help="Different watchers.")] = None,
    batch: Annotated[int | None, typer.Option(help="Most blocks named in one call.")] = None,
    runs: Annotated[int, typer.Option(min=1, help="Random runs on larger pools.")] = 200,
    calls: Annotated[int, typer.Option(min=1, help="Calls in each of them.")] = 60,
    workers: Workers = CORES,
    seed: Seed = None,
    json_file: JsonFile = None,
    save: SaveFolder = None,
    memory: Memory = 1.0,
) -> None:
    """Run `impl` in lockstep with the spec: on every call of the scope, then on long random runs."""
    parts = _narrowed(scope, blocks, refs, watchers, batch)
    session = Session(f"scope {scope}, {_seeded(seed)}", json_file, save)
    with _interruptible(session), Progress() as progress:
        found = _explorations(parts, with_impl=True, workers=workers, memory=memory, progress=progress)
        stopped = any(exploration.stopped == "interrupted" for exploration in found)
        decided = decide(scope, found, with_impl=True)
        session.decide([one for one in decided if one.method == "refine" or one.name in (COUNTED, SEARCHED)])
        if stopped:
            raise KeyboardInterrupt
        work: list[jobs.Job] = [
            jobs.new_pools,
            partial(jobs.long_runs, runs, calls, seed),
            partial(jobs.digests, 2000, seed),
        ]
        _run(session, work, workers, progress)
    session.end()


@app.command()
def detect(
    names: Annotated[list[str] | None, typer.Argument(help="Defects to try; all if none is named.")] = None,
    workers: Workers = CORES,
    json_file: JsonFile = None,
) -> None:
    """Show that the gates can fail: put seeded defects into the source, one at a time, and see which gate notices.

    The table names the gate, the claim that is broken and the calls of the counterexample. The first trial has no
    defect at all: a gate that fires there fires always.
    """
    known = [defect.name for defect in DEFECTS]
    for name in names or []:
        if name not in known:
            raise typer.BadParameter(f"there is no defect {name!r}. {nearest(name, known)}")
    session = Session("seeded defects", json_file)
    with _interruptible(session), Progress() as progress:
        _run(session, [jobs.silent, *jobs.trials(names or known)], workers, progress)
    session.end()


@app.command()
def explain(
    name: Annotated[
        str | None, typer.Argument(help="A claim, an action or a reason to refuse; all of them if none is named.")
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="List all claims as Markdown, as in the README.")
    ] = False,
) -> None:
    """Say what a claim, action or refusal means, why it matters, and show a shortest trace where there is one."""
    try:
        out.print(list_names(markdown=markdown) if name is None else explain_name(name), markup=False)
    except KeyError as error:
        raise typer.BadParameter(str(error.args[0])) from error


@app.command()
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


# --- what the commands share ---


class _interruptible:  # noqa: N801  reads as a word in a with statement
    """Ctrl-C ends the session with what was decided so far."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            self.session.end(interrupted=True)


def _search(
    session: Session,
    scope: str,
    parts: Sequence[AnyScope],
    *,
    with_impl: bool,
    workers: int,
    memory: float,
    progress: Progress,
) -> None:
    found = _explorations(parts, with_impl=with_impl, workers=workers, memory=memory, progress=progress)
    session.decide(decide(scope, found, with_impl=with_impl))
    if any(exploration.stopped == "interrupted" for exploration in found):
        raise KeyboardInterrupt


def _explorations(
    parts: Sequence[AnyScope], *, with_impl: bool, workers: int, memory: float, progress: Progress
) -> list[Exploration]:
    return list(search(parts, with_impl=with_impl, workers=workers, memory=memory, progress=progress))


def _run(session: Session, work: list[jobs.Job], workers: int, progress: Progress) -> None:
    decided: Iterator[list[Obligation]] = jobs.run_jobs(work, workers)
    for number, obligations in enumerate(decided, 1):
        session.decide(obligations)
        progress(f"{number} of {len(work)} jobs done")


def _parts(scope: str) -> tuple[Scope, ...]:
    if scope not in SCOPES:
        raise typer.BadParameter(f"there is no scope {scope!r}. {nearest(scope, SCOPES)}")
    return SCOPES[scope]


def _serving_parts(scope: str, broken: list[str]) -> tuple[ServingScope, ...]:
    names = {part.name: (part,) for parts in SERVING_SCOPES.values() for part in parts} | SERVING_SCOPES
    if scope not in names:
        raise typer.BadParameter(f"there is no scope {scope!r} of requests. {nearest(scope, names)}")
    for rule in broken:
        if rule not in RULES:
            raise typer.BadParameter(f"there is no rule {rule!r}. {nearest(rule, RULES)}")
    return tuple(with_rules(part, *broken) if broken else part for part in names[scope])


def _narrowed(
    scope: str, blocks: int | None, refs: int | None, watchers: int | None, batch: int | None
) -> tuple[Scope, ...]:
    try:
        return narrowed(_parts(scope), blocks=blocks, max_refs=refs, watchers=watchers, batch=batch)
    except ScopeTooLargeError as error:
        raise typer.BadParameter(str(error)) from error


def _seeded(seed: int | None) -> str:
    return "derandomised" if seed is None else f"seed {seed}"


def main() -> None:
    """Entry point of the console command."""
    app()


if __name__ == "__main__":
    main()
