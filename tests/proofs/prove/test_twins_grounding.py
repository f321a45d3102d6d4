"""A formula written out over named elements is satisfiable exactly if the quantified one has so small a model."""

from collections.abc import Iterator

import pytest
import z3

from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.prove.pool.grounding import World, world
from blockpool.proofs.prove.solve import Condition, decide

A, B = z3.DeclareSort("GroundA"), z3.DeclareSort("GroundB")
r = z3.Function("r", A, B, z3.BoolSort())
f = z3.Function("f", A, A)
n = z3.Function("n", A, z3.IntSort())
x, y = z3.Consts("x y", A)
u = z3.Const("u", B)
i = z3.Int("i")

NO_END = z3.And(
    z3.ForAll([x, y], z3.Implies(f(x) == f(y), x == y)),
    z3.Exists([x], z3.ForAll([y], f(y) != x)),
)
"""True of no finite world."""
THREE = z3.Exists([x], z3.And(f(x) != x, f(f(x)) != x, f(f(f(x))) == x))
"""A cycle of three."""
NESTED = z3.ForAll([x], z3.Exists([u], z3.And(r(x, u), z3.ForAll([y], z3.Implies(r(y, u), y == x)))))
"""As many of B as of A, at least."""


def quantifiers(term: z3.ExprRef) -> Iterator[z3.QuantifierRef]:
    if z3.is_quantifier(term):
        yield term
    for child in term.children():
        yield from quantifiers(child)


def satisfied(formula: z3.BoolRef, some: World) -> bool:
    solver = z3.Solver()
    solver.add(some.finite([formula]))
    return bool(solver.check() == z3.sat)


@pytest.mark.parametrize(("size", "expected"), [(1, False), (2, False), (3, True), (4, True)])
def test_a_cycle_needs_its_elements(size: int, expected: bool) -> None:
    assert satisfied(THREE, world((A, size), (B, 1))) is expected


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_what_has_no_finite_model_has_none(size: int) -> None:
    assert not satisfied(NO_END, world((A, size), (B, 1)))


def test_quantifiers_within_each_other_are_all_written_out() -> None:
    assert not any(quantifiers(world((A, 2), (B, 2)).written(NESTED)))
    two = z3.Exists([x, y], x != y)
    assert satisfied(z3.And(NESTED, two), world((A, 2), (B, 2)))
    assert not satisfied(z3.And(NESTED, two), world((A, 2), (B, 1)))


def test_a_quantifier_over_another_sort_stays_and_is_not_forgotten() -> None:
    unbounded = z3.ForAll([i], z3.Exists([x], n(x) > i))
    assert not satisfied(unbounded, world((A, 3), (B, 1)))


def test_a_false_condition_is_refuted_with_the_smallest_model() -> None:
    outcome = decide(Condition("c", {"cycle": THREE}, z3.ForAll([x], f(x) == x), (A,)), seeds=(0,))
    assert outcome.verdict is Verdict.REFUTED
    assert outcome.model is not None
    assert [len(outcome.model.get_universe(sort)) for sort in outcome.model.sorts()] == [3]
