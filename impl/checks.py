"""Checks that several calls share. None changes anything."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from blockpool.impl.block import KVCacheBlock
from blockpool.impl.errors import BadRange, CachingDisabled, ReEntrant, UnknownBlock

if TYPE_CHECKING:
    from blockpool.impl.pool import BlockPool


class Irregular(Exception):  # noqa: N818  (not an error)
    """A hot loop met something that the careful way has to judge. Never leaves the package."""


num_pools = 0
"""How many pools exist. While there is one, a block with references is its own: saves the hot loops that test."""


def count_in(pool: BlockPool) -> None:
    """Count `pool` for as long as it exists, which is as long as one of its blocks does."""
    global num_pools
    num_pools += 1
    weakref.finalize(pool, _count_out).atexit = False


def _count_out() -> None:
    global num_pools
    num_pools -= 1


def any_foreign(pool: BlockPool, blocks: Iterable[Any]) -> bool:
    """Whether `blocks` names anything that is not of `pool`."""
    try:
        for block in blocks:
            if block.pool is not pool:
                return True
    except AttributeError:  # not a block
        return True
    return False


def not_while_telling(pool: BlockPool, call: str) -> None:
    if pool._telling:
        raise ReEntrant(call, "the pool is telling watchers that their blocks are reused")


def caching_is_on(pool: BlockPool, call: str) -> None:
    if not pool.enable_caching:
        raise CachingDisabled(call, "the pool was built with enable_caching=False")


def listed(call: str, items: Iterable[Any]) -> list[Any]:
    """All of `items`, drawn before anything is changed: an iterator that raises on the way does no harm."""
    try:
        iterator = iter(items)
    except TypeError as error:
        raise UnknownBlock(call, f"{items!r:.60} is not a collection of blocks") from error
    return list(iterator)


def own_block(pool: BlockPool, call: str, block: Any) -> KVCacheBlock:
    """`block`, if it is a block of `pool`."""
    if not isinstance(block, KVCacheBlock):
        raise UnknownBlock(call, f"{block!r:.60} is not a block")
    if block.pool is not pool:
        raise UnknownBlock(call, "the block belongs to another pool", block.block_id)
    return block


def is_count(value: object) -> bool:
    return isinstance(value, int) and value >= 0


def unit_size(pool: BlockPool, call: str, block_size: Any) -> int:
    """How many hash units a block of `block_size` tokens has."""
    if not isinstance(block_size, int) or block_size < 1 or block_size % pool.hash_block_size:
        detail = f"block_size {block_size!r} is not a positive multiple of hash_block_size {pool.hash_block_size}"
        raise BadRange(call, detail)
    return block_size // pool.hash_block_size


def group_id_is_valid(call: str, group_id: Any) -> None:
    # A key carries its group in four bytes.
    if not isinstance(group_id, int) or not 0 <= group_id < 1 << 32:
        raise BadRange(call, f"{group_id!r} is not a group id from 0 to 2**32 - 1")


def digests_are_hashable(call: str, digests: Iterable[Any]) -> None:
    for digest in digests:
        try:
            hash(digest)
        except TypeError as error:
            raise BadRange(call, f"block_hashes holds {digest!r:.60}, not a digest") from error
