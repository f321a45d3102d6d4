"""What the three streams of `conform` share: trials of one subject, what was tested, and what was found."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from blockpool.proofs.oracle.adapter import Subject
from blockpool.proofs.oracle.call_generator import probes
from blockpool.proofs.oracle.example import OracleExample
from blockpool.proofs.oracle.session import Line, NotStartedError, Trial, again
from blockpool.proofs.oracle.shrink import shrunk
from blockpool.spec.contract import calls
from blockpool.spec.contract.call_text import answered, shown
from blockpool.spec.contract.calls import Call, Ok, Start
from blockpool.spec.contract.laws import (
    A_REFUSAL_CHANGES_NOTHING,
    A_REPEATED_RELEASE_COUNTS_EACH_NAMING,
    A_WRONG_CALL_DOES_NO_DAMAGE,
)
from blockpool.spec.contract.profiles import Profile
from blockpool.spec.contract.shadow_state import Books
from blockpool.spec.contract.violation import Breach, Broken

REPEATS = A_REPEATED_RELEASE_COUNTS_EACH_NAMING.name
REFUSALS = A_REFUSAL_CHANGES_NOTHING.name
DAMAGE = A_WRONG_CALL_DOES_NO_DAMAGE.name

ALONE = frozenset({"writable", "cancel", "events"})
"""Operations that can be left out once they are known to answer wrongly, to see what else is broken."""


class Hunt:
    """One subject under one profile: hands out trials, and keeps a smallest counterexample of each claim."""

    def __init__(self, subject: Subject, profile: Profile, source: str) -> None:
        self.subject, self.profile, self.source = subject, profile, source
        self.operations = subject.operations
        self.tested: Counter[str] = Counter()  # how often each claim could have been refuted
        self.examples: dict[str, OracleExample] = {}
        self.avoided: set[str] = set()  # what is left out from now on, since it is known to break something
        self.states = self.edges = self.runs = self.wrong_calls = 0

    def trial(self, start: Start, profile: Profile | None = None) -> Trial | None:
        """A new trial, or None if the pool has not this setting, or cannot even start."""
        try:
            return Trial(self.subject, profile or self.profile, start)
        except NotStartedError:
            return None
        except Broken as broken:
            breach = Breach(broken.law, "pool", broken.words)
            empty = OracleExample(broken.law, breach, self.source, self.profile, start, ())
            self.examples.setdefault(broken.law, empty)
            return None

    def replayed(self, start: Start, lines: Sequence[Line], profile: Profile | None = None) -> Trial | None:
        """A new trial in which these calls were taken again, up to the first breach."""
        trial = self.trial(start, profile)
        if trial is not None:
            again(trial, lines)
        return trial

    def avoids(self, books: Books, call: Call) -> bool:
        """Is the call left out?"""
        return bool(self.avoided) and (call.op in self.avoided or not self.avoided.isdisjoint(_special(books, call)))

    def found(self, trial: Trial, claim: str | None = None) -> None:
        """A trial ended with a breach: shrink it, unless one like it is known."""
        trial = self._blamed_rightly(trial)
        breach = trial.judge.ended
        assert breach is not None
        law, wrongs = breach.law, list(trial.wrongs.values())
        if (claim or law) in self.examples:
            return

        def once_more(blocks: int, lines: Sequence[Line]) -> Trial | None:
            other = self.replayed(replace(trial.start, blocks=blocks), lines, trial.profile)
            shows = other is not None and other.judge.ended is not None and other.judge.ended.law == law
            return other if other is not None and shows and list(other.wrongs.values()) == wrongs else None

        small = shrunk(trial, once_more)
        self._keep(claim or law, small, small.judge.ended or breach)

    def damage(self, start: Start, lines: Sequence[Line], call: Call, claim: str, profile: Profile) -> bool:
        """Does a call that should change nothing change something? Shown by what comes after, with it and without."""
        self.tested[claim] += 1
        trial = self._probed(start, [*lines, Line(call, Ok())], profile)
        if trial is None or not self._harmed(trial, claim):
            return False
        if claim in self.examples:
            return True

        def once_more(blocks: int, fewer: Sequence[Line]) -> Trial | None:
            other = self.replayed(replace(start, blocks=blocks), fewer, profile)
            return other if other is not None and self._harmed(other, claim) else None

        small = shrunk(trial, once_more)
        place = _culprits(small, claim)[0]
        culprit, breach = small.lines[place], small.judge.ended
        assert breach is not None
        later = f", and so {breach.words}" if place < len(small.lines) - 1 else ""
        words = f"{shown(culprit.call)} {answered(culprit.reply)} and should have changed nothing{later}"
        self._keep(claim, small, Breach(claim.partition(":")[0], "pool", words, breach.block))
        return True

    def _probed(self, start: Start, lines: Sequence[Line], profile: Profile) -> Trial | None:
        trial = self.replayed(start, lines, profile)
        if trial is None or trial.judge.ended is not None:
            return trial
        for call in probes(trial.books, self.operations, start.groups):
            if not self.avoids(trial.books, call) and trial.take(call) is not None:
                break
        return trial

    def _harmed(self, trial: Trial, claim: str) -> bool:
        """Does it end in a breach that is not there without the one call that should have changed nothing?"""
        culprits = _culprits(trial, claim)
        if trial.judge.ended is None or not culprits or len(trial.wrongs) > 1:
            return False
        if culprits[0] == len(trial.lines) - 1:
            return True
        rest = [line for place, line in enumerate(trial.lines) if place != culprits[0]]
        twin = self.replayed(trial.start, rest, trial.profile)
        return twin is not None and twin.judge.ended is None

    def _blamed_rightly(self, trial: Trial) -> Trial:
        """If it also goes wrong when each repeated naming is a release of its own, the repeats are not to blame."""
        breach = trial.judge.ended
        if breach is None or breach.law != REPEATS:
            return trial
        split = self.replayed(trial.start, list(_one_by_one(trial.lines)), trial.profile)
        fails = split is not None and split.judge.ended is not None and split.judge.ended.party != "caller"
        return split if split is not None and fails else trial

    def _keep(self, claim: str, trial: Trial, breach: Breach) -> None:
        lines, operations = tuple(trial.lines), frozenset(self.operations)
        self.examples[claim] = OracleExample(
            claim, breach, self.source, trial.profile, trial.start, lines, trial.begun, operations
        )
        if trial.wrongs:
            return  # wrong calls have a stream of their own
        special = set().union(*(_special(trial.books, call) for call, _ in trial.lines))
        self.avoided |= special or {trial.lines[-1].call.op} & ALONE


def _culprits(trial: Trial, claim: str) -> list[int]:
    """The places of the calls that the claim is about."""
    if claim == REFUSALS:
        return trial.refusals
    return [place for place, kind in trial.wrongs.items() if claim.endswith(f": {kind}")]


def _special(books: Books, call: Call) -> set[str]:
    """What is special about a call, besides its operation."""
    special = set()
    if isinstance(call, calls.Free | calls.Unpin) and len(set(call.blocks)) < len(call.blocks):
        special.add("repeats")
    if not books.reserved.isdisjoint(getattr(call, "blocks", ())):
        special.add("reserved blocks")
    return special


def _one_by_one(lines: Iterable[Line]) -> Iterable[Line]:
    """Each release that repeats a block as one release for each naming."""
    for line in lines:
        call = line.call
        if isinstance(call, calls.Free | calls.Unpin) and len(set(call.blocks)) < len(call.blocks):
            yield from (Line(replace(call, blocks=(block,)), line.reply) for block in call.blocks)
        else:
            yield line
