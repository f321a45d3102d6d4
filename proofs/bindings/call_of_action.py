"""The spec's actions and answers in the words of the oracle."""

from collections.abc import Callable
from typing import Any

from blockpool.spec import (
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
from blockpool.spec.contract import calls
from blockpool.spec.contract.calls import Call, Ok, Refused, Reply


def name(prefix: Prefix) -> str:
    """A key is named by its tokens."""
    return " ".join(map(str, prefix.tokens))


def named(key: Key | None) -> str | None:
    """The name of a key, if there is one."""
    return None if key is None else name(key.prefix)


def reader(watcher: Watcher) -> str:
    """The name of a watcher."""
    return f"reader {watcher}"


def call_of(pool: Pool, action: Any) -> Call | None:
    """The action as a call; None if the vocabulary has no word for it (bad bounds, other questions)."""
    make = _CALLS.get(type(action))
    return None if make is None else make(pool, action)


def _partial(pool: Pool, action: CachePartialBlock) -> Call | None:
    prefix, tokens, size = action.prefix, action.num_tokens, action.block_size
    if tokens <= 0 or tokens % pool.unit or tokens > len(prefix) or size % pool.unit or size <= 0:
        return None
    parent = name(prefix.first(tokens - pool.unit)) if tokens > pool.unit else None
    key = name(prefix.first(tokens))
    return calls.PublishPartial(action.block, key, tokens, parent, action.group, action.replace_existing)


def _full(pool: Pool, action: CacheFullBlocks) -> Call | None:
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


_CALLS: dict[type[Any], Callable[[Pool, Any], Call | None]] = {
    GetNewBlocks: lambda _, action: calls.Alloc(action.count),
    Touch: lambda _, action: calls.Share(action.blocks),
    FreeBlocks: lambda _, action: calls.Free(action.blocks),
    UnpinBlocks: lambda _, action: calls.Unpin(action.blocks, reader(action.watcher)),
    CancelWatch: lambda _, action: calls.Cancel(action.block, reader(action.watcher)),
    CacheFullBlocks: _full,
    CachePartialBlock: _partial,
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
            call = _full(step.before, step.action)
            assert isinstance(call, calls.Publish)
            return Ok(call.blocks)
        case CachePartialBlock():
            return Ok(None)
        case _:
            return Ok(step.answer)


def event_of(event: Event) -> calls.PoolEvent:
    """An event."""
    match event:
        case Stored(keys, parent, tokens, block_size):
            names = tuple(name(key.prefix) for key in keys)
            return calls.StoredKeys(names, named(parent), len(tokens), block_size, keys[0].group)
        case Removed(key):
            return calls.RemovedKeys((name(key.prefix),), key.group)
        case Cleared():
            return calls.AllCleared()
