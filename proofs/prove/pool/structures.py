"""States and steps of the spec as finite structures over the symbols of `vocabulary`, for formulas to be read in."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from blockpool.proofs.prove.pool.evaluate import Meaning, Structure
from blockpool.spec import (
    NULL,
    BlockId,
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
    GroupId,
    Handed,
    IsBlockWritable,
    Key,
    MoveBlockHashes,
    Pool,
    Prefix,
    Reason,
    Removed,
    ResetDone,
    Step,
    Stored,
    Touch,
    UnpinBlocks,
    Watcher,
)

ANY_KEY = Key(Prefix((0,)), GroupId(0))
ANY_WATCHER = Watcher(0)
ANY_EVENT = Cleared()


@dataclass(frozen=True, slots=True)
class Names:
    """What a structure has at least: foreign blocks, and keys and watchers that a state need not speak of."""

    foreign: tuple[BlockId, ...] = ()
    keys: tuple[Key, ...] = (ANY_KEY,)
    watchers: tuple[Watcher, ...] = (ANY_WATCHER,)


def names_in(*pools: Pool) -> Names:
    """The names that these states speak of, beside the blocks of the pool."""
    keys = {*(key for pool in pools for key in pool.index), ANY_KEY}
    keys |= {key for pool in pools for block in {*pool.primary, *pool.aliases} for key in pool.keys_of(block)}
    watchers = {watcher for pool in pools for told in pool.watchers.values() for watcher in told} | {ANY_WATCHER}
    foreign = {block for pool in pools for block in blocks_of(pool) if not pool.knows(block)}
    return Names(tuple(sorted(foreign)), tuple(sorted(keys)), tuple(sorted(watchers)))


def blocks_of(pool: Pool) -> set[BlockId]:
    """Every block that the state speaks of, rightly or not."""
    keyed = {*pool.refs, *pool.queue, *pool.primary, *pool.aliases, *pool.watchers}
    return keyed.union(*pool.index.values())


def state_structure(pool: Pool, names: Names) -> Structure:
    """One state, read as the state before."""
    return Structure(_sorts([pool], names), {**constant_symbols(pool, names.keys), **state_symbols(pool)})


def step_structure(step: Step, names: Names) -> Structure:
    """A step: the symbols of the states before and after, and of the call."""
    call = call_symbols(step)
    keys = {call["key"], *call["asked"], *(key for _, key in call["chosen"]), *call["stored"], *call["removed"]}
    mentioned = Names(
        (*names.foreign, *(block for block in _called(step.action) if not step.before.knows(block))),
        (*names.keys, *sorted(keys)),
        (*names.watchers, call["watcher"]),
    )
    return Structure(
        _sorts([step.before, step.after], mentioned),
        {
            **constant_symbols(step.before, mentioned.keys),
            **state_symbols(step.before),
            **state_symbols(step.after, "'"),
            **call,
        },
    )


def _sorts(pools: Iterable[Pool], names: Names) -> dict[str, tuple[Any, ...]]:
    """Sorts have at least one element each."""
    pools = list(pools)
    slots = max(len(pool.outbox) for pool in pools)
    return {
        "Block": tuple(dict.fromkeys([*range(pools[0].size), *names.foreign])),
        "Key": tuple(dict.fromkeys(names.keys)),
        "Watcher": tuple(dict.fromkeys(names.watchers)),
        "Slot": tuple(range(max(slots, 1))),
        "Event": tuple(dict.fromkeys([*(event for pool in pools for event in pool.outbox), ANY_EVENT])),
    }


def constant_symbols(pool: Pool, keys: Iterable[Key]) -> dict[str, Meaning]:
    """What never changes in a step."""
    return {
        "null": NULL,
        "lendable": frozenset(pool.lendable),
        "lendable_count": len(pool.lendable),
        "caching": pool.caching,
        "reporting": pool.reporting,
        "telling": pool.telling,
        "tokens": {key: key.tokens for key in keys},
    }


def state_symbols(pool: Pool, mark: str = "") -> dict[str, Meaning]:
    """The symbols of a state, their names ending in the mark."""
    first = {block: place for place, block in reversed(list(enumerate(pool.queue)))}
    meanings = {
        "counted": pool.refs.keys(),
        "refs": Counter(pool.refs),
        "places": Counter(pool.queue),
        "ahead": {(one, other) for one in first for other in first if first[one] < first[other]},
        "free": len(pool.queue),
        "held": sum(count != 0 for count in pool.refs.values()),
        "published": pool.primary.keys(),
        "primary": {(block, primary.key) for block, primary in pool.primary.items()},
        "coverage": Counter({block: primary.tokens for block, primary in pool.primary.items()}),
        "aliased": pool.aliases.keys(),
        "alias": _pairs(pool.aliases),
        "indexed": pool.index.keys(),
        "findable": _pairs(pool.index),
        "copies": Counter({key: len(blocks) for key, blocks in pool.index.items()}),
        "listed": pool.watchers.keys(),
        "watched": _pairs(pool.watchers),
        "posted": set(enumerate(pool.outbox)),
    }
    return {name + mark: meaning for name, meaning in meanings.items()}


def _pairs(sets: Mapping[Any, Iterable[Any]]) -> set[tuple[Any, Any]]:
    return {(place, member) for place, members in sets.items() for member in members}


def call_symbols(step: Step) -> dict[str, Meaning]:
    """What a step says besides its two states."""
    return {"refused": bool(step.refused), **_argument_symbols(step), **_answer_symbols(step), **_sent(step.emitted)}


def _argument_symbols(step: Step) -> dict[str, Meaning]:
    meanings: dict[str, Meaning] = {
        "named": Counter(),
        "named_ahead": set(),
        "block": NULL,
        "watcher": ANY_WATCHER,
        "source": NULL,
        "target": NULL,
        "count": 0,
        "key": ANY_KEY,
        "rewritten": False,
        "bad_range": False,
        "chosen": set(),
        "asked": set(),
    }
    match step.action:
        case Touch(blocks) | FreeBlocks(blocks) | EvictBlocks(blocks):
            meanings |= _batch(blocks)
        case UnpinBlocks(blocks, watcher):
            meanings |= {**_batch(blocks), "watcher": watcher}
        case CancelWatch(block, watcher):
            meanings |= {"block": block, "watcher": watcher}
        case IsBlockWritable(block):
            meanings["block"] = block
        case MoveBlockHashes(source, target):
            meanings |= {"source": source, "target": target}
        case GetNewBlocks(count):
            meanings["count"] = count
        case CachePartialBlock(_, block) as action:
            bad = Reason.BAD_RANGE in action.guard(step.before)
            meanings |= {"block": block, "key": action.key, "rewritten": action.replace_existing, "bad_range": bad}
        case CacheFullBlocks() as action:
            bad = action.has_bad_range(step.before)
            pairs = set() if bad else {(block, action.key(place)) for place, block in action.chosen().items()}
            meanings |= {"bad_range": bad, "chosen": pairs}
        case GetCachedBlock(prefix, groups):
            meanings["asked"] = {Key(prefix, group) for group in groups}
        case _:
            pass
    return meanings


def _batch(blocks: Iterable[BlockId]) -> dict[str, Meaning]:
    last = {block: place for place, block in enumerate(blocks)}
    return {
        "named": Counter(blocks),
        "named_ahead": {(one, other) for one in last for other in last if last[one] < last[other]},
    }


def _answer_symbols(step: Step) -> dict[str, Meaning]:
    """The answer; a batch of handed blocks is counted, and ordered by first places."""
    answer = step.answer
    handed = answer.blocks if isinstance(answer, Handed) else ()
    first = {block: place for place, block in reversed(list(enumerate(handed)))}
    return {
        "handed": Counter(handed),
        "handed_ahead": {(one, other) for one in first for other in first if first[one] < first[other]},
        "told": step.told,
        "done": _is_done(step),
        "number": answer if isinstance(step.action, GetNumFreeBlocks) and not step.refused else 0,
        "answered": _answered(step),
    }


def _is_done(step: Step) -> bool:
    match step.action, step.answer:
        case (CancelWatch() | IsBlockWritable(), bool(answer)):
            return answer
        case (_, ResetDone(done, _)):
            return done
        case (CachePartialBlock() | GetCachedBlock(), answer):
            return answer is not None
        case _:
            return False


def _answered(step: Step) -> set[tuple[Key, BlockId]]:
    if not isinstance(step.action, GetCachedBlock) or step.answer is None:
        return set()
    keys = [Key(step.action.prefix, group) for group in step.action.groups]
    return set(zip(keys, step.answer, strict=True))


def _sent(events: Iterable[Event]) -> dict[str, Meaning]:
    """The events of the step, without their order."""
    events = list(events)
    stored = [event for event in events if isinstance(event, Stored)]
    return {
        "stored": Counter(key for event in stored for key in event.keys),
        "removed": Counter(event.key for event in events if isinstance(event, Removed)),
        "cleared": Cleared() in events,
        "parent": {event.parent for event in stored if event.parent is not None},
    }


def _called(action: Any) -> list[BlockId]:
    """The blocks that a call names."""
    single = [getattr(action, name) for name in ("block", "source", "target") if hasattr(action, name)]
    return [*getattr(action, "blocks", ()), *single]
