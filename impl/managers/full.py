"""Full attention: a token reads all tokens before it, and every block stays."""

from __future__ import annotations

from blockpool.impl.block import KVCacheBlock
from blockpool.impl.managers.base import GroupManager
from blockpool.impl.managers.groups import Kind
from blockpool.impl.managers.prefix import Prefix
from blockpool.impl.request import CacheRequest


class FullAttentionManager(GroupManager):
    """A request appends to its last block in place: what is published of it, a shorter prefix, stays intact."""

    kind = Kind.FULL

    def longest_hit(self, prefix: Prefix, at_most: int) -> int:
        size, unit = self.block_size, self.pool.hash_block_size
        num_leading = prefix.num_leading(at_most // size)
        length = min(at_most, (num_leading + 1) * size - unit)
        while length % size and prefix.exact(length) is None:
            length -= unit
        return length

    def hit_table(self, prefix: Prefix, num_tokens: int) -> tuple[KVCacheBlock, ...]:
        found = (prefix.entry_of(entry, num_tokens) for entry in range(self.blocks_for(num_tokens)))
        return tuple(block for block in found if block is not None)

    def publish(self, request: CacheRequest, scheduled: int, prompt_len: int) -> None:
        self.publish_full(request, scheduled)
        self.publish_prompt_end(request, scheduled, prompt_len)
