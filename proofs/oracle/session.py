"""A trial: one new pool with a judge beside it, and what was asked and answered so far; and trials done again.

Pools may name blocks as they like, so a trial is done again by meaning, not by name: a block is the one that the same
allocation answered at the same place. What is named but was not lent this time is left out of the call.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from blockpool.proofs.oracle.adapter import Subject, started
from blockpool.spec.contract import calls
from blockpool.spec.contract.call_text import answered, shown
from blockpool.spec.contract.calls import BlockName, Call, Fault, Ok, Refused, Reply, Start, Started
from blockpool.spec.contract.exercise import exercised
from blockpool.spec.contract.judge import Judge
from blockpool.spec.contract.laws import A_LEGAL_CALL_IS_DONE, ANSWERS_HAVE_THEIR_SHAPE
from blockpool.spec.contract.preconditions import Wrong
from blockpool.spec.contract.profiles import Profile
from blockpool.spec.contract.violation import Breach, Broken


class Line(NamedTuple):
    """One call and what came of it."""

    call: Call
    reply: Reply


def kind_of(call: Call, found: Wrong) -> str:
    """What kind of wrong call it is, in words."""
    return f"{call.op}, {found.reason}"


class NotStartedError(Exception):
    """The pool does not have this setting."""


class Trial:
    """A new pool under judgement."""

    def __init__(self, subject: Subject, profile: Profile, start: Start, tested: Counter[str] | None = None) -> None:
        """Starts the pool. Raises NotStartedError if it refuses, Broken if it fails."""
        self.subject, self.profile, self.start = subject, profile, start
        self.lines: list[Line] = []
        self.wrongs: dict[int, str] = {}  # places of the wrong calls among the lines, and their kinds
        self.refusals: list[int] = []  # places of right calls that were refused
        self.tested: Counter[str] | None = None  # counts which laws are put to the test, if anybody wants to know
        begun = started(subject, start)
        if isinstance(begun, Refused):
            raise NotStartedError(begun.reason)
        if isinstance(begun, Fault):
            raise Broken(A_LEGAL_CALL_IS_DONE.name, f"{shown(start)} {answered(begun)}")
        self.begun = begun
        try:
            self.judge = Judge(profile, start, self.begun, subject.operations)
        except ValueError as error:
            raise Broken(ANSWERS_HAVE_THEIR_SHAPE.name, f"start answered {self.begun!r}: {error}") from error
        self.books = self.judge.books

    def take(self, call: Call) -> Breach | None:
        """Ask the pool, and judge."""
        if self.tested is not None:
            self.tested.update(exercised(self.books, call))
        reply = self.subject.ask(call)
        breach = self.judge.judge(call, reply)
        if self.judge.wrong is not None:
            self.wrongs[len(self.lines)] = kind_of(call, self.judge.wrong)
        elif type(reply) is Refused:
            self.refusals.append(len(self.lines))
        self.lines.append(Line(call, reply))
        return breach

    def take_all(self, chosen: Sequence[Call]) -> Breach | None:
        """Take these calls, up to the first breach."""
        for call in chosen:
            breach = self.take(call)
            if breach is not None:
                return breach
        return None

    @property
    def foreign(self) -> tuple[BlockName, ...]:
        """Names of blocks that are not of this pool."""
        return foreign(self.begun, self.books.refs)


def foreign(begun: Started, known: "Sequence[BlockName] | dict[BlockName, int]") -> tuple[BlockName, ...]:
    """Names of the same kind as those of this pool that are not among them."""
    named = [*begun.reserved, *known]
    if named and all(isinstance(block, str) for block in named):
        return ("foreign",)
    return (-1, begun.capacity + 100)


def again(trial: Trial, lines: Sequence[Line]) -> Breach | None:
    """Take the calls of these lines in a new trial, up to the first breach."""
    names: dict[BlockName, BlockName] = {block: block for block in (*trial.begun.reserved, *trial.foreign)}
    names.update((block, block) for block in trial.begun.order or ())
    for call, reply in lines:
        renamed = renamed_call(call, names)
        if renamed is None:
            continue
        breach = trial.take(renamed)
        if breach is not None:
            return breach
        if isinstance(call, calls.Alloc):
            names.update(zip(lent(reply), lent(trial.lines[-1].reply), strict=False))
    return None


def lent(reply: Reply) -> tuple[BlockName, ...]:
    """The blocks of an answer."""
    return reply.value if isinstance(reply, Ok) and isinstance(reply.value, tuple) else ()  # type: ignore[return-value]


def renamed_call(call: Call, names: dict[BlockName, BlockName]) -> Call | None:
    """The call on the blocks of this trial; None if nothing of it is left."""
    match call:
        case calls.Publish():
            kept = [place for place, block in enumerate(call.blocks) if block in names]
            if len(call.blocks) == len(call.keys) == len(call.tokens):
                call = replace(
                    call,
                    keys=tuple(call.keys[place] for place in kept),
                    tokens=tuple(call.tokens[place] for place in kept),
                )
            renamed: Call = replace(call, blocks=tuple(names[call.blocks[place]] for place in kept))
            return renamed if kept or not call.blocks else None
        case calls.Share(blocks) | calls.Free(blocks) | calls.Unpublish(blocks) | calls.Unpin(blocks, _):
            kept_blocks = tuple(names[block] for block in blocks if block in names)
            return replace(call, blocks=kept_blocks) if kept_blocks or not blocks else None
        case calls.PublishPartial() | calls.Cancel() | calls.Writable():
            return replace(call, block=names[call.block]) if call.block in names else None
        case calls.Move(source, target):
            return calls.Move(names[source], names[target]) if source in names and target in names else None
        case _:
            return call
