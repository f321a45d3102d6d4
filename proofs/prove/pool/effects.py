"""What several actions share: the blocks that a call names, and what becomes of keys."""

from typing import Any

import z3

from blockpool.proofs.prove.pool.transition import OPEN, Value, appended, nothing
from blockpool.proofs.prove.pool.vocabulary import (
    AFTER,
    BEFORE,
    Block,
    Key,
    a,
    b,
    every,
    has_key,
    k,
    known,
    named,
    named_ahead,
    null,
    some,
    tokens,
)

And, Or, Not, If, Implies = z3.And, z3.Or, z3.Not, z3.If, z3.Implies
x, y = z3.Consts("x y", Block)
z = z3.Const("z", Key)


def names(x: Any) -> Any:
    """The call names this block, and it is not skipped."""
    return And(named(x) > 0, x != null)


WELL_NAMED = {
    "a block is named a natural number of times": every(b, so=named(b) >= 0),
    "last namings are in an order": every(
        a,
        b,
        so=And(
            Implies(named_ahead(a, b), And(named(a) > 0, named(b) > 0, Not(named_ahead(b, a)))),
            Implies(And(named(a) > 0, named(b) > 0, a != b), Or(named_ahead(a, b), named_ahead(b, a))),
        ),
    ),
    "that order is transitive": every(
        a, b, x, so=Implies(And(named_ahead(a, b), named_ahead(b, x)), named_ahead(a, x))
    ),
}
UNKNOWN = some(b, so=And(named(b) > 0, Not(known(b))))
TOO_MANY = some(b, so=And(known(b), names(b), named(b) > BEFORE.refs(b)))


def keys(dropped: Value, primary: Value = nothing, alias: Value = nothing) -> dict[str, Any]:
    """What becomes of primaries, aliases and the index. The number of copies is left to the folds."""
    old = BEFORE

    def lost(x: Any, y: Any) -> Any:
        return And(dropped(x), has_key(old, x, y))

    def gained(x: Any, y: Any) -> Any:
        return Or(primary(x, y), alias(x, y))

    def keyed(x: Any) -> Any:
        return Or(old.published(x), some(z, so=old.alias(x, z)))

    def untouched(y: Any) -> Any:
        return And(old.indexed(y), Not(some(a, so=lost(a, y))))

    given = some(k, so=primary(b, k))
    coverage = And(
        every(b, k, so=Implies(primary(b, k), AFTER.coverage(b) == tokens(k))),
        every(b, so=Implies(Not(given), AFTER.coverage(b) == If(dropped(b), 0, old.coverage(b)))),
    )
    return {
        "published": lambda x: Or(And(old.published(x), Not(dropped(x))), some(z, so=primary(x, z))),
        "primary": lambda x, y: Or(And(old.primary(x, y), Not(dropped(x))), primary(x, y)),
        "coverage": coverage,
        "aliased": lambda x: Or(And(old.aliased(x), Not(And(dropped(x), keyed(x)))), some(z, so=alias(x, z))),
        "alias": lambda x, y: Or(And(old.alias(x, y), Not(dropped(x))), alias(x, y)),
        "indexed": lambda y: Or(untouched(y), some(a, so=AFTER.findable(y, a))),  # an entry goes with its last block
        "findable": lambda y, x: Or(And(old.findable(y, x), Not(lost(x, y))), gained(x, y)),
        "copies": OPEN,
        "posted": appended(),
    }


def all_keys_of(dropped: Value) -> Value:
    """The pairs of block and key that these blocks lose."""
    return lambda x, y: And(dropped(x), has_key(BEFORE, x, y))
