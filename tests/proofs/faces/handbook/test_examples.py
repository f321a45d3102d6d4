"""What is kept for the pages is what a search finds, and its pictures are complete."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from blockpool.proofs.explore.scopes import SCOPES
from blockpool.proofs.faces.handbook import evidence, examples, survey
from blockpool.proofs.faces.handbook.drawings import drawing, strip
from blockpool.proofs.faces.handbook.evidence import EvidenceError
from blockpool.proofs.faces.handbook.examples import RecordError
from blockpool.proofs.faces.handbook.state_diagram import UnknownArrowError, diagram, numbered
from blockpool.proofs.faces.stories.pictures import pool_picture
from blockpool.spec import (
    ACTIONS,
    CLAIMS,
    WORLD_CLAIMS,
    CacheFullBlocks,
    GetNewBlocks,
    GroupId,
    Life,
    Prefix,
    UnpinBlocks,
    Watcher,
    first_state,
)


def test_the_kept_arrows_are_those_of_a_search() -> None:
    """One block is enough to live all lives; a second one only moves keys."""
    part = replace(SCOPES["tiny"][0], blocks=1, expected=None)
    found, kept = survey.survey([part])["arrows"], survey.read()["arrows"]
    assert found.keys() == kept.keys()
    assert all(found[arrow]["calls"].keys() <= kept[arrow]["calls"].keys() for arrow in found)
    only_kept = {name for arrow in kept for name in kept[arrow]["calls"].keys() - found[arrow]["calls"].keys()}
    assert only_kept <= {"move_block_hashes"}


def test_every_refusal_was_met_alone() -> None:
    wanted = {f"{kind.name}: {reason}" for kind in ACTIONS for reason in kind.reasons}
    assert set(survey.read()["refusals"]) == wanted


def test_what_happens_without_a_rule_is_what_a_search_finds() -> None:
    assert examples.without("withdraw_when_dropped") == examples.read()["without"]["withdraw_when_dropped"]


def test_every_example_ends_with_what_it_is_about() -> None:
    for name, example in examples.read()["broken"].items():
        assert example["story"]["claim"] == name
        assert example["story"]["frames"][0]["call"] is None
        assert "defect" in example or "rule" in example


def test_names_that_do_not_fit_are_told_apart() -> None:
    examples.check_names("shown", {"a": 1}, ["a"])
    with pytest.raises(RecordError, match=r"nothing is kept of b.*does not know a"):
        examples.check_names("shown", {"a": 1}, ["b"])


# --- evidence ---


def test_figures_of_one_machine_are_not_kept(tmp_path: Path) -> None:
    run, kept = tmp_path / "run.json", tmp_path / "kept.json"
    obligation = {"name": "n", "method": "explore", "scope": "s", "verdict": "holds", "seconds": 3.0}
    document = {
        "format": evidence.VERDICTS,
        "command": ["blockpool", "check", "--json", str(run), "--seed", "7"],
        "versions": {"blockpool": "1"},
        "obligations": [obligation | {"figures": {"states": 5, "steps/s": 9}}],
    }
    run.write_text(json.dumps(document), encoding="utf-8")
    found = evidence.record([run], kept)
    assert found.runs[0].command == "blockpool check --seed 7"
    assert found.by_name["n"][0]["figures"] == {"states": 5}
    assert "seconds" not in found.by_name["n"][0]


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text('{"format": "something"}', encoding="utf-8")
    with pytest.raises(EvidenceError, match="was not written by a command"):
        evidence.record([other], tmp_path / "kept.json")
    assert not (tmp_path / "kept.json").exists()


# --- pictures ---


def test_a_drawing_says_everything_in_words() -> None:
    pool = first_state(4)
    prefix, group = Prefix((7,)), GroupId(0)
    actions = (GetNewBlocks(2), CacheFullBlocks(prefix, (1, 2), 0, 1, 1, group), UnpinBlocks((2,), Watcher(5)))  # type: ignore[arg-type]
    for action in actions:
        (answer,) = action.answers(pool)  # type: ignore[attr-defined]
        pool = action.effect(pool, answer)  # type: ignore[attr-defined]
    drawn = drawing(pool_picture(pool), "Now", pool_picture(first_state(4)))
    for words in ("published", "watched by 5", "1 reference", "&lt;7&gt;", "changed", "blank"):
        assert words in drawn
    assert "\n\n" not in drawn  # Markdown would end the picture there


def test_a_story_names_every_call() -> None:
    example = next(iter(examples.read()["broken"].values()))
    drawn = strip(example["story"])
    assert drawn.count("<figure") == len(example["story"]["frames"])
    assert "\n\n" not in drawn


def test_the_diagram_has_every_state_and_arrow() -> None:
    arrows = survey.read()["arrows"]
    drawn = diagram(arrows)
    assert all(f'class="state {life}"' in drawn for life in Life)
    assert drawn.count('class="arrow"') == len(arrows) == len(numbered(arrows))
    with pytest.raises(UnknownArrowError, match="blank lost"):
        diagram({"blank lost": {"calls": {}}})


def test_every_claim_has_an_example() -> None:
    kept = examples.read()
    assert kept["broken"].keys() | kept["shown"].keys() == {one.name for one in (*CLAIMS, *WORLD_CLAIMS)}
    assert all(one["story"]["title"] == f"{name} is shown" for name, one in kept["shown"].items())
