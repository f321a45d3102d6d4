"""Lockstep notices planted defects, on every edge of a search, along traces and in new pools."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

import blockpool.impl.publish
import blockpool.impl.references
from blockpool.impl import BlockPool
from blockpool.impl.block import KVCacheBlock
from blockpool.impl.free_queue import FreeKVCacheBlockQueue
from blockpool.impl.publish import drop_keys
from blockpool.impl.watchers import tell
from blockpool.proofs.core.claim_names import REFINES
from blockpool.proofs.core.counterexample import Call, walk
from blockpool.proofs.explore.scopes import Scope
from blockpool.proofs.explore.search import Exploration, explore
from blockpool.proofs.refine.correspondence import Names
from blockpool.proofs.refine.driver import Subject
from blockpool.proofs.refine.lockstep import EdgeFollower, MismatchError, check_call, check_new_pools, check_trace
from blockpool.spec import (
    CacheFullBlocks,
    EvictBlocks,
    FreeBlocks,
    GetCachedBlock,
    GetNewBlocks,
    GetNumFreeBlocks,
    GetUsage,
    Key,
    Pool,
    Prefix,
    Primary,
    TakeEvents,
    Touch,
    UnpinBlocks,
    first_state,
    steps,
)

TINY = Scope("tiny", "2 blocks, a partial and a full key, 1 watcher", 2, watchers=1)
NESTED = Scope("nested", "2 blocks, calls from inside 2 watchers", 2, watchers=2, nested=True)
ONE_BLOCK = replace(TINY, blocks=1, batch=2)
TWO_BLOCKS = replace(TINY, batch=2, max_refs=1, max_watches=1)
Plant = Callable[[pytest.MonkeyPatch], None]


def followed(scope: Any = TWO_BLOCKS) -> Exploration:
    return explore(scope, follower=EdgeFollower(scope.unit), follow_claim=REFINES, first_failure_ends=True)


def test_the_implementation_is_in_step() -> None:
    for scope in (ONE_BLOCK, replace(NESTED, blocks=1)):
        found = followed(scope)
        assert not found.tally.failures
        assert found.stopped is None
        assert found.tally.followed > 1000


# --- planted defects; the calls of the shortest way to each are counted by hand, taking of events left out ---


def touch_forgets(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(BlockPool, "touch", lambda self, blocks: None)


def touch_does_not_unlink(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(FreeKVCacheBlockQueue, "remove_n", lambda self, blocks: None)


def freed_in_reverse(patch: pytest.MonkeyPatch) -> None:
    right = BlockPool.free_blocks
    patch.setattr(BlockPool, "free_blocks", lambda self, blocks: right(self, list(reversed(list(blocks)))))


def events_lost(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(blockpool.impl.publish, "send", lambda pool, events: None)


def told_late(patch: pytest.MonkeyPatch) -> None:
    def lend(pool: BlockPool, count: int) -> list[KVCacheBlock]:
        blocks = pool.free_block_queue.popleft_n(count)  # before the watchers are told, not after
        tell(pool, [block for block in blocks if block in pool._watchers])
        for block in blocks:
            drop_keys(pool, block)
            block.ref_cnt = 1
        return blocks

    def get_new_blocks(pool: BlockPool, count: int) -> list[KVCacheBlock]:
        if 0 <= count <= pool.free_block_queue.num_free_blocks and not pool._telling:
            return lend(pool, count)
        return blockpool.impl.references.lend(pool, count)

    patch.setattr(BlockPool, "get_new_blocks", get_new_blocks)


def told_never(patch: pytest.MonkeyPatch) -> None:
    def tell_nobody(pool: BlockPool, blocks: Iterable[KVCacheBlock]) -> list[BaseException]:
        for block in blocks:
            del pool._watchers[block]
        return []

    patch.setattr(blockpool.impl.references, "tell", tell_nobody)


def copies_lost(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("blockpool.impl.hash_index.HashIndex.insert_copy", lambda self, digest, group, block: None)


def usage_of_all_blocks(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(BlockPool, "get_usage", lambda self: 1.0 - self.get_num_free_blocks() / self.num_gpu_blocks)


def a_foreign_error(patch: pytest.MonkeyPatch) -> None:
    def fail(self: BlockPool) -> int:
        raise ZeroDivisionError("planted")

    patch.setattr(BlockPool, "get_num_free_blocks", fail)


def everything_refused(patch: pytest.MonkeyPatch) -> None:
    def refuse(self: BlockPool, count: int) -> None:
        raise blockpool.impl.errors.BadCount("get_new_blocks", "planted")

    patch.setattr(BlockPool, "get_new_blocks", refuse)


@pytest.mark.parametrize(
    ("plant", "calls", "last"),
    [
        (touch_forgets, 1, "touch"),
        (touch_does_not_unlink, 1, "touch"),
        (freed_in_reverse, 2, "free_blocks"),  # get both, free both
        (events_lost, 2, "cache"),  # get, publish
        (told_late, 3, "get_new_blocks"),  # get, unpin, get again
        (told_never, 3, "get_new_blocks"),
        (copies_lost, 3, "cache"),  # get both, publish one, the other
        (usage_of_all_blocks, 1, "get_usage"),
        (a_foreign_error, 1, "get_num_free_blocks"),
        (everything_refused, 1, "get_new_blocks"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_planted_defect_is_found(monkeypatch: pytest.MonkeyPatch, plant: Plant, calls: int, last: str) -> None:
    plant(monkeypatch)
    found = followed()
    failure = found.tally.failures[REFINES]
    trace = [line.action.name for line in found.trace(failure) if line.action.name != "take_events"]
    assert len(trace) == calls
    assert trace[-1].startswith(last)
    assert failure.words
    assert not failure.words.startswith("after earlier calls only")


def test_a_defect_that_only_earlier_calls_bring_out_is_said_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[int, int] = {}
    right = BlockPool.get_num_free_blocks

    def tires(self: BlockPool) -> int:
        asked[id(self)] = asked.get(id(self), 0) + 1
        return right(self) if asked[id(self)] < 5 else -1

    kept: list[BlockPool] = []  # so that no two pools have one id

    def make(state: Pool, names: Names, **options: Any) -> Subject:
        subject = Subject(state, names, **options)
        kept.append(subject.pool)
        return subject

    monkeypatch.setattr(BlockPool, "get_num_free_blocks", tires)
    monkeypatch.setattr("blockpool.proofs.refine.lockstep.Subject", make)
    failure = followed().tally.failures[REFINES]
    assert failure.words.startswith("after earlier calls only: it answered -1")


def test_a_follower_goes_on_after_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    first, follower = first_state(3), EdgeFollower(1)
    with monkeypatch.context() as patch:
        patch.setattr(BlockPool, "get_num_free_blocks", lambda self: 7)
        bad = follower.follow(first, GetNumFreeBlocks(), list(steps(first, GetNumFreeBlocks())))
    assert bad == "it answered 7; the spec allows [2]"
    for action in (GetNumFreeBlocks(), GetNewBlocks(2), Touch((1,))):
        assert follower.follow(first, action, list(steps(first, action))) is None


# --- one call ---

KEY = Key(Prefix((0,)), 0)
TWO_COPIES = replace(
    first_state(3),
    refs={1: 1, 2: 1},
    queue=(),
    primary={1: Primary(KEY, 1), 2: Primary(KEY, 1)},
    index={KEY: frozenset({1, 2})},
)


def test_any_allowed_answer_is_accepted() -> None:
    subject = Subject(TWO_COPIES, Names(1))
    lookup = GetCachedBlock(Prefix((0,)), (0,))
    allowed = list(steps(TWO_COPIES, lookup))
    assert len(allowed) == 2
    assert check_call(subject, TWO_COPIES, lookup, allowed) == TWO_COPIES
    assert check_call(subject, TWO_COPIES, lookup, allowed[1:]) == TWO_COPIES  # as along a trace: one is enough


@pytest.mark.parametrize(
    ("action", "change", "words"),
    [
        (GetNewBlocks(9), {"refused": frozenset()}, "it refused .not enough free blocks.; the spec wants the answer"),
        (GetNewBlocks(9), {"refused": frozenset({"bad count"})}, "the spec wants bad count"),
        (GetNewBlocks(1), {"refused": frozenset({"bad count"})}, "it answered .*; the spec refuses .bad count."),
        (GetNumFreeBlocks(), {"after": replace(first_state(3), queue=(2, 1))}, r"queue: the spec says \[2, 1\]"),
    ],
)
def test_what_a_mismatch_says(action: Any, change: dict[str, Any], words: str) -> None:
    first = first_state(3)
    [step] = steps(first, action)
    with pytest.raises(MismatchError, match=words):
        check_call(Subject(first, Names(1)), first, action, [step._replace(**change)])


# --- traces ---

PUBLISH = CacheFullBlocks(Prefix((0, 1)), (1, 2), 0, 2, 1, 0)
TRACE = [
    Call(GetNewBlocks(2)),
    Call(PUBLISH),
    Call(UnpinBlocks((2, 1), 0)),
    Call(GetNewBlocks(3), nested=True),
    Call(GetNewBlocks(1)),
    Call(GetNumFreeBlocks()),
]


def test_a_trace_with_calls_from_inside_a_watcher() -> None:
    after = check_trace(first_state(4), TRACE)
    assert after.telling
    assert after.queue == (3, 2, 1)


def test_a_trace_is_judged_at_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    touch_forgets(monkeypatch)
    check_trace(first_state(4), TRACE)
    with pytest.raises(MismatchError, match="refs"):
        check_trace(first_state(4), [Call(GetNewBlocks(1)), Call(Touch((1,))), Call(GetUsage())])


def test_a_trace_can_take_events() -> None:
    after = check_trace(first_state(4), [*TRACE[:2], Call(EvictBlocks(frozenset({1, 2}))), Call(TakeEvents())])
    assert after.outbox == ()
    assert after.index == {}


def test_nothing_is_nested_in_a_call_that_tells_nobody() -> None:
    with pytest.raises(ValueError, match="nobody is told by get_new_blocks"):
        list(walk(first_state(4), [Call(GetNewBlocks(1), nested=True), Call(FreeBlocks(()))]))


def test_the_answer_in_a_trace_decides() -> None:
    lookup = GetCachedBlock(Prefix((0,)), (0,))
    assert [next(walk(TWO_COPIES, [Call(lookup, answer)])).answer for answer in ((1,), (2,), None)] == [
        (1,),
        (2,),
        (1,),
    ]


# --- new pools ---


def test_new_pools_are_in_the_first_state() -> None:
    assert check_new_pools() == 9 * 2 * 2 * 2


def test_a_new_pool_that_is_not_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = BlockPool._make_blocks

    def make(self: BlockPool) -> None:
        right(self)
        for block in islice(self.blocks, 3, 4):
            self.free_block_queue.remove(block)
            self.free_block_queue.prepend_n([block])

    monkeypatch.setattr(BlockPool, "_make_blocks", make)
    with pytest.raises(MismatchError, match=r"queue: the spec says \[1, 2, 3\], the pool has \[3, 1, 2\]"):
        check_new_pools()


def test_a_new_pool_that_is_broken_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = BlockPool._make_blocks

    def make(self: BlockPool) -> None:
        right(self)
        self.free_block_queue.num_free_blocks += 1

    monkeypatch.setattr(BlockPool, "_make_blocks", make)
    with pytest.raises(MismatchError, match="a new pool of 1 blocks: the counter says 1"):
        check_new_pools()
