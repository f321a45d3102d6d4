"""`blockpool prove`."""

from collections.abc import Sequence
from typing import Annotated

import typer

from blockpool.proofs.core.figures import compare
from blockpool.proofs.core.jobs import Job
from blockpool.proofs.faces.cli.console import Progress, err, out
from blockpool.proofs.faces.cli.session import CORES, JsonFile, SaveFolder, Session, Workers, interruptible, run_jobs
from blockpool.proofs.faces.stories.explain import nearest


def prove(
    names: Annotated[
        list[str] | None, typer.Argument(help="Claims, checks or methods to prove; all if none is named.")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="A proof must work with each of so many seeds of Z3.")] = 3,
    source: Annotated[
        str | None,
        typer.Option(
            help="Prove another free queue from its source: MODULE:CLASS or FILE.py:CLASS; or the pool's methods "
            "alone, as blockpool.impl.pool:BlockPool."
        ),
    ] = None,
    show_map: Annotated[bool, typer.Option("--map", help="Show which claims carry which, with witnesses.")] = False,
    twins: Annotated[
        bool,
        typer.Option("--twins", help="Compare the formulas with the spec on 100,000 steps and as many wrong ones."),
    ] = False,
    workers: Workers = CORES,
    json_file: JsonFile = None,
    save: SaveFolder = None,
) -> None:
    """Prove with Z3: every claim about the pool at any size, every method of the free queue, the hot ones of the pool.

    The methods are proved from their Python source, those of the pool against the transitions of the spec. What fails
    is shown: the step that breaks the claim, and whether a pool can get there.
    """
    if show_map:
        _print_map()
        return
    work = _chosen(names or [], tuple(range(seeds)), source, twins)
    session = Session("formulas against the spec" if twins else f"{seeds} seeds of Z3", json_file, save)
    with interruptible(session), Progress() as progress:
        run_jobs(session, work, workers, progress)
        if source is None:
            session.decide(compare(session.obligations))
    session.end()


def _chosen(names: Sequence[str], seeds: tuple[int, ...], source: str | None, twins: bool) -> list[Job]:
    """The jobs that are meant."""
    from blockpool.proofs.prove import jobs
    from blockpool.proofs.prove.queue.source import BadSourceError

    try:
        if source == jobs.POOL:
            known = jobs.method_jobs(seeds) | jobs.method_checks()
        elif source is not None:
            known = jobs.queue_jobs(source, seeds)
        elif twins:
            known = jobs.twin_jobs()
        else:
            methods = {**jobs.method_jobs(seeds), **jobs.engine_jobs()}
            known = {**jobs.queue_jobs(seeds=seeds), **jobs.pool_jobs(seeds), **methods}
    except BadSourceError as error:
        err.print(f"error: {error}", style="red", markup=False)
        raise typer.Exit(2) from error
    for name in names:
        if name not in known:
            raise typer.BadParameter(f"there is nothing called {name!r} to prove. {nearest(name, known)}")
    return [known[name] for name in names or known]


def _print_map() -> None:
    from blockpool.proofs.prove.methods.method_map import method_map
    from blockpool.proofs.prove.pool.proof_map import proof_map

    for line in (*method_map(), "", *proof_map()):
        out.print(line, markup=False)
