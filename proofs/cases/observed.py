"""What the reproductions of the findings observed in an installed vLLM, kept in `findings.json`.

Nothing writes it but `blockpool docs --findings`; the handbook is made without vLLM.
"""

import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from blockpool.proofs.cases import CaseError
from blockpool.proofs.cases.findings import IN_THE_ENGINE
from blockpool.proofs.cases.reproductions.engine import installed

FILE = Path(__file__).with_name("findings.json")
FORMAT = "blockpool-findings/1"
AGAIN = "run, where vLLM is installed: blockpool docs --findings"


class ObservedError(CaseError):
    """What is kept was not observed, or is not of the findings that there are."""


@dataclass(frozen=True)
class Observed:
    """The versions that ran, and what was so, by finding."""

    vllm: str
    python: str
    findings: Mapping[str, Sequence[str]]


def read(file: Path = FILE) -> Observed:
    """What is kept. Raises ObservedError if it does not have each finding, and no other."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ObservedError(f"{file} cannot be read: {error}; {AGAIN}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ObservedError(f"{file} is not of format {FORMAT}; {AGAIN}")
    kept = Observed(document["vllm"], document["python"], document["findings"])
    known = {one.id for one in IN_THE_ENGINE}
    if odd := sorted(known ^ kept.findings.keys()) or [name for name in known if not kept.findings[name]]:
        raise ObservedError(f"{file} does not fit the findings: {', '.join(odd)}; {AGAIN}")
    return kept


def record(file: Path = FILE) -> Observed:
    """Run all reproductions, and keep what was observed. Raises NoEngineError or NotReproducedError."""
    engine = installed()
    findings = {one.id: list(one.reproduction(engine)) for one in IN_THE_ENGINE}
    document = {"format": FORMAT, "vllm": engine.release, "python": platform.python_version(), "findings": findings}
    file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return read(file)
