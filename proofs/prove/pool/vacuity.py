"""That the proofs are about something: what they assume is possible, every action can happen, every refusal too.

Hypotheses that contradict each other prove anything. So each set of them is shown to be true of a small finite pool,
and that pool is an interesting one wherever the action allows it. Nor may they bound the world: they are true of a
step of each action in a large pool, see `large_worlds.py`.
"""

from collections.abc import Callable, Iterator, Mapping
from time import perf_counter
from typing import Any

import z3

from blockpool.proofs.core.obligation import Figures, Obligation, Verdict
from blockpool.proofs.prove.large_worlds import MANY, bounding, large_steps
from blockpool.proofs.prove.pool.claims import FIXED, first_state
from blockpool.proofs.prove.pool.induction import METHOD, SCOPE, hypotheses, rows_of
from blockpool.proofs.prove.pool.possibilities import AT_WORK, POSSIBLE, interesting
from blockpool.proofs.prove.pool.step_claims import NotSaid
from blockpool.proofs.prove.pool.transitions import TRANSITIONS
from blockpool.proofs.prove.pool.vocabulary import AFTER, BEFORE, SORTS, b, lendable, refused, some
from blockpool.proofs.prove.solve import satisfiable
from blockpool.spec import Reason

Formulas = Mapping[str, Any]
SIZES = (4, 5)
"""Elements of each sort: the null block, a shared one and two queued ones; a fifth if need be."""


def actions_at_work() -> Iterator[tuple[str, Formulas]]:
    """Each action, taken, from an interesting pool, and not about nothing."""
    for action, transition in TRANSITIONS.items():
        wanted = {"taken": z3.Not(refused), "interesting": interesting(BEFORE), "at work": AT_WORK[action]}
        yield action.name, {**hypotheses(transition), **wanted}


def refusals() -> Iterator[tuple[str, Formulas]]:
    """Each reason of each guard, from an interesting pool, and no other reason with it."""
    for action, transition in TRANSITIONS.items():
        for reason, formula in transition.reasons.items():
            others = z3.Or(*(other for name, other in transition.reasons.items() if name != reason))
            wanted = {"reason": formula, "no other": z3.Not(others)}
            if reason is not Reason.CACHING_DISABLED:  # then there are no keys, and it is less interesting
                wanted["interesting"] = interesting(BEFORE)
            yield f"{action.name}: {reason}", {**hypotheses(transition), **wanted}


def possibilities() -> Iterator[tuple[str, Formulas]]:
    """Everything that `spec` says must be possible, by the first action that is named for it."""
    for name, (actions, formula) in POSSIBLE.items():
        for action in actions:
            yield f"{name}: {action.name}", {**hypotheses(TRANSITIONS[action]), "possibility": formula}


def parts_of_folds() -> Iterator[tuple[str, Formulas]]:
    """What is assumed between two steps of a fold, and in each step."""
    for claim in ("every_block_is_free_or_held", "events_say_what_the_index_does"):
        seen: set[str] = set()
        for row in rows_of(claim).values():
            for condition in () if isinstance(row, NotSaid) else row:
                part = ": ".join(condition.name.split(": ")[:3])
                if part not in seen:
                    seen.add(part)
                    yield part, condition.hypotheses


def new_pools() -> Iterator[tuple[str, Formulas]]:
    """A new pool with some blocks."""
    fixed = {f"fixed: {name}": formula for name, formula in FIXED.items()}
    yield "first_state", {**fixed, **first_state(AFTER), "some block": some(b, so=lendable(b))}


CHECKS: Mapping[str, Callable[[], Iterator[tuple[str, Formulas]]]] = {
    "a_new_pool_is_possible": new_pools,
    "every_action_is_possible_from_an_interesting_pool": actions_at_work,
    "every_reason_to_refuse_is_possible_alone": refusals,
    "every_possibility_of_the_spec_is_possible_here": possibilities,
    "what_is_assumed_within_a_fold_is_possible": parts_of_folds,
}


UNBOUNDED = "what_is_assumed_is_true_of_large_pools"


def check_unbounded() -> list[Obligation]:
    """Vacuous if a hypothesis excludes a pool with many blocks, keys and watchers."""
    started = perf_counter()
    found = {step.action.name: bounding(step) for step in large_steps()}
    missing = [f"{action.name}: no step of it was made" for action in TRANSITIONS if action.name not in found]
    words = [*missing, *(f"{action}: {word}" for action, several in found.items() for word in several)]
    verdict = Verdict.VACUOUS if words else Verdict.HOLDS
    figures: Figures = {"actions": len(found), "blocks, keys, watchers": f"at least {MANY} each"}
    return [Obligation(UNBOUNDED, METHOD, SCOPE, verdict, figures, perf_counter() - started, "\n".join(words))]


def check_vacuity(name: str) -> list[Obligation]:
    """Decide one of the checks: vacuous if anything it names is impossible."""
    started = perf_counter()
    verdict, words, count = Verdict.HOLDS, [], 0
    for what, formulas in CHECKS[name]():
        count += 1
        outcome = satisfiable(formulas, SORTS, sizes=SIZES)
        if outcome.verdict is not Verdict.HOLDS:
            verdict = outcome.verdict if verdict is not Verdict.VACUOUS else verdict
            words.append(f"{what}: {outcome.words}")
    return [Obligation(name, METHOD, SCOPE, verdict, {"shown": count}, perf_counter() - started, "\n".join(words))]
