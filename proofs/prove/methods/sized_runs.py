"""A picture for the reader: runs of the methods at the sizes that their source names.

A proof that fails says which step does not follow, of a state that an invariant allows; no run need reach it. So the
integer literals of the functions are collected, and the pool is driven through one story at each of these sizes, one
less and one more, beside the spec. Where the two part is the picture, and refutes.
"""

import ast
from collections.abc import Iterator
from typing import Any

from blockpool.proofs.core.text import call
from blockpool.proofs.prove.methods.method import Method, Source, functions, shipped
from blockpool.proofs.refine.correspondence import Names
from blockpool.proofs.refine.driver import Subject
from blockpool.proofs.refine.lockstep import MismatchError, check_call
from blockpool.spec import (
    NULL,
    Action,
    BlockId,
    CacheFullBlocks,
    EvictBlocks,
    FreeBlocks,
    GetCachedBlock,
    GetNewBlocks,
    GroupId,
    Pool,
    Prefix,
    ResetPrefixCache,
    Touch,
    UnpinBlocks,
    Watcher,
    first_state,
    steps,
)

SMALL = 4
MOST = 520
"""Larger literals are not run: the spec takes seconds a call there."""
SHOWN = 300


def sizes(method: Method, source: Source = shipped) -> list[int]:
    """The literals of the functions, one less and one more; a small size in any case."""
    found = {SMALL}
    for module, names in method.runs.items():
        tree = functions(source(module))
        for node in (part for name in names if name in tree for part in ast.walk(tree[name])):
            if isinstance(node, ast.Constant) and type(node.value) is int and 1 < node.value < MOST:
                found |= {node.value - 1, node.value, node.value + 1}
    return sorted(found)


def difference(size: int) -> str | None:
    """Where `impl`, as it is imported here, leaves the spec in a story about so many blocks; None if nowhere."""
    for reporting in (False, True):
        pool = first_state(2 * size + 3, reporting=reporting)
        subject = Subject(pool, Names(pool.unit, alone=True))
        for chapter in (_shared, _refused, _watched, _evicted, _served):
            told = _told(subject, pool, chapter(size), size)
            if isinstance(told, str):
                return told
            pool = told
    return None


Story = Iterator[Action[Any]]


def _told(subject: Subject, pool: Pool, story: Story, size: int) -> Pool | str:
    """The state after the story; or, in words, the call at which the two part."""
    for action in story:
        try:
            pool = check_call(subject, pool, action, list(steps(pool, action)))
        except MismatchError as mismatch:
            return f"with {size} blocks, {call(action)[:SHOWN]}: {str(mismatch)[:SHOWN]}"
    return pool


def _blocks(first: int, count: int) -> tuple[BlockId, ...]:
    return tuple(BlockId(first + number) for number in range(count))


def _prefix(size: int, first: int = 0) -> Prefix:
    return Prefix(tuple(range(first, first + size)))


def _publish(size: int, group: int = 0, first: int = 0) -> Action[Any]:
    return CacheFullBlocks(_prefix(size, first), _blocks(1, size), 0, size, 1, GroupId(group))


def _shared(size: int) -> Story:
    """A prefix is published, shared as often as it has blocks, and given back; a hit revives it, a reset forgets it."""
    mine = _blocks(1, size)
    yield GetNewBlocks(size)
    yield _publish(size)
    for times in range(size + 1):
        yield Touch((mine[times % size],) * 2 + (NULL,))
    for times in range(size + 1):
        yield FreeBlocks((mine[times % size],) * 2)
    yield Touch(mine)
    yield FreeBlocks((NULL, *mine, *mine[:1]))  # refused: named more often than held
    yield FreeBlocks(mine)
    yield FreeBlocks(mine)
    yield Touch((*mine, NULL, *mine))
    yield FreeBlocks((NULL, *mine, *mine))
    yield ResetPrefixCache()


def _refused(size: int) -> Story:
    """Wrong calls behind many right ones."""
    stranger = BlockId(10 * size + 50)
    yield GetNewBlocks(3 * size + 9)
    yield Touch((*_blocks(1, size), stranger))
    yield FreeBlocks((*_blocks(1, size), stranger))
    yield EvictBlocks(frozenset((*_blocks(1, size), stranger)))


def _watched(size: int) -> Story:
    """Readers wait for all of a batch."""
    yield GetNewBlocks(2 * size + 2)
    every = _blocks(1, 2 * size + 2)
    yield UnpinBlocks(every[:size], Watcher(1))
    yield Touch(every[:size])
    yield UnpinBlocks((*every[:size], every[-1], every[-1]), Watcher(2))  # refused
    yield UnpinBlocks(every[:size], Watcher(2))
    yield FreeBlocks(every[size:])
    yield GetNewBlocks(2 * size + 2)
    yield FreeBlocks(every)


def _evicted(size: int) -> Story:
    """Published blocks are handed out again, or evicted by name."""
    yield GetNewBlocks(2 * size + 2)
    yield _publish(size)
    yield FreeBlocks(_blocks(1, 2 * size + 2))
    yield GetNewBlocks(2 * size + 2)
    yield _publish(size)
    yield EvictBlocks(frozenset(_blocks(1, size)))
    yield FreeBlocks(_blocks(1, 2 * size + 2))
    yield ResetPrefixCache()


def _served(size: int) -> Story:
    """One prefix in many groups."""
    yield GetNewBlocks(2 * size + 2)
    for group in range(size):
        block = BlockId(group + 1)
        yield CacheFullBlocks(_prefix(1), (block,), 0, 1, 1, GroupId(group))
    yield GetCachedBlock(_prefix(1), tuple(GroupId(group) for group in range(size)))
