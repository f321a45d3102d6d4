"""What the managers of all kinds have in common: tables, demand, copies, publishing and giving back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from blockpool.impl.block import KVCacheBlock
from blockpool.impl.managers.current_pass import CurrentPass
from blockpool.impl.managers.errors import GroupError
from blockpool.impl.managers.groups import GroupSpec, Kind
from blockpool.impl.managers.prefix import Prefix
from blockpool.impl.pool import BlockPool
from blockpool.impl.request import CacheRequest


class GroupManager(ABC):
    """The block tables of one group. A part of `Coordinator`, which checks arguments and calls in the right order.

    A kind decides how long a hit may be, what its table looks like, and what happens before a request grows. All
    token counts are counts from the start of the request, so that of the next token is its position.
    """

    kind: ClassVar[Kind]

    def __init__(self, spec: GroupSpec, group_id: int, pool: BlockPool, current_pass: CurrentPass) -> None:
        if spec.block_size % pool.hash_block_size:
            detail = f"block_size {spec.block_size} of group {group_id}, hash unit {pool.hash_block_size}"
            raise GroupError("Coordinator", detail)
        self.spec = spec
        self.group_id = group_id
        self.pool = pool
        self.block_size = spec.block_size
        self._pass = current_pass
        self._tables: dict[str, list[KVCacheBlock]] = {}
        self._num_published: dict[str, int] = {}

    def table(self, request_id: str) -> tuple[KVCacheBlock, ...]:
        return tuple(self._tables[request_id])

    def blocks_for(self, num_tokens: int) -> int:
        """How long the table of a request with `num_tokens` tokens is, in blocks."""
        return -(-num_tokens // self.block_size)

    # ---- lookup ----

    @abstractmethod
    def longest_hit(self, prefix: Prefix, at_most: int) -> int:
        """The greatest multiple of the hash unit, up to `at_most` (one itself), that this group can serve."""

    @abstractmethod
    def hit_table(self, prefix: Prefix, num_tokens: int) -> tuple[KVCacheBlock, ...]:
        """The table of a hit whose length `longest_hit` confirmed; null where the next token reads nothing."""

    def prefix_of(self, request: CacheRequest) -> Prefix:
        return Prefix(self.pool, self.group_id, self.block_size, request.block_hashes, self._pass.is_fresh)

    # ---- demand: queries ----

    def allows_chunk(self, start: int, upto: int) -> bool:
        """Whether tokens `start` to `upto` can be computed in one pass."""
        return True

    def num_new(self, num_entries: int, upto: int) -> int:
        """How many blocks `extend` allocates for a table of `num_entries`."""
        return max(0, self.blocks_for(upto) - num_entries)

    def admission_demand(self, hit: Sequence[KVCacheBlock], num_tokens: int, upto: int) -> int:
        """How many blocks `start` and `extend` allocate; free hit blocks come on top."""
        return self.num_new(len(hit), upto) + (num_tokens % self.block_size != 0)

    def growth_demand(self, request_id: str, computed: int, upto: int) -> int:
        """How many blocks `prepare` and `extend` allocate."""
        return self.num_new(len(self._tables[request_id]), upto)

    # ---- changes ----

    def adopt(self, request_id: str, hit: Sequence[KVCacheBlock], num_tokens: int) -> None:
        """Begin a table with a hit, and take a reference on its blocks."""
        used = [block for block in hit if not block.is_null]
        if used:
            self.pool.touch(used)
        self._tables[request_id] = list(hit)
        self._num_published[request_id] = num_tokens // self.block_size

    def own_tail(self, request_id: str, num_tokens: int) -> None:
        """If a hit ends inside a block, replace this block by a copy that the request may write.

        The reference that the hit took now belongs to the copy, and the new block gets a second one for the same
        purpose. Nothing is copied if the next token reads nothing of that block (a window of one token).
        """
        table = self._tables[request_id]
        if num_tokens % self.block_size == 0 or not table:
            return
        source = table[-1]
        (table[-1],) = self._pass.lend(self.pool, 1)
        if source.is_null:
            self._num_published[request_id] += 1  # its first slots stay empty: it will never be whole
        else:
            self.pool.touch([table[-1]])
            self._pass.add_copy(source, table[-1])

    def prepare(self, request_id: str, computed: int, upto: int) -> None:  # noqa: B027  (most kinds do nothing)
        """Before a running request grows: drop what it no longer reads, make writable what it will write."""

    def extend(self, request_id: str, upto: int) -> None:
        """Allocate the missing entries."""
        table = self._tables[request_id]
        missing = self.num_new(len(table), upto)
        if missing:
            table += self._pass.lend(self.pool, missing)

    @abstractmethod
    def publish(self, request: CacheRequest, scheduled: int, prompt_len: int) -> None:
        """Make findable what this pass completes."""

    def publish_full(self, request: CacheRequest, scheduled: int) -> None:
        """Publish the blocks that are now full, as far as their digests exist."""
        request_id, hashes, unit = request.request_id, request.block_hashes, self.pool.hash_block_size
        first = self._num_published[request_id]
        end = min(scheduled, unit * len(hashes)) // self.block_size
        if not self.pool.enable_caching or end <= first:
            return
        table = self._tables[request_id]
        self.pool.cache_full_blocks(request, table, first, end, self.block_size, self.group_id)
        self._num_published[request_id] = end
        for entry in range(first, end):
            if not table[entry].is_null:
                digest = hashes[(entry + 1) * self.block_size // unit - 1]
                self._pass.note_published(request_id, (digest, self.group_id, table[entry]))

    def publish_prompt_end(self, request: CacheRequest, scheduled: int, prompt_len: int) -> None:
        """Publish the block in which the prompt ends, when the chunk ends with the prompt, inside a block."""
        hashes, unit = request.block_hashes, self.pool.hash_block_size
        cut = prompt_len % self.block_size != 0 and prompt_len % unit == 0
        if not self.pool.enable_caching or scheduled != prompt_len or not cut or prompt_len > unit * len(hashes):
            return
        digest = hashes[prompt_len // unit - 1]
        block = self._tables[request.request_id][prompt_len // self.block_size]
        if (digest, self.group_id) not in self.pool.keys_of(block):
            self.pool.cache_partial_block(request, block, prompt_len, self.group_id, self.block_size)
            self._pass.note_published(request.request_id, (digest, self.group_id, block))

    def surrender(self, request_id: str) -> list[KVCacheBlock]:
        """Forget the table. Returns its blocks, tail first, for the caller to give back."""
        del self._num_published[request_id]
        return [block for block in reversed(self._tables.pop(request_id)) if not block.is_null]
