"""What a scheduler does between two passes: admit, grow, drop."""

from dataclasses import dataclass, replace
from typing import ClassVar

from blockpool.spec.pool.terms import NULL, GroupId
from blockpool.spec.requests.action import Move, unless
from blockpool.spec.requests.block_tables import (
    bad_chunk,
    demand,
    extend,
    leave_window,
    new_entries,
    own_the_tail,
    stays_in_block,
)
from blockpool.spec.requests.hits import longest_hit
from blockpool.spec.requests.layout import Kind, Table
from blockpool.spec.requests.pool_calls import (
    give_back,
    in_release_order,
    make_writable,
    publish,
    touch,
    with_running,
    withdraw,
)
from blockpool.spec.requests.state import RequestId, Running, World


@dataclass(frozen=True, slots=True)
class LookUp(Move):
    """Look for the longest hit and remember it for later. With the rule `claim_at_once` nobody does that: a hit is not
    a claim, and what was found may be gone when it is used.
    """

    request: RequestId

    name: ClassVar[str] = "look_up"

    def guard(self, world: World) -> frozenset[str]:
        return unless(
            ("hits are claimed at once", world.rules.claim_at_once),
            ("not waiting", self.request not in world.waiting),
            ("looked up already", self.request in world.looked_up),
        )

    def effect(self, world: World, answer: None = None) -> World:
        return replace(world, looked_up={**world.looked_up, self.request: longest_hit(world, self.request)})


@dataclass(frozen=True, slots=True)
class Admit(Move):
    """Start a waiting request: find the longest hit over all groups, touch it in all groups, allocate the rest of the
    first chunk, publish what will be full. `upto` is where the first chunk ends, in tokens.
    """

    request: RequestId
    upto: int

    name: ClassVar[str] = "admit"

    def guard(self, world: World) -> frozenset[str]:
        if self.request not in world.waiting:
            return frozenset({"not waiting"})
        tokens, tables = self.hit(world)
        return unless(
            ("looked nothing up", not world.rules.claim_at_once and self.request not in world.looked_up),
            ("nothing to compute", self.upto <= tokens),
            ("beyond the prompt", self.upto > world.plans[self.request].prompt),
            ("chunk ends between states", bad_chunk(world, tokens, self.upto)),
            ("not enough free blocks", demand(world, tables, tokens, self.upto) > len(world.pool.queue)),
        )

    def effect(self, world: World, answer: None = None) -> World:
        tokens, tables = self.hit(world)
        rest = {name: hit for name, hit in world.looked_up.items() if name != self.request}
        world = replace(world, waiting=world.waiting - {self.request}, looked_up=rest)
        if world.rules.touch_before_allocating:
            for table in tables:
                world = touch(world, table)
        cached = tuple(tokens // group.block_size for group in world.layout)
        world = with_running(world, self.request, Running(tables, tokens, self.upto, cached))
        for number, table in enumerate(tables):
            if not world.rules.touch_before_allocating:
                world = touch(world, table)
            world = own_the_tail(world, self.request, GroupId(number), tokens)
            world = extend(world, self.request, GroupId(number), tokens)
        return publish(world, self.request)

    def hit(self, world: World) -> tuple[int, tuple[Table, ...]]:
        """What was looked up earlier, or is found now."""
        return world.looked_up.get(self.request) or longest_hit(world, self.request)


@dataclass(frozen=True, slots=True)
class Grow(Move):
    """Schedule more tokens of a running request: give back what left the window, make the state writable, allocate,
    publish what will be full.
    """

    request: RequestId
    upto: int

    name: ClassVar[str] = "grow"

    def guard(self, world: World) -> frozenset[str]:
        if self.request not in world.running:
            return frozenset({"not running"})
        running, plan = world.running[self.request], world.plans[self.request]
        most = plan.prompt if running.computed < plan.prompt else running.computed + 1
        return unless(
            ("in this pass already", running.in_pass),
            ("nothing to compute", self.upto <= running.computed),
            ("beyond what is known", self.upto > min(most, len(plan.tokens))),
            ("chunk ends between states", bad_chunk(world, running.computed, self.upto)),
            ("not enough free blocks", self.demand(world) > len(world.pool.queue)),
        )

    def demand(self, world: World) -> int:
        """New blocks, and one for each copy that a state may need; what the window gives back is not counted."""
        running = world.running[self.request]
        total = 0
        for number, table in enumerate(running.tables):
            group = world.group(GroupId(number))
            if group.kind is Kind.STATE and stays_in_block(group.block_size, running.computed, self.upto):
                block = table[running.computed // group.block_size]
                total += (block in world.pool.primary) + (world.pool.refs[block] > 1 or block in world.pool.watchers)
            else:
                total += new_entries(world, GroupId(number), table, self.upto)
        return total

    def effect(self, world: World, answer: None = None) -> World:
        running = world.running[self.request]
        start = running.computed
        for number in world.groups:
            group = world.group(GroupId(number))
            if group.kind is Kind.WINDOW:
                world = leave_window(world, self.request, GroupId(number), self.upto)
            if group.kind is Kind.STATE and stays_in_block(group.block_size, start, self.upto):
                world = make_writable(world, self.request, GroupId(number), start // group.block_size)
        world = with_running(world, self.request, replace(world.running[self.request], scheduled=self.upto))
        for number in world.groups:
            world = extend(world, self.request, GroupId(number), start)
        return publish(world, self.request)


@dataclass(frozen=True, slots=True)
class Drop(Move):
    """Take all blocks from a request: preempt it (it waits again), or end it because it is finished or aborted.

    `deferred`: its references are given back only after the running pass, for engines that schedule ahead.
    """

    request: RequestId
    again: bool  # preempted: it will be admitted again
    deferred: bool = False

    name: ClassVar[str] = "drop"

    def guard(self, world: World) -> frozenset[str]:
        running = world.running.get(self.request)
        if running is None:
            return frozenset({"not running"})
        what = "preempt" if self.again else "abort"
        finished = running.computed == len(world.plans[self.request].tokens)
        return unless(
            (f"no {what} left", (self.again or not finished) and not world.may(what)),
            ("nothing deferred here", self.deferred and not world.may("defer")),
            ("others read what it is about to write", world.rules.withdraw_when_dropped and self.is_read(world)),
        )

    def is_read(self, world: World) -> bool:
        """Has another request hit what this one published in this pass?"""
        mine = {block for _, block, owner in world.fresh if owner == self.request}
        return any(
            not mine.isdisjoint(table)
            for name, other in world.running.items()
            if name != self.request
            for table in other.tables
        )

    def effect(self, world: World, answer: None = None) -> World:
        running = world.running[self.request]
        finished = running.computed == len(world.plans[self.request].tokens)
        if world.rules.withdraw_when_dropped:
            world = withdraw(world, self.request)
        for table in running.tables:
            order = in_release_order(world, tuple(block for block in table if block != NULL))
            world = replace(world, deferred=world.deferred + order) if self.deferred else give_back(world, order)
        used = dict(world.used)
        if self.again or not finished:
            what = "preempt" if self.again else "abort"
            used[what] = used.get(what, 0) + 1
        if self.deferred:
            used["defer"] = used.get("defer", 0) + 1
        if running.in_pass and world.copies:
            used["orphaned copy"] = 1  # copies are not taken back: they run, and keep their ends until then
        rest = {name: other for name, other in world.running.items() if name != self.request}
        waiting = world.waiting | {self.request} if self.again else world.waiting
        return replace(world, running=rest, waiting=waiting, used=used)
