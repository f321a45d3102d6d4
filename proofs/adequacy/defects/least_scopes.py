"""Least adequate scopes: a search below the least scope at which its gate catches every defect shows too little.

The ledger keeps the detection matrix, and the matrix names the least scope of each gate. A narrower one may find
nothing because there is nothing in it to find: it is *under-covered*, and that is no success.
"""

from collections.abc import Callable, Sequence

from blockpool.proofs.adequacy.defects.checks_by_gate import CALLS
from blockpool.proofs.adequacy.defects.matrix import least_adequate, row_names
from blockpool.proofs.core.figures import ledger
from blockpool.proofs.core.obligation import Obligation, Verdict
from blockpool.proofs.explore.scopes import ONE_BLOCK, SCOPES, Scope

ADEQUATE = "the_scope_is_wide_enough"
SENTENCES = {
    ADEQUATE: "The scope is at least the least one at which this gate catches every seeded defect that it can."
}

LADDERS = {"explore": ("1 block", "tiny"), "refine": ("1 block", "tiny"), "sample": ("10 runs", "100 runs")}
"""The scopes of the searches and of the random runs of the pool, as the matrix names them."""

_LEAST = {"1 block": ONE_BLOCK, "tiny": SCOPES["tiny"]}
_BOUNDS = ("blocks", "max_refs", "watchers", "max_watches", "batch", "unpinned")


def adequate(method: str, name: str, parts: Sequence[Scope]) -> Obligation:
    """Is this scope of the pool wide enough for the gate?"""
    return _judged(method, name, lambda least: _too_narrow(parts, _LEAST[least]))


def enough_runs(method: str, runs: int, calls: int) -> Obligation:
    """Are these enough random runs, of enough calls each, for the gate?"""

    def missing(least: str) -> list[str]:
        needed = int(least.split()[0])
        short = [f"{runs} runs are below {needed}"] if runs < needed else []
        return short + ([f"{calls} calls in each are below {CALLS}"] if calls < CALLS else [])

    return _judged(method, f"{runs} runs", missing)


def _judged(method: str, name: str, too_narrow: Callable[[str], list[str]]) -> Obligation:
    matrix = ledger()["matrix"]
    least = least_adequate(matrix, LADDERS).get(method) if matrix.keys() == set(row_names()) else None
    if least is None:
        words = "the ledger has no detection matrix of all defects, so nobody knows how wide is enough"
        return Obligation(ADEQUATE, method, name, Verdict.VACUOUS, {}, 0.0, words)
    short = too_narrow(least)
    if short:
        words = f"under-covered: {least} is the least at which every seeded defect is caught; {'; '.join(short)}"
        return Obligation(ADEQUATE, method, name, Verdict.VACUOUS, {"least": least}, 0.0, words)
    return Obligation(ADEQUATE, method, name, Verdict.HOLDS, {"least": least})


def _too_narrow(parts: Sequence[Scope], least: Sequence[Scope]) -> list[str]:
    """What keeps each part of the least adequate scope from lying within its counterpart."""
    if len(parts) < len(least):
        return [f"only {len(parts)} of its {len(least)} parts are searched"]
    return [
        f"{part.name}: {bound} {getattr(part, bound)} is below {getattr(needed, bound)}"
        for part, needed in zip(parts, least, strict=False)
        for bound in _BOUNDS
        if getattr(part, bound) < getattr(needed, bound)
    ]
