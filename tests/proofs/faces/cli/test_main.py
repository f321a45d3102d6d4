"""The command: exit codes, what it says, the files it writes, and Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from blockpool.impl import BlockPool
from blockpool.proofs.explore.machines import PoolMachine
from blockpool.proofs.explore.scopes import SCOPES
from blockpool.proofs.faces.cli.main import app
from blockpool.spec import ACTIONS, INVARIANTS, Reason

COMMANDS = ["check", "explore", "refine", "detect", "explain", "replay"]
QUICK = ["--scope", "tiny", "--blocks", "1", "--workers", "1"]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "BLOCKPOOL_CONTRACTS"}


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(app, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


# --- help and wrong usage ---


@pytest.mark.parametrize("command", COMMANDS)
def test_help(command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "Usage:" in result.output


def test_help_of_the_whole_names_every_command_and_the_exit_codes() -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert all(command in result.output for command in COMMANDS)
    for code in ("0 all holds", "1 refuted", "2 wrong usage", "3 inconclusive", "4 vacuous", "130 interrupted"):
        assert code in " ".join(result.output.split())


def test_no_arguments_is_no_success() -> None:
    assert run().exit_code == 2


WRONG: list[tuple[tuple[str, ...], str]] = [
    (("explore", "--scope", "smal"), "Nearest: small"),
    (("check", "--scope", "tny"), "Nearest: tiny"),
    (("refine", "--scope", "qqqq"), "Known: tiny, small, large"),
    (("detect", "popped blocks keep a lnk"), "Nearest: popped blocks keep a link"),
    (("explain", "tuch"), "Nearest: touch"),
    (("explain", "queued_blocks_are_held"), "queued_blocks_are_unheld"),
    (("explore", "--blocks", "30", "--batch", "6"), "different calls from every state"),
    (("refine", "--blocks", "30", "--batch", "6"), "Make --blocks or --batch smaller"),
    (("explore", "--blocks", "0"), "at least 1"),
    (("explore", "--blocks", "-1"), "at least 1"),
    (("explore", "--batch", "0"), "at least 1"),
    (("explore", "--refs", "0"), "at least 1"),
    (("explore", "--refs", "-3"), "at least 1"),
    (("explore", "--watchers", "-1"), "at least 0"),
    (("explore", "--workers", "0"), "--workers"),
    (("explore", "--memory", "-1"), "--memory"),
    (("refine", "--runs", "0"), "--runs"),
    (("refine", "--calls", "0"), "--calls"),
    (("replay", "--blocks", "0"), "must be at least 1, not 0 and 64"),
    (("replay", "--concurrency", "0"), "must be at least 1, not 2000 and 0"),
    (("replay", "--blocks", "-5"), "must be at least 1"),
    (("replay", "--block-size", "7"), "7"),
    (("replay", "--block-size", "0"), "0"),
    (("replay", "--limit", "0"), "--limit"),
    (("replay", "--requests", "0"), "--requests"),
    (("replay", "no/such/file.jsonl"), "no/such/file.jsonl"),
    (("explore", "--nonsense"), "No such option"),
    (("nonsense",), "No such command"),
    (("explore", "--machine", "requests", "--scope", "nonsense"), "there is no scope 'nonsense' of requests"),
    (("explore", "--machine", "requests", "--break", "nonsense"), "there is no rule 'nonsense'"),
    (("explore", "--machine", "nonsense"), "--machine"),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG, ids=[" ".join(case[0]) for case in WRONG])
def test_wrong_usage(arguments: tuple[str, ...], words: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    said = " ".join(result.output.replace("│", " ").split())
    assert words in said
    assert "Traceback" not in said


# --- explore ---


def test_exploring_one_block_is_vacuous() -> None:
    """One block has no order, no copy and no second choice, and is below the least adequate scope: 4, and why."""
    result = run("explore", *QUICK)
    assert result.exit_code == 4
    vacuous = {line.split()[1] for line in result.output.splitlines() if line.startswith("vacuous")}
    assert vacuous == {
        "survivors_keep_their_order",
        "blocks_join_the_queue_only_at_its_ends",
        "keys_move_to_a_copy",
        "two_blocks_are_under_one_key",
        "a_lookup_has_a_choice",
        "a_stored_event_names_its_parent",
        "the_scope_is_wide_enough",
    }
    assert "under-covered: tiny is the least at which every seeded defect is caught" in result.output
    assert "tiny: blocks 1 is below 2" in result.output
    assert "refuted" not in result.output
    assert "no step of this scope shows it" in result.output


def test_a_document_has_every_verdict(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.json"
    result = run("explore", *QUICK, "--json", str(path))
    assert result.exit_code == 4
    document = json.loads(path.read_text(encoding="utf-8"))
    assert set(document) == {
        "format",
        "command",
        "note",
        "interrupted",
        "versions",
        "platform",
        "seconds",
        "exit_code",
        "obligations",
    }
    assert document["format"] == "blockpool-verdicts/1"
    assert document["exit_code"] == 4
    assert set(document["versions"]) >= {
        "blockpool",
        "hypothesis",
        "icontract",
        "python",
        "z3-solver",
        "crosshair-tool",
    }
    printed = [line.split()[1] for line in result.output.splitlines() if line.startswith(("holds", "vacuous"))]
    assert [obligation["name"] for obligation in document["obligations"]] == printed
    for obligation in document["obligations"]:
        assert {"name", "method", "scope", "verdict", "figures", "seconds"} <= set(obligation)
        assert obligation["verdict"] in ("holds", "vacuous")
        assert ("words" in obligation) or obligation["verdict"] == "holds"


def wrong_claim(patch: pytest.MonkeyPatch) -> None:
    wrong = [replace(claim, judge=lambda pool: 2 not in pool.refs.values()) for claim in INVARIANTS[:1]]
    patch.setattr(PoolMachine, "invariants", wrong)


def test_a_refuted_claim_is_told_and_saved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wrong_claim(monkeypatch)
    path = tmp_path / "out.json"
    result = run("explore", *QUICK, "--save", str(tmp_path / "found"), "--json", str(path))
    assert result.exit_code == 1
    name = INVARIANTS[0].name
    assert f"refuted      {name}" in result.output
    assert f"{name} is broken after 1 calls" in result.output
    [written] = (tmp_path / "found").iterdir()
    assert written.name == f"test_{name}_explore.py"
    assert f"wrote {written}" in result.output
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["exit_code"] == 1
    assert document["obligations"][0]["counterexample"]["pytest"] == written.read_text(encoding="utf-8")


def test_a_saved_test_can_be_run_by_pytest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(BlockPool, "touch", lambda self, blocks: None)
        patch.setattr(
            "blockpool.proofs.core.jobs.run_jobs", lambda work, workers: iter([])
        )  # they would run without the defect
        result = run("refine", *QUICK, "--save", str(tmp_path))
    assert result.exit_code == 1
    [written] = tmp_path.glob("test_*.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(written)]
    ran = subprocess.run(
        command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 0, ran.stdout  # the defect was only in this process
    assert "1 passed" in ran.stdout
    planted = tmp_path / "conftest.py"
    planted.write_text(
        "from blockpool.impl import BlockPool\nBlockPool.touch = lambda self, blocks: None\n", encoding="utf-8"
    )
    ran = subprocess.run(
        command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 1
    assert "MismatchError" in ran.stdout


def test_too_little_memory_is_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blockpool.proofs.explore.search.memory_left", lambda: 0.1)
    result = run("explore", *QUICK)
    assert result.exit_code == 3
    assert "only 0.1 GiB of memory left" in result.output


# --- refine and detect ---


def test_refine() -> None:
    result = run("refine", *QUICK, "--runs", "2", "--calls", "5", "--workers", "1")
    assert result.exit_code == 4, result.output  # two runs of five calls cannot show everything that is possible
    assert "these runs never showed" in result.output
    vacuous = {line.split()[1] for line in result.output.splitlines() if line.startswith("vacuous")}
    assert vacuous == {
        "impl_does_what_the_spec_allows",
        "every_claim_holds_in_long_runs",
        "the_scope_is_wide_enough",
    }
    assert "tiny: blocks 1 is below 2" in result.output
    assert "2 runs are below" in result.output
    held = [line.split()[1] for line in result.output.splitlines() if line.startswith("holds")]
    assert "impl_does_what_the_spec_allows" in held  # on every call of the scope
    assert "a_new_pool_is_in_the_first_state" in held
    assert "digests_are_equal_exactly_when_prefixes_are" in held


def test_detect(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(
        "blockpool.proofs.suite.checks.silent", list
    )  # that no gate fires without a defect takes too long for a test
    path = tmp_path / "out.json"
    name = "spec: a refused call turns the queue"
    result = run("detect", name, "--workers", "1", "--json", str(path))
    assert result.exit_code == 0
    assert f"catches: {name}" in result.output
    [obligation] = json.loads(path.read_text(encoding="utf-8"))["obligations"]
    assert obligation["figures"] == {"gate": "explore", "claim": "a_refused_call_changes_nothing", "calls": 1}


# --- explain ---


def test_explaining_a_claim() -> None:
    result = run("explain", "queued_blocks_are_unheld")
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "queued_blocks_are_unheld (invariant)",
        "",
        "A block in the free queue has no reference.",
        "",
        "Why it matters: The next allocation would overwrite what a running request reads.",
    ]
    assert "(step property)" in run("explain", "a_query_changes_nothing").output


def test_explaining_a_possibility_shows_a_trace() -> None:
    result = run("explain", "everything_is_free_again")
    assert result.exit_code == 0
    assert "(possibility)" in result.output
    assert "A shortest trace that shows it, in scope tiny:" in result.output
    assert "  2. free_blocks([1])" in result.output
    assert "  3. " not in result.output


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.name)
def test_explaining_an_action(action: Any) -> None:
    result = run("explain", action.name)
    assert result.exit_code == 0
    assert "Refused, changing nothing:" in result.output
    assert all(f"  - {reason}" in result.output for reason in action.reasons)
    assert ("(never)" in result.output) is (not action.reasons)


@pytest.mark.parametrize("reason", Reason)
def test_explaining_a_reason(reason: Reason) -> None:
    result = run("explain", reason)
    assert result.exit_code == 0
    assert "A refused call changes nothing." in result.output
    assert all((action.name in result.output) is (reason in action.reasons) for action in ACTIONS[-1:])


def test_explaining_another_obligation() -> None:
    result = run("explain", "every_action_is_defined")
    assert result.exit_code == 0
    assert "Guard, answers and effect" in result.output


def test_explaining_nothing_in_particular_lists_all() -> None:
    result = run("explain")
    assert result.exit_code == 0
    assert all(action.name in result.output for action in ACTIONS)
    assert all(claim.name in result.output for claim in INVARIANTS)


@pytest.mark.parametrize(
    "name",
    [
        "a_new_pool_is_in_the_first_state",
        "digests_are_equal_exactly_when_prefixes_are",
        "the_scope_is_wide_enough",
        "every_claim_kills_a_defect_alone",
    ],
)
def test_every_obligation_that_is_printed_can_be_explained(name: str) -> None:
    assert run("explain", name).exit_code == 0


# --- replay ---

GOOD_LINE = '{"timestamp": 0, "input_length": 1024, "output_length": 10, "hash_ids": [1, 2]}'


def test_a_synthetic_replay(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    result = run("replay", "--requests", "20", "--blocks", "100", "--json", str(path))
    assert result.exit_code == 0
    assert "requests                  20, finished 20" in result.output
    [obligation] = json.loads(path.read_text(encoding="utf-8"))["obligations"]
    assert (obligation["method"], obligation["verdict"]) == ("replay", "holds")
    assert obligation["figures"]["requests"] == 20


def test_a_replay_of_a_file_alone(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_text(f"{GOOD_LINE}\n{GOOD_LINE}\n", encoding="utf-8")
    result = run("replay", str(trace), "--no-lockstep")
    assert result.exit_code == 0
    assert "none: the pool ran alone" in result.output
    assert "a_served_workload_leaks_nothing" in result.output


@pytest.mark.parametrize("line", ["not json", '{"timestamp": 0}', "[]", "{}"])
def test_a_malformed_line_is_named(tmp_path: Path, line: str) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_text(f"{GOOD_LINE}\n{line}\n", encoding="utf-8")
    result = run("replay", str(trace))
    assert result.exit_code == 2
    assert result.output.startswith("error: ")
    assert "2" in result.output.replace(str(tmp_path), "")
    assert "Traceback" not in result.output


def test_requests_too_large_for_the_pool_are_vacuous(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_text(f"{GOOD_LINE}\n", encoding="utf-8")
    result = run("replay", str(trace), "--blocks", "1")
    assert result.exit_code == 4
    assert "give it more --blocks" in result.output


def test_a_mismatch_in_a_replay_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BlockPool, "get_num_free_blocks", lambda self: 7)
    monkeypatch.setattr(BlockPool, "touch", lambda self, blocks: None)
    result = run("replay", "--requests", "20", "--blocks", "200")
    assert result.exit_code == 1
    assert "call " in result.output


@pytest.mark.parametrize("arguments", [("explore", *QUICK), ("replay", "--requests", "2")], ids=["explore", "replay"])
def test_a_file_that_cannot_be_written_is_wrong_usage(arguments: tuple[str, ...], tmp_path: Path) -> None:
    result = CliRunner().invoke(app, [*arguments, "--json", str(tmp_path / "no" / "folder" / "out.json")])
    assert result.exit_code == 2


# --- Ctrl-C ---


# A test runner in the background may ignore SIGINT, and its children inherit that.
COMMAND = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from blockpool.proofs.faces.cli.main import main
main()
"""


def interrupted(*arguments: str, after: float = 3.0) -> tuple[int, str, str, float]:
    """Run the command and send Ctrl-C as a terminal does, to all its processes; code, output, and how long it took."""
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        start_new_session=True,
    )
    time.sleep(after)
    assert process.poll() is None, "it ended before it could be interrupted"
    sent = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    try:
        out, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return process.returncode, out, err, time.monotonic() - sent


@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_interrupted_search_says_what_it_has(workers: str) -> None:
    code, out, err, seconds = interrupted("explore", "--scope", "small", "--workers", workers)
    assert code == 130
    assert "interrupted; what is above was decided before" in err
    assert "Traceback" not in err
    lines = out.splitlines()
    assert any(line.startswith("inconclusive") and line.split()[1] == "queued_blocks_are_unheld" for line in lines)
    assert any(line.startswith("holds") and line.split()[1] == "every_block_is_lent" for line in lines)
    assert any("obligations: " in line for line in lines)
    assert seconds < 20


def test_an_interrupted_refinement_ends() -> None:
    code, _, err, _ = interrupted("refine", "--scope", "small", "--workers", "1", "--runs", "5", "--calls", "5")
    assert "Traceback" not in err
    assert code == 130


def test_an_interrupted_detection_ends() -> None:
    code, _, err, seconds = interrupted("detect", "--workers", "2")
    assert "Traceback" not in err
    assert code == 130
    assert seconds < 20


def test_the_scopes_named_in_help_exist() -> None:
    said = " ".join(run("explore", "--help").output.replace("│", " ").split())
    assert f"{', '.join(SCOPES)}" in said
