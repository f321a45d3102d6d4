"""Every public report that needs requests is in the table; each that the machine can express is caught, and only it."""

import re
from collections.abc import Callable

import pytest

from blockpool.proofs.cases.bugs.reports import RequestReport, request_reports
from blockpool.proofs.core.sources import ROOT
from blockpool.spec import RULES
from tests.proofs.cases.request_runs import SHOWN
from tests.proofs.cases.showing import OF_CALLS, POSSIBILITIES, SAFETY, Shown

REPORTS = ROOT.parent / "shared" / "cases" / "public_bugs.md"
REPORTED = request_reports().reports
OBLIGATIONS = request_reports().obligations
EXPRESSIBLE = [bug for bug in REPORTED if bug.claim]

by_report = pytest.mark.parametrize("bug", REPORTED, ids=lambda bug: bug.id)


def test_the_table_has_exactly_the_reports_that_need_requests() -> None:
    if not REPORTS.exists():
        pytest.skip(f"{REPORTS} is not here")
    rows = re.findall(r"^\| ([A-Z]{2}-\d\d) \|.*\| ([^|]*) \|$", REPORTS.read_text(), re.MULTILINE)
    assert sorted(bug.id for bug in REPORTED) == sorted(name for name, level in rows if level.startswith("request"))


def test_most_are_expressible() -> None:
    assert len(EXPRESSIBLE) >= 35


def test_no_run_is_shown_for_two_reports() -> None:
    shown = [show for shows in SHOWN.values() for show in shows]
    assert len(set(shown)) == len(shown)


def test_nothing_is_shown_that_was_not_reported() -> None:
    assert SHOWN.keys() == {bug.id for bug in EXPRESSIBLE}


def test_every_obligation_is_needed() -> None:
    assert set(OBLIGATIONS) <= {bug.rule for bug in REPORTED}


@by_report
def test_a_row_is_complete(bug: RequestReport) -> None:
    assert bug.happened.endswith(".")
    if bug.not_expressible:
        assert bug.not_expressible.endswith(".")
        assert (bug.claim, bug.rule, SHOWN.get(bug.id)) == ("", "", None)
    else:
        assert bug.claim in SAFETY | set(POSSIBILITIES) | set(OF_CALLS)
        assert bug.rule in {*RULES, *OBLIGATIONS}
        assert SHOWN[bug.id]


@pytest.mark.parametrize(
    ("bug", "show"),
    [pytest.param(bug, show, id=f"{bug.id}-{show.__name__}") for bug in EXPRESSIBLE for show in SHOWN[bug.id]],
)
def test_the_claim_catches_it(bug: RequestReport, show: Callable[[], Shown]) -> None:
    show().shows(bug.claim)


@pytest.mark.parametrize("bug", EXPRESSIBLE, ids=lambda bug: bug.id)
def test_another_claim_does_not_catch_it(bug: RequestReport) -> None:
    """What shows a bug is not satisfied with any claim."""
    transfers = "transfers_read_the_old_content"
    other = transfers if bug.claim != transfers else "a_checked_call_is_not_refused"
    for show in SHOWN[bug.id]:
        with pytest.raises((AssertionError, KeyError)):
            show().shows(other)
