"""`blockpool conform`."""

from typing import Annotated

import typer

from blockpool.proofs.faces.cli.conforming import (
    Blocks,
    Calls,
    Misuse,
    ProfileName,
    Runs,
    check_profile,
    fail,
    judge,
    lasting,
)
from blockpool.proofs.faces.cli.console import out
from blockpool.proofs.faces.cli.session import Github, JsonFile, SarifFile, SaveFolder, Seed, Session, seeded
from blockpool.proofs.oracle.adapter import Subject
from blockpool.spec.contract.profiles import PROFILES


def conform(
    adapter: Annotated[
        str | None, typer.Argument(help="A shipped adapter, MODULE:CLASS, or FILE.py:CLASS.", show_default=False)
    ] = None,
    profile: ProfileName = None,
    profiles: Annotated[bool, typer.Option("--profiles", help="Say in words what each profile promises.")] = False,
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
    """Check any block pool: does it keep the promises of its profile?

    Every right call in every state of small pools, then long random runs, then wrong calls; a verdict for each law,
    with the fewest calls that break it. `blockpool adapters list` names the pools that are here; docs/adapters.md says
    how to write one for your own.
    """
    check_profile(profile)
    if profiles:
        _say(profile)
        raise typer.Exit
    if adapter is None:
        raise typer.BadParameter("which pool? `blockpool adapters list` names those that are here")
    subject = _subject(adapter)
    judge(
        Session(f"{subject.name}, {seeded(seed)}, {runs} runs of {calls} calls", json_file, save, sarif_file, github),
        subject,
        profile=profile,
        runs=runs,
        calls=calls,
        blocks=blocks,
        misuse=misuse,
        seed=seed,
        source=lasting(adapter),
    )


def _subject(adapter: str) -> Subject:
    from blockpool.proofs.systems.find import AdapterError, subject_of

    try:
        return subject_of(adapter)
    except AdapterError as error:
        fail(error)


def _say(profile: str | None) -> None:
    """What this profile promises, or all of them."""
    for one in [PROFILES[profile]] if profile is not None else PROFILES.values():
        out.print("\n  ".join([f"{one.name}: {one.sentence}", *one.in_words()]), markup=False)
