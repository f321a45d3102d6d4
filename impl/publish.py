"""Publishing blocks under keys.

`cache_unkeyed` is the shortcut for the regular case of cache_full_blocks. All other functions first check their whole
argument and build the events, then change the pool; nothing can fail in the second part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from blockpool.impl import checks
from blockpool.impl.block import KVCacheBlock
from blockpool.impl.checks import (
    Irregular,
    any_foreign,
    caching_is_on,
    digests_are_hashable,
    group_id_is_valid,
    is_count,
    listed,
    not_while_telling,
    own_block,
    unit_size,
)
from blockpool.impl.errors import (
    AlreadyCached,
    BadRange,
    DifferentContent,
    NotHeld,
    NullBlock,
    RepeatedBlock,
    UnknownBlock,
)
from blockpool.impl.events import BlockRemoved, send, stored_event, stored_events
from blockpool.impl.hashing import make_block_hash_with_group_id
from blockpool.impl.request import CacheRequest

if TYPE_CHECKING:
    from blockpool.impl.pool import BlockPool


FULL = "cache_full_blocks"


def drop_keys(pool: BlockPool, block: KVCacheBlock) -> bool:
    """Take all keys of `block` out of the index, with a Removed event each. False if it had none."""
    digest = block._digest
    if digest is None:
        return False
    drop_entry(pool, block, digest, block._group.group_id)
    block._digest = None
    if pool._aliases:
        for alias, group_id in pool._aliases.pop(block, ()):
            drop_entry(pool, block, alias, group_id)
    return True


def drop_entry(pool: BlockPool, block: KVCacheBlock, digest: bytes, group_id: int) -> None:
    pool.cached_block_hash_to_block.remove(digest, group_id, block)
    if pool.enable_kv_cache_events:
        pool.kv_event_queue.append(BlockRemoved([digest], pool.medium, group_id))


def set_primary(pool: BlockPool, block: KVCacheBlock, digest: bytes, group_id: int, num_tokens: int) -> None:
    """Give an unkeyed block its primary key."""
    index = pool.cached_block_hash_to_block
    index.insert(digest, group_id, block)
    block._digest = digest
    block._group = index.group(group_id)
    block._num_tokens = num_tokens


def cache_unkeyed(
    pool: BlockPool, request: CacheRequest, blocks: Sequence[KVCacheBlock], first: int, end: int, size: int, gid: int
) -> bool:
    """Publish blocks[first:end], each held and unkeyed, or null. Else answer False or raise, with nothing changed."""
    index = pool.cached_block_hash_to_block
    group, coverages = index._groups[gid], pool._coverages[size]  # the careful way makes these tables on first use
    if not 0 <= first < end <= len(coverages) or type(gid) is not int:
        return False
    if checks.num_pools > 1 and any_foreign(pool, blocks[first:end]):
        return False
    hashes, units, claim = request.block_hashes, size // pool.hash_block_size, group.claim
    event = stored_event(pool, FULL, request, first, end, size, gid) if pool.enable_kv_cache_events else None
    # Indices are cheaper than slices and a zip, which cost as much as publishing three blocks.
    if units != 1:
        blocks, hashes = blocks[first:end], hashes[(first + 1) * units - 1 : end * units : units]
        coverages, first, end = coverages[first:end], 0, end - first
    try:
        for j in (first,) if end - first == 1 else range(first, end):  # a range costs as much as a block
            block, digest = blocks[j], hashes[j]
            if block._refs and block._digest is None:
                if claim(digest, block) is not block:
                    index.insert_copy(digest, gid, block)
                block._digest = digest
                block._group = group
                block._num_tokens = coverages[j]
            elif block is not pool.null_block or event is not None:
                raise Irregular
    except Exception:  # noqa: BLE001  (irregular, not a block or not a digest; the careful way meets it again)
        withdraw(pool, blocks[first:j], hashes[first:j], gid)
        return False
    if event is not None:
        send(pool, [event])
    return True


def withdraw(pool: BlockPool, blocks: Sequence[KVCacheBlock], digests: Sequence[bytes], group_id: int) -> None:
    """Undo that `cache_unkeyed` gave these blocks these keys, null left out."""
    for block, digest in zip(blocks, digests):  # noqa: B905  (as many as a loop passed)
        if block is not pool.null_block:
            pool.cached_block_hash_to_block.remove(digest, group_id, block)
            block._digest = None


def cache_full(
    pool: BlockPool,
    request: CacheRequest,
    blocks: Sequence[KVCacheBlock],
    first: int,
    end: int,
    block_size: int,
    group_id: int,
    mask: Sequence[bool] | None,
) -> None:
    """Publish blocks[first:end], except null and masked ones, each under the prefix that ends with it."""
    call = FULL
    not_while_telling(pool, call)
    caching_is_on(pool, call)
    units = unit_size(pool, call, block_size)
    group_id_is_valid(call, group_id)
    if not is_count(first) or not is_count(end):
        raise BadRange(call, f"blocks {first!r} to {end!r}")
    if end <= first:
        return
    hashes = request.block_hashes
    check_bounds(call, blocks, hashes, first, end, units, mask)
    selected = (j for j in range(first, end) if mask is None or mask[j - first])
    chosen = [(j, blocks[j], hashes[(j + 1) * units - 1]) for j in selected if blocks[j] is not pool.null_block]
    check_chosen(pool, call, chosen, block_size)
    events = stored_events(pool, call, request, [j for j, _, _ in chosen], block_size, group_id)
    for j, block, digest in chosen:
        drop_keys(pool, block)  # a shorter prefix gives way, with all its aliases
        set_primary(pool, block, digest, group_id, (j + 1) * block_size)
    send(pool, events)
    # From now on the shortcut has its table: token counts shared by all blocks save an int object a cached block.
    if len(pool._coverages.get(block_size, ())) < end:
        pool._coverages[block_size] = [block_size * (j + 1) for j in range(2 * end)]


def check_bounds(
    call: str,
    blocks: Sequence[Any],
    hashes: Sequence[bytes],
    first: int,
    end: int,
    units: int,
    mask: Sequence[bool] | None,
) -> None:
    try:
        num_blocks, num_masked = len(blocks), end - first if mask is None else len(mask)
    except TypeError as error:
        raise BadRange(call, "blocks and block_mask are sequences") from error
    if end > num_blocks:
        raise BadRange(call, f"blocks {first} to {end} of a list of {num_blocks}")
    if end * units > len(hashes):
        raise BadRange(call, f"{end} blocks need {end * units} hashes, the request has {len(hashes)}")
    if num_masked != end - first:
        raise BadRange(call, f"a mask of {num_masked} for {end - first} blocks")


def check_chosen(
    pool: BlockPool, call: str, chosen: Sequence[tuple[int, KVCacheBlock, bytes]], block_size: int
) -> None:
    seen = set()
    for j, item, _ in chosen:
        block = own_block(pool, call, item)
        if block in seen:
            raise RepeatedBlock(call, f"position {j} names a block that an earlier one names", block.block_id)
        if block.ref_cnt == 0:
            raise NotHeld(call, f"the block at position {j} is free", block.block_id)
        if block._digest is not None and block._num_tokens >= (j + 1) * block_size:
            detail = f"it covers {block._num_tokens} tokens, position {j} ends at {(j + 1) * block_size}"
            raise AlreadyCached(call, detail, block.block_id)
        seen.add(block)
    digests_are_hashable(call, [digest for _, _, digest in chosen])


def cache_partial(
    pool: BlockPool,
    request: CacheRequest,
    block: KVCacheBlock,
    num_tokens: int,
    group_id: int,
    block_size: int,
    replace: bool,
) -> bytes | None:
    """Publish one block under a prefix that may end inside it. See BlockPool.cache_partial_block."""
    call = "cache_partial_block"
    not_while_telling(pool, call)
    caching_is_on(pool, call)
    digest = partial_digest(pool, call, request, num_tokens, block_size)
    group_id_is_valid(call, group_id)
    if block is pool.null_block:
        return None
    if own_block(pool, call, block).ref_cnt == 0:
        raise NotHeld(call, "the block is free", block.block_id)
    key = make_block_hash_with_group_id(digest, group_id)
    known = (digest, group_id) in pool.keys_of(block)
    if known and not replace:
        return key
    if not replace and block._digest is not None and block._num_tokens == num_tokens:
        raise DifferentContent(call, f"the block holds another prefix of {num_tokens} tokens", block.block_id)
    unit = pool.hash_block_size
    events = stored_events(pool, call, request, [num_tokens // unit - 1], unit, group_id)
    if replace or block._digest is None or block._num_tokens < num_tokens:
        drop_keys(pool, block)
        set_primary(pool, block, digest, group_id, num_tokens)
    else:
        pool.cached_block_hash_to_block.insert(digest, group_id, block)
        pool._aliases.setdefault(block, []).append((digest, group_id))
    send(pool, events)
    return key


def partial_digest(pool: BlockPool, call: str, request: CacheRequest, num_tokens: int, block_size: int) -> bytes:
    unit_size(pool, call, block_size)
    unit, hashes = pool.hash_block_size, request.block_hashes
    if not is_count(num_tokens) or num_tokens == 0 or num_tokens % unit:
        raise BadRange(call, f"{num_tokens!r} tokens are not a positive multiple of hash_block_size {unit}")
    if num_tokens > unit * len(hashes):
        raise BadRange(call, f"{num_tokens} tokens, but the hashes end at {unit * len(hashes)}")
    digest = hashes[num_tokens // unit - 1]
    digests_are_hashable(call, [digest])
    return digest


def move_keys(pool: BlockPool, src: KVCacheBlock, dst: KVCacheBlock) -> None:
    """Hand all keys of `src` to `dst`. See BlockPool.move_block_hashes."""
    call = "move_block_hashes"
    not_while_telling(pool, call)
    own_block(pool, call, src)
    own_block(pool, call, dst)
    if dst.is_null:
        raise NullBlock(call, "the null block cannot be cached", dst.block_id)
    if dst.ref_cnt == 0:
        raise NotHeld(call, "the destination is free", dst.block_id)
    if dst._digest is not None:
        raise AlreadyCached(call, "the destination carries a key", dst.block_id)
    index = pool.cached_block_hash_to_block
    for digest, group_id in pool.keys_of(src):
        index.remove(digest, group_id, src)
        index.insert(digest, group_id, dst)
    dst._digest, dst._group, dst._num_tokens = src._digest, src._group, src._num_tokens
    src._digest = None
    aliases = pool._aliases.pop(src, None)
    if aliases is not None:
        pool._aliases[dst] = aliases


def evict(pool: BlockPool, block_ids: Iterable[int]) -> None:
    """Drop all keys of the named blocks. See BlockPool.evict_blocks."""
    call = "evict_blocks"
    not_while_telling(pool, call)
    ids = listed(call, block_ids)
    for block_id in ids:
        if not is_count(block_id) or block_id >= pool.num_gpu_blocks:
            raise UnknownBlock(call, f"{block_id!r:.60} is not an id from 0 to {pool.num_gpu_blocks - 1}")
    evicted = []
    for block_id in ids:
        block = pool.blocks[block_id]
        if drop_keys(pool, block):
            evicted.append(block)
    if pool.metrics_collector is not None:
        for block in evicted:
            pool.metrics_collector.on_block_evicted(block)
