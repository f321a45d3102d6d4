"""Every public report that needs requests is in the table; each that the machine can express is caught, and only it."""

import re
from collections.abc import Callable

import pytest

from blockpool.proofs.cases.bugs.request_bugs import CHECKED, OBLIGATIONS, REQUEST_BUGS, TRANSFERS, RequestBug, Shown
from blockpool.proofs.cases.bugs.showing import OF_CALLS, POSSIBILITIES, SAFETY
from blockpool.proofs.core.sources import ROOT
from blockpool.spec import RULES

REPORTS = ROOT.parent / "shared" / "cases" / "public_bugs.md"
EXPRESSIBLE = [bug for bug in REQUEST_BUGS if bug.shown]

by_report = pytest.mark.parametrize("bug", REQUEST_BUGS, ids=lambda bug: bug.id)


def test_the_table_has_exactly_the_reports_that_need_requests() -> None:
    if not REPORTS.exists():
        pytest.skip(f"{REPORTS} is not here")
    rows = re.findall(r"^\| ([A-Z]{2}-\d\d) \|.*\| ([^|]*) \|$", REPORTS.read_text(), re.MULTILINE)
    assert sorted(bug.id for bug in REQUEST_BUGS) == sorted(name for name, level in rows if level.startswith("request"))


def test_most_are_expressible() -> None:
    assert len(EXPRESSIBLE) >= 35


def test_no_run_is_shown_for_two_reports() -> None:
    shown = [show for bug in REQUEST_BUGS for show in bug.shown]
    assert len(set(shown)) == len(shown)


def test_every_obligation_is_needed() -> None:
    assert set(OBLIGATIONS) <= {bug.rule for bug in REQUEST_BUGS}


@by_report
def test_a_row_is_complete(bug: RequestBug) -> None:
    assert bug.happened.endswith(".")
    if bug.not_expressible:
        assert bug.not_expressible.endswith(".")
        assert (bug.claim, bug.rule, bug.shown) == ("", "", ())
    else:
        assert bug.claim in SAFETY | set(POSSIBILITIES) | set(OF_CALLS)
        assert bug.rule in {*RULES, *OBLIGATIONS}
        assert bug.shown


@pytest.mark.parametrize(
    ("bug", "show"),
    [pytest.param(bug, show, id=f"{bug.id}-{show.__name__}") for bug in EXPRESSIBLE for show in bug.shown],
)
def test_the_claim_catches_it(bug: RequestBug, show: Callable[[], Shown]) -> None:
    show().shows(bug.claim)


@pytest.mark.parametrize("bug", EXPRESSIBLE, ids=lambda bug: bug.id)
def test_another_claim_does_not_catch_it(bug: RequestBug) -> None:
    """What shows a bug is not satisfied with any claim."""
    other = TRANSFERS if bug.claim != TRANSFERS else CHECKED
    for show in bug.shown:
        with pytest.raises((AssertionError, KeyError)):
            show().shows(other)
