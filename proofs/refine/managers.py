"""The reference managers against the machine with requests: every move, from a coordinator lifted into the state.

What the spec forbids a scheduler for want of blocks, or because others still read, the coordinator must refuse, and
nothing may have changed.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from blockpool.impl.block import KVCacheBlock
from blockpool.impl.managers import Coordinator, GroupSpec, Kind, StillReadError
from blockpool.impl.managers.coordinator import Progress
from blockpool.impl.request import Request
from blockpool.proofs.refine.abstraction import abstract
from blockpool.proofs.refine.correspondence import Bell, BrokenPoolError, Names
from blockpool.proofs.refine.lift import lift
from blockpool.proofs.refine.lockstep import MismatchError
from blockpool.spec import (
    Admit,
    BeginTransfer,
    BlockId,
    Drop,
    EndTransfer,
    Grow,
    Invalidate,
    Move,
    Prefix,
    Reset,
    Running,
    RunPass,
    Unpin,
    Watcher,
    World,
    WorldStep,
)

REFUSED = {"not enough free blocks", "chunk ends between states"}
"""Obstacles that a coordinator notices by itself, and answers False."""


class ManagedSubject:
    """A coordinator of `impl` in a state of the spec, and the names to speak of it."""

    def __init__(self, world: World, names: Names) -> None:
        self.names = names
        self._rung: list[tuple[BlockId, Watcher]] = []
        self._bells: dict[Watcher, Bell] = {}
        self.requests = {name: self._request(name, plan.tokens) for name, plan in world.plans.items()}
        pool = lift(world.pool, names, self.bell)
        specs = [GroupSpec(Kind(group.kind), group.block_size, group.window) for group in world.layout]
        self.coordinator = Coordinator(pool, specs)
        self.pool = pool
        self._lift_requests(world)
        self._lift_pass(world)

    def bell(self, watcher: Watcher) -> Bell:
        """The callback of a watcher."""
        if watcher not in self._bells:
            self._bells[watcher] = Bell(watcher, self._rung, lambda: None)
        return self._bells[watcher]

    def _request(self, name: str, tokens: tuple[int, ...]) -> Request:
        self.names.request(Prefix(tokens))  # so that its digests are known
        return Request(name, tokens, self.names.unit)

    def _lift_requests(self, world: World) -> None:
        for name, running in world.running.items():
            progress = Progress(self.requests[name], world.plans[name].prompt, running.computed, running.scheduled)
            self.coordinator._running[name] = progress
            for manager, table, cached in zip(self.coordinator.managers, running.tables, running.cached, strict=True):
                manager._tables[name] = [self.pool.blocks[block] for block in table]
                manager._num_published[name] = cached

    def _lift_pass(self, world: World) -> None:
        current = self.coordinator._pass
        for key, block, name in sorted(world.fresh):
            current.note_published(name, (self.names.digest(key.prefix), key.group, self.pool.blocks[block]))
        for source, target in world.copies:
            current.add_copy(self.pool.blocks[source], self.pool.blocks[target])
        current.defer([self.pool.blocks[block] for block in world.deferred])
        pinned = [self.pool.blocks[one.block] for one in world.transfers.values() if one.pinned]
        self.coordinator._pins.update(pinned)

    def take(self, world: World, move: Move) -> Any:
        """Make the move; the answer of the coordinator."""
        coordinator = self.coordinator
        match move:
            case Admit(name, upto):
                return coordinator.admit(self.requests[name], world.plans[name].prompt, upto)
            case Grow(name, upto):
                return coordinator.grow(self.requests[name], upto)
            case Drop(name, again, deferred):
                finished = world.running[name].computed == len(world.plans[name].tokens)
                end = coordinator.preempt if again else coordinator.finish if finished else coordinator.abort
                return end(self.requests[name], deferred)
            case RunPass():
                return coordinator.commit()
            case BeginTransfer(name, group, entry):
                return coordinator.pin(self.requests[name], group, entry)
            case Unpin(watcher):
                return coordinator.unpin(self._read_by(world, watcher), self.bell(watcher))
            case EndTransfer(watcher):
                if world.transfers[watcher].pinned:
                    return coordinator.unpin_now(self._read_by(world, watcher))
                return self.pool.cancel_watch(self._read_by(world, watcher), self.bell(watcher))
            case Invalidate(name):
                return coordinator.invalidate(self.requests[name])
            case Reset():
                return coordinator.reset()
            case _:
                raise MismatchError(f"there is no call for {move}")

    def _read_by(self, world: World, watcher: Watcher) -> KVCacheBlock:
        return self.pool.blocks[world.transfers[watcher].block]

    def check(self, world: World) -> None:
        """Compare with a state of the spec. Raises MismatchError or BrokenPoolError."""
        coordinator = self.coordinator
        _same("pool", world.pool, abstract(self.pool, self.names))
        _same("running", {name: replace(one, dispatched=False) for name, one in world.running.items()}, self._running())
        for _ in range(2):  # the answer is the caller's: what he does to it changes nothing
            copies = coordinator.copies_to_run()
            _same("copies", list(world.copies), [(a.block_id, b.block_id) for a, b in copies])
            copies.clear()
        _same("deferred", list(world.deferred), [block.block_id for block in coordinator._pass._deferred])
        fresh = {
            (self.names.key(digest, group), BlockId(block.block_id), name)
            for name, marks in coordinator._pass._published.items()
            for digest, group, block in marks
        }
        _same("fresh", set(world.fresh), fresh)
        pins = Counter(block.block_id for block in coordinator._pins.elements())
        _same("pins", Counter(one.block for one in world.transfers.values() if one.pinned), pins)

    def _running(self) -> dict[str, Running]:
        coordinator = self.coordinator
        return {
            name: Running(
                tables=tuple(
                    tuple(BlockId(block.block_id) for block in table)
                    for table in coordinator.tables(self.requests[name])
                ),
                computed=progress.computed,
                scheduled=progress.scheduled,
                cached=tuple(manager._num_published[name] for manager in coordinator.managers),
            )
            for name, progress in coordinator._running.items()
        }


class ManagerFollower:
    """Makes every move of a search with the reference managers."""

    def __init__(self, unit: int) -> None:
        self.unit = unit
        self._names: Names | None = None

    def follow(self, state: World, action: Move, allowed: Sequence[WorldStep]) -> str | None:
        """What differs, or None."""
        world, move = state, action
        obstacles = move.guard(world)
        refused = obstacles and (obstacles <= REFUSED or obstacles == {"others read what it is about to write"})
        if obstacles and not refused:
            return None  # nobody would try it
        if self._names is None:
            self._names = Names(self.unit)
        subject = ManagedSubject(world, self._names)
        try:
            if refused:
                self._refuse(subject, world, move, bool(obstacles <= REFUSED))
            else:
                if isinstance(move, RunPass | BeginTransfer):
                    subject.check(world)  # the lift itself, now and then
                if subject.take(world, move) is False and not isinstance(move, EndTransfer):
                    raise MismatchError("it answered False; the spec allows the move")
                subject.check(allowed[0].after)
        except (MismatchError, BrokenPoolError) as error:
            return str(error)
        except Exception as error:  # noqa: BLE001  whatever a manager raises here is a finding
            return f"it raised {type(error).__name__}: {error}"
        return None

    def _refuse(self, subject: ManagedSubject, world: World, move: Move, answers_false: bool) -> None:
        try:
            answer = subject.take(world, move)
        except StillReadError:
            answer = "still read"
        if answer != (False if answers_false else "still read"):
            raise MismatchError(f"it answered {answer}; the spec forbids the move")
        subject.check(world)


def _same(what: str, expected: Any, seen: Any) -> None:
    if expected != seen:
        raise MismatchError(f"{what}: the spec says {expected}, the managers have {seen}")
