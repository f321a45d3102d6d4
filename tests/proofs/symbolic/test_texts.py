"""The stand-ins for C code are what they stand for, and the reader reads what really is hashed."""

import struct
from hashlib import sha256

import pytest

from blockpool.impl import hashing
from blockpool.impl.hashing import ExtraField, hash_block_tokens
from blockpool.impl.request import Adapter, Request
from blockpool.proofs.symbolic import key_texts, queue_calls
from blockpool.proofs.symbolic.reading_back import PlainStruct, digests_are_texts, read_prefix

NUMBERS = [0, 1, 255, 256, 2**31, 2**63 - 1]


@pytest.mark.parametrize("number", NUMBERS)
def test_packing_in_python_packs_as_struct_does(number: int) -> None:
    assert PlainStruct.pack(">Q", number) == struct.pack(">Q", number)
    assert PlainStruct.pack(">3q", number, -number, -1) == struct.pack(">3q", number, -number, -1)


def test_packing_in_python_refuses_what_struct_refuses() -> None:
    with pytest.raises(struct.error):
        struct.pack(">q", 2**63)
    with pytest.raises(PlainStruct.error):
        PlainStruct.pack(">q", 2**63)
    with pytest.raises(ValueError, match="<i"):
        PlainStruct.pack("<i", 1)


@pytest.mark.parametrize("parent", [None, b"", b"p" * 32])
@pytest.mark.parametrize("tokens", [[], [1], [0, -1, 2**62], [2**80, -(2**70)]])
@pytest.mark.parametrize("extras", [[], [("salt", "é")], [("item", "x", 3, None), (b"\x00", -5), ()]])
def test_the_digest_is_the_hash_of_the_text_that_is_read(
    parent: bytes | None, tokens: list[int], extras: list[tuple[ExtraField, ...]]
) -> None:
    with digests_are_texts():
        text = hash_block_tokens(parent, tokens, extras)
    assert sha256(text).digest() == hash_block_tokens(parent, tokens, extras)
    assert read_prefix(text) == (parent, tokens, extras)


def test_afterwards_digests_are_digests_again() -> None:
    with digests_are_texts():
        assert hashing.struct is PlainStruct
    assert hashing.struct is struct
    assert len(hash_block_tokens(None, [1])) == 32


def test_a_text_that_nobody_packs_is_not_read() -> None:
    with digests_are_texts():
        text = hash_block_tokens(None, [1])
    with pytest.raises(ValueError, match="something else"):
        read_prefix(text + b"other")


def test_goals_about_texts_also_hold_on_plain_arguments() -> None:
    assert key_texts.chain_of_a_request(5, 6, True, True, 1, 0, 2) == ""
    assert key_texts.extra_keys_in_the_text(b"n", -3, 3) == ""
    assert key_texts.key_of_a_group(b"dddd", 2**32 - 1) == ""
    assert queue_calls.queue_remove_n(2, 0, 1) == ""
    assert queue_calls.queue_remove_n(2, 0, 3) == ""


def test_a_packing_that_forgets_where_a_name_ends_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashing, "_sized", lambda tag, data: tag + data)
    wrong = 0
    for shape in range(6):
        try:
            wrong += key_texts.extra_keys_in_the_text(b"n", 3, shape) != ""
        except ValueError:
            wrong += 1
    assert wrong == 6


def test_the_last_digest_of_a_request_contains_the_first() -> None:
    with digests_are_texts():
        request = Request("r", [1, 2], 1, adapter=Adapter("x", 1))
    assert read_prefix(request.block_hashes[1])[0] == request.block_hashes[0]
