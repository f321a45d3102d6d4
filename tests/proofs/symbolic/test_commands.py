"""`blockpool symbolic` and `blockpool doctor`: exit codes, what they print, and what they do not swallow."""

import json
import subprocess
from pathlib import Path

import pytest
import typer
import z3
from typer.testing import CliRunner

from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.faces.cli import installation as doctor
from blockpool.proofs.faces.cli.doctor import doctor as doctor_command
from blockpool.proofs.faces.cli.symbolic import symbolic
from blockpool.proofs.symbolic import contracts_off, jobs
from blockpool.proofs.symbolic.jobs import CANARY_NAMES, asked, quick_names

app = typer.Typer()
app.command("symbolic")(symbolic)
app.command("doctor")(doctor_command)


def test_some_goals_with_the_canaries(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.json"
    done = CliRunner().invoke(app, ["symbolic", "queue_popleft", "tokens_in_the_text", "--json", str(file)])
    assert done.exit_code == 0, done.output
    decided = json.loads(file.read_text())["obligations"]
    assert [one["name"] for one in decided] == [*CANARY_NAMES, "queue_popleft", "tokens_in_the_text"]
    assert {one["verdict"] for one in decided} == {"holds"}
    assert {one["name"]: one["figures"]["paths"] for one in decided}["queue_popleft"] >= 4


def test_too_few_seconds_are_inconclusive() -> None:
    done = CliRunner().invoke(app, ["symbolic", "evict_blocks", "--seconds", "1"])
    assert done.exit_code == 3, done.output
    assert "Not confirmed." in done.output


def test_an_unknown_goal_is_wrong_usage() -> None:
    done = CliRunner().invoke(app, ["symbolic", "queue_poplefd"])
    assert done.exit_code == 2
    assert "queue_popleft" in done.output


def test_a_goal_that_a_quick_run_leaves_out_is_wrong_usage() -> None:
    assert "touch_one" not in quick_names()
    assert CliRunner().invoke(app, ["symbolic", "touch_one", "--quick"]).exit_code == 2


def answering(output: str, errors: str = "", code: int = 0) -> object:
    return lambda *arguments, **options: subprocess.CompletedProcess([], code, output, errors)


def test_a_process_that_dies_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    line = {"name": "touch", "scope": "4 shapes", "verdict": "holds", "paths": 9, "cpu": 0.1, "words": ""}
    monkeypatch.setattr(jobs, "run_module", answering(json.dumps(line) + "\n", "Killed", 1))
    decided = asked(("touch", "touch_one"), False, 5.0)
    assert [(one.name, one.verdict) for one in decided] == [
        ("touch", Verdict.HOLDS),
        ("touch_one", Verdict.INCONCLUSIVE),
    ]
    assert decided[1].words == "Killed"


def test_the_doctor_finds_this_installation_well(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.json"
    done = CliRunner().invoke(app, ["doctor", "--json", str(file)])
    assert done.exit_code == 0, done.output
    decided = {one["name"] for one in json.loads(file.read_text())["obligations"]}
    assert decided == set(doctor.SENTENCES)


@pytest.mark.parametrize(
    ("name", "version", "words"),
    [
        ("z3-solver", "4.8.1", "z3-solver 4.8.1 was not tested, 5.4 up to 6 was"),
        ("crosshair-tool", "0.1", "crosshair-tool 0.1 was not tested"),
        ("hypothesis", "", "hypothesis is not installed"),
    ],
)
def test_a_version_that_was_not_tested_is_named(name: str, version: str, words: str) -> None:
    found = {"python": "3.12.1", "crosshair-tool": "0.0.113", "hypothesis": "6.170", "icontract": "2.7.3"}
    obligation = doctor.versions(found | {"z3-solver": "5.4.1.0"} | {name: version})
    assert obligation.verdict is Verdict.VACUOUS
    assert words in obligation.words
    assert doctor.versions(found | {"z3-solver": "5.4.1.0", "mypy": ""}).verdict is Verdict.HOLDS


def test_a_pre_release_is_compared_by_its_numbers() -> None:
    assert doctor.numbers("3.15.0rc1") == (3, 15)
    assert doctor.numbers("5.4.1.0") == (5, 4, 1, 0)


def test_a_machine_without_memory_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "memory_left", lambda: 0.5)
    assert doctor.machine().verdict is Verdict.VACUOUS


def test_a_solver_that_gives_up_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(z3.Solver, "check", lambda solver: z3.unknown)
    assert doctor.ask_z3() == "it finds no square root of 16; it does not refute that all are held and one is not"


def test_contracts_that_are_switched_off_are_noticed() -> None:
    with contracts_off():
        assert doctor.ask_icontract() == "a broken precondition is not noticed"
    assert doctor.ask_icontract() == ""


def test_levels_that_switch_nothing_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "run_module", answering("20\n"))
    assert "20, 20 and 20 methods have contracts" in doctor.ask_levels()
    monkeypatch.setattr(doctor, "run_module", answering("", "no impl", 1))
    assert doctor.ask_levels() == "off: no impl"


def test_a_tool_that_misses_its_plant_makes_the_doctor_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "CANARIES", {"canary: z3": lambda: "it finds nothing"})
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 4
    assert "it finds nothing" in done.output
