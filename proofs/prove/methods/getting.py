"""`get_new_blocks`: the fused loop, with events and with aliases and copies. The careful way is `lend`."""

# ruff: noqa: SIM300  (names in capitals are the unknowns of formulas)

from __future__ import annotations

from typing import Any

import z3

from blockpool.proofs.prove.methods import abstraction, contracts, models
from blockpool.proofs.prove.methods.lists import Items
from blockpool.proofs.prove.methods.loops import Loop, Rule
from blockpool.proofs.prove.methods.machine import Facts, Run
from blockpool.proofs.prove.methods.method import Method
from blockpool.proofs.prove.methods.values import INT, NO_DIGEST, Model, Number
from blockpool.proofs.prove.methods.world import (
    ALIAS,
    ALIASED,
    CARRIES,
    DIGESTS,
    GIVEN,
    GROUPS,
    INSIDE,
    KEY_OF,
    LENGTH,
    LISTED,
    NEXT,
    PLACE,
    POOL,
    PREV,
    QUEUE,
    REFS,
    SIMPLE,
    And,
    B,
    F,
    I,
    If,
    Implies,
    K,
    Not,
    Or,
    every,
    queued,
    within,
)
from blockpool.proofs.prove.pool import vocabulary as words
from blockpool.proofs.prove.pool.lending_transitions import get_new_blocks
from blockpool.proofs.prove.pool.vocabulary import Key, lendable, reporting
from blockpool.proofs.prove.queue.order import without_first
from blockpool.proofs.prove.queue.values import BLOCK, NONE

NUMBER = z3.Int("number")
AT_PLACE, LOST = F("at place", INT, BLOCK), F("lost", INT, Key, INT)
OUT_LENGTH, OUT_AT = GIVEN["out.length"], GIVEN["out.at"]
GHOSTS = {
    "the block at a place": every([B], Implies(queued(QUEUE, B), AT_PLACE(PLACE(B)) == B), PLACE(B)),
    "nothing is lost at first": every([K], LOST(0, K) == 0, LOST(0, K)),
}


def gone(b: Any, k: Any) -> Any:
    """Is it among the first k of the queue?"""
    return And(INSIDE(b), 1 <= PLACE(b), PLACE(b) <= k)


def events(heap: dict[str, Any], sent: Any) -> Facts:
    """What was in the outbox stays, and it grew exactly if a key was sent; `sent` is one."""
    length, at, removed = heap["out.length"], heap["out.at"], heap["removed"]
    return {
        "events: none is lost": And(length >= OUT_LENGTH, Implies(length > OUT_LENGTH, removed(sent) > 0)),
        "events: old ones stay": every([I], Implies(within(I, OUT_LENGTH), at(I) == OUT_AT(I)), at(I)),
        "events: one at least": every([K], Implies(removed(K) > 0, length > OUT_LENGTH), removed(K)),
    }


def key_of(run: Run, item: Any) -> Any:
    """The primary key of a block; that it is found under it is `world.FOUND`."""
    key = KEY_OF(DIGESTS(item), GROUPS(item))
    run.know("it is found", Implies(And(lendable(item), DIGESTS(item) != NO_DIGEST), CARRIES(item, key)))
    return key


class Fused(Rule):
    """The first k blocks have left, with one reference and without keys, and a Removed was sent for each key."""

    grows = ("blocks",)
    arbitrary = ("out.length", "out.at")

    def defines(self, loop: Loop, k: Any) -> Facts:
        """How often each key is lost in so many steps."""
        item = AT_PLACE(k + 1)
        body = LOST(k + 1, K) == LOST(k, K) + If(CARRIES(item, K), 1, 0)
        return {"lost, one step": z3.ForAll([K], body, patterns=[LOST(k + 1, K), LOST(k, K)])}

    def heap(self, loop: Loop, k: Any, ghost: Any) -> dict[str, Any]:
        return {
            "next": lambda b: If(gone(b, k), NONE, NEXT(b)),
            "prev": lambda b: If(gone(b, k), NONE, PREV(b)),
            "refs": lambda b: If(gone(b, k), 1, REFS(b)),
            "digest": lambda b: If(gone(b, k), NO_DIGEST, DIGESTS(b)),
            "carries": lambda b, key: And(CARRIES(b, key), Not(gone(b, k))),
            "alias": lambda b, key: And(ALIAS(b, key), Not(gone(b, k))),
            "aliased": lambda b: And(ALIASED(b), Not(gone(b, k))),
            "removed": lambda key: If(reporting, LOST(k, key), 0),
        }

    def facts(self, loop: Loop, k: Any, names: Any, ghost: Any) -> Facts:
        blocks, cursor, (loser, sent) = names.blocks, names.block.term, ghost
        return {
            "the cursor is next": And(INSIDE(cursor), PLACE(cursor) == k + 1),
            "not more than asked": k <= NUMBER,
            "one is listed a step": blocks.length == k,
            "listed in order": every([B], Implies(gone(B, k), blocks.at(PLACE(B) - 1) == B), PLACE(B)),
            "listed are those": every(
                [I], Implies(within(I, k), And(queued(QUEUE, blocks.at(I)), PLACE(blocks.at(I)) == I + 1)), blocks.at(I)
            ),
            **self.lost_so_far(k, loser),
            **events(loop.run.heap, sent),
        }

    def lost_so_far(self, k: Any, loser: Any) -> Facts:
        """A key was lost exactly if one of the first k had it; `loser` is one of these."""
        return {
            "lost keys are counted": every(
                [K],
                And(LOST(k, K) >= 0, Implies(LOST(k, K) > 0, And(gone(loser(K), k), CARRIES(loser(K), K)))),
                LOST(k, K),
            ),
            "each key is counted": every(
                [B, K], Implies(And(gone(B, k), CARRIES(B, K)), LOST(k, K) > 0), CARRIES(B, K)
            ),
        }

    def ghost(self, loop: Loop) -> Any:
        return loop.run.fresh("loser", Key, BLOCK), loop.run.fresh("sent", Key)

    def next(self, loop: Loop, k: Any, ghost: Any) -> Any:
        (loser, sent), item = ghost, loop.values["block"].term
        some = key_of(loop.run, item)
        return lambda key: If(CARRIES(item, key), item, loser(key)), If(DIGESTS(item) != NO_DIGEST, some, sent)


def _call(run: Run, scope: dict[str, Any]) -> Any:
    index = Model(run, _later=models.Copies(run))
    pool = models.pool(run, models.Queue(run), cached_block_hash_to_block=index)
    return scope["get_new_blocks"](pool, Number(run, NUMBER))


def _names(run: Run) -> dict[str, Any]:
    def lend(_pool: Any, _number: Any) -> Items:
        run.parts["careful"] = True
        return Items(run, NUMBER, AT_PLACE)

    return {"lend": lend, "drop_keys": contracts.drop_keys(run), "BlockRemoved": models.block_removed(run)}


def taken(b: Any) -> Any:
    return gone(b, NUMBER)


HANDED: dict[Any, Any] = {
    words.count: NUMBER,
    words.handed: lambda b: If(And(queued(QUEUE, b), PLACE(b) <= NUMBER), 1, 0),
    words.handed_ahead: lambda a, b: And(
        queued(QUEUE, a), queued(QUEUE, b), PLACE(a) <= NUMBER, PLACE(b) <= NUMBER, PLACE(a) < PLACE(b)
    ),
}
"""What the answer says, if it is the front of the queue in order; that it is, is a goal."""


def front_in_order(items: Any) -> Facts:
    """The answer is the first of the queue, each once, in order."""
    place = And(queued(QUEUE, items.at(I)), PLACE(items.at(I)) == I + 1)
    return {
        "answer: as many as asked": items.length == NUMBER,
        "answer: each at its place": every([I], Implies(within(I, NUMBER), place)),
    }


def _goals(run: Run, kind: str, value: Any) -> Facts:
    if kind == "raised" or not isinstance(value, Items):
        return {"the hot way answers a list": z3.BoolVal(False)}
    if run.parts.get("careful"):
        cases = Or(NUMBER < 0, NUMBER > LENGTH, z3.Exists([B], LISTED(B)), z3.Bool("there is a collector"))
        return abstraction.untouched(run) | {"the careful way is for its cases": cases}
    order = without_first(QUEUE, NUMBER)
    said = abstraction.of_transition(get_new_blocks(), run, order, HANDED, raised=None)
    once = every([K], run.heap["removed"](K) == If(reporting, LOST(NUMBER, K), 0))
    return said | front_in_order(value) | abstraction.representation(run, order) | {"a Removed for each loss": once}


GET = Method(
    "BlockPool.get_new_blocks, hot way",
    {"pool": ("get_new_blocks",)},
    _call,
    _goals,
    POOL | SIMPLE | GHOSTS | abstraction.SLOTS,
    {("get_new_blocks", 0): Fused()},
    _names,
    {"two of three are taken": And(NUMBER == 2, LENGTH == 3)},
    kinds=("returns", "the careful way"),
    through="get_new_blocks",
    contracts=("drop_keys",),
    limits="the order of events within the call",
)
