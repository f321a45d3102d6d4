"""The gates of `check`, as a trial runs them: at small scopes, ending at the first failure.

Each answers None if it noticed nothing, or what it noticed: the claim, the calls of its counterexample, and words.
"""

from collections.abc import Callable
from typing import Any

from proofs.decide import COVERED, decide, example, follower_of
from proofs.explore.scopes import SCOPES
from proofs.explore.search import Exploration, explore
from proofs.explore.serving import SERVING_SCOPES
from proofs.refine.digests import SEPARATES, compare_digests
from proofs.refine.lockstep import REFINES, STARTS, MismatchError, check_new_pools
from proofs.refine.machine import sample
from proofs.refine.pools import SPLITS, compare_pools
from proofs.refine.serving import FOLLOWS
from proofs.replay import replay, synthetic_requests
from proofs.replaying import SERVES
from proofs.verdicts import Verdict

Caught = dict[str, Any]

SERVING_DEPTH = 6
"""Moves of requests are larger steps; a defect in a manager shows within a few."""

SHALLOW = 3
"""Most defects show within a few calls; all parts are searched to this depth before any is searched whole."""

PARTS = SCOPES["tiny"]
"""A small pool shows nearly everything."""


def _explore(of_spec: bool) -> Caught | None:
    """The spec against its own claims."""
    if not of_spec:
        return None
    shallow = _search(False, SHALLOW)
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
    return _search(True, SHALLOW) or _search(True, None)


def _digest(of_spec: bool) -> Caught | None:
    """Digests against prefixes."""
    failure = compare_digests(1000).failure
    return None if failure is None else _caught(SEPARATES, None, failure)


def _sample(of_spec: bool) -> Caught | None:
    """Long runs on larger pools."""
    failure = sample(runs=100, calls=60, shrink=False).failure
    return None if failure is None else _caught(failure.claim, len(failure.calls), failure.words)


def _pools(of_spec: bool) -> Caught | None:
    """Releases that mix the blocks of two pools."""
    failure = compare_pools(runs=100, seed=0).failure
    return None if failure is None else _caught(SPLITS, None, failure)


def _serve(of_spec: bool) -> Caught | None:
    """A serving engine on the managers, with events and without."""
    for events in (True, False):
        report = replay(synthetic_requests(150, 0), blocks=120, events=events)
        if report.verdict != "agreed":
            words = f"{report.leaked_blocks} leaked" if report.mismatch is None else report.mismatch.words
            return _caught(SERVES, None, words)
    return None


def _manage(of_spec: bool) -> Caught | None:
    """The managers against the machine with requests, every move; and that machine against its claims."""
    for part in SERVING_SCOPES["small"]:
        found = explore(
            part, follower=follower_of(part), follow_claim=FOLLOWS, first_failure_ends=True, depth=SERVING_DEPTH
        )
        if found.tally.failures:
            return _first_failure(found)
    return None


def _search(follow: bool, depth: int | None) -> Caught | None:
    for part in PARTS:
        follower = follower_of(part) if follow else None
        found = explore(part, follower=follower, follow_claim=REFINES, first_failure_ends=True, depth=depth)
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
    "pools": _pools,
    "serve": _serve,
    "manage": _manage,
    "sample": _sample,
}
"""In the order in which a trial runs them."""
