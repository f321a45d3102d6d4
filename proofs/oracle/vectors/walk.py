"""The spec's small pools walked breadth first, for a shortest way to each class of steps.

A class is an operation, what came of it, and one thing that is special about the step: a reason to refuse, what a block
was before and is after, an event, a watcher told, a possibility shown.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from blockpool.proofs.bindings.call_of_action import call_of, reply_of
from blockpool.proofs.explore.machines import machine_of
from blockpool.proofs.explore.scopes import Scope
from blockpool.spec import (
    ACTIONS,
    NULL,
    POSSIBILITIES,
    Action,
    BlockId,
    CacheFullBlocks,
    FreeBlocks,
    GetCachedBlock,
    GetNewBlocks,
    GetNumFreeBlocks,
    Pool,
    Step,
    TakeEvents,
    Touch,
    steps,
)
from blockpool.spec.contract import calls
from blockpool.spec.contract.violation import blocks_of

Actions = tuple[Action[Any], ...]


@dataclass(frozen=True, slots=True)
class Way:
    """How to come to a step: in which scope, by which calls; the last call is the step."""

    part: Scope
    actions: Actions


@dataclass
class Walk:
    """What was seen, and a shortest way to it."""

    changing: dict[str, Way] = field(default_factory=dict)  # classes of steps that change the pool
    idle: dict[str, Way] = field(default_factory=dict)  # classes of refusals and questions
    states: int = 0

    @property
    def classes(self) -> set[str]:
        """All classes."""
        return {*self.changing, *self.idle}


CORE = (GetNewBlocks, Touch, FreeBlocks, CacheFullBlocks, GetCachedBlock, GetNumFreeBlocks, TakeEvents)
"""What nearly every pool has."""


def walk(parts: Iterable[Scope], depth: int, kinds: tuple[type[Action[Any]], ...] = ACTIONS) -> Walk:
    """Walk every state that at most so many calls of these kinds reach, the taking of events not counted."""
    found = Walk()
    for part in parts:
        if not part.nested:  # no caller of the oracle is called back
            tried = [action for action in machine_of(part).calls if isinstance(action, kinds)]
            plain = sorted(dict.fromkeys([*map(_narrowed, tried), *tried]), key=_is_special)
            _walk(part, plain, depth, found)
    return found


def _walk(part: Scope, tried: Sequence[Action[Any]], depth: int, found: Walk) -> None:
    machine = machine_of(part)
    first = part.first_state()
    described, known = {machine.symmetry.described(first)}, {machine.symmetry.canon(first)}
    level: list[tuple[Pool, Actions]] = [(first, ())]
    for _ in range(depth + 1):
        ahead: list[tuple[Pool, Actions]] = []
        for pool, before in level:
            found.states += 1
            for action in tried:
                step = first_step(pool, action)
                _note(found, part, step, before)
                if step.after is pool:
                    continue
                after, way = step.after, (*before, action)
                settling = machine.settle(step)
                if settling is not None:
                    taken = first_step(after, settling)
                    _note(found, part, taken, way)
                    after, way = taken.after, (*way, settling)
                description = machine.symmetry.described(after)
                if description in described or not _is_portable(step):
                    continue
                described.add(description)
                canon = machine.symmetry.canon(after)
                if canon not in known and part.admits(after):
                    known.add(canon)
                    ahead.append((after, way))
        level = ahead


def _narrowed(action: Action[Any]) -> Action[Any]:
    """The same publishing without null blocks at its ends."""
    if not isinstance(action, CacheFullBlocks) or action.mask is not None or action.block_size < 1:
        return action
    bounds = range(max(0, action.num_cached), min(action.num_full, len(action.blocks)))
    chosen = [place for place in bounds if action.blocks[place] != NULL]
    return replace(action, num_cached=chosen[0], num_full=chosen[-1] + 1) if chosen else action


def _is_special(action: Action[Any]) -> bool:
    """Does it name the null block, a block twice, or a parent that may be unknown? Ways without come first: more pools
    can take them.
    """
    blocks = getattr(action, "blocks", ())
    if isinstance(action, CacheFullBlocks):
        blocks = blocks[max(0, action.num_cached) : action.num_full]
    behind = isinstance(action, CacheFullBlocks) and action.num_cached > 0
    return behind or NULL in blocks or len(set(blocks)) < len(blocks)


def _is_portable(step: Step) -> bool:
    """Can the run go on? Not behind a share that gives life to a block without a key: few pools have that."""
    free = (block for block in getattr(step.action, "blocks", ()) if not step.before.is_held(block))
    return not isinstance(step.action, Touch) or all(block == NULL or block in step.before.primary for block in free)


def first_step(pool: Pool, action: Action[Any]) -> Step:
    """One step of the action; where there are others, they differ in their answers only."""
    return next(steps(pool, action))


def steps_of(part: Scope, actions: Sequence[Action[Any]]) -> Iterator[Step]:
    """The steps of these calls, from the first state on."""
    pool = part.first_state()
    for action in actions:
        step = first_step(pool, action)
        yield step
        pool = step.after


def changes(step: Step) -> bool:
    """Is the pool another one afterwards?"""
    return step.after is not step.before and step.after != step.before


def _note(found: Walk, part: Scope, step: Step, before: Actions) -> None:
    seen = found.changing if changes(step) else found.idle
    for one in (*classes(step), *end(step)):
        if one not in seen:
            seen[one] = Way(part, (*before, step.action))


def classes(step: Step) -> list[str]:
    """The classes of the step; none if the oracle has no word for the call, or no caller makes it."""
    call = call_of(step.before, step.action)
    if call is None or _is_empty(call):
        return []
    if step.refused:
        here = blocks_of(call) or step.before.lendable
        verb = "names" if blocks_of(call) else "leaves"
        lives = sorted({_life(step.before, block) for block in here})
        reasons = [f"{call.op} refused, {reason}" for reason in sorted(step.refused)]
        return [*reasons, *(f"{reason}: {verb} a {life} block" for reason in reasons for life in lives)]
    special = [*_features(step, call), *(shown(step) if changes(step) else ())]
    return [f"{call.op}: {feature}" for feature in special]


def end(step: Step) -> list[str]:
    """What has become of the pool, if the run ends here and closing calls show it."""
    if not changes(step) or isinstance(step.action, TakeEvents):
        return []
    lives = Counter(_life(step.after, block) for block in step.after.lendable)
    return [f"ends with {', '.join(f'{count} {life}' for life, count in sorted(lives.items()))}"]


def _is_empty(call: calls.Call) -> bool:
    """Does it publish nothing, or look into no group?"""
    match call:
        case calls.Publish(()) | calls.Lookup(_, ()):
            return True
        case _:
            return False


def shown(step: Step) -> list[str]:
    """The possibilities that this step shows, and that a mere question before it would not show."""
    question = Step(step.before, GetNumFreeBlocks(), frozenset(), len(step.before.queue), step.before)
    return [one.name for one in POSSIBILITIES if one.judge(step) and not one.judge(question)]


def _features(step: Step, call: calls.Call) -> Iterator[str]:
    """What is special about a step that is taken."""
    before, after = step.before, step.after
    named = blocks_of(call, reply_of(step))
    yield f"{min(len(named), 3)} blocks" if len(set(named)) == len(named) else "a block twice"
    changed = Counter[str]()
    for block in [BlockId(block) for block in dict.fromkeys(named) if isinstance(block, int)]:
        lives = [_life(pool, block) for pool in (before, after)]
        changed[lives[0] if lives[0] == lives[1] else " to ".join(lives)] += 1
        yield from _company(before, block)
        yield from _place(before, block) if len(named) == 1 else ()
    yield from changed
    yield from (f"{change}, two of them" for change, count in changed.items() if count > 1)
    yield from {f"an event {type(event).__name__.lower()}" for event in step.emitted}
    if step.told:
        yield f"{len(step.told)} told"
    if isinstance(call, calls.Alloc) and set(named) & before.primary.keys() and set(after.queue) & after.primary.keys():
        yield "evicts a block and leaves another"
    if isinstance(call, calls.Lookup | calls.Writable | calls.Cancel | calls.Reset | calls.FreeCount | calls.Alloc):
        yield _outcome(step, call)
    if isinstance(call, calls.Publish | calls.PublishPartial) and call.parent is not None:
        yield "behind a parent"
    if isinstance(step.action, TakeEvents):
        yield from {f"answers {type(event).__name__.lower()}" for event in before.outbox}


def _company(pool: Pool, block: BlockId) -> Iterator[str]:
    """What a block shares with others: references, keys, watchers."""
    if pool.refs.get(block, 0) > 1:
        yield "a shared block"
    if block in pool.aliases:
        yield "a block with an alias"
    if any(len(pool.index[key]) > 1 for key in pool.keys_of(block)):
        yield "one of two copies"
    if len(pool.watchers.get(block, ())) > 1:
        yield "a block with two watchers"
    elif block in pool.watchers and block in pool.primary:
        yield "a watched block with a key"


def _place(pool: Pool, block: BlockId) -> Iterator[str]:
    """Where a cached block stands in the queue."""
    if block in pool.queue[1:] and block in pool.primary:
        yield "a cached block behind others"
    if block in pool.queue[:-1] and block in pool.primary:
        yield "a cached block before others"


def _outcome(step: Step, call: calls.Call) -> str:
    free = len(step.before.queue)
    match call:
        case calls.FreeCount() | calls.Alloc():
            return "none free" if not free else "all free" if free == len(step.before.lendable) else "some free"
        case calls.Lookup(_, groups):
            return f"{len(groups)} groups, {_hit(step)}"
        case calls.Reset():
            kept = "with keys" if step.before.index else "without keys"
            return f"{'done' if step.answer.done else 'not done'}, {kept}"
        case _:
            return f"answers {step.answer}"


def _hit(step: Step) -> str:
    assert isinstance(step.action, GetCachedBlock)
    carriers = step.action.candidates(step.before)
    if all(carriers):
        return "a choice" if any(len(found) > 1 for found in carriers) else "a hit"
    return "a hit in some" if any(carriers) else "nothing"


def _life(pool: Pool, block: Any) -> str:
    return str(pool.life_of(block)) if pool.knows(block) else "foreign" if block > 0 else "negative"
