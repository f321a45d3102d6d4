"""Which laws a call puts to the test: those that its answer could break. What nothing tested has not been shown."""

from collections.abc import Iterator

from blockpool.spec.contract import calls
from blockpool.spec.contract.calls import Call
from blockpool.spec.contract.preconditions import wrong
from blockpool.spec.contract.shadow_state import Books


def exercised(books: Books, call: Call) -> Iterator[str]:
    """The laws that the answer to this call could break, given the books before it."""
    if wrong(books, call) is not None:
        return
    yield "a_legal_call_is_done"
    match call:
        case calls.Alloc(count):
            yield from _alloc(books, count)
        case calls.FreeCount():
            yield "free_is_what_is_not_held"
            yield from _count(books)
        case calls.Lookup():
            yield from _lookup(books, call)
        case calls.Publish():
            yield from _publish(books, call)
        case calls.Events():
            yield from _events(books)
        case calls.Reset() if books.watchers and not books.held:
            yield from (_ANSWERS[call.op], "watchers_are_told_once_before_reuse")
        case calls.Cancel() | calls.Writable() | calls.Reset():
            yield _ANSWERS[call.op]


_ANSWERS = {
    "cancel": "cancelling_answers_whether_it_watched",
    "writable": "writable_only_if_unobserved",
    "reset": "a_reset_is_done_as_declared",
}


def _alloc(books: Books, count: int) -> Iterator[str]:
    yield "an_allocation_succeeds_if_it_fits"
    if 0 < count <= books.free:
        yield "only_blocks_of_the_pool_are_lent"
        if books.held or count > 1:
            yield "a_block_has_one_user_until_it_is_shared"
        if books.profile.has_queue and books.free > 1:
            yield "blocks_are_lent_in_order"
        if len(books.cached) > 1:
            yield "the_longest_released_is_evicted_first"
        if books.watchers:
            yield "watchers_are_told_once_before_reuse"
    yield from _count(books)


def _count(books: Books) -> Iterator[str]:
    yield "answers_have_their_shape"
    if books.repeats is not None:
        yield "a_repeated_release_counts_each_naming"


def _lookup(books: Books, call: calls.Lookup) -> Iterator[str]:
    carriers = [books.index.get((call.key, group), {}) for group in call.groups]
    yield "a_hit_carries_its_key"
    if carriers and all(any(map(books.is_sure, found)) for found in carriers):
        yield "what_was_published_is_found"
        if any(len(found) > 1 for found in carriers):
            yield "a_lookup_prefers_as_declared"


def _publish(books: Books, call: calls.Publish) -> Iterator[str]:
    if call.blocks:
        yield "publishing_answers_what_the_caller_holds"
        yield "answers_have_their_shape"
    if any((key, call.group) in books.index for key in call.keys):
        yield "equal_keys_are_handled_as_declared"


def _events(books: Books) -> Iterator[str]:
    if books.outbox:
        yield "events_mirror_the_index"
    if len(books.outbox) > 1:
        yield "events_come_in_order"
    if any(told[0] == "stored" for told in books.outbox):
        yield "events_are_consistent"
