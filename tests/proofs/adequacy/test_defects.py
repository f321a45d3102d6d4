"""Seeded defects: they fit the source, the loader puts in exactly them, and trials catch them."""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from blockpool.proofs.adequacy.defects.seeded import CANARIES, DEFECTS
from blockpool.proofs.core.edits import Defect, Edit
from blockpool.proofs.core.loader import DefectFinder, OutdatedDefectError, install, modules_of
from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.core.sources import tree_of
from blockpool.proofs.suite.checks import CATCHES, caught

MODULE = "module_to_be_made_wrong"
SOURCE = "def one():\n    return 1\n\n\ndef two():\n    return 1 + one()\n"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module that nobody has imported yet; afterwards no trace of it."""
    path = tmp_path / f"{MODULE}.py"
    path.write_text(SOURCE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    yield path
    sys.modules.pop(MODULE, None)


def imported(*edits: Edit) -> Any:
    install(Defect("planted", edits))
    return importlib.import_module(MODULE)


# --- the loader ---


def test_a_defect_is_put_in(module: Path) -> None:
    wrong = imported(Edit(MODULE, "1 + one()", "2 + one()"))
    assert (wrong.one(), wrong.two()) == (1, 3)
    assert module.read_text(encoding="utf-8") == SOURCE


def test_several_edits_are_put_in_one_after_the_other(module: Path) -> None:
    wrong = imported(Edit(MODULE, "1 + one()", "7 + one()"), Edit(MODULE, "7 +", "8 +"), Edit("no.other", "a", "b"))
    assert wrong.two() == 9


@pytest.mark.parametrize(("piece", "places"), [("return 3", 0), ("return 1", 2)], ids=["absent", "repeated"])
def test_a_piece_that_does_not_fit_once_is_an_error(module: Path, piece: str, places: int) -> None:
    with pytest.raises(OutdatedDefectError, match=f"planted: {places} places in .* read {piece!r}"):
        imported(Edit(MODULE, piece, "pass"))


@pytest.mark.usefixtures("module")
def test_a_module_that_was_imported_before_is_an_error() -> None:
    importlib.import_module(MODULE)
    before = list(sys.meta_path)
    with pytest.raises(OutdatedDefectError, match="imported already"):
        install(Defect("planted", (Edit(MODULE, "1 + one()", "2"),)))
    assert sys.meta_path == before


def test_a_module_that_does_not_exist_is_an_error() -> None:
    finder = DefectFinder(Defect("planted", (Edit("blockpool.spec.nothing", "a", "b"),)))
    with pytest.raises(OutdatedDefectError, match=r"there is no module blockpool\.spec\.nothing"):
        finder.find_spec("blockpool.spec.nothing", [])


def test_other_modules_are_left_alone() -> None:
    defect = Defect(
        "planted", (Edit("blockpool.spec.pool.state", "a", "b"), Edit("blockpool.spec.pool.terms", "a", "b"))
    )
    assert modules_of(defect) == {"blockpool.spec.pool.state", "blockpool.spec.pool.terms"}
    assert DefectFinder(defect).find_spec("blockpool.spec.pool.events", None) is None


# --- the defects ---


def test_names_are_unique_and_canaries_are_among_them() -> None:
    names = [defect.name for defect in DEFECTS]
    assert len(set(names)) == len(names)
    assert set(CANARIES) <= set(names)
    assert len(set(CANARIES)) == len(CANARIES)


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_a_defect_fits_the_source_exactly_once(defect: Defect) -> None:
    sources: dict[str, str] = {}
    for edit in defect.edits:
        found = find_spec(edit.module)
        assert found is not None
        assert found.origin is not None
        source = sources.get(edit.module) or Path(found.origin).read_text(encoding="utf-8")
        assert source.count(edit.right) == 1
        sources[edit.module] = source.replace(edit.right, edit.wrong)
        assert edit.right != edit.wrong
    for module, source in sources.items():
        compile(source, module, "exec")


def test_a_defect_is_of_the_spec_or_of_the_implementation() -> None:
    for defect in DEFECTS:
        assert {tree_of(module) for module in modules_of(defect)} == {"spec" if defect.of_spec else "impl"}
        assert defect.name.startswith("spec: ") is defect.of_spec
    assert Defect("nothing", ()).of_spec


# --- trials ---


@pytest.mark.parametrize(
    ("name", "gate", "claim", "calls"),
    [
        ("spec: a touched block stays queued", "explore", "every_block_is_free_or_held", 1),
        ("spec: a freed block is queued in the middle", "explore", "blocks_join_the_queue_only_at_its_ends", None),
        ("spec: a refused call turns the queue", "explore", "a_refused_call_changes_nothing", 1),
        ("spec: a watched block is writable", "explore", "a_writable_block_cannot_be_observed", 2),
        ("null block is queued", "refine", "a_new_pool_is_in_the_first_state", 0),
        ("usage counts the null block", "refine", "impl_does_what_the_spec_allows", 1),
        ("spec: a question ages the cache", "explore", "a_query_changes_nothing", 1),
        ("digest ignores the extras", "digest", "digests_are_equal_exactly_when_prefixes_are", None),
    ],
)
def test_a_defect_is_caught(name: str, gate: str, claim: str, calls: int | None) -> None:
    [obligation] = caught(name)
    assert obligation.name == f"{CATCHES}: {name}"
    assert (obligation.verdict, obligation.words) == (Verdict.HOLDS, "")
    assert (obligation.figures["gate"], obligation.figures["claim"]) == (gate, claim)
    if calls is not None:
        assert obligation.figures["calls"] == calls


def test_a_trial_prints_one_line_of_json() -> None:
    command = [
        sys.executable,
        "-P",
        "-m",
        "blockpool.proofs.adequacy.defects.run_defect",
        "spec: a question ages the cache",
    ]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    [line] = ran.stdout.splitlines()
    trial = json.loads(line)
    assert set(trial) == {"defect", "gates", "gate", "claim", "calls", "words", "seconds"}
    assert (trial["gate"], trial["claim"], trial["calls"]) == ("explore", "a_query_changes_nothing", 1)
    assert ran.stderr == ""


def test_a_trial_that_takes_too_long_is_inconclusive() -> None:
    [obligation] = caught(CANARIES[0], timeout=0.01)
    assert obligation.verdict is Verdict.INCONCLUSIVE
    assert obligation.words == "no end after 0.01 s"


def test_a_trial_that_breaks_down_is_inconclusive() -> None:
    [obligation] = caught("there is no such defect")
    assert obligation.verdict is Verdict.INCONCLUSIVE
    assert "StopIteration" in obligation.words
