"""The obligations that a search decides: every claim, every possibility, coverage, counts, and the refinement."""

from collections.abc import Iterator, Sequence

from blockpool.proofs.core import figures as ledger
from blockpool.proofs.core.claim_names import DEFINED, FOLLOWS, REFINES
from blockpool.proofs.core.counterexample import Counterexample
from blockpool.proofs.core.obligation import Figures, Obligation, Verdict
from blockpool.proofs.core.workers import crew
from blockpool.proofs.core.workers_ray import Workforce
from blockpool.proofs.explore.expand import AnyScope, Failure, Follower
from blockpool.proofs.explore.machines import machine_of
from blockpool.proofs.explore.scopes import Scope
from blockpool.proofs.explore.search import Exploration, Progress, explore
from blockpool.proofs.explore.serving import ServingScope
from blockpool.proofs.refine.lockstep import EdgeFollower
from blockpool.proofs.refine.managers import ManagerFollower
from blockpool.spec import ACTIONS, CLAIMS, WORLD_CLAIMS

COVERED = "every_action_and_refusal_is_met"
COUNTED = ledger.COUNTED
SEARCHED = "the_scope_is_searched_whole"

SENTENCES = {
    DEFINED: "Guard, answers and effect of every action are defined in every reachable state.",
    REFINES: "Every call, refused ones too, ends in impl as the spec allows, in the state that the spec knows.",
    FOLLOWS: "Every move of schedulers, workers and readers ends in the managers of impl as the spec says.",
    COVERED: "Every action is taken and every reason to refuse it is met at least once.",
    SEARCHED: "Every state of the scope was reached and every call tried; no counts are recorded to compare with.",
    **ledger.SENTENCES,
} | {claim.name: claim.sentence for claim in (*CLAIMS, *WORLD_CLAIMS)}
"""Every obligation of a search, in words."""


def search(
    parts: Sequence[AnyScope],
    *,
    with_impl: bool,
    workers: Workforce,
    memory: float | None = None,
    progress: Progress = lambda line: None,
) -> Iterator[Exploration]:
    """Search each part of a scope, with every call taken on `impl` as well if wanted. Ends early if a part does."""
    with crew(workers) as working:
        for part in parts:
            follower = follower_of(part) if with_impl else None
            found = explore(
                part,
                follower=follower,
                follow_claim=_claim(part),
                workers=working,
                memory=memory,
                progress=progress,
            )
            yield found
            if found.stopped is not None:
                return


def decide(name: str, parts: Sequence[Exploration], *, with_impl: bool) -> list[Obligation]:
    """What the search of all parts of the scope `name` showed."""
    stopped = next((found.stopped for found in parts if found.stopped), None)
    seconds = sum(found.seconds for found in parts)
    decided = []
    machine = machine_of(parts[0].scope)
    for claim in (*machine.invariants, *machine.step_properties):
        tested = sum(found.tally.tested[claim.name] for found in parts)
        decided.append(_judged(claim.name, "explore", name, parts, stopped, seconds, {"judged": tested}))
    steps = sum(found.tally.steps for found in parts)
    decided.append(_judged(DEFINED, "explore", name, parts, stopped, seconds, {"judged": steps}))
    decided += [_shown(claim.name, name, parts, stopped, seconds) for claim in machine.possibilities]
    decided.append(_covered(name, parts, stopped, seconds))
    decided += [_counted(found) for found in parts]
    if with_impl:
        calls = sum(found.tally.followed for found in parts)
        decided.append(_judged(_claim(parts[0].scope), "refine", name, parts, stopped, seconds, {"judged": calls}))
    return decided


def follower_of(scope: AnyScope) -> Follower:
    """The implementation that takes every call of this scope as well."""
    if not isinstance(scope, Scope):
        return ManagerFollower(1)
    # Where watchers call back, they also raise.
    return EdgeFollower(scope.unit, raising=scope.nested, alone=scope.alone)


def _claim(scope: AnyScope) -> str:
    return REFINES if isinstance(scope, Scope) else FOLLOWS


def example(found: Exploration, failure: Failure) -> Counterexample:
    """The failure with the whole way to it."""
    sentence = SENTENCES[failure.claim]
    return Counterexample(failure.claim, sentence, found.scope.first_state(), found.trace(failure), failure.words)


def _judged(
    claim: str,
    method: str,
    scope: str,
    parts: Sequence[Exploration],
    stopped: str | None,
    seconds: float,
    figures: Figures,
) -> Obligation:
    """Holds if nothing broke it, the search is complete, and it had something to say."""
    broken = [example(found, found.tally.failures[claim]) for found in parts if claim in found.tally.failures]
    if broken:
        shortest = min(broken, key=lambda counterexample: len(counterexample.calls))
        return Obligation(claim, method, scope, Verdict.REFUTED, figures, seconds, shortest.words, shortest)
    if stopped:
        return Obligation(claim, method, scope, Verdict.INCONCLUSIVE, figures, seconds, stopped)
    if not figures["judged"]:
        return Obligation(claim, method, scope, Verdict.VACUOUS, figures, seconds, "nothing in this scope tests it")
    return Obligation(claim, method, scope, Verdict.HOLDS, figures, seconds)


def _shown(claim: str, scope: str, parts: Sequence[Exploration], stopped: str | None, seconds: float) -> Obligation:
    """A possibility holds once some step shows it."""
    witnesses = [found.trace(found.tally.shown[claim]) for found in parts if claim in found.tally.shown]
    if witnesses:
        figures: Figures = {"calls": min(map(len, witnesses))}
        return Obligation(claim, "explore", scope, Verdict.HOLDS, figures, seconds)
    if stopped:
        return Obligation(claim, "explore", scope, Verdict.INCONCLUSIVE, {}, seconds, stopped)
    return Obligation(claim, "explore", scope, Verdict.VACUOUS, {}, seconds, "no step of this scope shows it")


def _covered(scope: str, parts: Sequence[Exploration], stopped: str | None, seconds: float) -> Obligation:
    if isinstance(parts[0].scope, ServingScope):
        calls = (call for found in parts for call in machine_of(found.scope).calls)
        wanted = {(call.name, "taken") for call in calls}
    else:
        wanted = {(action.name, "taken") for action in ACTIONS}
        wanted |= {(action.name, str(reason)) for action in ACTIONS for reason in action.reasons}
    met = {(action, str(what)) for found in parts for action, what in found.tally.taken}
    figures: Figures = {"met": len(wanted & met), "of": len(wanted)}
    undeclared = met - wanted
    if undeclared:
        words = f"refusals that the action does not declare: {_pairs(undeclared)}"
        return Obligation(COVERED, "explore", scope, Verdict.REFUTED, figures, seconds, words)
    if wanted <= met:
        return Obligation(COVERED, "explore", scope, Verdict.HOLDS, figures, seconds)
    if stopped:
        return Obligation(COVERED, "explore", scope, Verdict.INCONCLUSIVE, figures, seconds, stopped)
    words = f"never met: {_pairs(wanted - met)}"
    return Obligation(COVERED, "explore", scope, Verdict.VACUOUS, figures, seconds, words)


def _pairs(pairs: set[tuple[str, str]]) -> str:
    return ", ".join(f"{action} ({what})" for action, what in sorted(pairs))


def _counted(found: Exploration) -> Obligation:
    states, steps = len(found.states), found.tally.steps
    figures: Figures = {
        "states": states,
        "steps": steps,
        "refused": found.tally.refused,
        "symmetry": round(found.raw_states / states, 1),
        "depth": found.depth,
        "steps/s": round(steps / found.seconds) if found.seconds else 0,
    }
    verdict, words = Verdict.HOLDS, ""
    if found.stopped:
        verdict, words = Verdict.INCONCLUSIVE, found.stopped
    elif found.scope.expected is None:
        return Obligation(SEARCHED, "explore", found.scope.name, verdict, figures, found.seconds)
    elif found.scope.expected != (states, steps):
        recorded = "{:,} states and {:,} steps".format(*found.scope.expected)
        verdict, words = Verdict.REFUTED, f"recorded are {recorded}"
    return Obligation(COUNTED, "explore", found.scope.name, verdict, figures, found.seconds, words)
