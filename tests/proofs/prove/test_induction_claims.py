"""Every claim is proved at any size; a wrong transition is refuted and explained; only a proof is success."""

import pytest

from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.prove.pool import induction
from blockpool.proofs.prove.pool.induction import PROVED, prove
from blockpool.proofs.prove.pool.seeded import DEFECTS
from blockpool.proofs.prove.pool.transitions import TRANSITIONS
from blockpool.proofs.prove.solve import Outcome
from blockpool.spec import FreeBlocks


@pytest.mark.parametrize("claim", PROVED)
def test_a_claim_holds_at_any_size(claim):
    (obligation,) = prove(claim, seeds=(0,))
    assert obligation.verdict is Verdict.HOLDS, obligation.words
    assert obligation.figures["conditions"] >= 1


def test_a_claim_that_fails_is_refuted_with_the_calls_that_break_it(monkeypatch):
    monkeypatch.setitem(TRANSITIONS, FreeBlocks, DEFECTS["a_double_release_is_accepted"].transition)
    (obligation,) = prove("counts_are_never_negative", seeds=(0,))
    assert obligation.verdict is Verdict.REFUTED
    assert "counts_are_never_negative: free_blocks is refuted" in obligation.words
    assert "free_blocks(" in obligation.words


def test_an_unknown_answer_is_inconclusive(monkeypatch):
    monkeypatch.setattr(induction, "decide", lambda *_, **__: Outcome(Verdict.INCONCLUSIVE, words="no answer"))
    (obligation,) = prove("a_move_keeps_every_key", seeds=(0,))
    assert obligation.verdict is Verdict.INCONCLUSIVE
    assert "no answer" in obligation.words
