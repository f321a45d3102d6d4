"""The report of a run, and the commands that write pages and tell stories."""

import json
from pathlib import Path

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

from blockpool.proofs.core.counterexample import Call, Counterexample
from blockpool.proofs.core.obligation import Obligation, Verdict, exit_code
from blockpool.proofs.core.strict_json import FormatError
from blockpool.proofs.faces.cli.check import check
from blockpool.proofs.faces.cli.console import as_document
from blockpool.proofs.faces.cli.explore import explore
from blockpool.proofs.faces.cli.report import report
from blockpool.proofs.faces.cli.story import story
from blockpool.proofs.faces.handbook.report import read_run, report_page
from blockpool.spec import FreeBlocks, GetNewBlocks, first_state

app = typer.Typer()
for command in (check, explore, report, story):
    app.command()(command)

BROKEN = Counterexample(
    "counts_are_never_negative",
    "No block has fewer than zero references.",
    first_state(3),
    (Call(GetNewBlocks(1)), Call(FreeBlocks((1,)))),
    "<the count> is -1",
)
OBLIGATIONS = [
    Obligation("queued_blocks_are_unheld", "explore", "tiny", Verdict.HOLDS, {"judged": 1234567}, 1.5),
    Obligation(BROKEN.claim, "refine", "tiny", Verdict.REFUTED, {}, 0.5, BROKEN.words, BROKEN),
    Obligation("a_lookup_has_a_choice", "explore", "tiny", Verdict.VACUOUS, {}, 0.5, "no step shows it"),
    Obligation("every_action_and_refusal_is_met", "explore", "tiny", Verdict.INCONCLUSIVE, {"met": 64, "of": 65}),
]
RUN = as_document(["blockpool", "check", "--seed", "7"], OBLIGATIONS, 3.25, exit_code(OBLIGATIONS)) | {
    "note": "scope tiny, seed 7"
}


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(app, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_the_report_says_everything_about_the_run() -> None:
    page = report_page(json.loads(json.dumps(RUN)))
    assert "<title>blockpool: 1 hold, 1 refuted, 1 inconclusive, 1 vacuous</title>" in page
    assert "4 obligations, exit code 1, 3.2 s" in page
    assert "judged 1,234,567" in page
    assert "met 64, of 65" in page
    assert "no step shows it" in page
    assert "blockpool check --seed 7" in page
    assert "scope tiny, seed 7; platform" in page
    assert f"<td>{RUN['versions']['python']}</td>" in page
    assert "A block in the free queue has no reference." in page
    assert "1. get_new_blocks(1)\n       answers blocks=[1]" in page
    assert "def test_counts_are_never_negative" in page


def test_text_from_a_run_is_never_html() -> None:
    page = report_page(RUN)
    assert "&lt;the count&gt; is -1" in page
    assert "<the count>" not in page


def test_a_run_in_which_all_holds_says_so() -> None:
    page = report_page(as_document(["blockpool"], OBLIGATIONS[:1], 1.0, 0))
    assert "Everything holds." in page
    assert "What does not hold" not in page


def test_an_empty_run_is_no_success() -> None:
    page = report_page(as_document(["blockpool"], [], 1.0, 4))
    assert "Everything holds." not in page
    assert "exit code 4" in page


@pytest.mark.parametrize("text", ["[]", "{}", "no json", '{"format": "blockpool-verdicts/2"}'])
def test_only_runs_are_read(tmp_path: Path, text: str) -> None:
    file = tmp_path / "run.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError):
        read_run(file)


# --- commands ---


def test_exploring_writes_a_run_a_page_and_a_report(tmp_path: Path) -> None:
    """A rule is broken: the run has a counterexample, which the page, the story and the report tell."""
    page, file, told, written = (tmp_path / name for name in ("page.html", "run.json", "told.html", "report.html"))
    breaking = ["--machine", "requests", "--scope", "sized", "--break", "count_what_hits_take", "--workers", "1"]
    result = run("explore", *breaking, "--json", str(file), "--html", str(page))
    assert result.exit_code == 1
    assert f"wrote {page}" in result.output
    assert "a_checked_call_is_not_refused is broken" in page.read_text(encoding="utf-8")
    result = run("story", str(file), "--html", str(told))
    assert result.exit_code == 0
    assert "a_checked_call_is_not_refused is broken" in result.output
    assert "the pool refused get_new_blocks: not enough free blocks" in told.read_text(encoding="utf-8")
    result = run("report", str(file), "--html", str(written))
    assert result.exit_code == 0
    assert "machine requests, scope sized" in written.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["story", "no/such/file"], "No such file"),
        (["report", "no/such/file", "--html", "x.html"], "No such file"),
        (["story", "{run}"], "no counterexample in it"),
        (["story", "{trace}"], "neither a trace"),
        (["story", "{run}", "--html", "no/such/folder/x.html"], "there is no folder"),
        (["report", "{trace}", "--html", "x.html"], "format"),
        (["explore", "--html", "no/such/folder/x.html"], "there is no folder"),
        (["check", "--html", "no/such/folder/x.html"], "there is no folder"),
        (["explore", "--serve", "--port", "70000"], "--port"),
    ],
)
def test_wrong_usage(tmp_path: Path, arguments: list[str], words: str) -> None:
    files = {"run": tmp_path / "run.json", "trace": tmp_path / "other.json"}
    files["run"].write_text(json.dumps(as_document(["blockpool"], OBLIGATIONS[:1], 1.0, 0)), encoding="utf-8")
    files["trace"].write_text("{}", encoding="utf-8")
    result = run(*(argument.format(**files) for argument in arguments))
    assert result.exit_code == 2
    assert words in " ".join(result.output.replace("│", " ").split())
