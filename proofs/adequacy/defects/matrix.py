"""The detection matrix: which gate catches which defect, by which claims, at which least scope, in how many calls.

From it follow the least adequate scope of each gate, and whether each claim is needed: it kills a defect that no other
claim kills, or it is listed as redundant with a reason.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from blockpool.proofs.adequacy.defects.run_defect import DIED, WITHOUT
from blockpool.proofs.adequacy.defects.seeded import DEFECTS
from blockpool.proofs.core.jobs import run_module
from blockpool.proofs.core.obligation import Figures, Obligation, Verdict
from blockpool.spec import CLAIMS, POSSIBILITIES, RULES, WORLD_CLAIMS, WORLD_POSSIBILITIES

Row = dict[str, dict[str, Any]]
"""For each gate that catches the defect: scope, claims, calls, seconds."""
Matrix = dict[str, Row]

TIMEOUT = 900.0

CAUGHT = "every_seeded_defect_is_caught"
NEEDED = "every_claim_kills_a_defect_alone"
TRIED = "every_defect_is_tried"
SENTENCES = {
    TRIED: "The trial of each defect, on every gate, comes to its end.",
    CAUGHT: "Some gate notices each of the seeded defects.",
    NEEDED: "Each claim of the spec kills a defect that no other claim kills, or is listed as redundant.",
}

REDUNDANT: dict[str, str] = {
    "every_block_is_free_or_held": "follows from the claims on counts and queue; it is the number schedulers rely on",
    "only_lending_calls_change_the_queue": "another order breaks survivors_keep_their_order, other blocks an "
    "invariant; it names the call that was not allowed to",
    "each_step_is_a_step_of_the_ledger": "the promise at its highest level: its breaks show in the pool's claims, too",
    "when_all_is_quiet_every_block_is_free": "follows from every_reference_is_accounted_for and the pool's invariants; "
    "it is what an operator sees",
}
"""Claims that kill no defect alone, and why they are kept."""

CLAIMS_OF = {"explore": CLAIMS, "model": WORLD_CLAIMS}
"""The gates that judge the spec's own claims: of the pool alone, and of requests and memory around it."""

_POSSIBLE = {claim.name for claim in POSSIBILITIES} | {claim.name for claim in WORLD_POSSIBILITIES}


def rows(names: Sequence[str], workers: int, progress: Callable[[str], None]) -> Iterator[tuple[str, Row | str]]:
    """A row for each of these defects, in their order, or why there is none."""
    with ThreadPoolExecutor(workers) as threads:
        for number, (name, row) in enumerate(zip(names, threads.map(_row, names), strict=True), 1):
            progress(f"{number} of {len(names)} defects")
            yield name, row


def row_names() -> list[str]:
    """All rows: the seeded defects, and the rules that a scheduler may break."""
    return [*(defect.name for defect in DEFECTS), *(f"{WITHOUT}{rule}" for rule in RULES)]


def _row(name: str) -> Row | str:
    found: Row = {}
    for contracts in (False,) if name.startswith(WITHOUT) else (False, True):
        options = ["--row", "--contracts"] if contracts else ["--row"]
        level = "full" if contracts else "off"
        ran = run_module(
            "blockpool.proofs.adequacy.defects.run_defect", name, *options, timeout=TIMEOUT, BLOCKPOOL_CONTRACTS=level
        )
        if ran.returncode:
            return f"the trial ended: {ran.stderr.strip()[-300:]}"
        found |= json.loads(ran.stdout)
    return found


def caught(row: Row) -> dict[str, dict[str, Any]]:
    """The gates that catch the defect; one that only dies has judged nothing."""
    return {gate: cell for gate, cell in row.items() if cell["claims"] != [DIED]}


def for_ledger(matrix: Matrix) -> Matrix:
    """The matrix without seconds, which no two runs share."""
    return {
        name: {gate: {key: cell[key] for key in ("scope", "claims", "calls")} for gate, cell in row.items()}
        for name, row in matrix.items()
    }


def least_adequate(matrix: Matrix, scopes: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """For each gate the least of its scopes at which it catches all that it catches at any."""
    adequate = {}
    for gate, ladder in scopes.items():
        needed = [ladder.index(row[gate]["scope"]) for row in map(caught, matrix.values()) if gate in row]
        if needed:
            adequate[gate] = ladder[max(needed)]
    return adequate


def sole_kills(matrix: Matrix) -> dict[str, list[str]]:
    """For each claim of a machine the rows that it kills and no other claim of that machine does.

    Claims that are listed as redundant do not count as others. Possibilities are left out: they do not kill defects,
    they show that the machine moves at all.
    """
    found: dict[str, list[str]] = {}
    for gate, claims in CLAIMS_OF.items():
        names = {claim.name for claim in claims} - _POSSIBLE
        found |= {name: [] for name in sorted(names)}
        for row_name, row in matrix.items():
            broken = names & set(row.get(gate, {}).get("claims", ()))
            for claim in broken:
                if broken - REDUNDANT.keys() <= {claim}:
                    found[claim].append(row_name)
    return found


def untried(failures: Mapping[str, str]) -> list[Obligation]:
    """Nothing, unless there are defects without a row, for these reasons."""
    words = "; ".join(f"{name}: {why}" for name, why in failures.items())
    figures: Figures = {"untried": len(failures)}
    return [Obligation(TRIED, "detect", "museum", Verdict.INCONCLUSIVE, figures, 0.0, words)] if failures else []


def judged(matrix: Matrix) -> list[Obligation]:
    """Is every defect caught by some gate, and is every claim needed?"""
    missed = [name for name, row in matrix.items() if not caught(row)]
    figures: Figures = {"defects": len(matrix), "caught": len(matrix) - len(missed)}
    verdict = Verdict.VACUOUS if missed or not matrix else Verdict.HOLDS
    decided = [Obligation(CAUGHT, "detect", "museum", verdict, figures, 0.0, "; ".join(missed))]
    if len(matrix) < len(row_names()):
        return decided  # of some defects nothing follows about the claims
    kills = sole_kills(matrix)
    idle = sorted(claim for claim, defects in kills.items() if not defects and claim not in REDUNDANT)
    wrong = [f"there is no claim {claim}, listed as redundant" for claim in sorted(REDUNDANT.keys() - kills.keys())]
    figures = {"claims": len(kills), "redundant": len(REDUNDANT)}
    verdict = Verdict.VACUOUS if idle else Verdict.REFUTED if wrong else Verdict.HOLDS
    words = "; ".join([*(f"{claim} kills nothing alone" for claim in idle), *wrong])
    return [*decided, Obligation(NEEDED, "detect", "museum", verdict, figures, 0.0, words)]


def table(matrix: Matrix) -> str:
    """A line for each defect: the gates that catch it, each with scope and calls."""
    order = [name for name in row_names() if name in matrix]
    width = max((len(name) for name in order), default=0)
    lines = []
    for name in order:
        cells = [f"{gate} ({_how(cell)})" for gate, cell in caught(matrix[name]).items()]
        lines.append(f"{name:<{width}}  {', '.join(cells) or 'NOBODY'}")
    return "\n".join(lines)


def _how(cell: Mapping[str, Any]) -> str:
    scope: str = cell["scope"]
    return scope if cell["calls"] is None else f"{scope}, {cell['calls']} calls"
