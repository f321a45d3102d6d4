"""Runs of the shapes that servers have: thousands of blocks, batches of hundreds, long chains, eight groups.

Search and the state machine of `stateful_test` meet odd calls in small pools. What depends on a size, the 300th block
of a batch or the 65th of a chain, needs pools of that size: few calls, drawn with a seed, in lockstep with the spec.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from blockpool.proofs.refine.correspondence import Names
from blockpool.proofs.refine.driver import Subject
from blockpool.proofs.refine.lockstep import MismatchError, check_call
from blockpool.proofs.refine.probed_pool import Collector, ProbedPool, check_metrics
from blockpool.spec import (
    ACTIONS,
    INVARIANTS,
    NULL,
    Action,
    BlockId,
    CacheFullBlocks,
    CachePartialBlock,
    CancelWatch,
    EvictBlocks,
    Extra,
    FreeBlocks,
    GetCachedBlock,
    GetNewBlocks,
    GroupId,
    Handed,
    IsBlockWritable,
    Key,
    MoveBlockHashes,
    Pool,
    Prefix,
    ResetDone,
    ResetPrefixCache,
    Step,
    TakeEvents,
    Touch,
    UnpinBlocks,
    Watcher,
    first_state,
    steps,
)

GROUPS = tuple(map(GroupId, (0, 1, 2, 7, 255, 256, 65_535, 100_000)))
"""Eight groups; their numbers need one byte, two and three."""

SHARERS = 1000
"""References that a block of a common system prompt has."""

WANTED = {kind.name for kind in ACTIONS} - {"get_num_free_blocks", "get_usage"}
"""Calls that must have been made; the counts are compared after each of them."""


class Shape(NamedTuple):
    """A pool, and the requests that it serves."""

    blocks: int
    unit: int  # tokens a hash
    chain: int  # units of the longest prefix
    units: int  # units a block
    calls: int


SHAPES = (
    Shape(300, 1, 500, 1, 160),
    Shape(300, 16, 60, 2, 160),
    Shape(700, 1, 60, 1, 160),
    Shape(1_100, 2, 130, 1, 120),
    Shape(1_100, 256, 12, 1, 100),
    Shape(5_000, 4, 90, 2, 60),
    Shape(20_000, 1, 80, 1, 40),
)
"""From pools that are used up within a few requests to one of a server's size."""


@dataclass
class ShapedRun:
    """What came of the runs."""

    runs: int = 0
    calls: int = 0
    refused: int = 0
    longest_batch: int = 0
    longest_chain: int = 0  # blocks published in one call
    most_refs: int = 0
    most_groups: int = 0  # in a lookup that found something
    resets: int = 0
    failure: str | None = None
    seen: set[str] = field(default_factory=set)  # kinds of calls that were done

    def missing(self) -> str:
        """What runs of these shapes must have had and did not; empty if nothing."""
        least = {"longest_batch": 400, "longest_chain": 200, "most_refs": SHARERS, "most_groups": 5, "resets": 10}
        short = [f"{name} {number}" for name, number in least.items() if getattr(self, name) < number]
        return ", ".join([*short, *sorted(WANTED - self.seen)])


class Server:
    """One pool, its requests, and the dice that decide what happens next."""

    def __init__(self, shape: Shape, seed: int, run: ShapedRun) -> None:
        self.shape, self.dice, self.run = shape, Random(f"{seed} {shape}"), run
        self.reporting = self.dice.random() < 0.8
        self.state: Pool = first_state(shape.blocks, unit=shape.unit, caching=True, reporting=self.reporting)
        self.subject = Subject(self.state, Names(shape.unit, alone=self.dice.random() < 0.5))
        self.collector = Collector() if self.dice.random() < 0.5 else None
        self.pool = ProbedPool(shape.blocks, shape.unit, self.reporting, self.dice, self.collector)
        self.subject.pool = self.pool
        self.tables: list[list[BlockId]] = []  # of running requests, references included
        self.prompts = self.alike()

    def alike(self) -> list[Prefix]:
        """Long prompts that differ in one thing: their second half, one token, the tenant, the adapter, one picture."""
        length, dice = self.shape.unit * self.shape.chain, self.dice
        tokens = tuple(range(length))
        shown = tuple(Extra("item", f"picture {at}", at=at) for at in range(0, length, max(1, length // 120)))
        other = dice.randrange(len(shown))
        another = (*shown[:other], Extra("item", "another", at=shown[other].at), *shown[other + 1 :])
        texts = [tokens, (*tokens[: length // 2], *range(length, length + (length + 1) // 2))]
        for at in (dice.randrange(length), self.shape.unit - 1, length - 1):
            texts.append((*tokens[:at], -1, *tokens[at + 1 :]))
        extras = [(Extra("salt", "a"),), (Extra("salt", "b"),), (Extra("adapter", "lora#7"),), shown, another]
        return [*(Prefix(text) for text in texts), *(Prefix(tokens, extra) for extra in extras)]

    def take(self, action: Action[Any]) -> Step:
        """One call in lockstep, its metrics compared. Raises MismatchError or BrokenPoolError."""
        before, allowed = self.state, list(steps(self.state, action))
        resets = self.collector.resets if self.collector else 0
        self.state = check_call(self.subject, before, action, allowed[:1] if len(allowed) == 1 else allowed)
        step = next((one for one in allowed if one.after == self.state), allowed[0])
        self.run.calls += 1
        self.run.refused += bool(step.refused)
        self.run.seen.add(action.name)
        if self.collector is not None:
            check_metrics(self.collector, *_reported(step))
            if self.collector.resets - resets != (isinstance(step.answer, ResetDone) and step.answer.done):
                raise MismatchError("metrics were not reset with the cache, or without it")
        return step

    # --- what a server does ---

    def admit(self) -> None:
        """Blocks for a prompt in several groups, published group by group, often in two parts and through a mask."""
        groups = tuple(self.dice.sample(GROUPS, self.dice.choice((1, 1, 2, 3, 8))))
        prompt = self.dice.choice(self.prompts)
        blocks = min(len(prompt) // (self.shape.unit * self.shape.units), len(self.state.queue) // len(groups))
        for group in groups:
            self.publish(prompt, group, self.new(self.dice.choice((blocks, blocks, self.dice.randint(0, blocks)))))

    def new(self, count: int) -> list[BlockId]:
        step = self.take(GetNewBlocks(count))
        assert isinstance(step.answer, Handed)
        self.run.longest_batch = max(self.run.longest_batch, count)
        self.tables.append(list(step.answer.blocks))
        return list(step.answer.blocks)

    def publish(self, prompt: Prefix, group: GroupId, table: list[BlockId]) -> None:
        size, cached = self.shape.unit * self.shape.units, 0
        for end in sorted({self.dice.choice((len(table), self.dice.randint(0, len(table)))), len(table)}):
            mask = None
            if self.dice.random() < 0.3:
                mask = tuple(self.dice.random() < 0.8 for _ in range(cached, end))
            self.take(CacheFullBlocks(prompt, tuple(table), cached, end, size, group, mask))
            self.run.longest_chain = max(self.run.longest_chain, end - cached)
            cached = end

    def reserve(self) -> None:
        """Many blocks at once that are not published yet."""
        self.new(min(self.dice.choice((0, self.dice.randint(1, 500), 500)), len(self.state.queue)))

    def partial(self) -> None:
        """The tail of a prompt, under a prefix that ends inside its block; then often more of it."""
        free = [block for table in self.tables for block in table if block not in self.state.primary]
        if free:
            block, group, prompt = self.dice.choice(free), self.dice.choice(GROUPS), self.dice.choice(self.prompts)
            size = self.shape.unit * self.shape.units
            for units in sorted(self.dice.randint(1, self.shape.chain) for _ in range(2)):
                self.take(CachePartialBlock(prompt, block, units * self.shape.unit, group, size, False))

    def hit(self) -> None:
        """Look a prefix up in all groups that have it, or one more; share what is found, many times over."""
        if not self.state.index:
            return
        prefix = self.dice.choice(list(self.state.index)).prefix
        groups = tuple(group for group in GROUPS if Key(prefix, group) in self.state.index)
        wanted = groups if self.dice.random() < 0.8 else (*groups, self.dice.choice(GROUPS))
        found = self.take(GetCachedBlock(prefix, wanted)).answer
        if found is not None:
            self.run.most_groups = max(self.run.most_groups, len(wanted))
            self.share(list(found) * self.dice.choice((1, 1, 2, SHARERS // len(found))))

    def share(self, blocks: list[BlockId]) -> None:
        self.take(Touch(self.padded(blocks)))
        self.tables.append(blocks)
        self.run.most_refs = max([self.run.most_refs, *(self.state.refs[block] for block in blocks)])

    def padded(self, blocks: Iterable[BlockId]) -> tuple[BlockId, ...]:
        """Tables of windows begin, and may be full of, null blocks."""
        listed = list(blocks)
        for _ in range(self.dice.choice((0, 0, 1, 5))):
            listed.insert(self.dice.choice((0, self.dice.randint(0, len(listed)))), NULL)
        return tuple(listed)

    def share_table(self) -> None:
        """A request that has all blocks of another."""
        if self.tables and (table := self.dice.choice(self.tables)):
            self.share(list(table))

    def finish(self) -> None:
        """Requests end: several in one release, each from its tail."""
        ending = [self.tables.pop(self.dice.randrange(len(self.tables))) for _ in range(min(3, len(self.tables)))]
        self.take(FreeBlocks(self.padded(block for table in ending for block in reversed(table))))

    def end_reading(self) -> None:
        """A table whose references are given back while it is being read; some readers end before the blocks go."""
        if self.tables:
            table = self.tables.pop(self.dice.randrange(len(self.tables)))
            watcher = Watcher(self.dice.randint(0, 3))
            self.take(UnpinBlocks(tuple(table), watcher))
            for block in self.dice.sample(table, min(2, len(table))):
                self.take(CancelWatch(block, watcher))

    def evict(self) -> None:
        keyed = sorted(self.state.primary)
        self.take(EvictBlocks(frozenset(self.dice.sample(keyed, self.dice.randint(0, len(keyed))))))

    def copy(self) -> None:
        """Copy on write: the keys of a published block move to a copy."""
        keyed = sorted(self.state.primary)
        if keyed and self.state.queue:
            (target,) = self.new(1)
            self.take(MoveBlockHashes(self.dice.choice(keyed), target))
            self.take(IsBlockWritable(target))

    def wrong(self) -> None:
        """A call of this size that must be refused as a whole, for its last block alone."""
        held = [block for table in self.tables for block in table]
        unheld = self.state.queue[-1] if self.state.queue else BlockId(-1)
        wrong: list[Action[Any]] = [
            FreeBlocks((*held, unheld)),
            UnpinBlocks((*held, unheld), Watcher(0)),
            Touch((*held, BlockId(-1))),
            GetNewBlocks(len(self.state.queue) + 1),
        ]
        self.take(self.dice.choice(wrong))

    def sleep(self) -> None:
        """Everything ends, and the cache is forgotten."""
        self.take(FreeBlocks(tuple(block for table in self.tables for block in reversed(table))))
        self.tables.clear()
        self.run.resets += bool(self.take(ResetPrefixCache()).answer.done)

    def events(self) -> None:
        self.take(TakeEvents())

    def serve(self, calls: int) -> None:
        """So many calls, and what must be true at the end. Raises MismatchError or BrokenPoolError."""
        deeds: Sequence[tuple[Callable[[], None], int]] = (
            *(
                (self.admit, 8),
                (self.reserve, 3),
                (self.hit, 6),
                (self.share_table, 2),
                (self.finish, 5),
                (self.end_reading, 2),
            ),
            *((self.partial, 2), (self.evict, 1), (self.copy, 1), (self.wrong, 2), (self.sleep, 1), (self.events, 2)),
        )
        choices, weights = zip(*deeds, strict=True)
        until = self.run.calls + calls
        while self.run.calls < until:
            (deed,) = self.dice.choices(choices, weights)
            deed()
        self.sleep()
        self.events()
        if changed := self.pool.changed_afterwards():
            raise MismatchError(changed)
        for claim in INVARIANTS:
            if claim.judge(self.state) is False:
                raise MismatchError(f"{claim.name}: {claim.sentence}")


def _reported(step: Step) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
    """Which blocks a step lent, read and evicted, as metrics count them."""
    if step.refused:
        return (), (), ()
    keyed = step.before.primary
    if isinstance(step.answer, Handed):
        return step.answer.blocks, (), [block for block in step.answer.blocks if block in keyed]
    if isinstance(step.action, Touch):
        return (), [block for block in step.action.blocks if block], ()
    if isinstance(step.action, EvictBlocks):
        return (), (), [block for block in step.action.blocks if block in keyed]
    return (), (), ()


def serve_shapes(shapes: Sequence[Shape] = SHAPES, seed: int = 0, times: int = 1) -> ShapedRun:
    """Serve each shape so many times; ends at the first difference, which is told with the seed that shows it."""
    run = ShapedRun()
    for time in range(times):
        for shape in shapes:
            run.runs += 1
            server = Server(shape, seed + time, run)
            try:
                server.serve(shape.calls)
            except Exception as error:  # noqa: BLE001  whatever it is, this pool does not serve
                run.failure = f"{shape}, seed {seed + time}, call {run.calls}: {type(error).__name__}: {error}"
                return run
    return run
