"""What a person reads: one line for each obligation, counterexamples in full, and progress on long work."""

import platform
import sys
import time
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from textwrap import indent
from typing import Any

from rich.console import Console
from rich.status import Status
from rich.text import Text

from blockpool.proofs.core.figures import tool_versions
from blockpool.proofs.core.obligation import Obligation, Verdict

out = Console(soft_wrap=True, highlight=False)
err = Console(stderr=True, soft_wrap=True, highlight=False)

STYLES = {
    Verdict.HOLDS: "green",
    Verdict.REFUTED: "bold red",
    Verdict.INCONCLUSIVE: "yellow",
    Verdict.VACUOUS: "magenta",
}

EVERY = 10.0
"""Seconds between two lines of progress where there is no terminal."""


class Progress:
    """A line that changes in place on a terminal; elsewhere a new line every ten seconds. On standard error."""

    def __init__(self) -> None:
        self._status: Status | None = None
        self._last = time.monotonic()

    def __enter__(self) -> "Progress":
        if err.is_terminal:
            self._status = err.status("starting")
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def __call__(self, line: str) -> None:
        if self._status is not None:
            self._status.update(line)
        elif time.monotonic() - self._last >= EVERY:
            self._last = time.monotonic()
            err.print(line, style="dim")


def print_obligation(obligation: Obligation) -> None:
    """Name, method, scope, figures, verdict and time on one line; the counterexample, if any, below it."""
    line = Text()
    line.append(f"{obligation.verdict:<13}", style=STYLES[obligation.verdict])
    line.append(f"{obligation.name:<52} ")
    figures = ", ".join(f"{name} {_figure(value)}" for name, value in obligation.figures.items())
    line.append(f"{obligation.method:<9}{obligation.scope:<12} {figures}  {obligation.seconds:.1f} s", style="dim")
    out.print(line)
    if obligation.words and obligation.counterexample is None:
        out.print(Text(indent(obligation.words, " " * 13)))
    if obligation.counterexample is not None:
        out.print(Text("\n" + obligation.counterexample.story() + "\n"))


def print_summary(obligations: list[Obligation], seconds: float, note: str) -> None:
    """How many hold, and what it takes to run the same again."""
    held = sum(obligation.verdict is Verdict.HOLDS for obligation in obligations)
    others = [
        f"{sum(obligation.verdict is verdict for obligation in obligations)} {verdict}"
        for verdict in (Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.VACUOUS)
        if any(obligation.verdict is verdict for obligation in obligations)
    ]
    result = Text(f"{len(obligations)} obligations: {', '.join([f'{held} hold', *others])}; {seconds:.1f} s")
    result.stylize("bold green" if obligations and held == len(obligations) else "bold red")
    out.print(result)
    out.print(Text(f"{note}; {', '.join(f'{name} {value}' for name, value in versions().items())}", style="dim"))


def versions() -> dict[str, str]:
    """What the run depended on."""
    found = {name: version(name) for name in ("blockpool", "hypothesis", "icontract")}
    return {**found, **tool_versions(), "python": platform.python_version()}


def as_document(command: list[str], obligations: Iterable[Obligation], seconds: float, code: int) -> dict[str, Any]:
    """The whole run, for JSON."""
    return {
        "format": "blockpool-verdicts/1",
        "command": command,
        "versions": versions(),
        "platform": sys.platform,
        "seconds": round(seconds, 3),
        "exit_code": code,
        "obligations": [_with_story(obligation) for obligation in obligations],
    }


def _with_story(obligation: Obligation) -> dict[str, Any]:
    from blockpool.proofs.faces.stories.story import story_of_any  # what few runs need

    plain = obligation.as_dict()
    if obligation.counterexample is not None and (story := story_of_any(obligation.counterexample)) is not None:
        plain["counterexample"]["story"] = story
    return plain


def save_counterexamples(obligations: Iterable[Obligation], folder: Path) -> list[Path]:
    """Write each counterexample as a pytest file; the files written."""
    written = []
    for obligation in obligations:
        if obligation.counterexample is not None:
            folder.mkdir(parents=True, exist_ok=True)
            claim = "".join(letter if letter.isalnum() else "_" for letter in obligation.counterexample.claim)
            path = folder / f"test_{claim}_{obligation.method}.py"
            path.write_text(obligation.counterexample.pytest_source(), encoding="utf-8")
            written.append(path)
    return written


def _figure(value: float | str) -> str:
    return f"{value:,}" if isinstance(value, int | float) else value
