"""What all commands share: their options, the run of jobs, and how a command ends."""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from traceback import print_exception
from types import TracebackType
from typing import Annotated, Any

import typer
from click import ClickException

from blockpool.proofs.core import jobs
from blockpool.proofs.core.obligation import Obligation, Verdict, exit_code
from blockpool.proofs.core.workers_ray import Cluster, ClusterError, Workforce
from blockpool.proofs.explore.scopes import SCOPES
from blockpool.proofs.faces.cli.console import (
    Progress,
    as_document,
    err,
    out,
    print_obligation,
    print_summary,
    save_counterexamples,
)

ScopeName = Annotated[str, typer.Option("--scope", help=f"How much to search: {', '.join(SCOPES)}.")]
Workers = Annotated[int, typer.Option(min=1, help="Processes to use.", show_default="all cores")]
RayAddress = Annotated[
    str | None, typer.Option("--ray", help="Work on this cluster of Ray; local: start one with --workers processes.")
]
JsonFile = Annotated[Path | None, typer.Option("--json", help="Also write verdicts and figures to this file.")]
SaveFolder = Annotated[Path | None, typer.Option("--save", help="Write each counterexample there, as a pytest file.")]
SarifFile = Annotated[Path | None, typer.Option("--sarif", help="Also write a SARIF log, for code scanning.")]
HtmlFile = Annotated[Path | None, typer.Option("--html", help="Also write a page for people to this file.")]
Github = Annotated[bool, typer.Option("--github", help="Also print annotations for a GitHub workflow.")]
Seed = Annotated[int | None, typer.Option(help="Explore with this seed; without one every run does the same.")]
Memory = Annotated[float, typer.Option(min=0.0, help="Give up when less memory than this is left, in GiB.")]

INTERRUPTED = 130
"""The exit code of a run that Ctrl-C ended."""

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


@dataclass
class Session:
    """One command: prints each obligation as it is decided, and ends with a summary and the exit code.

    `pending` names what is still to be decided: a run that ends before has not decided it, and says so everywhere.
    """

    note: str
    json_file: Path | None = None
    save: Path | None = None
    sarif_file: Path | None = None
    github: bool = False
    html_file: Path | None = None
    obligations: list[Obligation] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    started: float = field(default_factory=perf_counter)

    def __post_init__(self) -> None:
        check_folders(self.json_file, self.save, self.sarif_file, self.html_file)

    def decide(self, obligations: list[Obligation]) -> None:
        for obligation in obligations:
            print_obligation(obligation)
            self.obligations.append(obligation)

    def expect(self, names: Iterable[str]) -> None:
        """From now on these are to be decided, too."""
        self.pending += names

    def done(self, name: str) -> None:
        """This was decided, whatever came of it."""
        if name in self.pending:
            self.pending.remove(name)

    def cut_off(self, why: str) -> None:
        """The run ends early: what is pending is inconclusive."""
        for name in self.pending or ["the rest of the run"]:
            self.decide([Obligation(f"{name} is decided", "session", "", Verdict.INCONCLUSIVE, {}, 0.0, why)])
        self.pending.clear()

    def end(self, interrupted: bool = False) -> None:
        if interrupted:
            self.cut_off("interrupted before it was decided")
        code = INTERRUPTED if interrupted else exit_code(self.obligations)
        seconds = perf_counter() - self.started
        print_summary(self.obligations, seconds, self.note)
        if self.save is not None:
            for path in save_counterexamples(self.obligations, self.save):
                out.print(f"wrote {path}")
        if self.json_file is not None or self.html_file is not None:
            document = as_document(["blockpool", *sys.argv[1:]], self.obligations, seconds, code)
            self._document(document | {"note": self.note, "interrupted": interrupted})
        self._report()
        if interrupted:
            err.print("interrupted; what is above was decided before", style="yellow")
        raise typer.Exit(code)

    def _document(self, document: dict[str, Any]) -> None:
        if self.json_file is not None:
            self.json_file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        if self.html_file is not None:
            from blockpool.proofs.faces.handbook.report import report_page

            self.html_file.write_text(report_page(document), encoding="utf-8")

    def _report(self) -> None:
        """For other tools."""
        from blockpool.proofs.faces.cli.reports import annotations, sarif

        if self.sarif_file is not None:
            log = sarif(self.obligations, version("blockpool"))
            self.sarif_file.write_text(json.dumps(log, indent=1) + "\n", encoding="utf-8")
        if self.github:
            print("\n".join(annotations(self.obligations)))


def check_folders(*paths: Path | None) -> None:
    """Whatever is to be written has a folder to go to."""
    for path in filter(None, paths):
        if not path.absolute().parent.is_dir():
            raise typer.BadParameter(f"{path} cannot be written: there is no folder {path.absolute().parent}")


class interruptible:  # noqa: N801  reads as a word in a with statement
    """Ctrl-C ends the session with what was decided so far; so does a failure of the tool, which decides nothing."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None or issubclass(kind, typer.Exit | ClickException):
            return
        if issubclass(kind, KeyboardInterrupt):
            self.session.end(interrupted=True)
        if issubclass(kind, Exception):
            print_exception(kind, error, at)
            self.session.cut_off(f"the tool failed: {kind.__name__}: {error}")
            self.session.end()


@contextmanager
def workforce(workers: int, ray: str | None) -> Iterator[Workforce]:
    """So many processes here, or the cluster at this address."""
    if ray is None:
        yield workers
        return
    try:
        with Cluster(ray, workers) as cluster:
            yield cluster
    except ClusterError as error:
        err.print(f"error: {error}", style="red", markup=False)
        raise typer.Exit(2) from error


def run_jobs(session: Session, work: list[jobs.Job], workers: Workforce, progress: Progress) -> None:
    names = [jobs.name_of(job) for job in work]
    session.expect(name for name in names if name not in session.pending)
    decided: Iterator[list[Obligation]] = jobs.run_jobs(work, workers)
    for number, (name, obligations) in enumerate(zip(names, decided, strict=True), 1):
        session.decide(obligations)
        session.done(name)
        progress(f"{number} of {len(work)} jobs done")


def seeded(seed: int | None) -> str:
    return "derandomised" if seed is None else f"seed {seed}"
