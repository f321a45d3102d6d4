"""How a run ends that does not come to its end: nothing of it may read as success, and nothing as a refutation."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from blockpool.proofs.core.obligation import Obligation, Verdict
from blockpool.proofs.faces.cli import main as command
from blockpool.proofs.faces.cli.session import Session, interruptible, run_jobs
from blockpool.proofs.faces.handbook.report import report_page

HELD = Obligation("a claim", "explore", "tiny", Verdict.HOLDS)


def held() -> list[Obligation]:
    return [HELD]


def run_two(session: Session, error: BaseException | None) -> None:
    with interruptible(session):
        session.decide([HELD])
        session.done("the job one")
        if error is not None:
            raise error
        session.done("the job two")
    session.end()


def ended(tmp_path: Path, error: BaseException | None) -> tuple[int, dict[str, object], dict[str, object]]:
    """The exit code of a run in which this happens after one of two jobs, and its two files."""
    session = Session("a note", tmp_path / "run.json", sarif_file=tmp_path / "run.sarif")
    session.expect(["the job one", "the job two"])
    with pytest.raises(typer.Exit) as ending:
        run_two(session, error)
    files = [json.loads((tmp_path / name).read_text()) for name in ("run.json", "run.sarif")]
    return ending.value.exit_code, files[0], files[1]


def test_a_whole_run_holds(tmp_path: Path) -> None:
    code, run, log = ended(tmp_path, None)
    assert (code, run["exit_code"], run["interrupted"]) == (0, 0, False)
    assert log["runs"][0]["results"] == []  # type: ignore[index]
    assert "Everything holds." in report_page(run)


@pytest.mark.parametrize(
    ("error", "code", "interrupted"),
    [(KeyboardInterrupt(), 130, True), (RuntimeError("a worker died"), 3, False), (MemoryError(), 3, False)],
    ids=["interrupted", "a worker dies", "out of memory"],
)
def test_what_was_not_decided_is_inconclusive_in_every_document(
    error: BaseException, code: int, interrupted: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    ending, run, log = ended(tmp_path, error)
    assert (ending, run["exit_code"], run["interrupted"]) == (code, code, interrupted)
    verdicts = {one["name"]: one["verdict"] for one in run["obligations"]}  # type: ignore[attr-defined]
    assert verdicts == {"a claim": "holds", "the job two is decided": "inconclusive"}
    assert [one["ruleId"] for one in log["runs"][0]["results"]] == ["the job two is decided"]  # type: ignore[index]
    page = report_page(run)
    assert "Everything holds." not in page
    assert ("The run was interrupted." in page) is interrupted
    assert "2 obligations: 1 hold, 1 inconclusive" in capfd.readouterr().out


@pytest.mark.parametrize(
    "more", [{"exit_code": 0, "interrupted": True}, {"exit_code": 0, "obligations": []}], ids=["interrupted", "empty"]
)
def test_a_page_does_not_believe_an_exit_code_alone(more: dict[str, object], tmp_path: Path) -> None:
    _, run, _ = ended(tmp_path, None)
    assert "Everything holds." not in report_page({**run, **more})


def test_a_job_whose_process_dies_has_decided_nothing(tmp_path: Path) -> None:
    session = Session("a note", tmp_path / "run.json")
    run_jobs(session, [held, die], 1, lambda line: None)  # type: ignore[arg-type]
    with pytest.raises(typer.Exit) as ending:
        session.end()
    assert ending.value.exit_code == 3
    run = json.loads((tmp_path / "run.json").read_text())
    assert [one["verdict"] for one in run["obligations"]] == ["holds", "inconclusive"]


def die() -> list[Obligation]:
    os.kill(os.getpid(), signal.SIGKILL)
    return []


def test_a_search_whose_worker_dies_is_inconclusive(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\n"
        "from blockpool.proofs.explore import search\n"
        "def die(*_): os.kill(os.getpid(), signal.SIGKILL)\n"
        "search._expand_on = die\n"
        "sys.argv = ['blockpool', 'explore', '--scope', 'tiny', '--workers', '2', '--json', 'run.json']\n"
        "from blockpool.proofs.core import workers\n"
        "from multiprocessing import get_context\n"
        "workers.start_context = lambda: get_context('fork')\n"
        "from blockpool.proofs.faces.cli.main import main\n"
        "main()\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 3, ran.stdout[-500:] + ran.stderr[-500:]
    run = json.loads((tmp_path / "run.json").read_text())
    assert run["exit_code"] == 3
    assert [one["name"] for one in run["obligations"]] == ["the search of scope tiny is decided"]


def test_a_failure_of_the_tool_is_not_the_exit_code_of_a_refutation(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fails() -> None:
        raise ValueError("ours")

    monkeypatch.setattr(command, "app", fails)
    with pytest.raises(SystemExit) as ending:
        command.main()
    assert ending.value.code == 70
    assert "says nothing about the pool" in capfd.readouterr().err
