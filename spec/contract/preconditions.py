"""The rules of the caller: whether a call is right, decided from the books before looking at the reply."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from blockpool.spec.contract.calls import (
    Alloc,
    BlockName,
    Call,
    Cancel,
    Free,
    Move,
    Publish,
    PublishPartial,
    Share,
    Unpin,
    Unpublish,
)
from blockpool.spec.contract.shadow_state import Books
from blockpool.spec.pool.terms import Reason

NO_PARENT = "parent not findable"
"""Why publishing is wrong where the parent must be findable; the other reasons are those of the spec."""

REMEDIES: dict[str, str] = {
    Reason.BAD_COUNT: "ask for a number of blocks that is not negative",
    Reason.UNKNOWN_BLOCK: "pass only blocks that this pool has named",
    Reason.NOT_HELD: "take a reference first, and give each back once",
    Reason.NULL_BLOCK: "leave reserved blocks out of the call",
    Reason.REPEATED_BLOCK: "name each block once in the call",
    Reason.ALREADY_CACHED: "publish a block once in its life, or with more tokens",
    Reason.DIFFERENT_CONTENT: "say that the content was replaced",
    Reason.BAD_RANGE: "pass one key and one number of tokens for each block, the numbers rising",
    Reason.CACHING_DISABLED: "publish only with caching on",
    NO_PARENT: "publish a prefix from its beginning",
}
"""What the caller has to do instead."""


class Wrong(NamedTuple):
    """Why a call is wrong, and with which block."""

    reason: str
    block: BlockName | None = None


def wrong(books: Books, call: Call) -> Wrong | None:
    """What is wrong with the call, or None if it is right."""
    rule = _RULES.get(type(call))
    return None if rule is None else rule(books, call)


def _alloc(books: Books, call: Alloc) -> Wrong | None:
    right = type(call.count) is int and call.count >= 0
    return None if right else Wrong(Reason.BAD_COUNT)


def _share(books: Books, call: Share) -> Wrong | None:
    refs, findable = books.refs, books.profile.revival == "findable"
    for block in call.blocks:
        count = refs.get(block)
        if count is None:
            found = _unknown(books, block)
            if found is not None:
                return found
        elif findable and not count and not (block in books.keys and books.is_sure(block)):
            return Wrong(Reason.NOT_HELD, block)
    return None


def _free(books: Books, call: Free) -> Wrong | None:
    return _release(books, call.blocks)


def _unpin(books: Books, call: Unpin) -> Wrong | None:
    for block in books.reserved.intersection(call.blocks):
        return Wrong(Reason.NULL_BLOCK, block)
    return _release(books, call.blocks)


def _release(books: Books, blocks: tuple[BlockName, ...]) -> Wrong | None:
    refs, named = books.refs, dict.fromkeys(blocks, 0)
    for block in blocks:
        named[block] += 1
        count = refs.get(block)
        if count is None:
            found = _unknown(books, block)
            if found is not None:
                return found
        elif named[block] > count:
            return Wrong(Reason.NOT_HELD, block)
        elif named[block] > 1 and books.profile.repeats == "refused":
            return Wrong(Reason.REPEATED_BLOCK, block)
    return None


def _publish(books: Books, call: Publish) -> Wrong | None:
    if not books.caching:
        return Wrong(Reason.CACHING_DISABLED)
    if not (len(call.blocks) == len(call.keys) == len(call.tokens)) or not _rises(call.tokens):
        return Wrong(Reason.BAD_RANGE)
    named: set[BlockName] = set()
    for block, tokens in zip(call.blocks, call.tokens, strict=True):
        found = _publish_one(books, block, tokens)
        if found is not None:
            return found
        if block in named and block not in books.reserved:
            return Wrong(Reason.REPEATED_BLOCK, block)
        named.add(block)
    if books.profile.parents == "findable" and call.parent is not None and call.blocks:
        return None if (call.parent, call.group) in books.index else Wrong(NO_PARENT)
    return None


def _publish_one(books: Books, block: BlockName, tokens: int) -> Wrong | None:
    """What is wrong with publishing this block with so many tokens."""
    if not books.refs.get(block):
        return _not_held(books, block)
    if block in books.keys and (not books.partial or books.coverage(block) >= tokens):
        return Wrong(Reason.ALREADY_CACHED, block)
    return None


def _publish_partial(books: Books, call: PublishPartial) -> Wrong | None:
    block = call.block
    if not books.caching:
        return Wrong(Reason.CACHING_DISABLED)
    if call.tokens <= 0:
        return Wrong(Reason.BAD_RANGE)
    if not books.refs.get(block):
        return _not_held(books, block)
    keys = books.keys.get(block)
    if not keys or call.replace or (call.key, call.group) in keys:
        return None
    return Wrong(Reason.DIFFERENT_CONTENT, block) if max(keys.values()) == call.tokens else None


def _unpublish(books: Books, call: Unpublish) -> Wrong | None:
    return _first_unknown(books, call.blocks)


def _move(books: Books, call: Move) -> Wrong | None:
    if call.target in books.reserved:
        return Wrong(Reason.NULL_BLOCK, call.target)
    found = _first_unknown(books, (call.source,)) or _not_held(books, call.target)
    if found is not None:
        return found
    return Wrong(Reason.ALREADY_CACHED, call.target) if call.target in books.keys else None


def _cancel(books: Books, call: Cancel) -> Wrong | None:
    return _first_unknown(books, (call.block,))


def _first_unknown(books: Books, blocks: Iterable[BlockName]) -> Wrong | None:
    for block in blocks:
        found = None if block in books.refs else _unknown(books, block)
        if found is not None:
            return found
    return None


def _not_held(books: Books, block: BlockName) -> Wrong | None:
    """What is wrong with a block that must be held; a reserved one may be skipped."""
    if books.refs.get(block):
        return None
    return Wrong(Reason.NOT_HELD, block) if block in books.refs else _unknown(books, block)


def _unknown(books: Books, block: BlockName) -> Wrong | None:
    """What is wrong with a block that is not known: it is reserved, or foreign."""
    if block not in books.reserved:
        return Wrong(Reason.UNKNOWN_BLOCK, block)
    return Wrong(Reason.NULL_BLOCK, block) if books.profile.reserved == "wrong" else None


def _rises(tokens: tuple[int, ...]) -> bool:
    return all(before < after for before, after in zip((0, *tokens), tokens, strict=False))


_RULES: dict[type[Any], Callable[[Books, Any], Wrong | None]] = {
    Alloc: _alloc,
    Share: _share,
    Free: _free,
    Unpin: _unpin,
    Publish: _publish,
    PublishPartial: _publish_partial,
    Unpublish: _unpublish,
    Move: _move,
    Cancel: _cancel,
}
