"""Which blocks carry a key: one dict per group, from the raw prefix digest to the first block that carries it.

Equal keys on several blocks are all kept. The dicts hold only the first inserted; later ones wait in a side table
that is normally empty. So a lookup is one dict access with no test of what it found, and one test of the side table
tells a whole call whether it has to care for copies.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from blockpool.impl.errors import RepeatedBlock, UnknownBlock

if TYPE_CHECKING:
    from blockpool.impl.block import KVCacheBlock


class Group(dict[bytes, "KVCacheBlock"]):
    """The first block of each digest of one group. A block refers to it: saves an eviction the search for it.

    `claim` and `find` are setdefault and get, bound once: CPython looks up methods of a dict's subclass slowly.
    """

    __slots__ = ("claim", "find", "group_id")

    def __init__(self, group_id: int) -> None:
        self.group_id = group_id
        self.claim = self.setdefault
        self.find = self.get


NO_GROUP = Group(0)
"""That of blocks without a key."""


class HashIndex:
    """Maps a key, (digest, group id), to the blocks that carry it, in the order in which they were inserted."""

    __slots__ = ("_groups", "_later")

    def __init__(self) -> None:
        self._groups: dict[int, Group] = {}
        # An OrderedDict stays O(1) when copies leave in the order they came; a list or dict would rescan its front.
        self._later: dict[tuple[bytes, int], OrderedDict[KVCacheBlock, None]] = {}

    def group(self, group_id: int) -> Group:
        """The live dict of one group, made on first use."""
        group = self._groups.get(group_id)
        if group is None:
            group = self._groups[group_id] = Group(group_id)
        return group

    def get(self, digest: bytes, group_id: int) -> KVCacheBlock | None:
        """The block a lookup serves, the first inserted that still carries the key; None if there is none."""
        group = self._groups.get(group_id)
        return None if group is None else group.get(digest)

    def blocks(self, digest: bytes, group_id: int) -> list[KVCacheBlock]:
        """All blocks that carry the key, in order of insertion."""
        first = self.get(digest, group_id)
        return [] if first is None else [first, *self._later.get((digest, group_id), ())]

    def insert(self, digest: bytes, group_id: int, block: KVCacheBlock) -> None:
        """Add `block` as the last that carries the key. O(1)."""
        group = self.group(group_id)
        first = group.get(digest)
        if first is None:
            group[digest] = block
        elif block is first or block in self._later.get((digest, group_id), ()):
            raise RepeatedBlock("insert", "the block carries the key already", block.block_id)
        else:
            self.insert_copy(digest, group_id, block)

    def insert_copy(self, digest: bytes, group_id: int, block: KVCacheBlock) -> None:
        """Add `block` behind the first that carries the key. O(1)."""
        self._later.setdefault((digest, group_id), OrderedDict())[block] = None

    def remove(self, digest: bytes, group_id: int, block: KVCacheBlock) -> None:
        """Take `block` from the key; the next inserted becomes the first. O(1)."""
        group = self.group(group_id)
        copies = self._later.get((digest, group_id)) if self._later else None
        if group.get(digest) is block:
            if copies is None:
                del group[digest]
                return
            group[digest], _ = copies.popitem(last=False)
        elif copies is not None and block in copies:
            del copies[block]
        else:
            raise UnknownBlock("remove", "the block does not carry the key", block.block_id)
        if not copies:
            del self._later[(digest, group_id)]

    def all_blocks(self) -> Iterator[KVCacheBlock]:
        """Each block that carries a key, once for each of its keys."""
        for group in self._groups.values():
            yield from group.values()
        for copies in self._later.values():
            yield from copies

    def clear(self) -> None:
        self._groups.clear()
        self._later.clear()

    def __contains__(self, key: tuple[bytes, int]) -> bool:
        return self.get(*key) is not None

    def __len__(self) -> int:
        """Number of keys, however many blocks carry them."""
        return sum(len(group) for group in self._groups.values())

    def __iter__(self) -> Iterator[tuple[bytes, int]]:
        """The keys, as (digest, group id)."""
        for group_id, group in self._groups.items():
            for digest in group:
                yield digest, group_id
