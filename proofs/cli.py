"""The `blockpool` command.

Exit codes: 0 everything holds; 1 something is refuted; 2 wrong usage or bad input; 3 inconclusive; 4 vacuous;
130 interrupted.
"""

import typer

from proofs.commands.adapters import app as adapters
from proofs.commands.audit import audit
from proofs.commands.bench import app as bench
from proofs.commands.check import check
from proofs.commands.conform import conform
from proofs.commands.detect import detect
from proofs.commands.docs import docs
from proofs.commands.doctor import doctor
from proofs.commands.drive import drive
from proofs.commands.explain import explain
from proofs.commands.explore import explore
from proofs.commands.ledger import app as ledger
from proofs.commands.mutate import mutate
from proofs.commands.prove import prove
from proofs.commands.refine import refine
from proofs.commands.replay import replay
from proofs.commands.report import report
from proofs.commands.story import story
from proofs.commands.symbolic import symbolic
from proofs.commands.vectors import app as vectors

app = typer.Typer(
    name="blockpool",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="What a KV-cache block pool promises, and whether it keeps it. Start with `blockpool check`.",
    epilog="Exit codes: 0 all holds, 1 refuted, 2 wrong usage or input, 3 inconclusive, 4 vacuous, 130 interrupted.",
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
    """Entry point of the console command."""
    app()


if __name__ == "__main__":
    main()
