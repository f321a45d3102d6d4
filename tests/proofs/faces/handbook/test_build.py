"""The whole book: built without a warning, without a dead link, and ended by whatever does not fit."""

import shutil
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from blockpool.proofs.explore.scopes import SCOPES
from blockpool.proofs.faces.cli.docs import docs
from blockpool.proofs.faces.handbook import book
from blockpool.proofs.faces.handbook.book import BuildError, build, checkout, run_doctests
from blockpool.proofs.faces.handbook.guides import AT_THE_TOP, NoSuchFileError, adopt
from blockpool.proofs.faces.handbook.links import dead_links

needs_sphinx = pytest.mark.skipif(
    find_spec("sphinx") is None or find_spec("furo") is None, reason="pip install '.[docs]' first"
)


@needs_sphinx
@pytest.mark.filterwarnings("ignore")  # those of Sphinx and its extensions are their own
def test_the_book_is_built_without_warning_or_dead_link(tmp_path: Path) -> None:
    one_block = replace(SCOPES["tiny"][0], blocks=1, expected=None)
    built = build(tmp_path / "out", explored=one_block)
    assert built.pages > 110
    assert built.links > 10_000
    assert built.doctests >= 5
    index = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert '<svg class="life"' in index
    assert 'href="explorer.html"' in index
    pages = [page for page in (tmp_path / "out").rglob("*.html") if page.name not in ("explorer.html", "glossary.html")]
    assert not [page.name for page in pages if "glossary.html" not in page.read_text("utf-8")]


@needs_sphinx
@pytest.mark.filterwarnings("ignore")
def test_a_link_to_a_claim_that_is_gone_ends_the_build(tmp_path: Path) -> None:
    sources = tmp_path / "docs"
    shutil.copytree(checkout() / "docs", sources, ignore=shutil.ignore_patterns("*.md"))
    (sources / "index.md").write_text("# One page\n\n[`gone`](#claim-gone)\n", encoding="utf-8")
    with pytest.raises(BuildError, match="claim-gone"):
        book._sphinx(sources, tmp_path / "out")


def test_every_example_in_the_guides_is_as_written() -> None:
    assert run_doctests(checkout() / "docs") >= 5


def test_an_example_that_is_not_as_written_ends_the_build(tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text("# Guide\n\n```python\n>>> 1 + 1\n3\n\n```\n", encoding="utf-8")
    with pytest.raises(BuildError, match="not as written"):
        run_doctests(tmp_path)


def test_a_guide_that_links_to_nothing_ends_the_build(tmp_path: Path) -> None:
    for name in AT_THE_TOP:
        (tmp_path / name).touch()
    (tmp_path / "pipe.md").write_text("[a subject](../tests/gone.c)", encoding="utf-8")
    with pytest.raises(NoSuchFileError, match=r"tests/gone\.c, which is not there"):
        adopt(tmp_path, tmp_path)


def test_links_between_guides_lead_there_in_the_book_too(tmp_path: Path) -> None:
    for name in AT_THE_TOP:
        (tmp_path / name).touch()
    (tmp_path / "index.md").write_text("[pipe](pipe.md#calls)", encoding="utf-8")
    (tmp_path / "pipe.md").write_text("[up](authors.md) [beside](traces.md)", encoding="utf-8")
    (tmp_path / "traces.md").touch()
    assert adopt(tmp_path, tmp_path) == ["pipe", "traces"]
    assert (tmp_path / "index.md").read_text(encoding="utf-8") == "[pipe](authors/pipe.md#calls)"
    assert (tmp_path / "authors" / "pipe.md").read_text(encoding="utf-8") == "[up](../authors.md) [beside](traces.md)"


def test_files_that_guides_link_to_are_in_the_book(tmp_path: Path) -> None:
    root, sources = tmp_path / "root", tmp_path / "sources"
    root.mkdir()
    sources.mkdir()
    for name in AT_THE_TOP:
        (sources / name).touch()
    (root / "ratios.svg").write_text("<svg/>", encoding="utf-8")
    (root / "results.md").write_text("# Results\n", encoding="utf-8")
    (root / "pool.c").write_text("int x;", encoding="utf-8")
    (sources / "speed.md").write_text("![](../ratios.svg) [all](../results.md)", encoding="utf-8")
    (sources / "pipe.md").write_text("[source](../pool.c)", encoding="utf-8")
    adopt(root, sources)
    assert (sources / "speed.md").read_text(encoding="utf-8") == "![](files/ratios-svg.svg) [all](files/results-md.md)"
    assert (sources / "authors" / "pipe.md").read_text(encoding="utf-8") == "[source](../files/pool-c.md)"
    assert (sources / "files" / "ratios-svg.svg").read_text(encoding="utf-8") == "<svg/>"
    assert (sources / "files" / "results-md.md").read_text(encoding="utf-8") == "---\norphan: true\n---\n\n# Results\n"
    assert "c\nint x;\n" in (sources / "files" / "pool-c.md").read_text(encoding="utf-8")


def test_dead_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<p id="here"><a href="b.html#there">1</a> <a href="b.html#gone">2</a> <a href="#here">3</a>'
        '<a href="c.html">4</a> <img src="d.png"> <a href="https://example.org/x">5</a> <a href="#">6</a>'
        '<a href="b.html#story=7">7</a></p>',
        encoding="utf-8",
    )
    (tmp_path / "b.html").write_text('<p id="there"></p>', encoding="utf-8")
    count, dead = dead_links(tmp_path)
    assert count == 7
    assert [one.target for one in dead] == ["b.html#gone", "c.html", "d.png"]


def test_the_command_says_what_does_not_fit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: object) -> None:
        raise BuildError("a dead link")

    monkeypatch.setattr(book, "build", refuse)
    app = typer.Typer()
    app.command()(docs)
    result = CliRunner().invoke(app, ["--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "error: a dead link" in result.output
