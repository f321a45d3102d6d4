"""The first stream: every right call in every state of small pools, breadth first, so that what breaks breaks early.

A foreign pool cannot be put into a state, so each state is reached again by its shortest calls on a new pool. Two
states are one if the books describe them alike, whatever the blocks are called.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from blockpool.proofs.oracle.call_generator import questions, right_calls
from blockpool.proofs.oracle.campaign import REFUSALS, Hunt
from blockpool.proofs.oracle.session import Line
from blockpool.spec.contract import calls
from blockpool.spec.contract.calls import OPERATIONS, BlockName, Call, Ok, Start
from blockpool.spec.contract.shadow_state import Books
from blockpool.spec.contract.violation import blocks_of

CORE = frozenset({"alloc", "share", "free", "publish", "unpublish", "reset"})
READING = frozenset({"alloc", "share", "free", "unpin", "cancel", "reset"})
GROWING = frozenset({"alloc", "free", "publish", "publish_partial", "move", "reset"})


@dataclass(frozen=True, slots=True)
class SmallScope:
    """A small pool, which operations are tried on it, and how many calls in all."""

    start: Start
    edges: int
    operations: frozenset[str] = frozenset(OPERATIONS)
    about: frozenset[str] = frozenset()  # searched only if the pool has one of these operations


SCOPES = (
    SmallScope(Start(2, events=True), 1000, CORE),
    SmallScope(Start(3, events=True), 1500, CORE),
    SmallScope(Start(3, events=False), 500, CORE, about=frozenset({"events"})),
    SmallScope(Start(2, caching=False), 400, about=frozenset({"publish"})),
    SmallScope(Start(2, events=True, groups=2), 800, CORE, about=frozenset({"publish"})),
    SmallScope(Start(2, events=True), 800, READING, about=frozenset({"unpin"})),
    SmallScope(Start(2, events=True), 800, GROWING, about=frozenset({"publish_partial", "move"})),
    SmallScope(Start(2, events=True), 1200, about=frozenset({"unpin", "publish_partial", "move"})),
)
"""What is searched, as far as the pool has the setting. States first reached by few calls come first."""


class State(NamedTuple):
    """How a state is reached: the pool, and the calls with their replies."""

    scope: SmallScope
    lines: list[Line]


def search(hunt: Hunt, small: Iterable[SmallScope] = SCOPES) -> list[State]:
    """Search these scopes; the states that were reached, each with its shortest calls."""
    return [state for scope in scopes(hunt, small) for state in _search(hunt, scope)]


def scopes(hunt: Hunt, small: Iterable[SmallScope]) -> Iterator[SmallScope]:
    """The scopes that say something about this pool."""
    events = "events" in hunt.operations and hunt.profile.events != "none"
    for scope in small:
        if not scope.about or not scope.about.isdisjoint(hunt.operations):
            yield replace(
                scope,
                start=replace(scope.start, events=scope.start.events and events),
                operations=scope.operations & hunt.operations,
            )


def _search(hunt: Hunt, scope: SmallScope) -> Iterator[State]:
    first = hunt.trial(scope.start)
    if first is None:
        if scope.start.events:  # perhaps it has no events of several groups
            yield from _search(hunt, replace(scope, start=replace(scope.start, events=False)))
        return
    ahead: deque[list[Line]] = deque([[]])
    known, edges = {described(first.books)}, 0
    while ahead and edges < scope.edges:
        lines = ahead.popleft()
        yield State(scope, lines)
        here = hunt.replayed(scope.start, lines)
        if here is None or here.judge.ended is not None:
            continue  # what broke was found on the way here
        hunt.states += 1
        for call in _different_calls(hunt, scope, here.books):
            edges += 1
            after = _edge(hunt, scope.start, [*here.lines, Line(call, Ok())])
            if after is not None and after[0] not in known:
                known.add(after[0])
                ahead.append(after[1])
    hunt.edges += edges


def _different_calls(hunt: Hunt, scope: SmallScope, books: Books) -> list[Call]:
    """The right calls, one of those that differ only in the names of blocks that are alike."""
    alike: dict[str, list[BlockName]] = {}
    for block in books.refs:
        alike.setdefault(str(_block(books, block)), []).append(block)
    kinds = {block: kind for kind, blocks in enumerate(alike.values()) for block in blocks}
    found: dict[Any, Call] = {}
    for call in right_calls(books, scope.operations, scope.start.groups):
        if not hunt.avoids(books, call):
            found.setdefault(_pattern(call, kinds), call)
    return list(found.values())


def _pattern(call: Call, kinds: dict[BlockName, int]) -> Any:
    """The call with kinds of blocks in the place of blocks."""
    named = blocks_of(call)
    order = list(dict.fromkeys(named))
    rest = [getattr(call, argument.name) for argument in fields(call) if argument.name not in BLOCKS]
    return call.op, tuple((kinds.get(block, block), order.index(block)) for block in named), str(rest)


BLOCKS = ("blocks", "block", "source", "target")
"""The arguments that name blocks."""


def _edge(hunt: Hunt, start: Start, lines: list[Line]) -> tuple[str, list[Line]] | None:
    """Take the last call, and ask every question; the state it led to, unless something is broken."""
    trial = hunt.replayed(start, lines[:-1])
    if trial is None:
        return None
    trial.tested = hunt.tested
    if trial.judge.ended is not None or trial.take(lines[-1].call) is not None:
        hunt.found(trial)
        return None
    after = described(trial.books), list(trial.lines)
    refused = bool(trial.refusals)
    sound = all(
        hunt.avoids(trial.books, question) or trial.take(question) is None
        for question in questions(trial.books, hunt.operations, start.groups)
    )
    # A state that looks known is not searched again, so whatever the pool hides is shown here: its queue, in full.
    shown = sound and trial.take(calls.Alloc(trial.books.free)) is None
    if refused and hunt.damage(start, lines[:-1], lines[-1].call, REFUSALS, hunt.profile):
        return None
    if not shown:
        hunt.found(trial)
    return after if sound else None


def described(books: Books) -> str:
    """The books without the names of the blocks."""
    return str((sorted(_block(books, block) for block in books.refs), len(books.outbox)))


def _block(books: Books, block: BlockName) -> Any:
    """All that the books say of a block, besides its name."""
    place = list(books.queue).index(block) if block in books.queue else -1
    keys = sorted((entry, list(books.index[entry]).index(block)) for entry in books.keys.get(block, ()))
    return books.refs[block], place, keys, sorted(books.watchers.get(block, ())), books.is_sure(block)
