"""`blockpool drive`."""

from typing import Annotated

import typer

from blockpool.proofs.faces.cli.conforming import Blocks, Calls, Misuse, ProfileName, Runs, check_profile, fail, judge
from blockpool.proofs.faces.cli.session import Github, JsonFile, SarifFile, SaveFolder, Seed, Session, seeded


def drive(
    command: Annotated[list[str], typer.Argument(help="The command that runs the pool, after `--`.")],
    profile: ProfileName = None,
    timeout: Annotated[float, typer.Option(min=0.01, help="Seconds that an answer may take.")] = 10.0,
    runs: Runs = 100,
    calls: Calls = 60,
    blocks: Blocks = 12,
    misuse: Misuse = None,
    seed: Seed = None,
    json_file: JsonFile = None,
    sarif_file: SarifFile = None,
    github: Github = False,
    save: SaveFolder = None,
) -> None:
    """Check a pool in any language: a process that reads calls and writes replies, one JSON object a line.

    As `blockpool conform`, across a pipe: docs/pipe.md is the protocol, and tests/proofs/oracle/subject.c a complete
    example. A process that exits, hangs or answers garbage is a verdict, too.

        blockpool drive --profile order-a -- ./subject
    """
    from blockpool.proofs.oracle.pipe import PipeSubject, SubjectFailedError

    check_profile(profile)
    try:
        subject = PipeSubject(command, timeout)
    except SubjectFailedError as error:
        fail(error)
    note = f"{subject.name}, {seeded(seed)}, {runs} runs of {calls} calls"
    judge(
        Session(note, json_file, save, sarif_file, github),
        subject,
        profile=profile,
        runs=runs,
        calls=calls,
        blocks=blocks,
        misuse=misuse,
        seed=seed,
        source=None,
    )
