"""Finding the published blocks of one request's prefix in one group."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from blockpool.impl.block import KVCacheBlock
from blockpool.impl.pool import BlockPool

Mark = tuple[bytes, int, KVCacheBlock]
"""A publication: digest, group id, block."""


class Prefix:
    """Answers from the index, for the length of one lookup: nothing may be published or allocated meanwhile.

    `hashes[i]` is the digest of the first (i + 1) * unit tokens; the unit divides `block_size`; both in tokens.
    `is_fresh` tells what was published in the current pass, and so is not written yet.
    """

    def __init__(
        self,
        pool: BlockPool,
        group_id: int,
        block_size: int,
        hashes: Sequence[bytes],
        is_fresh: Callable[[Mark], bool],
    ) -> None:
        self._pool = pool
        self._group_id = group_id
        self._block_size = block_size
        self._hashes = hashes
        self._is_fresh = is_fresh
        self._whole: dict[int, KVCacheBlock | None] = {}
        self._num_leading = 0

    def whole(self, entry: int) -> KVCacheBlock | None:
        """A block with all tokens of table entry `entry`, to be read by attention: it may be fresh."""
        if entry not in self._whole:
            self._whole[entry] = self._first(self._digest((entry + 1) * self._block_size))
        return self._whole[entry]

    def exact(self, num_tokens: int) -> KVCacheBlock | None:
        """A block under the key of exactly `num_tokens` tokens that is written already.

        A state is read, and a block copied, before the writes of a pass: what is fresh has to wait for the commit.
        """
        digest = self._digest(num_tokens)
        first = self._first(digest)
        if first is None or not self._is_fresh((digest, self._group_id, first)):
            return first
        for block in self._pool.cached_block_hash_to_block.blocks(digest, self._group_id):
            if not self._is_fresh((digest, self._group_id, block)):
                return block
        return None

    def entry_of(self, entry: int, num_tokens: int) -> KVCacheBlock | None:
        """The block for table entry `entry` of a hit of `num_tokens` tokens; if it is cut short, it will be copied."""
        return self.whole(entry) if (entry + 1) * self._block_size <= num_tokens else self.exact(num_tokens)

    def num_leading(self, at_most: int) -> int:
        """How many of the first `at_most` table entries are found one after the other."""
        while self._num_leading < at_most and self.whole(self._num_leading) is not None:
            self._num_leading += 1
        return min(self._num_leading, at_most)

    def _digest(self, num_tokens: int) -> bytes:
        return self._hashes[num_tokens // self._pool.hash_block_size - 1]

    def _first(self, digest: bytes) -> KVCacheBlock | None:
        found = self._pool.get_cached_block(digest, [self._group_id])
        return None if found is None else found[0]
