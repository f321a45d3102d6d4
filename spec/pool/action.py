"""The shape of every action, and what it means to take one.

An action is a frozen record of its arguments. It answers three questions, always in this order:

    guard(pool)            the reasons for which a correct pool refuses the call (none: it may proceed)
    answers(pool)          every result a correct pool may give
    effect(pool, answer)   the pool afterwards

A refused action changes nothing. That holds for every action and every reason.

The actions themselves are in `lending.py` (references and the queue), `publishing.py` and `forgetting.py` (keys and
the index), and `queries.py` (questions, and taking the events).
"""

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

from blockpool.spec.pool.events import Event, Removed
from blockpool.spec.pool.state import Pool
from blockpool.spec.pool.terms import NULL, BlockId, Reason, Watcher

Answer = TypeVar("Answer")
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Action(Generic[Answer]):
    """One call of the pool."""

    name: ClassVar[str]  # the method of a real pool
    reasons: ClassVar[frozenset[Reason]]  # every reason its guard can give

    @abstractmethod
    def guard(self, pool: Pool) -> frozenset[Reason]:
        """All reasons to refuse; a pool that refuses may name any one of them."""

    @abstractmethod
    def answers(self, pool: Pool) -> Iterable[Answer]:
        """Every answer the promise allows. Asked only if the guard gives no reason."""

    def allows(self, pool: Pool, answer: object) -> bool:
        """Is it one of the answers? Actions with many answers say it directly."""
        return any(answer == allowed for allowed in self.answers(pool))

    @abstractmethod
    def effect(self, pool: Pool, answer: Answer) -> Pool:
        """The next state, given which answer was chosen."""


class Handed(NamedTuple):
    """Blocks handed out, and who was told that a block they were reading is about to be reused."""

    blocks: tuple[BlockId, ...]
    told: frozenset[tuple[BlockId, Watcher]]


class ResetDone(NamedTuple):
    """Was the cache reset, and who was told?"""

    done: bool
    told: frozenset[tuple[BlockId, Watcher]]


class Step(NamedTuple):
    """One action taken or refused: what every property of behaviour speaks about."""

    before: Pool
    action: Action[Any]
    refused: frozenset[Reason]
    answer: Any
    after: Pool

    @property
    def told(self) -> frozenset[tuple[BlockId, Watcher]]:
        """The watchers told in this step."""
        return self.answer.told if isinstance(self.answer, Handed | ResetDone) else frozenset()

    @property
    def emitted(self) -> tuple[Event, ...]:
        """The events this step appended to the outbox."""
        return self.after.outbox[len(self.before.outbox) :]


def steps(pool: Pool, action: Action[Any]) -> Iterator[Step]:
    """Every step that a correct pool may take on this call: one if it is refused, else one for each answer."""
    refused = action.guard(pool)
    if refused:
        yield Step(pool, action, refused, None, pool)
        return
    for answer in action.answers(pool):
        yield Step(pool, action, refused, answer, action.effect(pool, answer))


def while_telling(step: Step) -> Pool | None:
    """What a watcher sees while it is told: the pool as it was before the call. None if nobody is told."""
    return replace(step.before, telling=True) if step.told else None


# --- words that several actions use ---


def refusals(*claims: tuple[Reason, bool]) -> frozenset[Reason]:
    """The reasons whose claim is true."""
    return frozenset([reason for reason, applies in claims if applies])


def updated(mapping: Mapping[K, V], changes: Mapping[K, V]) -> Mapping[K, V]:
    """The mapping with these entries changed or added."""
    return {**mapping, **changes}


def without(mapping: Mapping[K, V], gone: Iterable[K]) -> Mapping[K, V]:
    """The mapping without these entries; itself if it has none of them."""
    present = [key for key in gone if key in mapping]
    if not present:
        return mapping
    rest = dict(mapping)
    for key in present:
        rest.pop(key, None)
    return rest


def report(pool: Pool, events: Iterable[Event]) -> Pool:
    """The pool with these events in its outbox, if it reports events at all."""
    new = tuple(events)
    return replace(pool, outbox=pool.outbox + new) if pool.reporting and new else pool


def drop_keys(pool: Pool, blocks: Iterable[BlockId]) -> Pool:
    """No lookup finds these blocks any more; one Removed for each key of each block."""
    lost = [(block, key) for block in blocks for key in sorted(pool.keys_of(block))]
    if not lost:
        return pool
    index = dict(pool.index)
    for block, key in lost:
        index[key] = index[key] - {block}
        if not index[key]:
            del index[key]
    gone = [block for block, _ in lost]
    pool = replace(pool, primary=without(pool.primary, gone), aliases=without(pool.aliases, gone), index=index)
    return report(pool, [Removed(key) for _, key in lost])


def real(blocks: Iterable[BlockId]) -> list[BlockId]:
    """The blocks without the null block, which is skipped and not counted."""
    return [block for block in blocks if block != NULL]


def namings(blocks: Iterable[BlockId]) -> dict[BlockId, int]:
    """How often the list names each block."""
    times: dict[BlockId, int] = {}
    for block in blocks:
        times[block] = times.get(block, 0) + 1
    return times


def asks_for_too_much(pool: Pool, blocks: Iterable[BlockId]) -> bool:
    """Does the list name a block more often than references are held on it? Unknown blocks aside."""
    named = namings([block for block in real(blocks) if pool.knows(block)])
    return any(count > pool.refs[block] for block, count in named.items())


def any_unknown(pool: Pool, blocks: Iterable[BlockId]) -> bool:
    """Does the list name a block that is not of this pool?"""
    return not all(pool.knows(block) for block in blocks)
