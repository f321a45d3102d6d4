"""Searches at the command line: which scopes are meant, and their obligations."""

from collections.abc import Sequence

import typer

from blockpool.proofs.adequacy.defects.least_scopes import adequate
from blockpool.proofs.core.obligation import Obligation
from blockpool.proofs.core.workers_ray import Workforce
from blockpool.proofs.explore.expand import AnyScope
from blockpool.proofs.explore.scopes import SCOPES, Scope, ScopeTooLargeError, narrowed
from blockpool.proofs.explore.search import Exploration
from blockpool.proofs.explore.serving import SERVING_SCOPES, ServingScope, with_rules
from blockpool.proofs.faces.cli.console import Progress
from blockpool.proofs.faces.cli.session import Session
from blockpool.proofs.faces.stories.explain import nearest
from blockpool.proofs.refine.search_obligations import decide, search
from blockpool.spec import RULES

SEARCH = "the search of scope {}"
"""What a search is called as long as it is not done."""


def run_search(
    session: Session,
    scope: str,
    parts: Sequence[AnyScope],
    *,
    with_impl: bool,
    workers: Workforce,
    memory: float,
    progress: Progress,
) -> None:
    name = SEARCH.format(scope)
    session.expect([name] if name not in session.pending else [])
    found = explorations(parts, with_impl=with_impl, workers=workers, memory=memory, progress=progress)
    session.decide(decide(scope, found, with_impl=with_impl))
    session.decide(wide_enough(scope, parts, ("explore", "refine") if with_impl else ("explore",)))
    if any(exploration.stopped == "interrupted" for exploration in found):
        raise KeyboardInterrupt
    session.done(name)


def wide_enough(scope: str, parts: Sequence[AnyScope], methods: Sequence[str]) -> list[Obligation]:
    """Is the scope wide enough for these gates? Asked of scopes of the pool; those of requests are fixed."""
    of_pool = [part for part in parts if isinstance(part, Scope)]
    return [adequate(method, scope, of_pool) for method in methods if of_pool]


def explorations(
    parts: Sequence[AnyScope], *, with_impl: bool, workers: Workforce, memory: float, progress: Progress
) -> list[Exploration]:
    return list(search(parts, with_impl=with_impl, workers=workers, memory=memory, progress=progress))


def parts_of(scope: str) -> tuple[Scope, ...]:
    if scope not in SCOPES:
        raise typer.BadParameter(f"there is no scope {scope!r}. {nearest(scope, SCOPES)}")
    return SCOPES[scope]


def serving_parts(scope: str, broken: list[str]) -> tuple[ServingScope, ...]:
    names = {part.name: (part,) for parts in SERVING_SCOPES.values() for part in parts} | SERVING_SCOPES
    if scope not in names:
        raise typer.BadParameter(f"there is no scope {scope!r} of requests. {nearest(scope, names)}")
    for rule in broken:
        if rule not in RULES:
            raise typer.BadParameter(f"there is no rule {rule!r}. {nearest(rule, RULES)}")
    return tuple(with_rules(part, *broken) if broken else part for part in names[scope])


def narrowed_parts(
    scope: str, blocks: int | None, refs: int | None, watchers: int | None, batch: int | None
) -> tuple[Scope, ...]:
    try:
        return narrowed(parts_of(scope), blocks=blocks, max_refs=refs, watchers=watchers, batch=batch)
    except ScopeTooLargeError as error:
        raise typer.BadParameter(str(error)) from error
