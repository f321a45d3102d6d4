"""How a scheduler uses the pool: each step on the pool's side, with what it means for memory, transfers and counts.

These are not actions of their own; the actions in `scheduler.py` are made of them. A pool that refuses where the
scheduler had checked leaves a mark in `refused`.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from blockpool.spec.pool.action import Action, Step, steps
from blockpool.spec.pool.allocation import FreeBlocks, GetNewBlocks, Touch
from blockpool.spec.pool.eviction import EvictBlocks, MoveBlockHashes
from blockpool.spec.pool.prefix import Key
from blockpool.spec.pool.publishing import CacheFullBlocks, CachePartialBlock
from blockpool.spec.pool.terms import NULL, BlockId, GroupId
from blockpool.spec.requests.layout import Kind, Table
from blockpool.spec.requests.state import RequestId, Running, World


def call(world: World, action: Action[Any]) -> tuple[World, Step]:
    """Make one call of the pool. Whoever is told that a block is reused stops reading it."""
    step = next(iter(steps(world.pool, action)))
    if step.refused:
        return replace(world, refused=world.refused | {f"{action.name}: {reason}" for reason in step.refused}), step
    stopped = {watcher for _, watcher in step.told}
    transfers = {name: transfer for name, transfer in world.transfers.items() if name not in stopped}
    return replace(world, pool=step.after, transfers=transfers), step


def lend(world: World, count: int) -> tuple[World, Table]:
    """New blocks. What memory holds there is nobody's any more."""
    if count == 0:
        return world, ()
    world, step = call(world, GetNewBlocks(count))
    if step.refused:
        return world, ()
    blocks: Table = step.answer.blocks
    memory = {block: slots for block, slots in world.memory.items() if block not in blocks}
    return replace(world, memory=memory), blocks


def touch(world: World, blocks: Iterable[BlockId]) -> World:
    """Take a reference for each block named."""
    named = tuple(block for block in blocks if block != NULL)
    return call(world, Touch(named))[0] if named else world


def give_back(world: World, blocks: Iterable[BlockId]) -> World:
    """Give a reference back for each block named, in this order."""
    named = tuple(block for block in blocks if block != NULL)
    return call(world, FreeBlocks(named))[0] if named else world


def in_release_order(world: World, table: Table) -> Table:
    """The end of a table first, so that the beginning of a prefix survives longest."""
    return tuple(reversed(table)) if world.rules.tails_first else table


def copy_later(world: World, source: BlockId, target: BlockId) -> World:
    """A copy that runs with the pass. Both ends stay referenced until then: one reference of each is now the copy's."""
    return replace(world, copies=(*world.copies, (source, target)), retained=(*world.retained, source, target))


def publish(world: World, request: RequestId) -> World:
    """Publish what will be full, and the end of the prompt inside a block, when the pass has run.

    Of a window, too, every block that is not null is published. An engine may mask those that no hit can reach, since
    hits of the other groups end elsewhere; that saves keys and promises nothing else.
    """
    if world.refused:
        return world  # the scheduler stands there with half a table; nothing it could publish is right
    running = world.running[request]
    cached = []
    for number, table in enumerate(running.tables):
        group = world.group(GroupId(number))
        full = running.scheduled // group.block_size
        if group.kind is Kind.RING or full <= running.cached[number]:
            cached.append(running.cached[number])
        else:
            world = _publish_full(world, request, GroupId(number), table, running.cached[number], full)
            cached.append(full)
        if group.kind in (Kind.FULL, Kind.STATE):
            world = _publish_end_of_prompt(world, request, GroupId(number), table)
    return with_running(world, request, replace(running, cached=tuple(cached)))


def _publish_full(world: World, request: RequestId, group: GroupId, table: Table, first: int, full: int) -> World:
    size = world.group(group).block_size
    prefix = world.plans[request].prefix(full * size)
    world, step = call(world, CacheFullBlocks(prefix, table, first, full, size, group))
    if step.refused:
        return world
    new = {
        (Key(prefix.first((entry + 1) * size), group), table[entry], request)
        for entry in range(first, full)
        if table[entry] != NULL
    }
    return replace(world, fresh=world.fresh | new)


def _publish_end_of_prompt(world: World, request: RequestId, group: GroupId, table: Table) -> World:
    plan, size = world.plans[request], world.group(group).block_size
    if world.running[request].scheduled != plan.prompt or plan.prompt % size == 0 or plan.prompt % world.pool.unit:
        return world
    block, prefix = table[plan.prompt // size], plan.prefix(plan.prompt)
    if Key(prefix, group) in world.pool.keys_of(block):
        return world
    world, step = call(world, CachePartialBlock(prefix, block, plan.prompt, group, size))
    if step.refused:
        return world
    return replace(world, fresh=world.fresh | {(Key(prefix, group), block, request)})


def make_writable(world: World, request: RequestId, group: GroupId, entry: int) -> World:
    """Copy on write, for a state that the next chunk updates in place.

    If the state is published, its keys move to a private copy. If somebody else reads the block, the request moves
    to a copy instead: the one case in which a running request's table entry changes.
    """
    block = world.running[request].tables[group][entry]
    if block in world.pool.primary:
        world, copy = lend(world, 1)
        if not copy:
            return world
        world, _ = call(world, MoveBlockHashes(block, copy[0]))
        world = copy_later(touch(world, (block,)), block, copy[0])
        others = world.pool.refs[block] - 2  # besides the table and the copy
    else:
        others = world.pool.refs[block] - 1
    watched = block in world.pool.watchers and world.rules.spare_watched_blocks
    if not others and not watched:
        return world
    world, copy = lend(world, 1)
    if not copy:
        return world
    world = copy_later(touch(world, copy), block, copy[0])
    running = world.running[request]
    table = list(running.tables[group])
    table[entry] = copy[0]
    return with_running(world, request, with_table(running, group, tuple(table)))


def withdraw(world: World, request: RequestId) -> World:
    """What a request published in this pass will not be written: nobody may find it."""
    mine = {fresh for fresh in world.fresh if fresh[2] == request}
    blocks = frozenset(block for key, block, _ in mine if block in world.pool.index.get(key, ()))
    if blocks:
        world, _ = call(world, EvictBlocks(blocks))
    return replace(world, fresh=world.fresh - mine)


def with_running(world: World, request: RequestId, running: Running) -> World:
    """The world with this request's new state."""
    return replace(world, running={**world.running, request: running})


def with_table(running: Running, group: GroupId, table: Table) -> Running:
    """The request with a new table in one group."""
    tables = list(running.tables)
    tables[group] = table
    return replace(running, tables=tuple(tables))
