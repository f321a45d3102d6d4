"""What `blockpool check` runs besides its searches: the gate of every change, and the nightly run.

In two parts, one after the other, in processes of their own: CrossHair makes terms of Z3 when it is loaded, and what a
proof spends afterwards in the same process cannot be compared with the ledger.
"""

from collections.abc import Sequence
from functools import partial

from blockpool.proofs.adequacy.census import census
from blockpool.proofs.adequacy.defects.matrix import row_names
from blockpool.proofs.adequacy.defects.seeded import CANARIES, DEFECTS
from blockpool.proofs.core.jobs import Job
from blockpool.proofs.core.obligation import Obligation
from blockpool.proofs.explore.scopes import SCOPES
from blockpool.proofs.explore.serving import SERVING_SCOPES
from blockpool.proofs.prove import jobs as proofs_of
from blockpool.proofs.suite import checks as jobs
from blockpool.proofs.symbolic import jobs as symbolic
from blockpool.proofs.symbolic.goals import GOALS
from blockpool.spec import RULES


def gate(seed: int | None) -> tuple[list[Job], list[Job]]:
    """At every change, within two minutes: the dearest first, so that no worker waits for another at the end."""
    return [symbolic.quick_job, *_sampled(seed, 1)], [
        *proofs_of.queue_jobs(seeds=(0,)).values(),
        census,
        *proofs_of.quick_jobs(),
        *proofs_of.quick_method_jobs(),
        *(partial(jobs.needed, rule) for rule in RULES),
        *jobs.trials(CANARIES),
    ]


def nightly(seed: int | None) -> tuple[list[Job], list[Job]]:
    """Once a day, within an hour."""
    return [*_sampled(seed, 10), *symbolic.jobs(list(GOALS), quick=False, seconds=60.0)], [
        *proofs_of.engine_jobs().values(),
        *proofs_of.queue_jobs().values(),
        census,
        *proofs_of.pool_jobs().values(),
        *proofs_of.method_jobs(seeds=(0,)).values(),
        *proofs_of.method_checks().values(),
        *proofs_of.twin_jobs().values(),
        *proofs_of.engine_jobs().values(),
        *(partial(jobs.needed, rule) for rule in RULES),
        jobs.silent,
        *jobs.trials([defect.name for defect in DEFECTS]),
    ]


def _sampled(seed: int | None, times: int) -> list[Job]:
    return [
        jobs.new_pools,
        partial(jobs.long_runs, 150 * times, 60, seed),
        partial(jobs.requests, 200 * times, 40, seed),
        partial(jobs.contracts, 60 * times, 60),
        partial(jobs.server_shapes, 2 * times, seed or 0),
        partial(jobs.digests, 2000 * times, seed),
        partial(jobs.several_pools, 300 * times, seed or 0),
        partial(jobs.served, 400 * times, 300, seed or 0),
    ]


def recorded_names(proved: Sequence[Obligation] | None = None) -> dict[str, set[str]]:
    """The names under which figures may be recorded; those of proofs only after a run that made them all."""
    parts = (part for scopes in (SCOPES, SERVING_SCOPES) for listed in scopes.values() for part in listed)
    known = {"counts": {part.name for part in parts}, "matrix": set(row_names())}
    return known if proved is None else {**known, "proofs": {one.name for one in proved if one.method == "prove"}}
