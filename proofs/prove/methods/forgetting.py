"""`evict_blocks` and `reset_prefix_cache`: the whole methods."""

# ruff: noqa: SIM300  (names in capitals are the unknowns of formulas)

from __future__ import annotations

from typing import Any

import z3

from blockpool.proofs.prove.methods import abstraction, contracts, models
from blockpool.proofs.prove.methods.getting import events, key_of
from blockpool.proofs.prove.methods.lists import Items
from blockpool.proofs.prove.methods.loops import Loop, Rule
from blockpool.proofs.prove.methods.machine import Facts, Run
from blockpool.proofs.prove.methods.method import Method
from blockpool.proofs.prove.methods.values import INT, NO_DIGEST, Model, Node, Poison, integer
from blockpool.proofs.prove.methods.world import (
    ALIAS,
    ALIASED,
    BATCH,
    CARRIES,
    DIGESTS,
    FOUND,
    ITEM,
    NULL,
    POOL,
    QUEUE,
    REFS,
    WIDTH,
    And,
    B,
    F,
    I,
    If,
    Implies,
    K,
    Not,
    every,
    has_key,
    met,
    named,
    own,
    within,
)
from blockpool.proofs.prove.pool import vocabulary as words
from blockpool.proofs.prove.pool.key_transitions import evict_blocks, reset_prefix_cache
from blockpool.proofs.prove.pool.vocabulary import Key, lendable, lendable_count, reporting
from blockpool.proofs.prove.queue.values import BLOCK

IDS, BLOCK_AT, PLACE_OF = F("id", INT, INT), F("block", INT, BLOCK), F("number of", BLOCK, INT)
NUMBERED = {
    "the pool has a size": lendable_count >= 0,
    "blocks by number": every([I], own(BLOCK_AT(I)) == And(0 <= I, I <= lendable_count), BLOCK_AT(I)),
    "each number its own": every([I], Implies(within(I, lendable_count + 1), PLACE_OF(BLOCK_AT(I)) == I), BLOCK_AT(I)),
    "a call names blocks by number": every([I], ITEM(I) == BLOCK_AT(IDS(I)), ITEM(I), IDS(I)),
}
"""`pool.blocks[n]` is block n. Numbers that no block has stand for foreign blocks, as the vocabulary has it."""


class Known(Rule):
    """The numbers so far are those of blocks."""

    def facts(self, loop: Loop, k: Any, names: Any, ghost: Any) -> Facts:
        return {"of the pool": every([I], Implies(within(I, k), own(ITEM(I))), ITEM(I))}


def before(b: Any, k: Any) -> Any:
    return met(b, k)


class Evicting(Rule):
    """The blocks so far have no key any more, and a Removed was sent for each that they had."""

    grows = ("evicted",)
    arbitrary = ("out.length", "out.at", "removed")

    def heap(self, loop: Loop, k: Any, ghost: Any) -> dict[str, Any]:
        return {
            "digest": lambda b: If(met(b, k), NO_DIGEST, DIGESTS(b)),
            "carries": lambda b, key: And(CARRIES(b, key), Not(met(b, k))),
            "alias": lambda b, key: And(ALIAS(b, key), Not(met(b, k))),
            "aliased": lambda b: And(ALIASED(b), Not(met(b, k))),
        }

    def facts(self, loop: Loop, k: Any, names: Any, ghost: Any) -> Facts:
        (loser, sent), removed = ghost, loop.run.heap["removed"]
        some = And(reporting, met(loser(K), k), has_key(loser(K), K))
        lost = And(reporting, met(B, k), CARRIES(B, K))
        return {
            "only lost keys are sent": every([K], And(removed(K) >= 0, Implies(removed(K) > 0, some)), removed(K)),
            "each lost key is sent": every([B, K], Implies(lost, removed(K) > 0), CARRIES(B, K)),
            "listed": names.evicted.length >= 0,
            **events(loop.run.heap, sent),
        }

    def ghost(self, loop: Loop) -> Any:
        return loop.run.fresh("loser", Key, BLOCK), loop.run.fresh("sent", Key)

    def next(self, loop: Loop, k: Any, ghost: Any) -> Any:
        (loser, sent), item = ghost, ITEM(k)
        some, keyed = key_of(loop.run, item), And(DIGESTS(item) != NO_DIGEST, Not(met(item, k)))
        return lambda key: If(And(keyed, CARRIES(item, key)), item, loser(key)), If(keyed, some, sent)


class Blocks(Poison):
    """`pool.blocks`."""

    def __init__(self, run: Run) -> None:
        self._has(run=run)

    def __getitem__(self, number: Any) -> Node:
        place = integer(number)
        self.run.needs(And(0 <= place, place <= lendable_count), "a block is asked for by a number that one has")
        return Node(self.run, BLOCK_AT(place))


def _evict(run: Run, scope: dict[str, Any]) -> Any:
    pool = models.pool(run, models.Queue(run), blocks=Blocks(run))
    numbers = Items(run, WIDTH, IDS, INT)
    numbers._has(kind=set)
    return scope["evict_blocks"](pool, numbers)


def _evict_goals(run: Run, kind: str, value: Any) -> Facts:
    raised = value if kind == "raised" else None
    call = {words.named: lambda b: If(named(b), 1, 0), words.named_ahead: lambda _a, _b: z3.BoolVal(False)}
    said = abstraction.of_transition(evict_blocks(), run, QUEUE, call, raised=raised)
    return said | abstraction.representation(run, QUEUE)


def _numbered(blocks: list[Any]) -> list[Any]:
    """Number the blocks in their order."""
    rows = [(BLOCK_AT(number) == block, PLACE_OF(block) == number) for number, block in enumerate([NULL, *blocks])]
    return [lendable_count == len(blocks), *(fact for row in rows for fact in row)]


EVICT = Method(
    "BlockPool.evict_blocks",
    {"pool": ("evict_blocks",), "publish": ("evict",), "checks": ("listed", "not_while_telling", "is_count")},
    _evict,
    _evict_goals,
    POOL | BATCH | NUMBERED | abstraction.SLOTS,
    {("evict", 0): Known(), ("evict", 1): Evicting(), ("evict", 2): Rule()},
    lambda run: {"drop_keys": contracts.drop_keys(run)},
    {"three are named": And(WIDTH == 3, ITEM(0) != ITEM(1), ITEM(1) != ITEM(2))},
    hints=_numbered,
    kinds=("returns", "raises UnknownBlock", "raises ReEntrant"),
    through="evict_blocks",
    contracts=("drop_keys", "the metrics collector"),
    limits="how often a Removed of one key is sent",
)

HELD, HOLDER = z3.Int("held"), z3.Const("a held block", BLOCK)
SIZES = {
    "every block is free or held": words.BEFORE.free + HELD == lendable_count,
    "held is the number of held blocks": And(
        HELD >= 0,
        every([B], Implies(And(lendable(B), REFS(B) != 0), HELD > 0), REFS(B)),
        Implies(HELD > 0, And(lendable(HOLDER), REFS(HOLDER) != 0)),
    ),
}
"""The invariant `every_block_is_free_or_held`, and what it means that `held` is a size: 0 exactly if there is none."""
SIZES["every block is free or held"] = QUEUE.length + HELD == lendable_count


class Unkeying(Rule):
    """What the walk has passed has no digest."""

    def heap(self, loop: Loop, k: Any, ghost: Any) -> dict[str, Any]:
        where, at = ghost

        def passed(b: Any) -> Any:
            return And(within(where(b), k), at(where(b)) == b)

        return {"digest": lambda b: If(passed(b), NO_DIGEST, DIGESTS(b))}

    def ghost(self, loop: Loop) -> Any:
        return loop.over.first, loop.over.at


def all_blocks(run: Run) -> Any:
    """`HashIndex.all_blocks`: each block that carries a key, once for each of its keys."""

    def call() -> Items:
        carries = run.heap["carries"]
        length, at = run.fresh("length", INT), run.fresh("block", INT, BLOCK)
        key, first = run.fresh("its key", INT, Key), run.fresh("first place", BLOCK, INT)
        inside = within(I, length)
        placed = And(within(first(B), length), at(first(B)) == B)
        first_of_it = And(0 <= first(at(I)), first(at(I)) <= I, at(first(at(I))) == at(I))
        run.know("as many as there are", length >= 0)
        run.know(
            "blocks that carry a key", every([I], Implies(inside, And(carries(at(I), key(I)), first_of_it)), at(I))
        )
        run.know("all of them", every([B, K], Implies(carries(B, K), placed), CARRIES(B, K)))
        made = Items(run, length, at)
        made._has(first=first)
        return made

    return call


def _clear(run: Run) -> Any:
    def call() -> None:
        run.heap["carries"] = lambda _b, _k: z3.BoolVal(False)

    return call


def _reset(run: Run, scope: dict[str, Any]) -> Any:
    index = Model(run, all_blocks=all_blocks(run), clear=_clear(run))
    pool = models.pool(run, models.Queue(run), cached_block_hash_to_block=index)
    return scope["reset_prefix_cache"](pool)


def _reset_goals(run: Run, kind: str, value: Any) -> Facts:
    told_errors = kind == "raised" and value.__name__ == "WatcherErrors"
    answer = run.parts["result"] if told_errors else value
    raised = value if kind == "raised" and not told_errors else None
    call = {words.done: z3.BoolVal(answer is True)}
    said = abstraction.of_transition(reset_prefix_cache(), run, QUEUE, call, raised=raised)
    answers = raised is not None or answer is True or answer is False
    return said | abstraction.representation(run, QUEUE) | {"answers true or false": z3.BoolVal(answers)}


RESET = Method(
    "BlockPool.reset_prefix_cache",
    {"pool": ("reset_prefix_cache",), "checks": ("not_while_telling",)},
    _reset,
    _reset_goals,
    POOL | SIZES | FOUND | abstraction.SLOTS,
    {("reset_prefix_cache", 0): Unkeying()},
    lambda run: {
        "tell": contracts.tell(run), "AllBlocksCleared": models.all_cleared(run),
        "raise_watcher_errors": contracts.raise_watcher_errors(run),
    },
    kinds=("returns True", "returns False", "raises ReEntrant", "raises WatcherErrors"),
    through="reset_prefix_cache",
    contracts=("tell", "raise_watcher_errors", "HashIndex.all_blocks", "HashIndex.clear", "the metrics collector"),
)  # fmt: skip
