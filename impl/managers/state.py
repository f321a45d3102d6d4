"""Recurrent state: a block holds the state after one token, and is updated in place while tokens of it are computed."""

from __future__ import annotations

from blockpool.impl.block import KVCacheBlock
from blockpool.impl.managers.base import GroupManager
from blockpool.impl.managers.groups import Kind
from blockpool.impl.managers.prefix import Prefix
from blockpool.impl.request import CacheRequest


class StateManager(GroupManager):
    """Entry j holds the state after the last token computed in it; it is null where no chunk ended.

    So that an entry which is complete is the state at its end, a chunk that starts inside a block ends in it.
    """

    kind = Kind.STATE

    def longest_hit(self, prefix: Prefix, at_most: int) -> int:
        length = at_most
        while length > 0 and prefix.exact(length) is None:
            length -= self.pool.hash_block_size
        return length

    def hit_table(self, prefix: Prefix, num_tokens: int) -> tuple[KVCacheBlock, ...]:
        state = prefix.exact(num_tokens) if num_tokens else None
        return () if state is None else (self.pool.null_block,) * (self.blocks_for(num_tokens) - 1) + (state,)

    def allows_chunk(self, start: int, upto: int) -> bool:
        return start % self.block_size == 0 or self._continues_block(start, upto)

    def num_new(self, num_entries: int, upto: int) -> int:
        return min(1, super().num_new(num_entries, upto))

    def growth_demand(self, request_id: str, computed: int, upto: int) -> int:
        if not self._continues_block(computed, upto):
            return super().growth_demand(request_id, computed, upto)
        block = self._tables[request_id][computed // self.block_size]
        return bool(self.pool.keys_of(block)) + (block.ref_cnt > 1 or self.pool.is_watched(block))

    def prepare(self, request_id: str, computed: int, upto: int) -> None:
        """Make the block that the chunk continues writable: nobody else may see the state change."""
        if not self._continues_block(computed, upto):
            return
        entry = computed // self.block_size
        block = self._tables[request_id][entry]
        own = 1
        if self.pool.keys_of(block):
            self._save_published(block)
            own += 1
        if block.ref_cnt > own or self.pool.is_watched(block):
            self._tables[request_id][entry] = self._leave_to_others(block)

    def extend(self, request_id: str, upto: int) -> None:
        table = self._tables[request_id]
        num_null = self.blocks_for(upto) - len(table) - 1
        if num_null >= 0:
            table += [self.pool.null_block] * num_null
            table += self._pass.lend(self.pool, 1)

    def publish(self, request: CacheRequest, scheduled: int, prompt_len: int) -> None:
        self.publish_full(request, scheduled)
        self.publish_prompt_end(request, scheduled, prompt_len)

    def _continues_block(self, start: int, upto: int) -> bool:
        """Whether a chunk starts inside a block and ends in the same."""
        return start % self.block_size != 0 and (upto - 1) // self.block_size == start // self.block_size

    def _save_published(self, block: KVCacheBlock) -> None:
        """Copy the state and hand the keys to the copy, which is in no table: it only stays cached."""
        (saved,) = self._pass.lend(self.pool, 1)
        self.pool.move_block_hashes(block, saved)
        self.pool.touch([block])
        self._pass.add_copy(block, saved)

    def _leave_to_others(self, block: KVCacheBlock) -> KVCacheBlock:
        """A copy to go on with. The reference that the table had on `block` now belongs to the copying."""
        (copy,) = self._pass.lend(self.pool, 1)
        self.pool.touch([copy])
        self._pass.add_copy(block, copy)
        return copy
