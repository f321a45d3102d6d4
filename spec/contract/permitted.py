"""The plainest pool of a profile: it answers what the books of a judge say, and refuses what is wrong."""

from itertools import islice

from blockpool.spec.contract import calls
from blockpool.spec.contract.calls import (
    OPERATIONS,
    BlockName,
    Call,
    Ok,
    PoolEvent,
    Refused,
    RemovedKeys,
    Reply,
    Start,
    Started,
    StoredKeys,
)
from blockpool.spec.contract.judge import Judge
from blockpool.spec.contract.preconditions import wrong
from blockpool.spec.contract.profiles import Profile
from blockpool.spec.pool.terms import Reason

NULL = 0
"""The block that it reserves, where the profile has placeholders."""


class Model:
    """A subject that keeps every promise of its profile. Its blocks are numbered from 1, as first queued."""

    def __init__(self, profile: Profile) -> None:
        self.name = f"the model of {profile.name}"
        self.profile: str | Profile = profile
        self.operations = frozenset(OPERATIONS)
        self._promised = profile

    def close(self) -> None:
        """Nothing to do."""

    def ask(self, call: Call) -> Reply:
        """Raises AssertionError if the judge does not allow the answer: then model and judge contradict each other."""
        if isinstance(call, Start):
            return self._start(call)
        found = wrong(self.books, call)
        reply = Refused(found.reason) if found is not None else self._reply(call)
        breach = self.judge.judge(call, reply)
        if breach is not None:
            raise AssertionError(f"{self.name}: {breach.words}")
        return reply

    def _start(self, call: Start) -> Reply:
        reserved = (NULL,) if self._promised.reserved == "skipped" else ()
        begun = Started(call.blocks, reserved, tuple(range(1, call.blocks + 1)))
        self.judge = Judge(self._promised, call, begun, self.operations)
        self.books = self.judge.books
        return Ok(begun)

    def _reply(self, call: Call) -> Reply:
        books = self.books
        match call:
            case calls.Alloc(count):
                if count > books.free:
                    return Refused(Reason.NOT_ENOUGH_FREE)
                lent = tuple(place for place in islice(books.queue, count) if isinstance(place, int))
                return Ok(lent, self._watching(lent))
            case calls.FreeCount():
                return Ok(books.free)
            case calls.Publish():
                return Ok(tuple(self._holds(call, place) for place in range(len(call.blocks))))
            case calls.Lookup(key, groups):
                carriers = [books.index.get((key, group)) for group in groups]
                return Ok(tuple(next(iter(found)) for found in carriers if found) if all(carriers) else None)
            case calls.Cancel(block, watcher):
                return Ok(watcher in books.watchers.get(block, ()))
            case calls.Writable(block):
                return Ok(books.is_writable(block))
            case calls.Reset():
                done = not books.held or self._promised.reset == "always"
                return Ok(done, self._watching(tuple(books.watchers)) if done else ())
            case calls.Events():
                return Ok(tuple(map(_event, books.outbox)))
            case _:
                return Ok(None)

    def _watching(self, blocks: tuple[BlockName, ...]) -> tuple[tuple[BlockName, str], ...]:
        watchers = self.books.watchers
        return tuple((block, watcher) for block in blocks for watcher in sorted(watchers.get(block, ())))

    def _holds(self, call: calls.Publish, place: int) -> BlockName:
        """What the caller holds afterwards in place of this block."""
        carriers = self.books.index.get((call.keys[place], call.group), {})
        block = call.blocks[place]
        if self._promised.duplicates != "dedup" or block in self.books.reserved:
            return block
        return next(iter(carriers), block)


def _event(owed: tuple[str, tuple[str, int] | None, str | None, int | None]) -> PoolEvent:
    kind, entry, parent, adds = owed
    if entry is None:
        return calls.AllCleared()
    if kind == "removed":
        return RemovedKeys((entry[0],), entry[1])
    return StoredKeys((entry[0],), parent, adds or 1, adds or 1, entry[1])
