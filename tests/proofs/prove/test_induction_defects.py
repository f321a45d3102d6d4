"""Every proof fails when a defect is put into its transition, with a small counterexample."""

import pytest

from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.prove.pool import sensitivity as noticed
from blockpool.proofs.prove.pool.induction import PROVED
from blockpool.proofs.prove.pool.seeded import DEFECTS
from blockpool.proofs.prove.pool.sensitivity import DEFECTIVE, NOTICED, blocks_of, check_defects, counterexample
from blockpool.proofs.prove.pool.tampering import Defect
from blockpool.proofs.prove.pool.transitions import TRANSITIONS
from blockpool.spec import Touch


def test_every_claim_is_broken_by_a_defect():
    assert {claim for defect in DEFECTS.values() for claim in defect.breaks} == set(PROVED)


def test_there_are_defects_of_every_action_that_changes_the_pool():
    assert set(DEFECTIVE) >= {action.name for action in TRANSITIONS if TRANSITIONS[action].effect}


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_refuted_by_a_small_pool(name):
    defect = DEFECTS[name]
    for claim in defect.breaks:
        model = counterexample(defect, claim)
        assert model is not None, claim
        assert 1 <= blocks_of(model) <= 4


def test_a_defect_that_breaks_nothing_is_reported(monkeypatch):
    harmless = Defect("Nothing is wrong.", TRANSITIONS[Touch], ("queued_blocks_are_unheld",))
    monkeypatch.setattr(noticed, "DEFECTS", {"harmless": harmless})
    (obligation,) = check_defects("touch")
    assert obligation.name == f"{NOTICED}: touch"
    assert obligation.verdict is Verdict.VACUOUS
    assert obligation.words == "harmless: queued_blocks_are_unheld is not refuted"
