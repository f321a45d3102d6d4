"""The claims about one state as formulas, under their names in `spec`; and what any state is, by its make.

`MAKE` says what a Python value cannot help being: a tuple is in an order, a mapping has one entry under a key. No
invariant of `spec` says so, the proofs need it, and each action is proved to keep it like any other claim.
"""

from collections.abc import Callable, Mapping
from typing import Any

import z3

from blockpool.proofs.prove.pool.vocabulary import (
    State,
    a,
    b,
    c,
    caching,
    e,
    every,
    f,
    has_key,
    j,
    k,
    lendable,
    lendable_count,
    null,
    queued,
    s,
    some,
    tokens,
    w,
    writable,
)

And, Or, Not, Implies = z3.And, z3.Or, z3.Not, z3.Implies
StateFormula = Callable[[State], Any]


# --- what a state is by its make ---


def the_queue_is_a_sequence(p: State) -> Any:
    """First places are in a total order, transitive and without loops, over the queued blocks."""
    return And(
        every(
            a,
            b,
            so=And(
                p.places(b) >= 0,
                Implies(p.ahead(a, b), And(queued(p, a), queued(p, b), Not(p.ahead(b, a)))),
                Implies(And(queued(p, a), queued(p, b), a != b), Or(p.ahead(a, b), p.ahead(b, a))),
            ),
        ),
        every(a, b, c, so=Implies(And(p.ahead(a, b), p.ahead(b, c)), p.ahead(a, c))),
    )


def a_primary_is_one_key(p: State) -> Any:
    """A published block has exactly one primary key, an unpublished one none and no coverage."""
    return And(
        every(b, j, k, so=Implies(And(p.primary(b, j), p.primary(b, k)), j == k)),
        every(b, so=p.published(b) == some(k, so=p.primary(b, k))),
        every(b, so=Implies(Not(p.published(b)), p.coverage(b) == 0)),
    )


def members_have_an_entry(p: State) -> Any:
    """What is in an entry of a mapping means that there is an entry."""
    return And(
        every(b, k, so=Implies(p.alias(b, k), p.aliased(b))),
        every(b, k, so=Implies(p.findable(k, b), p.indexed(k))),
        every(b, w, so=Implies(p.watched(b, w), p.listed(b))),
    )


def a_place_holds_one_event(p: State) -> Any:
    """Each place of the outbox has one event."""
    return every(s, e, f, so=Implies(And(p.posted(s, e), p.posted(s, f)), e == f))


def collected(*formulas: StateFormula) -> dict[str, StateFormula]:
    """By name."""
    return {formula.__name__: formula for formula in formulas}


MAKE: Mapping[str, StateFormula] = collected(
    the_queue_is_a_sequence,
    a_primary_is_one_key,
    members_have_an_entry,
    a_place_holds_one_event,
)


# --- the invariants ---


def every_block_is_free_or_held(p: State) -> Any:
    return p.free + p.held == lendable_count


def every_lendable_block_is_counted(p: State) -> Any:
    return every(b, so=And(p.counted(b) == lendable(b), Implies(p.refs(b) != 0, p.counted(b))))


def a_block_is_queued_at_most_once(p: State) -> Any:
    return every(b, so=p.places(b) <= 1)


def queued_blocks_are_unheld(p: State) -> Any:
    return every(b, so=Implies(queued(p, b), And(p.counted(b), p.refs(b) == 0)))


def unheld_blocks_are_queued(p: State) -> Any:
    return every(b, so=Implies(And(p.counted(b), p.refs(b) == 0), queued(p, b)))


def counts_are_never_negative(p: State) -> Any:
    return every(b, so=p.refs(b) >= 0)


def coverage_is_the_length_of_the_primary_key(p: State) -> Any:
    return every(b, k, so=Implies(p.primary(b, k), p.coverage(b) == tokens(k)))


def aliases_need_a_primary(p: State) -> Any:
    apart = every(k, so=Not(And(p.primary(b, k), p.alias(b, k))))
    return every(b, so=Implies(p.aliased(b), And(some(k, so=p.alias(b, k)), p.published(b), apart)))


def no_alias_covers_more_than_the_primary(p: State) -> Any:
    return every(b, k, so=Implies(And(p.alias(b, k), p.published(b)), tokens(k) <= p.coverage(b)))


def every_key_of_a_block_is_in_the_index(p: State) -> Any:
    return every(b, k, so=Implies(has_key(p, b, k), p.findable(k, b)))


def the_index_answers_only_blocks_that_carry_the_key(p: State) -> Any:
    return every(b, k, so=Implies(p.findable(k, b), has_key(p, b, k)))


def no_index_entry_is_empty(p: State) -> Any:
    return every(k, so=Implies(p.indexed(k), some(b, so=p.findable(k, b))))


def the_null_block_is_never_used(p: State) -> Any:
    used = Or(p.counted(null), queued(p, null), p.published(null), p.aliased(null), p.listed(null))
    return And(Not(used), every(k, so=Not(p.findable(k, null))))


def only_lendable_blocks_are_watched(p: State) -> Any:
    return every(b, so=Implies(p.listed(b), And(lendable(b), some(w, so=p.watched(b, w)))))


def a_writable_block_cannot_be_observed(p: State) -> Any:
    return every(b, k, so=Implies(And(p.counted(b), writable(p, b)), Not(Or(p.findable(k, b), p.listed(b)))))


def without_caching_nothing_is_findable(p: State) -> Any:
    return Or(caching, every(b, k, so=Not(Or(p.published(b), p.aliased(b), p.indexed(k)))))


INVARIANTS: Mapping[str, StateFormula] = collected(
    every_block_is_free_or_held,
    every_lendable_block_is_counted,
    a_block_is_queued_at_most_once,
    queued_blocks_are_unheld,
    unheld_blocks_are_queued,
    counts_are_never_negative,
    coverage_is_the_length_of_the_primary_key,
    aliases_need_a_primary,
    no_alias_covers_more_than_the_primary,
    every_key_of_a_block_is_in_the_index,
    the_index_answers_only_blocks_that_carry_the_key,
    no_index_entry_is_empty,
    the_null_block_is_never_used,
    only_lendable_blocks_are_watched,
    a_writable_block_cannot_be_observed,
    without_caching_nothing_is_findable,
)


# --- what is true of the numbers that never change ---

FIXED: Mapping[str, Any] = {
    "the null block is not lendable": Not(lendable(null)),
    "the lendable blocks are counted": lendable_count >= 0,
    "no key is shorter than nothing": every(k, so=tokens(k) >= 0),
}


def sizes(p: State) -> Any:
    """Counters are sizes of sets: natural numbers, and not 0 if there is a member."""
    return And(
        p.free >= 0,
        p.held >= 0,
        every(b, so=Implies(queued(p, b), p.free >= p.places(b))),
        every(b, so=Implies(p.refs(b) != 0, p.held >= 1)),
        every(b, k, so=And(p.copies(k) >= 0, Implies(p.findable(k, b), p.copies(k) >= 1))),
    )


def first_state(p: State) -> Mapping[str, Any]:
    """`blockpool.spec.pool.state.first_state`, by field: every lendable block free, nothing held, nothing cached."""
    nothing = every(
        b,
        k,
        so=Not(Or(p.published(b), p.primary(b, k), p.aliased(b), p.alias(b, k), p.indexed(k), p.findable(k, b))),
    )
    return {
        "references": every(b, so=And(p.counted(b) == lendable(b), p.refs(b) == 0)),
        "the queue": And(
            every(b, so=p.places(b) == z3.If(lendable(b), 1, 0)),
            every(a, b, so=Implies(p.ahead(a, b), And(lendable(a), lendable(b), Not(p.ahead(b, a))))),
            every(a, b, so=Implies(And(lendable(a), lendable(b), a != b), Or(p.ahead(a, b), p.ahead(b, a)))),
            every(a, b, c, so=Implies(And(p.ahead(a, b), p.ahead(b, c)), p.ahead(a, c))),
        ),
        "counters": And(p.free == lendable_count, p.held == 0, every(k, so=p.copies(k) == 0)),
        "no keys": And(nothing, every(b, so=p.coverage(b) == 0)),
        "no watchers": every(b, w, so=Not(Or(p.listed(b), p.watched(b, w)))),
        "no events": every(s, e, so=Not(p.posted(s, e))),
    }
