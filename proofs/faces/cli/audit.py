"""`blockpool audit`."""

from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from blockpool.proofs.core.obligation import Figures, Obligation, Verdict
from blockpool.proofs.faces.cli.console import Progress, err, out
from blockpool.proofs.faces.cli.session import Github, JsonFile, SarifFile, Session

ALLOWED = "the_trace_is_allowed_by_the_profile"
TRUE_EVENTS = "the_events_can_be_true"


def audit(
    log: Annotated[Path, typer.Argument(help="A trace, or a stream of KV events; JSON lines.")],
    profile: Annotated[
        str | None, typer.Option(help="What the pool promises; the trace's own profile if none is named.")
    ] = None,
    events: Annotated[bool, typer.Option("--events", help="The file is a stream of KV events alone.")] = False,
    last_copy: Annotated[
        bool, typer.Option("--last-copy", help="With --events: Removed comes with the last copy only.")
    ] = False,
    json_file: JsonFile = None,
    sarif_file: SarifFile = None,
    github: Github = False,
) -> None:
    """Judge a log offline: a trace of calls and replies, or a stream of KV events from an unmodified server.

    A trace is judged up to the first line that the profile does not allow: which law is broken, by whom (pool, caller,
    or outside the profile), what would have been right there, and what had happened to the block. docs/traces.md says
    what a trace looks like and how to record one.

    With --events each line is an event or a batch, as vLLM publishes them: parents must be known, lengths must match,
    nothing is removed that was not stored, no message is lost; and it tells what the stream says is cached at the end.
    """
    session = Session(str(log), json_file, sarif_file=sarif_file, github=github)
    with Progress() as progress:
        try:
            obligation = _events(log, not last_copy, progress) if events else _trace(log, profile, progress)
        except (ValueError, OSError) as error:
            err.print(f"error: {log}: {error}", style="red", markup=False)
            raise typer.Exit(2) from error
    session.decide([obligation])
    session.end()


def _trace(log: Path, profile: str | None, progress: Progress) -> Obligation:
    from blockpool.proofs.oracle.audit import audit as judged

    started = perf_counter()
    found = judged(log, profile, lambda calls: progress(f"{calls:,} calls"))
    figures: Figures = {"calls": found.calls, "pools": found.pools, "wrong calls": found.wrong_calls}
    verdict, words = Verdict.HOLDS, ""
    if found.breach is not None:
        verdict, words = Verdict.REFUTED, found.story()
        figures["at fault"] = found.breach.party
    elif found.cut_off is not None:
        verdict, words = Verdict.INCONCLUSIVE, f"line {found.cut_off} is cut off; the lines before it are allowed"
    elif not found.calls:
        verdict, words = Verdict.VACUOUS, "the trace has no calls"
    return Obligation(
        ALLOWED, "audit", f"profile {found.profile.name}", verdict, figures, perf_counter() - started, words
    )


MOST_FINDINGS = 10
"""So many are printed; all are counted."""


def _events(log: Path, per_copy: bool, progress: Progress) -> Obligation:
    from blockpool.proofs.oracle.kv_events import LAWS, EventAudit

    started = perf_counter()
    audited = EventAudit(per_copy)
    shown: list[str] = []
    with log.open("rb") as file:
        for finding in audited.read(file):
            if len(shown) < MOST_FINDINGS:
                shown.append(f"line {finding.line}: {finding.law}: {finding.words}")
            progress(f"line {finding.line:,}")
    for (rank, medium), (keys, copies) in audited.keys().items():
        out.print(f"rank {rank}, {medium}: {keys:,} keys cached, {copies:,} copies", markup=False)
    figures: Figures = {**audited.events, **audited.broken}
    shown += [f"{law} ({count:,} times): {LAWS[law]}" for law, count in audited.broken.items()]
    verdict = Verdict.REFUTED if audited.broken else Verdict.HOLDS if audited.events else Verdict.VACUOUS
    words = "\n".join(shown) if audited.events else "there are no events in the file"
    scope = "per copy" if per_copy else "last copy"
    return Obligation(TRUE_EVENTS, "audit", scope, verdict, figures, perf_counter() - started, words)
