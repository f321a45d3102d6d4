"""A counterexample run again, from what was saved."""

from collections.abc import Sequence

from blockpool.proofs.oracle.adapter import Subject
from blockpool.proofs.oracle.session import Trial
from blockpool.proofs.systems.find import subject_of
from blockpool.spec.contract.calls import Call, Start
from blockpool.spec.contract.profiles import Profile, profile_of


def rerun(adapter: str | Subject, profile: str | Profile, start: Start, chosen: Sequence[Call]) -> None:
    """Take these calls on a new pool. Raises AssertionError if the profile does not allow what comes of them."""
    subject = subject_of(adapter) if isinstance(adapter, str) else adapter
    breach = Trial(subject, profile_of(profile), start).take_all(chosen)
    if breach is not None:
        raise AssertionError(f"{breach.law}: {breach.words}")
