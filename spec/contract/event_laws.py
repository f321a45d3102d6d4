"""Are the KV events that a pool hands out the ones it owes? How it batches them is its own affair."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby

from blockpool.spec.contract.calls import AllCleared, PoolEvent, RemovedKeys, StoredKeys
from blockpool.spec.contract.laws import EVENTS_ARE_CONSISTENT, EVENTS_COME_IN_ORDER, EVENTS_MIRROR_THE_INDEX
from blockpool.spec.contract.shadow_state import Books, Entry, Told

Finding = tuple[str, str]
"""The law that is broken, and what is wrong."""


def judge_events(books: Books, events: Iterable[PoolEvent]) -> Finding | None:
    """What is wrong with these events, or None. Takes what the books owe."""
    owed, books.outbox = books.outbox, []
    told: list[Told] = []
    for event in events:
        if isinstance(event, StoredKeys) and (not event.keys or event.tokens != event.block_size * len(event.keys)):
            what = f"{len(event.keys)} keys of {event.block_size} tokens, but {event.tokens} tokens"
            return EVENTS_ARE_CONSISTENT.name, f"{event} has {what}"
        told += _flat(event)
    if books.profile.events == "last_copy":
        told, owed = _without_repeats(books.present, told), list(owed)
    return _missing_or_added(told, owed) or _misplaced(told, owed) or _inconsistent(told, owed)


def _flat(event: PoolEvent) -> Iterator[Told]:
    """The event key by key: how it is batched does not matter."""
    match event:
        case StoredKeys(keys, parent, _, block_size, group):
            for key in keys:
                yield "stored", (key, group), parent, block_size
                parent = key
        case RemovedKeys(keys, group):
            for key in keys:
                yield "removed", (key, group), None, None
        case AllCleared():
            yield "cleared", None, None, None


def _without_repeats(present: set[Entry], told: Iterable[Told]) -> list[Told]:
    """Without the Stored of what the reader knows to be there. Keeps `present` up to date."""
    new = []
    for one in told:
        kind, entry = one[:2]
        if entry is None:
            present.clear()
        elif kind == "removed":
            present.discard(entry)
        elif entry in present:
            continue
        else:
            present.add(entry)
        new.append(one)
    return new


def _missing_or_added(told: list[Told], owed: list[Told]) -> Finding | None:
    counts = Counter(one[:2] for one in told)
    counts.subtract(one[:2] for one in owed)
    for (kind, entry), count in counts.items():
        if count:
            what = kind if entry is None else f"{kind} {entry[0]!r} in group {entry[1]}"
            how = "told, but did not happen" if count > 0 else "not told"
            return EVENTS_MIRROR_THE_INDEX.name, f"{what}: {abs(count)} {how}"
    return None


def _misplaced(told: list[Told], owed: list[Told]) -> Finding | None:
    for one, other in zip(_settled(told), _settled(owed), strict=True):
        if one[:2] != other[:2]:
            return EVENTS_COME_IN_ORDER.name, f"told {one[0]} {one[1]} where {other[0]} {other[1]} came first"
    return None


def _inconsistent(told: list[Told], owed: list[Told]) -> Finding | None:
    for one, other in zip(_settled(told), _settled(owed), strict=True):
        (_, entry, parent, adds), (_, _, known, added) = one, other
        if parent != known:
            return (
                EVENTS_ARE_CONSISTENT.name,
                f"stored {entry}: its parent is told as {parent!r}; readers know {known!r}",
            )
        if added is not None and adds != added:
            return EVENTS_ARE_CONSISTENT.name, f"stored {entry} adds {added} tokens; {adds} are told"
    return None


def _settled(told: Iterable[Told]) -> list[Told]:
    """Neighbouring removals sorted: they may be exchanged."""
    settled: list[Told] = []
    for kind, run in groupby(told, key=lambda one: one[0]):
        row = list(run)
        settled += sorted(row, key=lambda one: one[1] or ("", 0)) if kind == "removed" else row
    return settled
