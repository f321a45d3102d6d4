"""Ring: one block a request, whose slots are overwritten in turn."""

from __future__ import annotations

from blockpool.impl.block import KVCacheBlock
from blockpool.impl.managers.base import GroupManager
from blockpool.impl.managers.groups import Kind
from blockpool.impl.managers.prefix import Prefix
from blockpool.impl.request import CacheRequest


class RingManager(GroupManager):
    """The token at position p is in slot p % block_size. What is overwritten cannot be shared: no keys, no hits."""

    kind = Kind.RING

    def blocks_for(self, num_tokens: int) -> int:
        return min(num_tokens, 1)

    def longest_hit(self, prefix: Prefix, at_most: int) -> int:
        return 0

    def hit_table(self, prefix: Prefix, num_tokens: int) -> tuple[KVCacheBlock, ...]:
        return ()

    def publish(self, request: CacheRequest, scheduled: int, prompt_len: int) -> None:
        """Nothing is published."""
