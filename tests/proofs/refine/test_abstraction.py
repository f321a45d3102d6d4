"""Abstraction and lift: going up from where one came down from, and pools that stand for no state at all."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from blockpool.impl import BlockPool
from blockpool.impl.block import KVCacheBlock
from blockpool.proofs.explore.scopes import Scope
from blockpool.proofs.explore.search import explore
from blockpool.proofs.refine.abstraction import abstract, differences, queued_blocks
from blockpool.proofs.refine.correspondence import Bell, BrokenPoolError, Names
from blockpool.proofs.refine.driver import Answered, Refused, Subject
from blockpool.spec import (
    CachePartialBlock,
    Cleared,
    Extra,
    FreeBlocks,
    GetCachedBlock,
    GetNewBlocks,
    Handed,
    Key,
    Pool,
    Prefix,
    Primary,
    Removed,
    Stored,
    Touch,
    UnpinBlocks,
    first_state,
    settled,
)

TINY = Scope("tiny", "2 blocks, a partial and a full key, 1 watcher", 2, watchers=1)
NESTED = Scope("nested", "2 blocks, calls from inside 2 watchers", 2, watchers=2, nested=True)
CONTENTS = Scope(
    "contents",
    "two prefixes that part after their first token",
    2,
    (Prefix((0, 1)), Prefix((0, 2))),
    watchers=1,
    batch=2,
)
GROUPS = Scope(
    "groups",
    "2 groups, hash units of 2 tokens, a tail without hash",
    2,
    (Prefix((0, 1, 2, 3, 4)),),
    (0, 1),
    (4,),
    2,
    watchers=1,
)
PARTS = {
    part.name: replace(part, batch=1, unpinned=1, max_refs=1)
    for part in (TINY, replace(NESTED, blocks=1), CONTENTS, replace(GROUPS, watchers=0))
}

SHORT, LONG = Prefix((0, 1)), Prefix((0, 1, 2, 3))
K2, K4 = Key(SHORT, 0), Key(LONG, 0)
# 1 is held, 2 and 3 are cached under one key, 3 has an alias and two watchers, 4 is blank
STATE = replace(
    first_state(5, unit=2),
    refs={1: 1, 2: 0, 3: 0, 4: 0},
    queue=(4, 2, 3),
    primary={2: Primary(K4, 4), 3: Primary(K4, 4)},
    aliases={3: frozenset({K2})},
    index={K4: frozenset({2, 3}), K2: frozenset({3})},
    watchers={3: frozenset({0, 1})},
    outbox=(Removed(K2), Stored((K4,), K2, (2, 3), 2), Stored((K2,), None, (0, 1), 2), Cleared()),
)


@pytest.mark.parametrize("scope", PARTS.values(), ids=PARTS.keys())
def test_abstraction_undoes_the_lift_on_every_state(scope: Scope) -> None:
    names = Names(scope.unit)
    used = Subject(scope.first_state(), names)
    for state in explore(scope).states:
        assert Subject(state, names).state() == state
        used.put_into(state)
        assert used.state() == state


def test_abstraction_undoes_the_lift_on_a_state_that_has_everything() -> None:
    assert Subject(STATE, Names(2)).state() == STATE
    telling = replace(STATE, telling=True, reporting=False, outbox=())
    assert Subject(telling, Names(2)).state() == telling


def test_a_pool_made_by_hand_is_read_as_it_is() -> None:
    pool = BlockPool(4, True, 2, True)
    names = Names(2)
    request = names.request(LONG)
    one, two = pool.get_new_blocks(2)
    pool.cache_full_blocks(request, [one, two], 0, 2, 2, 1)
    pool.touch([two])
    pool.free_blocks([one])
    short, long = Key(SHORT, 1), Key(LONG, 1)
    assert abstract(pool, names) == Pool(
        size=4,
        unit=2,
        refs={1: 0, 2: 2, 3: 0},
        queue=(3, 1),
        primary={1: Primary(short, 2), 2: Primary(long, 4)},
        index={short: frozenset({1}), long: frozenset({2})},
        outbox=(Stored((short, long), None, (0, 1, 2, 3), 2),),
    )


# --- pools that stand for no state ---


def break_forward_link(pool: BlockPool) -> None:
    pool.blocks[2].next_free_block = None


def break_backward_link(pool: BlockPool) -> None:
    pool.blocks[2].prev_free_block = pool.blocks[3]


def skip_a_block_backwards(pool: BlockPool) -> None:
    pool.free_block_queue.fake_free_list_tail.prev_free_block = pool.blocks[2]


def make_a_cycle(pool: BlockPool) -> None:
    pool.blocks[3].next_free_block = pool.blocks[4]
    pool.blocks[4].prev_free_block = pool.blocks[3]


def leave_a_link(pool: BlockPool) -> None:
    pool.blocks[1].next_free_block = pool.blocks[2]


def let_the_counter_drift(pool: BlockPool) -> None:
    pool.free_block_queue.num_free_blocks += 1


def count_null(pool: BlockPool) -> None:
    pool.null_block.ref_cnt = 1


def replace_null(pool: BlockPool) -> None:
    pool.blocks[0] = KVCacheBlock(0, pool)


def unknown_primary(pool: BlockPool) -> None:
    pool.blocks[2]._digest = b"x" * 32


def unknown_alias(pool: BlockPool) -> None:
    pool._aliases[pool.blocks[2]] = [(b"x" * 32, 0)]


def unknown_key_in_the_index(pool: BlockPool) -> None:
    pool.cached_block_hash_to_block.insert(b"x" * 32, 0, pool.blocks[2])


def unknown_digest_in_an_event(pool: BlockPool) -> None:
    pool.kv_event_queue[0].block_hashes[0] = b"x" * 32  # type: ignore[union-attr]


def ghost_copy(pool: BlockPool) -> None:
    pool.cached_block_hash_to_block._later[b"x" * 32, 0] = OrderedDict({pool.blocks[2]: None})


def empty_row_of_copies(pool: BlockPool) -> None:
    index = pool.cached_block_hash_to_block
    digest = next(digest for digest, _ in index)
    index._later[digest, 7] = OrderedDict()


def foreign_block_in_the_index(pool: BlockPool) -> None:
    digest = pool.blocks[2]._digest
    assert digest is not None
    pool.cached_block_hash_to_block.insert(digest, 0, KVCacheBlock(1))


def a_watcher_twice(pool: BlockPool) -> None:
    pool._watchers[pool.blocks[3]] *= 2


def a_foreign_watcher(pool: BlockPool) -> None:
    pool._watchers[pool.blocks[3]].append(print)


BREAKS: list[tuple[Callable[[BlockPool], None], str]] = [
    (break_forward_link, "links of the free queue disagree"),
    (break_backward_link, "links of the free queue disagree"),
    (skip_a_block_backwards, "tail of the free queue does not point back to 3"),
    (make_a_cycle, "links of the free queue disagree"),
    (leave_a_link, "block 1 left the free queue with a link set"),
    (let_the_counter_drift, "the counter says 4 free blocks, the queue holds 3"),
    (count_null, "the null block is counted"),
    (replace_null, "the null block is counted"),
    (unknown_primary, "belongs to no prefix that was ever published"),
    (unknown_alias, "belongs to no prefix that was ever published"),
    (unknown_key_in_the_index, "belongs to no prefix that was ever published"),
    (unknown_digest_in_an_event, "belongs to no prefix that was ever published"),
    (ghost_copy, "copies of a block under a key that it does not answer"),
    (empty_row_of_copies, "copies of a block under a key that it does not answer"),
    (foreign_block_in_the_index, "the index answers a block of another pool"),
    (a_watcher_twice, "block 3 has a watcher twice, or a foreign one"),
    (a_foreign_watcher, "block 3 has a watcher twice, or a foreign one"),
]


@pytest.mark.parametrize(("damage", "words"), BREAKS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_broken_pool_is_no_state(damage: Callable[[BlockPool], None], words: str) -> None:
    subject = Subject(STATE, Names(2))
    damage(subject.pool)
    with pytest.raises(BrokenPoolError, match=words):
        subject.state()


def alias_twice(pool: BlockPool) -> None:
    pool._aliases[pool.blocks[3]] *= 2


def copy_of_the_first(pool: BlockPool) -> None:
    index = pool.cached_block_hash_to_block
    for copies in index._later.values():
        copies[pool.blocks[2]] = None


def other_number(pool: BlockPool) -> None:
    pool.blocks[1].block_id = 7


def other_owner(pool: BlockPool) -> None:
    pool.blocks[1].pool = None


@pytest.mark.parametrize("damage", [alias_twice, copy_of_the_first, other_number, other_owner])
def test_more_pools_that_are_broken(damage: Callable[[BlockPool], None]) -> None:
    subject = Subject(STATE, Names(2))
    damage(subject.pool)
    with pytest.raises(BrokenPoolError):
        subject.state()


def test_putting_a_broken_pool_into_a_state_mends_it() -> None:
    for damage, _ in BREAKS:
        if damage not in (replace_null, count_null):  # these two are not a matter of state
            subject = Subject(STATE, Names(2))
            damage(subject.pool)
            subject.put_into(STATE)
            assert subject.state() == STATE


# --- names ---


def test_names_go_both_ways() -> None:
    names = Names(2)
    digest = names.digest(LONG)
    assert names.key(digest, 5) == Key(LONG, 5)
    assert names.key(names.digest(SHORT), 0) == K2
    assert names.request(LONG) is names.request(LONG)
    assert len(names.request(LONG).block_hashes) == 2


def test_extras_are_told_apart() -> None:
    names = Names(1)
    kinds = [(), (Extra("salt", "a"),), (Extra("adapter", "a"),), (Extra("item", "a"),)]
    assert len({names.digest(Prefix((1,), extras)) for extras in kinds}) == 4


def test_two_prefixes_with_one_digest_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blockpool.impl.request.hash_block_tokens", lambda parent, tokens, extras: b"same")
    names = Names(2)
    names.request(SHORT)
    with pytest.raises(BrokenPoolError, match="have the same digest"):
        names.request(LONG)


# --- the driver ---


def test_answers_and_refusals_come_in_the_words_of_the_spec() -> None:
    subject = Subject(STATE, Names(2))
    assert subject.take(GetNewBlocks(5)) == Refused("not enough free blocks")
    assert subject.take(FreeBlocks((1, 5))) == Refused("unknown block")
    assert subject.take(FreeBlocks((2,))) == Refused("not held")
    assert subject.take(Touch((5,))) == Refused("unknown block")
    assert subject.take(GetCachedBlock(LONG, (0,))) in (Answered((2,)), Answered((3,)))
    assert subject.take(CachePartialBlock(LONG, 1, 2, 3, 2)) == Answered(Key(SHORT, 3))
    assert subject.take(CachePartialBlock(LONG, 0, 2, 3, 2)) == Answered(None)
    told = frozenset({(3, 0), (3, 1)})
    assert subject.take(GetNewBlocks(3)) == Answered(Handed((4, 2, 3), told))
    assert [inside.telling for inside in subject.seen_inside] == [True, True]
    assert subject.take(GetNewBlocks(0)) == Answered(Handed((), frozenset()))
    assert not subject.seen_inside


def test_a_watcher_rung_twice_is_noticed() -> None:
    subject = Subject(first_state(2), Names(1))
    subject.take(GetNewBlocks(1))
    subject.take(UnpinBlocks((1,), 0))
    [[bell]] = subject.pool._watchers.values()
    assert isinstance(bell, Bell)
    subject.pool._watchers[subject.pool.blocks[1]].append(partial(bell))
    subject._look = lambda: None  # type: ignore[method-assign]
    bell._look = lambda: None
    with pytest.raises(BrokenPoolError, match="told twice"):
        subject.take(GetNewBlocks(1))


# --- differences ---


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, []),
        ({"queue": (2, 4, 3)}, ["queue: "]),
        ({"refs": {}, "watchers": {}}, ["refs: ", "watchers: "]),
        ({"outbox": ()}, ["outbox: "]),
        ({"telling": True}, ["telling: "]),
        (
            {"size": 6, "unit": 1, "caching": False, "reporting": False},
            ["size: ", "unit: ", "caching: ", "reporting: "],
        ),
        ({"primary": {}, "aliases": {}, "index": {}}, ["primary: ", "aliases: ", "index: "]),
    ],
)
def test_every_state_variable_is_compared(changes: dict[str, object], words: list[str]) -> None:
    found = differences(STATE, replace(STATE, **changes), settled)  # type: ignore[arg-type]
    assert [line.partition(" ")[0] + " " for line in found] == words


def test_the_order_of_removals_in_a_row_is_no_difference() -> None:
    one, other = (replace(STATE, outbox=outbox) for outbox in ((Removed(K2), Removed(K4)), (Removed(K4), Removed(K2))))
    assert differences(one, other, settled) == []


def test_the_queue_is_read_front_first() -> None:
    assert queued_blocks(Subject(STATE, Names(2)).pool) == (4, 2, 3)
    assert queued_blocks(BlockPool(1, True, 1)) == ()
