"""How blocks come into a block table and leave it, and how many of them that takes."""

from blockpool.spec.pool.terms import NULL, BlockId, GroupId
from blockpool.spec.requests.layout import Kind, Table
from blockpool.spec.requests.pool_calls import (
    copy_later,
    give_back,
    in_release_order,
    lend,
    touch,
    with_running,
    with_table,
)
from blockpool.spec.requests.state import RequestId, World


def new_entries(world: World, group: GroupId, table: Table, upto: int) -> int:
    """How many new blocks the table needs to hold so many tokens."""
    kind = world.group(group)
    missing = kind.blocks_for(upto) - len(table)
    return min(1, missing) if kind.kind is Kind.STATE else max(0, missing)


def demand(world: World, tables: tuple[Table, ...], tokens: int, upto: int) -> int:
    """How many free blocks an admission takes: new ones, hits that are free now, and the target of each copy."""
    total = 0
    for number, table in enumerate(tables):
        kind = world.group(GroupId(number))
        total += new_entries(world, GroupId(number), table, upto)
        if world.rules.count_what_hits_take:
            total += tokens % kind.block_size != 0
            total += sum(block != NULL and not world.pool.is_held(block) for block in set(table))
    return total


def stays_in_block(size: int, start: int, upto: int) -> bool:
    """Does the chunk end in the block in which it starts, so that a state there is updated in place?"""
    return start % size != 0 and (upto - 1) // size == start // size


def bad_chunk(world: World, start: int, upto: int) -> bool:
    """Would a state be passed in the middle of a block, so that its end is never stored?

    A chunk that starts inside a block of a state group stops at the end of that block.
    """
    return world.rules.states_end_at_boundaries and any(
        group.kind is Kind.STATE
        and start % group.block_size != 0
        and upto > -(-start // group.block_size) * group.block_size
        for group in world.layout
    )


def own_the_tail(world: World, request: RequestId, group: GroupId, tokens: int) -> World:
    """Copy on write at admission: the last block of a hit that ends inside it is exchanged for a copy of its own."""
    size = world.group(group).block_size
    table = world.running[request].tables[group]
    if tokens % size == 0 or not table:
        return world
    world, copy = lend(world, 1)
    if not copy:
        return world
    if table[-1] != NULL:  # null if the next token reads nothing of it
        world = copy_later(touch(world, copy), table[-1], copy[0])  # the hit's reference is now the copy's
    return with_running(world, request, with_table(world.running[request], group, (*table[:-1], copy[0])))


def extend(world: World, request: RequestId, group: GroupId, start: int) -> World:
    """Allocate what the table needs for the scheduled tokens."""
    running, kind = world.running[request], world.group(group)
    table = running.tables[group]
    missing = kind.blocks_for(running.scheduled) - len(table)
    if missing <= 0:
        return world
    skipped: tuple[BlockId, ...] = (NULL,) * (missing - 1) if kind.kind is Kind.STATE else ()
    world, blocks = lend(world, missing - len(skipped))
    return with_running(world, request, with_table(running, group, (*table, *skipped, *blocks)))


def leave_window(world: World, request: RequestId, group: GroupId, upto: int) -> World:
    """Give back the blocks that no token still to be computed will read."""
    running, kind = world.running[request], world.group(group)
    position = running.computed if world.rules.release_by_processed else upto
    needed = kind.first_needed(position)
    table = running.tables[group]
    left = [entry for entry, block in enumerate(table) if block != NULL and (entry + 1) * kind.block_size <= needed]
    world = give_back(world, in_release_order(world, tuple(table[entry] for entry in left)))
    kept = tuple(NULL if entry in left else block for entry, block in enumerate(table))
    return with_running(world, request, with_table(running, group, kept))
