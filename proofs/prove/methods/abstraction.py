"""From the heap to the spec: what each symbol of `vocabulary.py` says of a heap, and goals made from the transitions.

A transition (`proofs/prove/pool/transitions.py`) is a formula about a state before, a state after and the call; the
twins compare it with the spec. Each of its symbols is replaced by what it says of the heap as the call found it, of the
heap at the end of a path, and of the arguments. What is left is the goal there. So the goals are not written by hand.

Left out, because they are numbers of members of sets: `held` and `copies`, which the folds of `prove` move; and
`parent`, which stands in the content of an event.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import z3

from blockpool.proofs.prove.methods.machine import Facts, Run
from blockpool.proofs.prove.methods.values import INT, NO_DIGEST
from blockpool.proofs.prove.methods.world import (
    GIVEN,
    QUEUE,
    And,
    B,
    F,
    I,
    If,
    Implies,
    Not,
    every,
    keyed,
    own,
    queued,
    variables,
    within,
)
from blockpool.proofs.prove.pool import vocabulary as words
from blockpool.proofs.prove.pool.naming_fold import renamed
from blockpool.proofs.prove.pool.transition import Transition
from blockpool.proofs.prove.queue.order import Order, represents
from blockpool.proofs.prove.queue.values import HEAD, NONE, TAIL
from blockpool.spec.pool.terms import Reason

SLOT, SLOT_AT = F("place in the outbox", words.Slot, INT), F("slot at", INT, words.Slot)
SLOTS = {
    "the next place has a slot": SLOT(SLOT_AT(GIVEN["out.length"])) == GIVEN["out.length"],
    "the outbox has a length": GIVEN["out.length"] >= 0,
}
"""The vocabulary has places of the outbox as a sort of its own."""
LEFT_OUT = frozenset({"effect: held", "effect: copies", "events: parent"})


def state(heap: Mapping[str, Any], order: Order) -> dict[str, Any]:
    """What the symbols of a state say of a heap and the order of its queue."""
    digest, group = heap["digest"], heap["group"]

    def published(b: Any) -> Any:
        return And(words.lendable(b), digest(b) != NO_DIGEST)

    def ahead(a: Any, b: Any) -> Any:
        return And(queued(order, a), queued(order, b), order.place(a) < order.place(b))

    return {
        "counted": words.lendable,
        "refs": lambda b: If(words.lendable(b), heap["refs"](b), 0),
        "places": lambda b: If(queued(order, b), 1, 0),
        "ahead": ahead,
        "free": heap["free"],
        "published": published,
        "primary": lambda b, k: And(words.lendable(b), keyed(digest, group, b, k)),
        "coverage": lambda b: If(published(b), heap["tokens"](b), 0),
        "aliased": heap["aliased"],
        "alias": heap["alias"],
        "indexed": lambda k: z3.Exists([B], heap["carries"](B, k)),
        "findable": lambda k, b: heap["carries"](b, k),
        "listed": heap["listed"],
        "watched": heap["watched"],
        "posted": lambda s, e: And(within(SLOT(s), heap["out.length"]), heap["out.at"](SLOT(s)) == e),
    }


def first_heap() -> dict[str, Any]:
    """Any heap, at the start of a call: nothing has been sent or told in it."""
    return GIVEN | {
        "order": QUEUE,
        "removed": lambda _k: z3.IntVal(0),
        "stored": lambda _k: z3.IntVal(0),
        "cleared": z3.BoolVal(False),
        "told": lambda _b, _w: z3.BoolVal(False),
    }


def step(run: Run, after: Order, call: Mapping[Any, Any], refused: bool) -> dict[Any, Any]:
    """What every symbol of a transition says at the end of a path."""
    heap = run.heap
    names = {words.BEFORE.symbols()[name]: said for name, said in state(GIVEN, QUEUE).items()}
    names |= {words.AFTER.symbols()[name]: said for name, said in state(heap, after).items()}
    names |= {
        words.refused: z3.BoolVal(refused), words.removed: heap["removed"], words.stored: heap["stored"],
        words.cleared: heap["cleared"], words.told: heap["told"],
    }  # fmt: skip
    return names | dict(call)


def of_transition(
    transition: Transition, run: Run, after: Order, call: Mapping[Any, Any], *, raised: type[BaseException] | None
) -> Facts:
    """The formulas of a transition, one goal each; and why it was refused, if it was."""
    names = step(run, after, call, raised is not None)
    goals = {n: renamed(f, names) for n, f in transition.formulas().items() if n not in LEFT_OUT}
    if raised is not None:
        reason = getattr(raised, "reason", None)
        known = {str(r): formula for r, formula in transition.reasons.items()}
        goals[f"{raised.__name__} only if {reason}"] = (
            renamed(known[reason], names) if reason in known else z3.BoolVal(False)
        )
    return goals


def representation(run: Run, after: Order, but: Callable[[Any], Any] = lambda _b: z3.BoolVal(False)) -> Facts:
    """The heap stands for a state again; and what is not the pool's was not touched, `but` for some blocks."""
    heap = run.heap
    unlinked = And(heap["next"](B) == NONE, heap["prev"](B) == NONE)
    same = {name: heap[name](B) == GIVEN[name](B) for name in ("refs", "digest", "next", "prev")}
    others = And(Not(own(B)), B != HEAD, B != TAIL, B != NONE, Not(but(B)))
    return {
        **{f"queue: {name}": fact for name, fact in represents(heap["next"], heap["prev"], after).items()},
        "queue: the counter is the length": heap["free"] == after.length,
        "queue: own blocks outside have no links": every([B], Implies(And(own(B), Not(after.inside(B))), unlinked)),
        "queue: only own blocks are in it": every([B], Implies(queued(after, B), words.lendable(B))),
        "null is not counted": heap["refs"](words.null) == 0,
        **{f"{name} of others": every([B], Implies(others, said)) for name, said in same.items()},
    }


def untouched(run: Run, but: Callable[[Any], Any] = lambda _b: z3.BoolVal(False)) -> Facts:
    """Nothing is different, to the letter: of a first attempt that gives way to a second."""
    goals: Facts = {}
    for name, given in GIVEN.items():
        now: Any = run.heap.get(name, given)
        if name.startswith(("named.", "removed", "stored", "cleared", "told")) or now is given:
            continue
        bound = variables(name)
        if name in ("free", "out.length"):
            goals[f"unchanged: {name}"] = now == given
        elif name == "out.at":
            goals[f"unchanged: {name}"] = every([I], Implies(within(I, GIVEN["out.length"]), now(I) == given(I)))
        elif name in ("group", "tokens"):  # they mean nothing while there is no digest
            goals[f"unchanged: {name}"] = every([B], Implies(GIVEN["digest"](B) != NO_DIGEST, now(B) == given(B)))
        else:
            goals[f"unchanged: {name}"] = every(bound, z3.Or(but(B), now(*bound) == given(*bound)))
    return goals


def reasons_of(error: type[BaseException]) -> Reason:
    """The word of the spec for this error."""
    return Reason(error.reason)  # type: ignore[attr-defined]
