"""The engine against CPython: they agree, the comparison says something, and a defect of the engine shows."""

import pytest

from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.prove.differential import compare
from blockpool.proofs.prove.differential.compare import QUICK, Tally, agreement
from blockpool.proofs.prove.differential.faults import FAULTS, Fault, planted
from blockpool.proofs.prove.differential.programs import Program, programs

ENOUGH = 100
"""Programs within which these defects of the engine must show."""


def test_the_engine_agrees_with_cpython() -> None:
    [found] = agreement(QUICK)
    assert found.verdict is Verdict.HOLDS, found.words
    assert found.figures["programs"] == QUICK


@pytest.mark.parametrize("fault", FAULTS[:9], ids=lambda fault: fault.sentence)
def test_a_defect_of_the_engine_shows(fault: Fault) -> None:
    with planted(fault):
        assert compare.compare(programs(0, ENOUGH)).failure, "no program shows it"


def test_programs_that_are_nearly_all_refused_say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(program: Program, tally: Tally) -> str:
        return "all is refused"

    monkeypatch.setattr(compare, "_compared", refuse)
    [found] = agreement(20)
    assert found.verdict is Verdict.VACUOUS
    assert "only 0 of 20" in found.words


def test_a_seed_makes_the_same_programs() -> None:
    assert programs(3, 5) == programs(3, 5)
    assert programs(3, 5) != programs(4, 5)
