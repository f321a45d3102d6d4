"""The conditions that make every claim hold at every size: for each action and each claim, what is to be proved.

An invariant: the first state has it, and each action, taken or refused, in a state that has all invariants, leads to a
state that has it. A step property: each action in a state that has all invariants keeps it. Nothing bounds the number
of blocks, keys, watchers, references or events.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from time import perf_counter
from typing import Any

from blockpool.proofs.core.obligation import Figures, Obligation, Verdict
from blockpool.proofs.prove.pool.claims import FIXED, INVARIANTS, MAKE, StateFormula, first_state, sizes
from blockpool.proofs.prove.pool.folds import Part
from blockpool.proofs.prove.pool.key_fold import MOVES_KEYS, key_parts
from blockpool.proofs.prove.pool.naming_fold import NAMINGS, queue_parts
from blockpool.proofs.prove.pool.step_claims import STEP_CLAIMS, NotSaid
from blockpool.proofs.prove.pool.transition import Transition
from blockpool.proofs.prove.pool.transitions import TRANSITIONS
from blockpool.proofs.prove.pool.triage import triage
from blockpool.proofs.prove.pool.vocabulary import AFTER, BEFORE, SORTS
from blockpool.proofs.prove.solve import SEEDS, Condition, decide
from blockpool.spec import ACTIONS, POSSIBILITIES

START = "first_state"
"""Stands in the table where an action stands: the invariants of a new pool."""

STATE_CLAIMS: Mapping[str, StateFormula] = {**MAKE, **INVARIANTS}
CLAIM_NAMES = (*STATE_CLAIMS, *STEP_CLAIMS)
PROVED = tuple(name for name in CLAIM_NAMES if not isinstance(STEP_CLAIMS.get(name), NotSaid))
"""The claims that there is something to prove about."""
FOLDED = frozenset({"every_block_is_free_or_held", "events_say_what_the_index_does", "a_move_keeps_every_key"})
"""The claims about numbers, for which batches are taken one step at a time."""

OF_THE_CALL = ("effect: ", "events: ", "told")
"""The hypotheses about what the whole call does: of no use in the middle of a fold."""
METHOD, SCOPE = "prove", "any size"
Row = tuple[Condition, ...] | NotSaid


@cache
def hypotheses(transition: Transition) -> Mapping[str, Any]:
    """What every condition about an action may use."""
    return {
        **{f"fixed: {name}": formula for name, formula in FIXED.items()},
        **{f"make: {name}": formula(BEFORE) for name, formula in MAKE.items()},
        **{name: formula(BEFORE) for name, formula in INVARIANTS.items()},
        "sizes": sizes(BEFORE),
        **transition.formulas(),
    }


def row(transition: Transition, claim: str) -> Row:
    """What is to be proved of this action and this claim; or why there is nothing to prove."""
    if claim in STATE_CLAIMS:
        goal = STATE_CLAIMS[claim](AFTER)
    elif claim in STEP_CLAIMS:
        said = STEP_CLAIMS[claim]
        if isinstance(said, NotSaid):
            return said
        goal = said(transition.action)
        if goal is None:
            return NotSaid("the claim says nothing of steps of this action")
    else:
        return NotSaid("that something can happen is shown by an example, not proved of every step: see vacuity.py")
    name, known = f"{claim}: {transition.name}", hypotheses(transition)
    parts = list(_parts(transition, claim, goal))
    if not parts:
        return (Condition(name, known, goal, SORTS),)
    inside = {assumed: formula for assumed, formula in known.items() if not assumed.startswith(OF_THE_CALL)}
    return tuple(
        Condition(
            ": ".join(filter(None, (name, part.name, about))),
            {**(known if part.of_the_call else inside), **part.hypotheses},
            goal,
            SORTS,
        )
        for part in parts
        for about, goal in part.goals.items()
    )


def _parts(transition: Transition, claim: str, goal: Any) -> Iterator[Part]:
    """The parts of a fold, if the claim needs one."""
    if claim == "every_block_is_free_or_held" and transition.action in NAMINGS:
        yield from queue_parts(transition, goal)
    elif claim in FOLDED and transition.action in MOVES_KEYS and claim in STEP_CLAIMS:
        yield from key_parts(transition, goal)


def start_row(claim: str) -> Row:
    """What is to be proved of a new pool."""
    if claim not in STATE_CLAIMS:
        return NotSaid("a new pool is no step")
    known = {**{f"fixed: {name}": formula for name, formula in FIXED.items()}, **first_state(AFTER)}
    return (Condition(f"{claim}: {START}", known, STATE_CLAIMS[claim](AFTER), SORTS),)


def table(transitions: Mapping[Any, Transition] = TRANSITIONS) -> dict[tuple[str, str], Row]:
    """Every action, and the start, against every claim of `spec`, and what a state is by its make."""
    claims = (*CLAIM_NAMES, *(claim.name for claim in POSSIBILITIES))
    rows = {(START, claim): start_row(claim) for claim in claims}
    return rows | {(action.name, claim): row(transitions[action], claim) for action in ACTIONS for claim in claims}


def rows_of(claim: str, transitions: Mapping[Any, Transition] = TRANSITIONS) -> dict[str, Row]:
    """The row of each action, and of the start, for one claim."""
    return {START: start_row(claim)} | {action.name: row(transitions[action], claim) for action in ACTIONS}


def prove(claim: str, seeds: Sequence[int] = SEEDS) -> list[Obligation]:
    """Decide one claim for the start and for every action. A refuted condition is explained by triage."""
    started = perf_counter()
    rows = rows_of(claim)
    conditions = [condition for found in rows.values() if not isinstance(found, NotSaid) for condition in found]
    about = sum(not isinstance(found, NotSaid) for found in rows.values())
    verdict, most, words, example = Verdict.HOLDS, 0, [], None
    for condition in conditions:
        outcome = decide(condition, seeds=seeds)
        most = max(most, outcome.resources)
        if outcome.verdict is Verdict.REFUTED:
            found = triage(condition, outcome)
            verdict, example = Verdict.REFUTED, example or found.counterexample
            words.append(found.text)
        elif outcome.verdict is not Verdict.HOLDS:
            verdict = verdict if verdict is Verdict.REFUTED else outcome.verdict
            words.append(f"{condition.name}: {outcome.words}")
    figures: Figures = {"actions": about, "conditions": len(conditions), "resources": most, "seeds": len(seeds)}
    seconds = perf_counter() - started
    return [Obligation(claim, METHOD, SCOPE, verdict, figures, seconds, "\n\n".join(words), example)]
