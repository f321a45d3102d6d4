"""`unpin_blocks` and `cancel_watch`: the whole methods."""

# ruff: noqa: SIM300  (names in capitals are the unknowns of formulas)

from __future__ import annotations

from typing import Any

import z3

from blockpool.proofs.prove.methods import abstraction, contracts, models
from blockpool.proofs.prove.methods.lists import Cursor
from blockpool.proofs.prove.methods.loops import Loop, Rule
from blockpool.proofs.prove.methods.machine import Facts, Run
from blockpool.proofs.prove.methods.method import Method
from blockpool.proofs.prove.methods.touching import NAMED, batch
from blockpool.proofs.prove.methods.values import INT, Node, Thing
from blockpool.proofs.prove.methods.world import (
    BATCH,
    COUNT,
    GIVEN_LIST,
    GROWING,
    ITEM,
    LISTED,
    NULL,
    POOL,
    QUEUE,
    REFS,
    WATCHED,
    WIDTH,
    And,
    B,
    C,
    I,
    If,
    Implies,
    Or,
    counting,
    counts_one_more,
    every,
    met,
    own,
    within,
)
from blockpool.proofs.prove.pool import vocabulary as words
from blockpool.proofs.prove.pool.lending_transitions import cancel_watch, unpin_blocks
from blockpool.proofs.prove.queue.values import BLOCK, NONE

WATCHER_GIVEN = z3.Const("watcher given", words.Watcher)


class Checking(Rule):
    """The blocks so far are own, not null, and named no more often than held; the table counts them."""

    def defines(self, loop: Loop, k: Any) -> Facts:
        return {"count, one step": counts_one_more(k)}

    def heap(self, loop: Loop, k: Any, ghost: Any) -> dict[str, Any]:
        return {"named.has": lambda b: met(b, k), "named.value": lambda b: If(met(b, k), COUNT(k, b), 0)}

    def facts(self, loop: Loop, k: Any, names: Any, ghost: Any) -> Facts:
        fine = And(own(ITEM(I)), ITEM(I) != NULL)
        return {
            **counting(k),
            "own, and not null": every([I], Implies(within(I, k), fine), ITEM(I)),
            "no more than held": every([B], COUNT(k, B) <= REFS(B), COUNT(k, B)),
        }


def freed(b: Any, k: Any) -> Any:
    return And(REFS(b) > 0, COUNT(k, b) == REFS(b))


class Dropping(Rule):
    """References are dropped, and what is freed is listed in the order in which it was."""

    grows = ("idle",)

    def defines(self, loop: Loop, k: Any) -> Facts:
        return {"count, one step": counts_one_more(k)}

    def heap(self, loop: Loop, k: Any, ghost: Any) -> dict[str, Any]:
        return {"refs": lambda b: REFS(b) - COUNT(k, b)}

    def facts(self, loop: Loop, k: Any, names: Any, ghost: Any) -> Facts:
        idle, (index, when) = names.idle, ghost
        listed = And(within(index(B), idle.length), idle.at(index(B)) == B)
        each = And(freed(idle.at(I), k), index(idle.at(I)) == I)
        then = And(within(when(B), k), ITEM(when(B)) == B)
        both, after = And(freed(B, k), freed(C, k)), And(within(I, k), freed(ITEM(I), k))
        return {
            **counting(k),
            "some": idle.length >= 0,
            "no more than held": every([B], COUNT(k, B) <= REFS(B), COUNT(k, B)),
            "all that are freed": every([B], Implies(freed(B, k), listed), index(B)),
            "only those, each once": every([I], Implies(within(I, idle.length), each), idle.at(I)),
            "freed when last named": every([B], Implies(freed(B, k), then), when(B)),
            "not named after": every([I], Implies(after, I <= when(ITEM(I))), ITEM(I)),
            "in order of last naming": every([B, C], Implies(both, (index(B) < index(C)) == (when(B) < when(C)))),
        }

    def ghost(self, loop: Loop) -> Any:
        return loop.run.fresh("place among the idle", BLOCK, INT), loop.run.fresh("when", BLOCK, INT)

    def next(self, loop: Loop, k: Any, ghost: Any) -> Any:
        (index, when), item, length = ghost, ITEM(k), loop.sizes["idle"]
        new = COUNT(k, item) + 1 == REFS(item)
        return (
            lambda b: If(And(new, b == item), length, index(b)),
            lambda b: If(And(new, b == item), k, when(b)),
        )


class Registering(Rule):
    """The blocks so far that did not have the watcher have it now."""

    def heap(self, loop: Loop, k: Any, ghost: Any) -> dict[str, Any]:
        place, at = loop.over.place, loop.over.at

        def passed(b: Any) -> Any:
            return And(within(place(b), k), at(place(b)) == b)

        return {
            "listed": lambda b: Or(LISTED(b), passed(b)),
            "watched": lambda b, w: Or(WATCHED(b, w), And(passed(b), w == WATCHER_GIVEN)),
        }


def _unpin(run: Run, scope: dict[str, Any]) -> Any:
    pool = models.pool(run, contracts.queue(run))
    blocks = batch(run)
    given = blocks if run.branch(GIVEN_LIST) else Cursor(run, blocks)  # an iterator can be drawn once
    return scope["unpin_blocks"](pool, given, Thing(run, WATCHER_GIVEN))


def _unpin_goals(run: Run, kind: str, value: Any) -> Facts:
    order, call = run.heap["order"], NAMED | {words.watcher: WATCHER_GIVEN}
    raised = value if kind == "raised" else None
    said = abstraction.of_transition(unpin_blocks(), run, order, call, raised=raised)
    return said | abstraction.representation(run, order)


UNPIN = Method(
    "BlockPool.unpin_blocks",
    {
        "pool": ("unpin_blocks",),
        "references": ("unpin", "count_occurrence"),
        "checks": ("listed", "own_block", "not_while_telling"),
    },
    _unpin,
    _unpin_goals,
    POOL | BATCH | GROWING | abstraction.SLOTS,
    {("unpin", 0): Checking(), ("unpin", 1): Dropping(), ("unpin", 2): Registering()},
    interesting={"three namings, two of one block": And(WIDTH == 3, ITEM(0) == ITEM(2), ITEM(1) != ITEM(2))},
    kinds=("returns", "raises UnknownBlock", "raises NullBlock", "raises NotHeld", "raises ReEntrant"),
    through="unpin_blocks",
    contracts=("FreeKVCacheBlockQueue.append_n",),
    limits="on_reuse can be called",
)

BLOCK_GIVEN = z3.Const("block given", BLOCK)
ONE_BLOCK = {"something is given": BLOCK_GIVEN != NONE}


def _cancel(run: Run, scope: dict[str, Any]) -> Any:
    pool = models.pool(run, contracts.queue(run))
    return scope["cancel_watch"](pool, Node(run, BLOCK_GIVEN, doubtful=True), Thing(run, WATCHER_GIVEN))


def _cancel_goals(run: Run, kind: str, value: Any) -> Facts:
    raised = value if kind == "raised" else None
    call = {words.block: BLOCK_GIVEN, words.watcher: WATCHER_GIVEN, words.done: z3.BoolVal(value is True)}
    said = abstraction.of_transition(cancel_watch(), run, QUEUE, call, raised=raised)
    answers = raised is not None or value is True or value is False
    return said | abstraction.representation(run, QUEUE) | {"answers true or false": z3.BoolVal(answers)}


CANCEL = Method(
    "BlockPool.cancel_watch",
    {"pool": ("cancel_watch",), "checks": ("own_block", "not_while_telling")},
    _cancel,
    _cancel_goals,
    POOL | ONE_BLOCK | abstraction.SLOTS,
    interesting={"it is watched": LISTED(BLOCK_GIVEN)},
    kinds=("returns True", "returns False", "raises ReEntrant"),
    through="cancel_watch",
)
