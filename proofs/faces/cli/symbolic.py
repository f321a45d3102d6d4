"""`blockpool symbolic`."""

from typing import Annotated

import typer

from blockpool.proofs.faces.cli.console import Progress
from blockpool.proofs.faces.cli.session import CORES, JsonFile, Session, Workers, interruptible, run_jobs
from blockpool.proofs.faces.stories.explain import nearest


def symbolic(
    names: Annotated[list[str] | None, typer.Argument(help="Goals to ask about; all if none is named.")] = None,
    seconds: Annotated[float, typer.Option(min=1.0, help="CPU seconds for each goal.")] = 60.0,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer goals on fewer shapes, as in `check`.")] = False,
    workers: Workers = CORES,
    json_file: JsonFile = None,
) -> None:
    """Ask CrossHair: one step of each contracted method from any small pool, and what is hashed, with symbolic data.

    *holds* means confirmed on every path; *inconclusive* that the seconds did not suffice. Three planted violations
    must be found in every run.
    """
    from blockpool.proofs.symbolic import jobs
    from blockpool.proofs.symbolic.goals import GOALS

    known = list(GOALS)
    for name in names or []:
        if name not in known:
            raise typer.BadParameter(f"there is no goal {name!r}. {nearest(name, known)}")
    wanted = [name for name in names or known if not quick or name in jobs.quick_names()]
    if not wanted:
        raise typer.BadParameter(f"a quick run asks about {', '.join(jobs.quick_names())} only")
    session = Session(f"{'quick' if quick else 'whole'}, {seconds:g} s a goal", json_file)
    with interruptible(session), Progress() as progress:
        run_jobs(session, list(jobs.jobs(wanted, quick=quick, seconds=seconds)), workers, progress)
    session.end()
