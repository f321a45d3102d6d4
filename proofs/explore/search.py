"""Exhaustive search: every state a scope reaches, every call tried in each, every claim judged on all of them.

Breadth first, so the first failure found is a shortest one. States that are renamings of each other are searched once.
Events are taken after every call that sends some, so the outbox does not blow the search up; taking them is a step of
its own and judged like any other.
"""

import gc
import multiprocessing
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple, Protocol

from proofs.cluster import Cluster, Workforce
from proofs.counterexample import Call
from proofs.explore.machines import Claims, Renaming, machine_of
from proofs.explore.memory import memory_left
from proofs.explore.scopes import Scope
from proofs.explore.serving import ServingScope
from proofs.explore.symmetry import Canon
from proofs.refine.lockstep import DEFINED

AnyScope = Scope | ServingScope
State = Any
"""A state of the machine that is searched: a Pool or a World."""

CHUNK = 32  # most states a worker expands at a time


class Follower(Protocol):
    """Something that takes every call of the search as well: an implementation under test."""

    def follow(self, state: Any, action: Any, allowed: Sequence[Any]) -> str | None:
        """Take the call from this state; None if what happened is allowed, else what differs, in words."""


class Arrival(NamedTuple):
    """A state reached, and how: from which state of the level before, by which calls."""

    canon: Canon
    pool: State
    origin: int
    calls: tuple[Call, ...]
    tested: int  # which invariants had something to say, bit by bit
    goes_on: bool  # is it sound, and within the boundary?


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
        self.described: set[Canon] = set()
        self.known: set[Canon] = set()
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
            described = self.symmetry.described(pool)
            if described in self.described:
                return
            self.described.add(described)
            canon = self.symmetry.canon(pool)
        except KeyError as error:
            words = f"the state names what the scope does not know: {error}"
            self._fail(DEFINED, origin, _way(before, step, nested), words)
            return
        if canon in self.known:
            return
        self.known.add(canon)
        calls = _way(before, step, nested)
        tested, sound = self.judge_state(pool, origin, calls)
        goes_on = sound and self.scope.admits(pool)
        self.arrivals.append(Arrival(canon, pool, origin, calls, tested, goes_on))

    def _fail(self, claim: str, origin: int, calls: tuple[Call, ...], words: str) -> None:
        self.tally.failures.setdefault(claim, Failure(claim, origin, calls, words))


def _way(before: tuple[Call, ...], step: Any, nested: bool = False) -> tuple[Call, ...]:
    """The calls before the step, and its own."""
    return (*before, Call(step.action, step.answer, nested))


@dataclass
class Exploration:
    """What a search found."""

    scope: AnyScope
    states: list[State]
    origins: list[tuple[int, tuple[Call, ...]]]  # how each state was reached from an earlier one
    tally: Tally
    depth: int = 0
    raw_states: int = 0  # states without symmetry
    seconds: float = 0.0
    stopped: str | None = None  # why the search ended early
    invariants: Claims = ()  # those judged

    def count(self, tested: int) -> None:
        """Count the invariants that had something to say about a new state; workers do not know what is new."""
        for place, claim in enumerate(self.invariants):
            if tested >> place & 1:
                self.tally.tested[claim.name] += 1

    def trace(self, found: Failure | Witness) -> tuple[Call, ...]:
        """The calls from the first state to the failure or witness."""
        origin, calls = found.origin, found.calls
        while origin >= 0:
            origin, before = self.origins[origin]
            calls = before + calls
        return calls


Progress = Callable[[str], None]
Stop = Callable[[Exploration], str | None]


def explore(
    scope: AnyScope,
    *,
    follower: Follower | None = None,
    follow_claim: str = "",
    workers: Workforce = 1,
    first_failure_ends: bool = False,
    depth: int | None = None,
    most_states: int | None = None,
    memory: float | None = None,
    progress: Progress = lambda line: None,
) -> Exploration:
    """Search the whole scope, or only states reached in at most `depth` calls.

    It gives up when there are more than `most_states`, or fewer than `memory` GiB free.
    """
    started = perf_counter()
    expander = Expander(scope, follower, follow_claim)
    first = scope.first_state()
    expander.tally, expander.arrivals = Tally(), []
    tested, _ = expander.judge_state(first, -1, ())
    found = Exploration(scope, [first], [(-1, ())], expander.tally, raw_states=expander.symmetry.orbit(first))
    found.invariants = expander.machine.invariants
    found.count(tested)
    known, frontier = {expander.symmetry.canon(first)}, [0]
    try:
        with _expansions(expander, workers) as expand:
            while frontier and found.stopped is None:
                found.stopped = _search_level(found, frontier, known, expand, expander.symmetry, memory, progress)
                found.stopped = _limit(found, first_failure_ends, depth, most_states) or found.stopped
                found.depth += 1
                frontier = list(range(frontier[-1] + 1, len(found.states)))
    except KeyboardInterrupt:
        found.stopped = "interrupted"
    found.seconds = perf_counter() - started
    return found


def _limit(found: Exploration, first_failure_ends: bool, depth: int | None, most_states: int | None) -> str | None:
    """Why the search ends after this level, if it does."""
    if first_failure_ends and found.tally.failures:
        return "a failure was found"
    if depth is not None and found.depth == depth:
        return f"depth {depth} was the limit"
    if most_states is not None and len(found.states) > most_states:
        return f"{most_states:,} states were the limit"
    return None


Chunk = list[tuple[int, State]]
Expand = Callable[[Sequence[Chunk]], Iterator[tuple[Tally, list[Arrival]]]]


def _search_level(
    found: Exploration,
    frontier: list[int],
    known: set[Canon],
    expand: Expand,
    symmetry: Renaming,
    memory: float | None,
    progress: Progress,
) -> str | None:
    """Expand every state of the frontier; the new ones are appended. Says why the search must end, if it must."""
    size = min(CHUNK, len(frontier) // 16 + 1)  # small where little is to do: at its end nobody waits long for others
    chunks = [
        [(state, found.states[state]) for state in frontier[at : at + size]] for at in range(0, len(frontier), size)
    ]
    done = 0
    for chunk, (tally, arrivals) in zip(chunks, expand(chunks), strict=True):
        found.tally.add(tally)
        for arrival in arrivals:
            if arrival.canon in known:
                continue
            known.add(arrival.canon)
            found.count(arrival.tested)
            if arrival.goes_on:
                found.states.append(arrival.pool)
                found.origins.append((arrival.origin, arrival.calls))
                found.raw_states += symmetry.orbit(arrival.pool)
        done += len(chunk)
        seen = f"{len(found.states):,} states, {found.tally.steps:,} steps"
        progress(f"{found.scope.name}: depth {found.depth}, {seen}, {len(frontier) - done:,} states to go")
        if memory is not None and (free := memory_left()) < memory:
            return f"only {free:.1f} GiB of memory left after {len(found.states):,} states"
    return None


@contextmanager
def _expansions(expander: Expander, workers: Workforce) -> Iterator[Expand]:
    """A function that expands chunks, here, in worker processes or on a cluster; results come in their order."""
    blueprint = (expander.scope, expander.follower, expander.follow_claim)
    if isinstance(workers, Cluster):
        yield lambda chunks: workers.map(_expand_anew, chunks, blueprint)
        return
    if workers <= 1:
        yield lambda chunks: map(expander.expand, chunks)
        return
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    with ProcessPoolExecutor(workers, context, initializer=_start_worker, initargs=blueprint) as pool:
        try:
            yield lambda chunks: pool.map(_expand_in_worker, chunks)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)  # without waiting, CPython's exit races with the executor's own thread
            raise


_worker: Expander


def _start_worker(scope: AnyScope, follower: Follower | None, follow_claim: str) -> None:
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which keeps what was found
    gc.freeze()
    _worker = Expander(scope, follower, follow_claim)


def _expand_in_worker(states: Chunk) -> tuple[Tally, list[Arrival]]:
    return _worker.expand(states)


def _expand_anew(states: Chunk, blueprint: tuple[AnyScope, Follower | None, str]) -> tuple[Tally, list[Arrival]]:
    """Without memory of earlier chunks: what it answers may be lost, and then must be answered again."""
    return Expander(*blueprint).expand(states)
