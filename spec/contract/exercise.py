"""Which laws a call puts to the test: those that its answer could break. What nothing tested has not been shown."""

from collections.abc import Iterator

from blockpool.spec.contract import calls
from blockpool.spec.contract.calls import Call
from blockpool.spec.contract.laws import (
    A_BLOCK_HAS_ONE_USER_UNTIL_IT_IS_SHARED,
    A_HIT_CARRIES_ITS_KEY,
    A_LEGAL_CALL_IS_DONE,
    A_LOOKUP_PREFERS_AS_DECLARED,
    A_REPEATED_RELEASE_COUNTS_EACH_NAMING,
    A_RESET_IS_DONE_AS_DECLARED,
    AN_ALLOCATION_SUCCEEDS_IF_IT_FITS,
    ANSWERS_HAVE_THEIR_SHAPE,
    BLOCKS_ARE_LENT_IN_ORDER,
    CANCELLING_ANSWERS_WHETHER_IT_WATCHED,
    EQUAL_KEYS_ARE_HANDLED_AS_DECLARED,
    EVENTS_ARE_CONSISTENT,
    EVENTS_COME_IN_ORDER,
    EVENTS_MIRROR_THE_INDEX,
    FREE_IS_WHAT_IS_NOT_HELD,
    ONLY_BLOCKS_OF_THE_POOL_ARE_LENT,
    PUBLISHING_ANSWERS_WHAT_THE_CALLER_HOLDS,
    THE_LONGEST_RELEASED_IS_EVICTED_FIRST,
    WATCHERS_ARE_TOLD_ONCE_BEFORE_REUSE,
    WHAT_WAS_PUBLISHED_IS_FOUND,
    WRITABLE_ONLY_IF_UNOBSERVED,
)
from blockpool.spec.contract.preconditions import wrong
from blockpool.spec.contract.shadow_state import Books


def exercised(books: Books, call: Call) -> Iterator[str]:
    """The laws that the answer to this call could break, given the books before it."""
    if wrong(books, call) is not None:
        return
    yield A_LEGAL_CALL_IS_DONE.name
    match call:
        case calls.Alloc(count):
            yield from _alloc(books, count)
        case calls.FreeCount():
            yield FREE_IS_WHAT_IS_NOT_HELD.name
            yield from _count(books)
        case calls.Lookup():
            yield from _lookup(books, call)
        case calls.Publish():
            yield from _publish(books, call)
        case calls.Events():
            yield from _events(books)
        case calls.Reset() if books.watchers and not books.held:
            yield from (_ANSWERS[call.op], WATCHERS_ARE_TOLD_ONCE_BEFORE_REUSE.name)
        case calls.Cancel() | calls.Writable() | calls.Reset():
            yield _ANSWERS[call.op]


_ANSWERS = {
    "cancel": CANCELLING_ANSWERS_WHETHER_IT_WATCHED.name,
    "writable": WRITABLE_ONLY_IF_UNOBSERVED.name,
    "reset": A_RESET_IS_DONE_AS_DECLARED.name,
}


def _alloc(books: Books, count: int) -> Iterator[str]:
    yield AN_ALLOCATION_SUCCEEDS_IF_IT_FITS.name
    if 0 < count <= books.free:
        yield ONLY_BLOCKS_OF_THE_POOL_ARE_LENT.name
        if books.held or count > 1:
            yield A_BLOCK_HAS_ONE_USER_UNTIL_IT_IS_SHARED.name
        if books.profile.has_queue and books.free > 1:
            yield BLOCKS_ARE_LENT_IN_ORDER.name
        if len(books.cached) > 1:
            yield THE_LONGEST_RELEASED_IS_EVICTED_FIRST.name
        if books.watchers:
            yield WATCHERS_ARE_TOLD_ONCE_BEFORE_REUSE.name
    yield from _count(books)


def _count(books: Books) -> Iterator[str]:
    yield ANSWERS_HAVE_THEIR_SHAPE.name
    if books.repeats is not None:
        yield A_REPEATED_RELEASE_COUNTS_EACH_NAMING.name


def _lookup(books: Books, call: calls.Lookup) -> Iterator[str]:
    carriers = [books.index.get((call.key, group), {}) for group in call.groups]
    yield A_HIT_CARRIES_ITS_KEY.name
    if carriers and all(any(map(books.is_sure, found)) for found in carriers):
        yield WHAT_WAS_PUBLISHED_IS_FOUND.name
        if any(len(found) > 1 for found in carriers):
            yield A_LOOKUP_PREFERS_AS_DECLARED.name


def _publish(books: Books, call: calls.Publish) -> Iterator[str]:
    if call.blocks:
        yield PUBLISHING_ANSWERS_WHAT_THE_CALLER_HOLDS.name
        yield ANSWERS_HAVE_THEIR_SHAPE.name
    if any((key, call.group) in books.index for key in call.keys):
        yield EQUAL_KEYS_ARE_HANDLED_AS_DECLARED.name


def _events(books: Books) -> Iterator[str]:
    if books.outbox:
        yield EVENTS_MIRROR_THE_INDEX.name
    if len(books.outbox) > 1:
        yield EVENTS_COME_IN_ORDER.name
    if any(told[0] == "stored" for told in books.outbox):
        yield EVENTS_ARE_CONSISTENT.name
