"""Long random runs and digests: the same in every run, and able to find and shrink a planted defect."""

import re
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import Phase, settings

import blockpool.impl.hashing
from blockpool.impl import BlockPool
from blockpool.proofs.core.claim_names import DEFINED, REFINES
from blockpool.proofs.refine import stateful_test as machine
from blockpool.proofs.refine.key_injectivity import compare_digests
from blockpool.proofs.refine.stateful_test import Run, sample
from blockpool.spec import INVARIANTS, STEP_PROPERTIES, GetNewBlocks, Pool, Touch


def figures(run: Run) -> tuple[int, int, int]:
    return run.runs, run.steps, run.refused


@pytest.fixture
def unshrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Failures are kept as they are found: shrinking takes seconds, and one test of it is enough."""
    monkeypatch.setattr(machine, "settings", partial(settings, phases=[Phase.generate]))


def test_without_a_seed_every_run_is_the_same() -> None:
    one, two = sample(10, 20), sample(10, 20)
    assert figures(one) == figures(two)
    assert one.failure is two.failure is None
    assert one.runs >= 10
    assert one.steps > one.refused > 0


def test_a_seed_does_something_else_and_the_same_again() -> None:
    assert figures(sample(10, 20, 1)) == figures(sample(10, 20, 1))
    assert len({figures(sample(10, 20, seed)) for seed in (None, 1, 2)}) > 1


def test_a_planted_defect_is_found_and_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BlockPool, "touch", lambda self, blocks: None)
    failure = sample(60, 15).failure
    assert failure is not None
    assert failure.claim == REFINES
    [call] = failure.calls  # a free block can be touched, so one call is enough
    assert isinstance(call.action, Touch)
    assert len(set(call.action.blocks) - {0}) == 1
    assert failure.words.startswith("MismatchError: ")


@pytest.mark.usefixtures("unshrunk")
def test_a_broken_claim_is_found_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = replace(INVARIANTS[0], judge=lambda pool: not any(pool.refs.values()))
    monkeypatch.setattr(machine, "INVARIANTS", (claim,))
    failure = sample(60, 15).failure
    assert failure is not None
    assert failure.claim == claim.name
    assert isinstance(failure.calls[-1].action, GetNewBlocks | Touch)


@pytest.mark.usefixtures("unshrunk")
def test_a_broken_property_is_found_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = replace(STEP_PROPERTIES[0], judge=lambda step: not step.refused)
    monkeypatch.setattr(machine, "STEP_PROPERTIES", (claim,))
    failure = sample(60, 15).failure
    assert failure is not None
    assert failure.claim == claim.name
    assert failure.words.startswith(f"ClaimError: {claim.name}: {claim.sentence}")


@pytest.mark.usefixtures("unshrunk")
def test_an_exception_of_the_spec_is_found_and_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: GetNewBlocks, pool: Pool, answer: Any) -> Pool:
        raise ZeroDivisionError("planted")

    with monkeypatch.context() as patch:
        patch.setattr(GetNewBlocks, "effect", fail)
        failure = sample(60, 15).failure
    assert failure is not None
    assert (failure.claim, failure.words) == (DEFINED, "ZeroDivisionError: planted")
    assert isinstance(failure.calls[-1].action, GetNewBlocks)
    assert sample(10, 10).failure is None


# --- digests ---


def test_digests_are_compared_the_same_way_in_every_run() -> None:
    one, two = compare_digests(80), compare_digests(80)
    assert one == two
    assert one.failure is None
    assert one.compared > one.unequal > 0
    assert compare_digests(80, 3) == compare_digests(80, 3)


def test_confused_digests_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = blockpool.impl.hashing.hash_block_tokens
    monkeypatch.setattr(
        "blockpool.impl.request.hash_block_tokens", lambda parent, tokens, extras: right(parent, tokens)
    )
    failure = compare_digests(300).failure
    assert failure is not None
    assert re.match(r"confused, unit 1: Prefix\(tokens=\(0,\)", failure)
    assert "Extra(" in failure


def test_torn_digests_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = iter(range(10**9))
    monkeypatch.setattr("blockpool.impl.request.hash_block_tokens", lambda *_: str(next(numbers)).encode())
    failure = compare_digests(100).failure
    assert failure is not None
    assert failure.startswith("torn apart, unit ")
