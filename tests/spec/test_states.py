"""The first state, the notions derived from a state, prefixes and keys."""

from dataclasses import FrozenInstanceError, replace

import pytest

from blockpool.spec import NULL, Extra, GetNewBlocks, Key, Life, Pool, Prefix, Primary, UnpinBlocks, first_state, steps
from blockpool.spec import while_telling as seen_inside

KEY = Key(Prefix((1,)), 0)


def test_a_new_pool() -> None:
    assert first_state(4, unit=2, caching=False, reporting=False) == Pool(
        size=4, unit=2, caching=False, reporting=False, refs={1: 0, 2: 0, 3: 0}, queue=(1, 2, 3)
    )


def test_the_smallest_pool_has_nothing_to_lend() -> None:
    assert first_state(1) == Pool(size=1, unit=1, caching=True, reporting=True)


@pytest.mark.parametrize(("size", "unit"), [(0, 1), (-1, 1), (1, 0), (4, -2)])
def test_a_pool_needs_a_block_and_a_unit(size: int, unit: int) -> None:
    with pytest.raises(ValueError, match=f"not {size} and {unit}"):
        first_state(size, unit=unit)


def test_a_state_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        first_state(2).queue = ()  # type: ignore[misc]


# 1 blank, 2 private, 3 published, 4 cached, 5 watched
ALL_LIVES = replace(
    first_state(6),
    refs={1: 0, 2: 1, 3: 2, 4: 0, 5: 0},
    queue=(1, 4, 5),
    primary={3: Primary(KEY, 1), 4: Primary(KEY, 1)},
    index={KEY: frozenset({3, 4})},
    watchers={5: frozenset({0})},
)


def test_the_six_states_of_a_block() -> None:
    assert [ALL_LIVES.life_of(block) for block in range(6)] == [
        Life.NULL, Life.BLANK, Life.PRIVATE, Life.PUBLISHED, Life.CACHED, Life.WATCHED
    ]  # fmt: skip
    assert len(Life) == 6


@pytest.mark.parametrize(
    ("block", "life"),
    [(2, Life.PRIVATE), (3, Life.PUBLISHED), (4, Life.CACHED)],
    ids=["private", "published", "cached"],
)
def test_a_watcher_does_not_hide_the_life_of_a_block(block: int, life: Life) -> None:
    assert replace(ALL_LIVES, watchers={block: frozenset({0})}).life_of(block) is life


def test_which_blocks_are_known() -> None:
    assert [ALL_LIVES.knows(block) for block in (-1, NULL, 1, 5, 6)] == [False, True, True, True, False]
    assert list(ALL_LIVES.lendable) == [1, 2, 3, 4, 5]


def test_who_is_told() -> None:
    pool = replace(ALL_LIVES, watchers={2: frozenset({0, 1}), 5: frozenset({1})})
    assert pool.told_about([5, 1]) == {(5, 1)}
    assert pool.told_about([2, 5]) == {(2, 0), (2, 1), (5, 1)}
    assert pool.told_about([]) == frozenset()


def test_the_keys_of_a_block() -> None:
    shorter = Key(Prefix(()), 0)
    pool = replace(ALL_LIVES, aliases={3: frozenset({shorter})})
    assert pool.keys_of(3) == {KEY, shorter}
    assert pool.keys_of(4) == {KEY}
    assert pool.keys_of(1) == frozenset()


def test_a_watcher_sees_the_pool_as_before_the_call() -> None:
    [lent] = steps(first_state(2), GetNewBlocks(1))
    assert seen_inside(lent) is None
    [unpinned] = steps(lent.after, UnpinBlocks((1,), 3))
    assert seen_inside(unpinned) is None
    [reused] = steps(unpinned.after, GetNewBlocks(1))
    assert seen_inside(reused) == Pool(
        size=2, refs={1: 0}, queue=(1,), watchers={1: frozenset({3})}, telling=True
    )  # fmt: skip


def test_an_extra_belongs_to_the_prefixes_that_reach_it() -> None:
    salt, item = Extra("salt", "a"), Extra("item", "cat", at=2)
    prefix = Prefix((1, 2, 3, 4), (item, salt))
    assert prefix.first(2) == Prefix((1, 2), (salt,))
    assert prefix.first(3) == Prefix((1, 2, 3), (item, salt))
    assert prefix.first(9) == prefix
    assert prefix.first(0) == Prefix(())
    assert len(prefix) == 4


def test_keys_differ_by_group_token_order_and_kind_of_extra() -> None:
    keys = {
        Key(Prefix((1, 2)), 0),
        Key(Prefix((1, 2)), 1),
        Key(Prefix((2, 1)), 0),
        Key(Prefix((1, 2), (Extra("salt", "x"),)), 0),
        Key(Prefix((1, 2), (Extra("adapter", "x"),)), 0),
        Key(Prefix((1, 2), (Extra("salt", "x", at=1),)), 0),
    }
    assert len(keys) == 6
    assert {key.tokens for key in keys} == {2}
