"""Obligations and verdicts: what is to be shown, by which method, and what came of it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol


class Verdict(StrEnum):
    """Only `holds` is success."""

    HOLDS = "holds"
    REFUTED = "refuted"  # there is a counterexample
    INCONCLUSIVE = "inconclusive"  # stopped too early to say
    VACUOUS = "vacuous"  # nothing that was tried could have refuted it


class Example(Protocol):
    """A counterexample, of whatever is judged."""

    @property
    def claim(self) -> str:
        """What it breaks."""

    def story(self) -> str:
        """What is broken and how, for a reader."""

    def pytest_source(self) -> str:
        """A test that fails as long as it is broken."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""


Figures = dict[str, int | float | str]

EXIT_CODES = {Verdict.HOLDS: 0, Verdict.REFUTED: 1, Verdict.INCONCLUSIVE: 3, Verdict.VACUOUS: 4}
"""2 is for wrong usage and bad input, 130 for Ctrl-C."""


@dataclass(frozen=True, slots=True)
class Obligation:
    """One thing to be shown."""

    name: str
    method: str  # explore, refine, sample, replay, detect, audit, conform
    scope: str
    verdict: Verdict
    figures: Figures = field(default_factory=dict)
    seconds: float = 0.0  # of the run that decided it; several obligations may share one run
    words: str = ""  # why it does not hold
    counterexample: Example | None = None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        plain = {
            "name": self.name,
            "method": self.method,
            "scope": self.scope,
            "verdict": str(self.verdict),
            "figures": self.figures,
            "seconds": round(self.seconds, 3),
        }
        if self.words:
            plain["words"] = self.words
        if self.counterexample is not None:
            plain["counterexample"] = self.counterexample.as_dict()
        return plain


def exit_code(obligations: Iterable[Obligation]) -> int:
    """0 if all hold, else the code of the worst: refuted, inconclusive, vacuous. Nothing to show is vacuous."""
    verdicts = {obligation.verdict for obligation in obligations}
    for verdict in (Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.VACUOUS):
        if verdict in verdicts or not verdicts:
            return EXIT_CODES[verdict if verdicts else Verdict.VACUOUS]
    return EXIT_CODES[Verdict.HOLDS]


def message(obligation: Obligation) -> str:
    """What is wrong, in full."""
    if obligation.counterexample is not None:
        return obligation.counterexample.story()
    return obligation.words or f"{obligation.name}: {obligation.verdict}"
