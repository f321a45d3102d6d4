"""That what the proofs assume does not bound the world: it is true of a step of each action in a large pool.

An axiom such as "there are at most six blocks" contradicts nothing, and makes every claim easier. So a pool with many
blocks, keys and watchers is made by calls of the spec, and each hypothesis about each action is read in it, as Python
and without Z3.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from blockpool.proofs.prove.pool.evaluate import UnreadableError, compiled
from blockpool.proofs.prove.pool.induction import hypotheses
from blockpool.proofs.prove.pool.structures import names_in, step_structure
from blockpool.proofs.prove.pool.transitions import TRANSITIONS
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
    GetNumFreeBlocks,
    GetUsage,
    GroupId,
    IsBlockWritable,
    MoveBlockHashes,
    Pool,
    Prefix,
    ResetPrefixCache,
    Step,
    TakeEvents,
    Touch,
    UnpinBlocks,
    Watcher,
    first_state,
    steps,
)

MANY = 12
"""Different blocks, keys and watchers, at least."""
GROUP = GroupId(0)
FREE, HELD, WRITABLE, SPARE = BlockId(2), *(BlockId(MANY + number) for number in (1, 2, 3))
CALLS: tuple[Action[Any], ...] = (
    GetNewBlocks(3),
    Touch((FREE, HELD)),
    FreeBlocks((HELD, WRITABLE)),
    UnpinBlocks((HELD,), Watcher(3)),
    CancelWatch(FREE, Watcher(1)),
    CacheFullBlocks(Prefix((99,)), (WRITABLE,), 0, 1, 1, GROUP),
    CachePartialBlock(Prefix((98,)), WRITABLE, 1, GROUP, 1, True),
    MoveBlockHashes(HELD, WRITABLE),
    EvictBlocks(frozenset({FREE})),
    ResetPrefixCache(),
    TakeEvents(),
    GetCachedBlock(Prefix((0,)), (GROUP,)),
    GetNumFreeBlocks(),
    GetUsage(),
    IsBlockWritable(WRITABLE),
)
"""A legal call of each action on the large pool."""


def large_pool() -> Pool:
    """Twelve blocks queued, each cached under a key of its own and watched by a watcher of its own; three more held."""
    pool = _step(first_state(SPARE + 1), GetNewBlocks(SPARE)).after
    table = tuple(BlockId(number) for number in range(1, HELD + 1))
    prefix = Prefix(tuple(range(HELD)))
    pool = _step(pool, CacheFullBlocks(prefix, table, 0, HELD, 1, GROUP)).after
    for number in range(MANY):
        pool = _step(pool, UnpinBlocks((BlockId(number + 1),), Watcher(number))).after
    return pool


def large_steps() -> Iterator[Step]:
    """A step of each action, taken."""
    pool = large_pool()
    for call in CALLS:
        yield _step(pool, call)


def bounding(step: Step, assumed: Mapping[str, Any] | None = None) -> list[str]:
    """The hypotheses about the action that are not true of the step, though the spec allows it."""
    structure = step_structure(step, names_in(step.before, step.after))
    small = [name for name in ("Block", "Key", "Watcher") if len(structure.sorts[name]) < MANY]
    found = [f"only {len(structure.sorts[name])} of the sort {name}" for name in small]
    for name, formula in (assumed or hypotheses(TRANSITIONS[type(step.action)])).items():
        try:
            true = compiled(formula)(structure)
        except (UnreadableError, KeyError) as error:
            found.append(f"{name}: cannot be read in a large pool ({error})")
            continue
        if not true:
            found.append(f"{name}: not true of a large pool")
    return found


def _step(pool: Pool, call: Action[Any]) -> Step:
    step = next(iter(steps(pool, call)))
    if step.refused:
        raise ValueError(f"{call} is refused: {step.refused}")
    return step
