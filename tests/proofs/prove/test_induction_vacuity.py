"""What the proofs assume is possible; what is impossible is reported as vacuous."""

import pytest
import z3

from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.prove.pool import vacuity
from blockpool.proofs.prove.pool.vacuity import CHECKS, actions_at_work, check_vacuity, refusals
from blockpool.proofs.prove.pool.vocabulary import caching
from blockpool.spec import ACTIONS


@pytest.mark.parametrize("name", CHECKS)
def test_nothing_is_vacuous(name):
    (obligation,) = check_vacuity(name)
    assert obligation.verdict is Verdict.HOLDS, obligation.words


def test_every_action_and_every_reason_is_asked_about():
    assert [name for name, _ in actions_at_work()] == [action.name for action in ACTIONS]
    assert {name for name, _ in refusals()} == {
        f"{action.name}: {reason}" for action in ACTIONS for reason in action.reasons
    }


def test_hypotheses_that_contradict_each_other_are_vacuous(monkeypatch):
    contradiction = {"on": caching, "off": z3.Not(caching), "beside the point": z3.BoolVal(True)}
    monkeypatch.setattr(vacuity, "CHECKS", {"planted": lambda: iter([("a call", contradiction)])})
    (obligation,) = check_vacuity("planted")
    assert obligation.verdict is Verdict.VACUOUS
    assert "a call" in obligation.words
    assert "off, on" in obligation.words
