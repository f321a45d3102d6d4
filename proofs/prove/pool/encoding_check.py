"""Twins: a formula that Z3 proves and the function of the spec it stands for, shown to mean the same.

Each formula is read in the finite structure of a state or step and compared with the function: on reachable states and
steps of bounded scopes, and on perturbed ones, in which one thing was changed. Both must agree on all of them, and each
twin must have been true somewhere and false somewhere.

A transition's twin is the action itself: the formula is true of exactly those steps that look, as far as formulas can
tell, like a step that the spec allows from that state on that call. What proofs assume of every state is compared with
the truth: it must hold wherever it is asked.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import z3

from blockpool import spec
from blockpool.proofs.core.obligation import Figures, Obligation, Verdict
from blockpool.proofs.core.text import call, changes, show
from blockpool.proofs.explore.scopes import SCOPES, Scope
from blockpool.proofs.prove.pool.claims import FIXED, INVARIANTS, MAKE, StateFormula, first_state, sizes
from blockpool.proofs.prove.pool.evaluate import Evaluator, Structure, compiled
from blockpool.proofs.prove.pool.picture import picture
from blockpool.proofs.prove.pool.samples import FULL, Sampling, names_of, sampled_states, sampled_steps
from blockpool.proofs.prove.pool.step_claims import STEP_CLAIMS, NotSaid, StepFormula
from blockpool.proofs.prove.pool.structures import state_structure, step_structure
from blockpool.proofs.prove.pool.transition import Transition
from blockpool.proofs.prove.pool.transitions import TRANSITIONS
from blockpool.proofs.prove.pool.vocabulary import BEFORE
from blockpool.spec import (
    STEP_PROPERTIES,
    Action,
    Cleared,
    GetUsage,
    Pool,
    Reason,
    Removed,
    Step,
    Stored,
    TakeEvents,
    steps,
)

PARTS = SCOPES["tiny"]
Kind = type[Action[Any]]


@dataclass
class Twin:
    """One pair, and what was heard of it."""

    name: str
    judge: Callable[[Any], bool]
    formula: Callable[[Any], Evaluator | None]  # for this state or step; None says nothing of it, so is true
    may_be_false: bool = True
    heard: Counter[bool] = field(default_factory=Counter)
    words: str = ""  # the first disagreement

    def compare(self, subject: Any, structure: Structure, shown: Callable[[Any], str]) -> None:
        """Ask both, and note what they say."""
        self.expect(self.judge(subject), subject, structure, shown)

    def expect(self, expected: bool, subject: Any, structure: Structure, shown: Callable[[Any], str]) -> None:
        """Ask the formula; what the function says is known."""
        formula = self.formula(subject)
        found = True if formula is None else formula(structure)
        self.heard[expected] += 1
        if expected is not found and not self.words:
            self.words = f"{self.name}: the function says {expected}, the formula {found} of\n{shown(subject)}"

    def obligation(self, scope: str, figures: Mapping[str, int], seconds: float) -> Obligation:
        """The verdict on the pair."""
        wanted = (True, False) if self.may_be_false else (True,)
        missing = [value for value in wanted if not self.heard[value]]
        verdict = Verdict.REFUTED if self.words else Verdict.VACUOUS if missing else Verdict.HOLDS
        words = self.words or "; ".join(f"never {value} on anything compared" for value in missing)
        counts: Figures = {"true": self.heard[True], "false": self.heard[False], **figures}
        return Obligation(f"twin {self.name}", "twins", scope, verdict, counts, seconds, words)


def state_twins(
    formulas: Mapping[str, StateFormula] = INVARIANTS,
    parts: Sequence[Scope] = PARTS,
    sampling: Sampling = FULL,
) -> list[Obligation]:
    """Compare the formulas of invariants, by name, with the functions of the spec; and what is assumed of any state."""
    started = perf_counter()
    judges = {claim.name: claim.judge for claim in spec.INVARIANTS}
    twins = [Twin(name, _holds(judges[name]), _always(formula(BEFORE))) for name, formula in formulas.items()]
    assumed = [Twin(name, _true, _always(formula), may_be_false=False) for name, formula in _assumptions().items()]
    start = Twin("first_state", _is_first, _always(z3.And(*first_state(BEFORE).values())))
    made = [Twin(name, _true, _always(formula(BEFORE)), may_be_false=False) for name, formula in MAKE.items()]
    reachable = perturbed = 0
    for part in parts:
        names = names_of(part)
        for pool, is_reachable in sampled_states(part, sampling):
            reachable, perturbed = reachable + is_reachable, perturbed + (not is_reachable)
            structure = state_structure(pool, names)
            for twin in (*twins, start, *assumed, *(made if is_reachable else ())):
                twin.compare(pool, structure, picture)
    figures = {"reachable": reachable, "perturbed": perturbed}
    return _obligations([*twins, start, *assumed, *made], figures, parts, started)


def step_twins(
    claims: Mapping[str, StepFormula | NotSaid] = STEP_CLAIMS,
    transitions: Mapping[Kind, Transition] = TRANSITIONS,
    parts: Sequence[Scope] = PARTS,
    sampling: Sampling = FULL,
) -> list[Obligation]:
    """Compare the formulas of step properties, by name, and of transitions, by action, with the spec."""
    started = perf_counter()
    judges = {claim.name: claim.judge for claim in STEP_PROPERTIES}
    said = {name: formula for name, formula in claims.items() if not isinstance(formula, NotSaid)}
    properties = [Twin(name, _holds(judges[name]), _by_action(formula)) for name, formula in said.items()]
    actions = {
        kind: Twin(kind.name, is_real, _always(transition.formula())) for kind, transition in transitions.items()
    }
    edges = non_edges = 0
    for part in parts:
        names = names_of(part)
        for step, is_an_edge in sampled_steps(part, sampling):
            real = is_an_edge or is_real(step)
            edges, non_edges = edges + real, non_edges + (not real)
            structure = step_structure(step, names)
            for twin in properties:
                if real or can_be_said(twin.name, step):
                    twin.compare(step, structure, story)
            actions[type(step.action)].expect(real, step, structure, story)
    figures = {"edges": edges, "non-edges": non_edges}
    return _obligations([*properties, *actions.values()], figures, parts, started)


def can_be_said(claim: str, step: Step) -> bool:
    """Can the formula mean what the function means of this step? Of every real step it must; of these it need not:

    a refusal that changes something has broken one claim, and the other functions need not make sense of it;
    a call in a bad range chooses no block in the vocabulary;
    order is that of first places, so a block must not be queued twice;
    events are taken in the order in which the spec sends them.
    """
    if step.refused:
        return claim == "a_refused_call_changes_nothing"
    match claim:
        case "what_is_published_is_found":
            return Reason.BAD_RANGE not in step.action.guard(step.before)
        case "survivors_keep_their_order" | "blocks_join_the_queue_only_at_its_ends":
            return len(set(step.after.queue)) == len(step.after.queue)
        case "events_say_what_the_index_does":
            kinds = [(Cleared, Removed, Stored).index(type(event)) for event in step.emitted]
            return kinds == sorted(kinds)
        case _:
            return True


def is_real(step: Step) -> bool:
    """Does it look, as far as formulas can tell, like a step the spec allows from this state on this call?"""
    looks = _look(step)
    return any(_look(allowed) == looks for allowed in steps(step.before, step.action))


def _look(step: Step) -> tuple[Any, ...]:
    """What a transition can say of a step: of its events which keys they name, not how often, in which order, after
    which parent; nothing of an answer that is a list of events or a share.
    """
    known = len(step.before.outbox)
    return (
        bool(step.refused),
        None if isinstance(step.action, TakeEvents | GetUsage) else step.answer,
        replace(step.after, outbox=step.after.outbox[:known]),
        {key for event in step.emitted if isinstance(event, Stored) for key in event.keys},
        {event.key for event in step.emitted if isinstance(event, Removed)},
        Cleared() in step.emitted,
    )


def story(step: Step) -> str:
    """The step in words."""
    outcome = f"refused: {', '.join(sorted(step.refused))}" if step.refused else f"answers {show(step.answer)}"
    changed = changes(step.before, step.after) or ["nothing changes"]
    return "\n".join([picture(step.before), call(step.action), *(f"    {line}" for line in (outcome, *changed))])


def _assumptions() -> dict[str, Any]:
    return {**FIXED, "counters are sizes": sizes(BEFORE)}


def _always(formula: Any) -> Callable[[Any], Evaluator | None]:
    evaluator = compiled(formula)
    return lambda _: evaluator


def _by_action(formula: StepFormula) -> Callable[[Step], Evaluator | None]:
    """The claim as it is said of each action, compiled when the action is first met."""

    said: dict[str, Evaluator | None] = {}

    def for_step(step: Step) -> Evaluator | None:
        name = step.action.name
        if name not in said:
            words = formula(type(step.action))
            said[name] = None if words is None else compiled(words)
        return said[name]

    return for_step


def _holds(judge: Callable[[Any], bool | None]) -> Callable[[Any], bool]:
    """A claim that has nothing to say of a subject is true of it."""
    return lambda subject: judge(subject) is not False


def _is_first(pool: Pool) -> bool:
    """Is it a new pool, whatever the order of its queue?"""
    new = spec.first_state(pool.size, unit=pool.unit, caching=pool.caching, reporting=pool.reporting)
    return replace(pool, queue=tuple(sorted(pool.queue)), telling=False) == new


def _true(_: Pool) -> bool:
    return True


def _obligations(
    found: Sequence[Twin], figures: Mapping[str, int], parts: Sequence[Scope], started: float
) -> list[Obligation]:
    scope, seconds = ", ".join(part.name for part in parts), perf_counter() - started
    return [twin.obligation(scope, figures, seconds) for twin in found]
