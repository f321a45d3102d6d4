"""Long runs on larger pools: a Hypothesis state machine with one rule for each action, right and wrong calls alike.

Exhaustive search covers every call in small pools; this covers what small pools cannot have: long queues, many prefixes
that share beginnings, blocks that live through many states, events that pile up before they are taken.

The state of the spec is kept on the machine and arguments are drawn from it, so that most calls do something.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.reporting import with_reporter
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from blockpool.proofs.core.claim_names import DEFINED, REFINES
from blockpool.proofs.core.counterexample import Call
from blockpool.proofs.refine.correspondence import Names
from blockpool.proofs.refine.driver import Subject
from blockpool.proofs.refine.lockstep import MismatchError, check_call
from blockpool.spec import (
    INVARIANTS,
    NULL,
    POSSIBILITIES,
    STEP_PROPERTIES,
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
    GetNumFreeBlocks,
    GetUsage,
    GroupId,
    IsBlockWritable,
    Key,
    MoveBlockHashes,
    Pool,
    Prefix,
    ResetPrefixCache,
    TakeEvents,
    Touch,
    UnpinBlocks,
    Watcher,
    first_state,
    steps,
)

_BASE = tuple(range(16))
PREFIXES = (
    Prefix(_BASE),
    Prefix((*_BASE[:8], *range(20, 29))),  # parts half way, and ends in a token without hash if the unit is 2
    Prefix(_BASE, (Extra("salt", "a"),)),
    Prefix(_BASE, (Extra("adapter", "a"),)),
    Prefix(_BASE[:12], (Extra("item", "cat", at=4),)),
    Prefix(tuple(range(40, 52))),
)
GROUPS = (GroupId(0), GroupId(1), GroupId(7))


WANTED = [claim for claim in POSSIBILITIES if claim.name != "a_watcher_calls_back_into_the_pool"]
"""What long runs must show; calls from inside watchers are left to the search."""


class ClaimError(AssertionError):
    """A claim of the spec broken by a state or step of the spec itself."""

    def __init__(self, claim: str, sentence: str) -> None:
        super().__init__(f"{claim}: {sentence}")
        self.claim = claim


@dataclass(frozen=True, slots=True)
class Failure:
    """The last failing run; the shortest one, once Hypothesis has shrunk it."""

    claim: str
    first: Pool
    calls: tuple[Call, ...]
    words: str


@dataclass
class Run:
    """What the machine did in one call of `sample`."""

    steps: int = 0
    refused: int = 0
    runs: int = 0
    shown: set[str] = field(default_factory=set)  # possibilities
    failure: Failure | None = None

    @property
    def missing(self) -> list[str]:
        """What the runs should have shown and did not: then they have not tested much."""
        return [claim.name for claim in WANTED if claim.name not in self.shown]


class PoolMachine(RuleBasedStateMachine):
    """The spec and `impl` side by side."""

    run: ClassVar[Run] = Run()
    most_blocks: ClassVar[int] = 64

    @initialize(data=st.data())
    def new_pool(self, data: st.DataObject) -> None:
        # Small pools meet more odd cases in a run; large ones have long queues.
        size = data.draw(st.one_of(st.integers(1, 8), st.integers(2, self.most_blocks + 1)))
        unit = data.draw(st.sampled_from([1, 2]))
        self.first = self.state = first_state(
            size, unit=unit, caching=data.draw(_rarely(False)), reporting=data.draw(_rarely(False))
        )
        self.subject = Subject(self.state, Names(unit))
        self.calls: list[Call] = []
        type(self).run.runs += 1

    # --- one rule for each action ---

    @rule(data=st.data())
    def get_new_blocks(self, data: st.DataObject) -> None:
        free = len(self.state.queue)
        few = st.integers(1, max(1, min(free, 8)))
        self.take(GetNewBlocks(data.draw(st.one_of(few, few, st.integers(-2, free + 2)))))

    @rule(data=st.data())
    def touch(self, data: st.DataObject) -> None:
        self.take(Touch(self.batch(data, self.findable() or self.every_block())))

    @rule(data=st.data())
    def free_blocks(self, data: st.DataObject) -> None:
        self.take(FreeBlocks(self.release(data)))

    @rule(data=st.data())
    def unpin_blocks(self, data: st.DataObject) -> None:
        self.take(UnpinBlocks(self.release(data), data.draw(_watchers())))

    @rule(data=st.data())
    def cancel_watch(self, data: st.DataObject) -> None:
        block = self.one(data, sorted(self.state.watchers) or self.every_block())
        self.take(CancelWatch(block, data.draw(_watchers())))

    @rule(data=st.data())
    def cache_full_blocks(self, data: st.DataObject) -> None:
        prefix, size = data.draw(st.sampled_from(PREFIXES)), self.block_size(data)
        most = len(prefix) // size
        table = self.table(data, most)
        first, last = sorted((data.draw(st.integers(0, most)), data.draw(st.integers(0, most))))
        if data.draw(_rarely(True)):
            first, last = data.draw(st.integers(-1, most + 1)), data.draw(st.integers(-1, most + 2))
        length = max(0, last - first)
        mask = data.draw(st.none() | st.lists(st.booleans(), min_size=length, max_size=length).map(tuple))
        if data.draw(_rarely(True)) and mask is not None:
            mask = (*mask, True)
        self.take(CacheFullBlocks(prefix, tuple(table), first, last, size, self.group(data), mask))

    @rule(data=st.data())
    def cache_partial_block(self, data: st.DataObject) -> None:
        prefix, unit = data.draw(st.sampled_from(PREFIXES)), self.state.unit
        tokens = data.draw(st.integers(1, len(prefix) // unit)) * unit
        if data.draw(_rarely(True)):
            tokens = data.draw(st.integers(-1, len(prefix) + 2))
        block, size = self.one(data, self.held()), self.block_size(data)
        self.take(CachePartialBlock(prefix, block, tokens, self.group(data), size, data.draw(_rarely(True))))

    @rule(data=st.data())
    def move_block_hashes(self, data: st.DataObject) -> None:
        source = self.one(data, sorted(self.state.primary) or self.every_block())
        self.take(MoveBlockHashes(source, self.one(data, self.held())))

    @rule(data=st.data())
    def evict_blocks(self, data: st.DataObject) -> None:
        self.take(EvictBlocks(frozenset(self.batch(data, self.findable() or self.every_block()))))

    @rule(drained=st.integers(0, 3))
    def reset_prefix_cache(self, drained: int) -> None:
        if drained == 3:  # most of the time some block is held: give everything back, as a server before it sleeps
            everything = tuple(block for block, count in self.state.refs.items() for _ in range(count))
            self.take(FreeBlocks(everything))
        self.take(ResetPrefixCache())

    @rule(data=st.data())
    def get_cached_block(self, data: st.DataObject) -> None:
        published = sorted(self.state.index)
        usual: bool = data.draw(_rarely(False))
        if published and usual:
            likely: Key = data.draw(st.sampled_from(published))
            self.take(GetCachedBlock(likely.prefix, (likely.group,)))
            return
        prefix = data.draw(st.sampled_from(PREFIXES))
        prefix = prefix.first(data.draw(st.integers(1, len(prefix) // self.state.unit)) * self.state.unit)
        self.take(GetCachedBlock(prefix, tuple(data.draw(st.lists(st.sampled_from(GROUPS), max_size=2)))))

    # --- what engines do in one go, so that runs get somewhere ---

    @rule(data=st.data())
    def serve(self, data: st.DataObject) -> None:
        """Allocate for a prefix and publish all of it."""
        prefix, size, group = data.draw(st.sampled_from(PREFIXES)), self.block_size(data), self.group(data)
        full = min(len(prefix) // size, len(self.state.queue))
        self.take(GetNewBlocks(full))
        new = [block for block, count in self.state.refs.items() if count == 1 and block not in self.state.primary]
        self.take(CacheFullBlocks(prefix, tuple(new[:full]), 0, min(full, len(new)), size, group))

    @rule(data=st.data())
    def hit(self, data: st.DataObject) -> None:
        """Look up a published prefix and claim what is found."""
        published = sorted(self.state.index)
        if published:
            key: Key = data.draw(st.sampled_from(published))
            self.take(GetCachedBlock(key.prefix, (key.group,)))
            self.take(Touch((min(self.state.index[key]),)))

    @rule(data=st.data())
    def fill_tails(self, data: st.DataObject) -> None:
        """Publish blocks with part of their tokens, a little more, and then all of them in full, in one call."""
        prefix, unit, group = data.draw(st.sampled_from(PREFIXES)), self.state.unit, self.group(data)
        table = self.table(data, len(prefix) // (4 * unit))
        for tokens in (unit, 2 * unit):
            for block in table:
                self.take(CachePartialBlock(prefix, block, tokens, group, 4 * unit))
        self.take(CacheFullBlocks(prefix, table, 0, len(table), 4 * unit, group))

    @rule(data=st.data())
    def read_twice(self, data: st.DataObject) -> None:
        """Two readers pin a block and go on reading without their references."""
        block = self.one(data, self.held())
        self.take(Touch((block, block)))
        for watcher in (Watcher(0), Watcher(1)):
            self.take(UnpinBlocks((block,), watcher))

    @rule(data=st.data())
    def finish(self, data: st.DataObject) -> None:
        """Give back all references of some blocks in one call."""
        chosen = data.draw(st.lists(st.sampled_from(self.held()), unique=True, max_size=8))
        self.take(FreeBlocks(tuple(block for block in chosen for _ in range(self.state.refs.get(block, 0)))))

    @precondition(lambda self: len(self.calls) % 8 == 0)
    @rule(data=st.data())
    def is_block_writable(self, data: st.DataObject) -> None:
        self.take(IsBlockWritable(self.one(data, self.held())))

    @precondition(lambda self: len(self.calls) % 8 == 0)
    @rule()
    def get_num_free_blocks(self) -> None:
        self.take(GetNumFreeBlocks())

    @precondition(lambda self: len(self.calls) % 8 == 0)
    @rule()
    def get_usage(self) -> None:
        self.take(GetUsage())

    @rule()
    def take_events(self) -> None:
        self.take(TakeEvents())

    # --- taking a call ---

    def take(self, action: Action[Any]) -> None:
        """Take the call on both sides and judge every claim."""
        run = type(self).run
        run.steps += 1
        self.calls.append(Call(action))
        try:
            step = next(steps(self.state, action))
            run.refused += bool(step.refused)
            after = check_call(self.subject, self.state, action, [step])
            run.shown.update(claim.name for claim in WANTED if claim.name not in run.shown and claim.judge(step))
            for property_ in STEP_PROPERTIES:
                if property_.judge(step) is False:
                    raise ClaimError(property_.name, property_.sentence)
            for invariant in INVARIANTS:
                if invariant.judge(after) is False:
                    raise ClaimError(invariant.name, invariant.sentence)
        except Exception as error:
            claim = error.claim if isinstance(error, ClaimError) else DEFINED
            claim = REFINES if isinstance(error, MismatchError) else claim
            run.failure = Failure(claim, self.first, tuple(self.calls), f"{type(error).__name__}: {error}")
            raise ClaimError(claim, str(error)) from error
        self.state = after

    # --- arguments ---

    def every_block(self) -> list[BlockId]:
        return [BlockId(block) for block in range(self.state.size)]

    def held(self) -> list[BlockId]:
        return [block for block, count in self.state.refs.items() if count] or self.every_block()

    def findable(self) -> list[BlockId]:
        return sorted(self.state.primary)

    def block(self, likely: Sequence[BlockId]) -> st.SearchStrategy[BlockId]:
        """Mostly one of these, sometimes any block, the null block or a foreign one."""
        odd = st.sampled_from([NULL, BlockId(-1), BlockId(self.state.size), *self.every_block()])
        return st.integers(0, 15).flatmap(lambda dice: odd if dice == 15 else st.sampled_from(likely))

    def table(self, data: st.DataObject, length: int) -> tuple[BlockId, ...]:
        """A block table: mostly distinct held blocks without a key, as a request has them; sometimes anything."""
        if data.draw(_rarely(True)):
            return tuple(data.draw(st.lists(self.block(self.held()), min_size=length, max_size=length)))
        fillable = [block for block in self.held() if block not in self.state.primary]
        chosen = data.draw(st.permutations(fillable))[:length]
        return (*chosen, *(NULL for _ in range(length - len(chosen))))

    def one(self, data: st.DataObject, likely: Sequence[BlockId]) -> BlockId:
        return data.draw(self.block(likely))

    def batch(self, data: st.DataObject, likely: Sequence[BlockId]) -> tuple[BlockId, ...]:
        return tuple(data.draw(st.lists(self.block(likely), max_size=6)))

    def release(self, data: st.DataObject) -> tuple[BlockId, ...]:
        """References that are held, in any order; sometimes one that is not."""
        held = [block for block, count in self.state.refs.items() for _ in range(count)]
        if not held or data.draw(_rarely(True)):
            return self.batch(data, self.held())
        order = data.draw(st.permutations(held))
        return tuple(order[: data.draw(st.integers(0, min(8, len(order))))])

    def block_size(self, data: st.DataObject) -> int:
        unit = self.state.unit
        return data.draw(
            st.sampled_from([unit, 2 * unit, 4 * unit, 3 * unit + 1 if data.draw(_rarely(True)) else unit])
        )

    def group(self, data: st.DataObject) -> GroupId:
        group: GroupId = data.draw(st.sampled_from(GROUPS[:2]))
        return group


def _rarely(value: bool) -> st.SearchStrategy[bool]:
    """This value once in ten times."""
    return st.integers(0, 9).map(lambda dice: value if dice == 9 else not value)


def _watchers() -> st.SearchStrategy[Watcher]:
    return st.integers(0, 2).map(Watcher)


def sample(runs: int, calls: int, chosen_seed: int | None = None, *, shrink: bool = True) -> Run:
    """Run the machine `runs` times with about `calls` calls each.

    Without a seed every run from the same entry point does the same (Hypothesis also draws constants that it finds in
    the modules imported by then); with one it explores. A failure is kept; shrunk, unless it only matters that there
    is one.
    """
    PoolMachine.run = Run()
    chosen = settings(
        max_examples=runs,
        stateful_step_count=calls,
        derandomize=chosen_seed is None,
        deadline=None,
        database=None,
        print_blob=False,
        verbosity=Verbosity.quiet,
        report_multiple_bugs=False,
        phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    machine = PoolMachine if chosen_seed is None else seed(chosen_seed)(PoolMachine)
    try:
        with with_reporter(lambda _: None):
            run_state_machine_as_test(machine, settings=chosen)
    except ClaimError:
        if PoolMachine.run.failure is None:
            raise
    return PoolMachine.run
