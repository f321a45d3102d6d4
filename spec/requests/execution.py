"""What happens to memory: a pass runs, transfers read, the outside forgets.

The order within a pass is the heart of it: pending copies, then states are read, then every scheduled token is written,
then attention reads. So attention may hit what is written in the same pass, and a state may not.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from blockpool.spec.pool.allocation import CancelWatch, UnpinBlocks
from blockpool.spec.pool.eviction import EvictBlocks, ResetPrefixCache
from blockpool.spec.pool.terms import NULL, BlockId, GroupId, Watcher
from blockpool.spec.requests.action import Move, unless
from blockpool.spec.requests.layout import Kind, Slot
from blockpool.spec.requests.pool_calls import call, give_back, touch
from blockpool.spec.requests.state import RequestId, Running, Transfer, World, expected

Memory = Mapping[BlockId, tuple[Slot, ...]]


@dataclass(frozen=True, slots=True)
class RunPass(Move):
    """Run the pass: copies, writes, reads. Then the copies' references and what was deferred are given back."""

    name: ClassVar[str] = "run_pass"

    def guard(self, world: World) -> frozenset[str]:
        scheduled = any(running.in_pass for running in world.running.values())
        return unless(("nothing scheduled", not (scheduled or world.copies or world.deferred)))

    def effect(self, world: World, answer: None = None) -> World:
        if world.rules.copies_before_writes:
            world = replace(world, memory=after_copies(world))
        misread = set(_misread_states(world))
        world = replace(world, memory=_after_writes(world))
        if not world.rules.copies_before_writes:
            world = replace(world, memory=after_copies(world))
        misread |= set(_misread_attention(world))
        running = {
            name: replace(one, computed=one.scheduled, dispatched=one.dispatched or one.in_pass)
            for name, one in world.running.items()
        }
        done = world.retained + world.deferred
        world = replace(world, running=running, fresh=frozenset(), copies=(), retained=(), deferred=())
        return give_back(replace(world, misread=world.misread | misread), done)


@dataclass(frozen=True, slots=True)
class BeginTransfer(Move):
    """Somebody outside pins a block of a request and starts to read it."""

    request: RequestId
    group: GroupId
    entry: int

    name: ClassVar[str] = "begin_transfer"

    def guard(self, world: World) -> frozenset[str]:
        running = world.running.get(self.request)
        if running is None:
            return frozenset({"not running"})
        table = running.tables[self.group]
        return unless(
            ("no transfer left", not world.may("transfer")),
            ("still to be written or copied", running.in_pass or bool(world.copies)),
            ("no block there", self.entry >= len(table) or table[self.entry] == NULL),
            ("overwritten in turn", world.group(self.group).kind is Kind.RING),
        )

    def effect(self, world: World, answer: None = None) -> World:
        block = world.running[self.request].tables[self.group][self.entry]
        number = world.used.get("transfer", 0)
        transfer = Transfer(block, world.memory.get(block, ()))
        return replace(
            touch(world, (block,)),
            transfers={**world.transfers, Watcher(number): transfer},
            used={**world.used, "transfer": number + 1},
        )


@dataclass(frozen=True, slots=True)
class Unpin(Move):
    """A reader gives its reference up and goes on reading until it is told that the block is reused."""

    transfer: Watcher

    name: ClassVar[str] = "unpin"

    def guard(self, world: World) -> frozenset[str]:
        transfer = world.transfers.get(self.transfer)
        return unless(("not pinned", transfer is None or not transfer.pinned))

    def effect(self, world: World, answer: None = None) -> World:
        transfer = world.transfers[self.transfer]
        world, _ = call(world, UnpinBlocks((transfer.block,), self.transfer))
        unpinned = replace(transfer, pinned=False)
        return replace(world, transfers={**world.transfers, self.transfer: unpinned})


@dataclass(frozen=True, slots=True)
class EndTransfer(Move):
    """A reader is done."""

    transfer: Watcher

    name: ClassVar[str] = "end_transfer"

    def guard(self, world: World) -> frozenset[str]:
        return unless(("no such transfer", self.transfer not in world.transfers))

    def effect(self, world: World, answer: None = None) -> World:
        transfer = world.transfers[self.transfer]
        if transfer.pinned:
            world = give_back(world, (transfer.block,))
        else:
            world, _ = call(world, CancelWatch(transfer.block, self.transfer))
        rest = {name: other for name, other in world.transfers.items() if name != self.transfer}
        return replace(world, transfers=rest)


@dataclass(frozen=True, slots=True)
class Invalidate(Move):
    """Content from outside turned out to be wrong: everything in a request's blocks is forgotten."""

    request: RequestId

    name: ClassVar[str] = "invalidate"

    def guard(self, world: World) -> frozenset[str]:
        return unless(("not running", self.request not in world.running), ("no failure left", not world.may("failure")))

    def effect(self, world: World, answer: None = None) -> World:
        tables = world.running[self.request].tables
        blocks = frozenset(block for table in tables for block in table if block != NULL)
        world, _ = call(world, EvictBlocks(blocks))
        return replace(world, used={**world.used, "failure": world.used.get("failure", 0) + 1})


@dataclass(frozen=True, slots=True)
class Reset(Move):
    """New weights: forget everything, if nothing is held."""

    name: ClassVar[str] = "reset"

    def guard(self, world: World) -> frozenset[str]:
        return unless(("no reset left", not world.may("reset")), ("blocks are held", any(world.pool.refs.values())))

    def effect(self, world: World, answer: None = None) -> World:
        world, _ = call(world, ResetPrefixCache())
        return replace(world, used={**world.used, "reset": world.used.get("reset", 0) + 1})


# --- what memory holds ---


def after_copies(world: World) -> Memory:
    """Memory when the pending copies have run, in their order."""
    memory = dict(world.memory)
    for source, target in world.copies:
        memory[target] = memory.get(source, ())
    return memory


def _scheduled(world: World) -> Iterator[tuple[RequestId, Running, GroupId]]:
    for name, running in world.running.items():
        if running.in_pass:
            yield from ((name, running, GroupId(group)) for group in world.groups)


def _after_writes(world: World) -> Memory:
    """Memory when every scheduled token is written. A state is written once, where the chunk ends."""
    memory = dict(world.memory)
    for name, running, number in _scheduled(world):
        group, table = world.group(number), running.tables[number]
        first = running.scheduled - 1 if group.kind is Kind.STATE else running.computed
        for position in range(first, running.scheduled):
            block = table[group.entry(position)] if group.entry(position) < len(table) else NULL
            if block != NULL:
                slots = list(memory.get(block, ())) + [None] * group.slots
                slots[group.slot(position)] = expected(number, world.plans[name], position)
                memory[block] = tuple(slots[: group.slots])
    return memory


def _misread_states(world: World) -> Iterator[tuple[RequestId, GroupId, int]]:
    """A chunk that does not start at the beginning reads the state before it; before anything is written."""
    for name, running, number in _scheduled(world):
        if world.group(number).kind is Kind.STATE and running.computed:
            position = running.computed - 1
            if not _reads_right(world, name, running, number, position):
                yield name, number, position


def _misread_attention(world: World) -> Iterator[tuple[RequestId, GroupId, int]]:
    """Every scheduled token reads the tokens that its group looks back to; after everything is written."""
    for name, running, number in _scheduled(world):
        group = world.group(number)
        if group.kind is Kind.STATE:
            continue
        # A ring has overwritten what the first tokens of a chunk read; the last one sees what is left.
        first = running.scheduled - 1 if group.kind is Kind.RING else running.computed
        for position in range(group.first_needed(first), running.scheduled):
            if not _reads_right(world, name, running, number, position):
                yield name, number, position


def _reads_right(world: World, name: RequestId, running: Running, number: GroupId, position: int) -> bool:
    group, table = world.group(number), running.tables[number]
    entry = group.entry(position)
    block = table[entry] if entry < len(table) else NULL
    return block != NULL and world.at(block, group.slot(position)) == expected(number, world.plans[name], position)
