"""MAX's JengaBlockPool, written in Rust: here with one cache, whose blocks are as large as the pool's own.

It handles one block at a time: a call on several is lowered to as many calls, so of a wrong one the first part may be
done, which is no fault of the pool. A count is lent after asking whether it can be served. Its reset keeps what is
held, which is not a reset in the oracle's words and is left out.
"""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from importlib import import_module
from importlib.metadata import version
from typing import Any

from blockpool.proofs.oracle.adapter import Refusal
from blockpool.spec.contract.calls import BlockName, Started
from blockpool.spec.contract.profiles import PROFILES

PROFILE = replace(
    PROFILES["index"],
    name="max-jenga",
    sentence="Least recently used blocks are evicted first; an equal block is put in a published one's place.",
    order="lru",
    duplicates="dedup",
)
_CACHE = "kv"


class JengaPool:
    """The adapter: names of blocks are block ids of the one cache, and block 0 is the null block."""

    def __init__(self) -> None:
        self._class = import_module("max._kv_core").JengaBlockPool
        self.name = f"MAX Jenga {version('max')}"
        self.profile = PROFILE

    def start(self, blocks: int, caching: bool, events: bool, groups: int) -> Started:
        if not caching or events or groups > 1:
            raise Refusal("this pool always caches, has no KV events, and is driven with one group")
        self.pool = self._class(blocks + 1, {_CACHE: 1})
        self._foreign = self._class(64, {_CACHE: 1})
        self._strangers: dict[BlockName, Any] = {}
        return Started(capacity=blocks, reserved=(0,))

    def alloc(self, count: int) -> list[BlockName]:
        if count < 0:
            raise Refusal("the pool lends one block at a time; there is no negative count")
        if not self.pool.can_satisfy_demand({_CACHE: count}):
            raise Refusal(f"{count} blocks cannot be served")
        return [self.pool.alloc_block(_CACHE).bid for _ in range(count)]

    def share(self, blocks: Sequence[BlockName]) -> None:
        for block in self._blocks(blocks):
            self._ask("touch", block)

    def free(self, blocks: Sequence[BlockName]) -> None:
        for block in self._blocks(blocks):
            self._ask("free_block", block)

    def free_count(self) -> int:
        count: int = self.pool.num_free_blocks(_CACHE)
        return count

    def publish(
        self, blocks: Sequence[BlockName], keys: Sequence[str], tokens: Sequence[int], parent: str | None, group: int
    ) -> list[BlockName]:
        held = []
        for key, block in zip(keys, self._blocks(blocks), strict=True):
            twin = self._ask("get_or_commit_into_prefix_cache", _hash(key), block)
            held.append((twin or block).bid)
        return held

    def lookup(self, key: str, groups: Sequence[int]) -> list[BlockName] | None:
        block = self.pool.prefix_caches[_CACHE].get(_hash(key))
        return None if block is None else [block.bid] * len(groups)

    def unpublish(self, blocks: Sequence[BlockName]) -> None:
        for block in self._blocks(blocks):
            self._ask("uncommit_block", block)

    def _ask(self, method: str, *arguments: Any) -> Any:
        try:
            return getattr(self.pool, method)(*arguments)
        except ValueError as error:  # how it refuses blocks of another pool; broken invariants panic
            raise Refusal(str(error)) from error

    def _blocks(self, names: Sequence[BlockName]) -> list[Any]:
        return [self._block(name) for name in names]

    def _block(self, name: BlockName) -> Any:
        if isinstance(name, int) and 0 <= name < self.pool.num_huge_blocks:
            return self.pool.block(_CACHE, name)
        if name not in self._strangers:
            self._strangers[name] = self._foreign.alloc_block(_CACHE)
        return self._strangers[name]


def _hash(key: str) -> bytes:
    return sha256(key.encode()).digest()
