"""Which states and steps of a scope the twins are compared on: the same ones in every run."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from random import Random
from typing import TypeVar

from blockpool.proofs.explore.scopes import Scope, vocabulary
from blockpool.proofs.explore.search import explore
from blockpool.proofs.prove.pool.perturb import perturbed, step_variations, varied
from blockpool.proofs.prove.pool.structures import Names
from blockpool.spec import BlockId, Pool, Step, TakeEvents, Watcher, steps, while_telling

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sampling:
    """How much of a scope is compared."""

    walk: int | None  # reachable states, found by walking at random; None is all of them, by search
    perturbed: int  # every n-th perturbed state
    each: int  # most steps of one kind (an action, taken or refused) from one state
    non_edges: int  # perturbed steps after each


FULL = Sampling(walk=None, perturbed=1, each=3, non_edges=1)
QUICK = Sampling(walk=15, perturbed=2, each=1, non_edges=3)


def names_of(part: Scope) -> Names:
    """The names that every structure of a scope has: one foreign block, and all keys and watchers."""
    return Names((BlockId(part.blocks + 1),), tuple(part.all_keys()), _watchers(part) or (Watcher(0),))


def _watchers(part: Scope) -> tuple[Watcher, ...]:
    return tuple(map(Watcher, range(part.watchers)))


def sampled_states(part: Scope, sampling: Sampling) -> Iterator[tuple[Pool, bool]]:
    """States of the scope, then perturbed ones; and whether it is the former."""
    states, keys, watchers = _states(part, sampling.walk), part.all_keys(), _watchers(part)
    yield from ((state, True) for state in states)
    changed = chain.from_iterable(perturbed(state, keys, watchers) for state in states)
    yield from ((state, False) for number, state in enumerate(changed) if number % sampling.perturbed == 0)


def sampled_steps(part: Scope, sampling: Sampling) -> Iterator[tuple[Step, bool]]:
    """Steps of the scope, each followed by perturbed ones; and whether it is one of the former."""
    keys, watchers, calls = part.all_keys(), _watchers(part), vocabulary(part)
    turns = _Turns()
    for state in _states(part, sampling.walk):
        kinds: dict[str, list[Step]] = {}
        for step in (step for action in calls for step in steps(state, action)):
            kinds.setdefault(f"{step.action.name} {bool(step.refused)}", []).append(step)
        for kind, several in kinds.items():
            for _ in range(min(sampling.each, len(several))):
                step = turns.pick(several, kind, "step")
                yield step, True
                changes = step_variations(step, keys, watchers)
                for _ in range(sampling.non_edges):
                    what = turns.pick(list(changes), kind, "what")
                    yield varied(step, what, turns.pick(changes[what], kind, what)), False


class _Turns:
    """Picks so that everything gets its turn, the same in every run."""

    def __init__(self) -> None:
        self._taken: Counter[tuple[str, ...]] = Counter()

    def pick(self, several: Sequence[T], *about: str) -> T:
        self._taken[about] += 1
        return several[self._taken[about] * _STRIDE % len(several)]


_PACE = 8  # states of a walk for each that is compared
_STRIDE = 7919  # prime, so that neighbours are not always picked together


@cache
def _states(part: Scope, walk: int | None) -> Sequence[Pool]:
    return explore(part).states if walk is None else _walked(part, walk)


def _walked(part: Scope, length: int) -> list[Pool]:
    """The states of a random walk within the scope; events are taken, and watchers looked in on, as the search does."""
    random, calls = Random(0), vocabulary(part)
    states = [part.first_state()]
    state = states[0]
    while len(states) < length * _PACE:
        step = random.choice(list(steps(state, random.choice(calls))))
        inside = while_telling(step) if part.nested else None
        if inside is not None:
            states.append(inside)
        if len(step.after.outbox) > part.untaken:
            step = next(steps(step.after, TakeEvents()))
        if step.after is not state and part.admits(step.after):
            state = step.after
            states.append(state)
    return states[::_PACE]
