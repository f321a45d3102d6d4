"""`touch`: the whole method, for any list of blocks, and whatever else is in the list."""

from __future__ import annotations

from typing import Any

from blockpool.proofs.prove.methods import abstraction, contracts, models
from blockpool.proofs.prove.methods.lists import Items
from blockpool.proofs.prove.methods.loops import Loop, Rule, under_way
from blockpool.proofs.prove.methods.machine import Facts, Run
from blockpool.proofs.prove.methods.method import Method
from blockpool.proofs.prove.methods.values import INT
from blockpool.proofs.prove.methods.world import (
    BATCH,
    COUNT,
    FIRST,
    GIVEN_LIST,
    ITEM,
    LAST,
    NULL,
    POOL,
    REFS,
    WIDTH,
    And,
    B,
    I,
    If,
    Implies,
    counting,
    counts_one_more,
    every,
    met,
    named,
    own,
    real,
    within,
)
from blockpool.proofs.prove.pool import vocabulary as words
from blockpool.proofs.prove.pool.lending_transitions import touch
from blockpool.proofs.prove.queue.values import BLOCK

NAMED: dict[Any, Any] = {
    words.named: lambda b: COUNT(WIDTH, b),
    words.named_ahead: lambda a, b: And(named(a), named(b), LAST(a) < LAST(b)),
}
"""What a call says that names blocks by a list."""


class Taking(Rule):
    """The first k are counted, and those that were idle are listed, each once."""

    grows = ("idle",)

    def defines(self, loop: Loop, k: Any) -> Facts:
        return {"count, one step": counts_one_more(k)}

    def heap(self, loop: Loop, k: Any, ghost: Any) -> dict[str, Any]:
        return {"refs": lambda b: REFS(b) + real(b, COUNT(k, b))}

    def facts(self, loop: Loop, k: Any, names: Any, ghost: Any) -> Facts:
        idle = names.idle

        def wanted(b: Any) -> Any:
            return And(met(b, k), REFS(b) == 0, b != NULL)

        listed = And(within(ghost(B), idle.length), idle.at(ghost(B)) == B)
        each = And(wanted(idle.at(I)), ghost(idle.at(I)) == I)
        return {
            **counting(k),
            "idle: some": idle.length >= 0,
            "idle: all that were met": every([B], Implies(wanted(B), listed), FIRST(B)),
            "idle: only those, each once": every([I], Implies(within(I, idle.length), each), idle.at(I)),
        }

    def ghost(self, loop: Loop) -> Any:
        return loop.run.fresh("place among the idle", BLOCK, INT)

    def next(self, loop: Loop, k: Any, ghost: Any) -> Any:
        item, length = ITEM(k), loop.sizes["idle"]
        return lambda b: If(And(b == item, REFS(b) == 0, COUNT(k, b) == 0, b != NULL), length, ghost(b))


class Untaking(Rule):
    """All that was taken goes back, from the first on."""

    def defines(self, loop: Loop, k: Any) -> Facts:
        return {"count, one step": counts_one_more(k)}

    def heap(self, loop: Loop, k: Any, ghost: Any) -> dict[str, Any]:
        done = under_way(loop.run, Taking).k
        return {"refs": lambda b: REFS(b) + real(b, COUNT(done, b) - COUNT(k, b))}

    def facts(self, loop: Loop, k: Any, names: Any, ghost: Any) -> Facts:
        return {"not beyond": k <= under_way(loop.run, Taking).k}


class Owned(Rule):
    """The blocks so far are the pool's own."""

    def facts(self, loop: Loop, k: Any, names: Any, ghost: Any) -> Facts:
        return {"the pool's own": every([I], Implies(within(I, k), own(ITEM(I))), ITEM(I))}


class Telling(Rule):
    """A collector is told: nothing of the pool changes."""


def batch(run: Run) -> Items:
    """The argument: a list, or another sequence."""
    made = Items(run, WIDTH, ITEM, doubtful=True)
    made._has(count=COUNT)
    run.parts["given"] = made
    return made


def _call(run: Run, scope: dict[str, Any]) -> Any:
    blocks = batch(run)
    blocks._has(kind=list if run.branch(GIVEN_LIST) else tuple)
    return scope["touch"](models.pool(run, contracts.queue(run)), blocks)


def _goals(run: Run, kind: str, value: Any) -> Facts:
    order = run.heap["order"]
    raised = value if kind == "raised" else None
    said = abstraction.of_transition(touch(), run, order, NAMED, raised=raised)
    return said | abstraction.representation(run, order)


TOUCH = Method(
    "BlockPool.touch",
    {
        "pool": ("touch",),
        "references": ("take", "refuse_to_take"),
        "checks": ("listed", "own_block", "not_while_telling"),
    },
    _call,
    _goals,
    POOL | BATCH | abstraction.SLOTS,
    {
        ("take", 0): Taking(), ("take", 1): Untaking(), ("take", 2): Untaking(), ("refuse_to_take", 0): Owned(),
        ("touch", 0): Telling(),
    },
    lambda run: {"any_foreign": contracts.any_foreign(run)},
    {"three namings, two of one block": And(WIDTH == 3, ITEM(0) == ITEM(1), ITEM(2) != ITEM(1), REFS(ITEM(0)) == 0)},
    kinds=("returns", "raises UnknownBlock", "raises ReEntrant"),
    through="touch",
    contracts=("any_foreign", "FreeKVCacheBlockQueue.remove_n", "the metrics collector"),
)  # fmt: skip
