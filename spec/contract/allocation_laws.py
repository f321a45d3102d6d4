"""The judgement of answers about references: each is compared with the books, and the call entered there."""

from typing import Any

from blockpool.spec.contract import calls
from blockpool.spec.contract.call_text import answered
from blockpool.spec.contract.calls import BlockName, Ok
from blockpool.spec.contract.laws import (
    A_BLOCK_HAS_ONE_USER_UNTIL_IT_IS_SHARED,
    AN_ALLOCATION_SUCCEEDS_IF_IT_FITS,
    BLOCKS_ARE_LENT_IN_ORDER,
    CANCELLING_ANSWERS_WHETHER_IT_WATCHED,
    FREE_IS_WHAT_IS_NOT_HELD,
    ONLY_BLOCKS_OF_THE_POOL_ARE_LENT,
    THE_LONGEST_RELEASED_IS_EVICTED_FIRST,
    WRITABLE_ONLY_IF_UNOBSERVED,
)
from blockpool.spec.contract.shadow_state import Books
from blockpool.spec.contract.violation import Broken, are_names, check_told, misshapen, names


def alloc(books: Books, call: calls.Alloc, blocks: Any, reply: Ok) -> None:
    if not are_names(blocks):
        raise misshapen(reply, "a list of names of blocks")
    refs, exact = books.refs, books.profile.has_queue
    watched: list[tuple[BlockName, str]] = []
    if books.cached:
        _spare_the_cached(books, blocks)
    for place, block in enumerate(blocks):
        count = refs.get(block)
        if count != 0:
            _check_new(books, blocks, place, count)
        if exact:
            _check_next(books, place, block, count, reply)
        elif count is not None:
            del books.queue[block]
        if block in books.watchers:
            watched += [(block, watcher) for watcher in books.watchers.pop(block)]
        books.lend(block)
    if len(blocks) != call.count:
        words = f"{answered(reply)}: {len(blocks)} blocks"
        raise Broken(AN_ALLOCATION_SUCCEEDS_IF_IT_FITS.name, words)
    check_told(reply, watched)


def _check_new(books: Books, blocks: tuple[BlockName, ...], place: int, count: int | None) -> None:
    """A block that is not known to be free: may it be lent?"""
    block = blocks[place]
    if count:
        how = "twice" if block in blocks[:place] else "which is held"
        raise Broken(A_BLOCK_HAS_ONE_USER_UNTIL_IT_IS_SHARED.name, f"lent {block!r}, {how}", block)
    if block in books.reserved:
        raise Broken(ONLY_BLOCKS_OF_THE_POOL_ARE_LENT.name, f"lent {block!r}, which is reserved", block)
    if books.complete:
        words = f"lent {block!r}, which is not one of its {books.capacity} blocks"
        raise Broken(ONLY_BLOCKS_OF_THE_POOL_ARE_LENT.name, words, block)


def _check_next(books: Books, place: int, block: BlockName, count: int | None, reply: Ok) -> None:
    """Is the block the front of the queue? Takes it from there."""
    first = next(iter(books.queue))
    if first != block and not (count is None and isinstance(first, tuple)):
        words = f"{answered(reply)}: {block!r} at place {place + 1}, where {names([first])} is next"
        raise Broken(BLOCKS_ARE_LENT_IN_ORDER.name, words, block)
    del books.queue[first]


def _spare_the_cached(books: Books, blocks: tuple[BlockName, ...]) -> None:
    """Are those evicted that were released first?"""
    evicted = {block for block in blocks if block in books.cached}
    for _, block in zip(evicted, books.cached, strict=False):
        if block not in evicted:
            words = f"evicted {names(evicted)}, but {block!r}, released before, is still cached"
            raise Broken(THE_LONGEST_RELEASED_IS_EVICTED_FIRST.name, words, block)


def share(books: Books, call: calls.Share, _: Any, reply: Ok) -> None:
    for block in call.blocks:
        if block not in books.reserved:
            books.share(block)
    check_told(reply)


def free(books: Books, call: calls.Free, _: Any, reply: Ok) -> None:
    blocks, reserved = call.blocks, books.reserved
    if not reserved.isdisjoint(blocks):
        blocks = tuple(block for block in blocks if block not in reserved)
    books.requeue(books.give_back(blocks))
    _note_repeats(books, call, blocks)
    check_told(reply)


def unpin(books: Books, call: calls.Unpin, _: Any, reply: Ok) -> None:
    freed = books.give_back(call.blocks)
    for block in call.blocks:
        books.watchers.setdefault(block, set()).add(call.watcher)
    books.requeue(freed, unpinned=True)
    _note_repeats(books, call, call.blocks)
    check_told(reply)


def _note_repeats(books: Books, call: calls.Free | calls.Unpin, counted: tuple[BlockName, ...]) -> None:
    if len(set(counted)) < len(counted):
        books.repeats = call


def cancel(books: Books, call: calls.Cancel, value: Any, reply: Ok) -> None:
    if type(value) is not bool:
        raise misshapen(reply, "yes or no")
    watching = books.watchers.get(call.block, set())
    was = call.watcher in watching
    if value != was:
        words = f"{answered(reply)}; {call.watcher!r} was {'still' if was else 'not'} watching"
        raise Broken(CANCELLING_ANSWERS_WHETHER_IT_WATCHED.name, words, call.block)
    watching.discard(call.watcher)
    if was and not watching:
        del books.watchers[call.block]
    check_told(reply)


def free_count(books: Books, _: calls.FreeCount, value: Any, reply: Ok) -> None:
    if type(value) is not int:
        raise misshapen(reply, "a number")
    if value != books.free:
        words = f"{answered(reply)}; {books.held} of {books.capacity} blocks are held, so {books.free} are free"
        raise Broken(FREE_IS_WHAT_IS_NOT_HELD.name, words)
    books.repeats = None
    check_told(reply)


def writable(books: Books, call: calls.Writable, value: Any, reply: Ok) -> None:
    block = call.block
    if type(value) is not bool:
        raise misshapen(reply, "yes or no")
    if value != books.is_writable(block) and not (block in books.keys and not books.is_sure(block)):
        watchers = sorted(books.watchers.get(block, ()))
        keys = [key for key, _ in books.keys.get(block, ())]
        state = f"references {books.refs.get(block, 0)}, keys {keys}, watchers {watchers}"
        raise Broken(WRITABLE_ONLY_IF_UNOBSERVED.name, f"{answered(reply)}; {state}", block)
    check_told(reply)
