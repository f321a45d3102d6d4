"""The rules between requests and pools: order of calls, passes, dropping, pins, several pools, wrong calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from blockpool.impl import BlockPool, BlockPoolError, KVCacheBlock, Refusal, Request, WatcherErrors
from blockpool.impl.managers import (
    AlreadyRunningError,
    Coordinator,
    GroupError,
    GroupSpec,
    Kind,
    LengthError,
    ManagerError,
    PinError,
    ScheduledError,
    StillReadError,
    UnknownRequestError,
)

Spy = Callable[..., Any]
Picture = Callable[[BlockPool], Any]
UNIT = 2
FULL2, FULL4 = GroupSpec(Kind.FULL, 2), GroupSpec(Kind.FULL, 4)


def ids(coordinator: Coordinator, request: Request) -> list[list[int]]:
    return [[block.block_id for block in table] for table in coordinator.tables(request)]


def queue(pool: Any) -> list[int]:
    return [block.block_id for block in pool.free_block_queue.get_all_free_blocks()]


def request_of(length: int, name: str = "r", first: int = 0) -> Request:
    return Request(name, [first, *range(1, length)], UNIT)


def computed_once(coordinator: Coordinator, length: int) -> Request:
    """A request of which all tokens have been computed, in one pass."""
    request = request_of(length, "first")
    assert coordinator.admit(request, length, length)
    coordinator.commit()
    return request


# ---- the order of calls ----


def test_all_hits_are_touched_before_anything_is_allocated(spy: Spy) -> None:
    pool = spy(20)
    specs = [FULL4, GroupSpec(Kind.WINDOW, 2, window=4), GroupSpec(Kind.STATE, 4)]
    coordinator = Coordinator(pool, specs)
    first = computed_once(coordinator, 6)
    assert ids(coordinator, first) == [[1, 2], [3, 4, 5], [0, 6]]
    second = request_of(8, "second")
    pool.log.clear()
    assert coordinator.admit(second, 8, 8)
    assert ids(coordinator, second) == [[1, 7], [0, 4, 5, 8], [0, 9]]
    assert pool.log == [
        ("touch", [1, 2]),
        ("touch", [4, 5]),
        ("touch", [6]),
        ("new", 1),
        ("touch", [7]),
        ("new", 1),
        ("new", 1),
        ("touch", [9]),
        ("full", "second", [1, 7], 1, 2, 4, 0),
        ("full", "second", [0, 4, 5, 8], 3, 4, 2, 1),
        ("full", "second", [0, 9], 1, 2, 4, 2),
    ]
    assert [(s.block_id, d.block_id) for s, d in coordinator.copies_to_run()] == [(2, 7), (6, 9)]


def test_growth_releases_before_it_allocates_and_publishes_last(spy: Spy) -> None:
    pool = spy(20)
    coordinator = Coordinator(pool, [GroupSpec(Kind.STATE, 4), GroupSpec(Kind.WINDOW, 2, window=2), FULL4])
    request = request_of(8)
    assert coordinator.admit(request, 6, 6)
    coordinator.commit()
    pool.log.clear()
    assert ids(coordinator, request) == [[0, 1], [2, 3, 4], [5, 6]]
    assert coordinator.grow(request, 8)
    assert pool.log == [
        ("new", 1),  # block 1 is published: its keys move to block 7
        ("move", 1, 7),
        ("touch", [1]),
        ("free", [3, 2]),
        ("new", 1),
        ("full", "r", [0, 1], 1, 2, 4, 0),
        ("full", "r", [0, 0, 4, 8], 3, 4, 2, 1),
        ("full", "r", [5, 6], 1, 2, 4, 2),
    ]


def test_a_request_is_given_back_by_group_tail_first(spy: Spy) -> None:
    pool = spy(20)
    coordinator = Coordinator(pool, [FULL2, GroupSpec(Kind.STATE, 2)])
    request = computed_once(coordinator, 6)
    assert ids(coordinator, request) == [[1, 2, 3], [0, 0, 4]]
    pool.log.clear()
    coordinator.finish(request)
    assert pool.log == [("free", [3, 2, 1]), ("free", [4])]
    assert queue(pool)[-4:] == [3, 2, 1, 4]
    assert not coordinator.is_running(request)
    assert coordinator.running == ()


@pytest.mark.parametrize("call", ["preempt", "finish", "abort"])
def test_a_deferred_release_waits_for_the_commit(call: str, spy: Spy) -> None:
    pool = spy(20)
    coordinator = Coordinator(pool, [FULL4, GroupSpec(Kind.STATE, 4)])
    first = computed_once(coordinator, 6)
    second = request_of(8, "second")
    assert coordinator.admit(second, 8, 8)
    assert ids(coordinator, second) == [[1, 4], [0, 5]]  # copied from 2 and 3
    pool.log.clear()
    getattr(coordinator, call)(first, deferred=True)
    assert not coordinator.is_running(first)
    assert pool.log == []
    coordinator.commit()
    assert pool.log == [("free", [2, 4, 3, 5, 2, 1, 3])]
    pool.log.clear()
    coordinator.commit()
    assert pool.log == [], "nothing is left to give back"


def test_both_ends_of_a_copy_outlive_the_requests(spy: Spy) -> None:
    pool = spy(20)
    coordinator = Coordinator(pool, [FULL4])
    first = computed_once(coordinator, 6)
    second = request_of(8, "second")
    assert coordinator.admit(second, 7, 7)
    coordinator.abort(second)
    coordinator.abort(first)
    assert [(s.block_id, d.block_id) for s, d in coordinator.copies_to_run()] == [(2, 3)]
    assert [block.ref_cnt for block in pool.blocks[:4]] == [0, 0, 1, 1]
    coordinator.commit()
    assert pool.get_num_free_blocks() == 19


# ---- what is published but not written ----


def test_attention_reads_in_the_same_pass_what_is_whole(spy: Spy) -> None:
    coordinator = Coordinator(spy(20), [FULL4, GroupSpec(Kind.WINDOW, 2, window=3)])
    first, second = request_of(6, "first"), request_of(8, "second")
    assert coordinator.admit(first, 6, 6)
    assert coordinator.find_longest_hit(second, 8).num_tokens == 4  # 6 tokens would have to be copied
    assert coordinator.admit(second, 8, 8)
    coordinator.commit()
    third = request_of(8, "third")
    assert coordinator.find_longest_hit(third, 8).num_tokens == 6


def test_a_state_waits_for_the_commit(spy: Spy) -> None:
    pool = spy(20)
    coordinator = Coordinator(pool, [FULL2, GroupSpec(Kind.STATE, 2)])
    first, second = request_of(4, "first"), request_of(6, "second")
    assert coordinator.admit(first, 4, 4)
    assert coordinator.find_longest_hit(second, 6).num_tokens == 0
    coordinator.commit()
    assert coordinator.find_longest_hit(second, 6).num_tokens == 4


def test_another_block_under_the_key_that_is_written_serves(spy: Spy) -> None:
    pool = spy(20)
    coordinator = Coordinator(pool, [GroupSpec(Kind.STATE, 2)])
    first, second, third = (request_of(4, name) for name in ("first", "second", "third"))
    assert coordinator.admit(first, 4, 2)
    assert coordinator.admit(second, 4, 2)  # publishes the same state again, on block 2
    coordinator._pass.forget("second")
    assert [b.block_id for b in pool.cached_block_hash_to_block.blocks(first.block_hashes[0], 0)] == [1, 2]
    hit = coordinator.find_longest_hit(third, 4)
    assert [block.block_id for block in hit.tables[0]] == [2]


def test_what_a_dropped_request_published_in_the_pass_is_withdrawn(spy: Spy) -> None:
    """Defect A1 of vLLM 0.33.0: the keys stayed, and a later hit read blocks that no pass had written."""
    pool = spy(6)
    coordinator = Coordinator(pool, [FULL4])
    first = request_of(16, "first")
    assert coordinator.admit(first, 16, 8)
    coordinator.commit()
    assert coordinator.grow(first, 16)
    assert ids(coordinator, first) == [[1, 2, 3, 4]]
    pool.log.clear()
    coordinator.preempt(first)
    assert pool.log == [("evict", {3, 4}), ("free", [4, 3, 2, 1])]
    assert queue(pool) == [4, 3, 5, 2, 1]
    assert coordinator.find_longest_hit(first, 16).num_tokens == 8
    coordinator.commit()
    assert coordinator.admit(first, 16, 16)
    assert coordinator.computed(first) == 8


def test_what_was_committed_is_not_withdrawn(spy: Spy) -> None:
    pool = spy(6)
    coordinator = Coordinator(pool, [FULL4])
    first = computed_once(coordinator, 8)
    coordinator.preempt(first)
    assert ("evict", {1, 2}) not in pool.log
    assert len(pool.cached_block_hash_to_block) == 2


def test_whoever_is_read_cannot_be_dropped_first(spy: Spy, picture: Picture) -> None:
    pool = spy(20)
    coordinator = Coordinator(pool, [FULL2])
    first, second = request_of(4, "first"), request_of(6, "second")
    assert coordinator.admit(first, 4, 4)
    assert coordinator.admit(second, 6, 6)
    assert ids(coordinator, second) == [[1, 2, 3]]
    before = picture(pool)
    for drop in (coordinator.preempt, coordinator.finish, coordinator.abort):
        with pytest.raises(StillReadError, match="drop the requests that hit its blocks first") as caught:
            drop(first)
        assert (caught.value.call, caught.value.block_id) == (drop.__name__, 1)
    assert picture(pool) == before
    assert coordinator.is_running(first)
    coordinator.preempt(second)
    coordinator.preempt(first)
    coordinator.commit()
    assert pool.get_num_free_blocks() == 19
    assert len(pool.cached_block_hash_to_block) == 0


def test_a_pin_does_not_keep_a_request_from_being_dropped(spy: Spy) -> None:
    pool = spy(20)
    coordinator = Coordinator(pool, [FULL2])
    first = request_of(4, "first")
    assert coordinator.admit(first, 4, 4)
    block = coordinator.pin(first, 0, 1)
    coordinator.preempt(first)
    assert (block.ref_cnt, pool.keys_of(block)) == (1, ())
    coordinator.unpin_now(block)
    assert pool.get_num_free_blocks() == 19


def test_a_request_that_comes_back_in_the_same_pass_starts_anew(spy: Spy) -> None:
    pool = spy(20)
    coordinator = Coordinator(pool, [FULL2])
    first, twin = request_of(6, "first"), request_of(6, "twin")
    assert coordinator.admit(first, 6, 4)
    coordinator.preempt(first)
    assert coordinator.admit(twin, 6, 4)  # on the same blocks
    assert coordinator.admit(first, 6, 6)
    assert ids(coordinator, first)[0][:2] == ids(coordinator, twin)[0] == [2, 1]
    coordinator.preempt(first)  # what it published before is no longer its own
    assert len(pool.cached_block_hash_to_block) == 2


def test_a_block_that_two_groups_hit_is_counted_once(spy: Spy) -> None:
    pool = spy(5)
    coordinator = Coordinator(pool, [FULL2, FULL4])
    request = request_of(6)
    shared, other = pool.get_new_blocks(2)
    pool.cache_partial_block(request, shared, 4, 1, 4)
    pool.cache_partial_block(request, shared, 2, 0, 2)
    pool.cache_partial_block(request, other, 4, 0, 2)
    pool.free_blocks([shared, other])
    assert coordinator.admit(request, 6, 6)
    assert ids(coordinator, request) == [[1, 2, 3], [1, 4]]
    assert pool.get_num_free_blocks() == 0


def test_what_was_invalidated_is_not_evicted_again(spy: Spy) -> None:
    pool = spy(8)
    coordinator = Coordinator(pool, [FULL2])
    request = request_of(4)
    assert coordinator.admit(request, 4, 4)
    coordinator.invalidate(request)
    pool.log.clear()
    coordinator.preempt(request)
    assert pool.log == [("free", [2, 1])]


def test_invalidated_blocks_are_not_found_again(spy: Spy) -> None:
    pool = spy(20)
    coordinator = Coordinator(pool, [FULL2, GroupSpec(Kind.WINDOW, 2, window=2)])
    first = computed_once(coordinator, 4)
    coordinator.invalidate(first)
    assert pool.log[-1] == ("evict", {1, 2, 3, 4})
    assert coordinator.find_longest_hit(request_of(6), 6).num_tokens == 0
    assert coordinator.is_running(first)


# ---- pins and watchers ----


def test_a_pin_that_ends_with_a_watcher(spy: Spy) -> None:
    pool = spy(4)
    coordinator = Coordinator(pool, [FULL2])
    first = computed_once(coordinator, 4)
    told: list[int] = []
    block = coordinator.pin(first, 0, 1)
    coordinator.finish(first)
    coordinator.unpin(block, lambda reused: told.append(reused.block_id))
    assert pool.log[-1][:2] == ("unpin", [2])
    assert told == []
    assert coordinator.admit(request_of(6, "other", first=9), 6, 6)
    assert told == [2]


@pytest.mark.parametrize("interrupt", [False, True])
def test_a_watcher_that_raises_does_not_stop_an_admission(interrupt: bool, spy: Spy) -> None:
    pool = spy(4)
    coordinator = Coordinator(pool, [FULL2])
    first = computed_once(coordinator, 2)

    def fail(block: KVCacheBlock) -> None:
        raise KeyboardInterrupt if interrupt else ValueError(block.block_id)

    coordinator.unpin(coordinator.pin(first, 0, 0), fail)
    coordinator.finish(first)
    other = request_of(6, "other", first=9)
    with pytest.raises(KeyboardInterrupt if interrupt else WatcherErrors) as caught:
        coordinator.admit(other, 6, 6)
    failed = caught.value.__cause__ if interrupt else caught.value
    assert isinstance(failed, WatcherErrors)
    assert (failed.call, failed.result) == ("admit", True)
    assert coordinator.scheduled(other) == 6
    coordinator.commit()
    coordinator.finish(other)
    assert pool.get_num_free_blocks() == 3


def test_a_watcher_that_raises_does_not_stop_growth(spy: Spy) -> None:
    pool = spy(3)
    coordinator = Coordinator(pool, [FULL2])
    first = request_of(2, "first")
    assert coordinator.admit(first, 2, 2)
    coordinator.commit()

    def fail(block: KVCacheBlock) -> None:
        raise ValueError

    coordinator.unpin(coordinator.pin(first, 0, 0), fail)
    coordinator.finish(first)
    other = request_of(4, "other", first=9)
    assert coordinator.admit(other, 4, 2)
    coordinator.commit()
    with pytest.raises(WatcherErrors) as caught:
        coordinator.grow(other, 4)
    assert (caught.value.call, caught.value.result) == ("grow", True)
    assert coordinator.scheduled(other) == 4


def test_a_watcher_that_somebody_else_left_may_raise_in_the_first_call(spy: Spy) -> None:
    pool = spy(3)

    def fail(block: KVCacheBlock) -> None:
        raise ValueError

    pool.unpin_blocks(pool.get_new_blocks(1), fail)
    with pytest.raises(WatcherErrors) as caught:
        Coordinator(pool, [FULL2]).reset()
    assert (caught.value.call, caught.value.result) == ("reset", True)


def test_an_error_of_another_kind_passes(spy: Spy) -> None:
    coordinator = Coordinator(spy(4), [FULL2])
    with pytest.raises(ZeroDivisionError):
        coordinator._pass.complete(lambda: 1 // 0)


# ---- pools ----


def test_groups_may_have_pools_of_their_own(spy: Spy, picture: Picture) -> None:
    device, host = spy(4), spy(8)
    coordinator = Coordinator([device, host], [FULL4, FULL2])
    request = request_of(12)
    assert coordinator.admit(request, 8, 8)
    assert ids(coordinator, request) == [[1, 2], [1, 2, 3, 4]]
    coordinator.commit()
    assert coordinator.grow(request, 12)
    coordinator.commit()
    other = request_of(4, "other", first=9)
    before = picture(device), picture(host)
    assert not coordinator.admit(other, 4, 4)  # host would do, device is full
    assert (picture(device), picture(host)) == before
    coordinator.finish(request, deferred=True)
    coordinator.commit()
    assert device.log[-1] == ("free", [3, 2, 1, 6, 5, 4, 3, 2, 1])  # one call; foreign blocks go to their owner
    assert queue(device) == [3, 2, 1]
    assert queue(host) == [7, 6, 5, 4, 3, 2, 1]
    assert coordinator.admit(other, 4, 4)


def test_a_reset_is_for_all_pools_or_none(spy: Spy, picture: Picture) -> None:
    device, host = spy(4), spy(8)
    coordinator = Coordinator([host, device], [FULL2, FULL4])
    coordinator.finish(computed_once(coordinator, 8))
    held = device.get_new_blocks(1)
    before = picture(host), picture(device)
    assert coordinator.reset() is False
    assert (picture(host), picture(device)) == before
    device.free_blocks(held)
    assert coordinator.reset() is True
    assert len(host.cached_block_hash_to_block) == len(device.cached_block_hash_to_block) == 0


def test_a_reset_finishes_in_all_pools_before_it_reports_watchers(spy: Spy) -> None:
    pools = [spy(4), spy(4)]
    coordinator = Coordinator(pools, [FULL2, FULL2])
    first = computed_once(coordinator, 2)
    errors = [ValueError("one"), ValueError("two")]

    def failing(error: Exception) -> Callable[[KVCacheBlock], None]:
        def fail(block: KVCacheBlock) -> None:
            raise error

        return fail

    for group, error in enumerate(errors):
        coordinator.unpin(coordinator.pin(first, group, 0), failing(error))
    coordinator.finish(first)
    with pytest.raises(WatcherErrors) as caught:
        coordinator.reset()
    assert (caught.value.call, caught.value.errors, caught.value.result) == ("reset", errors, True)
    assert all(len(pool.cached_block_hash_to_block) == 0 for pool in pools)


def test_a_pool_without_caching_is_used_without_keys() -> None:
    pool = BlockPool(8, False, UNIT)
    coordinator = Coordinator(pool, [FULL4, GroupSpec(Kind.STATE, 4)])
    first = computed_once(coordinator, 6)
    assert coordinator.find_longest_hit(request_of(8), 8).num_tokens == 0
    coordinator.finish(first)
    assert pool.get_num_free_blocks() == 7


def test_blocks_are_published_once_their_digests_exist(spy: Spy) -> None:
    pool = spy(8)
    coordinator = Coordinator(pool, [FULL4])
    request = Request("r", range(6), UNIT, num_hash_lookahead_tokens=3)  # one digest: of tokens 0 and 1
    assert coordinator.admit(request, 6, 6)
    assert len(pool.cached_block_hash_to_block) == 0
    coordinator.commit()
    request.append_tokens([6])  # now tokens 0 to 3 have theirs
    assert coordinator.grow(request, 7)
    assert pool.blocks[1].block_hash_num_tokens == 4


def test_behind_a_block_that_is_never_whole_publishing_goes_on(spy: Spy) -> None:
    """A window of one token needs nothing of a hit that ends inside a block: the first slots of its own stay empty."""
    pool = spy(20)
    coordinator = Coordinator(pool, [FULL2, GroupSpec(Kind.WINDOW, 4, window=1)])
    computed_once(coordinator, 6)
    second = request_of(12, "second")
    assert coordinator.find_longest_hit(second, 12).num_tokens == 6
    pool.log.clear()
    assert coordinator.admit(second, 12, 12)
    published = [call[3:5] for call in pool.log if call[0] == "full" and call[-1] == 1]
    assert published == [(2, 3)]


# ---- wrong calls ----

WRONG: dict[str, tuple[type[ManagerError], str, Callable[[Coordinator, Request, Request], Any]]] = {
    "admit twice": (AlreadyRunningError, "admit", lambda c, running, other: c.admit(running, 6, 6)),
    "no prompt": (LengthError, "find_longest_hit", lambda c, running, other: c.admit(other, 0, 1)),
    "prompt longer than the request": (LengthError, "find_longest_hit", lambda c, running, other: c.admit(other, 9, 9)),
    "look for a prompt that is too long": (
        LengthError,
        "find_longest_hit",
        lambda c, running, other: c.find_longest_hit(other, 9),
    ),
    "admit no more than the hit": (LengthError, "admit", lambda c, running, other: c.admit(other, 8, 4)),
    "admit more than the prompt": (LengthError, "admit", lambda c, running, other: c.admit(other, 6, 7)),
    "grow a stranger": (UnknownRequestError, "grow", lambda c, running, other: c.grow(other, 1)),
    "grow by nothing": (LengthError, "grow", lambda c, running, other: c.grow(running, 4)),
    "grow beyond the tokens": (LengthError, "grow", lambda c, running, other: c.grow(running, 9)),
    "computed of a stranger": (UnknownRequestError, "computed", lambda c, running, other: c.computed(other)),
    "scheduled of a stranger": (UnknownRequestError, "scheduled", lambda c, running, other: c.scheduled(other)),
    "tables of a stranger": (UnknownRequestError, "tables", lambda c, running, other: c.tables(other)),
    "finish a stranger": (UnknownRequestError, "finish", lambda c, running, other: c.finish(other)),
    "preempt a stranger": (UnknownRequestError, "preempt", lambda c, running, other: c.preempt(other)),
    "abort a stranger": (UnknownRequestError, "abort", lambda c, running, other: c.abort(other)),
    "invalidate a stranger": (UnknownRequestError, "invalidate", lambda c, running, other: c.invalidate(other)),
    "pin of a stranger": (UnknownRequestError, "pin", lambda c, running, other: c.pin(other, 0, 0)),
    "pin in no group": (PinError, "pin", lambda c, running, other: c.pin(running, 2, 0)),
    "pin at no entry": (PinError, "pin", lambda c, running, other: c.pin(running, 0, -1)),
    "pin behind the last entry": (PinError, "pin", lambda c, running, other: c.pin(running, 0, 2)),
    "pin null": (PinError, "pin", lambda c, running, other: c.pin(running, 1, 0)),
    "unpin what is not pinned": (PinError, "unpin", lambda c, running, other: c.unpin(c.tables(running)[0][0], print)),
    "unpin now what is not pinned": (
        PinError,
        "unpin_now",
        lambda c, running, other: c.unpin_now(c.tables(running)[0][0]),
    ),
}


@pytest.mark.parametrize(("error", "name", "call"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_call_is_refused_and_changes_nothing(
    error: type[ManagerError],
    name: str,
    call: Callable[[Coordinator, Request, Request], Any],
    spy: Spy,
    picture: Picture,
) -> None:
    pool = spy(20)
    coordinator = Coordinator(pool, [FULL2, GroupSpec(Kind.STATE, 2)])
    running, other = request_of(8, "running"), request_of(8, "other")
    assert coordinator.admit(running, 6, 4)
    coordinator.commit()
    before = picture(pool), ids(coordinator, running), coordinator.running
    with pytest.raises(error) as caught:
        call(coordinator, running, other)
    assert caught.value.call == name
    assert isinstance(caught.value, (ValueError, BlockPoolError))
    assert isinstance(caught.value, Refusal)
    assert f"Remedy: {error.remedy}" in str(caught.value)
    assert (picture(pool), ids(coordinator, running), coordinator.running) == before


def test_a_pass_computes_one_chunk_of_a_request(spy: Spy) -> None:
    coordinator = Coordinator(spy(20), [FULL2])
    request = request_of(8)
    assert coordinator.admit(request, 8, 4)
    with pytest.raises(ScheduledError, match="commit the pass"):
        coordinator.grow(request, 6)
    coordinator.commit()
    assert coordinator.grow(request, 6)
    with pytest.raises(ScheduledError):
        coordinator.grow(request, 8)


def test_a_pin_is_given_back_once(spy: Spy) -> None:
    coordinator = Coordinator(spy(20), [FULL2])
    request = computed_once(coordinator, 4)
    block = coordinator.pin(request, 0, 0)
    assert coordinator.pin(request, 0, 0) is block
    coordinator.unpin_now(block)
    with pytest.raises(TypeError):
        coordinator.unpin(block, None)  # type: ignore[arg-type]
    coordinator.unpin(block, print)
    with pytest.raises(PinError):
        coordinator.unpin_now(block)
    assert block.ref_cnt == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda pool: GroupSpec(Kind.FULL, 0),
        lambda pool: GroupSpec(Kind.FULL, 2, window=2),
        lambda pool: GroupSpec(Kind.WINDOW, 2),
        lambda pool: GroupSpec(Kind.STATE, 2, window=-1),
        lambda pool: Coordinator(pool, []),
        lambda pool: Coordinator(pool, [GroupSpec(Kind.RING, 3)]),
        lambda pool: Coordinator([pool], [FULL2, FULL2]),
        lambda pool: Coordinator([pool, BlockPool(4, True, 4)], [FULL4, FULL4]),
    ],
)
def test_groups_that_make_no_sense_are_refused(make: Callable[[BlockPool], Any], spy: Spy) -> None:
    with pytest.raises(GroupError):
        make(spy(4))
