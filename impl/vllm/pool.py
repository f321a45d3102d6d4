"""The pool with the face that vLLM 0.33 knows: its events, and the inner methods that its other parts call.

Imported only where vLLM is installed: `replace.py` decides that. What vLLM's own tests do to the inside of its pool
is not here but in `compat.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, SupportsIndex

from blockpool.impl import publish
from blockpool.impl.block import KVCacheBlock
from blockpool.impl.checks import caching_is_on, not_while_telling, own_block
from blockpool.impl.errors import BadRange, NotHeld, NullBlock
from blockpool.impl.events import AllBlocksCleared, BlockRemoved, BlockStored
from blockpool.impl.hash_index import HashIndex
from blockpool.impl.hashing import get_block_hash, get_group_id, make_block_hash_with_group_id
from blockpool.impl.pool import BlockPool

told = import_module("vllm.distributed.kv_events")
utils = import_module("vllm.v1.core.kv_cache_utils")


class VllmBlockPool(BlockPool):
    """The pool that takes the place of vLLM's. Same arguments, same answers; events are of vLLM's classes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.cached_block_hash_to_block: KeyedIndex = KeyedIndex()
        self.kv_event_queue = Outbox()

    def cache_full_blocks(
        self,
        request: Any,
        blocks: Sequence[KVCacheBlock],
        num_cached_blocks: int,
        num_full_blocks: int,
        block_size: int,
        kv_cache_group_id: int,
        block_mask: Sequence[bool] | None = None,
    ) -> None:
        """As BlockPool.cache_full_blocks; a range without blocks is nothing to do, whatever else was passed."""
        if num_cached_blocks >= num_full_blocks:
            return
        if self.enable_kv_cache_events:
            request = RequestForEvents(self, request)
        super().cache_full_blocks(
            request, blocks, num_cached_blocks, num_full_blocks, block_size, kv_cache_group_id, block_mask
        )

    def cache_partial_block(self, request: Any, *args: Any, **kwargs: Any) -> bytes | None:
        """As BlockPool.cache_partial_block."""
        if self.enable_kv_cache_events:
            request = RequestForEvents(self, request)
        return super().cache_partial_block(request, *args, **kwargs)

    def emit_cached_block_events(self, request: Any, *args: Any, **kwargs: Any) -> None:
        """As BlockPool.emit_cached_block_events."""
        if self.enable_kv_cache_events:
            super().emit_cached_block_events(RequestForEvents(self, request), *args, **kwargs)

    def take_events(self) -> list[Any]:
        """As BlockPool.take_events."""
        if not self.enable_kv_cache_events:
            return []
        taken = super().take_events()
        self.kv_event_queue = Outbox()
        return taken

    # ---- what the offloading manager, HiSparse and the Mamba manager use of the inside ----

    @property
    def cached_block_hashes_by_block(self) -> Mapping[int, frozenset[bytes]]:
        """The further keys of each block that has some, by its id."""
        return FurtherKeys(self)

    def _insert_block_hash(self, block_hash_with_group_id: bytes, block: KVCacheBlock, num_tokens: int | None) -> None:
        """Give a held block one more key, without an event: the first is its primary key, others are aliases.

        Raises: CachingDisabled, UnknownBlock, NullBlock, NotHeld, BadRange, ReEntrant.
        """
        call = "_insert_block_hash"
        not_while_telling(self, call)
        caching_is_on(self, call)
        if own_block(self, call, block).is_null:
            raise NullBlock(call, "the null block cannot be cached", block.block_id)
        if block.ref_cnt == 0:
            raise NotHeld(call, "the block is free", block.block_id)
        if block._digest is None and num_tokens is None:
            raise BadRange(call, "the first key of a block needs its number of tokens")
        self._add_key(block_hash_with_group_id, block, num_tokens)

    def _add_key(self, key: bytes, block: KVCacheBlock, num_tokens: int | None) -> None:
        digest, group_id = get_block_hash(key), get_group_id(key)
        if (digest, group_id) in self.keys_of(block):
            return
        if block._digest is None:
            publish.set_primary(self, block, digest, group_id, num_tokens or 0)
        else:
            self.cached_block_hash_to_block.insert(digest, group_id, block)
            self._aliases.setdefault(block, []).append((digest, group_id))

    def _maybe_evict_cached_block(self, block: KVCacheBlock) -> bool:
        """Drop all keys of `block`: whether it had any."""
        had_keys = own_block(self, "_maybe_evict_cached_block", block)._digest is not None
        self.evict_blocks({block.block_id})
        return had_keys


class KeyedIndex(HashIndex):
    """The index as other parts of vLLM ask it: by digest and group id in one."""

    __slots__ = ()

    def get_one_block(self, key: bytes) -> KVCacheBlock | None:
        """The block that a lookup serves."""
        return self.get(get_block_hash(key), get_group_id(key))

    def contain(self, key: bytes, block_id: int) -> bool:
        """Whether the block of this id carries the key."""
        return any(block.block_id == block_id for block in self.blocks(get_block_hash(key), get_group_id(key)))


class FurtherKeys(Mapping[int, frozenset[bytes]]):
    """A view of the aliases of a pool, by block id."""

    def __init__(self, pool: BlockPool) -> None:
        self._pool = pool

    def __getitem__(self, block_id: int) -> frozenset[bytes]:
        aliases = self._pool._aliases[self._pool.blocks[block_id]]
        return frozenset(make_block_hash_with_group_id(digest, group_id) for digest, group_id in aliases)

    def __iter__(self) -> Iterator[int]:
        return (block.block_id for block in self._pool._aliases)

    def __len__(self) -> int:
        return len(self._pool._aliases)


class RequestForEvents:
    """A request of vLLM as our events read it."""

    __slots__ = (
        "_ahead",
        "_item",
        "_request",
        "_start",
        "adapter",
        "all_token_ids",
        "block_hashes",
        "request_id",
        "session_id",
    )

    def __init__(self, pool: BlockPool, request: Any) -> None:
        self._request = request
        self._ahead = pool.num_hash_lookahead_tokens
        self._start = self._item = 0  # what was asked last, and the multimodal item where the search goes on
        self.request_id = request.request_id
        self.block_hashes = request.block_hashes
        self.all_token_ids = request.all_token_ids
        self.adapter = request.lora_request
        self.session_id = request.session_id

    def extra_keys_for(self, start: int, end: int) -> tuple[Any, ...] | None:
        """What else the content of these tokens depends on. Asked in ascending order, or from the beginning again."""
        if start <= self._start:
            self._item = 0
        self._start = start
        if self._ahead:
            keys, self._item = utils.generate_lookahead_block_hash_extra_keys(
                self._request, start, end, end + self._ahead, self._item
            )
        else:
            keys, self._item = utils.generate_block_hash_extra_keys(self._request, start, end, self._item)
        published: list[tuple[Any, ...] | None] = utils.to_event_extra_keys([keys])
        return published[0]


class Outbox(list[Any]):
    """Events on their way. Ours are put into vLLM's classes when they come in; others write into this list too."""

    def append(self, event: Any, /) -> None:
        super().append(in_vllm_words(event))

    def insert(self, index: SupportsIndex, event: Any, /) -> None:
        super().insert(index, in_vllm_words(event))


def in_vllm_words(event: Any) -> Any:
    """An event of ours as one of vLLM's; any other as it is."""
    external = utils.maybe_convert_block_hash
    match event:
        case BlockRemoved():
            digests = [external(digest) for digest in event.block_hashes]
            return told.BlockRemoved(digests, event.medium, event.group_idx)
        case BlockStored(parent_block_hash=parent):
            return told.BlockStored(
                block_hashes=[external(digest) for digest in event.block_hashes],
                parent_block_hash=None if parent is None else external(parent),
                token_ids=event.token_ids,
                block_size=event.block_size,
                lora_id=event.lora_id,
                medium=event.medium,
                lora_name=event.lora_name,
                extra_keys=event.extra_keys,
                group_idx=event.group_idx,
                session_id=event.session_id,
                lookahead_token_ids=event.lookahead_token_ids,
            )
        case AllBlocksCleared():
            return told.AllBlocksCleared()
    return event
