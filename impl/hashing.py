"""Keys: SHA-256 chains over token prefixes.

The digest of a unit of tokens covers the digest before it, so equal digests mean equal prefixes. The text that is
hashed is canonical and injective: each part has a length in front and a tag for what it is, so no two different
inputs pack to the same bytes, and an adapter named X is not a salt named X.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Sequence

ExtraField = str | bytes | int | None
ExtraKey = tuple[ExtraField, ...]
"""What the content depends on besides tokens: a kind (`adapter`, `item`, `salt`, ..) and then its fields."""


def _sized(tag: bytes, data: bytes) -> bytes:
    return tag + struct.pack(">Q", len(data)) + data


def _pack_int(value: int) -> bytes:
    return value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True)  # the + 1 leaves room for the sign


def _pack_tokens(token_ids: Sequence[int]) -> bytes:
    """Eight bytes a token when all fit, which real vocabularies do; else each with its own length."""
    count = struct.pack(">Q", len(token_ids))
    try:
        return b"T" + count + struct.pack(f">{len(token_ids)}q", *token_ids)
    except struct.error:
        return b"V" + count + b"".join(_sized(b"", _pack_int(token)) for token in token_ids)


def _pack_field(field: ExtraField) -> bytes:
    if field is None:
        return _sized(b"n", b"")
    if isinstance(field, str):
        return _sized(b"s", field.encode("utf-8", "surrogatepass"))
    if isinstance(field, bytes):
        return _sized(b"b", field)
    if isinstance(field, int):
        return _sized(b"i", _pack_int(field))
    raise TypeError(f"an extra key is made of str, bytes, int and None, not {type(field).__name__}: {field!r}")


def hash_block_tokens(parent: bytes | None, token_ids: Sequence[int], extra_keys: Iterable[ExtraKey] = ()) -> bytes:
    """The 32-byte digest of the prefix that ends with `token_ids`.

    `parent` is the digest of what comes before, None at the start of a request. `extra_keys` lists, in order, what
    else the content of these tokens depends on. Token ids are integers of any size and sign; anything else raises
    TypeError or AttributeError.
    """
    parts = [_sized(b"root", b"") if parent is None else _sized(b"child", parent), _pack_tokens(token_ids)]
    for extra in extra_keys:
        parts.append(_sized(b"extra", b"".join(map(_pack_field, extra))))
    return hashlib.sha256(b"".join(parts)).digest()


def make_block_hash_with_group_id(block_hash: bytes, group_id: int) -> bytes:
    """The key of a prefix in one group: the digest and four bytes of group id."""
    return block_hash + group_id.to_bytes(4, "big")


def get_block_hash(key: bytes) -> bytes:
    """The digest in a key."""
    return key[:-4]


def get_group_id(key: bytes) -> int:
    """The group id in a key."""
    return int.from_bytes(key[-4:], "big")
