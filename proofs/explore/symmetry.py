"""Symmetry: two states that differ only in the names of blocks, watchers or prefixes are one.

A state is described block by block: place in the queue, references, keys, watchers. That description leaves nothing
out, so sorting the blocks by it names them in a way that does not depend on how they were called. Watchers and
prefixes have few names; all ways to exchange them are tried and the least description is taken.
"""

import marshal
from collections import Counter
from collections.abc import Iterable
from itertools import permutations
from math import factorial, prod
from typing import Any

from blockpool.proofs.explore.scopes import Scope
from blockpool.spec import BlockId, Event, Key, Pool, Removed, Stored, Watcher

Canon = tuple[Any, ...]


def packed(description: Canon) -> bytes:
    """The same in bytes: less than a third of the memory, quick to compare and to send."""
    return marshal.dumps(description, 0)  # later versions note which objects are the same; that differs from run to run


class Symmetry:
    """The renamings of one scope."""

    def __init__(self, scope: Scope) -> None:
        numbers = {key: number for number, key in enumerate(scope.all_keys())}
        watchers = [Watcher(watcher) for watcher in range(scope.watchers)]
        self._renamings: list[tuple[dict[Key, int], dict[Watcher, Watcher]]] = [
            ({key: numbers[image] for key, image in keys.items()}, dict(zip(watchers, order, strict=True)))
            for keys in scope.key_symmetries()
            for order in permutations(watchers)
        ]

    def described(self, pool: Pool) -> Canon:
        """The state up to the names of its blocks only: cheap, and enough to see that it was seen before."""
        return _description(pool, *self._renamings[0])

    def canon(self, pool: Pool) -> Canon:
        """The same for two states exactly if one is a renaming of the other."""
        if len(self._renamings) == 1 or not (pool.watchers or pool.index):
            return _description(pool, *self._renamings[0])
        return min(_description(pool, *renaming) for renaming in self._renamings)

    def orbit(self, pool: Pool) -> int:
        """How many states are renamings of this one, itself included."""
        images = {_description(pool, *renaming) for renaming in self._renamings}
        twins: Iterable[int] = Counter(next(iter(images))[-1]).values()
        return len(images) * factorial(len(pool.lendable)) // prod(map(factorial, twins))


def _description(pool: Pool, keys: dict[Key, int], watchers: dict[Watcher, Watcher]) -> Canon:
    """The state with blocks named by what is true of them; complete, also for states that break an invariant.

    Raises KeyError for a key that the scope does not know.
    """
    places: dict[BlockId, list[int]] = {}
    for place, queued in enumerate(pool.queue):
        places.setdefault(queued, []).append(place)
    under: dict[BlockId, list[int]] = {}
    for key, found in pool.index.items():
        number = keys[key]
        for block in found:
            under.setdefault(block, []).append(number)
    described = []
    for block in map(BlockId, range(pool.size)):
        primary = pool.primary.get(block)
        described.append(
            (
                tuple(places.get(block, ())),
                pool.refs.get(block, -1),
                () if primary is None else (keys[primary.key], primary.tokens),
                tuple(sorted([keys[key] for key in pool.aliases[block]])) if block in pool.aliases else (),
                tuple(sorted(under[block])) if block in under else (),
                tuple(sorted([watchers[name] for name in pool.watchers[block]])) if block in pool.watchers else (),
            )
        )
    null, *blocks = described
    outbox = tuple([_event(event, keys) for event in pool.outbox])
    return (pool.telling, len(pool.index), outbox, null, tuple(sorted(blocks)))


def _event(event: Event, keys: dict[Key, int]) -> tuple[Any, ...]:
    match event:
        case Stored(stored, parent, _, _):
            return ("stored", tuple([keys[key] for key in stored]), -1 if parent is None else keys[parent])
        case Removed(key):
            return ("removed", (keys[key],), -1)
        case _:
            return ("cleared", (), -1)
