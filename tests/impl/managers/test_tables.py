"""The tables of each kind, by hand: what is allocated, replaced, given back and copied, with block ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from blockpool.impl import Request
from blockpool.impl.managers import Coordinator, GroupSpec, Kind

Spy = Callable[..., Any]
UNIT = 2


def ids(coordinator: Coordinator, request: Request) -> list[list[int]]:
    return [[block.block_id for block in table] for table in coordinator.tables(request)]


def copies(coordinator: Coordinator) -> list[tuple[int, int]]:
    return [(source.block_id, destination.block_id) for source, destination in coordinator.copies_to_run()]


def queue(pool: Any) -> list[int]:
    return [block.block_id for block in pool.free_block_queue.get_all_free_blocks()]


def request_of(length: int, name: str = "r") -> Request:
    return Request(name, range(length), UNIT)


# ---- full attention ----


def test_full_keeps_every_block(spy: Spy) -> None:
    pool = spy(10)
    coordinator = Coordinator(pool, [GroupSpec(Kind.FULL, 4)])
    request = request_of(13)
    assert coordinator.admit(request, 10, 5)
    assert ids(coordinator, request) == [[1, 2]]
    assert (coordinator.computed(request), coordinator.scheduled(request)) == (0, 5)
    coordinator.commit()
    assert (coordinator.computed(request), coordinator.scheduled(request)) == (5, 5)
    assert coordinator.grow(request, 10)  # the end of the prompt, inside block 3
    coordinator.commit()
    assert [pool.blocks[i].block_hash_num_tokens for i in (1, 2, 3)] == [4, 8, 10]
    assert coordinator.grow(request, 13)  # decoding goes on in block 3, in place
    assert ids(coordinator, request) == [[1, 2, 3, 4]]
    assert copies(coordinator) == []
    assert [pool.blocks[i].block_hash_num_tokens for i in (1, 2, 3, 4)] == [4, 8, 12, None]


def test_full_copies_a_hit_that_ends_inside_a_block(spy: Spy) -> None:
    pool = spy(10)
    coordinator = Coordinator(pool, [GroupSpec(Kind.FULL, 4)])
    first, second = request_of(6, "first"), request_of(8, "second")
    assert coordinator.admit(first, 6, 6)
    coordinator.commit()
    pool.log.clear()
    assert coordinator.admit(second, 8, 8)
    assert ids(coordinator, second) == [[1, 3]]
    assert copies(coordinator) == [(2, 3)]
    assert [pool.blocks[i].ref_cnt for i in (1, 2, 3)] == [2, 2, 2]  # 2: first and the copy; 3: second and the copy
    assert pool.log == [("touch", [1, 2]), ("new", 1), ("touch", [3]), ("full", "second", [1, 3], 1, 2, 4, 0)]
    pool.log.clear()
    coordinator.commit()
    assert pool.log == [("free", [2, 3])]
    assert [pool.blocks[i].ref_cnt for i in (1, 2, 3)] == [2, 1, 1]


# ---- sliding window ----


def test_a_window_gives_back_what_left_it_by_what_is_computed(spy: Spy) -> None:
    pool = spy(10)
    coordinator = Coordinator(pool, [GroupSpec(Kind.WINDOW, 2, window=4)])
    request = request_of(20)
    assert coordinator.admit(request, 20, 8)
    assert ids(coordinator, request) == [[1, 2, 3, 4]]
    coordinator.commit()
    pool.log.clear()
    # Token 8 is computed next and reads 5 to 8: entries 0 and 1 (tokens 0 to 3) are behind. That the chunk goes to
    # 14 does not count.
    assert coordinator.grow(request, 14)
    assert ids(coordinator, request) == [[0, 0, 3, 4, 5, 6, 7]]
    assert pool.log[:2] == [("free", [2, 1]), ("new", 3)]
    coordinator.commit()
    pool.log.clear()
    assert coordinator.grow(request, 15)  # token 14 reads 11 to 14
    assert ids(coordinator, request)[0][:6] == [0, 0, 0, 0, 0, 6]
    assert pool.log[0] == ("free", [5, 4, 3])


def test_a_window_keeps_a_block_of_which_one_token_is_read(spy: Spy) -> None:
    coordinator = Coordinator(spy(10), [GroupSpec(Kind.WINDOW, 2, window=4)])
    request = request_of(20)
    for upto, table in [(4, [1, 2]), (5, [1, 2, 3]), (6, [0, 2, 3]), (7, [0, 2, 3, 4]), (8, [0, 0, 3, 4])]:
        grown = coordinator.grow(request, upto) if coordinator.running else coordinator.admit(request, 20, upto)
        assert grown
        assert ids(coordinator, request) == [table], upto  # before token upto - 1, what it reads is 3 tokens back
        coordinator.commit()


def test_a_window_of_one_token_reads_nothing_of_a_hit(spy: Spy) -> None:
    pool = spy(12)
    coordinator = Coordinator(pool, [GroupSpec(Kind.FULL, 2), GroupSpec(Kind.WINDOW, 4, window=1)])
    first, second = request_of(6, "first"), request_of(9, "second")
    assert coordinator.admit(first, 6, 6)
    coordinator.commit()
    assert ids(coordinator, first) == [[1, 2, 3], [4, 5]]
    assert coordinator.admit(second, 9, 9)
    assert coordinator.computed(second) == 6
    assert ids(coordinator, second) == [[1, 2, 3, 6, 7], [0, 8, 9]]
    assert copies(coordinator) == []
    # Tokens 4 and 5 were never written to block 8, so it is not published; see GroupManager.own_tail.
    assert pool.keys_of(pool.blocks[8]) == ()


# ---- ring ----


def test_a_ring_is_one_block_that_nobody_shares(spy: Spy) -> None:
    pool = spy(10)
    coordinator = Coordinator(pool, [GroupSpec(Kind.RING, 4), GroupSpec(Kind.FULL, 2)])
    request = request_of(12)
    assert coordinator.admit(request, 12, 6)
    coordinator.commit()
    assert coordinator.grow(request, 12)
    coordinator.commit()
    assert ids(coordinator, request) == [[1], [2, 3, 4, 5, 6, 7]]
    assert pool.keys_of(pool.blocks[1]) == ()
    assert coordinator.find_longest_hit(request, 12).num_tokens == 0


# ---- state ----


def test_a_state_is_kept_at_the_ends_of_chunks(spy: Spy) -> None:
    pool = spy(10)
    coordinator = Coordinator(pool, [GroupSpec(Kind.STATE, 4)])
    request = request_of(20)
    assert coordinator.admit(request, 20, 10)
    assert ids(coordinator, request) == [[0, 0, 1]]  # the state after token 9
    assert pool.keys_of(pool.blocks[1]) == ()
    coordinator.commit()
    assert not coordinator.grow(request, 13)  # would leave no state at 12
    assert coordinator.grow(request, 12)
    assert ids(coordinator, request) == [[0, 0, 1]]
    assert pool.blocks[1].block_hash_num_tokens == 12
    assert copies(coordinator) == []
    coordinator.commit()
    assert coordinator.grow(request, 18)
    assert ids(coordinator, request) == [[0, 0, 1, 0, 2]]


def test_a_published_state_moves_to_a_copy_before_it_changes(spy: Spy) -> None:
    pool = spy(10)
    coordinator = Coordinator(pool, [GroupSpec(Kind.STATE, 4)])
    request = request_of(9)
    assert coordinator.admit(request, 6, 6)
    coordinator.commit()
    assert ids(coordinator, request) == [[0, 1]]
    key = pool.keys_of(pool.blocks[1])
    pool.log.clear()
    assert coordinator.grow(request, 7)
    assert pool.log == [("new", 1), ("move", 1, 2), ("touch", [1])]
    assert ids(coordinator, request) == [[0, 1]]
    assert copies(coordinator) == [(1, 2)]
    assert (pool.keys_of(pool.blocks[1]), pool.keys_of(pool.blocks[2])) == ((), key)
    assert [pool.blocks[i].ref_cnt for i in (1, 2)] == [2, 1]
    coordinator.commit()
    assert [pool.blocks[i].ref_cnt for i in (1, 2)] == [1, 0]
    assert queue(pool)[-1] == 2
    assert coordinator.grow(request, 8)  # now it is writable
    assert copies(coordinator) == []


def test_a_state_that_others_hold_is_left_to_them(spy: Spy) -> None:
    pool = spy(10)
    coordinator = Coordinator(pool, [GroupSpec(Kind.STATE, 8)])
    request = request_of(9)
    assert coordinator.admit(request, 9, 3)
    coordinator.commit()
    block = coordinator.pin(request, 0, 0)
    pool.log.clear()
    assert coordinator.grow(request, 4)
    assert pool.log == [("new", 1), ("touch", [2])]
    assert ids(coordinator, request) == [[2]]
    assert copies(coordinator) == [(1, 2)]
    assert [pool.blocks[i].ref_cnt for i in (1, 2)] == [2, 2]
    coordinator.commit()
    assert [pool.blocks[i].ref_cnt for i in (1, 2)] == [1, 1]
    coordinator.unpin_now(block)
    assert block.ref_cnt == 0


def test_a_state_that_is_published_and_pinned_is_copied_twice(spy: Spy) -> None:
    pool = spy(4)
    coordinator = Coordinator(pool, [GroupSpec(Kind.STATE, 4)])
    request = request_of(3)
    assert coordinator.admit(request, 2, 2)
    coordinator.commit()
    block = coordinator.pin(request, 0, 0)
    pool.log.clear()
    assert coordinator.grow(request, 3)
    assert pool.log == [("new", 1), ("move", 1, 2), ("touch", [1]), ("new", 1), ("touch", [3])]
    assert copies(coordinator) == [(1, 2), (1, 3)]
    assert ids(coordinator, request) == [[3]]
    assert [pool.blocks[i].ref_cnt for i in (1, 2, 3)] == [3, 1, 2]
    pool.log.clear()
    coordinator.commit()
    assert pool.log == [("free", [1, 2, 1, 3])]
    assert [pool.blocks[i].ref_cnt for i in (1, 2, 3)] == [1, 0, 1]
    coordinator.unpin_now(block)


def test_a_watched_state_is_left_to_its_reader(spy: Spy) -> None:
    pool = spy(10)
    coordinator = Coordinator(pool, [GroupSpec(Kind.STATE, 4)])
    request = request_of(4)
    assert coordinator.admit(request, 4, 1)
    coordinator.commit()
    coordinator.unpin(coordinator.pin(request, 0, 0), print)
    assert pool.blocks[1].ref_cnt == 1
    assert coordinator.grow(request, 2)
    assert copies(coordinator) == [(1, 2)]
    coordinator.commit()
    assert queue(pool)[-1] == 1, "watched: reused last"


def test_a_state_hit_at_the_end_of_a_block_is_read_in_place(spy: Spy) -> None:
    coordinator = Coordinator(spy(10), [GroupSpec(Kind.STATE, 4)])
    first, second = request_of(8, "first"), request_of(14, "second")
    assert coordinator.admit(first, 8, 8)
    coordinator.commit()
    assert ids(coordinator, first) == [[0, 1]]
    assert coordinator.admit(second, 14, 13)
    assert coordinator.computed(second) == 8
    assert ids(coordinator, second) == [[0, 1, 0, 2]]
    assert copies(coordinator) == []


# ---- groups together ----


@pytest.mark.parametrize("shared", [False, True], ids=["hits are free", "hits are held"])
@pytest.mark.parametrize("spare", range(4))
def test_admission_needs_exactly_what_it_takes(
    spare: int, shared: bool, spy: Spy, picture: Callable[[Any], Any]
) -> None:
    """A hit of 6 tokens, two blocks of the one group and one of the other; both tails are copied."""
    pool = spy(20)
    coordinator = Coordinator(pool, [GroupSpec(Kind.FULL, 4), GroupSpec(Kind.STATE, 4)])
    first, second = request_of(6, "first"), request_of(8, "second")
    assert coordinator.admit(first, 6, 6)
    coordinator.commit()
    if not shared:
        coordinator.finish(first)
    pool.get_new_blocks(16 - spare)  # all that are free and not cached, but `spare`
    assert pool.get_num_free_blocks() == spare + (0 if shared else 3)
    before = picture(pool)
    assert coordinator.admit(second, 8, 8) is (spare >= 2)
    if spare < 2:
        assert picture(pool) == before
        assert not coordinator.is_running(second)
        assert copies(coordinator) == []
    else:
        assert pool.get_num_free_blocks() == spare - 2
        first_new = 20 - spare
        assert copies(coordinator) == [(2, first_new), (3, first_new + 1)]
        assert ids(coordinator, second) == [[1, first_new], [0, first_new + 1]]


def test_growth_needs_exactly_what_it_takes(spy: Spy, picture: Callable[[Any], Any]) -> None:
    pool = spy(7)
    coordinator = Coordinator(pool, [GroupSpec(Kind.WINDOW, 2, window=2), GroupSpec(Kind.STATE, 2)])
    request = request_of(8)
    assert coordinator.admit(request, 8, 4)
    coordinator.commit()
    assert ids(coordinator, request) == [[1, 2], [0, 3]]
    assert pool.get_num_free_blocks() == 3
    held = pool.get_new_blocks(1)
    before = picture(pool)
    assert not coordinator.grow(request, 8)  # two for the window, one for the state; block 1 would only come back
    assert picture(pool) == before
    assert ids(coordinator, request) == [[1, 2], [0, 3]]
    pool.free_blocks(held)
    assert coordinator.grow(request, 8)
    assert coordinator.scheduled(request) == 8
