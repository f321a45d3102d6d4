"""Figures: medians and spreads of ratios, tables, and what the command writes. No test is about how long it took."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from blockpool.impl import BlockPool
from blockpool.proofs.bench.checker import checker_rates
from blockpool.proofs.bench.contenders import contender
from blockpool.proofs.bench.report import Measurements, lines, markdown
from blockpool.proofs.bench.scale import measure_scale
from blockpool.proofs.bench.stream import Stream
from blockpool.proofs.bench.timing import Measured, measure
from blockpool.proofs.faces.cli.main import app


def silent(line: str) -> None:
    """No progress."""


class Wrong(BlockPool):
    """Hands out its blocks in reverse."""

    def get_new_blocks(self, num_blocks: int) -> list[object]:  # type: ignore[override]
        return super().get_new_blocks(num_blocks)[::-1]  # type: ignore[return-value]


def test_median_and_spread_leave_out_a_tenth_at_each_end() -> None:
    measured = Measured("w", 1, 1, tuple(float(n) for n in (9, 1, 2, 3, 4, 5, 6, 7, 8, 100)), (1.0, 1.0))
    assert measured.ratio == 5.5
    assert measured.spread == (2.0, 9.0)
    assert Measured("w", 1, 1, (3.0, 1.0, 2.0), (1.0, 1.0)).spread == (1.0, 3.0)


def test_one_sample_a_run_or_a_part() -> None:
    from blockpool.proofs.bench.micro import record_micro, unkeyed

    ours = contender("blockpool")
    for by_part, samples in ((True, 2 * 3), (False, 2)):
        stream = Stream("unkeyed", 1000, 16, by_part=by_part)
        record_micro(stream, ours.make(1000, 16, False), unkeyed(500), 3)
        measured = measure(stream, ours, ours, 2, silent)
        assert len(measured.ratios) == samples
        assert all(ratio > 0 for ratio in measured.ratios)
        assert measured.calls == 3 * 4 * 2
        assert measured.block_operations == 3 * 4 * 2 * 500


def test_large_pools_are_weighed() -> None:
    ours = contender("blockpool")
    found = measure_scale(ours, ours, 3000, 2, silent)
    assert set(found.ratios) == {"construction", "reset, all published", "reset, 100 published"}
    assert all(len(ratios) == 2 for ratios in found.ratios.values())
    assert found.empty_bytes[0] == pytest.approx(found.empty_bytes[1], rel=0.02)
    assert 100 < found.empty_bytes[0] < 200
    assert 20 < found.cached_bytes[0] < 150


def test_tables_have_a_row_for_each_workload() -> None:
    found = Measurements("slow", "fast", [Measured("serving", 7, 1234, (2.0, 4.0, 3.0), (90.0, 30.0))])
    found.instructions["serving"] = (500, 200)
    *_, row = lines(found)
    assert row.split() == ["serving", "1,234", "3.00", "2.00-4.00", "2.50", "90", "/", "30", "ns"]
    page = markdown(found, "blockpool bench", {"python": "3.x"})
    assert page.startswith("# slow / fast\n")
    assert "| serving | 1,234 | 3.00 | 2.00-4.00 | 2.50 | 90 / 30 ns |" in page


def invoke(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["bench", *arguments])
    return result.exit_code, result.output


QUICK = ("--quick", "--runs", "1", "--only", "500 a call")


def test_the_command_compares_measures_and_writes(tmp_path: Path) -> None:
    json_file, page = tmp_path / "bench.json", tmp_path / "bench.md"
    code, printed = invoke("--a", "blockpool", *QUICK, "--json", str(json_file), "--markdown", str(page))
    assert code == 0, printed
    document = json.loads(json_file.read_text())
    assert document["pools"] == ["blockpool", "blockpool"]
    assert len(document["workloads"]) == 4
    assert all(each["verdict"] == "holds" for each in document["obligations"])
    assert page.read_text().count("500 a call") >= 4
    assert "publish, 500 a call" in printed


def test_a_pool_with_other_results_is_refuted_and_not_timed(tmp_path: Path) -> None:
    json_file = tmp_path / "bench.json"
    wrong = f"{Wrong.__module__}:Wrong"
    code, printed = invoke("--a", "blockpool", "--b", wrong, *QUICK, "--json", str(json_file))
    assert code == 1, printed
    assert "answer differs" in printed
    document = json.loads(json_file.read_text())
    assert document["workloads"] == []
    assert all(each["verdict"] == "refuted" for each in document["obligations"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--a", "nothing"), "none of blockpool"),
        (("--a", "blockpool", "--only", "no such"), "no workload matches"),
        (("checker", "--scope", "no such"), "no scope"),
    ],
)
def test_wrong_usage_says_what_there_is(arguments: tuple[str, ...], words: str) -> None:
    code, printed = invoke(*arguments)
    assert code == 2
    assert words in " ".join(printed.split())


def test_an_interrupted_measurement_gives_no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("blockpool.proofs.explore.search._search_level", interrupted)
    with pytest.raises(KeyboardInterrupt):
        checker_rates("tiny", 1, 1, 1, silent)


def test_the_checker_counts_the_same_with_any_number_of_workers() -> None:
    rates = checker_rates("tiny", 1, 1, 2, silent, rounds=2, requests=5)
    by_workers = [{each.what: each.number for each in rates if each.workers == count} for count in (1, 2)]
    assert by_workers[1] == {what: by_workers[0][what] for what in by_workers[1]}
    assert set(by_workers[1]) == {"states explored", "transitions explored", "edges in lockstep"}
    assert all(each.number > 0 and each.seconds > 0 for each in rates)
    assert all(each.than == "as fast as one worker" for each in rates if each.workers == 2)
    judged = [each for each in rates if each.scope == "5 built-in chats"]
    assert [each.what.removeprefix("calls, ") for each in judged] == [
        "nobody listens",
        "counts watched",
        "everything watched",
        "recorded",
        "audited",
    ]
    assert {each.number for each in judged} == {judged[0].number}
    assert [each.times is None for each in judged] == [True, False, False, False, False]
