"""What is true of every step: references, the queue and the watchers."""

from blockpool.spec.claims.claim import StepProperty, collect
from blockpool.spec.pool.action import Handed, ResetDone, Step, namings, real
from blockpool.spec.pool.allocation import CancelWatch, FreeBlocks, GetNewBlocks, Touch, UnpinBlocks
from blockpool.spec.pool.queries import Query


def a_refused_call_changes_nothing(step: Step) -> bool | None:
    """A refused call leaves every count, place, key, watcher and event as it was.

    A serving engine logs the error and goes on; damage done by a wrong call surfaces thousands of steps later, in an
    innocent caller."""
    return step.after == step.before if step.refused else None


def a_query_changes_nothing(step: Step) -> bool | None:
    """A question leaves the pool as it was.

    Schedulers ask many times before they act; an answer that ages the cache makes admission depend on curiosity."""
    return step.after == step.before if isinstance(step.action, Query) else None


def survivors_keep_their_order(step: Step) -> bool | None:
    """Blocks that stay in the free queue keep their order.

    Eviction order is the whole cache policy: a silent shuffle loses hits without any error."""
    staying = set(step.before.queue) & set(step.after.queue)
    if len(staying) < 2:
        return None
    return [b for b in step.before.queue if b in staying] == [b for b in step.after.queue if b in staying]


def blocks_join_the_queue_only_at_its_ends(step: Step) -> bool | None:
    """A block that becomes free goes to the front or to the back of the queue, never into the middle.

    Where a block is queued decides how long its content survives; only two places are promised."""
    staying = set(step.before.queue)
    queue = step.after.queue
    places = [place for place, block in enumerate(queue) if block in staying]
    if len(places) == len(queue) or not places:
        return None
    return places == list(range(places[0], places[0] + len(places)))


def only_lending_calls_change_the_queue(step: Step) -> bool | None:
    """The queue changes only when blocks are handed out, touched, freed or unpinned.

    Publishing, evicting by name, moving keys and resetting must not reorder what is evicted next."""
    if isinstance(step.action, GetNewBlocks | Touch | FreeBlocks | UnpinBlocks):
        return None
    return step.after.queue == step.before.queue


def blocks_are_handed_out_from_the_front(step: Step) -> bool | None:
    """An allocation takes exactly the first blocks of the queue, in order.

    This is what makes eviction least recently released first, and worthless blocks before cached ones."""
    if not isinstance(step.answer, Handed):
        return None
    count = len(step.answer.blocks)
    return step.answer.blocks == step.before.queue[:count] and step.after.queue == step.before.queue[count:]


def a_block_handed_out_is_the_callers_alone(step: Step) -> bool | None:
    """A block handed out was free, and is now held once, findable under no key and watched by nobody.

    Anything else means that two requests share memory by accident."""
    if not isinstance(step.answer, Handed) or not step.answer.blocks:
        return None
    blocks = step.answer.blocks
    return len(set(blocks)) == len(blocks) and all(
        not step.before.is_held(block) and step.after.is_writable(block) for block in blocks
    )


def references_change_only_as_asked(step: Step) -> bool | None:
    """Each naming of a block adds or drops exactly one reference, and nothing else changes a count.

    One reference too many is a leak, one too few a use after free."""
    if step.refused:
        return None
    match step.action:
        case GetNewBlocks():
            asked = namings(step.answer.blocks)
        case Touch(blocks):
            asked = namings(real(blocks))
        case FreeBlocks(blocks) | UnpinBlocks(blocks, _):
            asked = {block: -times for block, times in namings(real(blocks)).items()}
        case _:
            asked = {}
    changed = {
        block: step.after.refs[block] - count
        for block, count in step.before.refs.items()
        if step.after.refs[block] != count
    }
    return changed == asked


def a_watcher_leaves_by_being_told_or_cancelled(step: Step) -> bool | None:
    """Exactly the watchers that leave are told, in the step that reuses their block or resets the cache; or cancelled.

    A watcher told twice acts on a later life of the block; one never told waits for ever."""
    before = step.before.told_about(step.before.watchers)
    gone = before - step.after.told_about(step.after.watchers)
    if isinstance(step.answer, Handed | ResetDone):
        return step.told == gone if gone or step.told else None
    if not before:
        return None
    if isinstance(step.action, CancelWatch):
        return gone <= {(step.action.block, step.action.watcher)}
    return not gone


def only_unpinning_adds_watchers(step: Step) -> bool | None:
    """A block gains a watcher only by being unpinned with it.

    A watcher from nowhere calls back into a component that knows nothing of the block."""
    new = [
        (block, name)
        for block, names in step.after.watchers.items()
        for name in names - step.before.watchers.get(block, frozenset())
    ]
    if not new:
        return None
    action = step.action
    return isinstance(action, UnpinBlocks) and all(
        block in action.blocks and name == action.watcher for block, name in new
    )


def every_unpinned_block_is_watched(step: Step) -> bool | None:
    """Each block unpinned with a watcher is watched by it afterwards.

    A reader that believes it will be told reads on into somebody else's content."""
    action = step.action
    if step.refused or not isinstance(action, UnpinBlocks) or not action.blocks:
        return None
    return all(action.watcher in step.after.watchers.get(block, ()) for block in action.blocks)


LENDING_PROPERTIES = collect(
    StepProperty,
    a_refused_call_changes_nothing,
    a_query_changes_nothing,
    survivors_keep_their_order,
    blocks_join_the_queue_only_at_its_ends,
    only_lending_calls_change_the_queue,
    blocks_are_handed_out_from_the_front,
    a_block_handed_out_is_the_callers_alone,
    references_change_only_as_asked,
    a_watcher_leaves_by_being_told_or_cancelled,
    only_unpinning_adds_watchers,
    every_unpinned_block_is_watched,
)
