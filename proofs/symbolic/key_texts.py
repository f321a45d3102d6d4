"""Goals about keys: what is hashed can be read back, so no two prefixes, and no two groups, share a key.

Symbolic are tokens, numbers, names and digests. The stand-ins of `reading_back` take the place of two C modules; a test
compares them with the real ones. Numbers have bounds that keep the arithmetic of the solver linear and small.
"""

from blockpool.impl.hashing import (
    ExtraField,
    get_block_hash,
    get_group_id,
    hash_block_tokens,
    make_block_hash_with_group_id,
)
from blockpool.impl.request import Adapter, Item, Request
from blockpool.proofs.symbolic.goals import plain, within
from blockpool.proofs.symbolic.reading_back import Field, digests_are_texts, read_prefix

WIDE = 1 << 64
"""From here on a token does not fit into eight bytes."""


def text_is_read_back(parent: bytes | None, tokens: list[int], extras: list[tuple[ExtraField, ...]]) -> str:
    """Pack it, read the text, compare."""
    with digests_are_texts():
        text = hash_block_tokens(parent, tokens, extras)
    return "" if read_prefix(text) == (parent, tokens, extras) else "something else is read back"


def digest_and_group(digest: bytes, group: int) -> bool:
    return len(digest) == 4 and 0 <= group < 1 << 32


@plain(scope="any of 2**32 groups", given=digest_and_group)
def key_of_a_group(digest: bytes, group: int) -> str:
    """A key gives back the digest and the group it was made of."""
    key = make_block_hash_with_group_id(digest, group)
    return "" if get_block_hash(key) == digest and get_group_id(key) == group else "another digest or group"


def short_parent(parent: bytes, exists: bool) -> bool:
    return len(parent) <= 3


@plain(scope="3 bytes", given=short_parent, in_quick_runs=False)
def parent_in_the_text(parent: bytes, exists: bool) -> str:
    """The digest before, or that there is none, can be read back."""
    return text_is_read_back(parent if exists else None, [1], [])


def usual_tokens(first: int, second: int, more: bool) -> bool:
    return 0 <= first < 1 << 17 and 0 <= second < 1 << 17


@plain(scope="2 tokens of 17 bits", given=usual_tokens)
def tokens_in_the_text(first: int, second: int, more: bool) -> str:
    """The tokens and how many they are can be read back."""
    return text_is_read_back(None, [first, second] if more else [first], [])


def unusual_token(token: int) -> bool:
    return -256 <= token < 256 or WIDE - 128 <= token < WIDE + 128


@plain(scope="65 bits", given=unusual_token)
def wide_tokens_in_the_text(token: int) -> str:
    """A negative token, or one that does not fit into eight bytes, can be read back."""
    return text_is_read_back(None, [token], [])


def short_fields(name: bytes, number: int, shape: int) -> bool:
    return len(name) <= 1 and -(1 << 15) <= number < 1 << 15


@plain(scope="2 fields", given=short_fields, in_quick_runs=False)
def extra_keys_in_the_text(name: bytes, number: int, shape: int) -> str:
    """Which extra keys there are, where one ends, and the type of each field can be read back."""
    shapes: list[list[tuple[ExtraField, ...]]] = [
        [(name, None), (b"",)],
        [(name,), (None, b"")],
        [("", name), ()],
        [(b"", number)],
        [("1", number), ("", "")],
        [(1, "a"), (number,)],
    ]
    return text_is_read_back(None, [1], shapes[within(shape, 0, len(shapes) - 1)])


def short_name(name: str) -> bool:
    return len(name) <= 1


@plain(scope="1 character", given=short_name)
def names_in_the_text(name: str) -> str:
    """A name can be read back, whatever the character."""
    return text_is_read_back(None, [1], [("salt", name)])


def small_request(first: int, second: int, adapted: bool, salted: bool, items: int, offset: int, length: int) -> bool:
    return 0 <= first < 1 << 17 and 0 <= second < 1 << 17


@plain(scope="2 units", given=small_request, in_quick_runs=False)
def chain_of_a_request(
    first: int, second: int, adapted: bool, salted: bool, items: int, offset: int, length: int
) -> str:
    """The last digest of a request gives back all its tokens, and for each unit the adapter, salt and items in it."""
    parts = [Item("image", within(offset, 0, 1), within(length, 1, 2))] if items > 0 else []
    with digests_are_texts():
        request = Request(
            "r",
            [first, second],
            1,
            adapter=Adapter("x", 1) if adapted else None,
            cache_salt="x" if salted else None,
            items=parts,
        )
    parent, tokens, extras = read_prefix(request.block_hashes[1])
    if parent is None or tokens != [second] or parent != request.block_hashes[0]:
        return "another second unit"
    wanted: list[list[tuple[Field, ...]]] = [[("adapter", "x", 1)] if adapted else [] for _ in range(2)]
    if salted:
        wanted[0].append(("salt", "x"))
    for unit in range(2):
        for item in parts:
            if item.offset <= unit < item.offset + item.length:
                wanted[unit].append(("item", "image", item.offset, min(item.offset + item.length, unit + 1)))
    if extras != wanted[1]:
        return "other extra keys of the second unit"
    return "" if read_prefix(parent) == (None, [first], wanted[0]) else "another first unit"


def any_two(one: int, other: int, token: int) -> bool:
    return 0 <= token < 1 << 17


@plain(scope="4 kinds", given=any_two, in_quick_runs=False)
def kinds_of_extra_keys(one: int, other: int, token: int) -> str:
    """The same word as adapter, salt, item or nothing at all: four different digests."""
    left, right = within(one, 0, 3), within(other, 0, 3)
    with digests_are_texts():
        texts = [kind_of_request(kind, token).block_hashes[0] for kind in (left, right)]
    return "" if (texts[0] == texts[1]) is (left == right) else "two kinds share a digest"


def kind_of_request(kind: int, token: int) -> Request:
    """A request that depends on the word x as nothing, an adapter, a salt, or an item."""
    return Request(
        "r",
        [token],
        1,
        adapter=Adapter("x", token) if kind == 1 else None,
        cache_salt="x" if kind == 2 else None,
        items=[Item("x", 0, 1)] if kind == 3 else [],
    )
