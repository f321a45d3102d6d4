"""What faulty schedulers, connectors and workers do, made of the steps that right ones are made of."""

from collections.abc import Iterable
from dataclasses import replace

from blockpool.spec import (
    NULL,
    Admit,
    BlockId,
    CacheFullBlocks,
    CachePartialBlock,
    Drop,
    EvictBlocks,
    Group,
    GroupId,
    Key,
    Move,
    Plan,
    Prefix,
    Running,
    RunPass,
    Transfer,
    Watcher,
    World,
    first_state,
    first_world,
)
from blockpool.spec.requests.hits import hit_table, longest_hit
from blockpool.spec.requests.layout import Slot, Table
from blockpool.spec.requests.pool_calls import call, give_back, lend, touch, with_running, with_table
from blockpool.spec.requests.state import expected

Hit = tuple[int, tuple[Table, ...]]

OFTEN = dict.fromkeys(("preempt", "abort", "defer", "transfer", "failure", "reset"), 9)
FIRST = GroupId(0)


def world_of(blocks: int, layout: tuple[Group, ...], unit: int = 1, **plans: Plan) -> World:
    """A new world with so many lendable blocks, in which everything may happen often enough."""
    return first_world(first_state(blocks + 1, unit=unit, reporting=False), layout, plans, OFTEN)


def text(*tokens: int, prompt: int) -> Plan:
    return Plan(tokens, prompt)


def lived(request: str, upto: int) -> tuple[Move, ...]:
    """A request that was computed in one chunk, and is gone; what it published stays."""
    return Admit(request, upto), RunPass(), Drop(request, again=False)


# --- references ---


def vanish(world: World, request: str) -> World:
    """The request is gone from the scheduler's books; nothing is given back."""
    return replace(world, running={name: one for name, one in world.running.items() if name != request})


def pin(world: World, blocks: Iterable[BlockId]) -> World:
    """Somebody outside pins each of these blocks until his transfer ends."""
    for block in blocks:
        number = world.used.get("transfer", 0)
        transfer = Transfer(block, world.memory.get(block, ()))
        world = replace(
            touch(world, (block,)),
            transfers={**world.transfers, Watcher(number): transfer},
            used={**world.used, "transfer": number + 1},
        )
    return world


def pin_hit(world: World, request: str) -> World:
    """A lookup pins what it finds, so that the later load finds it still."""
    return pin(world, longest_hit(world, request)[1][0])


def forget_transfer(world: World, number: int) -> World:
    """Nobody remembers the transfer; its pin stays."""
    return replace(world, transfers={name: one for name, one in world.transfers.items() if name != number})


# --- lookups and admissions ---


def answered(world: World, request: str, hit: Hit) -> World:
    """The lookup answers this, and the admission will believe it."""
    return replace(world, looked_up={**world.looked_up, request: hit})


def hit_of(world: World, request: str, group: GroupId) -> tuple[int, Table]:
    """The longest hit of one group alone."""
    plan = world.plans[request]
    for tokens in range(plan.prompt - 1, 0, -1):
        table = hit_table(world, group, plan, tokens)
        if table is not None:
            return tokens, table
    return 0, ()


def hit_of_the_deepest_group(world: World, request: str) -> Hit:
    """The hit length is the maximum over the groups; each group brings the table it has."""
    hits = [hit_of(world, request, GroupId(group)) for group in world.groups]
    return max(tokens for tokens, _ in hits), tuple(table for _, table in hits)


def hit_that_collapses(world: World, request: str) -> Hit:
    """The groups are asked at the longest hit of the first one; if any has nothing there, all have nothing."""
    tokens, _ = hit_of(world, request, FIRST)
    tables = [hit_table(world, GroupId(group), world.plans[request], tokens) for group in world.groups]
    found = [table for table in tables if table is not None]
    return (tokens, tuple(found)) if len(found) == len(tables) else (0, tuple(() for _ in tables))


def admit_counting(world: World, request: str, upto: int, counted: int) -> World:
    """Admit because so many blocks are counted as needed, and so many are free."""
    assert counted <= len(world.pool.queue)
    return Admit(request, upto).effect(world)


def start(world: World, request: str, table: Table, computed: int, scheduled: int) -> World:
    """The request runs with this table, in a model with one group."""
    cached = computed // world.group(FIRST).block_size
    world = replace(world, waiting=world.waiting - {request})
    return with_running(world, request, Running((table,), computed, scheduled, (cached,)))


def admit_masked(world: World, request: str, upto: int, mask: tuple[bool, ...]) -> World:
    """Admit a request, in a model with one group and no hits; only some of its full blocks are worth caching."""
    size, prefix = world.group(FIRST).block_size, world.plans[request].prefix(upto)
    world, table = lend(world, upto // size)
    world = start(world, request, table, 0, upto)
    world, _ = call(world, CacheFullBlocks(prefix, table, 0, len(table), size, FIRST, mask))
    fresh = {
        (Key(prefix.first((entry + 1) * size), FIRST), table[entry], request) for entry, kept in enumerate(mask) if kept
    }
    world = replace(world, fresh=world.fresh | fresh)
    return with_running(world, request, replace(world.running[request], cached=(len(table),)))


def publish_as(world: World, request: str, entry: int, prefix: Prefix) -> World:
    """Publish a block of the request under this prefix, to be written in this pass."""
    block, size = world.running[request].tables[FIRST][entry], world.group(FIRST).block_size
    world, step = call(world, CachePartialBlock(prefix, block, len(prefix), FIRST, size))
    assert not step.refused
    return replace(world, fresh=world.fresh | {(Key(prefix, FIRST), block, request)})


def without_copy(world: World, request: str, group: GroupId) -> World:
    """Undo the copy that the admission made of the last block of its hit in this group: the source stays in use."""
    table = world.running[request].tables[group]
    ((source, target),) = [copy for copy in world.copies if copy[1] == table[-1]]
    kept = tuple(copy for copy in world.copies if copy != (source, target))
    retained = tuple(block for copy in kept for block in copy)
    world = give_back(replace(world, copies=kept, retained=retained), (target, target))
    return with_running(world, request, with_table(world.running[request], group, (*table[:-1], source)))


# --- memory ---


def write(world: World, block: BlockId, slots: tuple[Slot, ...]) -> World:
    """Memory holds this there now."""
    return replace(world, memory={**world.memory, block: slots})


def write_token(world: World, block: BlockId, request: str, position: int) -> World:
    """The content of this token of the request is written into the block."""
    group = world.group(FIRST)
    slots = list(world.memory.get(block, ())) + [None] * group.slots
    slots[group.slot(position)] = expected(FIRST, world.plans[request], position)
    return write(world, block, tuple(slots[: group.slots]))


def begin_load(world: World, request: str, upto: int) -> World:
    """Blocks for content that comes from outside; nothing is there yet."""
    tables = []
    for group in world.layout:
        world, table = lend(world, group.blocks_for(upto))
        tables.append(table)
    world = replace(world, waiting=world.waiting - {request})
    return with_running(world, request, Running(tuple(tables), 0, 0, tuple(0 for _ in tables)))


def end_load(world: World, request: str, upto: int) -> World:
    """The content has come."""
    running, plan = world.running[request], world.plans[request]
    memory = dict(world.memory)
    for number, table in enumerate(running.tables):
        group = world.group(GroupId(number))
        for position in range(upto):
            slots = list(memory.get(table[group.entry(position)], ())) + [None] * group.slots
            slots[group.slot(position)] = expected(GroupId(number), plan, position)
            memory[table[group.entry(position)]] = tuple(slots[: group.slots])
    return with_running(replace(world, memory=memory), request, replace(running, computed=upto, scheduled=upto))


def load(world: World, request: str, upto: int) -> World:
    """The request starts with content from outside."""
    return end_load(begin_load(world, request, upto), request, upto)


def load_and_publish(world: World, request: str, upto: int) -> World:
    """The request starts with content from outside, which others may hit."""
    world = load(world, request, upto)
    prefix, cached = world.plans[request].prefix(upto), []
    for number, table in enumerate(world.running[request].tables):
        size = world.group(GroupId(number)).block_size
        world, _ = call(world, CacheFullBlocks(prefix, table, 0, upto // size, size, GroupId(number)))
        cached.append(upto // size)
    return with_running(world, request, replace(world.running[request], cached=tuple(cached)))


def store(world: World, request: str) -> World:
    """Another tier takes a copy of the first block of the request as it is now, and offers it under its key."""
    source = world.running[request].tables[FIRST][0]
    size = world.group(FIRST).block_size
    content = world.memory.get(source, ())
    world, copy = lend(world, 1)
    world = write(world, copy[0], content)
    world, _ = call(world, CacheFullBlocks(world.plans[request].prefix(size), copy, 0, 1, size, FIRST))
    return give_back(world, copy)


def reject(world: World, blocks: Iterable[BlockId], evicted: Iterable[BlockId]) -> World:
    """The content of these blocks turns out to be wrong, and the keys of the latter are forgotten."""
    gone = set(blocks)
    world, _ = call(world, EvictBlocks(frozenset(evicted) - {NULL}))
    return replace(world, memory={block: slots for block, slots in world.memory.items() if block not in gone})


def rewind(world: World, invalid: frozenset[BlockId]) -> World:
    """Every request that has one of these blocks computes again from there on, in a model with one group."""
    size = world.group(FIRST).block_size
    for name, running in world.running.items():
        hurt = [entry for entry, block in enumerate(running.tables[FIRST]) if block in invalid]
        if hurt:
            world = with_running(world, name, replace(running, computed=hurt[0] * size, scheduled=hurt[0] * size))
    return world


def evict(world: World, prefix: Prefix, group: GroupId) -> World:
    """The cache loses this key, as by its own policy."""
    return call(world, EvictBlocks(world.pool.index[Key(prefix, group)]))[0]
