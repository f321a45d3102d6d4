"""Sliding window: a token reads the last tokens only, and blocks behind the window are given back."""

from __future__ import annotations

from blockpool.impl.block import KVCacheBlock
from blockpool.impl.managers.base import GroupManager
from blockpool.impl.managers.groups import Kind
from blockpool.impl.managers.prefix import Prefix
from blockpool.impl.request import CacheRequest


class SlidingWindowManager(GroupManager):
    """Entry j holds the positions from j * block_size on; it is null before the window and once the window left it."""

    kind = Kind.WINDOW

    def longest_hit(self, prefix: Prefix, at_most: int) -> int:
        length = at_most
        while length > 0:
            missing = self._last_missing(prefix, length)
            if missing is None:
                return length
            # Every shorter hit that reaches the end of the missing block reads it, too.
            length = min(length, (missing + 1) * self.block_size) - self.pool.hash_block_size
        return 0

    def hit_table(self, prefix: Prefix, num_tokens: int) -> tuple[KVCacheBlock, ...]:
        needed = self._entries_read(num_tokens)
        found = [prefix.entry_of(entry, num_tokens) for entry in needed]
        num_null = self.blocks_for(num_tokens) - len(needed)
        return (self.pool.null_block,) * num_null + tuple(block for block in found if block is not None)

    def prepare(self, request_id: str, computed: int, upto: int) -> None:
        """Give back, tail first, the blocks that the next token to compute no longer reads.

        By what is computed: what is only scheduled may still be reading them.
        """
        table = self._tables[request_id]
        num_behind = self._window_start(computed) // self.block_size
        behind = [entry for entry in range(min(num_behind, len(table)) - 1, -1, -1) if not table[entry].is_null]
        if behind:
            self.pool.free_blocks([table[entry] for entry in behind])
        for entry in behind:
            table[entry] = self.pool.null_block

    def publish(self, request: CacheRequest, scheduled: int, prompt_len: int) -> None:
        self.publish_full(request, scheduled)

    def _window_start(self, num_tokens: int) -> int:
        """The first position that the token at position `num_tokens` reads."""
        return max(0, num_tokens - self.spec.window + 1)

    def _entries_read(self, num_tokens: int) -> range:
        """The table entries with positions before `num_tokens` that the token at this position reads."""
        start = self._window_start(num_tokens)
        end = self.blocks_for(num_tokens)
        return range(start // self.block_size if start < num_tokens else end, end)

    def _last_missing(self, prefix: Prefix, num_tokens: int) -> int | None:
        for entry in reversed(self._entries_read(num_tokens)):
            if prefix.entry_of(entry, num_tokens) is None:
                return entry
        return None
