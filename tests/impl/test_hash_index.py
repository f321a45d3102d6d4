"""The index: equal keys on several blocks, in order of insertion."""

from __future__ import annotations

import pytest

from blockpool.impl import HashIndex, KVCacheBlock, RepeatedBlock, UnknownBlock

D, E = b"d" * 32, b"e" * 32


def test_first_inserted_is_served_until_it_leaves() -> None:
    index = HashIndex()
    a, b, c = (KVCacheBlock(i) for i in range(3))
    for block in (b, a, c):
        index.insert(D, 0, block)
    assert index.get(D, 0) is b
    assert index.blocks(D, 0) == [b, a, c]
    index.remove(D, 0, a)  # from the middle
    index.remove(D, 0, b)  # the first: the next one takes its place
    assert index.get(D, 0) is c
    assert index.blocks(D, 0) == [c]
    assert not index._later, "a single block needs no side table"
    index.remove(D, 0, c)
    assert index.get(D, 0) is None
    assert index.blocks(D, 0) == []
    assert len(index) == 0


def test_groups_are_apart_and_counted_by_key() -> None:
    index = HashIndex()
    a, b = KVCacheBlock(1), KVCacheBlock(2)
    index.insert(D, 0, a)
    index.insert(D, 0, b)
    index.insert(D, 1, b)
    index.insert(E, 1, b)
    assert list(index) == [(D, 0), (D, 1), (E, 1)]
    assert len(index) == 3
    assert (D, 1) in index
    assert (E, 0) not in index
    assert index.get(E, 7) is None
    assert sorted(block.block_id for block in index.all_blocks()) == [1, 2, 2, 2]
    index.clear()
    assert list(index) == []
    assert list(index.all_blocks()) == []


def test_wrong_insertions_and_removals_are_refused() -> None:
    index = HashIndex()
    a, b, c = (KVCacheBlock(i) for i in range(3))
    index.insert(D, 0, a)
    with pytest.raises(RepeatedBlock):
        index.insert(D, 0, a)
    index.insert(D, 0, b)
    with pytest.raises(RepeatedBlock):
        index.insert(D, 0, b)
    for digest, group, block in ((D, 0, c), (D, 1, a), (E, 0, a)):
        with pytest.raises(UnknownBlock):
            index.remove(digest, group, block)
    assert index.blocks(D, 0) == [a, b]
