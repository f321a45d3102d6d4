"""Running a trace again to see whether a claim is still broken by it. Tests that `check` writes call this."""

from collections.abc import Sequence
from typing import Any

from blockpool.proofs.core.claim_names import FOLLOWS, REFINES
from blockpool.proofs.core.counterexample import Call, State, walk
from blockpool.proofs.refine.lockstep import check_trace
from blockpool.proofs.refine.managers import ManagerFollower
from blockpool.spec import (
    CLAIMS,
    INVARIANTS,
    WORLD_INVARIANTS,
    WORLD_POSSIBILITIES,
    WORLD_STEP_PROPERTIES,
    Claim,
    Pool,
    WorldStep,
)


def rerun(claim: str, first: State, calls: Sequence[Call]) -> None:
    """Raise AssertionError (or MismatchError, from the implementation) if the claim is broken along the trace."""
    if claim == REFINES and isinstance(first, Pool):
        check_trace(first, calls)
        return
    follower = ManagerFollower(1)
    every: tuple[Claim[Any], ...] = (*CLAIMS, *WORLD_INVARIANTS, *WORLD_STEP_PROPERTIES, *WORLD_POSSIBILITIES)
    judges = {judged.name: judged for judged in every}
    of_states = {judged.name for judged in INVARIANTS} | {judged.name for judged in WORLD_INVARIANTS}
    for step in walk(first, calls):
        if claim == FOLLOWS and isinstance(step, WorldStep):
            words = follower.follow(step.before, step.action, [step])
            assert words is None, f"{step.action}: {words}"
        if claim in judges:
            judged = judges[claim]
            verdict = judged.judge(step.after if claim in of_states else step)
            assert verdict is not False, f"{judged.sentence} Broken by {step.action}"
