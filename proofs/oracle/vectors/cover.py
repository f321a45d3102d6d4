"""A small set of runs that shows every class of steps of a walk.

Greedy: the run that shows most of what is still missing comes next. What changes nothing, a refusal or a question,
needs no run of its own: it is asked on the way of one that passes a state where it belongs.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from blockpool.proofs.explore.machines import machine_of
from blockpool.proofs.explore.scopes import Scope
from blockpool.proofs.oracle.vectors.walk import Actions, Walk, Way, changes, classes, end, first_step, steps_of
from blockpool.spec import (
    Action,
    BlockId,
    FreeBlocks,
    GetCachedBlock,
    GetNewBlocks,
    GetNumFreeBlocks,
    IsBlockWritable,
    Pool,
    Step,
    TakeEvents,
)

AT_ONE_STATE, IN_ONE_RUN = 5, 15
"""So many refusals and questions are put in at most."""


@dataclass
class Run:
    """One run: the calls up to what it is for, and then those that show what has become of the pool."""

    part: Scope
    purpose: Action[Any]  # the call at the end of its way
    actions: list[Action[Any]]
    closing: int  # how many of them are the closing ones
    shows: set[str]  # classes
    alone: set[str] = field(default_factory=set)  # those that no other run shows

    def steps(self) -> list[Step]:
        """Every step, the closing ones included."""
        return list(steps_of(self.part, self.actions))


def cover(walks: Iterable[Walk]) -> list[Run]:
    """The runs, those with the fewest calls first. What an earlier walk shows is taken from there."""
    chosen: list[Run] = []
    shown: set[str] = set()
    for walk in walks:
        runs = _cover(walk, walk.classes - shown)
        shown.update(*(run.shows for run in runs))
        chosen += runs
    return sorted(_needed(chosen), key=lambda run: len(run.actions))


def _cover(walk: Walk, missing: set[str]) -> list[Run]:
    chosen: list[Run] = []
    for way in _greedy(walk.changing, missing & walk.changing.keys()):
        chosen.append(_closed(way))
        missing -= chosen[-1].shows
    _ask_on_the_way(chosen, missing)
    while missing:
        way = next(_greedy(walk.idle, set(missing)))
        chosen.append(_closed(way))
        missing -= chosen[-1].shows
        _ask_on_the_way(chosen[-1:], missing)
    return chosen


def _greedy(ways: dict[str, Way], missing: set[str]) -> Iterator[Way]:
    wanted = [way for name, way in ways.items() if name in missing]
    shows = {way: _shows(way) for way in dict.fromkeys(wanted)}
    while missing:
        best = max(shows, key=lambda way: (len(shows[way] & missing), -len(way.actions)))
        missing -= shows.pop(best)
        yield best


def _shows(way: Way, closed: Actions = ()) -> set[str]:
    """The classes of the steps on the way and of the closing ones, and what the way ends with."""
    *_, last = steps_of(way.part, way.actions)
    along = (classes(step) for step in steps_of(way.part, (*way.actions, *closed)))
    return {*chain.from_iterable(along), *end(last)}


def _closed(way: Way) -> Run:
    """The run with its closing calls."""
    *_, last = steps_of(way.part, way.actions)
    closed = tuple(closing(way.part, last.after))
    return Run(way.part, last.action, [*way.actions, *closed], len(closed), _shows(way, closed))


def closing(part: Scope, pool: Pool) -> Iterator[Action[Any]]:
    """Calls that show what a pool has become: every question; all blocks lent one by one, given back and lent again."""
    keys = part.all_keys()
    questions: list[Action[Any]] = [GetCachedBlock(key.prefix, (key.group,)) for key in keys]
    if len(part.groups) > 1:
        questions += [GetCachedBlock(prefix, part.groups) for prefix in dict.fromkeys(key.prefix for key in keys)]
    events = [TakeEvents()] if pool.reporting else []
    yield from events
    yield GetNumFreeBlocks()
    yield from questions
    yield from (IsBlockWritable(BlockId(block)) for block in pool.lendable)
    yield from (GetNewBlocks(1) for _ in range(len(pool.queue) + 1))
    yield FreeBlocks(tuple(block for block in map(BlockId, pool.lendable) for _ in range(max(1, pool.refs[block]))))
    yield GetNumFreeBlocks()
    yield GetNewBlocks(len(pool.lendable))
    yield from questions
    yield from events


def _ask_on_the_way(runs: list[Run], missing: set[str]) -> None:
    """Put in what is missing and changes nothing, where it can be asked."""
    for run in runs:
        asked: list[Action[Any]] = []
        put_in = 0
        for step in run.steps()[: 1 - run.closing]:  # up to the state in which the closing calls begin
            here = _idle(run.part, step.before, missing, min(AT_ONE_STATE, IN_ONE_RUN - put_in))
            for _, shows in here:
                missing -= shows
                run.shows |= shows
            put_in += len(here)
            asked += [*(action for action, _ in here), step.action]
        run.actions = asked + run.actions[1 - run.closing :]


def _idle(part: Scope, pool: Pool, missing: set[str], most: int) -> list[tuple[Action[Any], set[str]]]:
    """Calls that change nothing in this state, and what of the missing each shows."""
    found: list[tuple[Action[Any], set[str]]] = []
    left = set(missing)
    for action in machine_of(part).calls if left and most else ():
        step = first_step(pool, action)
        shows = set() if changes(step) else left.intersection(classes(step))
        if shows:
            found.append((action, shows))
            left -= shows
        if len(found) == most:
            break
    return found


def _needed(runs: list[Run]) -> list[Run]:
    """Without those that show nothing that no other shows, the longest left out first."""
    kept = list(runs)
    for run in sorted(runs, key=lambda run: -len(run.actions)):
        run.alone = run.shows.difference(*(other.shows for other in kept if other is not run))
        if not run.alone:
            kept.remove(run)
    for run in kept:
        run.alone = run.shows.difference(*(other.shows for other in kept if other is not run))
    return kept
