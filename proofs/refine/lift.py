"""The lift: from a state of the spec to a pool of `impl` that is in it.

It sets links, counts and keys directly, without the methods of the pool, so that a broken method cannot hide behind it.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from blockpool.impl.block import KVCacheBlock
from blockpool.impl.events import AllBlocksCleared, BlockRemoved, BlockStored, KVCacheEvent
from blockpool.impl.hash_index import HashIndex
from blockpool.impl.pool import BlockPool
from blockpool.proofs.refine.correspondence import Bell, Names
from blockpool.spec import Event, Key, Pool, Removed, Stored, Watcher


def lift(state: Pool, names: Names, bell: Callable[[Watcher], Bell], pool: BlockPool | None = None) -> BlockPool:
    """A pool in exactly this state; `bell` makes the callback of a watcher.

    A pool of the same size and settings can be given to be put into this state: making one takes longer than that.
    """
    if pool is None:
        pool = BlockPool(state.size, state.caching, state.unit, state.reporting)
    else:
        _empty(pool)
    _link(pool, state)
    _warm_up(pool, names)
    for block, count in state.refs.items():
        pool.blocks[block].ref_cnt = count
    for block, (key, tokens) in state.primary.items():
        keyed = pool.blocks[block]
        keyed._digest, keyed._num_tokens = names.digest(key.prefix), tokens
        keyed._group = pool.cached_block_hash_to_block.group(key.group)
    pool._aliases.update(
        (pool.blocks[block], [_raw(key, names) for key in sorted(keys)]) for block, keys in state.aliases.items()
    )
    for key, blocks in state.index.items():
        for block in sorted(blocks):
            pool.cached_block_hash_to_block.insert(*_raw(key, names), pool.blocks[block])
    pool._watchers.update((pool.blocks[block], list(map(bell, sorted(w)))) for block, w in state.watchers.items())
    pool.kv_event_queue.extend(_event(event, names) for event in state.outbox)
    pool._telling = state.telling
    return pool


def _empty(pool: BlockPool) -> None:
    """Take everything out that `lift` puts in."""
    for block in pool.blocks:
        block._digest = None
    pool.cached_block_hash_to_block = HashIndex()
    pool._aliases, pool._watchers, pool.kv_event_queue = {}, {}, []


def _link(pool: BlockPool, state: Pool) -> None:
    queue = pool.free_block_queue
    for block in pool.blocks:
        block.prev_free_block = block.next_free_block = None
    chain: list[KVCacheBlock] = [queue.fake_free_list_head, *(pool.blocks[block] for block in state.queue)]
    for before, after in pairwise([*chain, queue.fake_free_list_tail]):
        before.next_free_block, after.prev_free_block = after, before
    queue.num_free_blocks = len(state.queue)


def _warm_up(pool: BlockPool, names: Names) -> None:
    """Fill the tables that a pool in use has filled; with empty ones `impl` takes none of its short cuts."""
    for group in (0, 1):
        pool.cached_block_hash_to_block.group(group)
    for units in (1, 2):
        size = units * names.unit
        pool._coverages[size] = list(range(size, 9 * size, size))


def _raw(key: Key, names: Names) -> tuple[bytes, int]:
    return names.digest(key.prefix), key.group


def _event(event: Event, names: Names) -> KVCacheEvent:
    match event:
        case Removed(key):
            return BlockRemoved([names.digest(key.prefix)], "GPU", key.group)
        case Stored(keys, parent, tokens, block_size):
            parent_hash = None if parent is None else names.digest(parent.prefix)
            digests = [names.digest(key.prefix) for key in keys]
            details: dict[str, Any] = {"lora_id": None, "medium": "GPU", "lora_name": None, "group_idx": keys[0].group}
            return BlockStored(digests, parent_hash, list(tokens), block_size, **details)
        case _:
            return AllBlocksCleared("GPU")
