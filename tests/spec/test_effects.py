"""Every action on small states, with the answer and the next state written down by hand."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from blockpool.spec import (
    ACTIONS,
    NULL,
    Action,
    CacheFullBlocks,
    CachePartialBlock,
    CancelWatch,
    Cleared,
    EvictBlocks,
    Extra,
    FreeBlocks,
    GetCachedBlock,
    GetNewBlocks,
    GetNumFreeBlocks,
    GetUsage,
    Handed,
    IsBlockWritable,
    Key,
    MoveBlockHashes,
    Pool,
    Prefix,
    Primary,
    Removed,
    ResetDone,
    ResetPrefixCache,
    Stored,
    TakeEvents,
    Touch,
    UnpinBlocks,
    first_state,
    steps,
)

PROMPT = Prefix((1, 2, 3, 4, 5, 6, 7, 8))
NONE: frozenset[Any] = frozenset()


def key(tokens: int, group: int = 0) -> Key:
    return Key(Prefix(tuple(range(1, tokens + 1))), group)


def keyed(tokens: int, group: int = 0) -> Primary:
    return Primary(key(tokens, group), tokens)


def only(*blocks: int) -> frozenset[int]:
    return frozenset(blocks)


NEW = first_state(5, unit=2)
# 1 is private; 2 is published with two holders; 3 is cached; 4 is cached, has an alias and is watched.
BUSY = replace(
    NEW,
    refs={1: 1, 2: 2, 3: 0, 4: 0},
    queue=(3, 4),
    primary={2: keyed(2), 3: keyed(4), 4: keyed(6)},
    aliases={4: frozenset({key(4)})},
    index={key(2): only(2), key(4): only(3, 4), key(6): only(4)},
    watchers={4: only(0)},
    outbox=(Removed(key(8)),),
)
HELD = replace(NEW, refs={1: 1, 2: 1, 3: 1, 4: 1}, queue=())
PARTIAL = replace(HELD, primary={1: keyed(2)}, index={key(2): only(1)})
UNCACHED = replace(first_state(3, caching=False, reporting=False), refs={1: 1, 2: 0}, queue=(2,))

CASES: list[tuple[str, Pool, Action[Any], Any, Mapping[str, Any]]] = [
    ("hand out none", NEW, GetNewBlocks(0), Handed((), NONE), {}),
    (
        "hand out two",
        NEW,
        GetNewBlocks(2),
        Handed((1, 2), NONE),
        {"refs": {1: 1, 2: 1, 3: 0, 4: 0}, "queue": (3, 4)},
    ),
    (
        "hand out the front, evicting",
        BUSY,
        GetNewBlocks(1),
        Handed((3,), NONE),
        {
            "refs": {1: 1, 2: 2, 3: 1, 4: 0},
            "queue": (4,),
            "primary": {2: keyed(2), 4: keyed(6)},
            "index": {key(2): only(2), key(4): only(4), key(6): only(4)},
            "outbox": (Removed(key(8)), Removed(key(4))),
        },
    ),
    (
        "hand out all, telling a watcher, dropping an alias",
        BUSY,
        GetNewBlocks(2),
        Handed((3, 4), frozenset({(4, 0)})),
        {
            "refs": {1: 1, 2: 2, 3: 1, 4: 1},
            "queue": (),
            "primary": {2: keyed(2)},
            "aliases": {},
            "index": {key(2): only(2)},
            "watchers": {},
            "outbox": (Removed(key(8)), Removed(key(4)), Removed(key(4)), Removed(key(6))),
        },
    ),
    ("touch none", BUSY, Touch(()), None, {}),
    ("touch null", BUSY, Touch((NULL, NULL)), None, {}),
    ("touch a held block", BUSY, Touch((2,)), None, {"refs": {1: 1, 2: 3, 3: 0, 4: 0}}),
    (
        "touch a free block twice, null between",
        BUSY,
        Touch((3, NULL, 3)),
        None,
        {"refs": {1: 1, 2: 2, 3: 2, 4: 0}, "queue": (4,)},
    ),
    (
        "touch a watched block: the watcher stays",
        BUSY,
        Touch((4, 1)),
        None,
        {"refs": {1: 2, 2: 2, 3: 0, 4: 1}, "queue": (3,)},
    ),
    ("free null", BUSY, FreeBlocks((NULL,)), None, {}),
    (
        "free a worthless block: to the front",
        BUSY,
        FreeBlocks((1,)),
        None,
        {"refs": {1: 0, 2: 2, 3: 0, 4: 0}, "queue": (1, 3, 4)},
    ),
    ("free one of two references", BUSY, FreeBlocks((2,)), None, {"refs": {1: 1, 2: 1, 3: 0, 4: 0}}),
    (
        "free both references at once: to the back, since it is cached",
        BUSY,
        FreeBlocks((2, 2)),
        None,
        {"refs": {1: 1, 2: 0, 3: 0, 4: 0}, "queue": (3, 4, 2)},
    ),
    (
        "free a mixed list: each where it was named last",
        BUSY,
        FreeBlocks((2, NULL, 1, 2)),
        None,
        {"refs": {1: 0, 2: 0, 3: 0, 4: 0}, "queue": (1, 3, 4, 2)},
    ),
    (
        "free worthless blocks: in the order given, in front",
        replace(HELD, refs={1: 1, 2: 1, 3: 1, 4: 0}, queue=(4,)),
        FreeBlocks((3, 1, 2)),
        None,
        {"refs": {1: 0, 2: 0, 3: 0, 4: 0}, "queue": (3, 1, 2, 4)},
    ),
    (
        "free a repeated block: its last naming counts",
        replace(HELD, refs={1: 2, 2: 1, 3: 1, 4: 1}),
        FreeBlocks((1, 2, 1, 3)),
        None,
        {"refs": {1: 0, 2: 0, 3: 0, 4: 1}, "queue": (2, 1, 3)},
    ),
    (
        "free a watched block without key: to the back",
        replace(HELD, refs={1: 1, 2: 0, 3: 1, 4: 1}, queue=(2,), watchers={1: only(1)}),
        FreeBlocks((1,)),
        None,
        {"refs": {1: 0, 2: 0, 3: 1, 4: 1}, "queue": (2, 1)},
    ),
    ("unpin none", BUSY, UnpinBlocks((), 1), None, {}),
    (
        "unpin a private block: to the very back",
        BUSY,
        UnpinBlocks((1,), 1),
        None,
        {"refs": {1: 0, 2: 2, 3: 0, 4: 0}, "queue": (3, 4, 1), "watchers": {4: only(0), 1: only(1)}},
    ),
    (
        "unpin a shared block: watched, and still held",
        BUSY,
        UnpinBlocks((2,), 1),
        None,
        {"refs": {1: 1, 2: 1, 3: 0, 4: 0}, "watchers": {4: only(0), 2: only(1)}},
    ),
    (
        "unpin with a second watcher, twice in one call",
        replace(HELD, refs={1: 2, 2: 1, 3: 1, 4: 1}, watchers={1: only(0)}),
        UnpinBlocks((1, 2, 1), 1),
        None,
        {"refs": {1: 0, 2: 0, 3: 1, 4: 1}, "queue": (2, 1), "watchers": {1: only(0, 1), 2: only(1)}},
    ),
    ("cancel", BUSY, CancelWatch(4, 0), True, {"watchers": {}}),
    ("cancel what is not there", BUSY, CancelWatch(4, 1), False, {}),
    ("cancel on the null block", BUSY, CancelWatch(NULL, 0), False, {}),
    (
        "cancel one of two",
        replace(BUSY, watchers={4: only(0, 1)}),
        CancelWatch(4, 0),
        True,
        {"watchers": {4: only(1)}},
    ),
    ("publish nothing", HELD, CacheFullBlocks(PROMPT, (), 3, 3, 4, 0), None, {}),
    ("publish from behind", HELD, CacheFullBlocks(PROMPT, (1,), 1, 0, 4, 0), None, {}),
    (
        "publish two blocks: one event",
        HELD,
        CacheFullBlocks(PROMPT, (3, 1), 0, 2, 4, 0),
        None,
        {
            "primary": {3: keyed(4), 1: keyed(8)},
            "index": {key(4): only(3), key(8): only(1)},
            "outbox": (Stored((key(4), key(8)), None, (1, 2, 3, 4, 5, 6, 7, 8), 4),),
        },
    ),
    (
        "publish the second block: its parent is known",
        replace(HELD, primary={3: keyed(4)}, index={key(4): only(3)}),
        CacheFullBlocks(PROMPT, (3, 1), 1, 2, 4, 0),
        None,
        {
            "primary": {3: keyed(4), 1: keyed(8)},
            "index": {key(4): only(3), key(8): only(1)},
            "outbox": (Stored((key(8),), key(4), (5, 6, 7, 8), 4),),
        },
    ),
    (
        "publish around a null block and a mask: two events, no parent",
        HELD,
        CacheFullBlocks(PROMPT, (1, NULL, 2, 3), 0, 4, 2, 5, (True, True, True, False)),
        None,
        {
            "primary": {1: keyed(2, 5), 2: keyed(6, 5)},
            "index": {key(2, 5): only(1), key(6, 5): only(2)},
            "outbox": (Stored((key(2, 5),), None, (1, 2), 2), Stored((key(6, 5),), None, (5, 6), 2)),
        },
    ),
    (
        "promote: the partial key and the alias go",
        replace(
            HELD, primary={1: keyed(4)}, aliases={1: frozenset({key(2)})}, index={key(4): only(1, 2), key(2): only(1)}
        ),
        CacheFullBlocks(PROMPT, (1,), 0, 1, 8, 0),
        None,
        {
            "primary": {1: keyed(8)},
            "aliases": {},
            "index": {key(4): only(2), key(8): only(1)},
            "outbox": (
                Removed(key(2)),
                Removed(key(4)),
                Stored((key(8),), None, (1, 2, 3, 4, 5, 6, 7, 8), 8),
            ),
        },
    ),
    ("publish part of the null block", HELD, CachePartialBlock(PROMPT, NULL, 2, 0, 4), None, {}),
    (
        "publish part of a block",
        HELD,
        CachePartialBlock(PROMPT, 1, 2, 0, 4),
        key(2),
        {
            "primary": {1: keyed(2)},
            "index": {key(2): only(1)},
            "outbox": (Stored((key(2),), None, (1, 2), 2),),
        },
    ),
    ("publish the same part", PARTIAL, CachePartialBlock(PROMPT, 1, 2, 0, 4), key(2), {}),
    (
        "publish the same part on another block: a second copy",
        PARTIAL,
        CachePartialBlock(PROMPT, 2, 2, 0, 4),
        key(2),
        {
            "primary": {1: keyed(2), 2: keyed(2)},
            "index": {key(2): only(1, 2)},
            "outbox": (Stored((key(2),), None, (1, 2), 2),),
        },
    ),
    (
        "grow: the old key is removed, so it is no parent",
        PARTIAL,
        CachePartialBlock(PROMPT, 1, 4, 0, 4),
        key(4),
        {
            "primary": {1: keyed(4)},
            "index": {key(4): only(1)},
            "outbox": (Removed(key(2)), Stored((key(4),), None, (3, 4), 2)),
        },
    ),
    (
        "grow next to a block that knows the parent",
        replace(PARTIAL, primary={1: keyed(2), 2: keyed(2)}, index={key(2): only(1, 2)}),
        CachePartialBlock(PROMPT, 1, 4, 0, 4),
        key(4),
        {
            "primary": {1: keyed(4), 2: keyed(2)},
            "index": {key(2): only(2), key(4): only(1)},
            "outbox": (Removed(key(2)), Stored((key(4),), key(2), (3, 4), 2)),
        },
    ),
    (
        "a shorter prefix: an alias",
        replace(HELD, primary={1: keyed(4)}, index={key(4): only(1)}),
        CachePartialBlock(PROMPT, 1, 2, 0, 4),
        key(2),
        {
            "aliases": {1: frozenset({key(2)})},
            "index": {key(4): only(1), key(2): only(1)},
            "outbox": (Stored((key(2),), None, (1, 2), 2),),
        },
    ),
    (
        "a shorter prefix after a rewrite: replaced",
        replace(
            HELD, primary={1: keyed(6)}, aliases={1: frozenset({key(4)})}, index={key(6): only(1), key(4): only(1)}
        ),
        CachePartialBlock(PROMPT, 1, 2, 0, 4, True),
        key(2),
        {
            "primary": {1: keyed(2)},
            "aliases": {},
            "index": {key(2): only(1)},
            "outbox": (Removed(key(4)), Removed(key(6)), Stored((key(2),), None, (1, 2), 2)),
        },
    ),
    (
        "the same prefix after a rewrite: stored anew",
        PARTIAL,
        CachePartialBlock(PROMPT, 1, 2, 0, 4, True),
        key(2),
        {"outbox": (Removed(key(2)), Stored((key(2),), None, (1, 2), 2))},
    ),
    ("move from a block without keys", BUSY, MoveBlockHashes(1, 1), None, {}),
    ("move from the null block", BUSY, MoveBlockHashes(NULL, 1), None, {}),
    (
        "move all keys of a free block",
        BUSY,
        MoveBlockHashes(4, 1),
        None,
        {
            "primary": {2: keyed(2), 3: keyed(4), 1: keyed(6)},
            "aliases": {1: frozenset({key(4)})},
            "index": {key(2): only(2), key(4): only(3, 1), key(6): only(1)},
        },
    ),
    ("evict nothing", BUSY, EvictBlocks(only()), None, {}),
    ("evict the null block and one without keys", BUSY, EvictBlocks(only(0, 1)), None, {}),
    (
        "evict a held and a free block: place, references and watcher stay",
        BUSY,
        EvictBlocks(only(2, 4)),
        None,
        {
            "primary": {3: keyed(4)},
            "aliases": {},
            "index": {key(4): only(3)},
            "outbox": (Removed(key(8)), Removed(key(2)), Removed(key(4)), Removed(key(6))),
        },
    ),
    ("reset while a block is held", BUSY, ResetPrefixCache(), ResetDone(False, NONE), {}),
    (
        "reset",
        replace(BUSY, refs={1: 0, 2: 0, 3: 0, 4: 0}, queue=(1, 3, 4, 2)),
        ResetPrefixCache(),
        ResetDone(True, frozenset({(4, 0)})),
        {"primary": {}, "aliases": {}, "index": {}, "watchers": {}, "outbox": (Removed(key(8)), Cleared())},
    ),
    ("reset a new pool: reported", NEW, ResetPrefixCache(), ResetDone(True, NONE), {"outbox": (Cleared(),)}),
    ("reset without caching and events", first_state(2, caching=False, reporting=False), ResetPrefixCache(),
     ResetDone(True, NONE), {}),
    ("hit", BUSY, GetCachedBlock(Prefix((1, 2)), (0,)), (2,), {}),
    ("hit in no group at all", BUSY, GetCachedBlock(Prefix((7,)), ()), (), {}),
    ("miss in the other group", BUSY, GetCachedBlock(Prefix((1, 2)), (0, 1)), None, {}),
    ("miss for an extra", BUSY, GetCachedBlock(Prefix((1, 2), (Extra("salt", "a"),)), (0,)), None, {}),
    ("writable", BUSY, IsBlockWritable(1), True, {}),
    ("not writable: published", replace(BUSY, refs={1: 1, 2: 1, 3: 0, 4: 0}), IsBlockWritable(2), False, {}),
    ("not writable: shared", replace(NEW, refs={1: 2, 2: 0, 3: 0, 4: 0}), IsBlockWritable(1), False, {}),
    ("not writable: free", NEW, IsBlockWritable(1), False, {}),
    ("not writable: watched", replace(HELD, watchers={1: only(0)}), IsBlockWritable(1), False, {}),
    ("not writable: null", HELD, IsBlockWritable(NULL), False, {}),
    ("not writable: foreign", HELD, IsBlockWritable(5), False, {}),
    ("free blocks", BUSY, GetNumFreeBlocks(), 2, {}),
    ("no free blocks", HELD, GetNumFreeBlocks(), 0, {}),
    ("usage", BUSY, GetUsage(), 0.5, {}),
    ("usage of a full pool", HELD, GetUsage(), 1.0, {}),
    ("usage of a pool with nothing to lend", first_state(1), GetUsage(), 0.0, {}),
    ("take the events", BUSY, TakeEvents(), (Removed(key(8)),), {"outbox": ()}),
    ("take no events", NEW, TakeEvents(), (), {}),
    ("no events where they are off", replace(PARTIAL, reporting=False), EvictBlocks(only(1)), None,
     {"primary": {}, "index": {}}),
    ("hand out without caching", UNCACHED, GetNewBlocks(1), Handed((2,), NONE), {"refs": {1: 1, 2: 1}, "queue": ()}),
    ("free without caching", UNCACHED, FreeBlocks((1,)), None, {"refs": {1: 0, 2: 0}, "queue": (1, 2)}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "action", "answer", "changes"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_next_state(before: Pool, action: Action[Any], answer: Any, changes: Mapping[str, Any]) -> None:
    untouched = deepcopy(before)
    [step] = steps(before, action)
    assert not step.refused
    assert step.answer == answer
    assert type(step.answer) is type(answer)
    assert step.after == replace(before, **changes)
    assert step.before is before
    assert before == untouched
    assert action.allows(before, answer)


def test_every_action_has_cases() -> None:
    assert {type(case[2]) for case in CASES} == set(ACTIONS)


def test_a_lookup_answers_any_block_under_the_key_in_each_group() -> None:
    pool = replace(BUSY, index={**BUSY.index, key(4, 1): only(2)})
    lookup = GetCachedBlock(Prefix((1, 2, 3, 4)), (0, 1))
    assert [step.answer for step in steps(pool, lookup)] == [(3, 2), (4, 2)]
    assert all(step.after is pool for step in steps(pool, lookup))


@pytest.mark.parametrize(
    ("answer", "allowed"),
    [((3,), True), ((4,), True), ((2,), False), ((), False), ((3, 4), False), (None, False), ([3], False)],
)
def test_which_answers_a_lookup_allows(answer: Any, allowed: bool) -> None:
    assert GetCachedBlock(Prefix((1, 2, 3, 4)), (0,)).allows(BUSY, answer) is allowed


@pytest.mark.parametrize(("answer", "allowed"), [(None, True), ((), False), ((1,), False)])
def test_which_answers_a_miss_allows(answer: Any, allowed: bool) -> None:
    assert GetCachedBlock(Prefix((9, 9)), (0,)).allows(BUSY, answer) is allowed


def test_events_may_be_taken_in_any_order_of_removals_in_a_row() -> None:
    one, two, three = Removed(key(2)), Removed(key(4)), Stored((key(8),), None, (5, 6, 7, 8), 4)
    pool = replace(NEW, outbox=(one, two, three))
    assert TakeEvents().allows(pool, (two, one, three))
    assert not TakeEvents().allows(pool, (one, three, two))
    assert not TakeEvents().allows(pool, (one, two))
    assert not TakeEvents().allows(pool, [one, two, three])


def test_other_actions_allow_exactly_their_one_answer() -> None:
    assert GetNewBlocks(1).allows(NEW, Handed((1,), NONE))
    assert not GetNewBlocks(1).allows(NEW, Handed((2,), NONE))
    assert not GetNumFreeBlocks().allows(NEW, 3)
