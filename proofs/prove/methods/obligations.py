"""`prove --source` for the pool: one obligation for each method, one for what is assumed, one for vacuity.

A method holds if every condition follows. If one does not, the method is run at the sizes that its source names: a run
that leaves the spec refutes it, with the call as the picture. Without one it is inconclusive, and says what did not
follow and where. It never holds.
"""

from collections.abc import Sequence
from time import perf_counter

from blockpool.proofs.core.obligation import Figures, Obligation, Verdict
from blockpool.proofs.prove.methods.catalogue import METHODS
from blockpool.proofs.prove.methods.faults import faults
from blockpool.proofs.prove.methods.proving import SEEDS, Proof, prove
from blockpool.proofs.prove.methods.sized_runs import difference, sizes
from blockpool.proofs.prove.methods.vacuity import never_seen

ANY_SIZE = "any size"
REFINES = "refines the spec"
POSSIBLE = "can end in each way"
NOTICES = "is not proved with a defect in it"


def method_obligations(name: str, seeds: Sequence[int] = SEEDS) -> list[Obligation]:
    """Does the method, as it ships, refine the spec?"""
    started = perf_counter()
    proof = prove(METHODS[name], seeds=seeds)
    verdict, words = Verdict.HOLDS, ""
    if not proof.holds:
        verdict, words = _failure(proof)
    return [
        Obligation(f"{name} {REFINES}", "prove", ANY_SIZE, verdict, figures(proof), perf_counter() - started, words)
    ]


def figures(proof: Proof) -> Figures:
    """What it took."""
    return {"endings": proof.endings, "conditions": proof.conditions, "resources": proof.worst}


def _failure(proof: Proof) -> tuple[Verdict, str]:
    words = proof.refused or proof.failed[0]
    for size in sizes(proof.method):
        found = difference(size)
        if found is not None:
            return Verdict.REFUTED, f"a run leaves the spec: {found}\nand of the proof, this does not follow: {words}"
    return Verdict.INCONCLUSIVE, f"no run at the sizes that the source names shows it, but it was not proved: {words}"


def vacuity_obligations(name: str) -> list[Obligation]:
    """Is each kind of ending possible, with a dozen blocks?"""
    started = perf_counter()
    missing = never_seen(METHODS[name])
    verdict = Verdict.VACUOUS if missing else Verdict.HOLDS
    words = f"no pool with a dozen blocks was found in which it {' or '.join(missing)}" if missing else ""
    counts: Figures = {"kinds": len(METHODS[name].kinds)}
    return [Obligation(f"{name} {POSSIBLE}", "prove", ANY_SIZE, verdict, counts, perf_counter() - started, words)]


def fault_obligations(name: str) -> list[Obligation]:
    """Is every seeded defect of the method noticed, and a change that harms nothing still proved?"""
    started, noticed, missed = perf_counter(), 0, []
    for fault in faults():
        if fault.method == name:
            noticed += not (proved := fault.proof().holds)
            missed += [fault.name] if proved else []
    verdict = Verdict.REFUTED if missed else Verdict.HOLDS
    counts: Figures = {"noticed": noticed}
    words = f"proved although defective: {', '.join(missed)}" if missed else ""
    return [Obligation(f"{name} {NOTICES}", "prove", ANY_SIZE, verdict, counts, perf_counter() - started, words)]
