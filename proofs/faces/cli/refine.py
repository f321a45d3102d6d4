"""`blockpool refine`."""

from functools import partial
from typing import Annotated

import typer

from blockpool.proofs.adequacy.defects.least_scopes import enough_runs
from blockpool.proofs.core.jobs import Job
from blockpool.proofs.faces.cli.console import Progress
from blockpool.proofs.faces.cli.searching import explorations, narrowed_parts, wide_enough
from blockpool.proofs.faces.cli.session import (
    CORES,
    JsonFile,
    Memory,
    RayAddress,
    SaveFolder,
    ScopeName,
    Seed,
    Session,
    Workers,
    interruptible,
    run_jobs,
    seeded,
    workforce,
)
from blockpool.proofs.refine.search_obligations import COUNTED, SEARCHED, decide
from blockpool.proofs.suite import checks as jobs


def refine(
    scope: ScopeName = "small",
    blocks: Annotated[int | None, typer.Option(help="Lendable blocks, instead of the scope's.")] = None,
    refs: Annotated[int | None, typer.Option(help="Most references on one block.")] = None,
    watchers: Annotated[int | None, typer.Option(help="Different watchers.")] = None,
    batch: Annotated[int | None, typer.Option(help="Most blocks named in one call.")] = None,
    runs: Annotated[int, typer.Option(min=1, help="Random runs on larger pools.")] = 200,
    calls: Annotated[int, typer.Option(min=1, help="Calls in each of them.")] = 60,
    workers: Workers = CORES,
    ray: RayAddress = None,
    seed: Seed = None,
    json_file: JsonFile = None,
    save: SaveFolder = None,
    memory: Memory = 1.0,
) -> None:
    """Run `impl` in lockstep with the spec: on every call of the scope, then on long random runs."""
    parts = narrowed_parts(scope, blocks, refs, watchers, batch)
    session = Session(f"scope {scope}, {seeded(seed)}", json_file, save)
    with interruptible(session), workforce(workers, ray) as working, Progress() as progress:
        found = explorations(parts, with_impl=True, workers=working, memory=memory, progress=progress)
        stopped = any(exploration.stopped == "interrupted" for exploration in found)
        decided = decide(scope, found, with_impl=True)
        session.decide([one for one in decided if one.method == "refine" or one.name in (COUNTED, SEARCHED)])
        session.decide(wide_enough(scope, parts, ("refine",)))
        if stopped:
            raise KeyboardInterrupt
        work: list[Job] = [
            jobs.new_pools,
            partial(jobs.long_runs, runs, calls, seed),
            partial(jobs.digests, 2000, seed),
        ]
        run_jobs(session, work, working, progress)
        session.decide([enough_runs("sample", runs, calls)])
    session.end()
