"""Counterexamples: what they say, and that the test they write fails exactly as long as the defect is there."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from blockpool.impl import BlockPool
from blockpool.proofs.core.claim_names import DEFINED, REFINES
from blockpool.proofs.core.counterexample import Call, Counterexample
from blockpool.proofs.core.text import call, changes, show
from blockpool.proofs.explore.machines import PoolMachine
from blockpool.proofs.explore.scopes import Scope
from blockpool.proofs.explore.search import explore
from blockpool.proofs.refine.lockstep import EdgeFollower, MismatchError
from blockpool.proofs.refine.rerun import rerun
from blockpool.proofs.refine.search_obligations import example
from blockpool.spec import (
    INVARIANTS,
    CacheFullBlocks,
    CachePartialBlock,
    Cleared,
    EvictBlocks,
    Extra,
    FreeBlocks,
    GetNewBlocks,
    GetUsage,
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
)

SCOPE = Scope("tiny", "2 blocks, 1 watcher", 2, watchers=1, batch=2, max_refs=1, max_watches=1)


def touch_forgets(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(BlockPool, "touch", lambda self, blocks: None)


def told_never(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        "blockpool.impl.references.tell", lambda pool, blocks: [pool._watchers.pop(block) for block in blocks][:0]
    )


def free_shuffles(patch: pytest.MonkeyPatch) -> None:
    right = FreeBlocks.effect

    def effect(self: FreeBlocks, pool: Pool, answer: None) -> Pool:
        after = right(self, pool, answer)
        return replace(after, queue=(*after.queue[1:], *after.queue[:1]))

    patch.setattr(FreeBlocks, "effect", effect)


def found_with(plant: Callable[[pytest.MonkeyPatch], None], patch: pytest.MonkeyPatch, claim: str) -> Counterexample:
    plant(patch)
    found = explore(SCOPE, follower=EdgeFollower(1), follow_claim=REFINES)
    return example(found, found.tally.failures[claim])


def run_source(counterexample: Counterexample) -> None:
    names: dict[str, Any] = {}
    exec(compile(counterexample.pytest_source(), "written.py", "exec"), names)
    names[f"test_{counterexample.claim}"]()


@pytest.mark.parametrize("plant", [touch_forgets, told_never])
def test_the_written_test_fails_with_the_defect_and_passes_without(
    monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None]
) -> None:
    with monkeypatch.context() as patch:
        counterexample = found_with(plant, patch, REFINES)
        with pytest.raises(MismatchError):
            run_source(counterexample)
    run_source(counterexample)


@pytest.mark.parametrize("claim", ["survivors_keep_their_order", REFINES])
def test_the_same_for_a_defect_of_the_spec(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    with monkeypatch.context() as patch:
        counterexample = found_with(free_shuffles, patch, claim)
        with pytest.raises((AssertionError, MismatchError)):
            run_source(counterexample)
    run_source(counterexample)


def test_the_same_for_an_exception_of_the_spec(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(FreeBlocks, "guard", lambda self, pool: 1 / 0)
        found = explore(SCOPE)
        counterexample = example(found, found.tally.failures[DEFINED])
        with pytest.raises(ZeroDivisionError):
            run_source(counterexample)
        assert "the spec fails: ZeroDivisionError: division by zero" in counterexample.story()
    run_source(counterexample)


def test_the_story_of_a_real_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        story = found_with(touch_forgets, patch, REFINES).story()
    assert story.splitlines() == [
        f"{REFINES} is broken after 1 calls: Every call, refused ones too, ends in impl as the spec allows, in the "
        "state that the spec knows.",
        "",
        "  a new pool of 3 blocks, unit 1, caching on, events on; queue [1, 2]",
        "  1. touch([1])",
        "       refs  1: 0 -> 1",
        "       queue  [1, 2] -> [2]",
        "",
        "  refs: the spec says {1: 1, 2: 0}, the pool has {1: 0, 2: 0}; queue: the spec says [2], the pool has [1, 2]",
    ]


TOLD = Counterexample(
    REFINES,
    "A sentence.",
    first_state(3, unit=2, reporting=False),
    (
        Call(GetNewBlocks(1)),
        Call(CachePartialBlock(Prefix((5, 6)), 1, 2, 0, 4)),
        Call(UnpinBlocks((1,), 0)),
        Call(FreeBlocks((1,))),
        Call(GetNewBlocks(2), nested=True),
        Call(GetNewBlocks(1)),
        Call(GetUsage()),
    ),
    "words",
)


def test_a_story_tells_every_call_and_what_it_changed() -> None:
    assert TOLD.steps().splitlines() == [
        "  a new pool of 3 blocks, unit 2, caching on, events off; queue [1, 2]",
        "  1. get_new_blocks(1)",
        *(line for line in TOLD.steps().splitlines() if line.startswith("       answers blocks=[1]")),
        "       refs  1: 0 -> 1",
        "       queue  [1, 2] -> [2]",
        "  2. cache_partial_block(<5 6>, block=1, num_tokens=2, group=0, block_size=4)",
        "       answers <5 6>",
        "       primary  1: - -> <5 6>",
        "       index  <5 6>: - -> {1}",
        "  3. unpin_blocks([1], watcher=0)",
        "       refs  1: 1 -> 0",
        "       queue  [2] -> [2, 1]",
        "       watchers  1: - -> {0}",
        "  4. free_blocks([1])",
        "       refused: not held",
        "  5. get_new_blocks(2)",
        "       answers blocks=[2, 1], told={[1, 0]}",
        "       refs  1: 0 -> 1; 2: 0 -> 1",
        "       queue  [2, 1] -> []",
        "       primary  1: <5 6> -> -",
        "       index  <5 6>: {1} -> -",
        "       watchers  1: {0} -> -",
        "     the next call comes from inside the watcher:",
        "  6. get_new_blocks(1)",
        "       refused: re-entrant",
        "  7. get_usage()",
        "       answers 0.0",
        "       nothing changes",
    ]
    assert TOLD.story().startswith(f"{REFINES} is broken after 7 calls: A sentence.\n\n")
    assert TOLD.story().endswith("\n\n  words")


def test_nested_calls_are_written_down() -> None:
    source = TOLD.pytest_source()
    assert "        Call(GetNewBlocks(count=2), nested=True),\n        Call(GetNewBlocks(count=1)),\n" in source
    assert "first_state(3, unit=2, caching=True, reporting=False)" in source
    run_source(TOLD)


def test_as_a_document() -> None:
    document = TOLD.as_dict()
    assert set(document) == {"claim", "sentence", "calls", "words", "pytest"}
    assert document["calls"][3:6] == ["free_blocks([1])", "get_new_blocks(2) -> inside", "get_new_blocks(1)"]
    assert document["pytest"] == TOLD.pytest_source()


# --- rerun ---


def test_rerun_judges_states_and_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [Call(GetNewBlocks(2)), Call(Touch((1,)))]
    for claim in ("counts_are_never_negative", "references_change_only_as_asked", DEFINED, REFINES):
        rerun(claim, first_state(3), calls)
    wrong = [replace(claim, judge=lambda pool: 2 not in pool.refs.values()) for claim in INVARIANTS]
    monkeypatch.setattr("blockpool.proofs.refine.rerun.CLAIMS", wrong)
    monkeypatch.setattr("blockpool.proofs.refine.rerun.INVARIANTS", wrong)
    with pytest.raises(AssertionError, match=r"Broken by Touch\(blocks=\(1,\)\)"):
        rerun("counts_are_never_negative", first_state(3), calls)


def test_search_and_rerun_agree_on_a_wrong_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = [replace(claim, judge=lambda pool: 2 not in pool.refs.values()) for claim in INVARIANTS]
    monkeypatch.setattr(PoolMachine, "invariants", wrong)
    monkeypatch.setattr("blockpool.proofs.refine.rerun.CLAIMS", wrong)
    monkeypatch.setattr("blockpool.proofs.refine.rerun.INVARIANTS", wrong)
    found = explore(SCOPE, first_failure_ends=True)
    for failure in found.tally.failures.values():
        counterexample = example(found, failure)
        with pytest.raises(AssertionError):
            run_source(counterexample)


# --- words ---

SALTED = Prefix((1, 2), (Extra("salt", "x"),))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (Prefix((1, 2)), "<1 2>"),
        (SALTED, "<1 2 salt=x@0>"),
        (Key(Prefix((1,)), 0), "<1>"),
        (Key(Prefix((1,)), 3), "<1>g3"),
        (Primary(Key(Prefix((1,)), 0), 1), "<1>"),
        (Primary(Key(Prefix((1,)), 0), 2), "<1> covering 2"),
        (Stored((Key(Prefix((1,)), 0), Key(Prefix((1, 2)), 0)), None, (1, 2), 1), "stored <1>, <1 2>"),
        (Stored((Key(Prefix((1, 2)), 0),), Key(Prefix((1,)), 0), (2,), 1), "stored <1 2> after <1>"),
        (Removed(Key(Prefix((1,)), 0)), "removed <1>"),
        (Cleared(), "cleared"),
        (frozenset({2, 1}), "{1, 2}"),
        ((1, 2), "[1, 2]"),
        ([], "[]"),
        ({1: frozenset({0})}, "{1: {0}}"),
        (None, "None"),
        (0.5, "0.5"),
        (Handed((1,), frozenset({(1, 0)})), "blocks=[1], told={[1, 0]}"),
    ],
    ids=str,
)
def test_values_in_words(value: Any, words: str) -> None:
    assert show(value) == words


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (GetUsage(), "get_usage()"),
        (Touch((1, 2)), "touch([1, 2])"),
        (EvictBlocks(frozenset({3, 1})), "evict_blocks({1, 3})"),
        (UnpinBlocks((1,), 4), "unpin_blocks([1], watcher=4)"),
        (
            CacheFullBlocks(Prefix((1,)), (1,), 0, 1, 1, 0),
            "cache_full_blocks(<1>, blocks=[1], num_cached=0, num_full=1, block_size=1, group=0)",
        ),
        (
            CachePartialBlock(Prefix((1,)), 1, 1, 0, 1, True),
            "cache_partial_block(<1>, block=1, num_tokens=1, group=0, block_size=1, replace_existing=True)",
        ),
    ],
    ids=str,
)
def test_calls_in_words(action: Any, words: str) -> None:
    assert call(action) == words


def test_changes_in_words() -> None:
    before = first_state(3)
    after = replace(before, refs={1: 1, 2: 0}, queue=(2,), telling=True)
    assert changes(before, after) == ["refs  1: 0 -> 1", "queue  [1, 2] -> [2]", "telling  False -> True"]
    assert changes(before, before) == []
