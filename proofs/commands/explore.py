"""`blockpool explore`."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from proofs.commands.searching import narrowed_parts, run_search, serving_parts
from proofs.commands.session import CORES, JsonFile, Memory, SaveFolder, ScopeName, Session, Workers, interruptible
from proofs.console import Progress
from proofs.explore.search import AnyScope


class MachineName(StrEnum):
    """What can be searched."""

    POOL = "pool"
    REQUESTS = "requests"


def explore(
    scope: ScopeName = "small",
    machine: Annotated[
        MachineName, typer.Option(help="The pool alone, or with requests and memory around it.")
    ] = MachineName.POOL,
    broken: Annotated[
        list[str] | None, typer.Option("--break", help="A rule of the requests to break, to see what it is good for.")
    ] = None,
    blocks: Annotated[int | None, typer.Option(help="Lendable blocks, instead of the scope's.")] = None,
    refs: Annotated[int | None, typer.Option(help="Most references on one block.")] = None,
    watchers: Annotated[int | None, typer.Option(help="Different watchers.")] = None,
    batch: Annotated[int | None, typer.Option(help="Most blocks named in one call.")] = None,
    workers: Workers = CORES,
    json_file: JsonFile = None,
    save: SaveFolder = None,
    memory: Memory = 1.0,
) -> None:
    """Search the spec alone: every reachable state, every call, every claim.

    Answers whether the spec keeps its own claims, whether every action, refusal and possibility is met, and how many
    states there are. With --blocks, --refs, --watchers or --batch the scope is changed and no counts are expected.

    With --machine requests the pool is searched together with requests, passes, copies, transfers and what memory
    really holds; --break RULE breaks one of the rules that a scheduler owes the pool.
    """
    parts: Sequence[AnyScope]
    if machine is MachineName.REQUESTS:
        parts = serving_parts(scope, broken or [])
    else:
        parts = narrowed_parts(scope, blocks, refs, watchers, batch)
    session = Session(f"machine {machine}, scope {scope}", json_file, save)
    with interruptible(session), Progress() as progress:
        run_search(session, scope, parts, with_impl=False, workers=workers, memory=memory, progress=progress)
    session.end()
