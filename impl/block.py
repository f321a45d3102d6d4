"""One block of KV memory as the pool sees it: an id, a count, a key and two links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from blockpool.impl.hash_index import NO_GROUP, Group

if TYPE_CHECKING:
    from blockpool.impl.pool import BlockPool


class KVCacheBlock:
    """A block. Compared and hashed by identity: block 3 of one pool is not block 3 of another.

    `block_id` (0 to size - 1), `ref_cnt` (references held) and `pool` (the owner) are for reading. The links are set
    exactly while the block is in a free queue. The key can be read through `block_hash`, never set or reset: a key
    that changes behind the index would serve foreign content.

    Eight slots and nothing else: what is rare (aliases, watchers) lives in tables of the pool, which keeps an empty
    block small and tells in one test a call whether any block has them.
    """

    __slots__ = (  # noqa: RUF023  (what callers read comes first)
        "block_id",
        "ref_cnt",
        "pool",
        "prev_free_block",
        "next_free_block",
        "_digest",
        "_group",
        "_num_tokens",
    )

    is_null: ClassVar[bool] = False

    block_id: int
    ref_cnt: int
    # A second name of that slot, for the hot loops. An object that only looks like a block does not have it, which
    # saves them the test of what was named.
    _refs: Any
    pool: BlockPool | None
    prev_free_block: KVCacheBlock | None
    next_free_block: KVCacheBlock | None
    # The primary key. Without a digest the other two are stale and mean nothing: it saves two writes an eviction.
    _digest: bytes | None
    _group: Group
    _num_tokens: int

    def __init__(self, block_id: int, pool: BlockPool | None = None) -> None:
        self.block_id = block_id
        self.ref_cnt = 0
        self.pool = pool
        self.prev_free_block = None
        self.next_free_block = None
        self._digest = None
        self._group = NO_GROUP
        self._num_tokens = 0

    @property
    def block_hash(self) -> bytes | None:
        """The primary key, prefix digest and four-byte group id in one, or None when the block is not cached."""
        digest = self._digest
        return None if digest is None else digest + self._group.group_id.to_bytes(4, "big")

    @property
    def block_hash_num_tokens(self) -> int | None:
        """How many tokens of the prefix the primary key covers, or None when the block is not cached."""
        return None if self._digest is None else self._num_tokens

    def __copy__(self) -> KVCacheBlock:
        raise TypeError("a block is one piece of memory and cannot be copied; keep a reference to it")

    def __deepcopy__(self, memo: object) -> KVCacheBlock:
        return self.__copy__()

    def __repr__(self) -> str:
        # Links are shown as a flag: following them would recurse through the whole queue.
        digest = self._digest
        key = "None" if digest is None else f"{digest.hex()[:8]}/group {self._group.group_id}/{self._num_tokens} tokens"
        queued = self.next_free_block is not None
        return f"{type(self).__name__}(block_id={self.block_id}, ref_cnt={self.ref_cnt}, key={key}, queued={queued})"


KVCacheBlock._refs = KVCacheBlock.__dict__["ref_cnt"]


class NullKVCacheBlock(KVCacheBlock):
    """The placeholder in block tables, block 0 of every pool: never lent, queued, keyed or watched."""

    __slots__ = ()

    is_null: ClassVar[bool] = True
