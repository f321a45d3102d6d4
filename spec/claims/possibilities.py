"""What a pool must be able to do. A pool that can do nothing breaks no promise; each of these is shown by some step."""

from blockpool.spec.claims.claim import Possibility, collect
from blockpool.spec.pool.action import Handed, Step
from blockpool.spec.pool.allocation import FreeBlocks, GetNewBlocks, Touch, UnpinBlocks
from blockpool.spec.pool.events import Cleared, Stored
from blockpool.spec.pool.eviction import MoveBlockHashes, ResetPrefixCache
from blockpool.spec.pool.publishing import CacheFullBlocks, CachePartialBlock
from blockpool.spec.pool.queries import GetCachedBlock
from blockpool.spec.pool.terms import BlockId, Life


def a_block_is_shared_by_two_holders(step: Step) -> bool:
    """Two references are held on one published block.

    Sharing is what prefix caching is for."""
    return any(count >= 2 and block in step.after.primary for block, count in step.after.refs.items())


def a_cached_block_is_evicted_by_an_allocation(step: Step) -> bool:
    """An allocation takes a block that a lookup could still find.

    Free memory is cache until it is needed; then it must give way."""
    return isinstance(step.answer, Handed) and any(block in step.before.primary for block in step.answer.blocks)


def a_freed_block_is_hit_and_revived(step: Step) -> bool:
    """A touch takes a cached block out of the free queue.

    A hit on a finished request's prefix is the common case in a chat."""
    return isinstance(step.action, Touch) and any(
        step.before.life_of(block) is Life.CACHED and step.after.is_held(block)
        for block in step.action.blocks
        if step.before.knows(block)
    )


def a_partial_block_is_promoted(step: Step) -> bool:
    """A block published with part of its tokens is published anew when it is full.

    The tail of a prompt is worth a hit before the answer has filled its block."""
    return isinstance(step.action, CacheFullBlocks) and not step.refused and _grew(step)


def a_partial_block_grows(step: Step) -> bool:
    """A block published with part of its tokens is published anew with more of them.

    So does the tail of a conversation, turn by turn."""
    return isinstance(step.action, CachePartialBlock) and not step.action.replace_existing and _grew(step)


def a_rewritten_block_is_published_anew(step: Step) -> bool:
    """A block loses all its keys for a new one because its holder has rewritten it.

    Recurrent states are updated in place."""
    action = step.action
    return (
        isinstance(action, CachePartialBlock)
        and action.replace_existing
        and not step.refused
        and bool(step.before.keys_of(action.block) - step.after.keys_of(action.block))
    )


def a_block_gets_an_alias(step: Step) -> bool:
    """A block is found under a shorter prefix besides its own.

    A shorter request can use the beginning of the block."""
    return any(block not in step.before.aliases for block in step.after.aliases)


def keys_move_to_a_copy(step: Step) -> bool:
    """A copy of a block takes over all its keys.

    Copy on write: the original's holder goes on writing."""
    return isinstance(step.action, MoveBlockHashes) and step.after.primary != step.before.primary


def a_watcher_is_told_of_a_reuse(step: Step) -> bool:
    """An allocation tells a watcher that its block is about to be overwritten.

    A transfer that still reads the block must stop now."""
    return isinstance(step.answer, Handed) and bool(step.told)


def two_watchers_of_one_block_are_told(step: Step) -> bool:
    """Two readers of one block are both told.

    Two transfers may read one block; forgetting the first corrupts it silently."""
    blocks = [block for block, _ in step.told]
    return len(set(blocks)) < len(blocks)


def a_watched_block_is_touched(step: Step) -> bool:
    """A block that somebody was told to expect the loss of is hit again.

    The hit must not take the watcher's right to be told away."""
    return isinstance(step.action, Touch) and any(block in step.after.watchers for block in step.action.blocks)


def a_watcher_calls_back_into_the_pool(step: Step) -> bool:
    """A mutating call arrives while watchers are being told.

    It is refused; the pool is between two states."""
    return step.before.telling and bool(step.refused)


def two_blocks_are_under_one_key(step: Step) -> bool:
    """Equal prefixes computed by two requests are both kept.

    Tables only grow, so the second copy cannot be exchanged for the first."""
    return any(len(blocks) >= 2 for blocks in step.after.index.values())


def a_lookup_has_a_choice(step: Step) -> bool:
    """A lookup may answer one of several blocks.

    A checker that insists on one of them rejects correct pools."""
    action = step.action
    return isinstance(action, GetCachedBlock) and any(len(found) > 1 for found in action.candidates(step.before))


def every_block_is_lent(step: Step) -> bool:
    """The pool is full: nothing is free.

    The state in which schedulers preempt."""
    return not step.after.queue and bool(step.after.refs)


def a_block_is_released_twice_by_its_two_holders(step: Step) -> bool:
    """One call names a block twice and gives both its references back.

    The one legal call that most pools in the wild get wrong."""
    action = step.action
    if not isinstance(action, FreeBlocks) or step.refused:
        return False
    return any(_is_free_now(step, block) and action.blocks.count(block) == 2 for block in set(action.blocks))


def an_unpinned_block_stays_held_by_another(step: Step) -> bool:
    """A reader gives its reference up while another holder keeps the block.

    The block is watched but not free."""
    action = step.action
    return isinstance(action, UnpinBlocks) and any(
        step.after.refs.get(block, 0) > 0 and block in step.after.watchers for block in action.blocks
    )


def the_cache_is_reset(step: Step) -> bool:
    """The cache forgets keys because it is reset.

    New weights make all content worthless."""
    return isinstance(step.action, ResetPrefixCache) and bool(step.before.index) and not step.after.index


def a_stored_event_names_its_parent(step: Step) -> bool:
    """A Stored event continues a prefix that the consumer knows.

    Without parents a consumer has a heap of hashes and no tree."""
    return any(isinstance(event, Stored) and event.parent is not None for event in step.emitted)


def a_cleared_event_is_sent(step: Step) -> bool:
    """A reset is reported.

    Consumers would go on sending requests to an empty cache."""
    return any(isinstance(event, Cleared) for event in step.emitted)


def everything_is_free_again(step: Step) -> bool:
    """After something was lent, all of it has come back.

    Otherwise every pool would leak by design."""
    return (
        any(step.before.refs.values())
        and not any(step.after.refs.values())
        and not isinstance(step.action, GetNewBlocks)
    )


def _grew(step: Step) -> bool:
    return any(
        step.after.primary[block].tokens > before.tokens
        for block, before in step.before.primary.items()
        if block in step.after.primary
    )


def _is_free_now(step: Step, block: BlockId) -> bool:
    return step.before.refs.get(block, 0) > 0 and step.after.refs[block] == 0


POSSIBILITIES = collect(
    Possibility,
    a_block_is_shared_by_two_holders,
    a_cached_block_is_evicted_by_an_allocation,
    a_freed_block_is_hit_and_revived,
    a_partial_block_is_promoted,
    a_partial_block_grows,
    a_rewritten_block_is_published_anew,
    a_block_gets_an_alias,
    keys_move_to_a_copy,
    a_watcher_is_told_of_a_reuse,
    two_watchers_of_one_block_are_told,
    a_watched_block_is_touched,
    a_watcher_calls_back_into_the_pool,
    two_blocks_are_under_one_key,
    a_lookup_has_a_choice,
    every_block_is_lent,
    a_block_is_released_twice_by_its_two_holders,
    an_unpinned_block_stays_held_by_another,
    the_cache_is_reset,
    a_stored_event_names_its_parent,
    a_cleared_event_is_sent,
    everything_is_free_again,
)
