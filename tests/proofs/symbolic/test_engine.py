"""What CrossHair says, in our words; and that every run would notice if it looked the other way."""

from typing import Any

import icontract
import pytest
from crosshair.core_and_libs import AnalysisMessage, MessageType, analyze_class, run_checkables
from crosshair.options import AnalysisOptionSet

from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.symbolic import contracts_off, run
from blockpool.proofs.symbolic.canaries import CANARIES, Canary, Till, pay_nobody
from blockpool.proofs.symbolic.engine import VERDICTS, ask, read, repair_formatting
from blockpool.proofs.symbolic.goals import with_contract


def said(*kinds: MessageType) -> Any:
    return read(
        [AnalysisMessage(kind, f"about {kind.value}", "file", line, 0, "") for line, kind in enumerate(kinds)], 7, 0.5
    )


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [
        (MessageType.CONFIRMED, "holds"),
        (MessageType.CANNOT_CONFIRM, "inconclusive"),
        (MessageType.PRE_UNSAT, "vacuous"),
        (MessageType.POST_FAIL, "refuted"),
        (MessageType.POST_ERR, "refuted"),
        (MessageType.EXEC_ERR, "refuted"),
        (MessageType.SYNTAX_ERR, "inconclusive"),
        (MessageType.IMPORT_ERR, "inconclusive"),
    ],
)
def test_each_message_has_a_verdict(kind: MessageType, verdict: str) -> None:
    assert said(kind).verdict == verdict


def test_no_kind_of_message_is_forgotten() -> None:
    assert set(MessageType) == set(VERDICTS)


def test_the_worst_message_decides_and_speaks() -> None:
    answer = said(MessageType.CONFIRMED, MessageType.POST_FAIL, MessageType.CANNOT_CONFIRM)
    assert (answer.verdict, answer.words) == ("refuted", "about post_fail")
    assert said(MessageType.CONFIRMED, MessageType.PRE_UNSAT).verdict == "vacuous"


def test_no_message_is_no_success() -> None:
    assert said().verdict == "vacuous"


def positive(number: int) -> bool:
    return number > 0


def right(number: int) -> str:
    return "" if number > 0 else "not positive"


def wrong_at_a_thousand(number: int) -> str:
    return "it is a thousand" if number == 1000 else ""


def long_way(number: int) -> str:
    while number > 1:
        number = number // 2 if number % 2 == 0 else 3 * number + 1
    return ""


def test_a_right_function_is_confirmed_and_a_wrong_one_refuted_with_its_argument() -> None:
    assert ask(with_contract(right, positive), 5.0).verdict is Verdict.HOLDS
    refuted = ask(with_contract(wrong_at_a_thousand, positive), 5.0)
    assert refuted.verdict is Verdict.REFUTED
    assert "wrong_at_a_thousand(1000)" in refuted.words
    # It never ends; on a busy machine not even the precondition is reached in time.
    assert ask(with_contract(long_way, positive), 1.0).verdict in (Verdict.INCONCLUSIVE, Verdict.VACUOUS)


def test_a_conversion_with_a_width_is_formatted() -> None:
    def concrete(number: int) -> str:
        return "" if f"{'word'!r:.3}" == "'wo" else "formatted otherwise"

    repair_formatting()
    assert ask(with_contract(concrete, positive), 5.0).verdict is Verdict.HOLDS


def test_without_the_kind_the_broken_invariant_would_be_confirmed() -> None:
    """Why the engine names the kind of contracts, and why there is a canary for it."""
    with contracts_off():
        messages = run_checkables(analyze_class(Till, AnalysisOptionSet(report_all=True, per_condition_timeout=5.0)))
    assert {message.state for message in messages} == {MessageType.CONFIRMED}
    assert ask(Till, 5.0).verdict is Verdict.REFUTED


def test_a_canary_that_is_not_found_makes_the_run_vacuous(monkeypatch: pytest.MonkeyPatch) -> None:
    harmless = Canary("canary: postcondition", "", lambda: with_contract(right, positive), MessageType.POST_FAIL)
    monkeypatch.setitem(run.BY_NAME, harmless.name, harmless)
    answer = run.of_canary(harmless.name, 5.0)
    assert answer.verdict is Verdict.VACUOUS
    assert "planted, and not found: CONFIRMED" in answer.words


def test_a_canary_found_for_another_reason_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    other = Canary("canary: precondition", "", lambda: pay_nobody, MessageType.PRE_UNSAT, "no such words")
    monkeypatch.setitem(run.BY_NAME, other.name, other)
    assert run.of_canary(other.name, 5.0).verdict is Verdict.VACUOUS


def test_there_are_three_canaries() -> None:
    assert [(canary.name, canary.expected.name) for canary in CANARIES] == [
        ("canary: invariant", "POST_FAIL"),
        ("canary: postcondition", "POST_FAIL"),
        ("canary: precondition", "PRE_UNSAT"),
    ]


def is_even(number: int) -> bool:
    return number % 2 == 0


def test_importing_and_asking_crosshair_leaves_icontract_on() -> None:
    @icontract.require(is_even)
    def halve(number: int) -> int:
        return number // 2

    assert ask(with_contract(right, positive), 5.0).verdict is Verdict.HOLDS
    with pytest.raises(icontract.ViolationError):
        halve(3)
    with contracts_off():
        assert halve(3) == 1
