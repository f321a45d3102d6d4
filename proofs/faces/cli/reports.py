"""Verdicts for other tools: SARIF for code scanning, and annotations in the log of a GitHub workflow."""

from collections.abc import Iterable
from functools import cache
from inspect import getsourcelines
from typing import Any

from blockpool.proofs.core.obligation import Obligation, Verdict, message
from blockpool.proofs.core.sources import file_of
from blockpool.spec import CLAIMS, WORLD_CLAIMS

LEVELS = {Verdict.REFUTED: "error", Verdict.INCONCLUSIVE: "warning", Verdict.VACUOUS: "warning"}
"""How bad it is that something does not hold."""

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(obligations: Iterable[Obligation], version: str) -> dict[str, Any]:
    """A SARIF 2.1.0 log: a rule for each obligation, a result for each that does not hold."""
    listed = list(obligations)
    rules = {obligation.name: _rule(obligation) for obligation in listed}
    driver = {"name": "blockpool", "version": version, "rules": list(rules.values())}
    results = [_result(obligation) for obligation in listed if obligation.verdict in LEVELS]
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def annotations(obligations: Iterable[Obligation]) -> list[str]:
    """A workflow command for each obligation that does not hold."""
    lines = []
    for obligation in obligations:
        if obligation.verdict in LEVELS:
            level = LEVELS[obligation.verdict]
            file, line = place(obligation.name)
            title = _property(f"{obligation.name}: {obligation.verdict} ({obligation.method}, {obligation.scope})")
            lines.append(f"::{level} file={_property(file)},line={line},title={title}::{_data(message(obligation))}")
    return lines


def place(name: str) -> tuple[str, int]:
    """The file and line where a claim is stated; the README for what is no claim of the spec."""
    return _places().get(name, ("README.md", 1))


@cache
def _places() -> dict[str, tuple[str, int]]:
    places = {}
    for claim in (*CLAIMS, *WORLD_CLAIMS):
        file = f"{file_of(claim.judge.__module__)}"
        places[claim.name] = (file, getsourcelines(claim.judge)[1])
    return places


def _rule(obligation: Obligation) -> dict[str, Any]:
    from blockpool.proofs.faces.stories.explain import sentence_of

    return {"id": obligation.name, "shortDescription": {"text": sentence_of(obligation.name)}}


def _result(obligation: Obligation) -> dict[str, Any]:
    file, line = place(obligation.name)
    region = {"artifactLocation": {"uri": file}, "region": {"startLine": line}}
    return {
        "ruleId": obligation.name,
        "level": LEVELS[obligation.verdict],
        "message": {"text": message(obligation)},
        "locations": [{"physicalLocation": region}],
        "properties": {"verdict": str(obligation.verdict), "method": obligation.method, "scope": obligation.scope},
    }


def _data(text: str) -> str:
    """Text as the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Text as a property of a workflow command."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
