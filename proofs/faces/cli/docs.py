"""`blockpool docs`."""

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated

import typer

from blockpool.proofs.faces.cli.console import Progress, err, out
from blockpool.proofs.faces.cli.session import CORES, Workers


def docs(
    folder: Annotated[Path, typer.Option("--out", help="Where the pages go.")] = Path("build/docs"),
    serve: Annotated[bool, typer.Option("--serve", help="Then serve them on this machine until Ctrl-C.")] = False,
    port: Annotated[int, typer.Option(help="Where they are served.")] = 8000,
    record: Annotated[
        bool, typer.Option("--record", help="First find all drawn examples anew: some minutes, into the checkout.")
    ] = False,
    runs: Annotated[
        list[Path] | None, typer.Option("--evidence", help="First take the figures of this run, written with --json.")
    ] = None,
    findings: Annotated[
        bool, typer.Option("--findings", help="First reproduce the findings in vLLM 0.33.0, which must be installed.")
    ] = False,
    workers: Workers = CORES,
) -> None:
    """Build the handbook: pages made of the objects that are checked.

    Nothing is fetched. A warning, a dead link, an example that is not as written, or a figure that does not fit what is
    checked ends the build with code 2. --record, --evidence and --findings renew the pictures, figures and observations
    that pages are made of; --evidence may be given several times, and replaces all runs that were kept.
    """
    from blockpool.proofs.cases import CaseError
    from blockpool.proofs.faces.handbook.book import build

    try:
        with Progress() as progress:
            _renew(runs or [], findings, record, workers, progress)
            built = build(folder, progress)
    except CaseError as error:
        err.print(f"error: {error}", style="red", markup=False)
        raise typer.Exit(2) from error
    counts = f"{built.pages} pages, {built.links:,} links, {built.doctests} lines of examples"
    out.print(f"{counts}; start at {built.folder / 'index.html'}", markup=False)
    if serve:
        _serve(folder, port)


def _renew(runs: list[Path], findings: bool, examples_too: bool, workers: int, progress: Progress) -> None:
    """What pages are made of besides the objects that are checked."""
    from blockpool.proofs.cases import observed
    from blockpool.proofs.faces.handbook import evidence, examples, survey

    if runs:
        evidence.record(runs)
    if findings:
        progress("findings are being reproduced")
        observed.record()
    if examples_too:
        progress("the spec is being searched")
        survey.record()
        examples.record(workers, progress)


def _serve(folder: Path, port: int) -> None:
    """The pages over HTTP, for this machine alone."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        out.print(f"http://127.0.0.1:{server.server_address[1]}/ until Ctrl-C", markup=False)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            out.print("ended")
