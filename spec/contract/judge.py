"""The judge: keeps the books of a pool and says of every call whether its answer is allowed.

    judge = Judge(profile, start, begun, operations)
    breach = judge.judge(call, reply)        # None, or what was broken, by whom

Whether a call is right is decided before its reply is looked at. After a breach the judge has ended: where a broken
pool or a broken rule leads to is promised by nobody.
"""

from collections import deque
from collections.abc import Callable, Collection
from typing import Any

from blockpool.spec.contract import allocation_laws as judge_lending
from blockpool.spec.contract import calls
from blockpool.spec.contract import key_laws as judge_keys
from blockpool.spec.contract.call_text import answered, shown
from blockpool.spec.contract.calls import BlockName, Call, Ok, Party, Refused, Reply, Start, Started
from blockpool.spec.contract.laws import (
    A_BLOCK_HAS_ONE_USER_UNTIL_IT_IS_SHARED,
    A_LEGAL_CALL_IS_DONE,
    A_REPEATED_RELEASE_COUNTS_EACH_NAMING,
    A_RESET_IS_DONE_AS_DECLARED,
    A_WRONG_CALL_DOES_NO_DAMAGE,
    A_WRONG_CALL_IS_REFUSED,
    AN_ALLOCATION_SUCCEEDS_IF_IT_FITS,
    BLOCKS_ARE_LENT_IN_ORDER,
    FREE_IS_WHAT_IS_NOT_HELD,
    ONLY_BLOCKS_OF_THE_POOL_ARE_LENT,
    PROMISES,
)
from blockpool.spec.contract.preconditions import REMEDIES, Wrong, wrong
from blockpool.spec.contract.profiles import Profile, profile_of
from blockpool.spec.contract.shadow_state import Books
from blockpool.spec.contract.violation import RULES_OF_CALLERS, Breach, Broken, blocks_of, is_name, names

JUDGES: dict[type[Any], Callable[[Books, Any, Any, Ok], None]] = {
    calls.Alloc: judge_lending.alloc,
    calls.Share: judge_lending.share,
    calls.Free: judge_lending.free,
    calls.FreeCount: judge_lending.free_count,
    calls.Publish: judge_keys.publish,
    calls.PublishPartial: judge_keys.publish_partial,
    calls.Lookup: judge_keys.lookup,
    calls.Unpublish: judge_keys.unpublish,
    calls.Move: judge_keys.move,
    calls.Unpin: judge_lending.unpin,
    calls.Cancel: judge_lending.cancel,
    calls.Writable: judge_lending.writable,
    calls.Reset: judge_keys.reset,
    calls.Events: judge_keys.events,
}

COUNTED = frozenset(
    {
        A_BLOCK_HAS_ONE_USER_UNTIL_IT_IS_SHARED.name,
        ONLY_BLOCKS_OF_THE_POOL_ARE_LENT.name,
        FREE_IS_WHAT_IS_NOT_HELD.name,
        AN_ALLOCATION_SUCCEEDS_IF_IT_FITS.name,
        BLOCKS_ARE_LENT_IN_ORDER.name,
        A_RESET_IS_DONE_AS_DECLARED.name,
        A_LEGAL_CALL_IS_DONE.name,
    }
)
"""Laws that a pool breaks which counts a release with repeats wrongly."""


class Judge:
    """Judges the calls of one pool, one after the other, each in time proportional to the call."""

    def __init__(
        self, profile: str | Profile, start: Start, begun: Started, operations: Collection[str], history: int = 0
    ) -> None:
        """`history`: how many calls to remember. Raises ValueError if there is no such pool."""
        self.profile = profile_of(profile)
        check_started(begun)
        reporting = start.events and "events" in operations and self.profile.events != "none"
        self.books = Books(self.profile, start, begun, partial="publish_partial" in operations, reporting=reporting)
        self.ended: Breach | None = None
        self.wrong: Wrong | None = None  # what was wrong with the last call
        self.wrong_calls = 0  # refused or ignored, as the profile allows
        self._history: deque[tuple[int, Call, Reply]] = deque(maxlen=history)

    def judge(self, call: Call, reply: Reply) -> Breach | None:
        """What is broken, if anything is."""
        if self.ended is not None:
            return None
        books = self.books
        books.now += 1
        self._history.append((books.now, call, reply))
        try:
            found = self.wrong = wrong(books, call)
            if found is not None:
                self.ended = self._misuse(call, reply, found)
            elif type(reply) is Ok:
                JUDGES[type(call)](books, call, reply.value, reply)
                books.taken(call)
            else:
                self._not_done(call, reply)
        except Broken as broken:
            self.ended = self._breach(call, broken)
        return self.ended

    def history(self, block: BlockName) -> list[tuple[int, Call, Reply]]:
        """Of the calls that are remembered those that named this block, with their numbers."""
        return [(number, call, reply) for number, call, reply in self._history if block in blocks_of(call, reply)]

    def expected(self, call: Call) -> str:
        """What the profile allows as the outcome of this call now."""
        books, found = self.books, wrong(self.books, call)
        if found is not None:
            return f"a wrong call ({found.reason}): {REMEDIES[found.reason]}"
        match call:
            case calls.Alloc(count) if count > books.free:
                return f"a refusal: {books.free} blocks are free"
            case calls.Alloc(count) if self.profile.has_queue:
                return f"{names(place for place, _ in zip(books.queue, range(count), strict=False))}, in this order"
            case calls.Alloc(count):
                return f"{count} of {books.free} free blocks"
            case calls.FreeCount():
                return str(books.free)
            case calls.Lookup(key, groups):
                carriers = [list(books.index.get((key, group), ())) for group in groups]
                return f"for each group one of {carriers}" if all(carriers) else "None"
            case calls.Writable(block):
                return str(books.is_writable(block))
            case calls.Reset() if self.profile.reset != "any":
                return str(self.profile.reset == "always" or not books.held)
            case calls.Cancel(block, watcher):
                return str(watcher in books.watchers.get(block, ()))
            case calls.Events() if books.reporting:
                return f"events that tell {books.outbox}"
            case _:
                return "that it is done"

    def _not_done(self, call: Call, reply: Reply) -> None:
        """A right call that was refused, or failed: allowed only for want of free blocks."""
        books = self.books
        if isinstance(call, calls.Alloc) and isinstance(reply, Refused):
            if call.count <= books.free and self.profile.exhaustion != "early":
                words = f"{answered(reply)} with {books.free} blocks free"
                raise Broken(AN_ALLOCATION_SUCCEEDS_IF_IT_FITS.name, words)
            if self.profile.exhaustion == "may_evict":
                books.taken(call)
            return
        raise Broken(A_LEGAL_CALL_IS_DONE.name, f"{answered(reply)}; expected {self.expected(call)}")

    def _breach(self, call: Call, broken: Broken) -> Breach:
        """A wrong count is put down to a release with repeats, if there was one since the count was right."""
        law, words, repeats = broken.law, f"{shown(call)} {broken.words}", self.books.repeats
        if law in COUNTED and repeats is not None:
            law, words = A_REPEATED_RELEASE_COUNTS_EACH_NAMING.name, f"{words}; {shown(repeats)} came before"
        party: Party = "pool" if PROMISES[law].knob is None else "outside the profile"
        return Breach(law, party, words, broken.block)

    def _misuse(self, call: Call, reply: Reply, found: Wrong) -> Breach | None:
        """A wrong call is the caller's fault, unless the profile says what the pool has to do then."""
        reason, block = found
        words, misuse = f"{shown(call)} is wrong ({reason})", self.profile.misuse
        if misuse == "undefined":
            return Breach(RULES_OF_CALLERS, "caller", f"{words}: {REMEDIES[reason]}", block)
        self.wrong_calls += 1
        if misuse == "strict" and type(reply) is not Refused:
            return Breach(A_WRONG_CALL_IS_REFUSED.name, "pool", f"{words}, but {answered(reply)}", block)
        if type(reply) is Ok and type(call) is calls.Alloc and reply.value:
            return Breach(A_WRONG_CALL_DOES_NO_DAMAGE.name, "pool", f"{words}, but {answered(reply)}", block)
        return None


def check_started(begun: Started) -> None:
    """Raises ValueError if there is no such pool."""
    known = [*begun.reserved, *(begun.order or ())]
    if type(begun.capacity) is not int or begun.capacity < 0:
        raise ValueError(f"the capacity of a pool is a number of blocks, not {begun.capacity!r}")
    if not all(map(is_name, known)):
        raise ValueError("blocks are named by numbers or strings")
    if len(set(known)) < len(known):
        raise ValueError("a block is named twice among the reserved ones and in the order")
    if begun.order is not None and len(begun.order) != begun.capacity:
        raise ValueError(f"the order names {len(begun.order)} blocks; the capacity is {begun.capacity}")
