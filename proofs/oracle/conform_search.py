"""The first stream: every right call in every state of small pools, breadth first, so that what breaks breaks early.

A foreign pool cannot be put into a state, so each state is reached again by its shortest calls on a new pool. Two
states are one if the books describe them alike, whatever the blocks are called.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from proofs.oracle import calls
from proofs.oracle.books import Books
from proofs.oracle.calls import Ok, Start
from proofs.oracle.conform_hunt import REFUSALS, Hunt
from proofs.oracle.moves import questions, right_calls
from proofs.oracle.trial import Line


@dataclass(frozen=True, slots=True)
class SmallScope:
    """A small pool, and how many calls are tried on it in all."""

    start: Start
    edges: int


SCOPES = (
    SmallScope(Start(2, events=True), 1500),
    SmallScope(Start(3, events=True), 2500),
    SmallScope(Start(3, events=False), 500),
    SmallScope(Start(2, caching=False), 500),
    SmallScope(Start(2, events=True, groups=2), 1000),
)
"""What is searched, as far as the pool has the setting. States first reached by few calls come first."""


def search(hunt: Hunt) -> list[tuple[Start, list[Line]]]:
    """Search all scopes; the states that were reached, each with its shortest calls."""
    reached: list[tuple[Start, list[Line]]] = []
    for scope in starts(hunt):
        reached += [(scope.start, lines) for lines in _search(hunt, scope)]
    return reached


def starts(hunt: Hunt) -> Iterator[SmallScope]:
    """The scopes that say something about this pool."""
    events = "events" in hunt.operations and hunt.profile.events != "none"
    for scope in SCOPES:
        start = replace(scope.start, events=scope.start.events and events)
        if "publish" in hunt.operations or (start.caching and start.groups == 1):
            yield replace(scope, start=start)


def _search(hunt: Hunt, scope: SmallScope) -> Iterator[list[Line]]:
    first = hunt.trial(scope.start)
    if first is None:
        return
    ahead: deque[list[Line]] = deque([[]])
    known, edges = {described(first.books)}, 0
    while ahead and edges < scope.edges:
        lines = ahead.popleft()
        yield lines
        here = hunt.replayed(scope.start, lines)
        if here is None or here.judge.ended is not None:
            continue  # what broke was found on the way here
        hunt.states += 1
        for call in list(right_calls(here.books, hunt.operations, scope.start.groups)):
            if hunt.avoids(here.books, call):
                continue
            edges += 1
            line = Line(call, Ok())
            after = _edge(hunt, scope.start, [*here.lines, line])
            if after is not None and after[0] not in known:
                known.add(after[0])
                ahead.append(after[1])
    hunt.edges += edges


def _edge(hunt: Hunt, start: Start, lines: list[Line]) -> tuple[Any, list[Line]] | None:
    """Take the last call, and ask every question; the state it led to, unless something is broken."""
    trial = hunt.replayed(start, lines)
    if trial is None:
        return None
    if trial.judge.ended is None:
        after = described(trial.books), list(trial.lines)
        for question in questions(trial.books, hunt.operations, start.groups):
            if not hunt.avoids(trial.books, question) and trial.take(question) is not None:
                break
        else:
            if trial.refusals and isinstance(lines[-1].call, calls.Alloc):
                hunt.damage(start, lines[:-1], lines[-1].call, REFUSALS, hunt.profile)
            return after
    hunt.found(trial)
    return None


def described(books: Books) -> Any:
    """The books without the names of the blocks."""
    places = {place: number for number, place in enumerate(books.queue)}
    ranks = {entry: {block: rank for rank, block in enumerate(found)} for entry, found in books.index.items()}
    blocks = sorted(
        (
            count,
            places.get(block, -1),
            tuple(sorted((entry, ranks[entry][block]) for entry in books.keys.get(block, ()))),
            tuple(sorted(books.watchers.get(block, ()))),
            books.is_sure(block),
        )
        for block, count in books.refs.items()
    )
    return tuple(blocks), len(books.outbox)
