"""Every public report that a pool alone shows is in the table; its law catches each, and none its right twin."""

import re
from typing import get_args

import pytest

from blockpool.proofs.cases.bugs.reports import PoolReport, pool_reports
from blockpool.proofs.core.sources import ROOT
from blockpool.proofs.oracle.adapter import InProcess
from blockpool.proofs.oracle.kv_events import LAWS
from blockpool.proofs.systems.vllm.adapter import VllmPool
from blockpool.proofs.systems.vllm.files import NotFetchedError
from blockpool.proofs.systems.vllm.release import core_release
from blockpool.spec.contract.calls import Party
from blockpool.spec.contract.profiles import PROFILES
from blockpool.spec.contract.violation import RULES_OF_CALLERS
from tests.proofs.cases import pool_showing
from tests.proofs.cases.pool_showing import KEY_FUNCTIONS, Confused, Run, right_findings, shows
from tests.proofs.oracle.toy_pools import Toy
from tests.proofs.oracle.wrong_pools import LosesKeys, StaleHit, TwoPasses

REPORTS = ROOT.parent / "shared" / "cases" / "public_bugs.md"
RUNS = [(bug, Run.of(bug)) for bug in pool_reports() if bug.lines]
STREAMS = [bug for bug in pool_reports() if bug.stream]
CONFUSED = [(bug, KEY_FUNCTIONS[bug.id]) for bug in pool_reports() if not bug.lines and not bug.stream]
ALL_RUNS = [*RUNS, *((bug, shown.run) for bug, shown in CONFUSED)]


def named(rows: list[tuple[PoolReport, Run]]) -> list[object]:
    return [pytest.param(*row, id=row[0].id) for row in rows]


def test_the_table_has_exactly_the_reports_that_a_pool_alone_shows() -> None:
    if not REPORTS.exists():
        pytest.skip(f"{REPORTS} is not here")
    rows = re.findall(r"^\| ([A-Z]{2}-\d\d) \|.*\| ([^|]*) \|$", REPORTS.read_text(), re.MULTILINE)
    assert sorted(bug.id for bug in pool_reports()) == sorted(name for name, level in rows if level.startswith("yes"))


def test_no_two_reports_are_shown_alike() -> None:
    assert len({(run.profile, run.lines, run.blocks) for _, run in RUNS}) == len(RUNS) == 58
    assert (len(STREAMS), len(CONFUSED), len(KEY_FUNCTIONS)) == (3, 6, 6)


@pytest.mark.parametrize("bug", pool_reports(), ids=lambda bug: bug.id)
def test_a_row_is_complete(bug: PoolReport) -> None:
    assert bug.happened.endswith(".")
    assert bug.party in get_args(Party)


@pytest.mark.parametrize(("bug", "run"), named(ALL_RUNS))
def test_the_last_line_breaks_the_law_and_no_other(bug: PoolReport, run: Run) -> None:
    assert run.shows() == (bug.law, bug.party)


@pytest.mark.parametrize(("bug", "run"), named(ALL_RUNS))
def test_it_takes_the_last_line_to_break_it(bug: PoolReport, run: Run) -> None:
    """With the right reply, or the calls of a right caller, nothing is wrong under the same profile."""
    if bug.party == "caller":
        assert any(line.instead is not None for line in run.lines)
    else:
        assert run.right_reply_is_allowed()


@pytest.mark.parametrize("profile", PROFILES)
def test_right_behaviour_alarms_no_profile(profile: str) -> None:
    no_placeholders = PROFILES[profile].reserved == "wrong"
    for bug, run in ALL_RUNS:
        if not (run.names_reserved and no_placeholders):
            assert run.on_right_pools(profile) == [], bug.id


def test_what_some_profiles_cannot_express() -> None:
    """Where the null block may not be named at all, three of the right twins have no words."""
    assert {bug.id for bug, run in ALL_RUNS if run.names_reserved} == {"DF-04", "NB-02", "QC-04"}
    assert {name for name, profile in PROFILES.items() if profile.reserved == "wrong"} == {"safety", "index", "lru"}


@pytest.mark.parametrize(("identifier", "faulty"), [("DF-01", TwoPasses), ("SH-01", StaleHit), ("LH-01", LosesKeys)])
def test_a_faulty_pool_is_no_right_twin(identifier: str, faulty: type[Toy], monkeypatch: pytest.MonkeyPatch) -> None:
    """The alarms of the twins can ring."""
    monkeypatch.setattr(pool_showing, "right_pool", lambda _: InProcess(faulty()))
    ((bug, run),) = [row for row in RUNS if row[0].id == identifier]
    (breach,) = run.on_right_pools("vllm-0.33")
    assert (breach.law, breach.party) == (bug.law, bug.party)


@pytest.mark.parametrize(("bug", "run"), named([row for row in RUNS if row[0].release]))
def test_a_released_pool_gave_these_replies(bug: PoolReport, run: Run) -> None:
    try:
        subject = InProcess(VllmPool(core_release(bug.release)))
    except NotFetchedError as missing:
        pytest.skip(str(missing))
    subject.ask(run.start)
    assert [subject.ask(line.call) for line in run.lines] == [line.reply for line in run.lines]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_right_pool_is_never_blamed_for_a_wrong_call(profile: str) -> None:
    """It refuses the call; where nothing is promised about wrong calls, the caller is at fault."""
    for bug, run in ALL_RUNS:
        if bug.law == RULES_OF_CALLERS:
            breaches = run.on_right_pools(profile, right_caller=False)
            expected = [] if PROFILES[profile].misuse == "strict" else [(RULES_OF_CALLERS, "caller")]
            assert [(breach.law, breach.party) for breach in breaches] == expected, bug.id


@pytest.mark.parametrize("bug", STREAMS, ids=lambda bug: bug.id)
def test_the_last_event_cannot_be_true(bug: PoolReport) -> None:
    assert bug.law in LAWS
    assert shows(bug) == [(len(bug.stream), bug.law)]
    assert right_findings(bug) == []


@pytest.mark.parametrize(("bug", "shown"), [pytest.param(*row, id=row[0].id) for row in CONFUSED])
def test_impl_tells_apart_what_was_confused(bug: PoolReport, shown: Confused) -> None:
    assert shown.key(shown.one) == shown.key(shown.other)
    assert shown.impl_tells_them_apart()
