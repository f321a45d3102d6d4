"""The gates of `check`, as a trial runs them: at small scopes, ending at the first failure.

Each answers None if it noticed nothing, or what it noticed: the claim, the calls of its counterexample, and words.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from proofs.decide import COVERED, decide, example
from proofs.explore.scopes import SCOPES
from proofs.explore.search import Exploration, explore
from proofs.refine.digests import SEPARATES, compare_digests
from proofs.refine.lockstep import REFINES, STARTS, EdgeFollower, MismatchError, check_new_pools
from proofs.refine.machine import sample
from proofs.verdicts import Verdict

Caught = dict[str, Any]

SHALLOW = 3
"""Most defects show within a few calls; all parts are searched to this depth before any is searched whole."""

PARTS = tuple(replace(part, blocks=3 if part.name == "quiet" else 2, batch=2) for part in SCOPES["small"])
"""The scope `small` with two blocks, and three where there are no watchers: a small pool shows nearly everything."""


def _explore(of_spec: bool) -> Caught | None:
    """The spec against its own claims."""
    if not of_spec:
        return None
    shallow = _search(None, SHALLOW)
    if shallow is not None:
        return shallow
    searched = []
    for part in PARTS:
        found = explore(part, first_failure_ends=True)
        if found.tally.failures:
            return _first_failure(found)
        searched.append(found)
    for obligation in decide("two blocks", searched, with_impl=False):
        if obligation.verdict is Verdict.VACUOUS or (obligation.name == COVERED and obligation.words):
            return _caught(obligation.name, None, obligation.words)
    return None


def _refine(of_spec: bool) -> Caught | None:
    """`impl` against the spec, every call."""
    try:
        check_new_pools()
    except MismatchError as mismatch:
        return _caught(STARTS, 0, str(mismatch))
    return _search(EdgeFollower, SHALLOW) or _search(EdgeFollower, None)


def _digest(of_spec: bool) -> Caught | None:
    """Digests against prefixes."""
    failure = compare_digests(1000).failure
    return None if failure is None else _caught(SEPARATES, None, failure)


def _sample(of_spec: bool) -> Caught | None:
    """Long runs on larger pools."""
    failure = sample(runs=100, calls=60).failure
    return None if failure is None else _caught(failure.claim, len(failure.calls), failure.words)


def _search(follower: type[EdgeFollower] | None, depth: int | None) -> Caught | None:
    for part in PARTS:
        follow = follower(part.unit) if follower else None
        found = explore(part, follower=follow, follow_claim=REFINES, first_failure_ends=True, depth=depth)
        if found.tally.failures:
            return _first_failure(found)
    return None


def _first_failure(found: Exploration) -> Caught:
    failure = next(iter(found.tally.failures.values()))
    return _caught(failure.claim, len(example(found, failure).calls), failure.words)


def _caught(claim: str, calls: int | None, words: str) -> Caught:
    return {"claim": claim, "calls": calls, "words": words}


GATES: dict[str, Callable[[bool], Caught | None]] = {
    "explore": _explore,
    "digest": _digest,
    "refine": _refine,
    "sample": _sample,
}
"""In the order in which a trial runs them."""
