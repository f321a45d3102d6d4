"""The abstraction: from a pool of `impl` to the state of the spec that it stands for.

Reading is also judging: links that disagree, a counter that drifted or a digest that nobody published describe no state
of the spec at all, and are reported as a broken pool. This is one of two places that look inside `impl`; the other is
`lift.py`.
"""

from collections.abc import Callable, Iterable, Mapping

from blockpool.impl.events import BlockRemoved, BlockStored, KVCacheEvent
from blockpool.impl.pool import BlockPool
from blockpool.proofs.core.text import show
from blockpool.proofs.refine.correspondence import Bell, BrokenPoolError, Names
from blockpool.spec import BlockId, Cleared, Event, Key, Pool, Primary, Removed, Stored, Watcher


def abstract(pool: BlockPool, names: Names) -> Pool:
    """The spec state of this pool. Raises BrokenPoolError if there is none."""
    _check_blocks(pool)
    queue = queued_blocks(pool)
    return Pool(
        size=len(pool.blocks),
        unit=pool.hash_block_size,
        caching=pool.enable_caching,
        reporting=pool.enable_kv_cache_events,
        refs={BlockId(block.block_id): block.ref_cnt for block in pool.blocks[1:]},
        queue=queue,
        primary=_primary(pool, names),
        aliases={
            BlockId(block.block_id): frozenset(names.key(*key) for key in keys) for block, keys in pool._aliases.items()
        },
        index=_index(pool, names),
        watchers=_watchers(pool),
        outbox=tuple(_events(pool.kv_event_queue, names)),
        telling=pool._telling,
    )


def _check_blocks(pool: BlockPool) -> None:
    """What a state of the spec cannot even say wrong."""
    for number, block in enumerate(pool.blocks):
        if block.block_id != number or block.pool is not pool:
            raise BrokenPoolError(f"block {number} has another number or owner")
    for block, aliases in pool._aliases.items():
        if len(set(aliases)) != len(aliases):
            raise BrokenPoolError(f"block {block.block_id} has an alias twice")
    if pool.null_block.ref_cnt != 0 or pool.blocks[0] is not pool.null_block:
        raise BrokenPoolError("the null block is counted")


def queued_blocks(pool: BlockPool) -> tuple[BlockId, ...]:
    """The free queue, front first, after checking every link of it in both directions."""
    queue = pool.free_block_queue
    found: list[BlockId] = []
    before, block = queue.fake_free_list_head, queue.fake_free_list_head.next_free_block
    while block is not queue.fake_free_list_tail:
        if block is None or block.prev_free_block is not before or len(found) > len(pool.blocks):
            raise BrokenPoolError(f"the links of the free queue disagree after {found}")
        found.append(BlockId(block.block_id))
        before, block = block, block.next_free_block
    if block.prev_free_block is not before:
        raise BrokenPoolError(f"the tail of the free queue does not point back to {before.block_id}")
    if queue.num_free_blocks != len(found):
        raise BrokenPoolError(f"the counter says {queue.num_free_blocks} free blocks, the queue holds {len(found)}")
    queued = set(found)
    for block in pool.blocks:
        if block.block_id not in queued and not (block.prev_free_block is block.next_free_block is None):
            raise BrokenPoolError(f"block {block.block_id} left the free queue with a link set")
    return tuple(found)


def _primary(pool: BlockPool, names: Names) -> Mapping[BlockId, Primary]:
    return {
        BlockId(block.block_id): Primary(names.key(block._digest, block._group.group_id), block._num_tokens)
        for block in pool.blocks
        if block._digest is not None
    }


def _index(pool: BlockPool, names: Names) -> Mapping[Key, frozenset[BlockId]]:
    index = pool.cached_block_hash_to_block
    found = {}
    copies = 0
    for group, entries in index._groups.items():
        for digest, first in entries.items():
            later = index._later.get((digest, group), ())
            copies += bool(later)
            carriers = set()
            for block in (first, *later):
                if pool.blocks[block.block_id] is not block:
                    raise BrokenPoolError("the index answers a block of another pool")
                carriers.add(BlockId(block.block_id))
            if len(carriers) != 1 + len(later):
                raise BrokenPoolError("the index has a block twice under one key")
            found[names.key(digest, group)] = frozenset(carriers)
    if copies != len(index._later):
        raise BrokenPoolError("the index has copies of a block under a key that it does not answer")
    return found


def _watchers(pool: BlockPool) -> Mapping[BlockId, frozenset[Watcher]]:
    found = {}
    for block, callbacks in pool._watchers.items():
        bells = [callback.watcher for callback in callbacks if isinstance(callback, Bell)]
        if len(bells) != len(set(bells)) or len(bells) != len(callbacks):
            raise BrokenPoolError(f"block {block.block_id} has a watcher twice, or a foreign one")
        found[BlockId(block.block_id)] = frozenset(bells)
    return found


def _events(events: Iterable[KVCacheEvent], names: Names) -> Iterable[Event]:
    for event in events:
        if isinstance(event, BlockStored):
            group = event.group_idx or 0
            parent = event.parent_block_hash
            yield Stored(
                keys=tuple(names.key(digest, group) for digest in event.block_hashes),
                parent=None if parent is None else names.key(parent, group),
                tokens=tuple(event.token_ids),
                block_size=event.block_size,
            )
        elif isinstance(event, BlockRemoved):
            yield from (Removed(names.key(digest, event.group_idx or 0)) for digest in event.block_hashes)
        else:
            yield Cleared()


def events_of(events: Iterable[KVCacheEvent], names: Names) -> tuple[Event, ...]:
    """Events of `impl` as events of the spec."""
    return tuple(_events(events, names))


def differences(expected: Pool, seen: Pool, settle: Callable[[Iterable[Event]], tuple[Event, ...]]) -> list[str]:
    """Which state variables differ, and how; the outbox up to the order that is not promised."""
    if expected == seen:
        return []
    found = []
    for name in ("size", "unit", "caching", "reporting", "refs", "queue", "primary", "aliases", "index", "watchers"):
        if getattr(expected, name) != getattr(seen, name):
            found.append(
                f"{name}: the spec says {show(getattr(expected, name))}, the pool has {show(getattr(seen, name))}"
            )
    if expected.outbox != seen.outbox and settle(expected.outbox) != settle(seen.outbox):
        found.append(f"outbox: the spec says {show(expected.outbox)}, the pool has {show(seen.outbox)}")
    if expected.telling != seen.telling:
        found.append(f"telling: the spec says {expected.telling}, the pool {seen.telling}")
    return found
