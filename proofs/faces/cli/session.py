"""What all commands share: their options, the run of jobs, and how a command ends."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from blockpool.proofs.core import jobs
from blockpool.proofs.core.obligation import Obligation, exit_code
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

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


@dataclass
class Session:
    """One command: prints each obligation as it is decided, and ends with a summary and the exit code."""

    note: str
    json_file: Path | None = None
    save: Path | None = None
    sarif_file: Path | None = None
    github: bool = False
    html_file: Path | None = None
    obligations: list[Obligation] = field(default_factory=list)
    started: float = field(default_factory=perf_counter)

    def __post_init__(self) -> None:
        check_folders(self.json_file, self.save, self.sarif_file, self.html_file)

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
        if self.json_file is not None or self.html_file is not None:
            self._document(as_document(["blockpool", *sys.argv[1:]], self.obligations, seconds) | {"note": self.note})
        self._report()
        if interrupted:
            err.print("interrupted; what is above was decided before", style="yellow")
            raise typer.Exit(130)
        raise typer.Exit(exit_code(self.obligations))

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
    """Ctrl-C ends the session with what was decided so far."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            self.session.end(interrupted=True)


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
    decided: Iterator[list[Obligation]] = jobs.run_jobs(work, workers)
    for number, obligations in enumerate(decided, 1):
        session.decide(obligations)
        progress(f"{number} of {len(work)} jobs done")


def seeded(seed: int | None) -> str:
    return "derandomised" if seed is None else f"seed {seed}"
