"""Contracts of the queue and the pool, at three levels chosen by the environment variable BLOCKPOOL_CONTRACTS.

- `off` (default): none; the decorators return the bare function, so a serving engine pays nothing;
- `cheap`: conditions on what one call did, in time proportional to the call;
- `full`: also the well-formedness of the whole pool after every call that changes it.

The variable is read once, when this module is imported. Refusals are not contracts: a wrong call raises an error of
`errors.py` at every level, and a broken contract (icontract.ViolationError) always means a defect of the pool. So
conditions and snapshots accept any argument, even one that the call is about to refuse.

A condition is a named function with a sentence; its parameters are named after those of the method it checks.
"""

# ruff: noqa: N803  (OLD is icontract's name for the state before the call)

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import icontract

from blockpool.impl.block import KVCacheBlock

if TYPE_CHECKING:
    from blockpool.impl.free_queue import FreeKVCacheBlockQueue
    from blockpool.impl.pool import BlockPool

Key = tuple[bytes, int]
F = TypeVar("F", bound=Callable[..., Any])


def read_level(environment: Mapping[str, str]) -> str:
    """The level that `environment` asks for."""
    level = environment.get("BLOCKPOOL_CONTRACTS", "off")
    if level not in ("off", "cheap", "full"):
        raise ValueError(f"BLOCKPOOL_CONTRACTS={level!r} is not a level of contracts: use off, cheap or full")
    return level


LEVEL = read_level(os.environ)
CHEAP = LEVEL != "off"
FULL = LEVEL == "full"


def promises(condition: Callable[..., Any], sentence: str) -> Callable[[F], F]:
    """A postcondition, from level cheap on."""
    return icontract.ensure(condition, sentence, enabled=CHEAP)


def remembers(capture: Callable[..., Any], name: str) -> Callable[[F], F]:
    """A number or tuple noted before the call, for promises that compare with OLD."""
    return icontract.snapshot(capture, name=name, enabled=CHEAP)


# ---- the whole structure (level full) ----


def links_agree(self: FreeKVCacheBlockQueue) -> bool:
    """Both directions name the same blocks, and the counter their number."""
    node: Any = self.fake_free_list_head
    for _ in range(self.num_free_blocks + 1):
        after = node.next_free_block
        if after is None or after.prev_free_block is not node:
            return False
        node = after
    ends = self.fake_free_list_head.prev_free_block is None and self.fake_free_list_tail.next_free_block is None
    return node is self.fake_free_list_tail and ends


def queue_links_agree(self: BlockPool) -> bool:
    return links_agree(self.free_block_queue)


def queued_are_the_unheld(self: BlockPool) -> bool:
    queued = self.free_block_queue.get_all_free_blocks()
    unheld = {block for block in self.blocks if block.ref_cnt == 0 and not block.is_null}
    return len(queued) == len(unheld) and set(queued) == unheld and all(b.ref_cnt >= 0 for b in self.blocks)


def index_and_blocks_agree(self: BlockPool) -> bool:
    index = self.cached_block_hash_to_block
    indexed = [(key, block) for key in index for block in index.blocks(*key)]
    carried = {(key, block) for block in self.blocks for key in self.keys_of(block)}
    return len(indexed) == len(set(indexed)) and set(indexed) == carried


def aliases_follow_a_primary(self: BlockPool) -> bool:
    for block, aliases in self._aliases.items():
        keys = self.keys_of(block)
        if block._digest is None or not aliases or len(set(keys)) != len(aliases) + 1:
            return False
    return True


def null_is_untouched(self: BlockPool) -> bool:
    null = self.null_block
    linked = null.prev_free_block is not None or null.next_free_block is not None
    return null.ref_cnt == 0 and not linked and not self.keys_of(null) and null not in self._watchers


def watchers_are_distinct_and_on_own_blocks(self: BlockPool) -> bool:
    for block, watchers in self._watchers.items():
        if block.pool is not self or not watchers:
            return False
        if any(watcher in watchers[:i] for i, watcher in enumerate(watchers)):
            return False
    return True


def free_count(self: BlockPool) -> int:
    return self.free_block_queue.num_free_blocks


def counter_is_in_range(self: BlockPool) -> bool:
    return 0 <= self.free_block_queue.num_free_blocks < self.num_gpu_blocks


WELL_FORMED: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (queue_links_agree, "both directions of the free queue and its counter agree"),
    (queued_are_the_unheld, "a block is queued exactly when nobody holds it, and no count is negative"),
    (index_and_blocks_agree, "the index lists exactly the keys that blocks carry"),
    (aliases_follow_a_primary, "aliases are distinct further keys of a block with a primary key"),
    (null_is_untouched, "the null block is not held, queued, keyed or watched"),
    (watchers_are_distinct_and_on_own_blocks, "watchers are distinct and sit on own blocks"),
)


def pool_is_well_formed(self: BlockPool) -> bool:
    """All of the above; O(size of the pool)."""
    return all(predicate(self) for predicate, _ in WELL_FORMED)


def changes_pool(method: F) -> F:
    """For each method that changes the pool: the counter in range before it, and at level full well-formedness after.

    Each part of well-formedness is a postcondition of its own, so that a violation names the part.
    """
    for predicate, sentence in reversed(WELL_FORMED):
        method = icontract.ensure(predicate, sentence, enabled=FULL)(method)
    return icontract.require(counter_is_in_range, "the free counter is within the capacity", enabled=CHEAP)(method)


def keeps_links_sound(method: F) -> F:
    """Level full: a method of the queue leaves links and counter in agreement."""
    sentence = "both directions of the queue and its counter agree"
    return icontract.ensure(links_agree, sentence, enabled=FULL)(method)


# ---- what one call did (level cheap) ----


def are_new_blocks(self: BlockPool, result: list[KVCacheBlock]) -> bool:
    fresh = all(b.ref_cnt == 1 and b._digest is None and b.pool is self and not b.is_null for b in result)
    return fresh and len(set(result)) == len(result) and not any(b in self._watchers for b in result)


def as_many_as_asked(num_blocks: int, result: list[KVCacheBlock], self: BlockPool, OLD: Any) -> bool:
    return bool(len(result) == num_blocks == OLD.free - free_count(self))


def named_are_held(blocks: Sequence[KVCacheBlock]) -> bool:
    return all(block.is_null or block.ref_cnt > 0 for block in blocks)


def no_block_became_free(self: BlockPool, OLD: Any) -> bool:
    return free_count(self) <= int(OLD.free)


def no_block_was_lent(self: BlockPool, OLD: Any) -> bool:
    return free_count(self) >= int(OLD.free)


def free_count_is_unchanged(self: BlockPool, OLD: Any) -> bool:
    return free_count(self) == int(OLD.free)


def named_are_watched(self: BlockPool, blocks: Sequence[KVCacheBlock], on_reuse: Any) -> bool:
    return all(on_reuse in self._watchers.get(block, ()) for block in blocks)


def is_not_watching(self: BlockPool, block: KVCacheBlock, on_reuse: Any) -> bool:
    return on_reuse not in self._watchers.get(block, ())


def published_are_keyed(
    blocks: Sequence[KVCacheBlock],
    num_cached_blocks: int,
    num_full_blocks: int,
    block_size: int,
    block_mask: Sequence[bool] | None,
) -> bool:
    for j in range(num_cached_blocks, num_full_blocks):
        selected = block_mask is None or block_mask[j - num_cached_blocks]
        if selected and not blocks[j].is_null and blocks[j].block_hash_num_tokens != (j + 1) * block_size:
            return False
    return True


def is_key_of_block(self: BlockPool, block: KVCacheBlock, kv_cache_group_id: int, result: bytes | None) -> bool:
    if result is None:
        return block.is_null
    return (result[:-4], kv_cache_group_id) in self.keys_of(block)


def keys_of_source(self: BlockPool, src_block: Any) -> tuple[Key, ...]:
    return self.keys_of(src_block) if isinstance(src_block, KVCacheBlock) else ()


def keys_have_moved(self: BlockPool, src_block: KVCacheBlock, dst_block: KVCacheBlock, OLD: Any) -> bool:
    moved = self.keys_of(dst_block) == OLD.keys
    return moved and (src_block is dst_block or not self.keys_of(src_block))


def named_are_unkeyed(self: BlockPool, block_ids: set[int]) -> bool:
    return not any(self.keys_of(self.blocks[block_id]) for block_id in block_ids)


def cleared_or_in_use(self: BlockPool, result: bool) -> bool:
    idle = free_count(self) == self.num_gpu_blocks - 1
    empty = not self.cached_block_hash_to_block and not self._aliases and not self._watchers
    return idle and empty if result else not idle


def answers_every_group(
    self: BlockPool, block_hash: bytes, kv_cache_group_ids: Sequence[int], result: list[KVCacheBlock] | None
) -> bool:
    if result is None:
        return True
    asked = [(block_hash, group_id) for group_id in kv_cache_group_ids]
    return len(result) == len(asked) and all(key in self.keys_of(result[i]) for i, key in enumerate(asked))


def outbox_is_empty(self: BlockPool) -> bool:
    return not self.kv_event_queue
