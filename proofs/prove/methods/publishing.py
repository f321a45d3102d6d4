"""`cache_full_blocks`: the short cut, and that it leaves everything as it was when it gives way to the careful way."""

# ruff: noqa: SIM300  (names in capitals are the unknowns of formulas)

from __future__ import annotations

from typing import Any

import z3

from blockpool.proofs.prove.methods import abstraction, contracts, models
from blockpool.proofs.prove.methods.errors import Raised
from blockpool.proofs.prove.methods.lists import Items
from blockpool.proofs.prove.methods.lookups import MADE, Groups
from blockpool.proofs.prove.methods.loops import Loop, Rule, under_way
from blockpool.proofs.prove.methods.machine import Facts, Run
from blockpool.proofs.prove.methods.method import Method
from blockpool.proofs.prove.methods.values import DIGEST, GROUP, INT, NO_DIGEST, Maybe, Model, Number, Poison, Thing
from blockpool.proofs.prove.methods.world import (
    CARRIES,
    DIGESTS,
    GROUP_OF,
    GROUPS,
    ITEM,
    KEY_OF,
    NO_BLOCK,
    NULL,
    POOL,
    QUEUE,
    REFS,
    TOKENS,
    And,
    B,
    F,
    I,
    If,
    Implies,
    J,
    K,
    Not,
    Or,
    every,
    within,
)
from blockpool.proofs.prove.pool import vocabulary as words
from blockpool.proofs.prove.pool.key_transitions import cache_full_blocks
from blockpool.proofs.prove.pool.vocabulary import Event, reporting, tokens
from blockpool.proofs.prove.queue.values import BLOCK, HEAD, NONE, TAIL

LOW, HIGH, MANY, HASHES, COVERED = z3.Ints("low high blocks hashes covered")
HASH, COVER, GID = F("hash", INT, DIGEST), F("cover", INT, INT), z3.Const("group given", GROUP)
RANGED = F("first in the range", BLOCK, INT)
TABLE, MASKED = z3.Bool("there is a table of token counts"), z3.Bool("there is a mask")
ARGUMENTS = {
    "numbers": And(MANY >= 0, HASHES >= 0, COVERED >= 0),
    "nobody names sentinels": every(
        [I], Implies(within(I, MANY), And(*(ITEM(I) != x for x in (NONE, HEAD, TAIL)))), ITEM(I)),
    "first in the range": every(
        [I], Implies(And(LOW <= I, I < HIGH),
                     And(LOW <= RANGED(ITEM(I)), RANGED(ITEM(I)) <= I, ITEM(RANGED(ITEM(I))) == ITEM(I))), ITEM(I)),
    "hashes are digests": every([I], HASH(I) != NO_DIGEST, HASH(I)),
    "each prefix has its own digest": z3.ForAll(
        [I, J], Implies(And(within(I, HASHES), within(J, HASHES), HASH(I) == HASH(J)), I == J),
        patterns=[z3.MultiPattern(HASH(I), HASH(J))]),
    "the table has the token counts": every(
        [I], Implies(within(I, COVERED), tokens(KEY_OF(HASH(I), GID)) == COVER(I)), COVER(I), HASH(I)),
    "groups are made when something is published": every(
        [B, K], Implies(CARRIES(B, K), MADE(GROUP_OF(K))), CARRIES(B, K)),
}  # fmt: skip
"""Any list of blocks and of hashes, and any range. Hash j is the digest of the prefix that ends with block j."""


def taken(b: Any, k: Any) -> Any:
    """Named among the first k of the range, and not null."""
    return And(b != NULL, LOW <= RANGED(b), RANGED(b) < LOW + k, ITEM(RANGED(b)) == b)


def its_key(b: Any) -> Any:
    return KEY_OF(HASH(RANGED(b)), GID)


class Publishing(Rule):
    """The blocks so far have their keys."""

    def heap(self, loop: Loop, k: Any, ghost: Any) -> dict[str, Any]:
        return {
            "digest": lambda b: If(taken(b, k), HASH(RANGED(b)), DIGESTS(b)),
            "group": lambda b: If(taken(b, k), GID, GROUPS(b)),
            "tokens": lambda b: If(taken(b, k), COVER(RANGED(b)), TOKENS(b)),
            "carries": lambda b, key: Or(CARRIES(b, key), And(taken(b, k), key == its_key(b))),
        }

    def facts(self, loop: Loop, k: Any, names: Any, ghost: Any) -> Facts:
        fresh = And(Not(NO_BLOCK(ITEM(I))), REFS(ITEM(I)) > 0, DIGESTS(ITEM(I)) == NO_DIGEST, RANGED(ITEM(I)) == I)
        skipped = And(ITEM(I) == NULL, Not(reporting))
        met = And(LOW <= I, I < LOW + k)
        return {
            "what was met was there": Or(k == 0, And(LOW + k <= MANY, LOW + k <= HASHES)),
            "held, unkeyed, not twice": every([I], Implies(met, Or(skipped, fresh)), ITEM(I)),
        }


class Withdrawing(Rule):
    """The keys of the first k are gone again."""

    def heap(self, loop: Loop, k: Any, ghost: Any) -> dict[str, Any]:
        done = under_way(loop.run, Publishing).k

        def left(b: Any) -> Any:
            return And(taken(b, done), RANGED(b) >= LOW + k)

        return {
            "digest": lambda b: If(left(b), HASH(RANGED(b)), DIGESTS(b)),
            "carries": lambda b, key: Or(CARRIES(b, key), And(left(b), key == its_key(b))),
        }


class Units(Poison):
    """A block size, and the size of a hash unit: their quotient is 1, see the limits."""

    def __init__(self, run: Run) -> None:
        self._has(run=run)

    def __floordiv__(self, other: Any) -> int:
        return 1 if isinstance(other, Units) else self._refused()


class Coverages(Poison):
    """`_coverages`: from a block size to the token counts of 1, 2, .. blocks, made by the careful way."""

    def __init__(self, run: Run) -> None:
        self._has(run=run)

    def __getitem__(self, size: Any) -> Items:
        if not isinstance(size, Units):
            self._refused()
        if not self.run.branch(TABLE):
            raise Raised(KeyError)
        return Items(self.run, COVERED, COVER, INT)


def chosen(b: Any, k: Any) -> Any:
    named = And(LOW <= I, I < HIGH, ITEM(I) == b, k == KEY_OF(HASH(I), GID))
    return And(b != NULL, z3.Exists([I], named))


def stored_event(run: Run) -> Any:
    """`events.stored_event`: an event that names the keys of the range, or a refusal if there are too few tokens."""

    def call(*_arguments: Any) -> models.Emitted:
        from blockpool.impl.errors import BadRange

        if not run.branch(z3.Bool(run.named("the request has the tokens"))):
            raise Raised(BadRange)

        def names(k: Any) -> Any:
            return z3.Exists([I], And(LOW <= I, I < HIGH, k == KEY_OF(HASH(I), GID)))

        return models.Emitted(run, part="stored", names=names, term=run.fresh("event", Event))

    return call


def _names(run: Run) -> dict[str, Any]:
    def send(pool: Any, events: Any) -> None:
        for event in events.events:
            pool.kv_event_queue.append(event)

    def cache_full(*_arguments: Any) -> None:
        run.parts["careful"] = True

    return {
        "any_foreign": contracts.any_foreign(run), "stored_event": stored_event(run), "send": send,
        "cache_full": cache_full, "FULL": "cache_full_blocks",
    }  # fmt: skip


def _call(run: Run, scope: dict[str, Any]) -> Any:
    group = contracts.claim
    run.of_groups["claim"] = lambda mine: group(run, mine)
    index = Model(
        run, _groups=Groups(run), insert_copy=contracts.entering(run), remove=contracts.leaving(run)
    )  # fmt: skip
    pool = models.pool(
        run, models.Queue(run), cached_block_hash_to_block=index, _coverages=Coverages(run), hash_block_size=Units(run)
    )
    request = Model(run, block_hashes=Items(run, HASHES, HASH, DIGEST))
    blocks = Items(run, MANY, ITEM, doubtful=True)
    low, high, mask = Number(run, LOW), Number(run, HIGH), Maybe(run, MASKED)
    return scope["cache_full_blocks"](pool, request, blocks, low, high, Units(run), Thing(run, GID), mask)


def _goals(run: Run, kind: str, value: Any) -> Facts:
    if kind == "raised" or value is not None:
        return {"the short cut does not refuse": z3.BoolVal(False)}
    if run.parts.get("careful"):
        return abstraction.untouched(run)
    bad_range = Or(LOW < 0, HIGH <= LOW, HIGH > MANY, HIGH > HASHES)
    call = {words.chosen: chosen, words.bad_range: bad_range}
    said = abstraction.of_transition(cache_full_blocks(), run, QUEUE, call, raised=None)
    return said | abstraction.representation(run, QUEUE) | {"without a mask": Not(MASKED)}


SHORT_CUT = Method(
    "BlockPool.cache_full_blocks, short cut",
    {"pool": ("cache_full_blocks",), "publish": ("cache_unkeyed", "withdraw")},
    _call,
    _goals,
    POOL | ARGUMENTS | abstraction.SLOTS,
    {("cache_unkeyed", 0): Publishing(), ("withdraw", 0): Withdrawing()},
    _names,
    {"two of three are published": And(LOW == 0, HIGH == 2, MANY == 3, HASHES == 2, COVERED == 4, ITEM(0) != ITEM(1))},
    kinds=("returns", "the careful way"),
    through="cache_full_blocks",
    contracts=("any_foreign", "stored_event", "send", "Group.claim", "HashIndex.insert_copy", "HashIndex.remove"),
    limits="blocks of several hash units; the content of events; the careful way",
)
