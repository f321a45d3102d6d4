"""The level above: which entries the ledger of ownership allows, and what it sees of a step."""

from dataclasses import replace
from typing import Any

import pytest

from blockpool.spec import (
    Action,
    CancelWatch,
    EvictBlocks,
    FreeBlocks,
    GetNewBlocks,
    GetUsage,
    ResetPrefixCache,
    Touch,
    UnpinBlocks,
    first_state,
    steps,
)
from blockpool.spec.claims.ownership import Entry, GiveBack, Ledger, Lend, Share, entry_of, ledger_of

LEDGER = Ledger(5, {1: 1, 2: 2})


def test_a_use_more_of_a_block_given_back_once_too_often_makes_it_free() -> None:
    assert Share((2,)).effect(Ledger(5, {1: 1, 2: -1})) == Ledger(5, {1: 1})


@pytest.mark.parametrize(
    ("entry", "allowed"),
    [
        (Lend(()), True),
        (Lend((3, 4)), True),
        (Lend((1,)), False),  # lent already
        (Lend((3, 3)), False),  # twice to one user
        (Lend((0,)), False),  # the null block
        (Lend((5,)), False),  # no block of this pool
        (Lend((-1,)), False),
        (Share((1, 1, 3)), True),
        (Share((0,)), False),
        (Share((5,)), False),
        (GiveBack(()), True),
        (GiveBack((2, 1, 2)), True),
        (GiveBack((1, 1)), False),  # lent once
        (GiveBack((3,)), False),  # not lent
        (GiveBack((0,)), False),
    ],
)
def test_which_entries_are_allowed(entry: Entry, allowed: bool) -> None:
    assert entry.allowed(LEDGER) is allowed


@pytest.mark.parametrize(
    ("entry", "lent"),
    [
        (Lend((4, 3)), {1: 1, 2: 2, 3: 1, 4: 1}),
        (Share((1, 1, 3)), {1: 3, 2: 2, 3: 1}),
        (GiveBack((2, 1)), {2: 1}),
        (GiveBack((2, 1, 2)), {}),
    ],
)
def test_what_an_entry_does(entry: Entry, lent: dict[int, int]) -> None:
    after = entry.effect(LEDGER)
    assert dict(after.lent) == lent
    assert after.size == 5
    assert LEDGER.lent == {1: 1, 2: 2}


POOL = replace(first_state(4), refs={1: 1, 2: 2, 3: 0}, queue=(3,))


def test_the_ledger_of_a_pool_names_what_is_held() -> None:
    assert ledger_of(POOL) == Ledger(4, {1: 1, 2: 2})


@pytest.mark.parametrize(
    ("action", "entry"),
    [
        (GetNewBlocks(1), Lend((3,))),
        (Touch((0, 3, 3)), Share((3, 3))),
        (FreeBlocks((2, 0, 2)), GiveBack((2, 2))),
        (UnpinBlocks((1,), 0), GiveBack((1,))),
        (FreeBlocks((3,)), None),  # refused
        (GetNewBlocks(2), None),  # refused
        (CancelWatch(1, 0), None),
        (EvictBlocks(frozenset({1})), None),
        (ResetPrefixCache(), None),
        (GetUsage(), None),
    ],
)
def test_what_the_ledger_sees_of_a_step(action: Action[Any], entry: Entry | None) -> None:
    [step] = steps(POOL, action)
    assert entry_of(step) == entry
