"""A cluster finds what one process finds, also when a process of it is killed; and says clearly why it cannot work."""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from blockpool.proofs.core import workers_ray as cluster
from blockpool.proofs.core.jobs import run_jobs
from blockpool.proofs.core.obligation import Obligation, Verdict
from blockpool.proofs.core.workers_ray import LOCAL, Cluster, ClusterError
from blockpool.proofs.explore.expand import Follower
from blockpool.proofs.explore.scopes import SCOPES, Scope
from blockpool.proofs.explore.search import Exploration, explore
from blockpool.proofs.faces.cli.main import app
from blockpool.proofs.refine.search_obligations import decide, follower_of
from blockpool.proofs.suite import checks as jobs
from blockpool.spec import STEP_PROPERTIES, Action, Pool, Step

TINY, SMALL = SCOPES["tiny"][0], SCOPES["small"][0]
NESTED = next(part for part in SCOPES["tiny"] if part.nested)


@pytest.fixture(scope="module")
def two() -> Iterator[Cluster]:
    """A local cluster of two processes, which can make what this module defines."""
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    with Cluster(LOCAL, 2) as started:
        yield started


# --- the same results ---


def assert_same(one: Exploration, other: Exploration) -> None:
    assert other.states == one.states
    assert other.origins == one.origins
    assert (other.raw_states, other.depth, other.stopped) == (one.raw_states, one.depth, one.stopped)
    left, right = one.tally, other.tally
    assert (right.steps, right.refused, right.followed) == (left.steps, left.refused, left.followed)
    assert (right.taken, right.shown, right.failures) == (left.taken, left.shown, left.failures)
    steps = {claim.name for claim in STEP_PROPERTIES}
    assert {n: c for n, c in right.tested.items() if n in steps} == {n: c for n, c in left.tested.items() if n in steps}


def verdicts(scope: Scope, found: Exploration) -> list[tuple[str, Verdict, str]]:
    decided = decide(scope.name, [found], with_impl=True)
    return [(one.name, one.verdict, "" if one.counterexample is None else str(one.counterexample)) for one in decided]


@pytest.mark.parametrize(("scope", "depth"), [(TINY, None), (SMALL, 2)], ids=["tiny", "part of small"])
def test_counts_verdicts_and_traces_are_those_of_one_process(two: Cluster, scope: Scope, depth: int | None) -> None:
    here, there = (
        explore(scope, follower=follower_of(scope), follow_claim="agrees", workers=workers, depth=depth)
        for workers in (1, two)
    )
    assert_same(here, there)
    assert here.tally.followed > 9_000
    assert verdicts(scope, there) == verdicts(scope, here)


def test_jobs_decide_what_they_decide_here(two: Cluster) -> None:
    work = [jobs.new_pools, partial(jobs.digests, 50, 1)]
    here, there = ([one for [one] in run_jobs(work, workers)] for workers in (1, two))
    assert [(one.name, one.verdict, one.figures) for one in there] == [
        (one.name, one.verdict, one.figures) for one in here
    ]
    assert [one.verdict for one in there] == [Verdict.HOLDS, Verdict.HOLDS]


# --- lost processes ---


@dataclass
class Objecting:
    """Objects in some states; in one of them it first kills the process it is in, if no process was killed yet."""

    killed: Path

    def follow(self, state: Pool, action: Action[Any], allowed: Sequence[Step]) -> str | None:
        if 2 not in map(len, state.index.values()) or action.name != "touch":
            return None
        try:
            self.killed.touch(exist_ok=False)
        except FileExistsError:
            return "objection"
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("it is dead")


def test_a_killed_process_loses_nothing(two: Cluster, tmp_path: Path) -> None:
    spared = tmp_path / "spared"
    spared.touch()
    followers: tuple[tuple[Follower, int | Cluster], ...] = (
        (Objecting(spared), 1),
        (Objecting(tmp_path / "killed"), two),
    )
    here, there = (
        explore(NESTED, follower=follower, follow_claim="agrees", workers=workers) for follower, workers in followers
    )
    assert (tmp_path / "killed").exists()
    assert set(here.tally.failures) == {"agrees"}
    assert_same(here, there)


def dying(_: Any) -> None:
    os._exit(1)


def test_what_is_lost_each_time_is_said_to_be_lost(two: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "AGAIN", 1)
    with pytest.raises(ClusterError, match="a unit of work failed or was lost"):
        list(two.map(dying, [None]))


def failing() -> list[Obligation]:
    raise ZeroDivisionError("planted")


def test_a_job_that_fails_is_inconclusive_and_the_others_are_decided(two: Cluster) -> None:
    [[failed], [other]] = run_jobs([failing, jobs.new_pools], two)
    assert (failed.verdict, failed.words) == (Verdict.INCONCLUSIVE, "ZeroDivisionError: planted")
    assert other.verdict is Verdict.HOLDS


# --- clear refusals ---


def test_other_sources_decide_nothing(two: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(two, "source", "that of another version")
    with pytest.raises(ClusterError, match="another version of blockpool"):
        explore(TINY, workers=two, depth=0)


@pytest.mark.parametrize("command", [["explore", "--scope", "tiny"], ["refine", "--scope", "tiny"]], ids=" ".join)
def test_without_ray_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    ran = CliRunner().invoke(app, [*command, "--ray", LOCAL])
    assert ran.exit_code == 2
    assert "pip install 'blockpool[ray]'" in ran.output
