"""Filling a folder with vectors: the runs of a cover, with the replies of a profile."""

from collections.abc import Iterable
from dataclasses import replace

from blockpool.proofs.bindings.call_of_action import call_of, reply_of
from blockpool.proofs.explore.scopes import Scope
from blockpool.proofs.oracle.session import lent, renamed_call
from blockpool.proofs.oracle.vectors.answers import Names, alternatives, the_one
from blockpool.proofs.oracle.vectors.cover import Run, cover
from blockpool.proofs.oracle.vectors.vector import FOREIGN, NEGATIVE, NULL, Expect, Receipt, Vector
from blockpool.proofs.oracle.vectors.vector import Step as VectorStep
from blockpool.proofs.oracle.vectors.walk import CORE, shown, walk
from blockpool.spec import Step
from blockpool.spec.contract.calls import Call, Ok, Refused, Start
from blockpool.spec.contract.exercise import exercised
from blockpool.spec.contract.laws import A_REFUSAL_CHANGES_NOTHING, A_WRONG_CALL_DOES_NO_DAMAGE, A_WRONG_CALL_IS_REFUSED
from blockpool.spec.contract.permitted import Model
from blockpool.spec.contract.preconditions import wrong
from blockpool.spec.contract.profiles import Profile
from blockpool.spec.contract.shadow_state import Books
from blockpool.spec.pool.terms import Reason

BINDING = ("alloc", "publish")
"""The operations whose answers say what the caller holds."""

MISUSE = (A_WRONG_CALL_IS_REFUSED.name, A_WRONG_CALL_DOES_NO_DAMAGE.name)

MOST_NAMED = 4
"""So many of the things that only this vector shows are told in words."""

DEPTH = 4
"""Calls to the states that are walked, the taking of events not counted."""


class OpenProfileError(ValueError):
    """The profile leaves open what a pool answers, so that there is nothing to expect."""


def vectors_of(parts: Iterable[Scope], profile: Profile, depth: int = DEPTH) -> list[Vector]:
    """The vectors of these scopes. Raises OpenProfileError."""
    check_exact(profile)
    parts = list(parts)
    runs = cover([walk(parts, depth, CORE), walk(parts, depth)])
    made = [vector_of(run, profile) for run in runs]
    width = len(str(len(made)))
    return [replace(vector, name=f"{number:0{width}}-{vector.name}") for number, vector in enumerate(made, 1)]


def vector_of(run: Run, profile: Profile) -> Vector:
    """The run as a vector, named by the call that it is for."""
    return _Filling(run, profile).vector()


def check_exact(profile: Profile) -> None:
    """Raises OpenProfileError for a profile under which two right pools may answer differently."""
    left_open = {
        "order": not profile.has_queue,
        "keys_last": profile.keys_may_go,
        "duplicates": profile.duplicates == "any",
        "exhaustion": profile.exhaustion != "exact",
        "reset": profile.reset == "any",
    }
    knobs = [f"{knob} = {getattr(profile, knob)}" for knob, is_open in left_open.items() if is_open]
    if knobs:
        raise OpenProfileError(
            f"profile {profile.name} leaves open what a pool answers ({', '.join(knobs)}): there is nothing to expect. "
            "Fill with strict or an order-…, and consume with this profile"
        )


class _Filling:
    """One run, taken by the model of a profile, and written down."""

    def __init__(self, run: Run, profile: Profile) -> None:
        self.run, self.profile = run, profile
        part = run.part
        self.start = Start(part.blocks, part.caching, part.reporting, len(part.groups))
        self.model = Model(profile)
        self.model.ask(self.start)
        self.names: Names = {block: block for block in range(-1, part.blocks + 2)}
        self.symbols: Names = {-1: NEGATIVE, 0: NULL, part.blocks + 1: FOREIGN}
        self.symbols.update({block: f"b{block}" for block in range(1, part.blocks + 1)})
        self.steps: list[VectorStep] = []
        self.operations: set[str] = {"start"}
        self.refusals: set[str] = set()
        self.laws: set[str] = set()
        self.possibilities: set[str] = set()

    def vector(self) -> Vector:
        for step in self.run.steps():
            self._take(step)
        of_spec = self.profile.name == "strict"
        purpose = call_of(self.run.part.first_state(), self.run.purpose)
        assert purpose is not None
        alone = sorted(self.run.alone)
        more = f"; and {len(alone) - MOST_NAMED} more" if len(alone) > MOST_NAMED else ""
        about = f"scope {self.run.part.name}; only here: {'; '.join(alone[:MOST_NAMED])}{more}"
        receipt = Receipt(
            tuple(sorted(self.operations)),
            tuple(sorted(self.refusals)),
            tuple(sorted(self.laws)),
            tuple(sorted(self.possibilities)) if of_spec else (),
        )
        return Vector(purpose.op, about, self.profile.name, self.start, tuple(self.steps), receipt)

    def _take(self, step: Step) -> None:
        call = call_of(step.before, step.action)
        asked = None if call is None else renamed_call(call, self.names)
        if asked is None:
            return
        books = self.model.books
        found = wrong(books, asked)
        if found is not None and self.profile.misuse != "strict":
            return  # nothing is promised, or not that it is refused
        if asked.op == "events" and not (books.reporting and self.profile.events == "copy"):
            return
        self.laws.update(exercised(books, asked))
        allowed = alternatives(books, asked, self.symbols)
        before = _state(books)
        reply = self.model.ask(asked)
        if isinstance(reply, Refused):
            self._refused(step, asked, reply)
        else:
            assert isinstance(reply, Ok)
            self._write(asked, allowed or the_one(reply, self.symbols), idle=before == _state(books))
            if asked.op in BINDING:
                self.names.update(zip(lent(reply_of(step)), lent(reply), strict=False))
        self.operations.add(asked.op)
        self.possibilities.update(shown(step))

    def _refused(self, step: Step, asked: Call, reply: Refused) -> None:
        reasons = sorted(map(str, step.refused)) or [reply.reason]
        self.refusals.update(f"{asked.op}, {reason}" for reason in reasons)
        wrong_call = reply.reason != Reason.NOT_ENOUGH_FREE
        self.laws.update(MISUSE if wrong_call else [A_REFUSAL_CHANGES_NOTHING.name])
        self._write(asked, Expect(reasons=tuple(reasons)), idle=True)

    def _write(self, asked: Call, expect: Expect, *, idle: bool) -> None:
        written = renamed_call(asked, self.symbols)
        assert written is not None
        self.steps.append(VectorStep(written, expect, idle))


def _state(books: Books) -> str:
    """All that can change."""
    return str((books.refs, books.queue, books.keys, books.index, books.watchers, books.outbox))
