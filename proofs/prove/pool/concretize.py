"""A counterexample that is a pool in every respect: counters count, numbers are small, the call can be written down.

A proof knows of a counter only that it is the size of some set, so a model may give it any number that no proof rules
out. Here the same condition is refuted again with as many blocks as are counted one by one.
"""

from collections.abc import Sequence
from typing import Any

import z3

from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.prove.pool.grounding import world
from blockpool.proofs.prove.pool.vocabulary import (
    AFTER,
    BEFORE,
    SORTS,
    Block,
    State,
    a,
    asked,
    b,
    caching,
    chosen,
    count,
    every,
    j,
    k,
    lendable,
    lendable_count,
    named,
    removed,
    reporting,
    some,
    stored,
    telling,
    tokens,
)
from blockpool.proofs.prove.solve import Condition, satisfiable

BUDGET = 10_000_000
SIZES = (2, 3, 4)  # blocks, the null block among them
OTHERS = 2  # elements of each sort but blocks
MOST = 3  # references on a block, namings, blocks asked for, events about a key


def sharpened(condition: Condition) -> z3.ModelRef | None:
    """A model of this kind with as few blocks as can be, if there is one; a plain one rather than a rich one."""
    broken = [*condition.hypotheses.values(), z3.Not(condition.goal), _small(), _callable(), some(b, so=lendable(b))]
    for size in SIZES:
        small = world(*((sort, size if sort == Block else OTHERS) for sort in SORTS))
        blocks = small.names[Block]
        formulas = {"broken": z3.And(small.finite([*broken, _exact(blocks)]))}
        # A defect may leave the counters after the step behind; then those before it have to do.
        for wish in (z3.And(_plain(), _counted(AFTER, blocks)), _counted(AFTER, blocks), _plain(), z3.BoolVal(True)):
            outcome = satisfiable({**formulas, "wish": small.written(wish)}, budget=BUDGET)
            if outcome.verdict is Verdict.HOLDS:
                return outcome.model
    return None


def _plain() -> Any:
    """Nothing is cached or watched before, though it could be, and nobody is being told."""
    plain = every(b, so=z3.Not(z3.Or(BEFORE.published(b), BEFORE.listed(b))))
    return z3.And(caching, reporting, z3.Not(telling), plain)


def _exact(blocks: Sequence[Any]) -> Any:
    """The names mean different blocks, and every counter is the number of its members."""
    total = lendable_count == z3.Sum([_one_if(lendable(one)) for one in blocks])
    return z3.And(z3.Distinct(*blocks), total, _counted(BEFORE, blocks))


def _counted(state: State, blocks: Sequence[Any]) -> Any:
    return z3.And(
        state.free == z3.Sum([state.places(one) for one in blocks]),
        state.held == z3.Sum([_one_if(state.refs(one) != 0) for one in blocks]),
        every(k, so=state.copies(k) == z3.Sum([_one_if(state.findable(k, one)) for one in blocks])),
    )


def _one_if(condition: Any) -> Any:
    return z3.If(condition, 1, 0)


def _small() -> Any:
    few_events = every(k, so=z3.And(stored(k) <= MOST, removed(k) <= MOST))
    return z3.And(every(b, so=z3.And(BEFORE.refs(b) <= MOST, named(b) <= MOST)), count <= MOST, few_events)


def _callable() -> Any:
    """Keys published by one call end at different places of one prefix; a lookup asks for one group."""
    ends = z3.Implies(z3.And(chosen(a, j), chosen(b, k), j != k), tokens(j) != tokens(k))
    return z3.And(every(a, b, j, k, so=ends), every(j, k, so=z3.Implies(z3.And(asked(j), asked(k)), j == k)))
