"""`free_blocks`: the hot way from its source, with the undo and the stand-in; and the careful way behind it."""

# ruff: noqa: SIM300  (names in capitals are the unknowns of formulas)

from __future__ import annotations

from typing import Any

import z3

from blockpool.proofs.prove.methods import abstraction, contracts, models
from blockpool.proofs.prove.methods.errors import Stop
from blockpool.proofs.prove.methods.freeing_loops import BACK, FRONT, RULES, Chains, Giving, joined
from blockpool.proofs.prove.methods.lists import Cursor
from blockpool.proofs.prove.methods.machine import Facts, Run
from blockpool.proofs.prove.methods.method import Method
from blockpool.proofs.prove.methods.touching import NAMED, batch
from blockpool.proofs.prove.methods.values import NO_DIGEST, Model, Node
from blockpool.proofs.prove.methods.world import (
    BATCH,
    COUNT,
    DIGESTS,
    INSIDE,
    ITEM,
    LISTED,
    NEXT,
    NO_BLOCK,
    NULL,
    POOL,
    PREV,
    REFS,
    WIDTH,
    And,
    B,
    I,
    If,
    Not,
    Or,
    every,
    own,
)
from blockpool.proofs.prove.pool.lending_transitions import free_blocks
from blockpool.proofs.prove.queue.order import Order
from blockpool.proofs.prove.queue.values import BLOCK, HEAD, NONE, TAIL

STAND_IN = z3.Const("stand-in", BLOCK)
NEW_BLOCK = {
    "the stand-in is new": And(
        *(STAND_IN != x for x in (HEAD, TAIL, NONE, NULL)), Not(own(STAND_IN)), Not(NO_BLOCK(STAND_IN)),
        REFS(STAND_IN) == 0, DIGESTS(STAND_IN) == NO_DIGEST, Not(INSIDE(STAND_IN)),
    ),
    "nothing leads to it": every([B], And(NEXT(B) != STAND_IN, PREV(B) != STAND_IN), NEXT(B), PREV(B)),
    "nobody names it": every([I], ITEM(I) != STAND_IN, ITEM(I)),
}  # fmt: skip


class CarefulWay(Model):
    """What the method answers when it leaves everything to the careful way."""


def make_block(run: Run) -> Any:
    """`KVCacheBlock(-1)`: one new block. A second one would mean that the queue is empty again, which it is not."""

    def make(_number: Any) -> Node:
        if run.parts.get("made"):
            run.end("needs", "the queue is not empty twice", {"not reached": z3.BoolVal(False)})
            raise Stop
        run.parts["made"] = True
        for field, value in (("next", NONE), ("prev", NONE), ("refs", z3.IntVal(0)), ("digest", NO_DIGEST)):
            run.write(field, STAND_IN, value)
        return Node(run, STAND_IN)

    return make


def _queue(run: Run, scope: dict[str, Any]) -> models.Queue:
    """`append` and `remove` are run from their source."""

    def append(block: Any) -> None:
        scope["append"](made, block)
        before, at = run.heap["order"], block.term

        def place(b: Any) -> Any:
            return If(b == at, before.length + 1, If(b == TAIL, before.length + 2, before.place(b)))

        run.heap["order"] = Order(lambda b: Or(before.inside(b), b == at), place, before.length + 1)

    def remove(block: Any) -> None:
        scope["remove"](made, block)
        run.parts["removed"] = block.term

    made = models.Queue(run, append=append, remove=remove)
    return made


def _call(run: Run, scope: dict[str, Any]) -> Any:
    # An iterator, which can be drawn once: whatever else is given can do no less.
    return scope["free_blocks"](models.pool(run, _queue(run, scope)), Cursor(run, batch(run)))


def _names(run: Run) -> dict[str, Any]:
    def release(_pool: Any, _blocks: Any) -> None:
        run.parts["careful"] = True

    return {"any_foreign": contracts.any_foreign(run), "KVCacheBlock": make_block(run), "release": release}


def _order(run: Run) -> Order:
    """The queue afterwards: what joined the front, what was there, what joined the back."""
    ghost: Chains = next(loop.ghost for loop in run.loops if isinstance(loop.rule, Giving))
    base, f, n = run.heap["order"], ghost.size[FRONT], ghost.size[BACK]

    def place(b: Any) -> Any:
        behind = If(joined(BACK, b, WIDTH), f + base.length + ghost.index[BACK](b), f + base.place(b))
        inner = If(joined(FRONT, b, WIDTH), ghost.index[FRONT](b), behind)
        return If(b == HEAD, 0, If(b == TAIL, f + base.length + n + 1, inner))

    def inside(b: Any) -> Any:
        return Or(base.inside(b), joined(FRONT, b, WIDTH), joined(BACK, b, WIDTH))

    whole, gone = Order(inside, place, base.length + f + n), run.parts.get("removed")
    if gone is None:
        return whole
    return Order(
        lambda b: And(inside(b), b != gone),
        lambda b: If(place(b) > place(gone), place(b) - 1, place(b)),
        whole.length - 1,
    )


def _goals(run: Run, kind: str, value: Any) -> Facts:
    def but(b: Any) -> Any:
        return b == STAND_IN if run.parts.get("made") else z3.BoolVal(False)

    if kind == "raised" or value is not None:
        return {"the hot way does not refuse": z3.BoolVal(False)}
    if run.parts.get("careful"):
        wrong = z3.Exists(
            [I],
            And(0 <= I, I < WIDTH, Or(Not(own(ITEM(I))), And(ITEM(I) != NULL, COUNT(I + 1, ITEM(I)) > REFS(ITEM(I))))),
        )
        watching = z3.Exists([B], LISTED(B))
        return abstraction.untouched(run, but) | {"the careful way is for its cases": Or(wrong, watching)}
    order = _order(run)
    said = abstraction.of_transition(free_blocks(), run, order, NAMED, raised=None)
    return said | abstraction.representation(run, order, but)


FREE = Method(
    "BlockPool.free_blocks, hot way",
    {
        "pool": ("free_blocks",),
        "references": ("give_back", "give_back_shared", "take_again", "give_back_to_empty", "passed"),
        "checks": ("listed",),
        "free_queue": ("append", "remove"),
    },
    _call,
    _goals,
    POOL | BATCH | NEW_BLOCK | abstraction.SLOTS,
    RULES,
    _names,
    {"three namings, two of one block": And(WIDTH == 3, ITEM(0) == ITEM(2), ITEM(1) != ITEM(2), ITEM(0) != NULL)},
    kinds=("returns", "the careful way"),
    through="free_blocks",
    contracts=("any_foreign",),
    limits="blocks of several pools in one call; with watchers the careful way is taken",
)
