"""`blockpool detect`."""

from typing import Annotated

import typer

from proofs import jobs
from proofs.commands.session import CORES, JsonFile, Session, Workers, interruptible, run_jobs
from proofs.console import Progress
from proofs.detect.defects import DEFECTS
from proofs.explain import nearest


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
    with interruptible(session), Progress() as progress:
        run_jobs(session, [jobs.silent, *jobs.trials(names or known)], workers, progress)
    session.end()
