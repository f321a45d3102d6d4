"""Scopes of the machine with requests and memory: a few requests, a few blocks, everything that may happen to them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import permutations
from math import factorial, prod
from typing import Any

from blockpool.proofs.core.figures import counts
from blockpool.proofs.explore.symmetry import Canon
from blockpool.spec import (
    NULL,
    Admit,
    BeginTransfer,
    BlockId,
    Drop,
    EndTransfer,
    Group,
    GroupId,
    Grow,
    Invalidate,
    Kind,
    LookUp,
    Move,
    Plan,
    Reset,
    Rules,
    RunPass,
    Unpin,
    Watcher,
    World,
    first_state,
    first_world,
)


@dataclass(frozen=True, slots=True)
class ServingScope:
    """A bounded piece of the machine. `limits` says how often what ends or disturbs requests may happen."""

    name: str
    sentence: str
    blocks: int
    layout: tuple[Group, ...]
    plans: dict[str, Plan]
    limits: dict[str, int] = field(default_factory=dict)
    chunked: bool = False  # may a prompt be computed in several chunks?
    rules: Rules = field(default_factory=Rules)
    expected: tuple[int, int] | None = None

    def first_state(self) -> World:
        pool = first_state(self.blocks + 1, reporting=False)
        return first_world(pool, self.layout, self.plans, self.limits, self.rules)

    def admits(self, world: World) -> bool:
        """Is the state within the boundary? What went wrong once is not followed further."""
        return not world.misread and not world.refused


def serving_vocabulary(scope: ServingScope) -> tuple[Move, ...]:
    """Every move that is tried in every state."""
    return tuple(_moves(scope))


def _moves(scope: ServingScope) -> Iterator[Move]:
    for request, plan in scope.plans.items():
        if not scope.rules.claim_at_once:
            yield LookUp(request)
        ends = range(1, plan.prompt + 1) if scope.chunked else (plan.prompt,)
        yield from (Admit(request, upto) for upto in ends)
        yield from (
            Grow(request, upto) for upto in range(2 if scope.chunked else plan.prompt + 1, len(plan.tokens) + 1)
        )
        for again in (False, True):
            yield from (Drop(request, again, deferred) for deferred in (False, True))
        if scope.limits.get("transfer"):
            for number, group in enumerate(scope.layout):
                entries = range(group.blocks_for(len(plan.tokens)))
                yield from (BeginTransfer(request, GroupId(number), entry) for entry in entries)
        if scope.limits.get("failure"):
            yield Invalidate(request)
    for watcher in map(Watcher, range(scope.limits.get("transfer", 0))):
        yield from (Unpin(watcher), EndTransfer(watcher))
    yield RunPass()
    if scope.limits.get("reset"):
        yield Reset()


class ServingSymmetry:
    """Two worlds that differ only in the names of blocks, or of requests with like plans, are one.

    As for the pool alone, a world is described block by block. What a free block holds that no lookup finds and nobody
    reads is left out: it is forgotten when the block is handed out, before anybody could read it.
    """

    def __init__(self, scope: ServingScope) -> None:
        names = sorted(scope.plans)
        self._renamings = []
        for order in permutations(names):
            renamed = dict(zip(names, order, strict=True))
            prefixes = _renamed_prefixes(scope, renamed)
            if prefixes is not None:
                self._renamings.append((renamed, prefixes))

    def described(self, world: World) -> Canon:
        return _description(world, *self._renamings[0])

    def canon(self, world: World) -> Canon:
        if len(self._renamings) == 1:
            return _description(world, *self._renamings[0])
        return min((_description(world, *renaming) for renaming in self._renamings), key=repr)

    def orbit(self, world: World) -> int:
        images = {_description(world, *renaming) for renaming in self._renamings}
        twins: Iterable[int] = Counter(next(iter(images))[-1]).values()
        return len(images) * factorial(len(world.pool.lendable)) // prod(map(factorial, twins))


def _renamed_prefixes(scope: ServingScope, renamed: dict[str, str]) -> dict[tuple[int, ...], int] | None:
    """A number for each prefix, so that the prefixes of a request get those of its partner; None if that is not so."""
    every = sorted({plan.tokens[:end] for plan in scope.plans.values() for end in range(len(plan.tokens) + 1)})
    numbers = {prefix: number for number, prefix in enumerate(every)}
    found: dict[tuple[int, ...], int] = {}
    for old, new in renamed.items():
        one, other = scope.plans[old], scope.plans[new]
        if (len(one.tokens), one.prompt) != (len(other.tokens), other.prompt):
            return None
        for end in range(len(one.tokens) + 1):
            if found.setdefault(one.tokens[:end], numbers[other.tokens[:end]]) != numbers[other.tokens[:end]]:
                return None
    return found if len(set(found.values())) == len(found) else None


def _description(world: World, names: dict[str, str], prefixes: dict[tuple[int, ...], int]) -> Canon:
    places = _places(world, names)
    pool = world.pool
    blocks = []
    for block in map(BlockId, pool.lendable):
        primary = pool.primary.get(block)
        known = pool.is_held(block) or primary is not None or block in pool.watchers
        blocks.append(
            (
                tuple([place for place, queued in enumerate(pool.queue) if queued == block]),
                pool.refs[block],
                () if primary is None else (prefixes[primary.key.prefix.tokens], primary.key.group, primary.tokens),
                tuple(sorted((prefixes[key.prefix.tokens], key.group) for key in pool.aliases.get(block, ()))),
                tuple(sorted(pool.watchers.get(block, ()))),
                tuple(sorted(places.get(block, ()))),
                _content(world.memory.get(block, ()), prefixes) if known else (),
                tuple(
                    sorted(
                        (prefixes[key.prefix.tokens], key.group, names[name])
                        for key, fresh, name in world.fresh
                        if fresh == block
                    )
                ),
            )
        )
    return (_requests(world, names), _outside(world, names, prefixes), tuple(sorted(blocks)))


def _content(slots: Iterable[Any], prefixes: dict[tuple[int, ...], int]) -> tuple[tuple[int, int], ...]:
    return tuple([(-1, -1) if slot is None else (slot[0], prefixes[slot[1]]) for slot in slots])


def _places(world: World, names: dict[str, str]) -> dict[BlockId, list[tuple[Any, ...]]]:
    """Everything that names a block: tables, hits looked up, copies, what waits to be given back, transfers."""
    found: dict[BlockId, list[tuple[Any, ...]]] = {}
    for block, *place in _namings(world, names):
        if block != NULL:
            found.setdefault(block, []).append(tuple(place))
    return found


def _namings(world: World, names: dict[str, str]) -> Iterator[tuple[Any, ...]]:
    tables = [("table", name, running.tables) for name, running in world.running.items()]
    tables += [("hit", name, hit) for name, (_, hit) in world.looked_up.items()]
    for what, name, grouped in tables:
        for number, table in enumerate(grouped):
            yield from ((block, what, names[name], number, entry) for entry, block in enumerate(table))
    for place, (source, target) in enumerate(world.copies):
        yield from ((source, "from", "", place, 0), (target, "to", "", place, 0))
    for what in ("retained", "deferred"):
        yield from ((block, what, "", place, 0) for place, block in enumerate(getattr(world, what)))
    for watcher, transfer in world.transfers.items():
        yield (transfer.block, "read", "", watcher, int(transfer.pinned))


def _requests(world: World, names: dict[str, str]) -> Canon:
    running = sorted(
        (
            names[name],
            one.computed,
            one.scheduled,
            one.cached,
            one.dispatched,
            tuple(tuple(block != NULL for block in table) for table in one.tables),
        )
        for name, one in world.running.items()
    )
    looked_up = sorted((names[name], tokens) for name, (tokens, _) in world.looked_up.items())
    return (tuple(sorted(names[name] for name in world.waiting)), tuple(running), tuple(looked_up))


def _outside(world: World, names: dict[str, str], prefixes: dict[tuple[int, ...], int]) -> Canon:
    transfers = sorted((watcher, _content(one.content, prefixes)) for watcher, one in world.transfers.items())
    misread = sorted((names[name], group, position) for name, group, position in world.misread)
    return (tuple(sorted(world.used.items())), tuple(transfers), tuple(misread), tuple(sorted(world.refused)))


# --- the scopes ---

_FULL = Group(Kind.FULL, 2)
_WINDOW = Group(Kind.WINDOW, 1, window=2)
_STATE = Group(Kind.STATE, 2)
_RING = Group(Kind.RING, 2)
_TWINS = {"a": Plan((0, 1, 2, 3), 3), "b": Plan((0, 1, 2, 3), 3)}
_COUSINS = {"a": Plan((0, 1, 2, 3), 3), "b": Plan((0, 1, 2, 4), 4)}  # b begins with the whole prompt of a

_ATTENTION = ServingScope(
    "attention",
    "2 equal requests, full attention alone, 4 blocks; aborts, deferred releases, wrong content, resets",
    blocks=4,
    layout=(_FULL,),
    plans=_TWINS,
    limits={"preempt": 1, "abort": 1, "defer": 1, "failure": 1, "reset": 1},
)
_FAILING = replace(
    _ATTENTION,
    name="failing",
    sentence="as attention, with a transfer and a second preemption",
    limits={"preempt": 2, "abort": 1, "transfer": 1, "defer": 1, "failure": 1, "reset": 1},
)
_WINDOWED = ServingScope(
    "windowed",
    "full attention and a sliding window; one request begins with the whole prompt of the other; 5 blocks",
    blocks=5,
    layout=(_FULL, _WINDOW),
    plans=_COUSINS,
    limits={"preempt": 1, "transfer": 1},
    chunked=True,
)
_STATEFUL = replace(
    _WINDOWED,
    name="stateful",
    sentence="full attention and a recurrent state; one request begins with the whole prompt of the other; 5 blocks",
    layout=(_FULL, _STATE),
    limits={"transfer": 1},
)
_RINGED = replace(
    _ATTENTION,
    name="ringed",
    sentence="full attention and a ring, with which nothing can be hit; 5 blocks",
    blocks=5,
    layout=(_FULL, _RING),
    limits={"preempt": 1, "abort": 1},
)
_SIZED = replace(
    _WINDOWED,
    name="sized",
    sentence="two full attention groups with blocks of 1 and of 2 tokens; 7 blocks",
    blocks=7,
    layout=(Group(Kind.FULL, 1), _FULL),
    limits={"preempt": 1},
)

_RESUMED = replace(
    _STATEFUL,
    name="resumed",
    sentence="as stateful, with a preemption",
    limits={"preempt": 1, "transfer": 1},
)


def _recorded(*parts: ServingScope) -> tuple[ServingScope, ...]:
    return tuple(replace(part, expected=counts(part.name)) for part in parts)


SERVING_SCOPES: dict[str, tuple[ServingScope, ...]] = {
    "small": _recorded(_ATTENTION, _WINDOWED, _STATEFUL, _RINGED, _SIZED),
    "large": _recorded(_FAILING, _WINDOWED, _RESUMED, _RINGED, _SIZED),
}
"""What `--machine requests --scope NAME` searches."""


def with_rules(scope: ServingScope, *broken: str) -> ServingScope:
    """The scope with these rules broken."""
    return replace(scope, rules=replace(scope.rules, **dict.fromkeys(broken, False)), expected=None)
