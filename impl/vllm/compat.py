"""What vLLM tolerates and we do not, for callers that depend on it: BLOCKPOOL_VLLM_COMPAT=1.

- Blocks that no pool made (tests put them into block tables) can be published, and are passed over when released.
- The inside of the index can be written, as vLLM's own tests do: `insert`, `pop`, `_cache`, and `set_block_hash` and
  `reset_hash` of a block. Also of free blocks and of the null block. Block and index always change together here.
- Stored events name the parent even if nobody can find it, and hits are reported even if nobody can find them.

All other rules stay: a count that goes below zero or a block lent twice is not something a caller can depend on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from blockpool.impl import events
from blockpool.impl.block import KVCacheBlock, NullKVCacheBlock
from blockpool.impl.hashing import get_block_hash, get_group_id, make_block_hash_with_group_id
from blockpool.impl.vllm.pool import KeyedIndex, RequestForEvents, VllmBlockPool, utils


class CompatBlockPool(VllmBlockPool):
    """The pool with that switch on."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.cached_block_hash_to_block = OpenIndex(self)
        for block in self.blocks:
            block.__class__ = OpenNullBlock if block.is_null else OpenBlock

    def cache_full_blocks(
        self,
        request: Any,
        blocks: Sequence[Any],
        num_cached_blocks: int,
        num_full_blocks: int,
        block_size: int,
        kv_cache_group_id: int,
        block_mask: Sequence[bool] | None = None,
    ) -> None:
        """As VllmBlockPool.cache_full_blocks, stand-ins for blocks included."""
        first, end, told_before = num_cached_blocks, num_full_blocks, len(self.kv_event_queue)
        positions = range(first, min(end, len(blocks)))
        stand_ins = {j for j in positions if is_stand_in(blocks[j]) and (block_mask is None or block_mask[j - first])}
        mask = block_mask
        if stand_ins:
            mask = [j not in stand_ins and (block_mask is None or block_mask[j - first]) for j in positions]
        super().cache_full_blocks(request, blocks, first, end, block_size, kv_cache_group_id, mask)
        for j in stand_ins:
            digest = request.block_hashes[(j + 1) * block_size // self.hash_block_size - 1]
            key = make_block_hash_with_group_id(digest, kv_cache_group_id)
            blocks[j].set_block_hash(key, (j + 1) * block_size)
            self.cached_block_hash_to_block.insert(digest, kv_cache_group_id, blocks[j])
        self._name_parents(request, told_before)

    def cache_partial_block(self, request: Any, *args: Any, **kwargs: Any) -> bytes | None:
        """As BlockPool.cache_partial_block."""
        told_before = len(self.kv_event_queue)
        key = super().cache_partial_block(request, *args, **kwargs)
        self._name_parents(request, told_before)
        return key

    def emit_cached_block_events(
        self, request: Any, num_cached_blocks: int, block_size: int, kv_cache_group_id: int
    ) -> None:
        """Report the first blocks of a request, findable or not."""
        if self.enable_kv_cache_events and num_cached_blocks > 0:
            view, call = RequestForEvents(self, request), "emit_cached_block_events"
            stored = events.stored_event(self, call, view, 0, num_cached_blocks, block_size, kv_cache_group_id)
            self.kv_event_queue.append(stored)

    def free_blocks(self, ordered_blocks: Iterable[Any]) -> None:
        """As BlockPool.free_blocks; stand-ins for blocks are passed over."""
        super().free_blocks([block for block in ordered_blocks if not is_stand_in(block)])

    def _name_parents(self, request: Any, told_before: int) -> None:
        """Put the parents into the Stored events of one call."""
        new: list[Any] = self.kv_event_queue[told_before:]
        stored = [event for event in new if hasattr(event, "parent_block_hash")]
        if stored:
            external = [utils.maybe_convert_block_hash(digest) for digest in request.block_hashes]
            for event in stored:
                before = external.index(event.block_hashes[0]) - event.block_size // self.hash_block_size
                event.parent_block_hash = external[before] if before >= 0 else None

    def _drop_one_key(self, block: KVCacheBlock, gone: tuple[bytes, int]) -> None:
        """Take one key from a block; a further key becomes its primary if that was it."""
        keys, tokens = self.keys_of(block), block._num_tokens
        for digest, group_id in keys:
            self.cached_block_hash_to_block.remove(digest, group_id, block)
        block._digest = None
        self._aliases.pop(block, None)
        for digest, group_id in keys:
            if (digest, group_id) != gone:
                self._add_key(make_block_hash_with_group_id(digest, group_id), block, tokens)


def is_stand_in(block: Any) -> bool:
    """Is it a block that no pool made?"""
    return getattr(block, "pool", None) is None


class OpenBlock(KVCacheBlock):
    """A block whose key can be set and reset. It is in the index exactly if it has a key."""

    __slots__ = ()

    def set_block_hash(self, block_hash: bytes, num_tokens: int | None = None) -> None:
        """Give the block its primary key."""
        assert self._digest is None, "the block has a key already"
        assert isinstance(self.pool, CompatBlockPool)
        self.pool._add_key(block_hash, self, num_tokens)

    def reset_hash(self) -> None:
        """Take all keys."""
        assert isinstance(self.pool, CompatBlockPool)
        for key in self.pool.keys_of(self):
            self.pool._drop_one_key(self, key)

    @property
    def _block_hash(self) -> bytes | None:
        return self.block_hash

    @_block_hash.setter
    def _block_hash(self, block_hash: bytes | None) -> None:
        self.reset_hash()
        if block_hash is not None:
            self.set_block_hash(block_hash)


class OpenNullBlock(OpenBlock, NullKVCacheBlock):
    """The null block, with the same doors."""

    __slots__ = ()


class OpenIndex(KeyedIndex):
    """The index with the doors that vLLM's tests use."""

    __slots__ = ("_pool",)

    def __init__(self, pool: CompatBlockPool) -> None:
        super().__init__()
        self._pool = pool

    @property
    def _cache(self) -> Inside:
        return Inside(self, self._pool)

    def insert(self, *args: Any) -> None:
        """Of a digest, a group id and a block, as ours; of both in one and a block, as vLLM's."""
        if len(args) == 3:
            super().insert(*args)
        else:
            key, block = args
            self._pool._add_key(key, block, block._num_tokens)

    def pop(self, key: bytes, block_id: int) -> KVCacheBlock | None:
        """Take the key from the block of this id."""
        for block in self.blocks(get_block_hash(key), get_group_id(key)):
            if block.block_id == block_id:
                self._pool._drop_one_key(block, (get_block_hash(key), get_group_id(key)))
                return block
        return None


class Inside:
    """What looks like the dict inside vLLM's index: a key to its block, or to a dict of its blocks by id."""

    def __init__(self, index: OpenIndex, pool: CompatBlockPool) -> None:
        self._index = index
        self._pool = pool

    def __copy__(self) -> dict[bytes, Any]:
        return {make_block_hash_with_group_id(*key): _packed(self._index.blocks(*key)) for key in self._index}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, dict):
            return NotImplemented
        return {key: _listed(value) for key, value in self.__copy__().items()} == {
            key: _listed(value) for key, value in other.items()
        }

    __hash__ = None  # type: ignore[assignment]

    def __setitem__(self, key: bytes, value: Any) -> None:
        for block in _listed(value):
            self._pool._add_key(key, block, block._num_tokens)

    def values(self) -> list[Any]:
        """The block, or the dict of blocks, of each key."""
        return list(self.__copy__().values())

    def pop(self, key: bytes) -> Any:
        """Take the key from all its blocks."""
        blocks = self._index.blocks(get_block_hash(key), get_group_id(key))
        if not blocks:
            raise KeyError(key)
        for block in blocks:
            self._pool._drop_one_key(block, (get_block_hash(key), get_group_id(key)))
        return _packed(blocks)

    def clear(self) -> None:
        """Take all keys from all blocks."""
        for key in self.__copy__():
            self.pop(key)


def _packed(blocks: list[KVCacheBlock]) -> Any:
    return blocks[0] if len(blocks) == 1 else {block.block_id: block for block in blocks}


def _listed(value: Any) -> list[KVCacheBlock]:
    return list(value.values()) if isinstance(value, dict) else [value]
