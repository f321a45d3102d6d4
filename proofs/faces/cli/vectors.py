"""`blockpool vectors`."""

import shutil
from collections import Counter
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from blockpool.proofs.core.obligation import Obligation, Verdict
from blockpool.proofs.faces.cli.conforming import ProfileName, check_profile, fail
from blockpool.proofs.faces.cli.console import Progress, out
from blockpool.proofs.faces.cli.searching import parts_of
from blockpool.proofs.faces.cli.session import Github, JsonFile, SarifFile, ScopeName, Session
from blockpool.spec.contract.profiles import PROFILES, profile_of

if TYPE_CHECKING:
    from blockpool.proofs.oracle.adapter import Subject
    from blockpool.proofs.oracle.vectors.consume import Coverage, Outcome
    from blockpool.proofs.oracle.vectors.vector import Vector

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Conformance vectors: short runs with the right replies, as files for any language (docs/vectors.md).",
)

Folder = Annotated[Path, typer.Argument(help="The folder of the vectors.", show_default=False)]


@app.command()
def fill(
    folder: Folder,
    scope: ScopeName = "small",
    profile: Annotated[str, typer.Option("--profile", help="Whose replies are expected.")] = "strict",
    depth: Annotated[int, typer.Option(min=0, help="Calls to the states from which every step is looked at.")] = 4,
    wrong: Annotated[
        list[str] | None,
        typer.Option("--wrong", help="A pool with a defect, FILE.py:CLASS; vectors name what they catch. Repeat."),
    ] = None,
) -> None:
    """Write a small suite that shows every class of steps of a scope. The same command writes the same files.

    A class is an operation, what came of it, and one thing that is special: the reason of a refusal, what a block was
    before and is after, an event, a watcher told. Each vector says what it exercises, and which seeded defects of
    `impl` it catches.
    """
    from blockpool.proofs.adequacy.defects.vectors_catching import defects_of_impl, with_defects
    from blockpool.proofs.oracle.vectors.fill import OpenProfileError, vectors_of
    from blockpool.proofs.oracle.vectors.vector import write_all
    from blockpool.proofs.systems.find import AdapterError, subject_of
    from blockpool.proofs.systems.ours import subject_in

    check_profile(profile)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise typer.BadParameter(f"{folder} is not an empty folder; vectors of two suites must not be mixed")
    try:
        wrongs = [(name.rpartition(":")[2], partial(subject_of, name)) for name in wrong or ()]
        for _, made in wrongs:
            made()
        with Progress() as progress:
            progress(f"walking {scope}")
            vectors = vectors_of(parts_of(scope), PROFILES[profile], depth)
            progress(f"{len(vectors)} vectors; now the defects that they catch")
            vectors = with_defects(vectors, [*wrongs, *(defects_of_impl(subject_in) if profile == "strict" else ())])
    except (OpenProfileError, AdapterError) as error:
        fail(error)
    size = sum(path.stat().st_size for path in write_all(vectors, folder))
    steps = sum(len(vector.steps) for vector in vectors)
    out.print(f"wrote {len(vectors)} vectors of {steps:,} steps, {size / 1e3:.0f} kB, to {folder}", markup=False)


@app.command()
def consume(
    folder: Folder,
    subject: Annotated[
        list[str],
        typer.Argument(help="A shipped adapter, MODULE:CLASS, FILE.py:CLASS; or, after `--`, a command: docs/pipe.md."),
    ],
    profile: ProfileName = None,
    timeout: Annotated[float, typer.Option(min=0.01, help="Seconds that an answer of a command may take.")] = 10.0,
    json_file: JsonFile = None,
    sarif_file: SarifFile = None,
    github: Github = False,
) -> None:
    """Run a suite against a pool: a verdict for each vector, and what was covered.

    Every reply is judged by the profile of the pool. If that is the profile of the vectors, each call has one right
    answer, and the replies are also compared with it. Vectors that need what the pool does not have are left out.
    """
    from blockpool.proofs.oracle.vectors.vector import VectorError, read_all

    check_profile(profile)
    try:
        vectors = read_all(folder)
    except VectorError as error:
        fail(error)
    pool = _pool(subject, timeout)
    session = Session(f"{pool.name}, {folder}", json_file, sarif_file=sarif_file, github=github)
    try:
        _consume(session, vectors, pool, profile)
    except ValueError as error:  # the pool names a profile that there is not
        fail(error)
    finally:
        pool.close()
    session.end()


def _consume(session: Session, vectors: "list[Vector]", pool: "Subject", profile: str | None) -> None:
    from blockpool.proofs.oracle.vectors.consume import Coverage
    from blockpool.proofs.oracle.vectors.consume import consume as outcomes

    coverage = Coverage()
    left_out: Counter[str] = Counter()
    chosen = profile_of(pool.profile if profile is None else profile)
    started = perf_counter()
    for outcome in outcomes(vectors, pool, chosen, coverage):
        if outcome.verdict is Verdict.VACUOUS:
            left_out[outcome.words] += 1
        else:
            session.decide([_obligation(outcome, chosen.name, perf_counter() - started)])
        started = perf_counter()
    _print_coverage(coverage, left_out)


@app.command(name="list")
def list_vectors(folder: Folder) -> None:
    """List the vectors of a folder: what only each of them shows, and the defects that it catches."""
    from blockpool.proofs.oracle.vectors.vector import VectorError, read_all

    try:
        vectors = read_all(folder)
    except VectorError as error:
        fail(error)
    for vector in vectors:
        defects = len(vector.receipt.defects)
        line = f"{vector.name:22} {vector.profile:9} {len(vector.steps):3} steps, {defects:2} defects; {vector.about}"
        out.print(line, markup=False, soft_wrap=True)


def _pool(subject: list[str], timeout: float) -> "Subject":
    """An adapter if it is one word that can be the name of one; else a command."""
    from blockpool.proofs.oracle.pipe import PipeSubject, SubjectFailedError
    from blockpool.proofs.systems.find import AdapterError, subject_of

    try:
        if len(subject) == 1 and shutil.which(subject[0]) is None:
            return subject_of(subject[0])
        return PipeSubject(subject, timeout)
    except (AdapterError, SubjectFailedError) as error:
        fail(error)


def _obligation(outcome: "Outcome", profile: str, seconds: float) -> Obligation:
    vector = outcome.vector
    words = f"step {outcome.step}: {outcome.law}: {outcome.words}" if outcome.law else ""
    return Obligation(vector.name, "vectors", profile, outcome.verdict, {"steps": outcome.taken}, seconds, words)


def _print_coverage(coverage: "Coverage", left_out: Counter[str]) -> None:
    kinds = {"operations": coverage.operations, "refusals": coverage.refusals, "laws": coverage.laws}
    for kind, counts in kinds.items():
        listed = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
        out.print(f"{kind}: {listed or 'none'}", style="dim", markup=False, soft_wrap=True)
    for words, count in sorted(left_out.items()):
        out.print(f"{count} vectors left out: {words}", style="dim", markup=False, soft_wrap=True)
