"""The picture of the start page, and the table behind it: every way in which a block was seen to change its state."""

from collections.abc import Mapping
from typing import Any

from blockpool.proofs.cases import CaseError
from blockpool.proofs.faces.handbook.drawings import change
from blockpool.proofs.faces.handbook.evidence import Evidence
from blockpool.proofs.faces.handbook.state_diagram import diagram, numbered
from blockpool.proofs.faces.handbook.writing import Page, action

Survey = Mapping[str, Any]


class StaleSurveyError(CaseError):
    """The survey was made of another machine than the ledger knows."""


def check(survey: Survey, evidence: Evidence) -> None:
    """The survey must have met exactly the states and steps that the ledger records. Raises StaleSurveyError."""
    for scope, counts in survey["scopes"].items():
        recorded = evidence.ledger["counts"].get(scope)
        if recorded != counts:
            raise StaleSurveyError(
                f"scope {scope}: surveyed {counts}, recorded {recorded}. Run: blockpool docs --record"
            )


def picture(survey: Survey) -> str:
    """For the start page."""
    return diagram(survey["arrows"])


def page(survey: Survey) -> Page:
    """The same in words, with an example of each arrow."""
    found = Page("life", "The life of a block", "life")
    listed = numbered(survey["arrows"])
    states = sum(states for states, _ in survey["scopes"].values())
    steps = sum(steps for _, steps in survey["scopes"].values())
    found.say(
        f"Nobody drew these arrows. All {states:,} states of the scopes {', '.join(survey['scopes'])} were visited, "
        f"{steps:,} steps were taken from them, and wherever a step left a block in another state there is an arrow. "
        f"There are {len(listed)}; no step makes any other."
    )
    found.html(diagram(survey["arrows"]))
    rows = [
        [f"[{number}](#arrow-{number})", str(source), str(target), ", ".join(action(name) for name in sorted(calls))]
        for number, (source, target, calls) in enumerate(listed, 1)
    ]
    found.table(["arrow", "from", "to", "calls"], rows)
    for number, (source, target, calls) in enumerate(listed, 1):
        found.heading(f"{number}. From {source} to {target}", f"arrow-{number}")
        found.markdown(
            "Taken by "
            + ", ".join(f"{action(name)} ({call['count']:,} times)" for name, call in sorted(calls.items()))
            + "."
        )
        example = min(calls.values(), key=lambda call: len(call["trace"]))
        found.say(f"For example block {example['block']}, after {_before(example['trace'])}:")
        found.html(change(example["before"], example["trace"][-1], [], example["after"]))
    return found


def _before(trace: list[str]) -> str:
    return " and then ".join(f"`{call}`" for call in trace[:-1]) or "nothing at all"
