"""Scopes: how large a piece of the machine is searched exhaustively, and every call that is tried in it.

A scope is bounded by the number of blocks, by the prefixes that may be published, and by a boundary: states with more
references or watchers than it admits are checked, but nothing is tried from them.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, combinations, combinations_with_replacement, permutations, product
from typing import Any

from blockpool.proofs.core.figures import counts
from blockpool.spec import (
    NULL,
    Action,
    BlockId,
    CacheFullBlocks,
    CachePartialBlock,
    CancelWatch,
    EvictBlocks,
    FreeBlocks,
    GetCachedBlock,
    GetNewBlocks,
    GetNumFreeBlocks,
    GetUsage,
    GroupId,
    IsBlockWritable,
    Key,
    MoveBlockHashes,
    Pool,
    Prefix,
    ResetPrefixCache,
    TakeEvents,
    Touch,
    UnpinBlocks,
    Watcher,
    first_state,
)

MOST_CALLS = 100_000
"""More different calls than this from every state cannot be searched in a lifetime."""

MOST_WATCHERS = 5


class ScopeTooLargeError(ValueError):
    """The scope asks for more than can be searched; it says what to make smaller."""


@dataclass(frozen=True, slots=True)
class Scope:
    """A bounded piece of the machine. `blocks` are the lendable ones; the null block comes on top."""

    name: str
    sentence: str
    blocks: int
    prefixes: tuple[Prefix, ...] = (Prefix((0, 1)),)
    groups: tuple[GroupId, ...] = (GroupId(0),)
    block_sizes: tuple[int, ...] = (1, 2)
    unit: int = 1
    caching: bool = True
    reporting: bool = True
    max_refs: int = 2  # most references on one block
    watchers: int = 2  # different watchers
    max_watches: int = 2  # most (block, watcher) pairs at a time
    untaken: int = 0  # most events that may wait in the outbox while the next call is made
    nested: bool = False  # are calls tried from inside watchers, while they are told?
    alone: bool = False  # is impl followed as if no other pool existed? Then a foreign block is no block at all
    batch: int = 3  # most blocks named in one call, repeats counted
    unpinned: int = 2  # most blocks named in one unpin_blocks
    expected: tuple[int, int] | None = None  # states and steps, asserted when the whole scope was searched

    def first_state(self) -> Pool:
        return first_state(self.blocks + 1, unit=self.unit, caching=self.caching, reporting=self.reporting)

    def admits(self, pool: Pool) -> bool:
        """Is the state within the boundary?"""
        return (
            all(count <= self.max_refs for count in pool.refs.values())
            and sum(map(len, pool.watchers.values())) <= self.max_watches
        )

    def all_keys(self) -> list[Key]:
        """Every key that can be published."""
        cuts = {prefix.first(end) for prefix in self.prefixes for end in range(self.unit, len(prefix) + 1, self.unit)}
        return sorted(Key(prefix, group) for prefix in cuts for group in self.groups)

    def key_symmetries(self) -> list[dict[Key, Key]]:
        """The ways to exchange whole prefixes (and groups) with each other that map the scope onto itself."""
        keys, found = self.all_keys(), []
        for order in permutations(self.prefixes):
            for groups in permutations(self.groups):
                renamed = _renaming(self, order, dict(zip(self.groups, groups, strict=True)))
                if renamed is not None and sorted(renamed.values()) == keys:
                    found.append(renamed)
        return found

    def check_size(self) -> None:
        """Refuse a scope that nobody can search, before building it."""
        if self.blocks < 1 or min(self.batch, self.unpinned) < 1 or self.max_refs < 1 or self.watchers < 0:
            raise ScopeTooLargeError(
                f"scope {self.name}: blocks, batch and refs must be at least 1, and watchers at least 0"
            )
        if self.watchers > MOST_WATCHERS:
            raise ScopeTooLargeError(
                f"scope {self.name}: {self.watchers} watchers have {math.factorial(self.watchers):,} orders, all of "
                f"which symmetry tries in every state; at most {MOST_WATCHERS} are searched. Make --watchers smaller"
            )
        calls = sum(self.blocks**n for n in range(self.batch + 1))
        calls += sum(self.blocks**n for n in range(self.unpinned + 1)) * self.watchers
        tables = sum((self.blocks + 1) ** (len(p) // s) for p in self.prefixes for s in self.block_sizes)
        calls += 2**self.blocks + tables * len(self.groups)
        if calls > MOST_CALLS:
            raise ScopeTooLargeError(
                f"scope {self.name}: about {calls:,} different calls from every state; "
                f"at most {MOST_CALLS:,} are searched. Make --blocks or --batch smaller"
            )


def _renaming(scope: Scope, order: tuple[Prefix, ...], groups: dict[GroupId, GroupId]) -> dict[Key, Key] | None:
    """The keys renamed so that each prefix becomes its partner in `order`; None if two prefixes disagree."""
    renamed: dict[Key, Key] = {}
    for old, new in zip(scope.prefixes, order, strict=True):
        if len(old) != len(new):
            return None
        for end in range(scope.unit, len(old) + 1, scope.unit):
            for group in scope.groups:
                source, target = Key(old.first(end), group), Key(new.first(end), groups[group])
                if renamed.setdefault(source, target) != target:
                    return None
    return renamed


def narrowed(parts: tuple[Scope, ...], **changes: int | None) -> tuple[Scope, ...]:
    """The parts with these fields changed, where a value is given. Raises ScopeTooLargeError."""
    wanted: dict[str, Any] = {name: value for name, value in changes.items() if value is not None}
    if not wanted:
        return parts
    changed = tuple(replace(part, **wanted, expected=None) for part in parts)
    for part in changed:
        part.check_size()
    return changed


def vocabulary(scope: Scope) -> tuple[Action[Any], ...]:
    """Every call tried from every state, right and wrong ones."""
    scope.check_size()
    makers: tuple[Callable[[Scope], Iterator[Action[Any]]], ...] = (_lending, _publishing, _forgetting, _questions)
    return tuple(dict.fromkeys(chain.from_iterable(make(scope) for make in makers)))


def _blocks(scope: Scope) -> tuple[list[BlockId], BlockId]:
    """The lendable blocks, and one that is not of this pool."""
    return [BlockId(block) for block in range(1, scope.blocks + 1)], BlockId(scope.blocks + 1)


def _odd_batches(scope: Scope) -> Iterator[tuple[BlockId, ...]]:
    """Batches with the null block or a foreign block: alone, after each good one, and before each (one will do where
    many blocks make the search long: what comes first changes nothing in the end).
    """
    blocks, foreign = _blocks(scope)
    for odd in (NULL, foreign):
        yield (odd,)
        yield from ((block, odd) for block in blocks)
        yield from ((odd, block) for block in (blocks if scope.blocks < 3 else blocks[:1]))


def _lending(scope: Scope) -> Iterator[Action[Any]]:
    blocks, foreign = _blocks(scope)
    yield from (GetNewBlocks(count) for count in range(-1, scope.blocks + 2))
    for length in range(scope.batch + 1):
        ordered = product(blocks, repeat=length)
        yield from map(Touch, ordered if length < 3 else combinations_with_replacement(blocks, length))
        yield from map(FreeBlocks, product(blocks, repeat=length))
    yield from map(Touch, _odd_batches(scope))
    yield from map(FreeBlocks, _odd_batches(scope))
    for watcher in map(Watcher, range(scope.watchers)):
        for length in range(scope.unpinned + 1):
            yield from (UnpinBlocks(batch, watcher) for batch in product(blocks, repeat=length))
        yield from (CancelWatch(block, watcher) for block in blocks)
    yield from (UnpinBlocks(batch, Watcher(0)) for batch in _odd_batches(scope))
    yield from (CancelWatch(block, Watcher(0)) for block in (NULL, foreign))


def _publishing(scope: Scope) -> Iterator[Action[Any]]:
    blocks, foreign = _blocks(scope)
    for prefix, group, size in product(scope.prefixes, scope.groups, scope.block_sizes):
        yield from _full_publishing(scope, prefix, group, size)
    size = scope.block_sizes[-1]
    for prefix, group in product(scope.prefixes, scope.groups):
        for tokens in range(scope.unit, len(prefix) + 1, scope.unit):
            for block, again in product(blocks, (False, True)):
                yield CachePartialBlock(prefix, block, tokens, group, size, again)
            yield from (CachePartialBlock(prefix, odd, tokens, group, size) for odd in (NULL, foreign))
        for tokens in (0, scope.unit - 1, len(prefix) + scope.unit):
            yield from (CachePartialBlock(prefix, block, tokens, group, size) for block in (NULL, blocks[0]))
        yield CachePartialBlock(prefix, blocks[0], scope.unit, group, 0)


def _full_publishing(scope: Scope, prefix: Prefix, group: GroupId, size: int) -> Iterator[CacheFullBlocks]:
    blocks, foreign = _blocks(scope)
    full = len(prefix) // size
    plain = CacheFullBlocks(prefix, (NULL,) * full, 0, full, size, group)
    for table in product((NULL, *blocks), repeat=full):
        yield replace(plain, blocks=table)
    # A block left out by mask or by num_cached is like a null block there, so one table is enough for them.
    table = tuple(blocks[:full]) + (NULL,) * (full - len(blocks))
    yield from (replace(plain, blocks=table, mask=mask) for mask in product((False, True), repeat=full))
    yield from (replace(plain, blocks=table, num_cached=start) for start in range(1, full + 1))
    for place, block in product(range(full), blocks):
        yield replace(plain, blocks=tuple(foreign if at == place else block if at == 0 else NULL for at in range(full)))
    table = (blocks[0],) * (full + 1)
    yield replace(plain, blocks=table, num_cached=-1)
    yield replace(plain, blocks=table, num_full=-1)
    yield replace(plain, blocks=table, num_full=full + 1)  # more than there are hashes
    yield replace(plain, blocks=())  # fewer than there are blocks
    yield replace(plain, blocks=table, mask=(True,) * (full + 1))
    yield replace(plain, blocks=table, block_size=0)
    if scope.unit > 1:
        yield replace(plain, blocks=table, block_size=size + 1)


def _forgetting(scope: Scope) -> Iterator[Action[Any]]:
    blocks, foreign = _blocks(scope)
    for length in range(scope.blocks + 1):
        yield from (EvictBlocks(frozenset(chosen)) for chosen in combinations(blocks, length))
    yield from (EvictBlocks(frozenset(odd)) for odd in _odd_batches(scope))
    yield EvictBlocks(frozenset({BlockId(-1)}))
    yield from (MoveBlockHashes(source, target) for source, target in product(blocks, repeat=2))
    for odd in (NULL, foreign):
        yield from (MoveBlockHashes(odd, block) for block in blocks)
        yield from (MoveBlockHashes(block, odd) for block in blocks)
    yield ResetPrefixCache()


def _questions(scope: Scope) -> Iterator[Action[Any]]:
    blocks, foreign = _blocks(scope)
    for prefix in dict.fromkeys(key.prefix for key in scope.all_keys()):
        for count in range(len(scope.groups) + 1):
            yield from (GetCachedBlock(prefix, groups) for groups in combinations(scope.groups, count))
    yield from map(IsBlockWritable, (NULL, *blocks, foreign))
    yield from (GetNumFreeBlocks(), GetUsage(), TakeEvents())


_SMALL = Scope("small", "3 blocks, a partial and a full key, 2 watchers, batches of 3 with repeats", blocks=3)
_TINY = replace(_SMALL, name="tiny", sentence="2 blocks, a partial and a full key, 1 watcher", blocks=2, watchers=1)
_NESTED = replace(
    _TINY, name="nested", sentence="2 blocks, 2 watchers, calls from inside them", watchers=2, nested=True
)
_CONTENTS = Scope(
    "contents",
    "2 blocks, two prefixes that part after their first token",
    blocks=2,
    prefixes=(Prefix((0, 1)), Prefix((0, 2))),
    watchers=0,
    batch=2,
)
_GROUPS = Scope(
    "groups",
    "2 blocks, 2 groups, hash units of 2 tokens in blocks of 4, and a tail without hash",
    blocks=2,
    prefixes=(Prefix((0, 1, 2, 3, 4)),),
    groups=(GroupId(0), GroupId(1)),
    block_sizes=(4,),
    unit=2,
    watchers=0,
    batch=2,
)
_UNCACHED = replace(
    _SMALL, name="uncached", sentence="3 blocks, caching disabled, events off", caching=False, reporting=False
)
_QUIET = replace(
    _SMALL,
    name="quiet",
    sentence="3 blocks, events off, no watchers, no other pool: the short cuts of impl",
    reporting=False,
    watchers=0,
    alone=True,
)
_UNTAKEN = replace(_TINY, name="untaken", sentence="2 blocks, an event waiting in the outbox", watchers=0, untaken=1)
_LARGE = replace(_SMALL, name="large", sentence="4 blocks, 1 watcher, otherwise as small", blocks=4, watchers=1)
_PARTS = (_QUIET, _NESTED, _UNTAKEN, _CONTENTS, _GROUPS, _UNCACHED)


def _recorded(*parts: Scope) -> tuple[Scope, ...]:
    """The parts, which must have the counts that the ledger records."""
    return tuple(replace(part, expected=counts(part.name)) for part in parts)


def _shrunk(part: Scope) -> Scope:
    """The part with two blocks; three where only the order of the queue can go wrong."""
    return replace(part, name=f"tiny {part.name}", blocks=3 if part is _QUIET else 2, batch=2)


def _one_block(part: Scope) -> Scope:
    return replace(part, blocks=1, watchers=min(1, part.watchers), expected=None)


SCOPES: dict[str, tuple[Scope, ...]] = {
    "tiny": _recorded(_TINY, *map(_shrunk, _PARTS)),
    "small": _recorded(_SMALL, *_PARTS),
    "large": _recorded(_LARGE, *_PARTS),
}
"""What `--scope NAME` searches, one part after the other; each part shows something the others cannot."""

ONE_BLOCK = tuple(map(_one_block, SCOPES["tiny"]))
"""The least that can be searched: enough for many a defect, and for no claim about order."""
