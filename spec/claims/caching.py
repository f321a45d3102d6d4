"""What is true of every step: keys, events and hits."""

from collections.abc import Mapping

from blockpool.spec.claims.claim import StepProperty, collect
from blockpool.spec.pool.action import Step
from blockpool.spec.pool.allocation import GetNewBlocks
from blockpool.spec.pool.events import FalseEventError, Mirror, Stored
from blockpool.spec.pool.eviction import EvictBlocks, MoveBlockHashes, ResetPrefixCache
from blockpool.spec.pool.prefix import Key
from blockpool.spec.pool.publishing import CacheFullBlocks, CachePartialBlock
from blockpool.spec.pool.queries import GetCachedBlock, TakeEvents
from blockpool.spec.pool.terms import BlockId


def keys_leave_only_for_a_named_reason(step: Step) -> bool | None:
    """A block loses a key only by being handed out, evicted by name, reset, moved from, or published anew.

    A key lost in any other way is a lost hit that no event explains."""
    if step.after.primary == step.before.primary and step.after.aliases == step.before.aliases:
        return None
    lost = {block for block in step.before.primary if not step.before.keys_of(block) <= step.after.keys_of(block)}
    if not lost:
        return None
    match step.action:
        case GetNewBlocks():
            return lost <= set(step.answer.blocks)
        case EvictBlocks(blocks):
            return lost <= blocks
        case ResetPrefixCache():
            return True
        case MoveBlockHashes(source, _):
            return lost == {source}
        case CacheFullBlocks():
            return lost <= set(step.action.chosen().values())
        case CachePartialBlock(_, block):
            return lost == {block}
        case _:
            return False


def what_is_published_is_found(step: Step) -> bool | None:
    """After publishing, a lookup of each published prefix finds the block.

    Content that cannot be found is computed again by every request that needs it."""
    match step.action:
        case _ if step.refused:
            return None
        case CacheFullBlocks():
            published = [(step.action.key(place), block) for place, block in step.action.chosen().items()]
        case CachePartialBlock(_, block) if step.answer is not None:
            published = [(step.answer, block)]
        case _:
            return None
    return all(block in step.after.index.get(key, ()) for key, block in published)


def a_move_keeps_every_key(step: Step) -> bool | None:
    """Moving keys leaves the same keys findable, under as many blocks, and sends no event.

    Consumers of events are not told of a move, so the number of copies of each key must not change."""
    if step.refused or not isinstance(step.action, MoveBlockHashes):
        return None
    sizes = [{key: len(blocks) for key, blocks in pool.index.items()} for pool in (step.before, step.after)]
    return sizes[0] == sizes[1] and not step.emitted


def coverage_only_grows_within_a_life(step: Step) -> bool | None:
    """While a block keeps being cached, its primary key covers more tokens each time it changes.

    Content is appended, never taken back; only a caller that says it has rewritten the block may shorten it."""
    rewritten = isinstance(step.action, CachePartialBlock) and step.action.replace_existing
    changed = [
        (before, step.after.primary[block])
        for block, before in step.before.primary.items()
        if block in step.after.primary and step.after.primary[block] != before
    ]
    if rewritten or not changed:
        return None
    return all(after.tokens > before.tokens for before, after in changed)


def the_outbox_grows_only_at_its_end(step: Step) -> bool | None:
    """Events are appended, and leave only by being taken, all at once.

    Consumers apply them in order; one lost or moved event falsifies their mirror for good."""
    if isinstance(step.action, TakeEvents) and not step.refused:
        return step.after.outbox == ()
    if not step.before.outbox:
        return None
    return step.after.outbox[: len(step.before.outbox)] == step.before.outbox


def events_say_what_the_index_does(step: Step) -> bool | None:
    """A consumer that was right about the index before the step, and reads its events, is right about it after.

    Routers send requests to the server whose mirror promises the longest prefix; a wrong mirror sends them astray."""
    if isinstance(step.action, TakeEvents) or not step.before.reporting:
        return None
    if not step.emitted and step.after.index is step.before.index:
        return None
    if not step.emitted:
        return _copies(step.before.index) == _copies(step.after.index)
    mirror = Mirror.of(step.before.index)
    try:
        for event in step.emitted:
            mirror.read(event)
    except FalseEventError:
        return False
    return mirror.copies == _copies(step.after.index)


def stored_events_name_their_tokens(step: Step) -> bool | None:
    """A Stored event names the tokens that its keys add to the prefix before them, and a parent that ends there.

    A consumer in another process rebuilds the prefix tree from these fields alone."""
    stored = [event for event in step.emitted if isinstance(event, Stored)]
    if not stored or isinstance(step.action, TakeEvents):
        return None
    return all(_is_consistent(event) for event in stored)


def a_hit_carries_the_key_in_every_group(step: Step) -> bool | None:
    """A lookup answers one block for each group, each carrying the prefix in that group; or nothing at all.

    A hit in only some groups would let the others read blocks that were never filled."""
    action = step.action
    if not isinstance(action, GetCachedBlock) or step.answer is None:
        return None
    return len(step.answer) == len(action.groups) and all(
        Key(action.prefix, group) in step.before.keys_of(block)
        for block, group in zip(step.answer, action.groups, strict=True)
    )


def _copies(index: Mapping[Key, frozenset[BlockId]]) -> dict[Key, int]:
    return {key: len(blocks) for key, blocks in index.items() if blocks}


def _is_consistent(event: Stored) -> bool:
    prefix = event.keys[-1].prefix
    start = len(prefix) - len(event.tokens)
    ends = [start + event.block_size * place for place in range(1, len(event.keys) + 1)]
    return (
        prefix.tokens[start:] == event.tokens
        and [key.tokens for key in event.keys] == ends
        and all(key == Key(prefix.first(end), event.keys[0].group) for key, end in zip(event.keys, ends, strict=True))
        and event.parent in (None, Key(prefix.first(start), event.keys[0].group))
    )


CACHING_PROPERTIES = collect(
    StepProperty,
    keys_leave_only_for_a_named_reason,
    what_is_published_is_found,
    a_move_keeps_every_key,
    coverage_only_grows_within_a_life,
    the_outbox_grows_only_at_its_end,
    events_say_what_the_index_does,
    stored_events_name_their_tokens,
    a_hit_carries_the_key_in_every_group,
)
