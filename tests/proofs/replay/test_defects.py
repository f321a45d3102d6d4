"""Lockstep finds defects planted in the pool, and says in which call."""

from __future__ import annotations

import json

import pytest

from blockpool.impl import BlockPool
from blockpool.proofs.refine.correspondence import BrokenPoolError
from blockpool.proofs.replay import Mismatch, TraceRequest, replay
from blockpool.proofs.replay.comparison import FindableNames
from blockpool.proofs.replay.engine import Engine
from blockpool.proofs.replay.lockstep import LockstepPool
from blockpool.proofs.replay.managed import Managed
from blockpool.spec import GroupId, Key, Prefix

A, B = TraceRequest(1536, 1, (1, 2, 3)), TraceRequest(1536, 1, (1, 2, 4))
CALLS = [
    "get_cached_block",  # 1: a misses
    "get_num_free_blocks",
    "get_new_blocks",  # 3
    "cache_full_blocks",
    "free_blocks",  # 5: a is done after its first pass
    "take_events",
    "get_cached_block",  # 7 and 8: b finds two blocks
    "get_cached_block",
    "get_num_free_blocks",
    "touch",  # 10
    "get_new_blocks",
    "cache_full_blocks",
    "free_blocks",  # 13
    "take_events",
    "take_events",  # 15: at the end
]


def plant(monkeypatch, method, defect):
    """Replace a method by a defect that is given the original one."""
    original = getattr(BlockPool, method)
    monkeypatch.setattr(BlockPool, method, lambda self, *arguments: defect(original, self, *arguments))


def refuted(**options) -> Mismatch:
    report = replay([A, B], blocks=10, **options)
    assert report.verdict == "refuted"
    assert report.leaked_blocks is None
    assert json.dumps(report.as_dict())
    assert report.mismatch is not None
    assert report.mismatch.call == report.calls
    return report.mismatch


def test_the_calls_are_these(monkeypatch):
    made = []
    for method in set(CALLS):
        plant(monkeypatch, method, lambda old, pool, *rest, name=method: (made.append(name), old(pool, *rest))[1])
    assert replay([A, B], blocks=10).calls == len(CALLS)
    # The judge asks for the free count after each call; the first answer is to the managers.
    assert [name for name in made if name != "get_num_free_blocks"] == [n for n in CALLS if n != "get_num_free_blocks"]


def test_a_touch_that_skips_a_reference(monkeypatch):
    plant(monkeypatch, "touch", lambda old, pool, blocks: old(pool, blocks[:-1]))
    found = refuted()
    assert (found.call, found.action) == (10, "touch([1, 2])")
    assert found.words == "9 blocks are free; the spec says 8"


def test_a_touch_that_counts_twice(monkeypatch):
    plant(monkeypatch, "touch", lambda old, pool, blocks: old(pool, [*blocks, blocks[0]]))
    found = refuted()
    assert (found.call, found.words) == (10, "block 1: 2 references; the spec says 1")


def test_a_release_in_reversed_order_is_seen_when_everything_is_compared(monkeypatch):
    plant(monkeypatch, "free_blocks", lambda old, pool, blocks: old(pool, blocks[::-1]))
    found = refuted(full_every=1)
    assert (found.call, found.action) == (5, "free_blocks([3, 2, 1])")
    assert found.words == "queue: place 7 has block 1, the spec says 3"
    assert refuted().call == 15  # at the latest at the end


def test_a_release_in_reversed_order_is_seen_when_the_blocks_are_handed_out_again(monkeypatch):
    plant(monkeypatch, "free_blocks", lambda old, pool, blocks: old(pool, blocks[::-1]))
    report = replay([A, TraceRequest(1024, 1, (8, 9))], blocks=4)
    assert report.mismatch is not None
    assert report.mismatch.action == "get_new_blocks(2)"
    assert "it answered blocks=[4, 1]" in report.mismatch.words
    assert "the spec allows blocks=[4, 3]" in report.mismatch.words


def test_a_defect_without_events_is_seen_without_events(monkeypatch):
    def counts_twice_without_events(old, pool, blocks):
        old(pool, blocks if pool.enable_kv_cache_events else [*blocks, blocks[0]])

    plant(monkeypatch, "touch", counts_twice_without_events)
    assert replay([A, B], blocks=10).verdict == "agreed"
    assert refuted(events=False).call == 10


def test_a_lookup_that_misses(monkeypatch):
    plant(monkeypatch, "get_cached_block", lambda old, pool, *rest: None)
    found = refuted()
    assert (found.call, found.words) == (7, "it answered None; the spec allows [1]")


def test_a_lookup_that_finds_what_is_not_there(monkeypatch):
    plant(monkeypatch, "get_cached_block", lambda old, pool, *rest: [pool.blocks[1]])
    found = refuted()
    assert (found.call, found.words) == (1, "it answered [1]; the spec allows None")


def test_a_publication_that_leaves_out_the_last_block(monkeypatch):
    plant(
        monkeypatch,
        "cache_full_blocks",
        lambda old, pool, request, table, start, end, *rest: old(pool, request, table, start, end - 1, *rest),
    )
    found = refuted()
    assert found.call == 4
    assert "block 3: keys {}" in found.words


def test_a_publication_that_covers_too_much(monkeypatch):
    def covers_more(old, pool, request, table, *rest):
        old(pool, request, table, *rest)
        table[1]._num_tokens += 1

    plant(monkeypatch, "cache_full_blocks", covers_more)
    found = refuted()
    assert (found.call, found.words) == (4, "block 2 covers 3; the spec says 2")


def test_a_broken_link_is_seen_when_everything_is_compared(monkeypatch):
    def leaves_a_link(old, pool, count):
        blocks = old(pool, count)
        blocks[0].prev_free_block = pool.null_block
        return blocks

    plant(monkeypatch, "get_new_blocks", leaves_a_link)
    found = refuted(full_every=3)
    assert (found.call, found.words) == (3, "block 1 left the free queue with a link set")


def test_a_lost_event(monkeypatch):
    plant(monkeypatch, "take_events", lambda old, pool: old(pool)[1:])
    found = refuted()
    assert (found.call, found.action) == (6, "take_events()")
    assert found.words.startswith("it answered []; the spec allows [stored <1>, <1 2>, <1 2 3>]")


def test_a_change_of_a_block_that_was_not_named_is_seen_when_everything_is_compared(monkeypatch):
    def also_counts_block_7(old, pool, blocks):
        old(pool, blocks)
        pool.blocks[7].ref_cnt += 1

    plant(monkeypatch, "touch", also_counts_block_7)
    found = refuted(full_every=5)
    assert (found.call, found.words) == (10, "refs[7] is 1, the spec says 0")


@pytest.mark.parametrize("lockstep", [True, False])
def test_a_call_that_raises(monkeypatch, lockstep):
    def fails(old, pool, blocks):
        raise RuntimeError("no queue")

    plant(monkeypatch, "free_blocks", fails)
    found = refuted(lockstep=lockstep)
    assert found.words == "it raised RuntimeError: no queue"
    assert found.action == ("free_blocks([3, 2, 1])" if lockstep else "free_blocks")


def test_a_leak_is_seen_even_without_lockstep(monkeypatch):
    plant(monkeypatch, "free_blocks", lambda old, pool, blocks: old(pool, blocks[1:]))
    report = replay([A], blocks=10, lockstep=False)
    assert (report.verdict, report.leaked_blocks, report.mismatch) == ("refuted", 1, None)


def test_a_leak_that_leaves_no_room_ends_the_replay(monkeypatch):
    plant(monkeypatch, "free_blocks", lambda old, pool, blocks: old(pool, blocks[1:]))
    report = replay([A, B], blocks=3, lockstep=False)
    assert report.mismatch is not None
    assert report.mismatch.words == "nothing runs, yet there is no room for 3 blocks"
    # 512 + 600 - 1 tokens need a third block in the end, and a has kept one of the three.
    report = replay([TraceRequest(512, 1, (1,)), TraceRequest(512, 600, (2,))], blocks=3, lockstep=False)
    assert report.mismatch is not None
    assert report.mismatch.words == "nothing else runs, yet there is no block to add to 2"


def test_a_replay_knows_no_more_names_than_it_needs():
    pool = LockstepPool(60, True, 2000)
    engine = Engine(Managed(pool, None), 512, 8, lambda: None)
    most = 0
    for number in range(200):  # 2,000 prefixes in all
        engine.serve([TraceRequest(5120, 1, tuple(range(number * 10, number * 10 + 10)))])
        most = max(most, len(pool.names))
    assert 1000 < most <= 2 * 60 + 1000


def test_names_are_forgotten_when_their_keys_have_left_the_index():
    names = FindableNames()
    keys = [Key(Prefix((number,)), GroupId(0)) for number in range(1200)]
    for key in keys:
        names.learn(str(key.prefix.tokens[0]).encode(), key)
    names.forget_all_but(dict.fromkeys(keys[:150]))  # more than half are needed, or few are known: kept
    assert len(names) == 1200
    names.forget_all_but(dict.fromkeys(keys[:50]))
    assert len(names) == 50
    assert names.key(b"49", 0) is keys[49]
    with pytest.raises(BrokenPoolError, match="belongs to no prefix"):
        names.key(b"50", 0)
    with pytest.raises(BrokenPoolError, match="the same digest"):
        names.learn(b"49", keys[3])
