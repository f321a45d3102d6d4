"""Taking and giving back references: the one-pass loops of the hot methods, and the careful ways behind them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

from blockpool.impl import checks
from blockpool.impl.block import KVCacheBlock
from blockpool.impl.checks import Irregular, any_foreign, is_count, listed, not_while_telling, own_block
from blockpool.impl.errors import (
    BadCount,
    BadWatcher,
    NotEnoughFreeBlocks,
    NotHeld,
    NullBlock,
    QueueError,
    UnknownBlock,
)
from blockpool.impl.free_queue import FreeKVCacheBlockQueue
from blockpool.impl.publish import drop_keys
from blockpool.impl.watchers import OnReuse, raise_watcher_errors, tell

if TYPE_CHECKING:
    from blockpool.impl.pool import BlockPool


def lend(pool: BlockPool, num_blocks: int) -> list[KVCacheBlock]:
    """BlockPool.get_new_blocks with watchers, events, metrics, several keys of a block or blocks of a key."""
    call = "get_new_blocks"
    not_while_telling(pool, call)
    free = pool.free_block_queue.num_free_blocks
    if not is_count(num_blocks):
        raise BadCount(call, f"{num_blocks!r:.60} blocks were asked for")
    if num_blocks > free:
        raise NotEnoughFreeBlocks(call, f"{num_blocks} blocks were asked for, {free} are free")
    errors: list[BaseException] = []
    if pool._watchers:
        victims = islice(pool.free_block_queue.iter_blocks_after(None), num_blocks)
        errors = tell(pool, [block for block in victims if block in pool._watchers])
    blocks = pool.free_block_queue.popleft_n(num_blocks)
    evicted = []
    for block in blocks:
        if drop_keys(pool, block):
            evicted.append(block)
        block.ref_cnt = 1
    if pool.metrics_collector is not None:
        for block in evicted:
            pool.metrics_collector.on_block_evicted(block)
        for block in blocks:
            pool.metrics_collector.on_block_allocated(block)
    raise_watcher_errors(call, errors, blocks)
    return blocks


def take(pool: BlockPool, blocks: list[KVCacheBlock]) -> bool:
    """Take a reference for each block named. False, with nothing changed, if one is not a block of `pool`."""
    if checks.num_pools > 1 and any_foreign(pool, blocks):
        return False
    null_block = pool.null_block
    idle = []
    try:
        for block in blocks:
            refs = block._refs
            if refs:
                block._refs = refs + 1
            elif block is not null_block:
                block._refs = 1
                idle.append(block)
    except Exception:  # noqa: BLE001  (not a block; the careful way meets it again)
        for taken in blocks:
            if taken is block:
                return False
            taken._refs -= not taken.is_null
    if idle:
        try:
            pool.free_block_queue.remove_n(idle)
        except QueueError:  # somebody made the block, or changed its links
            for block in blocks:
                block._refs -= not block.is_null
            return False
    return True


def refuse_to_take(pool: BlockPool, blocks: list[KVCacheBlock]) -> NoReturn:
    """Say why `touch` is refused."""
    not_while_telling(pool, "touch")
    for block in blocks:
        own_block(pool, "touch", block)
    raise UnknownBlock("touch", "a block with no reference is not in the free queue")


def give_back(pool: BlockPool, blocks: list[KVCacheBlock]) -> bool:
    """Give back a reference for each block named. False, with nothing changed, if one is not held or not of `pool`."""
    queue = pool.free_block_queue
    head, tail = queue.fake_free_list_head, queue.fake_free_list_tail
    first: Any = head.next_free_block
    last: Any = tail.prev_free_block
    if first is tail:  # the loop links at both ends while it counts (saves two lists and a pass)
        return give_back_to_empty(pool, blocks)
    if checks.num_pools > 1 and any_foreign(pool, blocks):
        return False
    front, back = head, last
    queued, remaining = len(blocks), iter(blocks)
    try:
        for block in remaining:
            if block._refs == 1:
                block._refs = 0
                if block._digest is None:
                    block.prev_free_block = front
                    front.next_free_block = block
                    front = block
                else:
                    block.prev_free_block = back
                    back.next_free_block = block
                    back = block
            else:  # what a request shares is freed last, so these come in runs: saves counting the others
                queued -= give_back_shared(block, remaining, blocks)
    except Exception:  # noqa: BLE001  (not held, or not a block; the careful way meets it again)
        take_again(queue, passed(blocks, remaining), first, last)
        return False
    front.next_free_block, first.prev_free_block = first, front
    back.next_free_block, tail.prev_free_block = tail, back
    queue.num_free_blocks += queued
    return True


def give_back_shared(block: KVCacheBlock, remaining: Any, blocks: list[KVCacheBlock]) -> int:
    """Give back `block` and those right behind it, as long as others hold them too or they are null. Their number."""
    ahead: int = remaining.__length_hint__()
    if block._refs:
        block._refs -= 1
    elif not block.is_null:
        raise Irregular
    for other in remaining:
        refs = other._refs
        if refs > 1:
            other._refs = refs - 1
        elif refs or not other.is_null:
            remaining.__setstate__(len(blocks) - remaining.__length_hint__() - 1)  # the caller draws it again
            break
    left: int = remaining.__length_hint__()
    return ahead + 1 - left


def take_again(queue: FreeKVCacheBlockQueue, blocks: list[KVCacheBlock], first: Any, last: Any) -> None:
    """Undo the giving back of `blocks` to a queue from `first` to `last`."""
    for block in blocks:
        if block._refs == 0:
            block.prev_free_block = block.next_free_block = None
        block._refs += 1
    queue.fake_free_list_head.next_free_block = first
    last.next_free_block = queue.fake_free_list_tail


def give_back_to_empty(pool: BlockPool, blocks: list[KVCacheBlock]) -> bool:
    """`give_back` while the queue is empty: a stand-in keeps its ends apart meanwhile."""
    stand_in = KVCacheBlock(-1)
    pool.free_block_queue.append(stand_in)
    try:
        return give_back(pool, blocks)
    finally:
        pool.free_block_queue.remove(stand_in)


def passed(blocks: list[KVCacheBlock], remaining: Iterable[KVCacheBlock]) -> list[KVCacheBlock]:
    """The blocks, null left out, that a loop had dealt with when it stopped at the one before `remaining`."""
    done = len(blocks) - len(list(remaining)) - 1
    return [block for block in blocks[:done] if not block.is_null]


def release(pool: BlockPool, blocks: Sequence[Any]) -> None:
    """BlockPool.free_blocks for any list of blocks: all of it is checked, over all owners, before anything changes."""
    call = "free_blocks"
    not_while_telling(pool, call)
    named: dict[KVCacheBlock, int] = {}
    for block in blocks:
        owner = block.pool if isinstance(block, KVCacheBlock) else None
        if owner is None:
            raise UnknownBlock(call, f"{block!r:.60} belongs to no block pool", getattr(block, "block_id", None))
        not_while_telling(owner, call)
        if not block.is_null:
            count_occurrence(call, named, block)
    shares: dict[BlockPool, tuple[list[KVCacheBlock], list[KVCacheBlock]]] = {}
    for block in blocks:
        if block.is_null:
            continue
        front, back = shares.setdefault(block.pool, ([], []))
        block.ref_cnt -= 1
        if block.ref_cnt == 0:
            disposable = block._digest is None and block not in block.pool._watchers
            (front if disposable else back).append(block)
    for owner, (front, back) in shares.items():
        owner.free_block_queue.prepend_n(front)
        owner.free_block_queue.append_n(back)


def count_occurrence(call: str, named: dict[KVCacheBlock, int], block: KVCacheBlock) -> None:
    """Note one more occurrence of `block`; refused once there are more than references."""
    occurrences = named[block] = named.get(block, 0) + 1
    if occurrences > block.ref_cnt:
        detail = f"the call gives back {occurrences} or more references, {block.ref_cnt} are held"
        raise NotHeld(call, detail, block.block_id)


def unpin(pool: BlockPool, blocks: Iterable[KVCacheBlock], on_reuse: OnReuse) -> None:
    """Give references back and be told before the blocks are reused. See BlockPool.unpin_blocks."""
    call = "unpin_blocks"
    not_while_telling(pool, call)
    if not callable(on_reuse):
        raise BadWatcher(call, f"{on_reuse!r:.60} cannot be called")
    named: dict[KVCacheBlock, int] = {}
    listing = listed(call, blocks)
    for block in listing:
        if own_block(pool, call, block).is_null:
            raise NullBlock(call, "the null block has no content to wait for", block.block_id)
        count_occurrence(call, named, block)
    # Comparing callbacks may raise, so it is done before anything changes.
    unwatched = [block for block in named if on_reuse not in pool._watchers.get(block, ())]
    idle = []
    for block in listing:
        block.ref_cnt -= 1
        if block.ref_cnt == 0:
            idle.append(block)
    for block in unwatched:
        pool._watchers.setdefault(block, []).append(on_reuse)
    pool.free_block_queue.append_n(idle)
