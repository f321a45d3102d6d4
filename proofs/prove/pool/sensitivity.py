"""Do the proofs notice the seeded defects?"""

from time import perf_counter

import z3

from blockpool.proofs.core.obligation import Figures, Obligation, Verdict
from blockpool.proofs.prove.pool.induction import METHOD, SCOPE, row
from blockpool.proofs.prove.pool.seeded import DEFECTS
from blockpool.proofs.prove.pool.step_claims import NotSaid
from blockpool.proofs.prove.pool.tampering import Defect
from blockpool.proofs.prove.solve import decide

NOTICED = "proofs_notice_defects"
LOOK = 400_000
"""Resource units: a proof that a defect breaks has no end, and its small counterexamples cost far less."""

DEFECTIVE = tuple(dict.fromkeys(defect.transition.name for defect in DEFECTS.values()))
"""The actions that have defects."""


def check_defects(action: str) -> list[Obligation]:
    """Do the proofs notice the defects in this action? Each claim that a defect breaks must be refuted."""
    started = perf_counter()
    mine = {name: defect for name, defect in DEFECTS.items() if defect.transition.name == action}
    refuted, most = 0, 0
    missed: list[str] = []
    for name, defect in mine.items():
        for claim in defect.breaks:
            model = counterexample(defect, claim)
            if model is None:
                missed.append(f"{name}: {claim} is not refuted")
            else:
                refuted, most = refuted + 1, max(most, blocks_of(model))
    figures: Figures = {"defects": len(mine), "refuted": refuted, "blocks": most}
    verdict = Verdict.VACUOUS if missed or not mine else Verdict.HOLDS
    seconds = perf_counter() - started
    return [Obligation(f"{NOTICED}: {action}", METHOD, SCOPE, verdict, figures, seconds, "; ".join(missed))]


def counterexample(defect: Defect, claim: str) -> z3.ModelRef | None:
    """A small one to the claim, if the transition has this defect."""
    found = row(defect.transition, claim)
    for condition in () if isinstance(found, NotSaid) else found:
        outcome = decide(condition, seeds=(0,), budget=LOOK)
        if outcome.verdict is Verdict.REFUTED:
            return outcome.model
    return None


def blocks_of(model: z3.ModelRef) -> int:
    """How many blocks it has."""
    return next((len(model.get_universe(sort)) for sort in model.sorts() if sort.name() == "Block"), 0)
