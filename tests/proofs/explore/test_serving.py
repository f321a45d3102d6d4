"""The gates about requests, managers and several pools: quiet about the source as it is, loud about planted defects."""

from collections.abc import Callable
from typing import Any

import pytest

from blockpool.impl.managers.base import GroupManager
from blockpool.impl.managers.coordinator import Coordinator
from blockpool.impl.managers.state import StateManager
from blockpool.impl.pool import BlockPool
from blockpool.proofs.core.claim_names import FOLLOWS
from blockpool.proofs.core.counterexample import Call, Counterexample
from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.explore.search import explore
from blockpool.proofs.explore.serving import SERVING_SCOPES, ServingScope, with_rules
from blockpool.proofs.refine.key_injectivity import compare_digests
from blockpool.proofs.refine.managers import ManagerFollower
from blockpool.proofs.refine.managers_stateful_test import sample_serving
from blockpool.proofs.refine.rerun import rerun
from blockpool.proofs.refine.several_pools import compare_pools
from blockpool.proofs.suite import checks as jobs
from blockpool.spec import RULES, Admit, Drop, Grow, RunPass

PARTS = {part.name: part for part in SERVING_SCOPES["small"]}


def followed(part: ServingScope) -> str | None:
    found = explore(part, follower=ManagerFollower(1), follow_claim=FOLLOWS, first_failure_ends=True, depth=6)
    return next((failure.words for failure in found.tally.failures.values()), None)


@pytest.mark.parametrize("name", PARTS)
def test_the_managers_follow_the_first_moves(name: str) -> None:
    assert followed(PARTS[name]) is None


def lose_a_withdrawal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Coordinator, "_withdraw", lambda self, marks: None)


def give_heads_back_first(monkeypatch: pytest.MonkeyPatch) -> None:
    surrender = GroupManager.surrender
    monkeypatch.setattr(GroupManager, "surrender", lambda self, name: surrender(self, name)[::-1])


def write_states_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(StateManager, "prepare", lambda self, name, computed, upto: None)


DEFECTS: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str]] = {
    "withdrawal": (lose_a_withdrawal, "attention"),
    "order": (give_heads_back_first, "windowed"),
    "states": (write_states_in_place, "stateful"),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_of_a_manager_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, part = DEFECTS[name]
    plant(monkeypatch)
    assert followed(PARTS[part]) is not None


def test_long_runs_of_requests_find_a_lost_withdrawal(monkeypatch: pytest.MonkeyPatch) -> None:
    lose_a_withdrawal(monkeypatch)
    run = sample_serving(100, 40)
    assert run.broken is not None
    claim, first, calls, words = run.broken
    assert claim == FOLLOWS
    assert len(calls) == 2  # shrunk to: admit, drop
    source = Counterexample(claim, "", first, calls, words).pytest_source()
    compile(source, "test", "exec")
    with pytest.raises(AssertionError):
        rerun(claim, first, calls)
    monkeypatch.undo()
    rerun(claim, first, calls)


def test_long_runs_of_requests_are_the_same_again() -> None:
    first, second = sample_serving(20, 30), sample_serving(20, 30)
    assert first.broken is None
    assert first.moves > 100
    assert (first.runs, first.moves, first.shown) == (second.runs, second.moves, second.shown)


def test_the_counts_of_the_small_scopes() -> None:
    found = explore(PARTS["ringed"])
    assert (len(found.states), found.tally.steps) == (117, 147)
    assert found.tally.failures == {}


@pytest.mark.parametrize("rule", RULES)
def test_something_breaks_without_each_rule(rule: str) -> None:
    (obligation,) = jobs.needed(rule)
    assert obligation.verdict is Verdict.HOLDS
    assert obligation.figures["breaks"] != "every_action_is_defined"


def test_a_broken_rule_is_told_as_a_story_and_as_a_test() -> None:
    part = with_rules(PARTS["stateful"], "copies_before_writes")
    calls = tuple(map(Call, (Admit("a", 3), RunPass(), Grow("a", 4), RunPass())))
    shown = Counterexample("hits_are_sound", "Hits are sound.", part.first_state(), calls, "")
    assert "rules broken: copies_before_writes" in shown.story()
    assert "4. run_pass()" in shown.story()
    scope: dict[str, Any] = {}
    exec(shown.pytest_source(), scope)
    with pytest.raises(AssertionError, match="holds exactly the prefix"):
        scope["test_hits_are_sound"]()
    rerun("hits_are_sound", PARTS["stateful"].first_state(), calls)


def test_two_pools_agree_and_a_release_that_forgets_the_other_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compare_pools(30, 0).failure is None
    right = BlockPool.free_blocks
    monkeypatch.setattr(
        BlockPool, "free_blocks", lambda self, blocks: right(self, [block for block in blocks if block.pool is self])
    )
    assert compare_pools(30, 0).failure is not None


def test_digests_are_compared_with_prefixes_that_differ() -> None:
    pairs = compare_digests(200)
    assert pairs.failure is None
    assert pairs.unequal > 50


def test_a_drop_of_a_request_that_others_read_is_forbidden() -> None:
    """The guard and the coordinator agree, on the shortest history that leads there."""
    world = PARTS["attention"].first_state()
    for move in (Admit("a", 3), Admit("b", 3)):
        assert not move.guard(world)
        world = move.effect(world, None)
    drop = Drop("a", again=True)
    assert drop.guard(world) == {"others read what it is about to write"}
    assert ManagerFollower(1).follow(world, drop, []) is None
