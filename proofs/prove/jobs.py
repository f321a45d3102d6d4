"""The proofs as jobs, by name: for `blockpool prove`, and a quick choice for `blockpool check`."""

from collections.abc import Sequence
from functools import partial

from blockpool.proofs.core.jobs import Job
from blockpool.proofs.core.obligation import Obligation
from blockpool.proofs.prove.differential.compare import AGREES, agreement
from blockpool.proofs.prove.differential.compare import QUICK as FEW
from blockpool.proofs.prove.differential.noticed import FAULTS_SHOW, check_faults
from blockpool.proofs.prove.methods.catalogue import METHODS
from blockpool.proofs.prove.methods.catalogue import QUICK as QUICK_METHODS
from blockpool.proofs.prove.methods.lemmas import LEMMAS, lemma_obligations
from blockpool.proofs.prove.methods.obligations import (
    NOTICES,
    POSSIBLE,
    fault_obligations,
    method_obligations,
    vacuity_obligations,
)
from blockpool.proofs.prove.pool.encoding_check import state_twins, step_twins
from blockpool.proofs.prove.pool.induction import PROVED, prove
from blockpool.proofs.prove.pool.samples import QUICK
from blockpool.proofs.prove.pool.sensitivity import DEFECTIVE, NOTICED, check_defects
from blockpool.proofs.prove.pool.vacuity import CHECKS, UNBOUNDED, check_unbounded, check_vacuity
from blockpool.proofs.prove.queue.obligations import queue_obligations, unstated
from blockpool.proofs.prove.queue.operations import OPERATIONS
from blockpool.proofs.prove.queue.source import read_queue
from blockpool.proofs.prove.solve import SEEDS

SHIPPED = "blockpool.impl.free_queue:FreeKVCacheBlockQueue"
"""The queue whose methods are proved, one job a method, if no other is named."""
POOL = "blockpool.impl.pool:BlockPool"
"""The class whose methods are proved beside the queue's, and the name of which chooses them alone."""
QUICK_DEFECTS = ("free_blocks", "move_block_hashes")


def pool_jobs(seeds: Sequence[int] = SEEDS) -> dict[str, Job]:
    """The pool machine: every claim, that the proofs are about something, and that they notice defects."""
    return {
        **{claim: partial(prove, claim, seeds) for claim in PROVED},
        **{name: partial(check_vacuity, name) for name in CHECKS},
        UNBOUNDED: check_unbounded,
        **{f"{NOTICED}: {action}": partial(check_defects, action) for action in DEFECTIVE},
    }


def queue_jobs(where: str = SHIPPED, seeds: Sequence[int] = SEEDS) -> dict[str, Job]:
    """A queue class: each of its methods. Fails with BadSourceError if there is no such class."""
    source = read_queue(where)
    names = [operation.name for operation in OPERATIONS if operation.name in source.methods]
    methods: dict[str, Job] = {f"{source.name}.{name}": partial(queue_method, where, name, seeds) for name in names}
    return methods | {f"{source.name}: other methods": partial(other_methods, where)}


def other_methods(where: str) -> list[Obligation]:
    """Public methods of a queue class about which nothing is promised, and so nothing proved."""
    return list(unstated(read_queue(where)))


def queue_method(where: str, method: str, seeds: Sequence[int]) -> list[Obligation]:
    """Every promise of one method."""
    return list(queue_obligations(read_queue(where), seeds=seeds, methods=[method]))


def engine_jobs() -> dict[str, Job]:
    """The engine that executes source against CPython, and that its own defects show there."""
    return {AGREES: agreement, FAULTS_SHOW: check_faults}


def method_jobs(seeds: Sequence[int] = SEEDS) -> dict[str, Job]:
    """The methods of the pool from their source, and what their proofs assume."""
    methods: dict[str, Job] = {name: partial(method_obligations, name, seeds) for name in METHODS}
    return {LEMMAS: lemma_obligations} | methods


def method_checks() -> dict[str, Job]:
    """That these proofs are about something, and notice defects."""
    possible: dict[str, Job] = {f"{name} {POSSIBLE}": partial(vacuity_obligations, name) for name in METHODS}
    return possible | {f"{name} {NOTICES}": partial(fault_obligations, name) for name in METHODS}


def quick_method_jobs() -> list[Job]:
    """The cheap ones, with one seed: for the main job."""
    return [lemma_obligations, *(partial(method_obligations, name, SEEDS[:1]) for name in QUICK_METHODS)]


def twin_jobs() -> dict[str, Job]:
    """The formulas against the spec."""
    return {"states": state_twins, "steps": step_twins}


def quick_jobs() -> list[Job]:
    """For the main job: every claim with one seed, that nothing is vacuous, some of the defects and of the twins."""
    chosen = {name: job for name, job in pool_jobs(SEEDS[:1]).items() if not name.startswith(NOTICED)}
    others: list[Job] = [
        partial(agreement, FEW),
        partial(state_twins, sampling=QUICK),
        partial(step_twins, sampling=QUICK),
    ]
    return [*chosen.values(), *(partial(check_defects, action) for action in QUICK_DEFECTS), *others]
