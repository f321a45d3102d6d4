"""Running a trace again to see whether a claim is still broken by it. Tests that `check` writes call this."""

from collections.abc import Sequence

from proofs.counterexample import Call, walk
from proofs.refine.lockstep import REFINES, check_trace
from spec import CLAIMS, INVARIANTS, Pool


def rerun(claim: str, first: Pool, calls: Sequence[Call]) -> None:
    """Raise AssertionError (or MismatchError, from the implementation) if the claim is broken along the trace."""
    if claim == REFINES:
        check_trace(first, calls)
        return
    judges = {judged.name: judged for judged in CLAIMS}
    for step in walk(first, calls):
        if claim in judges:
            judged = judges[claim]
            subject = step.after if judged in INVARIANTS else step
            assert judged.judge(subject) is not False, f"{judged.sentence} Broken by {step.action}"
