"""Calls to try on a small pool, given its books: every right one of a scope, every kind of wrong one, and probes."""

from collections.abc import Collection, Iterator
from itertools import permutations
from typing import NamedTuple

from blockpool.proofs.oracle.session import kind_of
from blockpool.spec.contract import calls
from blockpool.spec.contract.calls import BlockName, Call
from blockpool.spec.contract.preconditions import wrong
from blockpool.spec.contract.shadow_state import Books

READERS = ("reader 0", "reader 1")


class Label(NamedTuple):
    """A key, the tokens it covers, and the key of the prefix before its block."""

    key: str
    tokens: int
    parent: str | None = None


SIZE = 4
"""Tokens in a block."""

HALF = Label("a/2", SIZE // 2)
LABELS = (Label("a", SIZE), Label("ab", 2 * SIZE, "a"), Label("c", SIZE))
"""Two prefixes; one has two blocks."""


def right_calls(books: Books, operations: Collection[str], groups: int = 1) -> Iterator[Call]:
    """Every call of the scope that changes something and is right."""
    for call in _any_calls(books, operations, groups):
        if call.op in operations and wrong(books, call) is None:
            yield call


def questions(books: Books, operations: Collection[str], groups: int = 1) -> Iterator[Call]:
    """Every call that only asks, and the taking of the events."""
    yield calls.FreeCount()
    if "lookup" in operations:
        labels = (*LABELS, HALF) if "publish_partial" in operations else LABELS
        yield from (calls.Lookup(label.key, (group,)) for label in labels for group in range(groups))
        if groups > 1:
            yield from (calls.Lookup(label.key, tuple(range(groups))) for label in labels)
    if "writable" in operations:
        yield from map(calls.Writable, books.refs)
    if "events" in operations and books.reporting:
        yield calls.Events()


def probes(books: Books, operations: Collection[str], groups: int = 1) -> Iterator[Call]:
    """Calls that together show what has become of a pool: questions, then everything lent, given back, and lent again.

    Each is chosen by the books as they are after the one before.
    """
    yield from list(questions(books, operations, groups))
    yield calls.Alloc(books.free)
    yield calls.Alloc(1)
    for block, count in list(books.refs.items()):
        yield from (calls.Free((block,)) for _ in range(count))
    yield calls.FreeCount()
    yield calls.Alloc(books.free)


def _any_calls(books: Books, operations: Collection[str], groups: int) -> Iterator[Call]:
    held = [block for block, count in books.refs.items() if count]
    keyed = list(books.keys)
    for count in sorted({1, 2, books.free, books.free + 1} & set(range(1, books.capacity + 2))):
        yield calls.Alloc(count)
    yield from (calls.Share((block,)) for block in books.refs if books.refs[block] < 2)
    yield from (calls.Share((block, block)) for block in held[:1] if books.refs[block] == 1)
    yield from _releases(books, held)
    for group in range(groups):
        yield from _publishings(books, operations, held, group)
    yield from (calls.Unpublish((block,)) for block in keyed)
    yield from (calls.Move(source, target) for source in keyed for target in held if source != target)
    yield from (calls.Unpin((block,), reader) for block in held for reader in READERS)
    yield from (calls.Unpin((block, block), READERS[0]) for block in held)
    yield from (calls.Cancel(block, reader) for block in books.watchers for reader in READERS)
    yield calls.Reset()


def _releases(books: Books, held: list[BlockName]) -> Iterator[Call]:
    yield from (calls.Free((block,)) for block in held)
    yield from (calls.Free((block, block)) for block in held)
    yield from map(calls.Free, permutations(held, 2))
    yield from (calls.Free((*pair, pair[0])) for pair in permutations(held, 2))
    if books.reserved and held:
        yield calls.Free((min(books.reserved, key=str), held[0]))


def _publishings(books: Books, operations: Collection[str], held: list[BlockName], group: int) -> Iterator[Call]:
    first, second = LABELS[:2]
    chain = ((first.key, second.key), (first.tokens, second.tokens))
    for block in held:
        yield from (calls.Publish((block,), (key,), (tokens,), parent, group) for key, tokens, parent in LABELS)
    yield from (calls.Publish(pair, *chain, None, group) for pair in permutations(held, 2))
    for null in sorted(books.reserved, key=str)[:1]:
        yield from (calls.Publish((null, block), *chain, None, group) for block in held[:1])
        yield calls.Publish((null,), chain[0][:1], chain[1][:1], None, group)
    for block in held:
        for key, tokens, parent in (HALF, first):
            yield from (calls.PublishPartial(block, key, tokens, parent, group, again) for again in (False, True))


def wrong_calls(
    books: Books, operations: Collection[str], foreign: Collection[BlockName]
) -> Iterator[tuple[str, Call]]:
    """Wrong calls of every kind that can be made now, with the kind."""
    for call in _maybe_wrong(books, foreign):
        found = wrong(books, call) if call.op in operations else None
        if found is not None:
            yield kind_of(call, found), call


def _maybe_wrong(books: Books, foreign: Collection[BlockName]) -> Iterator[Call]:
    free = [block for block, count in books.refs.items() if not count][:2]
    held = [block for block, count in books.refs.items() if count][:2]
    odd = [*free, *foreign, *sorted(books.reserved, key=str)[:1]]
    (key, tokens, _), other = LABELS[0], LABELS[2]
    yield from map(calls.Alloc, (-1, -2))
    for block in (*held, *odd):
        yield calls.Share((block,))
        yield calls.Free((block,) * (books.refs.get(block, 0) + 1))
        yield calls.Unpin((block,) * (books.refs.get(block, 0) + 1), READERS[0])
        yield calls.Publish((block,), (key,), (tokens,))
        yield calls.Publish((block,), (other.key,), (other.tokens,))
        yield calls.PublishPartial(block, HALF.key, HALF.tokens)
        yield calls.Unpublish((block,))
        yield calls.Cancel(block, READERS[0])
        yield from (calls.Move(source, block) for source in books.keys)
    for good in held:
        yield from (calls.Free((good, block)) for block in free)  # foreign ones go to their own pool
        yield from (calls.Share((good, block)) for block in odd)
        yield from (calls.Unpublish((good, block)) for block in odd)
        yield calls.Publish((good, good), (key, LABELS[1].key), (tokens, LABELS[1].tokens))
        yield from (calls.Publish((good, block), (key, LABELS[1].key), (tokens, LABELS[1].tokens)) for block in odd)
        yield calls.PublishPartial(good, "c/2", HALF.tokens)
