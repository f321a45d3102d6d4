"""Both run every program; what the engine answers must be what CPython does."""

import re
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from time import perf_counter

from blockpool.proofs.core.obligation import Figures, Obligation, Verdict
from blockpool.proofs.prove.differential.concrete import engine_result
from blockpool.proofs.prove.differential.native import LABELS, Call, EndlessError, Heap, Native, Result
from blockpool.proofs.prove.differential.programs import Program, programs
from blockpool.proofs.prove.queue.executable import Executable
from blockpool.proofs.prove.queue.refusing import UnsupportedError
from blockpool.proofs.prove.queue.source import BadSourceError, parse_queue

AGREES = "the_engine_agrees_with_cpython"
FULL, QUICK = 5200, 100
LEAST_ANSWERED = 0.4
"""A smaller part than this of the programs answered, and the comparison says little."""
LEAST_KIND = 0.05
"""The part of answered calls that must return, raise, crash, take a step in a loop."""


@dataclass
class Tally:
    """What came of the programs."""

    programs: int = 0
    answered: int = 0  # programs of which every call was answered by the engine
    calls: Counter[str] = field(default_factory=Counter)  # answered calls, by what came of them
    refused: Counter[str] = field(default_factory=Counter)  # programs, by what is not modelled
    failure: str = ""  # the first disagreement

    def too_little(self) -> str:
        """Why nothing can be concluded from it."""
        if self.answered < self.programs * LEAST_ANSWERED:
            return f"the engine answered only {self.answered} of {self.programs} programs"
        total = sum(self.calls.values())
        rare = [kind for kind in ("returned", "raised", "crashed") if self.calls[kind] < total * LEAST_KIND]
        return f"of {total} answered calls too few {' and '.join(rare)}" if rare else ""


def agreement(count: int = FULL, seed: int = 0) -> list[Obligation]:
    """The obligation: the engine and CPython agree on so many programs."""
    started = perf_counter()
    tally = compare(programs(seed, count))
    figures: Figures = {"programs": tally.programs, "answered": tally.answered, "refused": sum(tally.refused.values())}
    figures |= {kind: tally.calls[kind] for kind in ("returned", "raised", "crashed")}
    figures["refused for"] = ", ".join(f"{reason} {times}" for reason, times in tally.refused.most_common(8))
    words = tally.failure or tally.too_little()
    verdict = Verdict.REFUTED if tally.failure else Verdict.VACUOUS if words else Verdict.HOLDS
    return [Obligation(AGREES, "prove", "6 blocks", verdict, figures, perf_counter() - started, words)]


def compare(several: Iterable[Program]) -> Tally:
    """Run them, up to the first disagreement."""
    tally = Tally()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # programs say `1 is 1` on purpose
        for program in several:
            tally.programs += 1
            reason = _compared(program, tally)
            if tally.failure:
                break
            if reason:
                tally.refused[reason] += 1
            else:
                tally.answered += 1
    return tally


def _compared(program: Program, tally: Tally) -> str:
    """Why the engine refused the program; empty if it answered every call."""
    try:
        executable = Executable(parse_queue(program.text, "Queue"))
    except BadSourceError as error:
        return f"no queue: {_short(str(error))}"
    try:
        native = Native(program.text, program.queued)
    except Exception as error:  # noqa: BLE001  a program that Python does not even define
        return "" if executable.refused else _disagree(tally, program, f"CPython cannot define it: {error!r}")
    for call in program.calls:
        before = native.heap()
        if not _ordinary(before):
            return "a call left a heap on which no queue stands"
        try:
            expected = native.run(program.method, call)
        except EndlessError:
            return "it does not end"
        try:
            found = engine_result(executable, program.method, call, before)
        except UnsupportedError as error:
            return _short(str(error))
        tally.calls[expected.how] += 1
        if not _same(expected, found):
            return _disagree(tally, program, _shown(call, before, expected, found))
    return ""


def _ordinary(heap: Heap) -> bool:
    return type(heap.count) is int and heap.head in LABELS and heap.tail in LABELS


def _same(expected: Result, found: Result) -> bool:
    if expected.how == found.how == "crashed":
        return True
    return expected == found and type(expected.heap and expected.heap.count) is type(found.heap and found.heap.count)


def _shown(call: Call, before: Heap, expected: Result, found: Result) -> str:
    results = [
        f"{who} {result.how} {result.what}; {result.heap.shown if result.heap else ''}"
        for who, result in (("CPython", expected), ("engine ", found))
    ]
    return "\n".join([f"heap    {before.shown}", f"call    {call}", *results])


def _disagree(tally: Tally, program: Program, words: str) -> str:
    tally.failure = f"{words}\n{program.text.strip()}"
    return ""


def _short(words: str) -> str:
    """The reason without places, names and numbers."""
    words = re.sub(r"^\S+:\d+: |^<text>: |in \w+, ", "", words.replace("at line", "of line"))
    words = re.sub(r": .*|\b[a-z_]*\d+\b|self\.\w+|\.\w+ ", "", words.splitlines()[0])
    return re.sub(r"\s+", " ", words).strip()[:60]
