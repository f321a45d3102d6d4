"""What a failed induction means: its smallest counterexample drawn as a pool, and whether a pool can get there.

A counterexample to induction is one step that breaks the claim, from a state that has every invariant assumed. Three
things can be wrong. The state before breaks an invariant that was not assumed: the hypotheses are too weak. Or the spec
does not take this step: the formula of the transition is wrong. Or it does: then the claim is false if the state before
is reachable, and otherwise an invariant is missing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from textwrap import indent
from typing import Any

from blockpool.proofs.core.counterexample import Call, Counterexample
from blockpool.proofs.core.text import call, changes, show
from blockpool.proofs.prove.pool import claims
from blockpool.proofs.prove.pool.concretize import SIZES, sharpened
from blockpool.proofs.prove.pool.encoding_check import is_real, story
from blockpool.proofs.prove.pool.evaluate import Structure, UnreadableError, compiled, symbols_in
from blockpool.proofs.prove.pool.models import UndrawableError, cast_of, read, state_of, step_of, symbols
from blockpool.proofs.prove.pool.picture import picture
from blockpool.proofs.prove.pool.reachability import Search, find
from blockpool.proofs.prove.pool.structures import names_in, step_structure
from blockpool.proofs.prove.pool.vocabulary import BEFORE
from blockpool.proofs.prove.solve import Condition, Outcome
from blockpool.spec import ACTIONS, CLAIMS, INVARIANTS, Action, Pool, Step, first_state, steps


class Finding(StrEnum):
    """What is wrong."""

    CLAIM_IS_FALSE = "The claim is false: the spec takes this step, from a state that it reaches."
    WRONG_TRANSITION = "The formula of the transition is wrong: on this call the spec takes another step."
    NOT_ASSUMED = "The invariants assumed are too weak: no pool gets into the state before."
    INVARIANT_MISSING = "An invariant is missing: no pool gets into the state before, and none of the spec's says so."
    PROOF_TOO_WEAK = "The proof is too weak: the spec takes this step; what fails is about the middle of a batch."
    OPEN = "Whether a pool gets into the state before is open."
    UNDRAWN = "There is no step of a pool to be drawn."


INEXACT = f"No pool of up to {SIZES[-1] - 1} blocks does this if its counters are counted out; these are Z3's figures."


@dataclass(frozen=True, slots=True)
class Triage:
    """The answer."""

    finding: Finding
    text: str
    before: Pool | None = None
    broken: tuple[str, ...] = ()  # invariants of the spec that the state before breaks
    trace: Counterexample | None = None  # the calls from a new pool to this one, if it is reached

    @property
    def counterexample(self) -> Counterexample | None:
        """The trace, if taking it breaks the claim: a wrong formula is none of the spec's fault."""
        return self.trace if self.finding is Finding.CLAIM_IS_FALSE else None


def triage(condition: Condition, outcome: Outcome) -> Triage:
    """Say what a refuted condition means. The name of a condition begins `claim: action`."""
    claim, name = condition.name.split(": ")[:2]
    kind = next((action for action in ACTIONS if action.name == name), None)
    sharp = sharpened(condition) if kind else None
    model = sharp or outcome.model
    if kind is None or model is None:
        return _undrawn(condition, f"{name} is not an action" if kind is None else "there is no model")
    try:
        said = read(model)
    except UnreadableError as error:
        return _undrawn(condition, str(error))
    before, step, drawn = _drawn(said, kind)
    search = find(before)
    broken = _broken_in(before) if sharp else _said_to_be_broken(said)
    finding = _finding(condition, step, search, broken, sharp is not None)
    trace = _trace(claim, step, search)
    lines = [f"{condition.name} is refuted by", "", indent(drawn, "  "), "", *([] if sharp else [INEXACT, ""]), finding]
    lines += _difference(step) if finding is Finding.WRONG_TRANSITION else ()
    lines += _why(condition, search, broken)
    lines += ["", "The calls that lead there, as the spec takes them:", trace.steps()] if trace else []
    return Triage(finding, "\n".join(lines), before, broken, trace)


def _undrawn(condition: Condition, why: str) -> Triage:
    return Triage(Finding.UNDRAWN, f"{condition.name} is refuted. {Finding.UNDRAWN} ({why})")


def _drawn(said: Structure, kind: type[Action[Any]]) -> tuple[Pool, Step | None, str]:
    """The state before; the step, if its call can be written down; and both as a picture."""
    cast = cast_of(said)
    before, after = state_of(cast, ""), state_of(cast, "'")
    try:
        step = step_of(cast, kind)
    except UndrawableError as error:
        return before, None, f"{picture(before)}\n{kind.name} ({error}), and then\n{picture(after)}"
    return before, step, f"{story(step)}\nand then\n{picture(after)}"


def _broken_in(pool: Pool) -> tuple[str, ...]:
    return tuple(claim.name for claim in INVARIANTS if claim.judge(pool) is False)


def _said_to_be_broken(said: Structure) -> tuple[str, ...]:
    """By the formulas: where counters are not counted out, the pool that is drawn has others."""
    return tuple(name for name, formula in claims.INVARIANTS.items() if not compiled(formula(BEFORE))(said))


def _finding(condition: Condition, step: Step | None, search: Search, broken: tuple[str, ...], sharp: bool) -> Finding:
    if broken:
        return Finding.NOT_ASSUMED
    if step is None or not sharp:
        return Finding.OPEN
    # What is drawn may be a step of the spec although the model is not: no state can be drawn in every respect.
    if not is_real(step) or (_speaks_of_steps(condition) and _keeps(condition, step)):
        return Finding.WRONG_TRANSITION
    if search.calls is None:
        return Finding.OPEN if search.unsearched else Finding.INVARIANT_MISSING
    return Finding.CLAIM_IS_FALSE if _speaks_of_steps(condition) else Finding.PROOF_TOO_WEAK


def _keeps(condition: Condition, step: Step) -> bool:
    """Is the goal true of the step as it is drawn?"""
    kept: bool = compiled(condition.goal)(step_structure(step, names_in(step.before, step.after)))
    return kept


def _speaks_of_steps(condition: Condition) -> bool:
    """Is the goal about the states before and after, not about one in the middle of a fold?"""
    return symbols_in(condition.goal) <= {symbol.name() for symbol in symbols()}


def _why(condition: Condition, search: Search, broken: tuple[str, ...]) -> Iterator[str]:
    """What the search says, and what to do."""
    if search.calls is not None:
        calls = "1 call" if len(search.calls) == 1 else f"{len(search.calls)} calls"
        yield f"The state before, as it is drawn, is reached by {calls}."
    elif search.unsearched:
        yield f"Whether a pool reaches the state before was not found out: {search.unsearched}."
    else:
        yield f"The state before is not among the {search.states:,} states that a pool of this size reaches."
    for name in broken:
        assumed = "which is assumed" if name in condition.hypotheses else "which is not assumed"
        yield f"It breaks {name}, {assumed}."


def _difference(step: Step | None) -> Iterator[str]:
    """What the spec does on this call instead."""
    if step is None:
        return
    if is_real(step):
        yield "What the formula says is no state at all, and drawn as near as can be."
    for real in steps(step.before, step.action):
        outcome = f"refuses: {', '.join(sorted(real.refused))}" if real.refused else f"answers {show(real.answer)}"
        changed = changes(real.before, real.after) or ["nothing changes"]
        yield f"On this call the spec {outcome}; {'; '.join(changed)}."


def _trace(claim: str, step: Step | None, search: Search) -> Counterexample | None:
    """The calls from a new pool to the state before, and the call that breaks the claim."""
    if search.calls is None or step is None:
        return None
    before = step.before
    first = first_state(before.size, caching=before.caching, reporting=before.reporting)
    sentence = next((known.sentence for known in CLAIMS if known.name == claim), claim)
    calls = (*search.calls, Call(step.action, step.answer))
    return Counterexample(claim, sentence, first, calls, f"a proof found that {call(step.action)} breaks it")
