"""Findings in the engine: each has what reproduces it, what was observed, and a place on the page. Without vLLM."""

import json
from collections.abc import Callable
from inspect import getsource
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from blockpool.proofs.cases import observed
from blockpool.proofs.cases.findings import IN_THE_ENGINE, Finding
from blockpool.proofs.cases.observed import ObservedError, read
from blockpool.proofs.cases.reproductions import engine as engine_module
from blockpool.proofs.cases.reproductions.saying import NotReproducedError, Told, error_in, so, told
from blockpool.proofs.faces.cli.docs import docs
from blockpool.proofs.faces.handbook import article_pages
from blockpool.proofs.faces.handbook.writing import Page, plain
from blockpool.proofs.systems.vllm.files import NotFetchedError
from blockpool.proofs.systems.vllm.testbench import ours, vllm

OF_THE_POOL = [one for one in IN_THE_ENGINE if one.of_the_pool]


def name(one: Finding) -> str:
    return one.id


def findings_page() -> Page:
    (page,) = (page for page in article_pages.pages({}) if page.path == "findings")
    return page


def test_the_findings_are_those_of_the_notes_and_each_is_reproduced_in_its_own_way() -> None:
    assert [one.id for one in IN_THE_ENGINE] == [f"A{number}" for number in range(1, 12)]
    assert len({one.reproduction for one in IN_THE_ENGINE}) == 11
    assert [one.id for one in OF_THE_POOL] == ["A3", "A6", "A7", "A11"]


def test_what_was_observed_is_of_the_release_and_of_every_finding() -> None:
    kept = read()
    assert kept.vllm.partition("+")[0] == "0.33.0"
    assert list(kept.findings) == [one.id for one in IN_THE_ENGINE]
    assert all(len(lines) >= 2 for lines in kept.findings.values())


def test_the_page_shows_what_reproduces_a_finding_and_what_was_observed() -> None:
    text, kept = findings_page().text, read()
    for one in IN_THE_ENGINE:
        _, _, section = text.partition(f"### {one.id}. ")
        section = section.partition("\n#")[0]
        assert getsource(one.reproduction).rstrip() in section
        assert all(f"- {plain(line)}" in section for line in kept.findings[one.id])
        assert f"Observed in vLLM {kept.vllm}" in section


@pytest.mark.parametrize("one", OF_THE_POOL, ids=name)
def test_the_core_files_of_the_release_do_as_the_installed_one_did(one: Finding) -> None:
    try:
        lab: Any = vllm()
    except NotFetchedError as missing:
        pytest.skip(str(missing))
    assert list(one.reproduction(lab)) == read().findings[one.id]


@pytest.mark.parametrize("one", [one for one in OF_THE_POOL if one.id in ("A6", "A7")], ids=name)
def test_a_reproduction_fails_where_a_pool_does_otherwise(one: Finding) -> None:
    lab: Any = ours()
    with pytest.raises(NotReproducedError, match="not so: "):
        list(one.reproduction(lab))


# --- what is kept has to fit ---


def without(document: dict[str, Any]) -> None:
    del document["findings"]["A4"]


def with_another(document: dict[str, Any]) -> None:
    document["findings"]["A12"] = ["something"]


def with_nothing(document: dict[str, Any]) -> None:
    document["findings"]["A4"] = []


def of_another_format(document: dict[str, Any]) -> None:
    document["format"] = "blockpool-findings/0"


@pytest.mark.parametrize(
    ("defect", "complaint"),
    [
        (without, "does not fit the findings: A4;"),
        (with_another, "does not fit the findings: A12;"),
        (with_nothing, "does not fit the findings: A4;"),
        (of_another_format, "is not of format blockpool-findings/1;"),
    ],
)
def test_the_page_is_not_made_of_what_does_not_fit(
    defect: Callable[[dict[str, Any]], None], complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, file = json.loads(observed.FILE.read_text(encoding="utf-8")), tmp_path / "findings.json"
    defect(document)
    file.write_text(json.dumps(document), encoding="utf-8")
    monkeypatch.setattr(observed, "read", lambda: read(file))
    with pytest.raises(ObservedError, match=f"{complaint} run, where vLLM is installed: blockpool docs --findings"):
        findings_page()


def test_a_file_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(ObservedError, match="cannot be read"):
        read(tmp_path / "findings.json")


# --- the command, where the release is not installed ---


@pytest.mark.parametrize(
    ("installed", "complaint"),
    [(ModuleNotFoundError("No module named 'vllm'"), "need vLLM 0.33.0"), ("0.34.0", "this is 0.34.0")],
)
def test_the_command_refuses_without_the_release(
    installed: ImportError | str, complaint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def release() -> SimpleNamespace:
        if isinstance(installed, ImportError):
            raise installed
        return SimpleNamespace(version=installed)

    monkeypatch.setattr(engine_module, "installed_release", release)
    before, app = observed.FILE.read_bytes(), typer.Typer()
    app.command()(docs)
    result = CliRunner().invoke(app, ["--findings", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert complaint in " ".join(result.output.split())
    assert observed.FILE.read_bytes() == before
    assert not list(tmp_path.iterdir())


# --- the words of a reproduction ---


def test_a_sentence_is_said_only_if_it_is_so() -> None:
    assert so(True, "it rains") == "it rains"
    with pytest.raises(NotReproducedError, match="not so: it rains"):
        so(False, "it rains")


def test_events_are_told_by_the_tokens_of_their_prefixes() -> None:
    lab = ours()
    pool, request = lab.pool(2, events=True), lab.request(range(8))
    blocks = pool.get_new_blocks(2)
    lab.publish(pool, request, blocks)
    pool.evict_blocks({2})
    pool.free_blocks(blocks)
    pool.reset_prefix_cache()
    events = told(lab, pool, request, 4)
    assert [str(one) for one in events] == [
        "Stored(4 and 8; parent none; 8 tokens)",
        "Removed(8)",
        "AllBlocksCleared",
    ]


def test_events_of_another_group_are_left_out() -> None:
    lab = ours()
    pool, request = lab.pool(1, events=True), lab.request(range(4))
    lab.publish(pool, request, pool.get_new_blocks(1), group=1)
    assert told(lab, pool, request, 4, group=0) == []


def test_a_prefix_of_something_else_is_not_taken_for_one_of_the_request() -> None:
    lab = ours()
    pool = lab.pool(1, events=True)
    lab.publish(pool, lab.request(range(4)), pool.get_new_blocks(1))
    assert told(lab, pool, lab.request(range(4, 8)), 4) == [Told("Stored", (None,), None, 4)]


def test_an_error_counts_only_where_it_is_expected() -> None:
    def fails() -> None:
        raise IndexError

    assert error_in("fails", fails) == "IndexError in fails"
    assert error_in("fails", list) == "no error"
    with pytest.raises(IndexError):
        error_in("another", fails)
    with pytest.raises(ZeroDivisionError):
        error_in("fails", lambda: 1 // 0)
