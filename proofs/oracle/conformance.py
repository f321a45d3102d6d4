"""Does a pool keep its promises? Three streams of calls, and a verdict for each law.

    report = conform(InProcess(MyPool()))
    report.obligations        # one for each law that the profile promises and the pool can be asked about

Right calls in every state of small pools; long runs on larger ones; and wrong calls, if the profile says what becomes
of them, or if they are asked for.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter

from blockpool.proofs.core.obligation import Obligation, Verdict
from blockpool.proofs.oracle.adapter import Subject
from blockpool.proofs.oracle.campaign import Hunt
from blockpool.proofs.oracle.misuse_stream import misuse as misuse_stream
from blockpool.proofs.oracle.sample_stream import sample
from blockpool.proofs.oracle.search_stream import search
from blockpool.spec.contract.laws import (
    A_REFUSAL_CHANGES_NOTHING,
    A_REPEATED_RELEASE_COUNTS_EACH_NAMING,
    BLOCKS_ARE_LENT_IN_ORDER,
    LAWS,
    THE_LONGEST_RELEASED_IS_EVICTED_FIRST,
    Law,
)
from blockpool.spec.contract.profiles import Profile, profile_of

METHOD = "conform"

UNTESTED = "nothing that was tried could have refuted it"


@dataclass(frozen=True, slots=True)
class Report:
    """What came of it."""

    obligations: list[Obligation]
    not_promised: list[str]  # laws that this profile leaves open
    not_asked: list[str]  # laws about operations that the pool does not have
    figures: dict[str, int]


class CannotStartError(Exception):
    """The pool starts with no setting at all."""


def conform(
    subject: Subject,
    profile: str | Profile | None = None,
    *,
    runs: int = 100,
    calls: int = 60,
    blocks: int = 12,
    seed: int | None = None,
    misuse: bool | None = None,
    progress: Callable[[str], None] = lambda _: None,
    source: str | None = None,
) -> Report:
    """Drive the subject, and judge it by the profile, its own if none is given.

    `misuse`: make wrong calls too? By default, if the profile says what becomes of them; if it does not, they have to
    do no damage. `source` is how a saved test names the subject.
    """
    begun = perf_counter()
    hunt = Hunt(subject, profile_of(subject.profile if profile is None else profile), source or subject.name)
    progress("searching small pools")
    reached = search(hunt)
    if not reached and not hunt.examples:
        raise CannotStartError(f"{subject.name} starts with none of the settings that are tried")
    progress(f"{hunt.states} states, {hunt.edges} calls; now long runs")
    sample(hunt, runs, calls, blocks, seed)
    if hunt.profile.misuse != "undefined" if misuse is None else misuse:
        progress("making wrong calls")
        misuse_stream(hunt, reached)
    return _report(hunt, perf_counter() - begun)


def _report(hunt: Hunt, seconds: float) -> Report:
    misused = {claim.partition(":")[0] for claim in hunt.tested if ":" in claim}
    promised = [law for law in LAWS if is_promised(law, hunt.profile) and law.knob != "misuse"]
    asked = [law.name for law in promised if law.needs is None or law.needs in hunt.operations]
    claims = [*asked, *sorted(claim for claim in hunt.tested if ":" in claim)]
    return Report(
        [replace(_obligation(hunt, claim), seconds=seconds) for claim in claims],
        [law.name for law in LAWS if law not in promised and law.name not in misused],
        [law.name for law in promised if law.name not in asked],
        {"states": hunt.states, "edges": hunt.edges, "runs": hunt.runs, "wrong calls": hunt.wrong_calls},
    )


def is_promised(law: Law, profile: Profile) -> bool:
    """Does the profile make this promise?"""
    match law.name:
        case BLOCKS_ARE_LENT_IN_ORDER.name:
            return profile.has_queue
        case THE_LONGEST_RELEASED_IS_EVICTED_FIRST.name:
            return profile.order == "lru"
        case A_REPEATED_RELEASE_COUNTS_EACH_NAMING.name:
            return profile.repeats == "counted"
        case A_REFUSAL_CHANGES_NOTHING.name:
            return profile.exhaustion != "may_evict"
        case _:
            return law.knob is None or getattr(profile, law.knob) not in ("any", "at_will", "none", "undefined")


def _obligation(hunt: Hunt, claim: str) -> Obligation:
    tested, example = hunt.tested[claim], hunt.examples.get(claim)
    if example is not None:
        verdict, words = Verdict.REFUTED, example.words
    elif tested:
        verdict, words = Verdict.HOLDS, ""
    else:
        verdict, words = Verdict.VACUOUS, UNTESTED
    return Obligation(claim, METHOD, hunt.profile.name, verdict, {"tested": tested}, 0.0, words, example)
