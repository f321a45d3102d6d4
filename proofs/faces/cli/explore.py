"""`blockpool explore`."""

from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from blockpool.proofs.explore.expand import AnyScope
from blockpool.proofs.faces.cli.console import Progress, out
from blockpool.proofs.faces.cli.searching import narrowed_parts, run_search, serving_parts
from blockpool.proofs.faces.cli.session import (
    CORES,
    JsonFile,
    Memory,
    RayAddress,
    SaveFolder,
    ScopeName,
    Session,
    Workers,
    check_folders,
    interruptible,
    workforce,
)


class MachineName(StrEnum):
    """What can be searched."""

    POOL = "pool"
    REQUESTS = "requests"


Machine = Annotated[MachineName, typer.Option(help="The pool alone, or with requests and memory around it.")]
Broken = Annotated[
    list[str] | None, typer.Option("--break", help="A rule of the requests to break, to see what it is good for.")
]
Page = Annotated[
    Path | None, typer.Option("--html", help="Also write a page to step through the machine, states and all.")
]
Serve = Annotated[
    bool, typer.Option("--serve", help="Search nothing: step through the machine in a browser, on this machine.")
]


def explore(
    scope: ScopeName = "small",
    machine: Machine = MachineName.POOL,
    broken: Broken = None,
    blocks: Annotated[int | None, typer.Option(help="Lendable blocks, instead of the scope's.")] = None,
    refs: Annotated[int | None, typer.Option(help="Most references on one block.")] = None,
    watchers: Annotated[int | None, typer.Option(help="Different watchers.")] = None,
    batch: Annotated[int | None, typer.Option(help="Most blocks named in one call.")] = None,
    workers: Workers = CORES,
    ray: RayAddress = None,
    json_file: JsonFile = None,
    save: SaveFolder = None,
    memory: Memory = 1.0,
    html_file: Page = None,
    serve: Serve = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="With --serve; 0: any that is free.")] = 8017,
) -> None:
    """Search the spec alone: every reachable state, every call, every claim.

    Answers whether the spec keeps its own claims, whether every action, refusal and possibility is met, and how many
    states there are. With --blocks, --refs, --watchers or --batch the scope is changed and no counts are expected.

    With --machine requests the pool is searched together with requests, passes, copies, transfers and what memory
    really holds; --break RULE breaks one of the rules that a scheduler owes the pool.

    With --html the first part of the scope becomes one file, in which a person steps through its states and plays what
    was refuted; with --serve every part, however large, with the live spec behind the page.
    """
    of_requests = machine is MachineName.REQUESTS
    parts: Sequence[AnyScope]
    parts = serving_parts(scope, broken or []) if of_requests else narrowed_parts(scope, blocks, refs, watchers, batch)
    if serve:
        _serve(parts, port)
        raise typer.Exit
    check_folders(html_file)
    session = Session(f"machine {machine}, scope {scope}", json_file, save)
    with interruptible(session), workforce(workers, ray) as working, Progress() as progress:
        run_search(session, scope, parts, with_impl=False, workers=working, memory=memory, progress=progress)
        _write(html_file, parts[0], session)
    session.end()


def _write(file: Path | None, scope: AnyScope, session: Session) -> None:
    """The first part of the scope, and whatever counterexamples there are."""
    if file is None:
        return
    from blockpool.proofs.faces.explorer.page import explorer_page
    from blockpool.proofs.faces.stories.story import story_of_any

    examples: list[Any] = [obligation.counterexample for obligation in session.obligations]
    told = [story_of_any(example) for example in examples if example is not None]
    stories = [story for story in told if story is not None]
    file.write_text(explorer_page([scope], stories), encoding="utf-8")
    out.print(f"wrote {file}")


def _serve(parts: Sequence[AnyScope], port: int) -> None:
    from blockpool.proofs.faces.explorer.server import ExplorerServer

    try:
        server = ExplorerServer(parts, port)
    except OSError as error:
        raise typer.BadParameter(f"port {port} cannot be used: {error}") from error
    with server:
        out.print(f"stepping through {', '.join(part.name for part in parts)} at {server.url}; Ctrl-C ends it")
        with suppress(KeyboardInterrupt):
            server.serve_forever()
