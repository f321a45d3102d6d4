"""Defects from a file: read, fitted to the source as it is, and judged."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from blockpool.proofs.adequacy.defects.from_file import DefectFileError, fitted, places_with, read_defects
from blockpool.proofs.core.loader import OutdatedDefectError
from blockpool.proofs.faces.cli.main import app

COUNTED = "        queue.num_free_blocks -= num_blocks\n        return blocks"
DEFECTS = {
    "batches of 300 come out reversed": [
        ["impl.pool", COUNTED, COUNTED.replace("return blocks", "return blocks[::-1] if num_blocks > 300 else blocks")]
    ],
    "nothing like it": [["impl.pool", "there is no such text", "at all"]],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "defects.json"
    path.write_text(json.dumps(DEFECTS))
    return path


def test_an_old_name_of_a_module_means_where_its_text_is_now() -> None:
    piece = "pool = drop_keys(pool, answer.blocks)\n"
    assert fitted("d", [("spec.lending", piece, "")]).edits[0].module == "blockpool.spec.pool.allocation"
    assert fitted("d", [("impl.pool", COUNTED, "")]).edits[0].module == "blockpool.impl.pool"


def test_a_defect_that_does_not_fit_is_refused_with_the_piece() -> None:
    with pytest.raises(OutdatedDefectError, match="0 modules of impl read 'there is no such text'"):
        fitted("d", [("impl.pool", "there is no such text", "")])
    with pytest.raises(OutdatedDefectError, match="of none of spec, impl, proofs"):
        fitted("d", [("tests.pool", "x", "")])


def test_the_census_sees_the_text_with_the_defect(file: Path) -> None:
    defect = fitted("d", read_defects(file)["batches of 300 come out reversed"])
    assert any(place.code == "num_blocks > 300" for place in places_with(defect))


@pytest.mark.parametrize(
    ("text", "words"),
    [("[", "not JSON"), ("[]", "is no object"), ('{"a": []}', "'a' has no list"), ('{"a": [1]}', "'a': 1")],
)
def test_a_file_that_says_something_else_is_refused(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(text)
    with pytest.raises(DefectFileError, match=words):
        read_defects(path)
    assert CliRunner().invoke(app, ["detect", "--file", str(path)]).exit_code == 2


def test_the_command_names_the_gates_and_what_does_not_fit(file: Path, tmp_path: Path) -> None:
    written = tmp_path / "run.json"
    ran = CliRunner().invoke(app, ["detect", "--file", str(file), "--json", str(written), "--workers", "1"])
    assert ran.exit_code == 3, ran.output
    found = {one["name"]: one for one in json.loads(written.read_text())["obligations"]}
    caught = found["catches: batches of 300 come out reversed"]
    assert (caught["verdict"], caught["figures"]["gates"]) == ("holds", "census, shapes")
    assert found["catches: nothing like it"]["verdict"] == "inconclusive"
