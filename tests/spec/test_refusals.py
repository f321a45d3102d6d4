"""Every reason of every action, by one wrong call on a small state; and what a refusal leaves alone."""

from dataclasses import fields, replace
from typing import Any

import pytest

from blockpool.spec import (
    ACTIONS,
    NULL,
    Action,
    CacheFullBlocks,
    CachePartialBlock,
    CancelWatch,
    EvictBlocks,
    FreeBlocks,
    GetCachedBlock,
    GetNewBlocks,
    GetNumFreeBlocks,
    GetUsage,
    IsBlockWritable,
    Key,
    MoveBlockHashes,
    Pool,
    Prefix,
    Primary,
    Reason,
    ResetPrefixCache,
    TakeEvents,
    Touch,
    UnpinBlocks,
    first_state,
    steps,
)

PROMPT = Prefix((1, 2, 3, 4))
SAME_LENGTH = Prefix((1, 9))
TWO_TOKENS = Key(Prefix((1, 2)), 0)
# 1 is private, 2 is published under two tokens, 3 is free; hash unit 2.
POOL = replace(
    first_state(4, unit=2),
    refs={1: 1, 2: 1, 3: 0},
    queue=(3,),
    primary={2: Primary(TWO_TOKENS, 2)},
    index={TWO_TOKENS: frozenset({2})},
)
TELLING = replace(POOL, telling=True)
UNCACHED = replace(first_state(4, unit=2, caching=False), refs={1: 1, 2: 1, 3: 0}, queue=(3,))
FOREIGN = 4


def full(*blocks: int, num_cached: int = 0, num_full: int | None = None, size: int = 2, **more: Any) -> CacheFullBlocks:
    return CacheFullBlocks(PROMPT, blocks, num_cached, len(blocks) if num_full is None else num_full, size, 0, **more)


def part(block: int, tokens: int = 2, *, prefix: Prefix = PROMPT, size: int = 2, again: bool = False) -> Any:
    return CachePartialBlock(prefix, block, tokens, 0, size, again)


R = Reason
CASES: list[tuple[Pool, Action[Any], set[Reason]]] = [
    (TELLING, GetNewBlocks(1), {R.RE_ENTRANT}),
    (POOL, GetNewBlocks(-1), {R.BAD_COUNT}),
    (POOL, GetNewBlocks(2), {R.NOT_ENOUGH_FREE}),
    (TELLING, Touch((1,)), {R.RE_ENTRANT}),
    (POOL, Touch((1, FOREIGN)), {R.UNKNOWN_BLOCK}),
    (POOL, Touch((-1,)), {R.UNKNOWN_BLOCK}),
    (TELLING, FreeBlocks((1,)), {R.RE_ENTRANT}),
    (POOL, FreeBlocks((1, FOREIGN)), {R.UNKNOWN_BLOCK}),
    (POOL, FreeBlocks((3,)), {R.NOT_HELD}),
    (POOL, FreeBlocks((1, 1)), {R.NOT_HELD}),
    (POOL, FreeBlocks((FOREIGN, 3)), {R.UNKNOWN_BLOCK, R.NOT_HELD}),
    (TELLING, UnpinBlocks((1,), 0), {R.RE_ENTRANT}),
    (POOL, UnpinBlocks((FOREIGN,), 0), {R.UNKNOWN_BLOCK}),
    (POOL, UnpinBlocks((1, NULL), 0), {R.NULL_BLOCK}),
    (POOL, UnpinBlocks((1, 2, 1), 0), {R.NOT_HELD}),
    (TELLING, CancelWatch(1, 0), {R.RE_ENTRANT}),
    (POOL, CancelWatch(FOREIGN, 0), {R.UNKNOWN_BLOCK}),
    (TELLING, full(1), {R.RE_ENTRANT}),
    (UNCACHED, full(1), {R.CACHING_DISABLED}),
    (UNCACHED, full(), {R.CACHING_DISABLED}),
    (POOL, full(1, num_cached=-1), {R.BAD_RANGE}),
    (POOL, full(1, num_full=-1), {R.BAD_RANGE}),
    (POOL, full(1, num_full=2), {R.BAD_RANGE}),
    (POOL, full(1, size=3), {R.BAD_RANGE}),
    (POOL, full(1, size=0), {R.BAD_RANGE}),
    (POOL, full(size=0), {R.BAD_RANGE}),
    (POOL, full(1, size=6), {R.BAD_RANGE}),
    (POOL, full(1, mask=()), {R.BAD_RANGE}),
    (POOL, full(1, mask=(True, True)), {R.BAD_RANGE}),
    (POOL, full(FOREIGN), {R.UNKNOWN_BLOCK}),
    (POOL, full(1, 1), {R.REPEATED_BLOCK}),
    (POOL, full(3), {R.NOT_HELD}),
    (POOL, full(2), {R.ALREADY_CACHED}),
    (POOL, full(2, 3), {R.ALREADY_CACHED, R.NOT_HELD}),
    (TELLING, part(1), {R.RE_ENTRANT}),
    (UNCACHED, part(1), {R.CACHING_DISABLED}),
    (POOL, part(1, 0), {R.BAD_RANGE}),
    (POOL, part(1, -2), {R.BAD_RANGE}),
    (POOL, part(1, 3), {R.BAD_RANGE}),
    (POOL, part(1, 6), {R.BAD_RANGE}),
    (POOL, part(1, 4, prefix=Prefix((1, 2, 3))), {R.BAD_RANGE}),
    (POOL, part(1, size=3), {R.BAD_RANGE}),
    (POOL, part(NULL, 0), {R.BAD_RANGE}),
    (POOL, part(FOREIGN), {R.UNKNOWN_BLOCK}),
    (POOL, part(3), {R.NOT_HELD}),
    (POOL, part(2, prefix=SAME_LENGTH), {R.DIFFERENT_CONTENT}),
    (TELLING, MoveBlockHashes(2, 1), {R.RE_ENTRANT}),
    (POOL, MoveBlockHashes(FOREIGN, 1), {R.UNKNOWN_BLOCK}),
    (POOL, MoveBlockHashes(2, FOREIGN), {R.UNKNOWN_BLOCK}),
    (POOL, MoveBlockHashes(2, NULL), {R.NULL_BLOCK}),
    (POOL, MoveBlockHashes(2, 3), {R.NOT_HELD}),
    (POOL, MoveBlockHashes(1, 2), {R.ALREADY_CACHED}),
    (POOL, MoveBlockHashes(2, 2), {R.ALREADY_CACHED}),
    (TELLING, EvictBlocks(frozenset({2})), {R.RE_ENTRANT}),
    (POOL, EvictBlocks(frozenset({2, FOREIGN})), {R.UNKNOWN_BLOCK}),
    (POOL, EvictBlocks(frozenset({-1})), {R.UNKNOWN_BLOCK}),
    (TELLING, ResetPrefixCache(), {R.RE_ENTRANT}),
    (TELLING, TakeEvents(), {R.RE_ENTRANT}),
]

ACCEPTED: list[tuple[Pool, Action[Any]]] = [
    (POOL, GetNewBlocks(1)),
    (POOL, GetNewBlocks(0)),
    (POOL, Touch((3,))),  # free and without key: nothing to hit, and allowed
    (POOL, FreeBlocks((NULL, 1))),
    (POOL, full(1, NULL, 3, num_full=2)),  # blocks behind the range do not matter
    (POOL, full(1, 3, mask=(True, False))),  # nor those that the mask leaves out
    (POOL, full(1, FOREIGN, mask=(True, False))),
    (POOL, full(NULL, 2)),  # two tokens are known of block 2, now it has four
    (POOL, full(num_cached=7, num_full=3)),
    (POOL, part(2)),  # the same again
    (POOL, part(2, prefix=SAME_LENGTH, again=True)),
    (POOL, part(NULL)),
    (POOL, MoveBlockHashes(NULL, 1)),
    (POOL, MoveBlockHashes(1, 1)),
    (POOL, EvictBlocks(frozenset({NULL, 3}))),
    (TELLING, GetCachedBlock(Prefix((1, 2)), (0,))),
    (TELLING, IsBlockWritable(1)),
    (TELLING, GetNumFreeBlocks()),
    (TELLING, GetUsage()),
]


def named(action: Action[Any]) -> str:
    return f"{action.name}{tuple(vars_of(action))}"


def vars_of(action: Action[Any]) -> list[Any]:
    values = [getattr(action, field.name) for field in fields(action) if field.name != "prefix"]  # type: ignore[arg-type]
    return [sorted(value) if isinstance(value, frozenset) else value for value in values]


@pytest.mark.parametrize(
    ("pool", "action", "reasons"), CASES, ids=[f"{named(case[1])}-{'-'.join(sorted(case[2]))}" for case in CASES]
)
def test_refused(pool: Pool, action: Action[Any], reasons: set[Reason]) -> None:
    [step] = steps(pool, action)
    assert step.refused == reasons
    assert step.answer is None
    assert step.after is pool
    assert step.told == frozenset()
    assert step.emitted == ()


@pytest.mark.parametrize(("pool", "action"), ACCEPTED, ids=[named(action) for _, action in ACCEPTED])
def test_not_refused(pool: Pool, action: Action[Any]) -> None:
    assert action.guard(pool) == frozenset()


def test_every_pair_of_action_and_reason_has_a_case_of_its_own() -> None:
    alone = {(type(action), reason) for _, action, reasons in CASES for reason in reasons if len(reasons) == 1}
    assert alone == {(action, reason) for action in ACTIONS for reason in action.reasons}
    assert len(alone) == 36


def test_every_reason_is_used() -> None:
    assert set().union(*(action.reasons for action in ACTIONS)) == set(Reason)
