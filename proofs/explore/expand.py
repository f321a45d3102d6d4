"""Expanding: from a state every call is tried, and every claim is judged on what comes of it.

States that are renamings of each other are one. Events are taken after every call that sends some, so the outbox does
not blow the search up; taking them is a step of its own and judged like any other.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from blockpool.proofs.core.claim_names import DEFINED
from blockpool.proofs.core.counterexample import Call
from blockpool.proofs.explore.machines import machine_of
from blockpool.proofs.explore.scopes import Scope
from blockpool.proofs.explore.serving import ServingScope
from blockpool.proofs.explore.symmetry import packed

AnyScope = Scope | ServingScope
State = Any
"""A state of the machine that is searched: a Pool or a World."""


class Follower(Protocol):
    """Something that takes every call of the search as well: an implementation under test."""

    def follow(self, state: Any, action: Any, allowed: Sequence[Any]) -> str | None:
        """Take the call from this state; None if what happened is allowed, else what differs, in words."""


class Onward(NamedTuple):
    """A state from which the search goes on: how it was reached, and how many states are one with it."""

    pool: State
    origin: int  # the state of the level before
    calls: tuple[Call, ...]
    orbit: int


class Arrival(NamedTuple):
    """A state reached and judged."""

    canon: bytes  # its normal form, packed
    tested: int  # which invariants had something to say, bit by bit
    onward: Onward | None  # only if it is sound and within the boundary: most are not, and would be sent for nothing


class Failure(NamedTuple):
    """A claim broken: at a state of the search, by these calls."""

    claim: str
    origin: int
    calls: tuple[Call, ...]
    words: str


class Witness(NamedTuple):
    """A possibility shown: at a state of the search, by these calls."""

    origin: int
    calls: tuple[Call, ...]


@dataclass
class Tally:
    """What was seen while expanding states. Adds up over workers."""

    steps: int = 0
    refused: int = 0
    followed: int = 0
    tested: Counter[str] = field(default_factory=Counter)  # claim -> how often it had something to say
    shown: dict[str, "Witness"] = field(default_factory=dict)  # possibility -> the first step that showed it
    taken: Counter[tuple[str, str]] = field(default_factory=Counter)  # (action, reason or "taken") -> how often
    failures: dict[str, Failure] = field(default_factory=dict)  # the first of each claim

    def add(self, other: "Tally") -> None:
        self.steps += other.steps
        self.refused += other.refused
        self.followed += other.followed
        self.tested.update(other.tested)
        self.shown = {**other.shown, **self.shown}
        self.taken.update(other.taken)
        self.failures = {**other.failures, **self.failures}


class Expander:
    """Tries every call from a state. One in each worker process."""

    def __init__(self, scope: AnyScope, follower: Follower | None, follow_claim: str) -> None:
        self.scope, self.follower, self.follow_claim = scope, follower, follow_claim
        self.machine = machine_of(scope)
        self.symmetry = self.machine.symmetry
        self.described: set[bytes] = set()
        self.known: set[bytes] = set()
        self.unseen = list(self.machine.possibilities)  # those this worker has not seen
        self.refusals: Counter[tuple[str, frozenset[Any]]] = Counter()  # (action, all its reasons) -> how often

    def expand(self, states: Sequence[tuple[int, State]]) -> tuple[Tally, list[Arrival]]:
        """All steps from these states: what they showed, and the states they lead to that this worker did not know."""
        self.tally, self.arrivals = Tally(), list[Arrival]()
        for origin, pool in states:
            for action in self.machine.calls:
                self._try(origin, pool, action, ())
        self._count_refusals()
        return self.tally, self.arrivals

    def _count_refusals(self) -> None:
        """Refused steps are counted by set of reasons on the way: hashing each reason again and again takes long."""
        for (name, reasons), times in self.refusals.items():
            self.tally.refused += times
            self.tally.taken.update({(name, reason): times for reason in reasons})
        self.refusals.clear()

    def judge_state(self, pool: State, origin: int, calls: tuple[Call, ...]) -> tuple[int, bool]:
        """Judge the invariants: which had something to say, and is the state sound?"""
        tested, sound = 0, True
        for place, claim in enumerate(self.machine.invariants):
            verdict = claim.judge(pool)
            if verdict is not None:
                tested |= 1 << place
                if not verdict:
                    sound = False
                    self._fail(claim.name, origin, calls, claim.sentence)
        return tested, sound

    def _try(self, origin: int, pool: State, action: Any, before: tuple[Call, ...]) -> None:
        try:
            taken = list(self.machine.steps(pool, action))
        except Exception as error:  # noqa: BLE001  an exception out of the spec is a finding, whatever its class
            self._fail(DEFINED, origin, (*before, Call(action, None)), f"{type(error).__name__}: {error}")
            return
        if self.follower is not None:
            self.tally.followed += 1
            words = self.follower.follow(pool, action, taken)
            if words is not None:
                self._fail(self.follow_claim, origin, (*before, Call(action, None)), words)
        for step in taken:
            self._judge_step(origin, step, before)
            inside = self.machine.inside(step)
            if inside is not None:
                self._note(origin, inside, step, before, nested=True)
            if step.after is not pool or inside is not None:
                self._arrive(origin, step, before)

    def _judge_step(self, origin: int, step: Any, before: tuple[Call, ...]) -> None:
        tally, refused = self.tally, step.refused
        tally.steps += 1
        if refused:
            self.refusals[step.action.name, refused] += 1
        else:
            tally.taken[step.action.name, "taken"] += 1
        tested = tally.tested
        for claim in self.machine.refusal_claims if refused else self.machine.step_properties:
            verdict = claim.judge(step)
            if verdict is not None:
                tested[claim.name] += 1
                if not verdict:
                    self._fail(claim.name, origin, _way(before, step), claim.sentence)
        for possibility in self.unseen:
            if possibility.judge(step):
                tally.shown[possibility.name] = Witness(origin, _way(before, step))
                self.unseen = [other for other in self.unseen if other is not possibility]

    def _arrive(self, origin: int, step: Any, before: tuple[Call, ...]) -> None:
        settling = self.machine.settle(step)
        if settling is not None:
            self._try(origin, step.after, settling, _way(before, step))
        else:
            self._note(origin, step.after, step, before)

    def _note(self, origin: int, pool: State, step: Any, before: tuple[Call, ...], nested: bool = False) -> None:
        try:
            described = packed(self.symmetry.described(pool))
            if described in self.described:
                return
            self.described.add(described)
            canon = packed(self.symmetry.canon(pool))
        except KeyError as error:
            words = f"the state names what the scope does not know: {error}"
            self._fail(DEFINED, origin, _way(before, step, nested), words)
            return
        if canon in self.known:
            return
        self.known.add(canon)
        calls = _way(before, step, nested)
        tested, sound = self.judge_state(pool, origin, calls)
        onward = None
        if sound and self.scope.admits(pool):
            onward = Onward(pool, origin, calls, self.symmetry.orbit(pool))
        self.arrivals.append(Arrival(canon, tested, onward))

    def _fail(self, claim: str, origin: int, calls: tuple[Call, ...], words: str) -> None:
        self.tally.failures.setdefault(claim, Failure(claim, origin, calls, words))


def _way(before: tuple[Call, ...], step: Any, nested: bool = False) -> tuple[Call, ...]:
    """The calls before the step, and its own."""
    return (*before, Call(step.action, step.answer, nested))
