"""What `conform` and `drive` share: check one subject, print a verdict for each law, and end."""

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from blockpool.proofs.faces.cli.console import Progress, err, out
from blockpool.proofs.faces.cli.session import Session, interruptible
from blockpool.proofs.faces.stories.explain import nearest
from blockpool.proofs.oracle.adapter import Subject
from blockpool.spec.contract.profiles import PROFILES

ProfileName = Annotated[
    str | None, typer.Option("--profile", help="What the pool has to promise; what it says itself if none is named.")
]
Runs = Annotated[int, typer.Option(min=1, help="Random runs on larger pools.")]
Calls = Annotated[int, typer.Option(min=1, help="Calls in each of them.")]
Blocks = Annotated[int, typer.Option(min=2, help="Blocks of the larger pools.")]
Misuse = Annotated[
    bool | None,
    typer.Option(
        "--misuse/--no-misuse",
        help="Make wrong calls too, which must do no damage. If the profile says what becomes of them by default.",
    ),
]


def check_profile(profile: str | None) -> None:
    """Raises BadParameter for a profile that there is not."""
    if profile is not None and profile not in PROFILES:
        raise typer.BadParameter(f"there is no profile {profile!r}. {nearest(profile, PROFILES)}")


def judge(
    session: Session,
    subject: Subject,
    *,
    profile: str | None,
    runs: int,
    calls: int,
    blocks: int,
    misuse: bool | None,
    seed: int | None,
    source: str | None,
) -> None:
    """Check the subject, and close it."""
    from blockpool.proofs.oracle.conformance import CannotStartError, conform

    options = {"runs": runs, "calls": calls, "blocks": blocks, "misuse": misuse, "seed": seed, "source": source}
    with interruptible(session), Progress() as progress:
        try:
            report = conform(subject, profile, progress=progress, **options)  # type: ignore[arg-type]
        except (CannotStartError, ValueError) as error:
            fail(error)
        finally:
            subject.close()
        session.decide(report.obligations)
    for label, names in (("not promised", report.not_promised), ("no such operation", report.not_asked)):
        if names:
            out.print(f"{label}: {', '.join(names)}", style="dim", markup=False)
    out.print(", ".join(f"{count:,} {what}" for what, count in report.figures.items()), style="dim", markup=False)
    session.end()


def fail(error: Exception) -> NoReturn:
    """End with the message, as wrong usage or input."""
    err.print(f"error: {error}", style="red", markup=False)
    raise typer.Exit(2) from error


def lasting(adapter: str) -> str:
    """The adapter as a saved test can name it, from whatever folder it runs."""
    place, colon, attribute = adapter.rpartition(":")
    return f"{Path(place).absolute()}:{attribute}" if colon and place.endswith(".py") else adapter
