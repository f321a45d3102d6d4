"""Running vectors against a pool: judged call by call, and compared with what is expected where there is no choice.

The calls follow the pool: a symbol stands for the block that the pool answered last where the vector has the symbol. So
a pool that lends in another order is asked on, and judged by its own profile; only under the vector's own profile is
there one right answer to each call.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.oracle.adapter import Subject
from blockpool.proofs.oracle.session import NotStartedError, Trial, lent, renamed_call
from blockpool.proofs.oracle.vectors.answers import difference
from blockpool.proofs.oracle.vectors.vector import FOREIGN, NEGATIVE, NULL, Step, Vector
from blockpool.spec.contract.call_text import shown
from blockpool.spec.contract.calls import BlockName, Call
from blockpool.spec.contract.preconditions import wrong
from blockpool.spec.contract.profiles import Profile
from blockpool.spec.contract.violation import Broken, blocks_of

EXPECTED = "the_answer_is_as_expected"
"""What an answer breaks that is not the vector's, though the judge allows it."""

SPARED = frozenset({"cancel", "events"})
"""Operations that a vector can do without; if there is no cancelling, more is told later."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one vector. A vector that needs what the pool does not have is vacuous."""

    vector: Vector
    verdict: Verdict
    law: str = ""
    words: str = ""
    step: int = 0  # where it broke, from 1
    taken: int = 0  # steps that were asked


@dataclass
class Coverage:
    """What was put to the test."""

    operations: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    laws: Counter[str] = field(default_factory=Counter)


def consume(vectors: Iterable[Vector], subject: Subject, profile: Profile, coverage: Coverage) -> Iterator[Outcome]:
    """Run each; what it put to the test is added to the coverage."""
    for vector in vectors:
        yield _Consuming(vector, subject, profile, coverage).outcome()


class _Consuming:
    """One vector on one new pool."""

    def __init__(self, vector: Vector, subject: Subject, profile: Profile, coverage: Coverage) -> None:
        self.vector, self.subject, self.profile, self.coverage = vector, subject, profile, coverage
        self.exact = profile.name == vector.profile
        self.taken = 0

    def outcome(self) -> Outcome:
        needed = {step.call.op for step in self.vector.steps if not step.idle} - ({"events"} if self.exact else SPARED)
        missing = sorted(needed - self.subject.operations)
        if missing:
            return self._vacuous(f"the pool has no {', '.join(missing)}")
        try:
            self.trial = self._started()
        except NotStartedError as error:
            return self._vacuous(f"the pool does not start like this: {error}")
        except Broken as broken:
            return Outcome(self.vector, Verdict.REFUTED, broken.law, str(broken))
        self.trial.tested = self.coverage.laws
        self._name_blocks()
        for number, step in enumerate(self.vector.steps, 1):
            found = self._take(step)
            if found is not None:
                return Outcome(self.vector, Verdict.REFUTED, *found, step=number, taken=self.taken)
        return Outcome(self.vector, Verdict.HOLDS, taken=self.taken)

    def _vacuous(self, words: str) -> Outcome:
        return Outcome(self.vector, Verdict.VACUOUS, words=words)

    def _started(self) -> Trial:
        """The pool, without events if it has none or promises nothing about them."""
        start = self.vector.start
        events = start.events and "events" in self.subject.operations and self.profile.events != "none"
        try:
            return Trial(self.subject, self.profile, replace(start, events=events))
        except NotStartedError:
            if not events:
                raise
            return Trial(self.subject, self.profile, replace(start, events=False))

    def _name_blocks(self) -> None:
        """What the symbols stand for before the first answer."""
        begun = self.trial.begun
        self.names: dict[BlockName, BlockName] = {
            f"b{number}": block for number, block in enumerate(begun.order or (), 1)
        }
        below, above = self.trial.foreign[0], self.trial.foreign[-1]
        self.names |= {FOREIGN: above, **({NEGATIVE: below} if isinstance(below, int) else {})}
        if begun.reserved and self.profile.reserved == "skipped":
            self.names[NULL] = begun.reserved[0]

    def _take(self, step: Step) -> tuple[str, str] | None:
        """Ask what the vector asks, if it can be asked; the law that is broken, and how."""
        call = renamed_call(step.call, self.names)
        if call is None or call.op not in self.subject.operations or self._is_left_out(step.call, call):
            return None
        breach = self.trial.take(call)
        reply = self.trial.lines[-1].reply
        self.taken += 1
        self._count(call)
        if breach is not None:
            return breach.law, breach.words
        if step.call.op in ("alloc", "publish") and step.expect.answers:
            symbols = [symbol for symbol in step.expect.answers[0] or () if symbol != NULL]
            self._bind(symbols, [block for block in lent(reply) if block not in self.trial.begun.reserved])
        if not self.exact:
            return None
        words = difference(step.expect, call, reply, self.names)
        return None if words is None else (EXPECTED, f"{shown(call)} {words}")

    def _is_left_out(self, said: Call, call: Call) -> bool:
        """Wrong calls are left out where nothing is promised about them; they change nothing, so the rest fits."""
        if self.profile.misuse != "undefined":
            return False
        return wrong(self.trial.books, call) is not None or not {FOREIGN, NEGATIVE}.isdisjoint(blocks_of(said))

    def _bind(self, symbols: Sequence[BlockName], blocks: Sequence[BlockName]) -> None:
        for symbol, block in zip(symbols, blocks, strict=False):
            if not self.exact or symbol not in self.names:
                self.names[symbol] = block

    def _count(self, call: Call) -> None:
        self.coverage.operations[call.op] += 1
        place = len(self.trial.lines) - 1
        if place in self.trial.wrongs:
            self.coverage.refusals[self.trial.wrongs[place]] += 1
        elif place in self.trial.refusals:
            self.coverage.refusals[f"{call.op}, not enough free blocks"] += 1
