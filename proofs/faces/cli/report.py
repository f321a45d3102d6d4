"""`blockpool report`."""

from pathlib import Path
from typing import Annotated

import typer

from blockpool.proofs.faces.cli.console import err, out
from blockpool.proofs.faces.cli.session import check_folders


def report(
    run: Annotated[Path, typer.Argument(help="What a command wrote with --json.")],
    html_file: Annotated[Path, typer.Option("--html", help="The page to write.")],
) -> None:
    """Make one page of a run: verdicts, coverage, figures, counterexamples to play, versions. To attach to CI."""
    from blockpool.proofs.faces.handbook.report import read_run, report_page

    check_folders(html_file)
    try:
        page = report_page(read_run(run))
    except (ValueError, OSError) as error:
        err.print(f"error: {run}: {error}", style="red", markup=False)
        raise typer.Exit(2) from error
    html_file.write_text(page, encoding="utf-8")
    out.print(f"wrote {html_file}")
