"""vllm-mlx's PagedCacheManager, a port of vLLM's pool of 2025 with a lock and copy-on-write.

It hashes tokens itself, so a key is lowered to a block of one token that no other key has. The block before the
published ones is the one that carries the parent's key; if none does, it is one without a key.
"""

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from importlib.metadata import version
from typing import Any

from blockpool.proofs.oracle.adapter import Refusal
from blockpool.spec.contract.calls import BlockName, Started
from blockpool.spec.contract.profiles import PROFILES

PROFILE = replace(
    PROFILES["order-a"],
    name="vllm-mlx",
    sentence="A plain queue; the null block may be freed, but has no place among published blocks.",
    reserved="wrong",
)


class MlxPool:
    """The adapter: names of blocks are block ids, and block 0 is the null block."""

    def __init__(self) -> None:
        self.module = import_module("vllm_mlx.paged_cache")
        self.module.logger.disabled = True  # it warns of every refusal
        self.name = f"vllm-mlx {version('vllm-mlx')}"
        self.profile = PROFILE

    def start(self, blocks: int, caching: bool, events: bool, groups: int) -> Started:
        if events or groups > 1:
            raise Refusal("vllm-mlx has no KV events, and one group")
        self.pool = self.module.PagedCacheManager(block_size=1, max_blocks=blocks + 1, enable_caching=caching)
        self._strangers: dict[BlockName, Any] = {}
        self._tokens: dict[str, int] = {}
        self._hashes: dict[str, bytes] = {}
        order = tuple(block.block_id for block in self.pool.free_block_queue.get_all_free_blocks())
        return Started(capacity=blocks, reserved=(0,), order=order)

    def alloc(self, count: int) -> list[BlockName]:
        free = self.pool.free_blocks
        try:
            return [block.block_id for block in self.pool.get_new_blocks(count)]
        except ValueError as error:
            if count > free:
                raise Refusal(str(error)) from error
            raise

    def share(self, blocks: Sequence[BlockName]) -> None:
        self.pool.touch(self._blocks(blocks))

    def free(self, blocks: Sequence[BlockName]) -> None:
        self.pool.free_block_batch(self._blocks(blocks))

    def free_count(self) -> int:
        count: int = self.pool.free_blocks
        return count

    def publish(
        self, blocks: Sequence[BlockName], keys: Sequence[str], tokens: Sequence[int], parent: str | None, group: int
    ) -> list[BlockName]:
        before = parent
        for key in keys:
            self._hashes[key] = self._hash(key, before)
            before = key
        first = 0 if parent is None else 1
        self.pool.cache_full_blocks(
            [self._carrier(parent)] * first + self._blocks(blocks),
            [0] * first + [self._token(key) for key in keys],
            first,
            first + len(blocks),
        )
        return list(blocks)

    def lookup(self, key: str, groups: Sequence[int]) -> list[BlockName] | None:
        block = self.pool.get_cached_block(self._hashes.get(key, self._hash(key, None)))
        return None if block is None else [block.block_id] * len(groups)

    def reset(self) -> bool:
        answer: bool = self.pool.reset_prefix_cache()
        return answer

    def _token(self, key: str) -> int:
        return self._tokens.setdefault(key, len(self._tokens) + 1)

    def _hash(self, key: str, parent: str | None) -> bytes:
        """What the pool computes for a key when its parent is known."""
        above = None if parent is None else self._hashes.get(parent, self._hash(parent, None))
        digest: bytes = self.module.compute_block_hash(above, [self._token(key)])
        return digest

    def _carrier(self, key: str | None) -> Any:
        found = None if key is None else self.pool.get_cached_block(self._hashes.get(key, self._hash(key, None)))
        return found or self.module.CacheBlock(block_id=-1)

    def _blocks(self, names: Sequence[BlockName]) -> list[Any]:
        return [self._block(name) for name in names]

    def _block(self, name: BlockName) -> Any:
        if isinstance(name, int) and 0 <= name < len(self.pool.blocks):
            return self.pool.blocks[name]
        return self._strangers.setdefault(name, self.module.CacheBlock(block_id=name, ref_count=1))
