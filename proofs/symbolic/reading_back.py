"""The text that `blockpool.impl.hashing` hashes, read back into what it stands for.

SHA-256 is opaque, so keys are compared before it: if the text of a prefix can be read back, no two prefixes have the
same text. Written from the description of the format, not from the code that packs it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from blockpool.impl import hashing

Field = str | bytes | int | None


def read_prefix(text: bytes) -> tuple[bytes | None, list[int], list[tuple[Field, ...]]]:
    """The parent digest, the tokens and the extra keys that this text was made of."""
    is_root = text[:4] == b"root"
    parent, text = sized(text[4:] if is_root else text[5:])
    tokens, text = tokens_of(text)
    extras = []
    while len(text) > 0:
        if text[:5] != b"extra":
            raise ValueError("something else stands where an extra key must")
        packed, text = sized(text[5:])
        extras.append(tuple(fields_of(packed)))
    return None if is_root else parent, tokens, extras


def sized(text: bytes) -> tuple[bytes, bytes]:
    """A part with its length in front, and what follows."""
    end = 8 + int.from_bytes(text[:8], "big")
    return text[8:end], text[end:]


def tokens_of(text: bytes) -> tuple[list[int], bytes]:
    """The tokens, in either of their two forms, and what follows."""
    form, count, text = text[:1], int.from_bytes(text[1:9], "big"), text[9:]
    tokens = []
    for _ in range(count):
        if form == b"T":
            packed, text = text[:8], text[8:]
        else:
            packed, text = sized(text)
        tokens.append(int.from_bytes(packed, "big", signed=True))
    return tokens, text


def fields_of(text: bytes) -> Iterator[Field]:
    """The fields of an extra key."""
    while len(text) > 0:
        kind = text[:1]
        packed, text = sized(text[1:])
        if kind == b"s":
            yield packed.decode("utf-8", "surrogatepass")
        elif kind == b"i":
            yield int.from_bytes(packed, "big", signed=True)
        else:
            yield None if kind == b"n" else packed


class PlainStruct:
    """`struct.pack` for the two formats that hashing uses, in Python: CrossHair cannot follow numbers into C."""

    error = OverflowError

    @staticmethod
    def pack(form: str, *numbers: int) -> bytes:
        if form[-1] not in "Qq" or form[0] != ">":
            raise ValueError(f"hashing packs big-endian 64-bit numbers, not {form}")
        return b"".join([number.to_bytes(8, "big", signed=form[-1] == "q") for number in numbers])


class PlainText:
    """In the place of SHA-256: the digest of a text is the text."""

    def __init__(self, text: bytes) -> None:
        self.text = text

    def digest(self) -> bytes:
        return self.text


class PlainHashes:
    sha256 = PlainText


@contextmanager
def digests_are_texts() -> Iterator[None]:
    """Inside, `blockpool.impl.hashing` answers the text instead of its digest."""
    stand_ins: dict[str, Any] = {"struct": PlainStruct, "hashlib": PlainHashes}
    with patch.multiple(hashing, **stand_ins):
        yield
