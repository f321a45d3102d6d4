"""`drop_keys` and `move_block_hashes`: whole, with the index by contract; what `drop_keys` promises is its contract."""

from __future__ import annotations

from typing import Any

import z3

from blockpool.proofs.prove.methods import abstraction, contracts, models
from blockpool.proofs.prove.methods.getting import events
from blockpool.proofs.prove.methods.loops import Loop, Rule
from blockpool.proofs.prove.methods.machine import Facts, Run
from blockpool.proofs.prove.methods.method import Method
from blockpool.proofs.prove.methods.values import NO_DIGEST, Model, Node
from blockpool.proofs.prove.methods.world import (
    ALIAS,
    ALIASED,
    CARRIES,
    DIGESTS,
    EXACT,
    FOUND,
    GIVEN,
    GROUPS,
    KEY_OF,
    POOL,
    QUEUE,
    SIMPLE,
    And,
    B,
    I,
    If,
    Implies,
    K,
    Not,
    Or,
    every,
    has_key,
    within,
)
from blockpool.proofs.prove.pool import vocabulary as words
from blockpool.proofs.prove.pool.key_transitions import move_block_hashes
from blockpool.proofs.prove.pool.vocabulary import lendable, reporting
from blockpool.proofs.prove.queue.values import BLOCK, NONE

VICTIM = z3.Const("victim", BLOCK)
PRIMARY = KEY_OF(DIGESTS(VICTIM), GROUPS(VICTIM))


class Dropping(Rule):
    """The primary and the first k aliases are gone, with a Removed each."""

    arbitrary = ("out.length", "out.at")

    def heap(self, loop: Loop, k: Any, ghost: Any) -> dict[str, Any]:
        over = loop.over

        def gone(key: Any) -> Any:
            if not isinstance(over, models.KeyList):
                return key == PRIMARY
            return Or(key == PRIMARY, And(over.has(key), over.place(key) < k))

        return {
            "carries": lambda b, key: And(CARRIES(b, key), Not(And(b == VICTIM, gone(key)))),
            "removed": lambda key: If(And(reporting, gone(key)), 1, 0),
        }

    def facts(self, loop: Loop, k: Any, names: Any, ghost: Any) -> Facts:
        return events(loop.run.heap, PRIMARY)


def _drop(run: Run, scope: dict[str, Any]) -> Any:
    index = Model(run, remove=contracts.leaving(run))
    pool = models.pool(run, models.Queue(run), cached_block_hash_to_block=index)
    return scope["drop_keys"](pool, Node(run, VICTIM))


def _drop_goals(run: Run, kind: str, value: Any) -> Facts:
    heap = run.heap
    if kind == "raised" or not (value is True or value is False):
        return {"answers true or false": z3.BoolVal(False)}
    if value is False:
        return abstraction.untouched(run) | {"it had no key": DIGESTS(VICTIM) == NO_DIGEST}
    lost = And(reporting, has_key(VICTIM, K))
    return {
        "it had a key": DIGESTS(VICTIM) != NO_DIGEST,
        "it has none": every([B], heap["digest"](B) == If(B == VICTIM, NO_DIGEST, DIGESTS(B))),
        "the index": every([B, K], heap["carries"](B, K) == And(CARRIES(B, K), B != VICTIM)),
        "aliases": every([B, K], heap["alias"](B, K) == And(ALIAS(B, K), B != VICTIM)),
        "the table of aliases": every([B], heap["aliased"](B) == And(ALIASED(B), B != VICTIM)),
        "a Removed for each key": every([K], heap["removed"](K) == If(lost, 1, 0)),
        "the outbox grows if they are reported": (heap["out.length"] > GIVEN["out.length"]) == reporting,
        "what was in it stays": every(
            [I], Implies(within(I, GIVEN["out.length"]), heap["out.at"](I) == GIVEN["out.at"](I))
        ),
        **{
            f"{name} stays": z3.BoolVal(heap[name] is GIVEN[name])
            for name in ("next", "prev", "refs", "free", "listed")
        },
    }


DROP = Method(
    "publish.drop_keys",
    {"publish": ("drop_keys", "drop_entry")},
    _drop,
    _drop_goals,
    POOL | SIMPLE | FOUND | EXACT | abstraction.SLOTS | {"a block of the pool": lendable(VICTIM)},
    {("drop_keys", 0): Dropping()},
    lambda run: {"BlockRemoved": models.block_removed(run)},
    {"it has a key": DIGESTS(VICTIM) != NO_DIGEST},
    kinds=("returns True",),
    contracts=("HashIndex.remove",),
    limits="the promise is written by hand: it is the contract that others use",
)

SOURCE, TARGET = z3.Consts("source target", BLOCK)


class Moving(Rule):
    """The first k keys are the target's."""

    def heap(self, loop: Loop, k: Any, ghost: Any) -> dict[str, Any]:
        over = loop.over

        def moved(key: Any) -> Any:
            return And(over.has(key), over.place(key) < k)

        def carries(b: Any, key: Any) -> Any:
            return Or(And(CARRIES(b, key), Not(And(b == SOURCE, moved(key)))), And(b == TARGET, moved(key)))

        return {"carries": carries}


def _move(run: Run, scope: dict[str, Any]) -> Any:
    def keys_of(block: Any) -> models.KeyList:
        """All keys of a block, each once."""
        return models.KeyList(run, lambda k: has_key(block.term, k))

    index = Model(run, remove=contracts.leaving(run), insert=contracts.inserting(run))
    pool = models.pool(run, models.Queue(run), cached_block_hash_to_block=index, keys_of=keys_of)
    source, target = Node(run, SOURCE, doubtful=True), Node(run, TARGET, doubtful=True)
    return scope["move_block_hashes"](pool, source, target)


def _move_goals(run: Run, kind: str, value: Any) -> Facts:
    raised = value if kind == "raised" else None
    call = {words.source: SOURCE, words.target: TARGET}
    said = abstraction.of_transition(move_block_hashes(), run, QUEUE, call, raised=raised)
    return said | abstraction.representation(run, QUEUE)


MOVE = Method(
    "BlockPool.move_block_hashes",
    {
        "pool": ("move_block_hashes",),
        "publish": ("move_keys",),
        "checks": ("own_block", "not_while_telling"),
    },
    _move,
    _move_goals,
    POOL | FOUND | EXACT | abstraction.SLOTS | {"blocks are given": And(SOURCE != NONE, TARGET != NONE)},
    {("move_keys", 0): Moving()},
    interesting={"the source is published": DIGESTS(SOURCE) != NO_DIGEST},
    kinds=("returns", "raises NotHeld", "raises NullBlock", "raises AlreadyCached", "raises ReEntrant"),
    through="move_block_hashes",
    contracts=("BlockPool.keys_of", "HashIndex.remove", "HashIndex.insert"),
)
