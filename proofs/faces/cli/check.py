"""`blockpool check`."""

from itertools import chain
from typing import Annotated

import typer

from blockpool.proofs.adequacy.mutation.scores import JUDGED
from blockpool.proofs.adequacy.mutation.targets import modules_of
from blockpool.proofs.core.figures import as_written, compare, matched
from blockpool.proofs.core.jobs import name_of
from blockpool.proofs.core.obligation import Obligation, Verdict
from blockpool.proofs.explore.serving import SERVING_SCOPES
from blockpool.proofs.faces.cli.console import Progress
from blockpool.proofs.faces.cli.mutate import judge_mutants, tools_missing
from blockpool.proofs.faces.cli.searching import SEARCH, parts_of, run_search
from blockpool.proofs.faces.cli.session import (
    CORES,
    Github,
    HtmlFile,
    JsonFile,
    Memory,
    SarifFile,
    SaveFolder,
    ScopeName,
    Seed,
    Session,
    Workers,
    interruptible,
    run_jobs,
    seeded,
)


def check(
    scope: ScopeName = "small",
    workers: Workers = CORES,
    seed: Seed = None,
    json_file: JsonFile = None,
    save: SaveFolder = None,
    sarif_file: SarifFile = None,
    github: Github = False,
    html_file: HtmlFile = None,
    memory: Memory = 1.0,
    deep: Annotated[
        bool, typer.Option("--deep", help="The nightly run: larger scopes, every proof, every defect, every mutant.")
    ] = False,
) -> None:
    """Run everything: the main job, for CI.

    Searches every state and every call of the scope, in the spec and on `impl`; proves every claim at any size and the
    free queue at any length; asks CrossHair; runs long random traces, a served workload and the contracts; and shows
    that seeded defects are caught. One line for each obligation.
    """
    from blockpool.proofs.suite import plan as agenda

    scope = "large" if deep else scope
    parts = parts_of(scope)
    session = Session(f"scope {scope}, {seeded(seed)}", json_file, save, sarif_file, github, html_file)
    with interruptible(session), Progress() as progress:
        work = agenda.nightly(seed) if deep else agenda.gate(seed)
        session.expect([SEARCH.format(scope), SEARCH.format("requests"), *map(name_of, chain(*work))])
        run_search(session, scope, parts, with_impl=True, workers=workers, memory=memory, progress=progress)
        serving = SERVING_SCOPES["small"]
        run_search(session, "requests", serving, with_impl=True, workers=workers, memory=memory, progress=progress)
        for part in work:
            run_jobs(session, part, workers, progress)
        if deep:
            _mutants(session, workers, progress)
        session.decide([as_written(), matched(agenda.recorded_names(session.obligations if deep else None))])
        session.decide(compare(session.obligations))
    session.end()


def _mutants(session: Session, workers: int, progress: Progress) -> None:
    """All mutants of impl and the spec, as far as an earlier run has not judged them."""
    words = tools_missing()
    if words:
        session.decide([Obligation(JUDGED, "mutate", "impl and spec", Verdict.INCONCLUSIVE, {}, 0.0, words)])
        return
    judge_mutants(session, [name for tree in ("impl", "spec") for name in modules_of(tree)], workers, progress)
