"""Does the comparison with CPython show the seeded faults of the engine?"""

from collections.abc import Sequence
from time import perf_counter

from blockpool.proofs.core.obligation import Figures, Obligation, Verdict
from blockpool.proofs.prove.differential.compare import compare
from blockpool.proofs.prove.differential.faults import FAULTS, Fault, planted
from blockpool.proofs.prove.differential.programs import Program, programs

FAULTS_SHOW = "the_comparison_shows_faults_of_the_engine"
PROGRAMS = 900


def shown_by(fault: Fault, several: Sequence[Program]) -> int:
    """How many programs it takes; 0 if none of them shows it."""
    with planted(fault):
        tally = compare(several)
    return tally.programs if tally.failure else 0


def check_faults() -> list[Obligation]:
    """Each must be shown by the programs that the obligation about the engine begins with."""
    started = perf_counter()
    several = programs(0, PROGRAMS)
    needed = {fault.sentence: shown_by(fault, several) for fault in FAULTS}
    missed = [sentence for sentence, number in needed.items() if not number]
    figures: Figures = {"faults": len(needed), "shown": len(needed) - len(missed), "programs": max(needed.values())}
    words = "; ".join(f"nothing shows that {sentence}" for sentence in missed)
    verdict = Verdict.VACUOUS if missed else Verdict.HOLDS
    return [Obligation(FAULTS_SHOW, "prove", "6 blocks", verdict, figures, perf_counter() - started, words)]
