"""What ran: the verdicts and figures of runs, kept in `evidence.json`, from which every figure on a page is taken.

Nothing writes it but `blockpool docs --evidence RUN.json ...`, from files that commands wrote with `--json`. Times and
speeds are left out; they are those of one machine.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from blockpool.proofs.cases import CaseError
from blockpool.proofs.core import figures as ledger

FILE = Path(__file__).with_name("evidence.json")
FORMAT = "blockpool-evidence/1"
VERDICTS = "blockpool-verdicts/1"
OF_A_MACHINE = {"steps/s", "seconds", "times"}
"""Figures that no two machines share."""


class EvidenceError(CaseError):
    """A file that is no run, or no evidence."""


@dataclass(frozen=True)
class Run:
    """One command, what it depended on, and what it decided."""

    command: str
    versions: Mapping[str, str]
    obligations: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Evidence:
    """All runs, and the figures of the ledger."""

    runs: Sequence[Run]
    ledger: ledger.Ledger

    @cached_property
    def by_name(self) -> dict[str, list[Mapping[str, Any]]]:
        """What was decided under each name. Of one command that ran twice the later run counts."""
        found: dict[tuple[str, str, str], Mapping[str, Any]] = {}
        for run in self.runs:
            for one in run.obligations:
                found[one["name"], one["method"], one["scope"]] = one
        named: dict[str, list[Mapping[str, Any]]] = {}
        for one in found.values():
            named.setdefault(one["name"], []).append(one)
        return named


def read(file: Path = FILE) -> Evidence:
    """The evidence that is kept. Raises EvidenceError."""
    document = _json(file)
    if document.get("format") != FORMAT:
        raise EvidenceError(f"{file} is not of format {FORMAT}; run: blockpool docs --evidence RUN.json")
    runs = [Run(run["command"], run["versions"], run["obligations"]) for run in document["runs"]]
    return Evidence(runs, ledger.ledger())


def record(runs: Sequence[Path], file: Path = FILE) -> Evidence:
    """Keep the figures of these runs in place of those kept before. Raises EvidenceError."""
    entries = ",\n".join(_entry(_json(run), run) for run in runs)
    file.write_text(f'{{"format": "{FORMAT}",\n"runs": [\n{entries}\n]}}\n', encoding="utf-8")
    return read(file)


def _json(file: Path) -> dict[str, Any]:
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EvidenceError(f"{file} cannot be read: {error}") from error
    if not isinstance(document, dict):
        raise EvidenceError(f"{file} is not a run")
    return document


def _entry(document: dict[str, Any], file: Path) -> str:
    """A run, one line for each obligation, so that a change reads well in a diff."""
    if document.get("format") != VERDICTS:
        raise EvidenceError(f"{file} was not written by a command with --json")
    lines = ",\n".join(f"   {json.dumps(_kept(one))}" for one in document["obligations"])
    command = json.dumps(_without_files(document["command"]))
    return f' {{"command": {command}, "versions": {json.dumps(document["versions"])}, "obligations": [\n{lines}\n ]}}'


def _kept(obligation: Mapping[str, Any]) -> dict[str, Any]:
    figures = {name: value for name, value in obligation["figures"].items() if name not in OF_A_MACHINE}
    kept = {name: obligation[name] for name in ("name", "method", "scope", "verdict")} | {"figures": figures}
    return kept | ({"words": obligation["words"]} if "words" in obligation else {})


def _without_files(command: Sequence[str]) -> str:
    """The command as somebody else would give it: without where its files went."""
    words, skip = [], False
    for word in command:
        if not skip and word not in ("--json", "--save", "--sarif", "--html"):
            words.append(word)
        skip = word in ("--json", "--save", "--sarif", "--html")
    return " ".join(words)
