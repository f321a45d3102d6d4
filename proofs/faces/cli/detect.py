"""`blockpool detect`."""

import json
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from blockpool.proofs.adequacy.defects.seeded import DEFECTS
from blockpool.proofs.core.jobs import Job
from blockpool.proofs.core.obligation import exit_code
from blockpool.proofs.faces.cli.console import Progress, as_document, err, out
from blockpool.proofs.faces.cli.session import CORES, JsonFile, Session, Workers, interruptible, run_jobs
from blockpool.proofs.faces.stories.explain import nearest
from blockpool.proofs.suite import checks as jobs


def detect(
    names: Annotated[list[str] | None, typer.Argument(help="Defects to try; all if none is named.")] = None,
    matrix: Annotated[
        Path | None,
        typer.Option("--matrix", help="Run every gate on each defect, and write who catches it to this file."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", help="Try the defects of this JSON file: name -> list of [module, old text, new text]."),
    ] = None,
    deep: Annotated[bool, typer.Option("--deep", help="With --file: each gate at its widest scope.")] = False,
    workers: Workers = CORES,
    json_file: JsonFile = None,
) -> None:
    """Show that the gates can fail: put seeded defects into the source, one at a time, and see which gate notices.

    The table names the gate, the claim that is broken and the calls of the counterexample. The first trial has no
    defect at all: a gate that fires there fires always.

    With --file defects that nobody here has seen: for each the gates that catch it at the strength of `check`, or with
    --deep at their widest; which of them run what they find, and which only find the text.

    With --matrix no gate is spared: for each defect all that catch it, by which claims, at which least scope, in how
    many calls and seconds. `blockpool ledger accept` records it.
    """
    known = [defect.name for defect in DEFECTS]
    for name in names or []:
        if file is None and name not in known:
            raise typer.BadParameter(f"there is no defect {name!r}. {nearest(name, known)}")
    if file is not None:
        _from_file(file, names or [], deep, json_file, workers)
        return
    session = Session("seeded defects", json_file)
    with interruptible(session), Progress() as progress:
        if matrix is None:
            run_jobs(session, [jobs.silent, *jobs.trials(names or known)], workers, progress)
        else:
            _matrix(session, names or [], matrix, workers, progress)
    session.end()


def _from_file(file: Path, names: list[str], deep: bool, json_file: Path | None, workers: int) -> None:
    from blockpool.proofs.adequacy.defects.from_file import DefectFileError, read_defects

    try:
        defects = read_defects(file)
    except (DefectFileError, OSError) as error:
        err.print(f"error: {error}", style="red", markup=False)
        raise typer.Exit(2) from error
    for name in names:
        if name not in defects:
            raise typer.BadParameter(f"there is no defect {name!r} in {file}. {nearest(name, defects)}")
    session = Session(f"defects of {file}, at the strength of check{' --deep' if deep else ''}", json_file)
    work: list[Job] = [partial(jobs.caught_from, file, name, deep) for name in names or defects]
    with interruptible(session), Progress() as progress:
        run_jobs(session, work, workers, progress)
    session.end()


def _matrix(session: Session, names: list[str], file: Path, workers: int, progress: Progress) -> None:
    from blockpool.proofs.adequacy.defects.matrix import for_ledger, judged, row_names, rows, table, untried

    answers = dict(rows(names or row_names(), workers, progress))
    found = {name: row for name, row in answers.items() if not isinstance(row, str)}
    document = as_document(["blockpool", *sys.argv[1:]], [], sum(map(_seconds, found.values())), exit_code([]))
    cells = {"seconds": found, "matrix": for_ledger(found)}
    file.write_text(json.dumps(document | cells, indent=1) + "\n", encoding="utf-8")
    out.print(table(found), markup=False)
    session.decide(judged(found))
    session.decide(untried({name: why for name, why in answers.items() if isinstance(why, str)}))


def _seconds(row: dict[str, dict[str, float]]) -> float:
    return sum(cell["seconds"] for cell in row.values())
