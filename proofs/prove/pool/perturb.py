"""States and steps with one thing changed, which no correct pool shows. Most break a claim, which is the point."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from blockpool.spec import (
    NULL,
    BlockId,
    CachePartialBlock,
    CancelWatch,
    Cleared,
    Event,
    GetCachedBlock,
    GetNewBlocks,
    Handed,
    Key,
    Pool,
    Primary,
    Reason,
    Removed,
    ResetDone,
    ResetPrefixCache,
    Step,
    Stored,
    Watcher,
    steps,
)

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
E = TypeVar("E", bound=Hashable)


def perturbed(pool: Pool, keys: Sequence[Key], watchers: Sequence[Watcher]) -> Iterator[Pool]:
    """Every state that differs from this one in one place, over these names."""
    fields = {**variations(pool, keys, watchers), "telling": [not pool.telling], "caching": [not pool.caching]}
    return (replace(pool, **{name: value}) for name, values in fields.items() for value in values)


def variations(pool: Pool, keys: Sequence[Key], watchers: Sequence[Watcher]) -> dict[str, list[Any]]:
    """By field: every value that differs in one place. Without the fields that are fixed for life."""
    blocks = _blocks(pool)
    return {
        "queue": list(_queues(pool)),
        "refs": list(_refs(pool)),
        "primary": list(_primaries(pool, keys)),
        "aliases": list(_sets(pool.aliases, blocks, keys)),
        "index": list(_sets(pool.index, keys, blocks)),
        "watchers": list(_sets(pool.watchers, blocks, watchers)),
        "outbox": list(_outboxes(pool, keys)),
    }


def step_variations(step: Step, keys: Sequence[Key], watchers: Sequence[Watcher]) -> dict[str, list[Any]]:
    """By what is changed: a field of the state after, the answer, or the whole step; for `varied`."""
    found = variations(step.after, keys, watchers)
    found["answer"] = list(_answers(step, watchers))
    found["choice"] = list(_choices(step))
    if step.refused:
        found["refused"] = [step._replace(refused=frozenset(), answer=answer) for answer in _guesses(step)]
    else:
        refusal = step._replace(refused=frozenset({Reason.RE_ENTRANT}), answer=None)
        found["refused"] = [refusal, refusal._replace(after=step.before)]
    return {what: values for what, values in found.items() if values}


def varied(step: Step, what: str, value: Any) -> Step:
    """The step with this changed."""
    if isinstance(value, Step):
        return value
    return (
        step._replace(answer=value) if what == "answer" else step._replace(after=replace(step.after, **{what: value}))
    )


def _answers(step: Step, watchers: Sequence[Watcher]) -> Iterator[Any]:
    """Answers with one thing changed, as far as an answer of this kind has anything to change."""
    match step.answer:
        case Handed(blocks, told) as answer:
            yield from (
                answer._replace(blocks=other) for other in (*_queues(step.before), blocks[:-1]) if other != blocks
            )
            yield from (answer._replace(told=other) for other in _tellings(step, told, watchers))
        case ResetDone(done, told) as answer:
            yield answer._replace(done=not done)
            yield from (answer._replace(told=other) for other in _tellings(step, told, watchers))
        case bool(answer):
            yield not answer
        case int(answer):
            yield from (answer - 1, answer + 1)
        case Key():
            yield None
        case tuple(blocks) if isinstance(step.action, GetCachedBlock) and blocks:
            yield from ((*blocks[:-1], block) for block in _blocks(step.before) if block != blocks[-1])
            yield None
        case _:
            pass


def _choices(step: Step) -> Iterator[Step]:
    """A wrong answer with the state it would lead to."""
    before, queue = step.before, step.before.queue
    match step.answer:
        case Handed(blocks, _) if blocks and len(blocks) < len(queue):
            last_first = replace(before, queue=(queue[-1], *queue[:-1]))
            yield from (other._replace(before=before) for other in steps(last_first, step.action))
        case ResetDone(done, told):
            other = ResetDone(not done, told)
            yield step._replace(answer=other, after=step.action.effect(before, other))
        case True if isinstance(step.action, CancelWatch):
            yield step._replace(answer=False, after=before)
        case Key():
            yield step._replace(answer=None, after=before)


def _tellings(
    step: Step, told: frozenset[tuple[BlockId, Watcher]], watchers: Sequence[Watcher]
) -> Iterator[frozenset[tuple[BlockId, Watcher]]]:
    yield from (told ^ {(block, watcher)} for block in _blocks(step.before) for watcher in watchers)


def _guesses(step: Step) -> Iterator[Any]:
    """What the call could have answered had it not been refused."""
    match step.action:
        case GetNewBlocks():
            yield Handed((), frozenset())
            yield Handed(step.before.queue, step.before.told_about(step.before.queue))
        case ResetPrefixCache():
            yield from (ResetDone(done, frozenset()) for done in (False, True))
        case CancelWatch():
            yield from (False, True)
        case CachePartialBlock(_, block) as action:
            yield None if block == NULL else action.key
        case _:
            yield None


def _blocks(pool: Pool) -> list[BlockId]:
    return [BlockId(block) for block in range(pool.size)]


def _queues(pool: Pool) -> Iterator[tuple[BlockId, ...]]:
    """A block lost, twice, exchanged with its neighbour or moved to an end; a block too many anywhere."""
    queue = pool.queue
    for place, block in enumerate(queue):
        rest = queue[:place] + queue[place + 1 :]
        yield from (rest, (block, *queue), (*queue, block))
        if place:
            yield (block, *rest)
            yield (*rest[: place - 1], block, *rest[place - 1 :])
    for block in _blocks(pool):
        if block not in queue:
            yield from ((*queue[:place], block, *queue[place:]) for place in range(len(queue) + 1))


def _refs(pool: Pool) -> Iterator[Mapping[BlockId, int]]:
    """One reference more or fewer, below zero as well."""
    for block in _blocks(pool):
        count = pool.refs.get(block, 0)
        yield from ({**pool.refs, block: count + 1}, {**pool.refs, block: count - 1})


def _primaries(pool: Pool, keys: Sequence[Key]) -> Iterator[Mapping[BlockId, Primary]]:
    """A primary key lost, invented or exchanged; a coverage that is not the length of the key."""
    for block in _blocks(pool):
        if block in pool.primary:
            yield _without(pool.primary, block)
            old = pool.primary[block]
            yield from ({**pool.primary, block: old._replace(tokens=old.tokens + wrong)} for wrong in (-1, 1))
        for key in keys:
            if block not in pool.primary or pool.primary[block].key != key:
                yield {**pool.primary, block: Primary(key, key.tokens)}


def _sets(
    sets: Mapping[K, frozenset[E]], places: Sequence[K], members: Sequence[E]
) -> Iterator[Mapping[K, frozenset[E]]]:
    """A member lost or invented; an entry that is empty, or lost as a whole."""
    for place in places:
        had = sets.get(place, frozenset())
        yield from ({**sets, place: had | {member}} for member in members if member not in had)
        yield {**sets, place: frozenset()}
        if place in sets:
            yield _without(sets, place)
            yield from ({**sets, place: had - {member}} for member in members if member in had and len(had) > 1)


def _outboxes(pool: Pool, keys: Sequence[Key]) -> Iterator[tuple[Event, ...]]:
    """An event lost, twice or invented."""
    outbox = pool.outbox
    yield from (outbox[:place] + outbox[place + 1 :] for place in range(len(outbox)))
    yield from ((*outbox[:place], *outbox[place - 1 :]) for place in range(1, len(outbox) + 1))
    yield (*outbox, Cleared())
    for key in keys:
        yield (*outbox, Removed(key))
        yield (*outbox, Stored((key,), None, key.prefix.tokens[-pool.unit :], pool.unit))


def _without(mapping: Mapping[K, V], gone: K) -> Mapping[K, V]:
    return {key: value for key, value in mapping.items() if key != gone}
