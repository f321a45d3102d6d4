"""A formula compiled to Python says what Z3 says about it, in every small structure."""

from itertools import product
from random import Random

import pytest
import z3

from blockpool.proofs.prove.pool.evaluate import Structure, UnreadableError, compiled, structure_of

A, B = z3.DeclareSort("A"), z3.DeclareSort("B")
p = z3.Function("p", A, z3.BoolSort())
r = z3.Function("r", A, B, z3.BoolSort())
f = z3.Function("f", A, B)
n = z3.Function("n", A, z3.IntSort())
m = z3.Function("m", A, B, z3.IntSort())
c, k, flag = z3.Const("c", A), z3.Int("k"), z3.Bool("flag")
SYMBOLS = [p, r, f, n, m, c.decl(), k.decl(), flag.decl()]


def a_structure(random: Random) -> Structure:
    some_a = [f"a{number}" for number in range(random.randint(1, 3))]
    some_b = [f"b{number}" for number in range(random.randint(1, 3))]
    return Structure(
        {"A": some_a, "B": some_b},
        {
            "p": {a for a in some_a if random.random() < 0.5},
            "r": {pair for pair in product(some_a, some_b) if random.random() < 0.5},
            "f": {a: random.choice(some_b) for a in some_a},
            "n": {a: random.randint(-1, 2) for a in some_a},
            "m": {pair: random.randint(-1, 2) for pair in product(some_a, some_b)},
            "c": random.choice(some_a),
            "k": random.randint(-1, 2),
            "flag": random.random() < 0.5,
        },
    )


def axioms(structure: Structure) -> list[z3.BoolRef]:
    """The structure said to Z3, leaving it no freedom."""
    some_a = {name: z3.Const(name, A) for name in structure.sorts["A"]}
    some_b = {name: z3.Const(name, B) for name in structure.sorts["B"]}
    any_a, any_b = z3.Const("any_a", A), z3.Const("any_b", B)
    said = structure.symbols
    return [
        z3.Distinct(*some_a.values()),
        z3.Distinct(*some_b.values()),
        z3.ForAll([any_a], z3.Or([any_a == a for a in some_a.values()])),
        z3.ForAll([any_b], z3.Or([any_b == b for b in some_b.values()])),
        *(p(a) == (name in said["p"]) for name, a in some_a.items()),
        *(f(a) == some_b[said["f"][name]] for name, a in some_a.items()),
        *(n(a) == said["n"][name] for name, a in some_a.items()),
        *(r(some_a[a], some_b[b]) == ((a, b) in said["r"]) for a, b in product(some_a, some_b)),
        *(m(some_a[a], some_b[b]) == said["m"][a, b] for a, b in product(some_a, some_b)),
        c == some_a[said["c"]],
        k == said["k"],
        flag == said["flag"],
    ]


def a_formula(random: Random, depth: int, bound_a: list, bound_b: list) -> z3.BoolRef:
    """A random sentence with quantifiers, connectives, equality and arithmetic."""
    if depth == 0:
        return an_atom(random, bound_a, bound_b)

    def smaller() -> z3.BoolRef:
        return a_formula(random, depth - 1, bound_a, bound_b)

    match random.randrange(9):
        case 0:
            return z3.And(smaller(), smaller(), smaller())
        case 1:
            return z3.Or(smaller(), smaller())
        case 2:
            return z3.Not(smaller())
        case 3:
            return z3.Implies(smaller(), smaller())
        case 4:
            return smaller() == smaller()
        case 5:
            return z3.If(smaller(), smaller(), z3.Xor(smaller(), smaller()))
        case _:
            new_a, new_b = z3.Const(f"x{depth}", A), z3.Const(f"y{depth}", B)
            variables = random.choice([[new_a], [new_b], [new_a, new_b], [new_b, new_a]])
            body = a_formula(
                random,
                depth - 1,
                bound_a + [v for v in variables if v.sort() == A],
                bound_b + [v for v in variables if v.sort() == B],
            )
            return random.choice([z3.ForAll, z3.Exists])(variables, body)


def an_atom(random: Random, bound_a: list, bound_b: list) -> z3.BoolRef:
    a, b = random.choice([*bound_a, c]), random.choice([*bound_b, f(c)])
    other_a, other_b = random.choice([*bound_a, c]), random.choice([*bound_b, f(a)])
    number = random.choice([n(a), k, m(a, b), n(a) + m(other_a, b), -k, n(a) - 1, 2 * k, z3.If(p(a), k, n(a))])
    other = random.choice([n(other_a), k, z3.IntVal(0), z3.IntVal(-1)])
    return random.choice(
        [
            p(a),
            r(a, b),
            flag,
            a == other_a,
            b == other_b,
            f(a) == b,
            number <= other,
            number < other,
            number >= other,
            number > other,
            number == other,
            z3.Distinct(a, other_a, c),
            z3.BoolVal(True),
        ]
    )


def test_a_formula_is_true_in_a_structure_exactly_if_z3_says_so() -> None:
    random = Random(4)
    heard = {True: 0, False: 0}
    for _ in range(40):
        structure = a_structure(random)
        solver = z3.Solver()
        solver.add(axioms(structure))
        for _ in range(25):
            formula = a_formula(random, random.randint(1, 4), [], [])
            solver.push()
            solver.add(formula)
            answer = solver.check()
            solver.pop()
            assert answer != z3.unknown
            expected = answer == z3.sat
            assert compiled(formula)(structure) is expected, (formula, structure)
            heard[expected] += 1
    assert min(heard.values()) > 300


def test_a_model_is_read_as_the_structure_it_is() -> None:
    random = Random(5)
    for _ in range(10):
        wanted = a_structure(random)
        solver = z3.Solver()
        solver.add(axioms(wanted))
        assert solver.check() == z3.sat
        read = structure_of(solver.model(), SYMBOLS)
        assert [len(read.sorts[name]) for name in "AB"] == [len(wanted.sorts[name]) for name in "AB"]
        for formula in (a_formula(random, 3, [], []) for _ in range(20)):
            assert compiled(formula)(read) is compiled(formula)(wanted), formula


def test_what_a_model_leaves_open_is_filled_in() -> None:
    solver = z3.Solver()
    solver.add(p(c))
    assert solver.check() == z3.sat
    read = structure_of(solver.model(), SYMBOLS)
    assert compiled(p(c))(read) is True
    assert read.symbols["k"] == 0
    assert set(read.symbols["n"]) == set(read.sorts["A"])


@pytest.mark.parametrize(
    "formula",
    [
        z3.ForAll([k], k * k >= 0),
        z3.Exists([z3.Const("x", z3.RealSort())], z3.Const("x", z3.RealSort()) > 1),
        k % 2 == 0,
        z3.Select(z3.Lambda([c], n(c)), c) > 0,
    ],
)
def test_what_has_no_finite_meaning_is_refused(formula: z3.BoolRef) -> None:
    with pytest.raises(UnreadableError):
        compiled(formula)
