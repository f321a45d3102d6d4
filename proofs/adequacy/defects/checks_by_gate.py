"""The gates of `check`, as a trial runs them: each at a ladder of scopes, ending at the first failure.

A gate answers None if it noticed nothing, or what it noticed: the claim, the calls of its counterexample, and words.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from blockpool.impl import contracts
from blockpool.proofs.core.claim_names import FOLLOWS, REFINES, STARTS
from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.explore.expand import AnyScope
from blockpool.proofs.explore.scopes import ONE_BLOCK, SCOPES, Scope
from blockpool.proofs.explore.search import Exploration, explore
from blockpool.proofs.explore.serving import SERVING_SCOPES
from blockpool.proofs.refine.contracted import unnoticed
from blockpool.proofs.refine.key_injectivity import SEPARATES, compare_digests
from blockpool.proofs.refine.lockstep import MismatchError, check_new_pools
from blockpool.proofs.refine.managers_stateful_test import sample_serving
from blockpool.proofs.refine.search_obligations import decide, example, follower_of
from blockpool.proofs.refine.server_shapes import serve_shapes
from blockpool.proofs.refine.several_pools import SPLITS, compare_pools
from blockpool.proofs.refine.stateful_test import sample
from blockpool.proofs.replay import replay, synthetic_requests
from blockpool.proofs.replay.obligation import SERVES

Caught = dict[str, Any]
Run = Callable[[], Caught | None]

CALLS = 60
"""In each random run of the pool."""

SHALLOW = 3
"""Most defects show within a few calls; all parts are searched to this depth before any is searched whole."""


@dataclass(frozen=True, slots=True)
class Gate:
    """A way of noticing defects, in these trees, at each of these scopes, the least first."""

    name: str
    trees: tuple[str, ...]
    scopes: dict[str, Run]
    routine: str  # the scope at which trials run it
    contracts: bool = False  # does it need the contracts of `impl` at their fullest?
    judged: tuple[AnyScope, ...] = ()  # the scopes on which the spec's own claims are judged, if it judges them

    def run(self, scope: str | None = None) -> Caught | None:
        """What it notices at this scope; at the routine one if none is named."""
        return self.scopes[scope or self.routine]()


def _explore(parts: Sequence[AnyScope], depth: int | None) -> Caught | None:
    """The spec against its own claims: first not deeply, then whole, with coverage and counts."""
    shallow = _search(parts, False, depth)
    if shallow is not None:
        return shallow
    searched = []
    for part in parts:
        found = explore(part, first_failure_ends=True)
        if found.tally.failures:
            return _first_failure(found)
        searched.append(found)
    for obligation in decide("", searched, with_impl=False):
        if obligation.verdict is not Verdict.HOLDS:
            return _caught(obligation.name, None, obligation.words)
    return None


def _refine(parts: Sequence[AnyScope], *depths: int | None) -> Caught | None:
    """`impl` against the spec, every call."""
    try:
        check_new_pools()
    except MismatchError as mismatch:
        return _caught(STARTS, 0, str(mismatch))
    for depth in depths:
        caught = _search(parts, True, depth)
        if caught is not None:
            return caught
    return None


def _digest(pairs: int) -> Caught | None:
    """Digests against prefixes."""
    failure = compare_digests(pairs).failure
    return None if failure is None else _caught(SEPARATES, None, failure)


def _sample(runs: int, calls: int) -> Caught | None:
    """Long runs on larger pools."""
    failure = sample(runs, calls, shrink=False).failure
    return None if failure is None else _caught(failure.claim, len(failure.calls), failure.words)


def _contracted(runs: int, calls: int) -> Caught | None:
    """The same with contracts, which must notice what somebody spoils."""
    if contracts.LEVEL != "full":
        raise RuntimeError("this gate needs BLOCKPOOL_CONTRACTS=full")
    missed = unnoticed()
    if missed:
        return _caught("the canaries of the contracts are found", None, f"not noticed: {', '.join(missed)}")
    return _sample(runs, calls)


def _pools(runs: int) -> Caught | None:
    """Releases that mix the blocks of two pools."""
    failure = compare_pools(runs, seed=0).failure
    return None if failure is None else _caught(SPLITS, None, failure)


def _shapes(times: int) -> Caught | None:
    """Pools of the sizes that servers have."""
    failure = serve_shapes(times=times).failure
    return None if failure is None else _caught(REFINES, None, failure)


def _serve(requests: int, blocks: int) -> Caught | None:
    """A serving engine on the managers, with events and without."""
    for events in (True, False):
        report = replay(synthetic_requests(requests, 0), blocks=blocks, events=events)
        if report.verdict != "agreed":
            words = f"{report.leaked_blocks} leaked" if report.mismatch is None else report.mismatch.words
            return _caught(SERVES, None, words)
    return None


def _manage(depth: int) -> Caught | None:
    """The managers against the machine with requests, every move; and that machine against its claims."""
    return _search(SERVING_SCOPES["small"], True, depth)


def _requests(runs: int, moves: int) -> Caught | None:
    """The same in long runs of more requests."""
    broken = sample_serving(runs, moves, shrink=False).broken
    return None if broken is None else _caught(broken[0], len(broken[2]), broken[3])


def _search(parts: Sequence[AnyScope], follow: bool, depth: int | None) -> Caught | None:
    for part in parts:
        follower = follower_of(part) if follow else None
        claim = REFINES if isinstance(part, Scope) else FOLLOWS
        found = explore(part, follower=follower, follow_claim=claim, first_failure_ends=True, depth=depth)
        if found.tally.failures:
            return _first_failure(found)
    return None


def _first_failure(found: Exploration) -> Caught:
    failure = next(iter(found.tally.failures.values()))
    return _caught(failure.claim, len(example(found, failure).calls), failure.words)


def _caught(claim: str, calls: int | None, words: str) -> Caught:
    return {"claim": claim, "calls": calls, "words": words}


_TINY = SCOPES["tiny"]
_SERVING = SERVING_SCOPES["small"]
_BOTH = ("spec", "impl")

GATES: dict[str, Gate] = {
    gate.name: gate
    for gate in (
        Gate(
            "explore",
            ("spec",),
            {"1 block": partial(_search, ONE_BLOCK, False, None), "tiny": partial(_explore, _TINY, SHALLOW)},
            "tiny",
            judged=tuple(part for part in _TINY if not part.nested),  # which shows no claim that others do not
        ),
        Gate("digest", _BOTH, {"50 pairs": partial(_digest, 50), "1000 pairs": partial(_digest, 1000)}, "1000 pairs"),
        Gate(
            "refine",
            _BOTH,
            {
                "1 block": partial(_refine, ONE_BLOCK, None),
                "tiny": partial(_refine, _TINY, SHALLOW, None),
            },
            "tiny",
        ),
        Gate("pools", _BOTH, {"5 runs": partial(_pools, 5), "100 runs": partial(_pools, 100)}, "100 runs"),
        Gate(
            "serve",
            _BOTH,
            {"20 requests": partial(_serve, 20, 120), "150 requests": partial(_serve, 150, 120)},
            "150 requests",
        ),
        Gate("shapes", _BOTH, {f"{times} runs": partial(_shapes, times) for times in (1, 2)}, "2 runs"),
        Gate("manage", _BOTH, {f"{depth} moves": partial(_manage, depth) for depth in (2, 4, 6)}, "6 moves"),
        Gate("model", ("spec",), {"small": partial(_explore, _SERVING, 4)}, "small", judged=_SERVING),
        Gate(
            "sample",
            _BOTH,
            {"10 runs": partial(_sample, 10, CALLS), "100 runs": partial(_sample, 100, CALLS)},
            "100 runs",
        ),
        Gate(
            "requests",
            _BOTH,
            {"10 runs": partial(_requests, 10, 40), "100 runs": partial(_requests, 100, 40)},
            "100 runs",
        ),
        Gate("contracts", _BOTH, {"20 runs": partial(_contracted, 20, 60)}, "20 runs", contracts=True),
    )
}
"""In the order in which a trial runs them, at their routine scopes."""
