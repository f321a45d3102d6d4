"""A counterexample of the oracle: the shortest calls that were found, told step by step, and as a test."""

from dataclasses import dataclass
from typing import Any

from blockpool.proofs.oracle.session import Line
from blockpool.spec.contract.call_text import answered, shown
from blockpool.spec.contract.calls import Ok, Start, Started
from blockpool.spec.contract.profiles import PROFILES, Profile
from blockpool.spec.contract.violation import Breach


@dataclass(frozen=True, slots=True)
class OracleExample:
    """A broken law, and the calls that break it."""

    claim: str
    breach: Breach
    adapter: str
    profile: Profile
    start: Start
    lines: tuple[Line, ...]
    begun: Started | None = None  # what the pool said of itself; None if it did not even start
    operations: frozenset[str] = frozenset()

    @property
    def words(self) -> str:
        """What went wrong, and whose fault it is."""
        party = self.breach.party
        return f"{self.breach.words} ({party if party == 'outside the profile' else f'{party} at fault'})"

    def story(self) -> str:
        """What is broken, and the calls that break it."""
        head = f"{self.claim} is broken after {len(self.lines)} calls: {self.breach.sentence}"
        return f"{head}\n\n{self.steps()}\n\n  {self.words}"

    def steps(self) -> str:
        """The calls with their answers."""
        options = f"caching {'on' if self.start.caching else 'off'}, events {'on' if self.start.events else 'off'}"
        lines = [f"  a new pool of {self.start.blocks} blocks, {options}; profile {self.profile.name}"]
        for number, (call, reply) in enumerate(self.lines, 1):
            lines.append(f"  {number}. {shown(call)}")
            if not (isinstance(reply, Ok) and reply.value is None and not reply.told):
                lines.append(f"       {answered(reply)}")
        return "\n".join(lines)

    def pytest_source(self) -> str:
        """A test that fails as long as the law is broken."""
        body = "".join(f"        {call!r},\n" for call, _ in self.lines)
        named = PROFILES.get(self.profile.name) == self.profile
        name = "".join(letter if letter.isalnum() else "_" for letter in self.claim)
        return (
            "from blockpool.proofs.oracle import *\n"
            "from blockpool.proofs.systems.rerun import rerun\n\n\n"
            f"def test_{name}():\n"
            f'    """{self.breach.sentence}"""\n'
            f"    profile = {(self.profile.name if named else self.profile)!r}\n"
            f"    calls = [\n{body}    ]\n"
            f"    rerun({self.adapter!r}, profile, {self.start!r}, calls)\n"
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "claim": self.claim,
            "law": self.breach.law,
            "sentence": self.breach.sentence,
            "party": self.breach.party,
            "calls": [shown(call) for call, _ in self.lines],
            "words": self.words,
            "pytest": self.pytest_source(),
        }
