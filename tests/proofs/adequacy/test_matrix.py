"""The detection matrix: rows, what follows from them, and scopes that are too narrow."""

import json
from dataclasses import replace
from subprocess import CompletedProcess

import pytest

from blockpool.proofs.adequacy.defects import least_scopes as adequacy
from blockpool.proofs.adequacy.defects import matrix
from blockpool.proofs.adequacy.defects import run_defect as trial
from blockpool.proofs.adequacy.defects.checks_by_gate import GATES
from blockpool.proofs.adequacy.defects.least_scopes import ADEQUATE, LADDERS, adequate, enough_runs
from blockpool.proofs.adequacy.defects.matrix import (
    CAUGHT,
    NEEDED,
    REDUNDANT,
    caught,
    for_ledger,
    judged,
    least_adequate,
    sole_kills,
    table,
)
from blockpool.proofs.adequacy.defects.seeded import DEFECTS
from blockpool.proofs.core import figures as ledger
from blockpool.proofs.core.jobs import run_module
from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.explore.scopes import SCOPES, narrowed
from blockpool.spec import CLAIMS, POSSIBILITIES, WORLD_CLAIMS, WORLD_POSSIBILITIES

ONE = "a_query_changes_nothing"
OTHER = "survivors_keep_their_order"


def cell(scope: str, *claims: str, calls: int | None = 1) -> dict[str, object]:
    return {"scope": scope, "claims": list(claims), "calls": calls, "seconds": 0.5}


ROWS: matrix.Matrix = {
    "first": {"explore": cell("1 block", ONE), "refine": cell("tiny", "x")},
    "second": {"explore": cell("tiny", ONE, OTHER), "sample": cell("10 runs", trial.DIED)},
    "third": {"sample": cell("10 runs", trial.DIED)},
}


def test_a_gate_that_died_has_caught_nothing() -> None:
    assert list(caught(ROWS["second"])) == ["explore"]
    [obligation] = judged(ROWS)
    assert (obligation.name, obligation.verdict, obligation.words) == (CAUGHT, Verdict.VACUOUS, "third")


def test_a_trial_that_ends_early_is_inconclusive_and_loses_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = {"one": CompletedProcess([], 1, "", "no end after 900 s"), "two": CompletedProcess([], 0, "{}", "")}
    monkeypatch.setattr(matrix, "run_module", lambda module, name, *rest, **more: ended[name])
    answers = dict(matrix.rows(["one", "two"], 1, lambda line: None))
    assert answers == {"one": "the trial ended: no end after 900 s", "two": {}}
    [obligation] = matrix.untried({"one": "the trial ended: no end after 900 s"})
    assert (obligation.name, obligation.verdict) == (matrix.TRIED, Verdict.INCONCLUSIVE)
    assert obligation.words == "one: the trial ended: no end after 900 s"
    assert matrix.untried({}) == []


def test_the_least_adequate_scope_catches_all_that_is_caught() -> None:
    ladders = {"explore": ("1 block", "tiny"), "refine": ("1 block", "tiny"), "pools": ("5 runs",)}
    assert least_adequate(ROWS, ladders) == {"explore": "tiny", "refine": "tiny"}
    assert least_adequate({"first": ROWS["first"]}, ladders)["explore"] == "1 block"


def test_a_claim_that_kills_alone() -> None:
    found = sole_kills(ROWS)
    assert found[ONE] == ["first"]
    assert found[OTHER] == []
    possible = {claim.name for claim in (*POSSIBILITIES, *WORLD_POSSIBILITIES)}
    assert found.keys() == {claim.name for claim in (*CLAIMS, *WORLD_CLAIMS)} - possible


def test_a_redundant_claim_does_not_count_as_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "REDUNDANT", {OTHER: "why"})
    assert sole_kills(ROWS)[ONE] == ["first", "second"]
    assert sole_kills(ROWS)[OTHER] == []


def test_a_claim_that_never_kills_alone_must_be_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {name: ROWS[name] for name in ("first", "second")}
    monkeypatch.setattr(matrix, "row_names", lambda: list(rows))
    others = {name: "why" for name in sole_kills(rows) if name != ONE}

    def needed() -> tuple[Verdict, str]:
        obligation = judged(rows)[1]
        assert obligation.name == NEEDED
        return obligation.verdict, obligation.words

    monkeypatch.setattr(matrix, "REDUNDANT", others)
    assert needed() == (Verdict.HOLDS, "")
    monkeypatch.setattr(matrix, "REDUNDANT", others | {"gone": "why"})
    assert needed() == (Verdict.REFUTED, "there is no claim gone, listed as redundant")
    monkeypatch.setattr(matrix, "REDUNDANT", {name: why for name, why in others.items() if name != OTHER})
    assert needed() == (Verdict.VACUOUS, f"{OTHER} kills nothing alone")


def test_the_ledger_keeps_no_seconds_and_the_table_names_the_gates() -> None:
    assert for_ledger(ROWS)["first"]["refine"] == {"scope": "tiny", "claims": ["x"], "calls": 1}
    name = DEFECTS[0].name
    assert table({name: ROWS["first"]}) == f"{name}  explore (1 block, 1 calls), refine (tiny, 1 calls)"
    assert table({name: ROWS["third"]}).endswith("NOBODY")


def test_a_row_names_the_gate_that_needs_contracts() -> None:
    ran = run_module(
        "blockpool.proofs.adequacy.defects.run_defect",
        DEFECTS[0].name,
        "--row",
        "--contracts",
        BLOCKPOOL_CONTRACTS="off",
    )
    row = json.loads(ran.stdout)
    assert row["contracts"]["claims"] == [trial.DIED]  # the level is off: it must not pass for one that saw nothing


def test_broken_claims_are_all_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from blockpool.proofs.explore.machines import PoolMachine

    parts = narrowed(SCOPES["tiny"][:1], blocks=1, max_refs=1)
    wrong = [
        replace(claim, judge=lambda step: False) if claim.name in (ONE, OTHER) else claim
        for claim in PoolMachine.step_properties
    ]
    monkeypatch.setattr(PoolMachine, "step_properties", wrong)
    broken = trial.claims_broken(parts)
    assert broken is not None
    assert {ONE, OTHER} <= broken.keys()


def test_every_gate_has_a_ladder_that_ends_at_its_routine() -> None:
    for gate in GATES.values():
        assert list(gate.scopes)[-1] == gate.routine
    for name, ladder in LADDERS.items():
        assert tuple(GATES[name].scopes) == ladder


# --- the recorded matrix ---


def test_the_recorded_matrix_is_of_known_defects_that_are_all_caught() -> None:
    recorded = ledger.read(ledger.FILE)["matrix"]
    assert recorded.keys() <= set(matrix.row_names())
    assert all(caught(row) for row in recorded.values())
    if recorded.keys() == set(matrix.row_names()):  # else `detect --matrix` is still to be run and accepted
        assert [(one.verdict, one.words) for one in judged(recorded)] == [(Verdict.HOLDS, "")] * 2


def test_redundant_claims_exist_and_say_why() -> None:
    assert REDUNDANT.keys() <= {claim.name for claim in (*CLAIMS, *WORLD_CLAIMS)}
    assert all(len(why) > 20 for why in REDUNDANT.values())


# --- scopes ---


@pytest.fixture
def tiny_is_least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adequacy, "ledger", lambda: {"matrix": ROWS})
    monkeypatch.setattr(adequacy, "row_names", lambda: list(ROWS))


@pytest.mark.usefixtures("tiny_is_least")
def test_a_scope_below_the_least_is_under_covered() -> None:
    for scope in ("tiny", "small", "large"):
        assert adequate("explore", scope, SCOPES[scope]).verdict is Verdict.HOLDS
    for change in ({"blocks": 1}, {"max_refs": 1}, {"watchers": 0}, {"batch": 1}):
        narrow = adequate("refine", "tiny", narrowed(SCOPES["tiny"], **change))
        assert (narrow.name, narrow.verdict) == (ADEQUATE, Verdict.VACUOUS)
        assert narrow.words.startswith("under-covered: tiny is the least")
    assert adequate("explore", "tiny", SCOPES["tiny"][:1]).verdict is Verdict.VACUOUS


def test_without_a_whole_matrix_no_scope_is_adequate(monkeypatch: pytest.MonkeyPatch) -> None:
    for rows in ({}, ROWS):
        monkeypatch.setattr(adequacy, "ledger", lambda rows=rows: {"matrix": rows})
        assert adequate("explore", "large", SCOPES["large"]).verdict is Verdict.VACUOUS


def test_the_least_scope_may_be_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {"first": {"refine": cell("1 block", "x"), "sample": cell("10 runs", "x")}}
    monkeypatch.setattr(adequacy, "ledger", lambda: {"matrix": rows})
    monkeypatch.setattr(adequacy, "row_names", lambda: list(rows))
    one_block = narrowed(SCOPES["tiny"], blocks=1)
    assert adequate("refine", "tiny", one_block).verdict is Verdict.HOLDS
    narrow = adequate("refine", "tiny", narrowed(one_block, watchers=0))
    assert (narrow.verdict, "watchers 0 is below 1" in narrow.words) == (Verdict.VACUOUS, True)
    assert enough_runs("sample", 10, 60).verdict is Verdict.HOLDS
    for runs, calls, words in ((9, 60, "9 runs are below 10"), (10, 59, "59 calls in each are below 60")):
        short = enough_runs("sample", runs, calls)
        assert (short.name, short.verdict) == (ADEQUATE, Verdict.VACUOUS)
        assert words in short.words
