"""Goals about the calls of the pool: under full contracts, each does what the spec says, from any small pool.

Symbolic are the choice of the shape and of the blocks named, the number of references of each held block (any from 1
on), and the numbers given to the call (any). A goal covers the method of its name unless it says otherwise.
"""

from dataclasses import replace
from typing import Any

from blockpool.impl.errors import Refusal
from blockpool.proofs.refine.abstraction import differences
from blockpool.proofs.refine.driver import Subject
from blockpool.proofs.symbolic.goals import NAMES, block, on_shapes, step, within
from blockpool.proofs.symbolic.shapes import (
    BLANK_TRIPLES,
    FEW,
    KEYED_PAIRS,
    LONG,
    PAIRS,
    PREFIX,
    SHORT,
    SHORT_PAIRS,
    SINGLES,
    TRIPLES,
    WATCHED_PAIRS,
    WATCHER,
    Kind,
)
from blockpool.spec import (
    Action,
    BlockId,
    CacheFullBlocks,
    CachePartialBlock,
    CancelWatch,
    EvictBlocks,
    FreeBlocks,
    GetCachedBlock,
    GetNewBlocks,
    GroupId,
    MoveBlockHashes,
    Pool,
    ResetPrefixCache,
    TakeEvents,
    Touch,
    UnpinBlocks,
    settled,
)
from blockpool.spec.pool.publishing import runs

TWO = [shape for shape in FEW if shape[0] in (Kind(True, (), False), Kind(False, (LONG, SHORT), True))]
"""A held block with nothing to it; and a free one with two keys and a watcher."""

GROUP = GroupId(0)


def first_is_own(first: int, second: int) -> bool:
    """Irregular blocks come second: a call must then undo what it did with the first."""
    return first >= 1


# --- references and the queue ---


@on_shapes(whole=WATCHED_PAIRS, quick=TWO)
def get_new_blocks(subject: Subject, state: Pool, count: int) -> str:
    """Any number of blocks is lent from the front, or the call is refused."""
    return step(subject, state, GetNewBlocks(within(count, -1, state.size)))


@on_shapes("get_new_blocks", whole=TRIPLES, quick=(), reporting=(False,))
def get_new_blocks_unreported(subject: Subject, state: Pool, count: int) -> str:
    """The same without events and watchers, where `impl` takes a shortcut."""
    return step(subject, state, GetNewBlocks(within(count, -1, state.size)))


@on_shapes(whole=BLANK_TRIPLES, quick=TWO, given=first_is_own)
def touch(subject: Subject, state: Pool, first: int, second: int) -> str:
    """Two blocks gain a reference each, or one two; null is skipped, a foreign one undoes and refuses the call."""
    return step(subject, state, Touch((block(state, first), block(state, second))))


@on_shapes("touch", whole=SINGLES + WATCHED_PAIRS, quick=())
def touch_one(subject: Subject, state: Pool, only: int) -> str:
    """A block of any kind gains a reference; null is skipped, a foreign one refused."""
    return step(subject, state, Touch((block(state, only),)))


@on_shapes(whole=PAIRS, quick=TWO, given=first_is_own)
def free_blocks(subject: Subject, state: Pool, first: int, second: int) -> str:
    """Two blocks lose a reference each, or one two, and are queued at the right end; or the call is refused whole."""
    return step(subject, state, FreeBlocks((block(state, first), block(state, second))))


@on_shapes("free_blocks", whole=SINGLES + WATCHED_PAIRS, quick=())
def free_one_block(subject: Subject, state: Pool, only: int) -> str:
    """A block loses a reference, and is queued at the right end with the last."""
    return step(subject, state, FreeBlocks((block(state, only),)))


@on_shapes(whole=PAIRS, quick=TWO, given=first_is_own)
def unpin_blocks(subject: Subject, state: Pool, first: int, second: int) -> str:
    """Two blocks lose a reference each, or one two, and are watched; or the call is refused whole."""
    return step(subject, state, UnpinBlocks((block(state, first), block(state, second)), WATCHER))


@on_shapes(whole=SINGLES, quick=TWO)
def cancel_watch(subject: Subject, state: Pool, only: int) -> str:
    """The watcher of a block is withdrawn if it was there."""
    return step(subject, state, CancelWatch(block(state, only), WATCHER))


# --- keys ---


@on_shapes(whole=PAIRS + SHORT_PAIRS, quick=TWO, given=first_is_own)
def cache_full_blocks(subject: Subject, state: Pool, first: int, second: int) -> str:
    """Two blocks of a table are published, whatever keys they had; or the call is refused whole."""
    table = (block(state, first), block(state, second))
    return step(subject, state, CacheFullBlocks(PREFIX, table, 0, 2, 1, GROUP))


@on_shapes("cache_full_blocks", whole=TWO, quick=())
def cache_full_blocks_between(subject: Subject, state: Pool, cached: int, full: int, size: int, masked: bool) -> str:
    """Any bounds, any block size, and a mask: those between are published, or the call is refused."""
    first, end, size = within(cached, -1, 3), within(full, -1, 3), within(size, 0, 3)
    table = (BlockId(0), BlockId(1))
    mask = (True, False) if masked else None
    return step(subject, state, CacheFullBlocks(PREFIX, table, first, end, size, GROUP, mask))


@on_shapes(whole=SINGLES, quick=TWO)
def cache_partial_block(subject: Subject, state: Pool, only: int, tokens: int, replaces: bool) -> str:
    """Any number of tokens of a prefix becomes the primary key, an alias, or nothing new; or the call is refused."""
    action = CachePartialBlock(PREFIX, block(state, only), within(tokens, 0, 4), GROUP, 3, replaces)
    return step(subject, state, action)


@on_shapes("cache_partial_block", whole=KEYED_PAIRS, quick=())
def cache_partial_block_beside(subject: Subject, state: Pool, tokens: int, group: int) -> str:
    """The same beside a block that may have the same key, in either of two groups."""
    number, chosen = within(tokens, 1, 2), GroupId(within(group, 0, 1))
    action = CachePartialBlock(PREFIX, BlockId(1), number, chosen, 3)
    return step(subject, state, action)


@on_shapes(whole=SINGLES + PAIRS + SHORT_PAIRS, quick=TWO, given=first_is_own)
def move_block_hashes(subject: Subject, state: Pool, source: int, target: int) -> str:
    """All keys of a block go to another one that is held and has none; or the call is refused."""
    return step(subject, state, MoveBlockHashes(block(state, source), block(state, target)))


@on_shapes(whole=PAIRS + SHORT_PAIRS, quick=TWO)
def evict_blocks(subject: Subject, state: Pool, number: int, one: bool) -> str:
    """Any set of blocks loses all its keys, whoever holds them; an unknown number refuses the call."""
    named = {within(number, -1, state.size)} | ({1} if one else set())
    return step(subject, state, EvictBlocks(frozenset(map(BlockId, named))))


@on_shapes(whole=KEYED_PAIRS + WATCHED_PAIRS, quick=TWO, reporting=(True, False))
def reset_prefix_cache(subject: Subject, state: Pool) -> str:
    """Nothing is found and nobody watches afterwards, or a block is held and nothing changes."""
    return step(subject, state, ResetPrefixCache())


# --- questions and events ---


@on_shapes(whole=KEYED_PAIRS, quick=TWO)
def get_cached_block(subject: Subject, state: Pool, tokens: int, groups: int) -> str:
    """A block for each group that has the key, or none at all; nothing changes."""
    asked = ((GROUP,), (GROUP, GROUP), (GROUP, GroupId(1)))[within(groups, 0, 2)]
    return step(subject, state, GetCachedBlock(PREFIX.first(within(tokens, 1, 2)), asked))


@on_shapes(whole=SINGLES, quick=TWO, reporting=(True, False))
def take_events(subject: Subject, state: Pool, evicted: bool) -> str:
    """What happened since is taken, once."""
    if evicted:
        wrong = step(subject, state, EvictBlocks(frozenset({BlockId(1)})))
        if wrong:
            return wrong
        state = EvictBlocks(frozenset({BlockId(1)})).effect(state, None)
    return step(subject, state, TakeEvents()) or step(subject, replace(state, outbox=()), TakeEvents())


@on_shapes(whole=KEYED_PAIRS, quick=TWO)
def emit_cached_block_events(subject: Subject, state: Pool, number: int) -> str:
    """Those of the first blocks of a request that are findable are reported once more, and nothing else changes."""
    number = within(number, -1, 4)
    expected = state
    if state.reporting and 0 <= number <= len(PREFIX):
        publish = CacheFullBlocks(PREFIX, (BlockId(1),) * 3, 0, number, 1, GROUP)
        found = [place for place in range(number) if publish.key(place) in state.index]
        expected = replace(state, outbox=tuple(publish.stored(state, run) for run in runs(found)))
    try:
        subject.pool.emit_cached_block_events(NAMES.request(PREFIX), number, 1, GROUP)
        refused = False
    except Refusal:
        refused = True
    if refused is not (number < 0 or number > len(PREFIX)):
        return "refused" if refused else "not refused"
    return "; ".join(differences(expected, subject.state(), settled))


@on_shapes(
    "get_new_blocks",
    "touch",
    "free_blocks",
    "unpin_blocks",
    "cancel_watch",
    "cache_full_blocks",
    "cache_partial_block",
    "move_block_hashes",
    "evict_blocks",
    "reset_prefix_cache",
    "take_events",
    whole=[shape for shape in SINGLES if shape[0].watched],
    quick=[shape for shape in TWO if shape[0].watched],
)
def calls_while_watchers_are_told(subject: Subject, state: Pool, which: int) -> str:
    """Every call that changes the pool is refused while watchers are being told."""
    calls: list[Action[Any]] = [
        GetNewBlocks(1),
        Touch((BlockId(1),)),
        FreeBlocks((BlockId(1),)),
        UnpinBlocks((BlockId(1),), WATCHER),
        CancelWatch(BlockId(1), WATCHER),
        CacheFullBlocks(PREFIX, (BlockId(1),), 0, 1, 1, GROUP),
        CachePartialBlock(PREFIX, BlockId(1), 1, GROUP, 1),
        MoveBlockHashes(BlockId(1), BlockId(1)),
        EvictBlocks(frozenset({BlockId(1)})),
        ResetPrefixCache(),
        TakeEvents(),
    ]
    subject.pool._telling = True
    return step(subject, replace(state, telling=True), calls[within(which, 0, len(calls) - 1)])
