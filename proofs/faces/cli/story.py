"""`blockpool story`."""

from pathlib import Path
from typing import Annotated

import typer

from blockpool.proofs.faces.cli.console import err, out
from blockpool.proofs.faces.cli.session import HtmlFile, check_folders


def story(
    file: Annotated[Path, typer.Argument(help="A trace, or what a command wrote with --json.")],
    profile: Annotated[
        str | None, typer.Option(help="What the pool of a trace promises; the trace's own if none.")
    ] = None,
    last: Annotated[
        int, typer.Option(min=1, help="Of a trace, tell so many calls, up to the first that is wrong.")
    ] = 40,
    html_file: HtmlFile = None,
) -> None:
    """Tell a trace or the counterexamples of a run call by call: what was answered, and what changed.

    With --html the same as a page on which each state is drawn and the calls can be stepped through.
    """
    from blockpool.proofs.faces.explorer.page import explorer_page
    from blockpool.proofs.faces.stories.story import read_stories, told

    check_folders(html_file)
    try:
        stories = read_stories(file, profile, last)
    except (ValueError, OSError) as error:
        err.print(f"error: {file}: {error}", style="red", markup=False)
        raise typer.Exit(2) from error
    if not stories:
        err.print(f"error: {file}: there is no counterexample in it that can be told", style="red", markup=False)
        raise typer.Exit(2)
    out.print("\n\n".join(map(told, stories)), markup=False)
    if html_file is not None:
        html_file.write_text(explorer_page(stories=stories), encoding="utf-8")
        out.print(f"wrote {html_file}")
