"""The sequence that a queue stands for, and what it means that links represent it.

A sequence is a set of blocks and their places: the head sentinel has place 0, the blocks 1 to `length`, the tail
sentinel `length + 1`. All quantifiers range over blocks or over items of a list, so that a counterexample can be
looked for among finitely many blocks.
"""

# ruff: noqa: SIM300  (names in capitals are the unknowns of formulas)

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import z3

from blockpool.proofs.prove.queue.execution import Facts
from blockpool.proofs.prove.queue.values import BLOCK, HEAD, NONE, TAIL, Field

B, C = z3.Consts("b c", BLOCK)
I = z3.Int("i")  # noqa: E741
Predicate = Callable[[Any], z3.BoolRef]


@dataclass(frozen=True)
class Order:
    """A sequence between two sentinels."""

    inside: Predicate
    place: Callable[[Any], Any]
    length: Any


def every(variables: list[Any], body: z3.BoolRef, *patterns: z3.ExprRef) -> z3.BoolRef:
    """For all values. The patterns say which terms bring them up, where those are terms of the heap as it was given."""
    plain = all(p.num_args() > 0 and p.decl().kind() == z3.Z3_OP_UNINTERPRETED for p in patterns)
    return z3.ForAll(variables, body, patterns=list(patterns) if plain else [])


def every_block(body: z3.BoolRef, *patterns: z3.ExprRef) -> z3.BoolRef:
    return every([B], body, *patterns)


def sentinels(heap_next: Field, heap_prev: Field, order: Order) -> Facts:
    """The ends of the list, which no block has to know about."""
    return {
        "the sentinels are two, and no None": z3.Distinct(HEAD, TAIL, NONE),
        "the sentinels bound the list": z3.And(
            order.inside(HEAD), order.inside(TAIL), z3.Not(order.inside(NONE)),
            order.place(HEAD) == 0, order.place(TAIL) == order.length + 1, order.length >= 0,
            heap_prev(HEAD) == NONE, heap_next(TAIL) == NONE,
        ),
    }  # fmt: skip


def represents(after: Field, before: Field, order: Order) -> Facts:
    """`after` and `before`, the links, represent the sequence."""
    place, inside = order.place, order.inside
    return {
        **sentinels(after, before, order),
        "links lead to the next place": every_block(
            z3.Implies(
                z3.And(inside(B), B != TAIL),
                z3.And(inside(after(B)), place(after(B)) == place(B) + 1, before(after(B)) == B),
            ),
            after(B),
        ),
        "links lead back to the place before": every_block(
            z3.Implies(
                z3.And(inside(B), B != HEAD),
                z3.And(inside(before(B)), place(before(B)) == place(B) - 1, after(before(B)) == B),
            ),
            before(B),
        ),
        "places lie between the sentinels": every_block(
            z3.Implies(z3.And(inside(B), B != HEAD, B != TAIL), z3.And(1 <= place(B), place(B) <= order.length)),
            place(B),
        ),
        "no two blocks share a place": z3.ForAll(
            [B, C], z3.Implies(z3.And(inside(B), inside(C), place(B) == place(C)), B == C)
        ),
    }


def outside_unlinked(after: Field, before: Field, order: Order) -> Facts:
    """A block that is not in the sequence has no link."""
    unlinked = z3.And(after(B) == NONE, before(B) == NONE)
    body = z3.Implies(z3.And(z3.Not(order.inside(B)), B != NONE), unlinked)
    return {"blocks outside have no links": every_block(body, after(B), before(B))}


def unchanged(after: Field, before: Field, now_after: Field, now_before: Field, but: Predicate) -> Facts:
    """No link of any block differs, `but` for some."""
    same = z3.And(now_after(B) == after(B), now_before(B) == before(B))
    return {"every link is as it was": z3.ForAll([B], z3.Implies(z3.And(B != NONE, z3.Not(but(B))), same))}


def without_first(order: Order, count: Any) -> Order:
    """The sequence less its first `count` blocks."""
    return Order(
        lambda b: z3.And(order.inside(b), z3.Not(z3.And(1 <= order.place(b), order.place(b) <= count))),
        lambda b: z3.If(b == HEAD, 0, order.place(b) - count),
        order.length - count,
    )


def without(order: Order, block: Any) -> Order:
    """The sequence less one block."""
    return Order(
        lambda b: z3.And(order.inside(b), b != block),
        lambda b: z3.If(order.place(b) > order.place(block), order.place(b) - 1, order.place(b)),
        order.length - 1,
    )


def followed_by(order: Order, named: Predicate, index: Callable[[Any], Any], count: Any) -> Order:
    """The sequence, and `count` more blocks at its end, those that are `named`."""
    return Order(
        lambda b: z3.Or(order.inside(b), named(b)),
        lambda b: z3.If(
            named(b), order.length + 1 + index(b), z3.If(b == TAIL, order.length + 1 + count, order.place(b))
        ),
        order.length + count,
    )


def preceded_by(order: Order, named: Predicate, index: Callable[[Any], Any], count: Any) -> Order:
    """`count` more blocks before the first of the sequence."""
    return Order(
        lambda b: z3.Or(order.inside(b), named(b)),
        lambda b: z3.If(named(b), 1 + index(b), z3.If(b == HEAD, 0, order.place(b) + count)),
        order.length + count,
    )


def same_order(left: Order, right: Order) -> z3.BoolRef:
    """Blocks that are in both stand in the same order."""
    both = z3.And(left.inside(B), right.inside(B), left.inside(C), right.inside(C))
    agree = (left.place(B) < left.place(C)) == (right.place(B) < right.place(C))
    return z3.ForAll([B, C], z3.Implies(both, agree))
