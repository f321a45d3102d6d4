"""The ledger: what a run measured, what is recorded, and the difference that somebody has to accept."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from blockpool.proofs.core import figures as ledger
from blockpool.proofs.core.figures import (
    BUDGETS,
    COUNTED,
    SCORES,
    compare,
    counts,
    differences,
    measured,
    merged,
    read,
    write,
)
from blockpool.proofs.core.obligation import Obligation, Verdict
from blockpool.proofs.explore.scopes import SCOPES, narrowed
from blockpool.proofs.explore.search import explore
from blockpool.proofs.explore.serving import SERVING_SCOPES
from blockpool.proofs.faces.cli import ledger as command
from blockpool.proofs.refine.search_obligations import decide
from blockpool.proofs.suite.plan import recorded_names

RUNNER = CliRunner()


def empty(**sections: dict[str, Any]) -> ledger.Ledger:
    return {section: sections.get(section, {}) for section in ledger.SECTIONS}


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small ledger in place of the real one."""
    file = tmp_path / "ledger.json"
    monkeypatch.setattr(ledger, "FILE", file)
    monkeypatch.setattr(command, "FILE", file)
    write(
        empty(
            counts={"tiny": [3, 4]},
            proofs={"touch": 1_000_000},
            kills={"impl": {"mutants": 200, "killed": 190, "harmless": 10}},
        ),
        file,
    )
    yield file
    ledger.ledger.cache_clear()


def run_of(tmp_path: Path, *obligations: Obligation, **more: Any) -> Path:
    document = {"obligations": [one.as_dict() for one in obligations], "versions": {"z3-solver": "5", "python": "3"}}
    path = tmp_path / "run.json"
    path.write_text(json.dumps(document | more), encoding="utf-8")
    return path


def proof(name: str, resources: int, verdict: Verdict = Verdict.HOLDS) -> Obligation:
    return Obligation(name, "prove", "any size", verdict, {"resources": resources})


def score(killed: int, mutants: int = 200) -> Obligation:
    figures = {"mutants": mutants, "killed": killed, "harmless": 0}
    return Obligation("mutants_are_killed", "mutate", "impl", Verdict.HOLDS, figures)


# --- what is recorded ---


def test_every_named_scope_and_no_other_has_counts() -> None:
    parts = {part.name: part for parts in (*SCOPES.values(), *SERVING_SCOPES.values()) for part in parts}
    assert parts.keys() == ledger.read(ledger.FILE)["counts"].keys()
    assert all(part.expected == counts(name) != ledger.UNRECORDED for name, part in parts.items())


@pytest.mark.usefixtures("recorded")
def test_a_scope_without_record_is_refuted_not_passed() -> None:
    assert counts("tiny") == (3, 4)
    assert counts("another") == (0, 0)
    assert ledger.recorded("proofs", "another") is None


def test_a_file_of_another_kind_is_no_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    path.write_text('{"format": "something-else/1"}', encoding="utf-8")
    with pytest.raises(ValueError, match="is not a ledger"):
        read(path)


def test_what_is_written_is_read_again_one_entry_a_line(tmp_path: Path) -> None:
    path = tmp_path / "ledger.json"
    entries = empty(counts={"b": [1, 2], "a": [3, 4]}, kills={"impl": {"mutants": 1, "killed": 1, "harmless": 0}})
    write(entries, path)
    assert read(path) == entries
    assert '  "a": [3, 4],\n  "b": [1, 2]\n' in path.read_text(encoding="utf-8")


# --- what a run measured ---


def test_counts_are_taken_from_a_whole_search_only() -> None:
    [part] = narrowed(SCOPES["tiny"][:1], blocks=1, max_refs=1)
    whole = decide("x", [explore(part)], with_impl=False)
    assert measured({"obligations": [one.as_dict() for one in whole]})["counts"] == {}  # no named scope

    def as_run(verdict: Verdict) -> dict[str, Any]:
        counted = Obligation(COUNTED, "explore", "tiny", verdict, {"states": 5, "steps": 6})
        return {"obligations": [counted.as_dict()], "versions": {"z3-solver": "5", "python": "3"}}

    assert measured(as_run(Verdict.REFUTED))["counts"] == {"tiny": [5, 6]}
    assert measured(as_run(Verdict.INCONCLUSIVE))["counts"] == {}
    assert measured(as_run(Verdict.HOLDS))["versions"] == {"z3-solver": "5"}


def test_proofs_scores_and_the_matrix_are_taken() -> None:
    obligations = [proof("touch", 7).as_dict(), proof("free", 8, Verdict.REFUTED).as_dict(), score(190).as_dict()]
    found = measured({"obligations": obligations, "versions": {}, "matrix": {"a defect": {"refine": []}}})
    assert found["proofs"] == {"touch": 7}
    assert found["kills"] == {"impl": {"mutants": 200, "killed": 190, "harmless": 0}}
    assert found["matrix"] == {"a defect": {"refine": []}}


def test_merging_keeps_what_was_not_measured_unless_whole() -> None:
    old = empty(counts={"a": [1, 1], "b": [2, 2]}, proofs={"p": 1})
    new = empty(counts={"a": [1, 2]})
    assert merged(old, new) == empty(counts={"a": [1, 2], "b": [2, 2]}, proofs={"p": 1})
    assert merged(old, new, whole=True) == empty(counts={"a": [1, 2]}, proofs={"p": 1})
    assert differences(old, merged(old, new, whole=True)) == [
        "counts: a: [1, 1] -> [1, 2]",
        "counts: b: [2, 2] -> nothing",
    ]


# --- comparing ---


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize(
    ("spent", "verdict"),
    [(1_000_000, Verdict.HOLDS), (2_100_000, Verdict.HOLDS), (2_100_001, Verdict.REFUTED)],
)
def test_a_proof_that_spends_far_more_than_recorded_is_refuted(spent: int, verdict: Verdict) -> None:
    [budgets] = compare([proof("touch", spent)])
    assert (budgets.name, budgets.verdict) == (BUDGETS, verdict)
    if verdict is Verdict.REFUTED:
        assert budgets.words.startswith("touch spent 2,100,001 instead of 1,000,000")


def test_another_solver_counts_otherwise(recorded: Path) -> None:
    write(empty(proofs={"touch": 1_000_000}, versions={"z3-solver": "0.1"}), recorded)
    [budgets] = compare([proof("touch", 9_000_000)])
    assert (budgets.verdict, budgets.figures["recorded with Z3"]) == (Verdict.HOLDS, "0.1")


@pytest.mark.usefixtures("recorded")
def test_a_proof_without_record_is_not_compared_silently() -> None:
    [budgets] = compare([proof("touch", 1), proof("new", 1)])
    assert (budgets.verdict, budgets.words) == (Verdict.VACUOUS, "not in the ledger: new")
    assert compare([]) == []


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize(("killed", "verdict"), [(190, Verdict.HOLDS), (191, Verdict.HOLDS), (189, Verdict.REFUTED)])
def test_a_score_may_not_fall(killed: int, verdict: Verdict) -> None:
    [scores] = compare([score(killed)])
    assert (scores.name, scores.verdict) == (SCORES, verdict)
    if verdict is Verdict.REFUTED:
        assert scores.words == "impl: 94.50% instead of 95.00%"


# --- the command ---


def test_accepting_shows_the_difference_and_writes_it(recorded: Path, tmp_path: Path) -> None:
    run = str(run_of(tmp_path, proof("touch", 1_200_000), proof("free", 5)))
    before = recorded.read_text(encoding="utf-8")
    dry = RUNNER.invoke(command.app, ["accept", run, "--dry-run"])
    assert dry.exit_code == 0
    assert recorded.read_text(encoding="utf-8") == before
    wet = RUNNER.invoke(command.app, ["accept", run])
    assert wet.exit_code == 0
    for shown in (dry.output, wet.output):
        assert "proofs: touch: 1000000 -> 1200000" in shown
        assert "proofs: free: nothing -> 5" in shown
    assert read(recorded)["proofs"] == {"touch": 1_200_000, "free": 5}
    assert read(recorded)["counts"] == {"tiny": [3, 4]}
    assert "nothing changes" in RUNNER.invoke(command.app, ["accept", run]).output


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("text", ["", "[1]", '{"obligations": []}', '{"obligations": [{}]}'])
def test_a_file_without_figures_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(text, encoding="utf-8")
    assert RUNNER.invoke(command.app, ["accept", str(path)]).exit_code == 2


@pytest.mark.usefixtures("recorded")
def test_showing() -> None:
    every = RUNNER.invoke(command.app, ["show"]).output
    assert "counts: 1\n  tiny: [3, 4]\n" in every
    assert "kills: 1" in every
    assert "kills" not in RUNNER.invoke(command.app, ["show", "counts"]).output
    assert RUNNER.invoke(command.app, ["show", "nothing"]).exit_code == 2


# --- written by commands, of things that exist ---


def test_a_figure_edited_by_hand_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    ledger.write(empty(counts={"tiny": [3, 4]}, proofs={"touch": 7}), file)
    assert ledger.as_written(file).verdict is Verdict.HOLDS
    file.write_text(file.read_text().replace("[3, 4]", "[3, 5]"))
    found = ledger.as_written(file)
    assert found.verdict is Verdict.REFUTED
    assert "counts" in found.words
    assert "proofs" not in found.words


def test_a_figure_of_nothing_that_exists_is_reported() -> None:
    entries = empty(counts={"tiny": [3, 4], "gone": [1, 1]}, proofs={"touch": 7})
    found = ledger.matched({"counts": {"tiny", "small"}}, entries)
    assert found.verdict is Verdict.REFUTED
    assert "counts: gone" in found.words
    assert "proofs" not in found.words
    assert ledger.matched({"counts": {"tiny", "gone"}, "proofs": {"touch"}}, entries).verdict is Verdict.HOLDS


def test_the_ledger_of_this_project_is_as_written_and_of_what_there_is() -> None:
    assert ledger.as_written().verdict is Verdict.HOLDS
    assert ledger.matched(recorded_names()).verdict is Verdict.HOLDS
