"""The pool's environment: requests with their block tables, passes, copies, transfers, and what memory really holds.

The pool's maps can all agree while two requests read each other's bytes. What a hit promises is a promise about memory,
so here memory is part of the state, as a *ghost*: nothing in a server stores it, but properties can speak of it.

A scheduler works in passes. While it schedules, requests are admitted, grow, or are dropped, and keys are *published*:
a lookup finds them at once. Then the pass runs: pending copies first, then every scheduled token is computed and
written. Only then is what was published *committed*.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from blockpool.spec.pool.prefix import Key, Prefix
from blockpool.spec.pool.state import Pool
from blockpool.spec.pool.terms import NULL, BlockId, GroupId, Watcher
from blockpool.spec.requests.layout import Group, Slot, Table

RequestId = str


def _rule(sentence: str) -> bool:
    kept: bool = field(default=True, metadata={"sentence": sentence})
    return kept


@dataclass(frozen=True, slots=True)
class Rules:
    """What the environment owes the pool. Each can be broken on purpose, to see what it is good for."""

    touch_before_allocating: bool = _rule("P1: the hits of all groups are touched before any group allocates.")
    claim_at_once: bool = _rule("P2: nothing happens between a lookup and the touch of what it found.")
    count_what_hits_take: bool = _rule("P3: the admission check counts hits that are free now, and copies.")
    tails_first: bool = _rule("P4: the end of a table is given back before its beginning.")
    states_end_at_boundaries: bool = _rule("P5: a chunk that starts inside a block of states stops at its end.")
    wait_for_commit: bool = _rule("P6: a state, or a block to be copied, is hit only after it was written.")
    withdraw_when_dropped: bool = _rule("P7: a request dropped from a pass takes back what it published in it.")
    copies_before_writes: bool = _rule("P8: pending copies run before the pass writes.")
    spare_watched_blocks: bool = _rule("A block that somebody still reads is not written in place.")
    release_by_processed: bool = _rule("A block leaves a window when tokens are processed, not when scheduled.")

    def broken(self) -> list[str]:
        """The rules that are switched off."""
        return [rule.name for rule in fields(self) if not getattr(self, rule.name)]


RULES: dict[str, str] = {rule.name: rule.metadata["sentence"] for rule in fields(Rules)}
"""Each rule in words."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a request will ask for. `tokens` is all of it, the prompt and the answer that will be generated."""

    tokens: tuple[int, ...]
    prompt: int  # how many of them are the prompt

    def prefix(self, count: int) -> Prefix:
        """The first `count` tokens."""
        return Prefix(self.tokens[:count])


@dataclass(frozen=True, slots=True)
class Running:
    """A request that holds blocks."""

    tables: tuple[Table, ...]  # one for each group
    computed: int  # tokens whose content is written
    scheduled: int  # tokens that are or will be written when this pass has run
    cached: tuple[int, ...]  # for each group, how many blocks of the table are published
    dispatched: bool = False  # has a pass run with it?

    @property
    def in_pass(self) -> bool:
        return self.scheduled > self.computed


@dataclass(frozen=True, slots=True)
class Transfer:
    """Somebody outside reads a block: pinned by a reference, or unpinned and watched."""

    block: BlockId
    content: tuple[Slot, ...]  # what was there when it began
    pinned: bool = True


@dataclass(frozen=True, slots=True)
class World:
    """One state of the pool and its environment. The first four fields never change."""

    layout: tuple[Group, ...]
    plans: Mapping[RequestId, Plan]
    limits: Mapping[str, int]  # how often something may happen, so that a search ends
    rules: Rules
    pool: Pool
    waiting: frozenset[RequestId] = frozenset()
    running: Mapping[RequestId, Running] = field(default_factory=dict)
    looked_up: Mapping[RequestId, tuple[int, tuple[Table, ...]]] = field(default_factory=dict)  # hits not yet claimed
    fresh: frozenset[tuple[Key, BlockId, RequestId]] = frozenset()  # published in this pass, on which block, by whom
    copies: tuple[tuple[BlockId, BlockId], ...] = ()  # from, to; run when the pass runs
    retained: tuple[BlockId, ...] = ()  # references that pending copies hold
    deferred: tuple[BlockId, ...] = ()  # references given back only after the pass
    transfers: Mapping[Watcher, Transfer] = field(default_factory=dict)
    memory: Mapping[BlockId, tuple[Slot, ...]] = field(default_factory=dict)
    used: Mapping[str, int] = field(default_factory=dict)  # what `limits` counts
    # What went wrong, if anything did:
    misread: frozenset[tuple[RequestId, GroupId, int]] = frozenset()  # a request read something else at this token
    refused: frozenset[str] = frozenset()  # calls that the pool refused to a scheduler that had checked before

    def group(self, group: GroupId) -> Group:
        return self.layout[group]

    @property
    def groups(self) -> range:
        return range(len(self.layout))

    def at(self, block: BlockId, slot: int) -> Slot:
        """What memory holds there."""
        slots = self.memory.get(block, ())
        return slots[slot] if slot < len(slots) else None

    def may(self, what: str) -> bool:
        """May it happen once more in this search?"""
        return self.used.get(what, 0) < self.limits.get(what, 0)


def first_world(
    pool: Pool,
    layout: tuple[Group, ...],
    plans: Mapping[RequestId, Plan],
    limits: Mapping[str, int],
    rules: Rules | None = None,
) -> World:
    """Every request waits; memory holds nothing that anybody knows."""
    return World(layout, plans, limits, rules or Rules(), pool, waiting=frozenset(plans))


def expected(group: GroupId, plan: Plan, position: int) -> Slot:
    """What the place of this token must hold for the request to read the truth."""
    return (group, plan.tokens[: position + 1])


def holds(world: World, block: BlockId, key: Key) -> bool:
    """Does the block hold the content that this key promises?"""
    group, tokens = world.group(key.group), key.prefix.tokens
    last = len(tokens) - 1
    first = last if group.slots == 1 else last // group.block_size * group.block_size
    return block != NULL and all(
        world.at(block, group.slot(position)) == (key.group, tokens[: position + 1])
        for position in range(first, last + 1)
    )
