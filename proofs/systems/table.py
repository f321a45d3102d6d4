"""What conform finds in several pools, as one Markdown table."""

from collections.abc import Iterator, Sequence

from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.oracle.adapter import InProcess
from blockpool.proofs.oracle.campaign import DAMAGE
from blockpool.proofs.oracle.conformance import Report, conform
from blockpool.proofs.oracle.example import OracleExample
from blockpool.proofs.systems.registry import shipped
from blockpool.spec.contract.call_text import shown

HEADING = (
    "| pool | profile | laws kept | broken by right calls | kinds of wrong calls that do damage |",
    "|---|---|---|---|---|",
)


def rows(names: Sequence[str]) -> Iterator[str]:
    """The table, line by line, each as soon as it is known."""
    yield from HEADING
    for name in names:
        subject = InProcess(shipped(name))
        report = conform(subject, misuse=True)
        profile = report.obligations[0].scope
        laws = [one for one in report.obligations if ":" not in one.name]
        kept = sum(one.verdict is Verdict.HOLDS for one in laws)
        yield f"| {subject.name} | {profile} | {kept} of {len(laws)} | {_broken(report)} | {_damage(report)} |"


def _broken(report: Report) -> str:
    found = []
    for one in report.obligations:
        if isinstance(one.counterexample, OracleExample) and ":" not in one.name:
            calls = "; ".join(shown(line.call) for line in one.counterexample.lines)
            found.append(f"{one.name}: `{calls}`")
    return "<br>".join(found) or "-"


def _damage(report: Report) -> str:
    kinds = {
        one.name.removeprefix(f"{DAMAGE}: "): one.verdict for one in report.obligations if one.name.startswith(DAMAGE)
    }
    done = [kind for kind, verdict in kinds.items() if verdict is Verdict.REFUTED]
    return f"{len(done)} of {len(kinds)}: {'; '.join(done) or '-'}"
