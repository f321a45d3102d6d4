"""CrossHair, asked through its Python API, and its messages in our words."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

from crosshair.core_and_libs import AnalysisMessage, MessageType, analyze_class, analyze_function, run_checkables
from crosshair.opcode_intercept import FormatValueInterceptor, frame_op_arg
from crosshair.options import AnalysisKind, AnalysisOptionSet

from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.symbolic import contracts_off

VERDICTS = {
    MessageType.CONFIRMED: Verdict.HOLDS,
    MessageType.CANNOT_CONFIRM: Verdict.INCONCLUSIVE,
    MessageType.PRE_UNSAT: Verdict.VACUOUS,
    MessageType.POST_FAIL: Verdict.REFUTED,
    MessageType.POST_ERR: Verdict.REFUTED,
    MessageType.EXEC_ERR: Verdict.REFUTED,
    MessageType.SYNTAX_ERR: Verdict.INCONCLUSIVE,
    MessageType.IMPORT_ERR: Verdict.INCONCLUSIVE,
}

CONVERTED_WITH_WIDTH = (5, 6, 7)
"""Arguments of the opcode for !s, !r and !a with a width."""

WORST_FIRST = (Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.VACUOUS, Verdict.HOLDS)


@dataclass(frozen=True)
class Answer:
    """What CrossHair found."""

    verdict: Verdict
    kinds: tuple[str, ...]  # the kinds of its messages
    words: str
    paths: int
    seconds: float  # of CPU time


def ask(target: Callable[..., Any] | type, seconds: float) -> Answer:
    """Analyse a function, or all of a class, for at most so many seconds of CPU time a condition."""
    options = AnalysisOptionSet(
        # Without this kind, CrossHair drops the invariants of a class whose methods have contracts, and says nothing.
        analysis_kind=[AnalysisKind.icontract],
        report_all=True,
        per_condition_timeout=seconds,
        per_path_timeout=seconds,
    )
    started = process_time()
    conditions = list(analyze_class(target, options) if isinstance(target, type) else analyze_function(target, options))
    counted: Counter[str] = Counter()
    for condition in conditions:
        analysed: Any = getattr(condition, "checkable", condition)  # those of a class are wrapped
        analysed.options.stats = counted
    with contracts_off():
        messages = run_checkables(conditions)
    return read(messages, counted["num_paths"], process_time() - started)


def read(messages: Sequence[AnalysisMessage], paths: int, seconds: float) -> Answer:
    """The worst of the messages decides; without any, nothing was analysed."""
    if not messages:
        return Answer(Verdict.VACUOUS, (), "CrossHair found no condition to analyse", paths, seconds)
    kinds = tuple(sorted({message.state.name for message in messages}))
    verdict = worst(VERDICTS[message.state] for message in messages)
    # What comes before quotes the source of the postcondition, which is the same for every goal.
    told = [one.message.rpartition('" yields ')[2] for one in messages if VERDICTS[one.state] is verdict]
    return Answer(verdict, kinds, "" if verdict is Verdict.HOLDS else "; ".join(told), paths, seconds)


def repair_formatting() -> None:
    """Let Python itself format f"{value!r:.60}": CrossHair (0.0.113) takes the width there for the value."""
    intercept: Callable[..., None] = FormatValueInterceptor.trace_op
    opcode_argument: Callable[[Any], int] = frame_op_arg

    def trace_op(self: FormatValueInterceptor, frame: Any, code: Any, opcode: int) -> None:
        if opcode_argument(frame) not in CONVERTED_WITH_WIDTH:
            intercept(self, frame, code, opcode)

    setattr(FormatValueInterceptor, "trace_op", trace_op)  # noqa: B010  (mypy forbids to assign to a method)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    return min(verdicts, key=WORST_FIRST.index)
