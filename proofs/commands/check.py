"""`blockpool check`."""

from functools import partial

from proofs import jobs
from proofs.commands.searching import parts_of, run_search
from proofs.commands.session import (
    CORES,
    Github,
    JsonFile,
    Memory,
    SarifFile,
    SaveFolder,
    ScopeName,
    Seed,
    Session,
    Workers,
    interruptible,
    run_jobs,
    seeded,
)
from proofs.console import Progress
from proofs.detect.defects import CANARIES
from proofs.explore.serving import SERVING_SCOPES
from spec import RULES


def check(
    scope: ScopeName = "small",
    workers: Workers = CORES,
    seed: Seed = None,
    json_file: JsonFile = None,
    save: SaveFolder = None,
    sarif_file: SarifFile = None,
    github: Github = False,
    memory: Memory = 1.0,
) -> None:
    """Run everything: the main job, for CI.

    Searches every state and every call of the scope, in the spec and on `impl`; runs long random traces, a served
    workload and the contracts; and shows that seeded defects are caught. One line for each obligation.
    """
    parts = parts_of(scope)
    session = Session(f"scope {scope}, {seeded(seed)}", json_file, save, sarif_file, github)
    with interruptible(session), Progress() as progress:
        run_search(session, scope, parts, with_impl=True, workers=workers, memory=memory, progress=progress)
        serving = SERVING_SCOPES["small"]
        run_search(session, "requests", serving, with_impl=True, workers=workers, memory=memory, progress=progress)
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
        run_jobs(session, work, workers, progress)
    session.end()
