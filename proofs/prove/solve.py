"""The one place where Z3 is asked.

A condition is named hypotheses and a goal. It holds if the hypotheses with the negated goal are unsatisfiable, in a
fresh context for each seed, every time. Budgets are resource units of Z3, so a loaded machine changes nothing; a wall
clock far above them is a second belt. `unknown` is never success: finite models are tried, then it is inconclusive.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

import z3

from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.prove.pool.grounding import world

SEEDS = (0, 1, 2)
BUDGET = 20_000_000
"""Resource units for one question; the dearest condition needs a small part of it."""
GLANCE = 2_000_000
"""What is spent before small models are tried; they are cheap, and a false condition may have no end."""
WALL_MS = 120_000
_TRACK = "assumed: "  # keeps the names of hypotheses apart from those of symbols
SIZES = (1, 2, 3, 4)
"""Elements of each bounded sort, when a small model is looked for."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One verification condition."""

    name: str
    hypotheses: Mapping[str, z3.BoolRef]  # the unsat core speaks in these names
    goal: z3.BoolRef
    sorts: tuple[z3.SortRef, ...] = ()  # uninterpreted sorts, bounded to find a small counterexample


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a question."""

    verdict: Verdict
    core: frozenset[str] = frozenset()  # hypotheses that suffice
    resources: int = 0  # the most that any seed needed
    seconds: float = 0.0
    model: z3.ModelRef | None = None  # in a context of its own
    words: str = ""  # why it is inconclusive or vacuous


def decide(condition: Condition, *, seeds: Sequence[int] = SEEDS, budget: int = BUDGET) -> Outcome:
    """Do the hypotheses imply the goal? Refuted with the smallest model that was found."""
    started = perf_counter()
    negated = z3.Not(condition.goal)
    core: frozenset[str] = frozenset()
    most = 0
    for seed in seeds:
        solver = _solver(condition.hypotheses, [negated], seed, min(budget, GLANCE))
        result = solver.check()
        most = max(most, _spent(solver))
        if result == z3.unknown and (small := _smallest(condition, negated, budget)) is not None:
            return Outcome(Verdict.REFUTED, frozenset(), most, perf_counter() - started, small)
        if result == z3.unknown and budget > GLANCE:
            solver = _solver(condition.hypotheses, [negated], seed, budget)
            result = solver.check()
        most = max(most, _spent(solver))
        if result != z3.unsat:
            return _refutation(condition, negated, solver, result, most, budget, started)
        found = _core(solver)
        core = found if not core or len(found) < len(core) else core
    return Outcome(Verdict.HOLDS, core, most, perf_counter() - started)


def minimal_core(condition: Condition, core: Iterable[str], *, budget: int = BUDGET) -> frozenset[str]:
    """A core of which no hypothesis can be spared: each is left out once, and stays out if the proof still works."""
    needed = list(core)
    for name in sorted(needed):
        rest = {other: condition.hypotheses[other] for other in needed if other != name}
        if _solver(rest, [z3.Not(condition.goal)], 0, budget).check() == z3.unsat:
            needed.remove(name)
    return frozenset(needed)


def satisfiable(
    formulas: Mapping[str, z3.BoolRef],
    sorts: Sequence[z3.SortRef] = (),
    *,
    sizes: Iterable[int] = SIZES,
    budget: int = BUDGET,
) -> Outcome:
    """Can all of these be true at once? Holds with a small model; vacuous, with a core, if they contradict."""
    started = perf_counter()
    for solver in _bounded(formulas, [], sorts, sizes, budget):
        if solver.check() == z3.sat:
            return Outcome(Verdict.HOLDS, resources=_spent(solver), model=solver.model(), seconds=_since(started))
    solver = _solver(formulas, [], 0, budget)
    result = solver.check()
    if result == z3.sat:
        return Outcome(Verdict.HOLDS, resources=_spent(solver), model=solver.model(), seconds=_since(started))
    if result == z3.unsat:
        words = "these hypotheses contradict each other: " + ", ".join(sorted(_core(solver)))
        return Outcome(Verdict.VACUOUS, _core(solver), seconds=_since(started), words=words)
    return Outcome(Verdict.INCONCLUSIVE, seconds=_since(started), words=f"Z3: {solver.reason_unknown()}")


def _refutation(
    condition: Condition,
    negated: z3.BoolRef,
    solver: z3.Solver,
    result: z3.CheckSatResult,
    spent: int,
    budget: int,
    started: float,
) -> Outcome:
    """The smallest counterexample there is; if none was found at all, inconclusive."""
    small = _smallest(condition, negated, budget)
    if small is not None:
        return Outcome(Verdict.REFUTED, frozenset(), spent, _since(started), small)
    if result == z3.sat:
        return Outcome(Verdict.REFUTED, frozenset(), spent, _since(started), solver.model())
    words = (
        f"Z3 answers unknown ({solver.reason_unknown()}) within {budget} resource units, and no small model is known"
    )
    return Outcome(Verdict.INCONCLUSIVE, frozenset(), spent, _since(started), None, words)


def _smallest(condition: Condition, negated: z3.BoolRef, budget: int) -> z3.ModelRef | None:
    """The smallest counterexample, if there is one of a size that is tried."""
    solvers = _bounded(condition.hypotheses, [negated], condition.sorts, SIZES, budget)
    return next((solver.model() for solver in solvers if solver.check() == z3.sat), None)


def _bounded(
    named: Mapping[str, z3.BoolRef],
    others: Sequence[z3.BoolRef],
    sorts: Sequence[z3.SortRef],
    sizes: Iterable[int],
    budget: int,
) -> Iterator[z3.Solver]:
    """A solver for each size, smallest first."""
    for size in sizes if sorts else ():
        yield _solver({}, world(*((sort, size) for sort in sorts)).finite([*named.values(), *others]), 0, budget)


def _solver(named: Mapping[str, z3.BoolRef], others: Sequence[z3.BoolRef], seed: int, budget: int) -> z3.Solver:
    """A solver in a fresh context, so that what is spent and found does not depend on what was asked before.

    Terms that others made in the main context do change what is spent: CrossHair must not be in the process.
    """
    context = z3.Context()
    solver = z3.Solver(ctx=context)
    solver.set(random_seed=seed, rlimit=budget, timeout=WALL_MS)
    for name, formula in named.items():
        solver.assert_and_track(formula.translate(context), z3.Bool(_TRACK + name, context))
    for formula in others:
        solver.add(formula.translate(context))
    return solver


def _core(solver: z3.Solver) -> frozenset[str]:
    return frozenset(str(literal).removeprefix(_TRACK) for literal in solver.unsat_core())


def _spent(solver: z3.Solver) -> int:
    statistics = solver.statistics()
    return int(statistics.get_key_value("rlimit count")) if "rlimit count" in statistics.keys() else 0  # noqa: SIM118


def _since(started: float) -> float:
    return perf_counter() - started
