"""Keys: what must be told apart is, and a request's digests grow with it."""

from __future__ import annotations

import hashlib
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockpool.impl import (
    Adapter,
    BadRange,
    Item,
    Request,
    get_block_hash,
    get_group_id,
    hash_block_tokens,
    make_block_hash_with_group_id,
)


def digests(tokens: Any = range(8), unit: int = 2, **extras: Any) -> list[bytes]:
    return Request("r", tokens, unit, **extras).block_hashes


def test_the_packing_is_the_documented_one() -> None:
    text = b"root" + bytes(8) + b"T" + struct.pack(">Qqq", 2, 7, -1)
    assert hash_block_tokens(None, [7, -1]) == hashlib.sha256(text).digest()
    text = b"root" + bytes(8) + b"V" + struct.pack(">QQ", 1, 9) + b"\x01" + bytes(8)
    assert hash_block_tokens(None, [2**64]) == hashlib.sha256(text).digest()
    extra = b"s" + struct.pack(">Q", 4) + b"salt" + b"i" + struct.pack(">Q", 2) + b"\x00\x80"
    text = b"child" + struct.pack(">Q", 1) + b"p" + b"T" + bytes(8) + b"extra" + struct.pack(">Q", len(extra)) + extra
    assert hash_block_tokens(b"p", [], [("salt", 128)]) == hashlib.sha256(text).digest()


def test_each_ingredient_separates() -> None:
    h = hash_block_tokens
    p, q = b"p" * 32, b"q" * 32
    different = [
        h(None, [1, 2]),
        h(None, [2, 1]),
        h(None, [1]),
        h(None, [1, 2, 0]),
        h(None, [12]),
        h(None, []),
        h(None, [-1]),
        h(None, [2**63]),  # does not fit in eight bytes
        h(None, [-(2**63) - 1]),
        h(None, [2**63, 1]),
        h(p, [1, 2]),
        h(q, [1, 2]),
        h(b"", [1, 2]),
        h(None, [1, 2], [("adapter", "x")]),
        h(None, [1, 2], [("salt", "x")]),
        h(None, [1, 2], [("salt", b"x")]),
        h(None, [1, 2], [("salt", "x", None)]),
        h(None, [1, 2], [("salt",), ("x",)]),
        h(None, [1, 2], [("saltx",)]),
        h(None, [1, 2], [("a", 1), ("b", 2)]),
        h(None, [1, 2], [("b", 2), ("a", 1)]),
        h(None, [1, 2], [("a", 1, "b", 2)]),
        h(None, [1, 2], [("salt", 1)]),
        h(None, [1, 2], [("salt", "1")]),
        h(None, [1, 2], [("salt", "\ud800")]),
        h(None, [1, 2], [()]),
    ]
    assert len(set(different)) == len(different)
    assert all(len(digest) == 32 for digest in different)


Field = st.one_of(st.none(), st.text(max_size=3), st.binary(max_size=3), st.integers(-300, 300))
Inputs = st.tuples(
    st.one_of(st.none(), st.binary(max_size=2)),
    st.lists(st.integers(-(2**65), 2**65), max_size=3).map(tuple),
    st.lists(st.lists(Field, max_size=3).map(tuple), max_size=3).map(tuple),
)


@given(Inputs, Inputs)
def test_equal_digests_mean_equal_inputs(a: Any, b: Any) -> None:
    assert (hash_block_tokens(*a) == hash_block_tokens(*b)) == (a == b)


def test_wrong_types_do_not_hash() -> None:
    with pytest.raises(TypeError, match="float"):
        hash_block_tokens(None, [1], [("a", 1.5)])  # type: ignore[list-item]
    with pytest.raises((TypeError, AttributeError)):
        hash_block_tokens(None, [1.5])  # type: ignore[list-item]


def test_keys_carry_digest_and_group() -> None:
    key = make_block_hash_with_group_id(b"d" * 32, 258)
    assert key == b"d" * 32 + b"\x00\x00\x01\x02"
    assert get_block_hash(key) == b"d" * 32
    assert get_group_id(key) == 258


def test_digests_chain_and_cover_only_their_prefix() -> None:
    a, b = digests([1, 2, 3, 4, 5, 6]), digests([1, 2, 3, 9, 5, 6])
    assert a[0] == b[0]
    assert a[1] != b[1]
    assert a[2] != b[2], "the third unit is equal, its prefix is not"
    assert len(set(digests([5, 5, 5, 5, 5, 5]))) == 3, "the position counts through the chain"
    assert a[0] == hash_block_tokens(None, [1, 2])
    assert a[1] == hash_block_tokens(a[0], [3, 4])


def test_appending_in_any_portions_gives_the_same_digests() -> None:
    whole = digests(range(9))
    grown = Request("g", [0], 2)
    assert grown.block_hashes == []
    assert grown.prompt_token_ids == [0]
    for portion in ([1, 2, 3, 4], [], [5], [6, 7, 8]):
        grown.append_tokens(portion)
    assert grown.block_hashes == whole
    assert len(whole) == 4
    assert grown.all_token_ids == list(range(9))
    assert grown.prompt_token_ids == [0]


def test_adapter_salt_and_item_separate_by_kind() -> None:
    variants = [
        digests(),
        digests(adapter=Adapter("x", 1)),
        digests(adapter=Adapter("x", 2)),
        digests(adapter=Adapter("y", 1)),
        digests(cache_salt="x"),
        digests(cache_salt=""),
        digests(items=[Item("x", 0, 2)]),
        digests(items=[Item("x", 1, 1)]),
        digests(items=[Item("y", 0, 2)]),
        digests(items=[Item("x", 0, 1), Item("x", 1, 1)]),
        digests(items=[Item("x", 0, 1)]),
    ]
    for unit in range(4):
        assert len({variant[unit] for variant in variants}) == len(variants), f"unit {unit}"


def test_an_item_matters_only_from_its_first_unit_on() -> None:
    plain, late = digests(), digests(items=[Item("x", 4, 1)])
    assert late[:2] == plain[:2]
    assert late[2] != plain[2]
    assert late[3] != plain[3]


def test_extra_keys_for_events() -> None:
    r = Request("r", range(8), 2, adapter=Adapter("x", 3), cache_salt="s", items=[Item("i", 3, 3)])
    assert r.extra_keys_for(0, 2) == (("adapter", "x", 3), ("salt", "s"))
    assert r.extra_keys_for(2, 4) == (("adapter", "x", 3), ("item", "i", 3, 4))
    assert r.extra_keys_for(6, 8) == (("adapter", "x", 3),)
    assert r.extra_keys_for(4, 8) == (("adapter", "x", 3), ("item", "i", 3, 6))
    assert Request("r", range(8), 2).extra_keys_for(0, 8) is None


def test_lookahead_digests_wait_for_their_tokens() -> None:
    r = Request("r", [1, 2, 3], 2, num_hash_lookahead_tokens=2)
    assert r.block_hashes == []
    r.append_tokens([4])
    assert r.block_hashes == [hash_block_tokens(None, [1, 2, 3, 4])]
    r.append_tokens([5, 6])
    assert r.block_hashes[1] == hash_block_tokens(r.block_hashes[0], [3, 4, 5, 6])


def test_senseless_requests_are_refused() -> None:
    for unit, ahead in ((0, 0), (2, -1)):
        with pytest.raises(BadRange):
            Request("r", [1], unit, num_hash_lookahead_tokens=ahead)
    for offset, length in ((-1, 2), (0, 0)):
        with pytest.raises(BadRange):
            Item("x", offset, length)
