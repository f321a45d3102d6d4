"""A model that Z3 found, as a step of the spec: blocks get numbers, keys get prefixes, and the call is written out.

Only the order of lengths matters to the pool, so the lengths of keys are replaced by small ones in the same order. What
was said with a prefix of its own for every key is true of any keys of these lengths.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import z3

from blockpool.proofs.prove.pool import vocabulary
from blockpool.proofs.prove.pool.evaluate import Structure, structure_of
from blockpool.spec import (
    NULL,
    Action,
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
    Primary,
    Reason,
    Removed,
    ResetDone,
    ResetPrefixCache,
    Step,
    Stored,
    Touch,
    UnpinBlocks,
    Watcher,
)

GROUP = GroupId(0)
MOST_EVENTS = 2  # of one kind and key; a model may have any number


Names = Mapping[Any, Any]


class UndrawableError(ValueError):
    """What the model says is not said by any state or call of the spec."""


@dataclass(frozen=True, slots=True)
class Cast:
    """Which part each element of a model plays."""

    symbols: Mapping[str, Any]
    blocks: Mapping[Any, BlockId]
    keys: Mapping[Any, Key]
    watchers: Mapping[Any, Watcher]
    lengths: Mapping[int, int]  # the length in the model -> a small one


def symbols() -> list[z3.FuncDeclRef]:
    """Every symbol of the vocabulary, in the states before and after and of the call."""
    states = [symbol for state in (vocabulary.BEFORE, vocabulary.AFTER) for symbol in state.symbols().values()]
    alone = [value for value in vars(vocabulary).values() if isinstance(value, z3.ExprRef | z3.FuncDeclRef)]
    return [symbol if isinstance(symbol, z3.FuncDeclRef) else symbol.decl() for symbol in (*states, *alone)]


def step_of(cast: Cast, kind: type[Action[Any]]) -> Step:
    """The step that the model is, if it is a call of this kind. Raises UndrawableError."""
    before, after, action = state_of(cast, ""), state_of(cast, "'"), call_of(cast, kind)
    if cast.symbols["refused"]:
        return Step(before, action, action.guard(before) or frozenset({Reason.RE_ENTRANT}), None, after)
    return Step(before, action, frozenset(), _answer(cast, action), replace(after, outbox=tuple(_events(cast))))


def read(model: z3.ModelRef) -> Structure:
    """All that the model says."""
    return structure_of(model, symbols())


def cast_of(said: Structure) -> Cast:
    """Free blocks are numbered as they are queued, then the held ones, then foreign numbers."""
    meant = said.symbols
    null, lendable = meant["null"], meant["lendable"]
    queue = _order(meant["places"], meant["ahead"])
    ranked = [*(block for block in queue if block in lendable), *(b for b in said.sorts["Block"] if b in lendable)]
    foreign = [block for block in said.sorts["Block"] if block not in lendable]
    numbered = [null, *(block for block in dict.fromkeys([*ranked, *foreign]) if block != null)]
    covered = {meant["coverage" + mark][block] for mark in ("", "'") for block, _ in meant["primary" + mark]}
    lengths = {length: rank for rank, length in enumerate(sorted(covered.union(meant["tokens"].values())), 1)}
    return Cast(
        meant,
        {block: BlockId(number) for number, block in enumerate(numbered)},
        _prefixes({key: lengths[meant["tokens"][key]] for key in said.sorts["Key"]}, {k for _, k in meant["chosen"]}),
        {watcher: Watcher(number) for number, watcher in enumerate(said.sorts["Watcher"])},
        lengths,
    )


def _order(places: Mapping[Any, int], ahead: set[tuple[Any, Any]]) -> list[Any]:
    """The blocks by first places, the later places of a block that is queued more than once behind them."""
    queued = [block for block in places if places[block] > 0]
    first = sorted(queued, key=lambda block: sum((other, block) in ahead for other in queued))
    return [*first, *(block for block in first for _ in range(places[block] - 1))]


def _prefixes(lengths: Mapping[Any, int], together: Iterable[Any]) -> dict[Any, Key]:
    """Keys of these lengths, as few prefixes as can be; those published in one call begin the same."""
    chains: list[set[int]] = []
    keys = {}
    for element in sorted(lengths, key=lambda element: (element not in set(together), lengths[element])):
        length = lengths[element]
        chain = next((number for number, taken in enumerate(chains) if length not in taken), len(chains))
        if chain == len(chains):
            chains.append(set())
        chains[chain].add(length)
        keys[element] = Key(Prefix(tuple(range(10 * chain, 10 * chain + length))), GROUP)
    return keys


def state_of(cast: Cast, mark: str) -> Pool:
    """One of the states, without its outbox."""
    meant = {name: cast.symbols[name + mark] for name in vocabulary.SIGNATURES}
    blocks, keys = cast.blocks, cast.keys
    primary = {
        blocks[block]: Primary(keys[key], cast.lengths[meant["coverage"][block]]) for block, key in meant["primary"]
    }
    return Pool(
        size=1 + len(cast.symbols["lendable"] - {cast.symbols["null"]}),
        caching=cast.symbols["caching"],
        reporting=cast.symbols["reporting"],
        telling=cast.symbols["telling"],
        refs=dict(sorted((blocks[block], meant["refs"][block]) for block in meant["counted"])),
        queue=tuple(blocks[block] for block in _order(meant["places"], meant["ahead"])),
        primary=dict(sorted(primary.items())),
        aliases=_sets(meant["aliased"], meant["alias"], blocks, keys),
        index=_sets(meant["indexed"], meant["findable"], keys, blocks),
        watchers=_sets(meant["listed"], meant["watched"], blocks, cast.watchers),
    )


def _sets(entries: Iterable[Any], pairs: Iterable[tuple[Any, Any]], places: Names, members: Names) -> dict[Any, Any]:
    """A mapping to sets, in the order of its entries."""
    sets: dict[Any, set[Any]] = {places[entry]: set() for entry in entries}
    for place, member in pairs:
        sets.setdefault(places[place], set()).add(members[member])
    return {place: frozenset(sets[place]) for place in sorted(sets)}


def call_of(cast: Cast, kind: type[Action[Any]]) -> Action[Any]:
    """The call, of this kind. Raises UndrawableError."""
    meant = cast.symbols
    batch = tuple(_batch(cast))
    block, watcher = cast.blocks[meant["block"]], cast.watchers[meant["watcher"]]
    if kind is CachePartialBlock:
        return _partial(cast.keys[meant["key"]], block, meant["rewritten"], meant["bad_range"])
    if kind is CacheFullBlocks:
        return _full({cast.keys[key]: cast.blocks[block] for block, key in meant["chosen"]}, meant["bad_range"])
    if kind is GetCachedBlock:
        return _lookup([cast.keys[key] for key in meant["asked"]])
    calls: Mapping[type[Action[Any]], Callable[[], Action[Any]]] = {
        GetNewBlocks: lambda: GetNewBlocks(meant["count"]),
        Touch: lambda: Touch(batch),
        FreeBlocks: lambda: FreeBlocks(batch),
        UnpinBlocks: lambda: UnpinBlocks(batch, watcher),
        EvictBlocks: lambda: EvictBlocks(frozenset(batch)),
        CancelWatch: lambda: CancelWatch(block, watcher),
        IsBlockWritable: lambda: IsBlockWritable(block),
        MoveBlockHashes: lambda: MoveBlockHashes(cast.blocks[meant["source"]], cast.blocks[meant["target"]]),
    }
    return calls[kind]() if kind in calls else kind()


def _batch(cast: Cast) -> Iterator[BlockId]:
    """The named blocks in the order of their last namings."""
    named, ahead = cast.symbols["named"], cast.symbols["named_ahead"]
    chosen = [block for block in named if named[block] > 0]
    for block in sorted(chosen, key=lambda block: sum((other, block) in ahead for other in chosen)):
        yield from [cast.blocks[block]] * named[block]


def _partial(key: Key, block: BlockId, rewritten: bool, bad_range: bool) -> CachePartialBlock:
    size = 0 if bad_range else 1
    return CachePartialBlock(key.prefix, block, key.tokens, key.group, size, rewritten)


def _full(chosen: Mapping[Key, BlockId], bad_range: bool) -> CacheFullBlocks:
    """Blocks of one token; those that are not chosen are null."""
    longest = max(chosen, key=lambda key: key.tokens, default=Key(Prefix(()), GROUP))
    if any(longest.prefix.first(key.tokens) != key.prefix for key in chosen):
        raise UndrawableError("two blocks are published under keys of which neither begins the other")
    full = longest.tokens
    at = {key.tokens: block for key, block in chosen.items()}
    table = tuple(at.get(place + 1, NULL) for place in range(full))
    return CacheFullBlocks(longest.prefix, table, 0, full, 0 if bad_range else 1, GROUP)


def _lookup(keys: Sequence[Key]) -> GetCachedBlock:
    if len(keys) > 1:
        raise UndrawableError("a lookup in several groups")
    return GetCachedBlock(keys[0].prefix if keys else Prefix(()), tuple(key.group for key in keys))


def _answer(cast: Cast, action: Action[Any]) -> Any:
    meant = cast.symbols
    told = frozenset((cast.blocks[block], cast.watchers[watcher]) for block, watcher in meant["told"])
    match action:
        case GetNewBlocks():
            return Handed(tuple(cast.blocks[block] for block in _order(meant["handed"], meant["handed_ahead"])), told)
        case ResetPrefixCache():
            return ResetDone(meant["done"], told)
        case CancelWatch() | IsBlockWritable():
            return meant["done"]
        case CachePartialBlock():
            return action.key if meant["done"] else None
        case GetNumFreeBlocks():
            return meant["number"]
        case GetCachedBlock():
            return tuple(cast.blocks[block] for _, block in sorted(meant["answered"])) if meant["done"] else None
        case _:
            return None


def _events(cast: Cast) -> Iterator[Event]:
    """What was sent, as the spec would: removals first."""
    yield from [Cleared()] * cast.symbols["cleared"]
    for element, count in cast.symbols["removed"].items():
        yield from [Removed(cast.keys[element])] * min(count, MOST_EVENTS)
    for element, count in cast.symbols["stored"].items():
        key = cast.keys[element]
        yield from [Stored((key,), None, key.prefix.tokens[-1:], 1)] * min(count, MOST_EVENTS)
