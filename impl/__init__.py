"""A fast KV-cache block pool: a linked list of free blocks, and an index from prefix hashes to blocks.

Reading order: `block`, `free_queue` and `hash_index` are the data; `pool` is the interface and the hot paths;
`references`, `publish` and `watchers` hold their loops and what is not hot; `checks` and `errors` say what is refused
and why; `events` is what the pool reports; `hashing` and `request` make the keys; `contracts` states what must hold
(switched on by BLOCKPOOL_CONTRACTS). `managers` uses the pool for requests, as a scheduler should.
"""

from blockpool.impl.block import KVCacheBlock
from blockpool.impl.errors import (
    AlreadyCached,
    AlreadyQueued,
    BadCount,
    BadRange,
    BadWatcher,
    BlockPoolError,
    CachingDisabled,
    DifferentContent,
    NotEnoughFreeBlocks,
    NotHeld,
    NotQueued,
    NullBlock,
    QueueError,
    ReEntrant,
    Refusal,
    RepeatedBlock,
    UnknownBlock,
    WatcherErrors,
)
from blockpool.impl.events import AllBlocksCleared, BlockRemoved, BlockStored, KVCacheEvent
from blockpool.impl.free_queue import FreeKVCacheBlockQueue
from blockpool.impl.hash_index import HashIndex
from blockpool.impl.hashing import get_block_hash, get_group_id, hash_block_tokens, make_block_hash_with_group_id
from blockpool.impl.pool import BlockPool
from blockpool.impl.request import Adapter, CacheRequest, Item, Request

__all__ = [
    "Adapter",
    "AllBlocksCleared",
    "AlreadyCached",
    "AlreadyQueued",
    "BadCount",
    "BadRange",
    "BadWatcher",
    "BlockPool",
    "BlockPoolError",
    "BlockRemoved",
    "BlockStored",
    "CacheRequest",
    "CachingDisabled",
    "DifferentContent",
    "FreeKVCacheBlockQueue",
    "HashIndex",
    "Item",
    "KVCacheBlock",
    "KVCacheEvent",
    "NotEnoughFreeBlocks",
    "NotHeld",
    "NotQueued",
    "NullBlock",
    "QueueError",
    "ReEntrant",
    "Refusal",
    "RepeatedBlock",
    "Request",
    "UnknownBlock",
    "WatcherErrors",
    "get_block_hash",
    "get_group_id",
    "hash_block_tokens",
    "make_block_hash_with_group_id",
]
