"""The `blockpool` command.

Exit codes: 0 everything holds; 1 something is refuted; 2 wrong usage or bad input; 3 inconclusive; 4 vacuous;
70 the tool itself failed; 130 interrupted.
"""

import sys
from traceback import print_exc

import typer

from blockpool.proofs.faces.cli.adapters import app as adapters
from blockpool.proofs.faces.cli.audit import audit
from blockpool.proofs.faces.cli.bench import app as bench
from blockpool.proofs.faces.cli.check import check
from blockpool.proofs.faces.cli.conform import conform
from blockpool.proofs.faces.cli.console import err
from blockpool.proofs.faces.cli.detect import detect
from blockpool.proofs.faces.cli.docs import docs
from blockpool.proofs.faces.cli.doctor import doctor
from blockpool.proofs.faces.cli.drive import drive
from blockpool.proofs.faces.cli.explain import explain
from blockpool.proofs.faces.cli.explore import explore
from blockpool.proofs.faces.cli.ledger import app as ledger
from blockpool.proofs.faces.cli.mutate import mutate
from blockpool.proofs.faces.cli.prove import prove
from blockpool.proofs.faces.cli.refine import refine
from blockpool.proofs.faces.cli.replay import replay
from blockpool.proofs.faces.cli.report import report
from blockpool.proofs.faces.cli.story import story
from blockpool.proofs.faces.cli.symbolic import symbolic
from blockpool.proofs.faces.cli.vectors import app as vectors

FAILED = 70
"""The exit code when the tool itself failed: EX_SOFTWARE of sysexits.h."""

app = typer.Typer(
    name="blockpool",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="What a KV-cache block pool promises, and whether it keeps it. Start with `blockpool check`.",
    epilog="Exit codes: 0 all holds, 1 refuted, 2 wrong usage or input, 3 inconclusive, 4 vacuous, 70 the tool failed, "
    "130 interrupted.",
)

COMMANDS = (
    *(check, explore, prove, refine, symbolic, detect, mutate, replay),  # this pool
    *(conform, drive, audit),  # any pool
    *(explain, story, report, docs, doctor),
)
for command in COMMANDS:
    app.command()(command)
for name, group in {"adapters": adapters, "vectors": vectors, "ledger": ledger, "bench": bench}.items():
    app.add_typer(group, name=name)


def main() -> None:
    """Entry point of the console command. A failure of the tool must not pass for a refutation, which is 1."""
    try:
        app()
    except Exception:  # noqa: BLE001  whatever it is, it is ours
        print_exc()
        err.print("blockpool itself failed: this says nothing about the pool. Please report it.", style="red")
        sys.exit(FAILED)


if __name__ == "__main__":
    main()
