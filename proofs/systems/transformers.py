"""The pool of transformers' continuous batching: CachePool (which blocks are free) and BlockLedger (who shares what).

Only their two files are run. What the rest of the package adds is repeated here as it does it: sectors are claimed when
blocks run out, all cached blocks are evicted when sectors run out, and a block whose content is known already is given
back for the known one.
"""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b
from importlib.metadata import version

from blockpool.proofs.oracle.adapter import Refusal
from blockpool.proofs.systems.isolated import Isolated, files_of
from blockpool.spec.contract.calls import BlockName, Started
from blockpool.spec.contract.profiles import PROFILES

PROFILE = replace(
    PROFILES["index"],
    name="transformers",
    sentence="Cached blocks are evicted all at once; an equal block is put in a published one's place.",
    keys_last="under_pressure",
    duplicates="dedup",
    exhaustion="may_evict",
)
_FOLDER = "generation.continuous_batching.cache_allocators"
_RESERVED_SECTORS = 2  # as on a GPU: for padding to read from and to write to


class TransformersPool:
    """The adapter: names of blocks are block ids, two blocks a sector if their number is even."""

    def __init__(self) -> None:
        files = files_of("transformers", f"{_FOLDER}.cache_pool", f"{_FOLDER}.cache_allocator")
        world = Isolated("transformers", files, frozenset())
        pool, allocator = (world.module(name) for name in files)
        self._pool_class, self._ledger_class = pool.CachePool, allocator.BlockLedger
        self.name = f"transformers {version('transformers')}"
        self.profile = PROFILE

    def start(self, blocks: int, caching: bool, events: bool, groups: int) -> Started:
        if not caching or events or groups > 1:
            raise Refusal("this pool always caches, has no KV events, and is driven with one group")
        self.sector = 1 if blocks % 2 else 2
        self.pool = self._pool_class(blocks // self.sector, 1, _RESERVED_SECTORS)
        self.pool.set_blocks_per_sector(0, self.sector)
        self.ledger = self._ledger_class()
        return Started(capacity=blocks, reserved=tuple(range(_RESERVED_SECTORS * self.sector)))

    def alloc(self, count: int) -> list[BlockName]:
        if self._sectors_missing(count) > self.pool.num_free_sectors:
            self.pool.free_blocks(0, self.ledger.evict_cached_blocks())
        missing = self._sectors_missing(count)
        if missing > self.pool.num_free_sectors:
            raise Refusal(f"{missing} more sectors are needed, {self.pool.num_free_sectors} are free")
        for _ in range(missing):
            self.pool.allocate_sector(0)
        blocks: list[BlockName] = self.pool.get_free_blocks(0, count)
        return blocks

    def _sectors_missing(self, count: int) -> int:
        lacking: int = count - self.pool.count_free_blocks(0)
        return max(0, -(-lacking // self.sector))

    def share(self, blocks: Sequence[BlockName]) -> None:
        for block in blocks:
            self.ledger.acquire(block)

    def free(self, blocks: Sequence[BlockName]) -> None:
        self.pool.free_blocks(0, [block for block in blocks if self.ledger.release(block)])

    def free_count(self) -> int:
        in_sectors = self.pool.num_free_sectors * self.sector
        count: int = in_sectors + self.pool.count_free_blocks(0) + len(self.ledger.cached_blocks)
        return count

    def publish(
        self, blocks: Sequence[BlockName], keys: Sequence[str], tokens: Sequence[int], parent: str | None, group: int
    ) -> list[BlockName]:
        return [self._deduplicated(block, key) for block, key in zip(blocks, keys, strict=True)]

    def _deduplicated(self, block: BlockName, key: str) -> BlockName:
        known: BlockName | None = self.ledger.register_new_hash(block, _hash(key))
        if known is None:
            return block
        self.ledger.acquire(known)
        if self.ledger.release(block):
            self.pool.free_blocks(0, [block])
        return known

    def lookup(self, key: str, groups: Sequence[int]) -> list[BlockName] | None:
        block = self.ledger.hash_to_block.get(_hash(key))
        return None if block is None else [block] * len(groups)


def _hash(key: str) -> int:
    """Eight bytes, as the package's own hashes."""
    return int.from_bytes(blake2b(key.encode(), digest_size=8).digest(), "little")
