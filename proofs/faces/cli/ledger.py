"""`blockpool ledger`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from blockpool.proofs.core.figures import FILE, SECTIONS, Ledger, differences, measured, merged, read, write
from blockpool.proofs.faces.cli.console import err, out

app = typer.Typer(no_args_is_help=True, help="Figures that may change only on purpose: counts, budgets, kill scores.")


@app.command()
def show(
    section: Annotated[str | None, typer.Argument(help=f"One of {', '.join(SECTIONS)}; all if none is named.")] = None,
) -> None:
    """Print what is recorded."""
    if section is not None and section not in SECTIONS:
        raise typer.BadParameter(f"there is no section {section!r}; there are {', '.join(SECTIONS)}")
    entries = read(FILE)
    for name in SECTIONS if section is None else (section,):
        out.print(f"{name}: {len(entries[name])}", style="bold", markup=False)
        for key in sorted(entries[name]):
            out.print(f"  {key}: {json.dumps(entries[name][key])}", markup=False)


@app.command()
def accept(
    runs: Annotated[list[Path], typer.Argument(help="Files that commands wrote with --json (or --matrix).")],
    whole: Annotated[
        bool, typer.Option("--whole", help="Drop what these runs did not measure from the sections they measured.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the difference, write nothing.")] = False,
) -> None:
    """Record the figures of these runs: shows what changes, and writes it.

    Counts, budgets of proofs, kill scores and the detection matrix are taken from `check`, `explore`, `prove`, `mutate`
    and `detect`; a figure that no run measured stays as it is.
    """
    new: Ledger = {section: {} for section in SECTIONS}
    for run in runs:
        new = merged(new, _figures(run))
    if not any(new.values()):
        err.print("error: there are no figures for the ledger in these files", style="red")
        raise typer.Exit(2)
    old = read(FILE)
    changed = merged(old, new, whole=whole)
    lines = differences(old, changed)
    for line in lines:
        out.print(line, markup=False)
    if dry_run or not lines:
        out.print("nothing changes" if not lines else f"{len(lines)} entries would change")
        return
    write(changed, FILE)
    out.print(f"{len(lines)} entries changed in {FILE}", markup=False)


def _figures(run: Path) -> Ledger:
    try:
        return measured(json.loads(run.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        err.print(f"error: {run} cannot be read as a run: {type(error).__name__}: {error}", style="red", markup=False)
        raise typer.Exit(2) from error
