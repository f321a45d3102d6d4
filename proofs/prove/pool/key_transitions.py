"""The actions that give blocks keys or take them, as transitions."""

from typing import Any

import z3

from blockpool.proofs.prove.pool.effects import UNKNOWN, all_keys_of, keys
from blockpool.proofs.prove.pool.transition import Transition, Value, appended
from blockpool.proofs.prove.pool.vocabulary import (
    BEFORE,
    Key,
    a,
    b,
    bad_range,
    block,
    caching,
    chosen,
    done,
    every,
    has_key,
    j,
    k,
    key,
    known,
    named,
    null,
    rewritten,
    some,
    source,
    target,
    telling,
    tokens,
)
from blockpool.spec.pool.eviction import EvictBlocks, MoveBlockHashes, ResetPrefixCache
from blockpool.spec.pool.publishing import CacheFullBlocks, CachePartialBlock
from blockpool.spec.pool.terms import Reason

And, Or, Not, If, Implies = z3.And, z3.Or, z3.Not, z3.If, z3.Implies
z = z3.Const("z", Key)


def cache_full_blocks() -> Transition:
    def published(x: Any) -> Any:
        return some(z, so=chosen(x, z))

    clash = And(BEFORE.published(b), BEFORE.coverage(b) >= tokens(k))
    return Transition(
        CacheFullBlocks,
        {
            Reason.RE_ENTRANT: telling,
            Reason.CACHING_DISABLED: Not(caching),
            Reason.BAD_RANGE: bad_range,
            Reason.UNKNOWN_BLOCK: some(b, k, so=And(chosen(b, k), Not(known(b)))),
            Reason.REPEATED_BLOCK: some(b, j, k, so=And(chosen(b, j), chosen(b, k), j != k)),
            Reason.NOT_HELD: some(b, k, so=And(chosen(b, k), known(b), BEFORE.refs(b) <= 0)),
            Reason.ALREADY_CACHED: some(b, k, so=And(chosen(b, k), known(b), clash)),
        },
        given={
            "the null block is never chosen": every(k, so=Not(chosen(null, k))),
            "each place of a prefix has its own key": every(
                a, b, k, so=Implies(And(chosen(a, k), chosen(b, k)), a == b)
            ),
        },
        effect=keys(published, primary=chosen),
        lost=all_keys_of(published),
        gained=chosen,
    )


def cache_partial_block() -> Transition:
    acts = And(block != null, Not(And(has_key(BEFORE, block, key), Not(rewritten))))
    covered = And(BEFORE.published(block), BEFORE.coverage(block) >= tokens(key))
    anew = And(acts, Or(rewritten, Not(covered)))
    clash = And(BEFORE.published(block), BEFORE.coverage(block) == tokens(key), Not(rewritten))

    def dropped(x: Any) -> Any:
        return And(anew, x == block)

    return Transition(
        CachePartialBlock,
        {
            Reason.RE_ENTRANT: telling,
            Reason.CACHING_DISABLED: Not(caching),
            Reason.BAD_RANGE: bad_range,
            Reason.UNKNOWN_BLOCK: Not(known(block)),
            Reason.NOT_HELD: And(known(block), block != null, BEFORE.refs(block) <= 0),
            Reason.DIFFERENT_CONTENT: And(clash, Not(has_key(BEFORE, block, key))),
        },
        effect=keys(
            dropped,
            primary=lambda x, y: And(anew, x == block, y == key),
            alias=lambda x, y: And(acts, Not(anew), x == block, y == key),
        ),
        answer={"the key": done == (block != null)},
        lost=all_keys_of(dropped),
        gained=lambda x, y: And(acts, x == block, y == key),
    )


def move_block_hashes() -> Transition:
    acts = BEFORE.published(source)

    def dropped(x: Any) -> Any:
        return And(acts, x == source)

    return Transition(
        MoveBlockHashes,
        {
            Reason.RE_ENTRANT: telling,
            Reason.UNKNOWN_BLOCK: Or(Not(known(source)), Not(known(target))),
            Reason.NULL_BLOCK: target == null,
            Reason.NOT_HELD: And(known(target), target != null, BEFORE.refs(target) <= 0),
            Reason.ALREADY_CACHED: BEFORE.published(target),
        },
        effect=keys(
            dropped,
            primary=lambda x, y: And(acts, x == target, BEFORE.primary(source, y)),
            alias=lambda x, y: And(acts, x == target, BEFORE.alias(source, y)),
        ),
        lost=all_keys_of(dropped),
        gained=lambda x, y: And(acts, x == target, has_key(BEFORE, source, y)),
        silent=True,
    )


def evict_blocks() -> Transition:
    def dropped(x: Any) -> Any:
        return named(x) > 0

    return Transition(
        EvictBlocks,
        {Reason.RE_ENTRANT: telling, Reason.UNKNOWN_BLOCK: UNKNOWN},
        {"a block is in the set or not": every(b, so=And(named(b) >= 0, named(b) <= 1))},
        effect=keys(dropped),
        lost=all_keys_of(dropped),
    )


def reset_prefix_cache() -> Transition:
    def only_if_kept(name: str) -> Value:
        field = BEFORE.symbols()[name]
        return lambda *arguments: And(field(*arguments), Not(done))

    emptied = ("published", "primary", "aliased", "alias", "indexed", "findable", "listed", "watched")
    return Transition(
        ResetPrefixCache,
        {Reason.RE_ENTRANT: telling},
        effect={
            **{name: only_if_kept(name) for name in emptied},
            "coverage": lambda x: If(done, 0, BEFORE.coverage(x)),
            "copies": lambda y: If(done, 0, BEFORE.copies(y)),
            "posted": appended(),
        },
        answer={"nothing is held": done == every(b, so=BEFORE.refs(b) == 0)},
        clears=done,
        tells=lambda x, y: And(done, BEFORE.watched(x, y)),
    )
