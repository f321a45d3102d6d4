"""Vectors as files and at the command line: what is wrong with a file is said with file and field."""

import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from blockpool.proofs.faces.cli.vectors import app
from blockpool.proofs.oracle.vectors.vector import VectorError, read, read_all
from tests.proofs.oracle.release_vectors import FOLDER
from tests.proofs.oracle.test_pipe import compiled_to

RIGHT = json.loads(next(FOLDER.glob("*-unpin.json")).read_text(encoding="utf-8"))
HERE = Path(__file__).parent


def written(folder: Path, document: Any) -> Path:
    path = folder / "one.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


def test_what_was_written_is_read(tmp_path: Path) -> None:
    assert read(written(tmp_path, RIGHT)).name == RIGHT["name"]


STEP = {"call": {"op": "alloc", "count": 1}, "expect": {"ok": ["b1"]}}


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"format": "blockpool-vectors/2"}, "format", "this is read: 'blockpool-vectors/1', not 'blockpool-vectors/2'"),
        ({"name": 7}, "name", "expected `str`, got `int`: 7"),
        ({"profile": "own"}, "profile", "there is no profile 'own'"),
        ({"more": 1}, "more", "unknown field"),
        ({"start": {"blocks": "3"}}, "start.blocks", "expected `int`"),
        ({"start": {"blocks": 10**30}}, "start.blocks", "from 1 to 1000 is needed"),
        ({"start": {"blocks": 3, "size": 1}}, "start.size", "unknown field"),
        ({"steps": {}}, "steps", "expected `array`, got `object`: {}"),
        ({"steps": [STEP, 1]}, "steps[1]", "expected `object`, got `int`: 1"),
        ({"steps": [{"call": STEP["call"]}]}, "steps[0].expect", "missing required field"),
        ({"steps": [STEP | {"idle": 1}]}, "steps[0].idle", "expected `bool`, got `int`: 1"),
        ({"steps": [STEP | {"note": ""}]}, "steps[0].note", "unknown field"),
        ({"steps": [STEP | {"call": {"op": "start", "blocks": 1}}]}, "steps[0].call.op", "a vector starts one pool"),
        ({"steps": [STEP | {"call": {"op": "lend"}}]}, "steps[0].call.op", "unknown operation 'lend'"),
        ({"steps": [STEP | {"call": {"op": "alloc"}}]}, "steps[0].call.count", "missing required field"),
        ({"steps": [STEP | {"expect": {}}]}, "steps[0].expect", "one of ok, any and refused is needed"),
        ({"steps": [STEP | {"expect": {"ok": 1, "any": [1]}}]}, "steps[0].expect", "one of ok, any and refused"),
        ({"steps": [STEP | {"expect": {"any": []}}]}, "steps[0].expect.any", "expected `array` of length >= 1: []"),
        (
            {"steps": [STEP | {"expect": {"refused": []}}]},
            "steps[0].expect.refused",
            "expected `array` of length >= 1: []",
        ),
        ({"steps": [STEP | {"expect": {"refused": ["no"], "told": []}}]}, "steps[0].expect.told", "unknown field"),
        (
            {"steps": [STEP | {"expect": {"ok": 1, "told": [["b1"]]}}]},
            "steps[0].expect.told[0]",
            "expected `array` of length 2, got 1: ['b1']",
        ),
        ({"receipt": {}}, "receipt.operations", "missing required field"),
        ({"receipt": RIGHT["receipt"] | {"laws": [1]}}, "receipt.laws[0]", "expected `str`, got `int`: 1"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said_with_its_place(change: dict[str, Any], field: str, words: str, tmp_path: Path) -> None:
    path = written(tmp_path, RIGHT | change)
    with pytest.raises(VectorError) as raised:
        read(path)
    assert str(path) in str(raised.value)
    assert f"field {field!r}" in str(raised.value)
    assert words in str(raised.value)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": "blockpool-vectors/1"}', "\x00", "9" * 5000])
def test_what_is_no_vector_is_an_error_that_names_the_file(text: str, tmp_path: Path) -> None:
    with pytest.raises(VectorError, match=r"one\.json"):
        read(written(tmp_path, text))


def test_whatever_is_put_into_a_file_it_is_read_or_refused_or_judged(tmp_path: Path) -> None:
    """Fuzz: nothing that a file says ends in a traceback, neither in the reader nor in the run."""
    chance, refused, runs = random.Random(5), 0, 0
    for _ in range(400):
        document = json.loads(json.dumps(RIGHT))
        for _ in range(chance.randrange(1, 3)):
            put_in(document, chance.choice([None, True, -1, 10**30, "b9", "", [], {}, [["b1"]], 0.5, "é"]), chance)
        try:
            vector = read(written(tmp_path, document))
        except VectorError:
            refused += 1
            continue
        runs += 1
        assert run("consume", tmp_path, "impl").exit_code in (0, 1, 4), vector
    assert min(refused, runs) > 20


def put_in(document: Any, odd: Any, chance: random.Random) -> None:
    """Exchange something in it."""
    while True:
        places = list(document) if isinstance(document, dict) else range(len(document))
        if not places:
            return
        place = chance.choice(list(places))
        if not isinstance(document[place], dict | list) or not document[place] or not chance.randrange(8):
            document[place] = odd
            return
        document = document[place]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


def test_a_suite_is_filled_listed_and_consumed(tmp_path: Path) -> None:
    wrong = f"{HERE / 'wrong_pools.py'}:DoubleFree"
    filled = run("fill", tmp_path / "suite", "--scope", "tiny", "--depth", 1, "--wrong", wrong)
    assert filled.exit_code == 0, filled.output
    vectors = read_all(tmp_path / "suite")
    assert f"wrote {len(vectors)} vectors" in filled.output
    assert any("DoubleFree" in vector.receipt.defects for vector in vectors)
    listed = run("list", tmp_path / "suite")
    assert listed.exit_code == 0
    assert len(listed.output.splitlines()) == len(vectors)
    assert vectors[0].about in listed.output
    right = run("consume", tmp_path / "suite", "impl")
    assert right.exit_code == 0, right.output
    assert "operations: alloc" in right.output
    caught = run("consume", tmp_path / "suite", wrong, "--json", tmp_path / "found.json")
    assert caught.exit_code == 1
    assert "a_wrong_call_is_refused" in caught.output
    document = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    refuted = {one["name"] for one in document["obligations"] if one["verdict"] == "refuted"}
    assert refuted == {vector.name for vector in vectors if "DoubleFree" in vector.receipt.defects}


def test_a_pool_across_a_pipe_is_asked_and_told_what_is_left_out(tmp_path: Path) -> None:
    subject = compiled_to(tmp_path / "subject")
    found = run("consume", FOLDER, "--", subject)
    assert found.exit_code == 0, found.output
    assert "vectors left out: the pool has no unpin" in found.output
    defective = compiled_to(tmp_path / "defective", "-DDOUBLE_RELEASE")
    refuted = run("consume", FOLDER, "--", defective)
    assert refuted.exit_code == 1
    assert "a_repeated_release_counts_each_naming" in refuted.output


def test_a_suite_of_which_nothing_fits_is_vacuous(tmp_path: Path) -> None:
    only = next(path for path in FOLDER.glob("*-unpin.json"))
    (tmp_path / only.name).write_bytes(only.read_bytes())
    assert run("consume", tmp_path, f"{HERE / 'toy_pools.py'}:Stack").exit_code == 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("consume", "nowhere", "impl"), "there is no folder nowhere"),
        (("list", HERE / "nothing"), "there is no folder"),
        (("list", HERE), "there are no vectors"),
        (("consume", FOLDER, "imple"), "there is no adapter"),
        (("consume", FOLDER, "impl", "--profile", "lur"), "Nearest: lru"),
        (("consume", FOLDER, "--", sys.executable, "-c", "pass"), "error"),
        (("fill", HERE), "is not an empty folder"),
        (("fill", "new", "--scope", "huge"), "there is no scope 'huge'"),
        (("fill", "new", "--profile", "lru"), "leaves open what a pool answers"),
        (("fill", "new", "--wrong", "nobody"), "there is no adapter"),
    ],
    ids=str,
)
def test_bad_input_is_an_error_in_words(arguments: tuple[object, ...], words: str) -> None:
    found = run(*arguments)
    assert found.exit_code == 2
    assert words in " ".join(found.output.replace("│", " ").split()), found.output
