"""The spec's states as the judge's books."""

from typing import Any

from blockpool.proofs.bindings.call_of_action import name, named, reader
from blockpool.spec import NULL, Cleared, Event, Key, Pool, Removed, Stored
from blockpool.spec.contract import calls
from blockpool.spec.contract.calls import Start, Started
from blockpool.spec.contract.judge import Judge
from blockpool.spec.contract.shadow_state import Books

OPERATIONS = frozenset(kind.op for kind in calls.Call.__args__)


def entry(key: Key) -> tuple[str, int]:
    return name(key.prefix), key.group


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
