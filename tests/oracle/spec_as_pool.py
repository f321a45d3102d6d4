"""The spec in the vocabulary of the oracle: its calls, its answers, and its states as the judge's books."""

from collections.abc import Callable
from typing import Any

from proofs.oracle import calls
from proofs.oracle.books import Books
from proofs.oracle.calls import Call, Ok, Refused, Reply, Start, Started
from proofs.oracle.judge import Judge
from spec import (
    NULL,
    CacheFullBlocks,
    CachePartialBlock,
    CancelWatch,
    Cleared,
    Event,
    EvictBlocks,
    FreeBlocks,
    GetCachedBlock,
    GetNewBlocks,
    GetNumFreeBlocks,
    IsBlockWritable,
    Key,
    MoveBlockHashes,
    Pool,
    Prefix,
    Removed,
    ResetPrefixCache,
    Step,
    Stored,
    TakeEvents,
    Touch,
    UnpinBlocks,
    Watcher,
)

OPERATIONS = frozenset(kind.op for kind in calls.Call.__args__)


def name(prefix: Prefix) -> str:
    return " ".join(map(str, prefix.tokens))


def named(key: Key | None) -> str | None:
    return None if key is None else name(key.prefix)


def entry(key: Key) -> tuple[str, int]:
    return name(key.prefix), key.group


def reader(watcher: Watcher) -> str:
    return f"reader {watcher}"


def call_of(pool: Pool, action: Any) -> Call | None:
    """The action as a call; None if the vocabulary has no word for it (bad bounds, other questions)."""
    make = CALLS.get(type(action))
    return None if make is None else make(pool, action)


def partial(pool: Pool, action: CachePartialBlock) -> Call | None:
    prefix, tokens, size = action.prefix, action.num_tokens, action.block_size
    if tokens <= 0 or tokens % pool.unit or tokens > len(prefix) or size % pool.unit or size <= 0:
        return None
    parent = name(prefix.first(tokens - pool.unit)) if tokens > pool.unit else None
    key = name(prefix.first(tokens))
    return calls.PublishPartial(action.block, key, tokens, parent, action.group, action.replace_existing)


def full(pool: Pool, action: CacheFullBlocks) -> Call | None:
    if action.has_bad_range(pool):
        return None
    positions = range(action.num_cached, action.num_full)
    chosen = action.chosen()
    start = action.num_cached * action.block_size
    return calls.Publish(
        tuple(chosen.get(place, NULL) for place in positions),
        tuple(name(action.key(place).prefix) for place in positions),
        tuple(action.end(place) for place in positions),
        name(action.prefix.first(start)) if start else None,
        action.group,
    )


CALLS: dict[type[Any], Callable[[Pool, Any], Call | None]] = {
    GetNewBlocks: lambda _, action: calls.Alloc(action.count),
    Touch: lambda _, action: calls.Share(action.blocks),
    FreeBlocks: lambda _, action: calls.Free(action.blocks),
    UnpinBlocks: lambda _, action: calls.Unpin(action.blocks, reader(action.watcher)),
    CancelWatch: lambda _, action: calls.Cancel(action.block, reader(action.watcher)),
    CacheFullBlocks: full,
    CachePartialBlock: partial,
    MoveBlockHashes: lambda _, action: calls.Move(action.source, action.target),
    EvictBlocks: lambda _, action: calls.Unpublish(tuple(sorted(action.blocks))),
    ResetPrefixCache: lambda *_: calls.Reset(),
    GetCachedBlock: lambda _, action: calls.Lookup(name(action.prefix), action.groups),
    IsBlockWritable: lambda _, action: calls.Writable(action.block),
    GetNumFreeBlocks: lambda *_: calls.FreeCount(),
    TakeEvents: lambda *_: calls.Events(),
}


def reply_of(step: Step) -> Reply:
    """What the spec answers."""
    if step.refused:
        return Refused(sorted(step.refused)[0])
    told = tuple((block, reader(watcher)) for block, watcher in sorted(step.told))
    match step.action:
        case GetNewBlocks():
            return Ok(step.answer.blocks, told)
        case ResetPrefixCache():
            return Ok(step.answer.done, told)
        case TakeEvents():
            return Ok(tuple(map(event_of, step.answer)))
        case CacheFullBlocks():
            call = full(step.before, step.action)
            assert isinstance(call, calls.Publish)
            return Ok(call.blocks)
        case CachePartialBlock():
            return Ok(None)
        case _:
            return Ok(step.answer)


def event_of(event: Event) -> calls.PoolEvent:
    match event:
        case Stored(keys, parent, tokens, block_size):
            names = tuple(name(key.prefix) for key in keys)
            return calls.StoredKeys(names, named(parent), len(tokens), block_size, keys[0].group)
        case Removed(key):
            return calls.RemovedKeys((name(key.prefix),), key.group)
        case Cleared():
            return calls.AllCleared()


def judge_in(pool: Pool) -> Judge:
    """A judge whose books are in this state."""
    start = Start(pool.size - 1, pool.caching, pool.reporting)
    judge = Judge("strict", start, Started(pool.size - 1, (NULL,), tuple(pool.lendable)), OPERATIONS)
    books = judge.books
    books.queue.clear()
    books.queue.update(dict.fromkeys(pool.queue))
    books.refs.update(pool.refs)
    books.held = sum(count > 0 for count in pool.refs.values())
    for key, blocks in pool.index.items():
        for block in sorted(blocks):
            books.index.setdefault(entry(key), {})[block] = None
            books.keys.setdefault(block, {})[entry(key)] = key.tokens
    books.watchers.update({block: set(map(reader, names)) for block, names in pool.watchers.items()})
    books.outbox += owed(pool.outbox)
    return judge


def owed(events: tuple[Event, ...]) -> list[Any]:
    """What the books say of the events that wait."""
    told: list[Any] = []
    for event in events:
        match event:
            case Stored(keys, parent, _, block_size):
                for key in keys:
                    told.append(("stored", entry(key), named(parent), block_size))
                    parent = key
            case Removed(key):
                told.append(("removed", entry(key), None, None))
            case Cleared():
                told.append(("cleared", None, None, None))
    return told


def state_of(books: Books, pool: Pool) -> dict[str, Any]:
    """The books, without the order in which keys came."""
    return {
        "refs": {block: count for block, count in books.refs.items() if block in pool.refs},
        "held": books.held,
        "queue": list(books.queue),
        "keys": {block: dict(keys) for block, keys in books.keys.items()},
        "index": {key: set(blocks) for key, blocks in books.index.items()},
        "watchers": {block: set(names) for block, names in books.watchers.items()},
        "outbox": [tuple(map(str, one[:3])) for one in settled(books.outbox)],
    }


def settled(told: list[Any]) -> list[Any]:
    out: list[Any] = []
    row: list[Any] = []
    for one in [*told, ("end",)]:
        if one[0] == "removed":
            row.append(one)
        else:
            out += [*sorted(row, key=str), one]
            row = []
    return out[:-1]
