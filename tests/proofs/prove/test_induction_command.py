"""`blockpool prove` at the command line: what is chosen, and what wrong usage answers."""

import json

import pytest
import typer
from typer.testing import CliRunner

from blockpool.proofs.core.figures import BUDGETS
from blockpool.proofs.faces.cli.prove import prove
from blockpool.proofs.prove.jobs import pool_jobs, queue_jobs, quick_jobs
from blockpool.proofs.prove.pool.induction import PROVED
from blockpool.proofs.prove.pool.sensitivity import DEFECTIVE
from blockpool.proofs.prove.pool.vacuity import CHECKS, UNBOUNDED


@pytest.fixture
def run():
    app = typer.Typer()
    app.command()(prove)
    return lambda *arguments: CliRunner().invoke(app, [*map(str, arguments)])


def test_what_is_named_is_proved(run, tmp_path):
    file = tmp_path / "verdicts.json"
    result = run("queued_blocks_are_unheld", "a_new_pool_is_possible", "--seeds", 1, "--workers", 1, "--json", file)
    assert result.exit_code == 0, result.output
    obligations = json.loads(file.read_text())["obligations"]
    names = [one["name"] for one in obligations]
    assert names == ["queued_blocks_are_unheld", "a_new_pool_is_possible", BUDGETS]
    assert obligations[0]["scope"] == "any size"
    assert obligations[0]["figures"]["conditions"] == 16


def test_a_name_that_is_not_known_is_wrong_usage(run):
    result = run("queued_blocks_are_unhelt")
    assert result.exit_code == 2
    assert "queued_blocks_are_unheld" in result.output


@pytest.mark.parametrize("source", ["no.such.module:Queue", "blockpool.impl.free_queue:NoSuchQueue"])
def test_a_source_that_is_not_there_is_bad_input(run, source):
    assert run("--source", source).exit_code == 2


def test_everything_is_proved_if_nothing_is_named():
    assert {*PROVED, *CHECKS, UNBOUNDED} <= pool_jobs().keys()
    assert len(pool_jobs()) == len(PROVED) + len(CHECKS) + 1 + len(DEFECTIVE)
    assert {"FreeKVCacheBlockQueue.remove", "FreeKVCacheBlockQueue.append_n"} <= queue_jobs().keys()
    assert len(quick_jobs()) == len(PROVED) + len(CHECKS) + 1 + 2 + 3
