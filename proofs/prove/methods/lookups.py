"""`get_cached_block`: the whole method, for any number of groups."""

from __future__ import annotations

from typing import Any

import z3

from blockpool.proofs.prove.methods import abstraction, models
from blockpool.proofs.prove.methods.errors import Raised
from blockpool.proofs.prove.methods.lists import Items
from blockpool.proofs.prove.methods.loops import Loop, Rule
from blockpool.proofs.prove.methods.machine import Facts, Run
from blockpool.proofs.prove.methods.method import Method
from blockpool.proofs.prove.methods.values import DIGEST, GROUP, INT, TRUTH, Model, Node, Poison, Thing, term_of
from blockpool.proofs.prove.methods.world import (
    CARRIES,
    GROUP_OF,
    KEY_OF,
    POOL,
    QUEUE,
    And,
    B,
    F,
    I,
    Implies,
    K,
    Or,
    every,
    within,
)
from blockpool.proofs.prove.pool import vocabulary as words
from blockpool.proofs.prove.pool.transitions import get_cached_block
from blockpool.proofs.prove.pool.vocabulary import Key
from blockpool.proofs.prove.queue.values import BLOCK, NONE

GROUP_AT, ASKED = F("group at", INT, GROUP), z3.Int("groups")
DIGEST_ASKED = z3.Const("digest asked", DIGEST)
MADE, SERVED = F("group was made", GROUP, TRUTH), F("served", Key, BLOCK)
INDEX = {
    "groups are made when something is published": every(
        [B, K], Implies(CARRIES(B, K), MADE(GROUP_OF(K))), CARRIES(B, K)
    ),
    "what is served carries the key": every([K], Or(SERVED(K) == NONE, CARRIES(SERVED(K), K)), SERVED(K)),
    "a key that is carried is served": every([B, K], Implies(CARRIES(B, K), SERVED(K) != NONE), CARRIES(B, K)),
    "as many groups as there are": ASKED >= 0,
}


def key_at(i: Any) -> Any:
    return KEY_OF(DIGEST_ASKED, GROUP_AT(i))


class Looking(Rule):
    """Each group so far was made and serves a block, which is listed."""

    grows = ("found",)

    def facts(self, loop: Loop, k: Any, names: Any, ghost: Any) -> Facts:
        found = names.found
        served = And(SERVED(key_at(I)) != NONE, found.at(I) == SERVED(key_at(I)))
        return {"one a step": found.length == k, "each its own": every([I], Implies(within(I, k), served), found.at(I))}


class Groups(Poison):
    """`_groups`: from the number of a group to its dict, made on first use."""

    def __init__(self, run: Run) -> None:
        self._has(run=run)

    def __getitem__(self, group: Any) -> Thing:
        if not self.run.branch(MADE(term_of(group, GROUP))):
            raise Raised(KeyError)
        return Thing(self.run, group.term)


def _call(run: Run, scope: dict[str, Any]) -> Any:
    def find(group: Any) -> Any:
        return lambda digest: Node(run, SERVED(KEY_OF(term_of(digest, DIGEST), group.term)))

    run.of_groups["find"] = find
    pool = models.Pool(run, cached_block_hash_to_block=Model(run, _groups=Groups(run)))
    return scope["get_cached_block"](pool, Thing(run, DIGEST_ASKED), Items(run, ASKED, GROUP_AT, GROUP))


def _goals(run: Run, kind: str, value: Any) -> Facts:
    if kind == "raised" or not (value is None or isinstance(value, Items)):
        return {"answers a list or None": z3.BoolVal(False)}
    asked = lambda k: z3.Exists([I], And(within(I, ASKED), k == key_at(I)))  # noqa: E731

    def answered(k: Any, b: Any) -> Any:
        if value is None:
            return z3.BoolVal(False)
        return z3.Exists([I], And(within(I, value.length), k == key_at(I), value.at(I) == b))

    call = {words.done: z3.BoolVal(value is not None), words.asked: asked, words.answered: answered}
    said = abstraction.of_transition(get_cached_block(), run, QUEUE, call, raised=None)
    return said if value is None else said | {"answer: one for each group": value.length == ASKED}


LOOKUP = Method(
    "BlockPool.get_cached_block",
    {"pool": ("get_cached_block",)},
    _call,
    _goals,
    POOL | INDEX | abstraction.SLOTS,
    {("get_cached_block", 0): Looking()},
    interesting={"three groups": And(ASKED == 3, GROUP_AT(0) != GROUP_AT(1), GROUP_AT(1) != GROUP_AT(2))},
    kinds=("returns a list", "returns None"),
    through="get_cached_block",
    contracts=("Group.find",),
)
