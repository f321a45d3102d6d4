"""Every action of the pool as a transition: the effect of the whole batch at once, as `spec` says it.

That these are the effects of `spec` is checked by the twins, edge for edge. That the effect of a batch is the fold of
its one-block steps, and how the counters move, is proved in `naming_fold.py` and `key_fold.py`.
"""

from collections.abc import Mapping
from typing import Any

import z3

from blockpool.proofs.prove.pool.key_transitions import (
    cache_full_blocks,
    cache_partial_block,
    evict_blocks,
    move_block_hashes,
    reset_prefix_cache,
)
from blockpool.proofs.prove.pool.lending_transitions import (
    cancel_watch,
    free_blocks,
    get_new_blocks,
    touch,
    unpin_blocks,
)
from blockpool.proofs.prove.pool.transition import Transition, nothing
from blockpool.proofs.prove.pool.vocabulary import (
    BEFORE,
    answered,
    asked,
    b,
    block,
    done,
    every,
    k,
    number,
    some,
    telling,
    writable,
)
from blockpool.spec.pool.action import Action
from blockpool.spec.pool.queries import GetCachedBlock, GetNumFreeBlocks, GetUsage, IsBlockWritable, TakeEvents
from blockpool.spec.pool.terms import Reason

And, Or, Not, If, Implies = z3.And, z3.Or, z3.Not, z3.If, z3.Implies


def get_cached_block() -> Transition:
    found = some(b, so=BEFORE.findable(k, b))
    return Transition(
        GetCachedBlock,
        answer={
            "all groups or nothing": done == every(k, so=Implies(asked(k), found)),
            "only what is found": every(k, b, so=Implies(answered(k, b), And(done, asked(k), BEFORE.findable(k, b)))),
            "one for each group": every(k, so=Implies(And(done, asked(k)), some(b, so=answered(k, b)))),
        },
    )


def take_events() -> Transition:
    return Transition(TakeEvents, {Reason.RE_ENTRANT: telling}, effect={"posted": nothing})


TRANSITIONS: Mapping[type[Action[Any]], Transition] = {
    transition.action: transition
    for transition in (
        get_new_blocks(),
        touch(),
        free_blocks(),
        unpin_blocks(),
        cancel_watch(),
        cache_full_blocks(),
        cache_partial_block(),
        move_block_hashes(),
        evict_blocks(),
        reset_prefix_cache(),
        get_cached_block(),
        Transition(IsBlockWritable, answer={"the rule": done == writable(BEFORE, block)}),
        Transition(GetNumFreeBlocks, answer={"the length of the queue": number == BEFORE.free}),
        Transition(GetUsage),
        take_events(),
    )
}
"""One transition for each action."""
