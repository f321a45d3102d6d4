"""Exhaustive search: every state a scope reaches, every call tried in each, every claim judged on all of them.

Breadth first, so the first failure found is a shortest one. What is tried and judged in a state is in `expand.py`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from time import perf_counter

from blockpool.proofs.core.counterexample import Call
from blockpool.proofs.core.memory import memory_left
from blockpool.proofs.core.workers import Crew, crew
from blockpool.proofs.core.workers_ray import Cluster, Workforce
from blockpool.proofs.explore.expand import AnyScope, Arrival, Expander, Failure, Follower, State, Tally, Witness
from blockpool.proofs.explore.machines import Claims
from blockpool.proofs.explore.symmetry import packed

CHUNK = 16  # most states a worker expands at a time
SHARES = 16  # and at most about this part of what is left of a level


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


def explore(
    scope: AnyScope,
    *,
    follower: Follower | None = None,
    follow_claim: str = "",
    workers: Workforce | Crew = 1,
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
    known, frontier = {packed(expander.symmetry.canon(first))}, [0]
    try:
        with crew(workers) as working:
            expand = _expansion(expander, working)
            while frontier and found.stopped is None:
                found.stopped = _search_level(found, frontier, known, expand, memory, progress)
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


def _chunks(frontier: Sequence[int]) -> Iterator[Sequence[int]]:
    """A level in pieces, the last ones small: at the end of a level nobody waits long for another."""
    start = 0
    while start < len(frontier):
        size = min(CHUNK, (len(frontier) - start) // SHARES + 1)
        yield frontier[start : start + size]
        start += size


def _search_level(
    found: Exploration,
    frontier: list[int],
    known: set[bytes],
    expand: Expand,
    memory: float | None,
    progress: Progress,
) -> str | None:
    """Expand every state of the frontier; the new ones are appended. Says why the search must end, if it must."""
    chunks = [[(state, found.states[state]) for state in chunk] for chunk in _chunks(frontier)]
    done = 0
    for chunk, (tally, arrivals) in zip(chunks, expand(chunks), strict=True):
        found.tally.add(tally)
        for arrival in arrivals:
            if arrival.canon in known:
                continue
            known.add(arrival.canon)
            found.count(arrival.tested)
            if arrival.onward is not None:
                found.states.append(arrival.onward.pool)
                found.origins.append((arrival.onward.origin, arrival.onward.calls))
                found.raw_states += arrival.onward.orbit
        done += len(chunk)
        seen = f"{len(found.states):,} states, {found.tally.steps:,} steps"
        progress(f"{found.scope.name}: depth {found.depth}, {seen}, {len(frontier) - done:,} states to go")
        if memory is not None and (free := memory_left()) < memory:
            return f"only {free:.1f} GiB of memory left after {len(found.states):,} states"
    return None


def _expansion(expander: Expander, workers: Workforce | Crew) -> Expand:
    """A function that expands chunks, here, in worker processes or on a cluster; results come in their order."""
    if isinstance(workers, int):
        return lambda chunks: map(expander.expand, chunks)
    blueprint = (expander.scope, expander.follower, expander.follow_claim)
    if isinstance(workers, Cluster):
        return lambda chunks: workers.map(_expand_anew, chunks, blueprint)
    search = next(_searches)
    return lambda chunks: workers.map(_expand_on, chunks, search, blueprint)


Blueprint = tuple[AnyScope, Follower | None, str]
_searches = count()
_kept: tuple[int, Expander] | None = None  # in a worker process: of which search, and what it knows already


def _expand_on(states: Chunk, search: int, blueprint: Blueprint) -> tuple[Tally, list[Arrival]]:
    """In a worker that has expanded other states of this search: it answers only what it has not answered before."""
    global _kept
    if _kept is None or _kept[0] != search:
        _kept = search, Expander(*blueprint)
    return _kept[1].expand(states)


def _expand_anew(states: Chunk, blueprint: Blueprint) -> tuple[Tally, list[Arrival]]:
    """Without memory of earlier chunks: what it answers may be lost, and then must be answered again."""
    return Expander(*blueprint).expand(states)
