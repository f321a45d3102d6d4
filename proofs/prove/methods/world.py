"""An arbitrary pool of any size, as the heap that methods run on, and what may be assumed of it.

Blocks are an uninterpreted sort, and each of their fields is a function of it. The symbols of `vocabulary.py` that
never change (null, lendable, caching, ..) are used as they are.
"""

# ruff: noqa: SIM300  (names in capitals are the unknowns of formulas)

from __future__ import annotations

from typing import Any

import z3

from blockpool.proofs.prove.methods.values import DIGEST, GROUP, INT, NO_DIGEST, TRUTH
from blockpool.proofs.prove.pool.vocabulary import Event, Key, Watcher, lendable, null, telling, tokens
from blockpool.proofs.prove.queue.order import Order, represents
from blockpool.proofs.prove.queue.values import BLOCK, HEAD, NONE, TAIL

F = z3.Function
And, Or, Not, Implies, If = z3.And, z3.Or, z3.Not, z3.Implies, z3.If
NULL = null
B, C = z3.Consts("b c", BLOCK)
K, L = z3.Consts("k l", Key)
W = z3.Const("w", Watcher)
D, G = z3.Const("d", DIGEST), z3.Const("g", GROUP)
I, J = z3.Ints("i j")  # noqa: E741

# Keys are pairs, as the pool has them: a digest and a group.
DIGEST_OF, GROUP_OF, KEY_OF = F("digest of", Key, DIGEST), F("group of", Key, GROUP), F("key of", DIGEST, GROUP, Key)

SIGNATURES: dict[str, tuple[Any, ...]] = {
    "next": (BLOCK, BLOCK), "prev": (BLOCK, BLOCK), "refs": (BLOCK, INT), "digest": (BLOCK, DIGEST),
    "group": (BLOCK, GROUP), "tokens": (BLOCK, INT), "carries": (BLOCK, Key, TRUTH), "alias": (BLOCK, Key, TRUTH),
    "aliased": (BLOCK, TRUTH), "listed": (BLOCK, TRUTH), "watched": (BLOCK, Watcher, TRUTH),
    "removed": (Key, INT), "stored": (Key, INT), "cleared": (TRUTH,), "told": (BLOCK, Watcher, TRUTH),
    "out.length": (INT,), "out.at": (INT, Event), "free": (INT,),
    "named.has": (BLOCK, TRUTH), "named.value": (BLOCK, INT),
}  # fmt: skip
"""The heap. The last rows: events sent in this call, the outbox, the counter of the queue, a table of counts.

`carries(b, k)` is the index as a relation: block b is found under key k. Which of several copies a lookup serves is not
in it."""
GIVEN = {name: z3.Function(name, *sorts) if len(sorts) > 1 else z3.Const(name, *sorts)
         for name, sorts in SIGNATURES.items()}  # fmt: skip
"""The heap as a call finds it."""
NEXT, PREV, REFS, DIGESTS, GROUPS, TOKENS = (GIVEN[n] for n in ("next", "prev", "refs", "digest", "group", "tokens"))
CARRIES, ALIAS, ALIASED, LISTED, WATCHED = (GIVEN[n] for n in ("carries", "alias", "aliased", "listed", "watched"))

INSIDE, PLACE, LENGTH = F("inside", BLOCK, TRUTH), F("place", BLOCK, INT), z3.Int("length")
QUEUE = Order(INSIDE, PLACE, LENGTH)
IS_NULL, NO_BLOCK = F("is_null", BLOCK, TRUTH), F("is no block", BLOCK, TRUTH)
POOLS = z3.Int("num_pools")
COPIES, ALIASES = z3.Bool("some key has copies"), z3.Bool("some block has aliases")


def variables(name: str) -> list[Any]:
    """A variable for each argument of a part of the heap."""
    bound = {BLOCK: B, Key: K, Watcher: W, INT: I}
    return [bound[sort] for sort in SIGNATURES[name][:-1]]


def every(bound: list[Any], body: Any, *patterns: Any) -> Any:
    """For all values. Patterns, which say what brings them up, are kept where they are terms of the heap as given."""

    def plain(term: Any) -> bool:
        return z3.is_var(term) or (term.decl().kind() == z3.Z3_OP_UNINTERPRETED and all(map(plain, term.children())))

    usable = bool(patterns) and all(p.num_args() > 0 and plain(p) for p in patterns)
    return z3.ForAll(bound, body, patterns=list(patterns) if usable else [])


def own(b: Any) -> Any:
    """A block of this pool."""
    return Or(lendable(b), b == NULL)


def queued(order: Order, b: Any) -> Any:
    return And(order.inside(b), b != HEAD, b != TAIL)


def keyed(digest: Any, group: Any, b: Any, k: Any) -> Any:
    """Is it the primary key of the block?"""
    return And(digest(b) != NO_DIGEST, DIGEST_OF(k) == digest(b), GROUP_OF(k) == group(b))


def primary(b: Any, k: Any) -> Any:
    return And(lendable(b), keyed(DIGESTS, GROUPS, b, k))


def has_key(b: Any, k: Any) -> Any:
    """Of the heap as given."""
    return Or(primary(b, k), ALIAS(b, k))


REPRESENTED = {
    **represents(NEXT, PREV, QUEUE),
    "the counter is the length": GIVEN["free"] == LENGTH,
    "own blocks outside have no links": every(
        [B], Implies(And(Not(INSIDE(B)), B != NONE, Or(own(B), POOLS == 1)), And(NEXT(B) == NONE, PREV(B) == NONE)),
        NEXT(B), PREV(B)),
    "only own blocks are queued": every([B], Implies(queued(QUEUE, B), lendable(B)), INSIDE(B)),
}  # fmt: skip
"""What makes the heap stand for a state. It is shown again at the end of each method."""

MAKE = {
    "null": And(Not(lendable(NULL)), REFS(NULL) == 0, DIGESTS(NULL) == NO_DIGEST, NULL != NONE, Not(INSIDE(NULL))),
    "null is a block": And(Not(NO_BLOCK(NULL)), IS_NULL(NULL)),
    "own blocks are blocks": every([B], Implies(lendable(B), Not(NO_BLOCK(B))), lendable(B), NO_BLOCK(B)),
    "sentinels": And(*(And(Not(lendable(x)), x != NULL) for x in (HEAD, TAIL, NONE))),
    "sentinels are blocks": And(Not(NO_BLOCK(HEAD)), Not(NO_BLOCK(TAIL))),
    "this pool exists": POOLS >= 1,
    "references of any block are counts": every([B], REFS(B) >= 0, REFS(B)),
    "its null block is the only one": every(
        [B], Implies(Or(own(B), POOLS == 1), IS_NULL(B) == (B == NULL)), IS_NULL(B)),
    "one pool: other blocks are unheld and unkeyed": every(
        [B], Implies(And(POOLS == 1, Not(own(B))), And(REFS(B) == 0, DIGESTS(B) == NO_DIGEST)), REFS(B), DIGESTS(B)),
    "while watchers are told, there are some": Implies(telling, z3.Exists([B], LISTED(B))),
    "keys are pairs": z3.ForAll(
        [K, L], Implies(And(DIGEST_OF(K) == DIGEST_OF(L), GROUP_OF(K) == GROUP_OF(L)), K == L),
        patterns=[z3.MultiPattern(DIGEST_OF(K), DIGEST_OF(L))]),
    "of digest and group": z3.ForAll(
        [D, G], And(DIGEST_OF(KEY_OF(D, G)) == D, GROUP_OF(KEY_OF(D, G)) == G), patterns=[KEY_OF(D, G)]),
}  # fmt: skip
"""What is true of every pool by the way it is made."""

STATE = {
    "own blocks are queued exactly while nobody holds them": every(
        [B], And(Implies(queued(QUEUE, B), REFS(B) == 0), Implies(And(lendable(B), REFS(B) == 0), queued(QUEUE, B))),
        INSIDE(B), lendable(B), REFS(B)),
    "found blocks carry the key": every([B, K], Implies(CARRIES(B, K), And(lendable(B), has_key(B, K))), CARRIES(B, K)),
    "keys are found": every([B, K], Implies(has_key(B, K), CARRIES(B, K)), ALIAS(B, K), CARRIES(B, K)),
    "aliases need a primary": every([B, K], Implies(ALIAS(B, K), And(ALIASED(B), lendable(B), DIGESTS(B) != NO_DIGEST)),
                                    ALIAS(B, K)),
    "the table of aliases has no other block": every(
        [B], Implies(ALIASED(B), And(lendable(B), DIGESTS(B) != NO_DIGEST)), ALIASED(B)),
    "watched blocks are listed": every([B, W], Implies(WATCHED(B, W), LISTED(B)), WATCHED(B, W)),
    "only lendable blocks are watched": every([B], Implies(LISTED(B), lendable(B)), LISTED(B)),
}  # fmt: skip
"""What the invariants of the spec say of the state. They are not shown again: a state that the spec's own transition
leads to has them, which `prove` shows. That these forms of them follow is an obligation of its own, see `lemmas.py`."""

FOUND = {
    "a block with a digest is found": every(
        [B], Implies(And(lendable(B), DIGESTS(B) != NO_DIGEST), CARRIES(B, KEY_OF(DIGESTS(B), GROUPS(B)))), DIGESTS(B)),
}  # fmt: skip
"""The same with its key spelled out, where a proof needs that."""

EXACT = {
    "no alias is the primary": every([B, K], Implies(ALIAS(B, K), Not(keyed(DIGESTS, GROUPS, B, K))), ALIAS(B, K)),
    "who is in the table of aliases has one": every(
        [B], Implies(ALIASED(B), z3.Exists([K], ALIAS(B, K))), ALIASED(B)),
    "coverage is the length of the primary": every(
        [B, K], Implies(primary(B, K), TOKENS(B) == tokens(K)), ALIAS(B, K), CARRIES(B, K)),
}  # fmt: skip
"""More of the invariants, for the methods that move keys."""

SIMPLE = {
    "no block has aliases": Implies(Not(ALIASES), every([B, K], Not(ALIAS(B, K)), ALIAS(B, K))),
    "nor is any in their table": Implies(Not(ALIASES), every([B], Not(ALIASED(B)), ALIASED(B))),
    "no key has copies": Implies(
        Not(COPIES), z3.ForAll([B, C, K], Implies(And(CARRIES(B, K), CARRIES(C, K)), B == C),
                               patterns=[z3.MultiPattern(CARRIES(B, K), CARRIES(C, K))])),
}  # fmt: skip
"""What it means that the tables of rare facts are empty."""

POOL = {**REPRESENTED, **MAKE, **STATE}

# ---- the arguments: a list of blocks ----

WIDTH, ITEM, COUNT = z3.Int("width"), F("item", INT, BLOCK), F("count", INT, BLOCK, INT)
FIRST, LAST = F("first", BLOCK, INT), F("last", BLOCK, INT)
GIVEN_LIST = z3.Bool("the argument is a list")


def within(i: Any, length: Any) -> Any:
    return And(0 <= i, i < length)


def named(b: Any) -> Any:
    return And(within(FIRST(b), WIDTH), ITEM(FIRST(b)) == b)


def met(b: Any, k: Any) -> Any:
    """Is it among the first k?"""
    return And(named(b), FIRST(b) < k)


BATCH = {
    "a list has a length": WIDTH >= 0,
    "nobody names sentinels": every(
        [I], Implies(within(I, WIDTH), And(*(ITEM(I) != x for x in (NONE, HEAD, TAIL)))), ITEM(I)),
    "first namings": every(
        [I], Implies(within(I, WIDTH), And(0 <= FIRST(ITEM(I)), FIRST(ITEM(I)) <= I, ITEM(FIRST(ITEM(I))) == ITEM(I))),
        ITEM(I)),
    "last namings": every(
        [I], Implies(within(I, WIDTH), And(I <= LAST(ITEM(I)), LAST(ITEM(I)) < WIDTH, ITEM(LAST(ITEM(I))) == ITEM(I))),
        ITEM(I)),
    "nothing is counted at first": every([B], COUNT(0, B) == 0, COUNT(0, B)),
    "what is counted at last is named": every(  # by induction: see lemmas.py
        [B], And(COUNT(WIDTH, B) >= 0, (COUNT(WIDTH, B) > 0) == named(B)), COUNT(WIDTH, B)),
}  # fmt: skip
"""Any list: repeats, the null block, blocks of others, things that are no blocks."""


GROWING = {
    "what is counted stays counted": every(  # by induction, too
        [I, B], Implies(And(0 <= I, I <= WIDTH), COUNT(I, B) <= COUNT(WIDTH, B)), COUNT(I, B)),
}  # fmt: skip


def counts_one_more(k: Any, item: Any = ITEM, count: Any = COUNT) -> Any:
    """The definition of `count`, for one step."""
    body = count(k + 1, B) == count(k, B) + If(item(k) == B, 1, 0)
    return z3.ForAll([B], body, patterns=[count(k + 1, B), count(k, B)])


def counting(k: Any) -> dict[str, Any]:
    """What is counted after k steps was met."""
    return {
        "counted": every([B], And(COUNT(k, B) >= 0, (COUNT(k, B) > 0) == met(B, k)), COUNT(k, B)),
        "what was met is a block": every([I], Implies(within(I, k), Not(NO_BLOCK(ITEM(I)))), ITEM(I)),
    }


def real(b: Any, number: Any) -> Any:
    """The null block is never counted."""
    return If(b != NULL, number, 0)
