"""Asking Z3 for each ending of a method: first everything at once, then, if that fails, goal by goal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import z3

from blockpool.proofs.prove.methods.errors import UnsupportedError
from blockpool.proofs.prove.methods.machine import Ending
from blockpool.proofs.prove.methods.method import Method, Program, Source, shipped

SEEDS = (0,)
BUDGET = 12_000_000
"""Resource units for one question; the dearest true one needs a small part of it."""
WALL_MS = 60_000


@dataclass
class Proof:
    """What came of a method."""

    method: Method
    endings: int = 0
    conditions: int = 0
    resources: int = 0  # of all questions together, with the first seed
    worst: int = 0
    failed: list[str] = field(default_factory=list)
    refused: str = ""

    @property
    def holds(self) -> bool:
        return not self.failed and not self.refused


def prove(
    method: Method,
    source: Source = shipped,
    *,
    seeds: Sequence[int] = SEEDS,
    budget: int = BUDGET,
    all_of_it: bool = False,
) -> Proof:
    """Every condition of the method; ends at the first that fails, unless all are wanted."""
    proof = Proof(method)
    try:
        for ending in Program.of(method, source).endings():
            proof.endings += 1
            for failure in _open(ending, proof, seeds, budget):
                proof.failed.append(failure)
                if not all_of_it:
                    return proof
    except UnsupportedError as error:
        proof.refused = str(error)
    return proof


def _open(ending: Ending, proof: Proof, seeds: Sequence[int], budget: int) -> Iterator[str]:
    """The claims at this ending that do not follow."""
    claims = {name: goal for name, goal in (ending.claims or {}).items() if not z3.is_true(z3.simplify(goal))}
    proof.conditions += len(claims)
    if not claims:
        return
    for seed in seeds:
        spent, result = asked(ending.facts.values(), z3.And(*claims.values()), seed, budget)
        proof.resources += spent if seed == seeds[0] else 0
        proof.worst = max(proof.worst, spent)
        if result == "unsat":
            continue
        for name, goal in claims.items():
            spent, result = asked(ending.facts.values(), goal, seed, budget)
            proof.resources += spent if seed == seeds[0] else 0
            if result != "unsat":
                yield f"{ending.words}: {name}: {'a counterexample' if result == 'sat' else 'no proof'}"


def asked(facts: Iterable[Any], goal: Any, seed: int, budget: int) -> tuple[int, str]:
    """What Z3 says of the negated goal, in a fresh context, and what that took."""
    context = z3.Context()
    solver = z3.Solver(ctx=context)
    solver.set(random_seed=seed, rlimit=budget, timeout=WALL_MS)
    for fact in facts:
        solver.add(fact.translate(context))
    solver.add(z3.Not(goal).translate(context))
    result = str(solver.check())
    statistics = solver.statistics()
    return int(statistics.get_key_value("rlimit count")) if "rlimit count" in statistics.keys() else 0, result  # noqa: SIM118
