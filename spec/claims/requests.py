"""What is true of the pool together with requests and memory: what a hit really promises.

`every_reference_is_accounted_for` is preserved by each move on its own, given the pool's invariants. `hits_are_sound`
is so only together with it and with the rules that its docstring names; what requests and transfers read follows from
these two. The search shows all of them for the scopes searched; it does not prove them for every size.
"""

from collections import Counter

from blockpool.spec.claims.claim import WorldInvariant, WorldStepProperty, collect
from blockpool.spec.claims.invariants import INVARIANTS
from blockpool.spec.pool.prefix import Key
from blockpool.spec.pool.terms import NULL, BlockId
from blockpool.spec.requests.action import WorldStep
from blockpool.spec.requests.execution import after_copies
from blockpool.spec.requests.layout import Kind
from blockpool.spec.requests.scheduler import Drop
from blockpool.spec.requests.state import World, holds


def hits_are_sound(world: World) -> bool | None:
    """Every block that a lookup may answer holds exactly the prefix its key names, or is about to be written by a
    request of this pass.

    Anything else is silent wrong output: the model continues from somebody else's text. Needs P5, P7 and P8."""
    if not world.pool.index:
        return None
    from_now = _with_copies(world)
    to_come = {
        (key, block) for key, block, name in world.fresh if name in world.running and world.running[name].in_pass
    }
    return all(
        (key, block) in to_come or holds(from_now, block, key)
        for key, blocks in world.pool.index.items()
        for block in blocks
    )


def requests_read_only_their_own_prefix(world: World) -> bool | None:
    """Whatever a request read in a pass was written by itself for its own prefix, or by an equal prefix it hit.

    This is the promise to the user. Needs P1, P2, P5, P6, P7, P8, and that windows are left by processed tokens."""
    return not world.misread if any(running.dispatched for running in world.running.values()) else None


def transfers_read_the_old_content(world: World) -> bool | None:
    """A block that somebody outside reads keeps what it held when the reading began, until the reader is told to stop.

    A connector would send half of another request to the next machine. Needs that watched blocks are not written."""
    if not world.transfers:
        return None
    return all(
        slot is None or world.at(transfer.block, place) == slot
        for transfer in world.transfers.values()
        for place, slot in enumerate(transfer.content)
    )


def every_reference_is_accounted_for(world: World) -> bool:
    """The references of a block are its places in tables, pending copies, deferred releases and pins, no more, no less.

    More is a leak; less, and the pool hands out a block that somebody uses. It cannot be read off the pool alone."""
    owed: Counter[BlockId] = Counter(
        block for running in world.running.values() for table in running.tables for block in table if block != NULL
    )
    owed.update(world.retained)
    owed.update(world.deferred)
    owed.update(transfer.block for transfer in world.transfers.values() if transfer.pinned)
    return owed == Counter(world.pool.refs)


def when_all_is_quiet_every_block_is_free(world: World) -> bool | None:
    """Without requests, copies, deferred releases and pins, every block is free.

    A server that drains must get all its memory back, and can reset its cache."""
    pinned = any(transfer.pinned for transfer in world.transfers.values())
    if world.running or world.copies or world.deferred or pinned:
        return None
    return len(world.pool.queue) == len(world.pool.lendable)


def a_checked_call_is_not_refused(world: World) -> bool | None:
    """After a positive admission check the pool refuses nothing.

    Half an admitted request cannot be taken back cleanly; most engines crash there. Needs P3."""
    return not world.refused if world.running else None


def what_can_be_hit_is_closed_under_prefixes(world: World) -> bool | None:
    """In a full attention group, the block before a findable one is findable too.

    A block whose beginning is gone can never be hit again and is kept for nothing. Needs P2 and P4. Lost once a block
    is evicted by name, or outlives its request in a transfer, a deferred release or a copy."""
    keys = [key for key in world.pool.index if world.group(key.group).kind is Kind.FULL]
    if not keys or any(world.used.get(what) for what in ("failure", "transfer", "defer", "orphaned copy")):
        return None
    for key in keys:
        size = world.group(key.group).block_size
        before = (key.tokens - 1) // size * size
        if before and Key(key.prefix.first(before), key.group) not in world.pool.index:
            return False
    return True


def the_pools_own_invariants_hold(world: World) -> bool:
    """Whatever the environment does, the pool's maps agree.

    A scheduler's mistake must not corrupt the pool; it has other victims enough."""
    return all(claim.judge(world.pool) is not False for claim in INVARIANTS)


def tables_grow_only_at_the_end(step: WorldStep) -> bool | None:
    """The table of a running request keeps its entries and grows at the end; an entry becomes null when its block is no
    longer read, and a state moves to a copy when somebody else reads it.

    Workers hold copies of the tables and are sent only what is appended."""
    seen = False
    for name, before in step.before.running.items():
        after = step.after.running.get(name)
        if after is None or not before.dispatched or isinstance(step.action, Drop):
            continue
        seen = True
        for number, old in enumerate(before.tables):
            kind = step.before.layout[number].kind
            pairs = zip(old, after.tables[number], strict=False)
            changed = [new for was, new in pairs if was != new]
            if len(after.tables[number]) < len(old) or (kind is not Kind.STATE and any(changed)):
                return False
    return True if seen else None


WORLD_INVARIANTS = collect(
    WorldInvariant,
    hits_are_sound,
    requests_read_only_their_own_prefix,
    transfers_read_the_old_content,
    every_reference_is_accounted_for,
    when_all_is_quiet_every_block_is_free,
    a_checked_call_is_not_refused,
    what_can_be_hit_is_closed_under_prefixes,
    the_pools_own_invariants_hold,
)

WORLD_STEP_PROPERTIES = collect(WorldStepProperty, tables_grow_only_at_the_end)


def _with_copies(world: World) -> World:
    return World(world.layout, world.plans, world.limits, world.rules, world.pool, memory=after_copies(world))
