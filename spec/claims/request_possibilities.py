"""What must be possible when requests use the pool; each of these is shown by some move."""

from blockpool.spec.claims.claim import WorldPossibility, collect
from blockpool.spec.pool.terms import NULL, BlockId, Life
from blockpool.spec.requests.action import WorldStep
from blockpool.spec.requests.execution import EndTransfer, RunPass
from blockpool.spec.requests.scheduler import Admit, Drop, Grow


def a_request_hits_what_another_computed(step: WorldStep) -> bool:
    """A request starts behind a prefix that it did not compute.

    The time this saves is what the cache is for."""
    return isinstance(step.action, Admit) and step.after.running[step.action.request].computed > 0


def a_request_hits_what_is_written_in_the_same_pass(step: WorldStep) -> bool:
    """Attention reads what another request writes in the same pass.

    Equal prompts that arrive together are computed once."""
    if not isinstance(step.action, Admit):
        return False
    tables = step.after.running[step.action.request].tables
    fresh = {block for _, block, _ in step.before.fresh}
    return any(block in fresh for table in tables for block in table)


def a_hit_ends_inside_a_block(step: WorldStep) -> bool:
    """A request continues in a private copy of a block that it shares in part.

    Copy on write at admission."""
    return isinstance(step.action, Admit) and len(step.after.copies) > len(step.before.copies)


def a_state_moves_out_of_the_way(step: WorldStep) -> bool:
    """A running request makes a copy before it updates a state that is published or read by others.

    Copy on write while running."""
    return isinstance(step.action, Grow) and len(step.after.copies) > len(step.before.copies)


def a_request_is_dropped_from_its_pass(step: WorldStep) -> bool:
    """A request is preempted or aborted after it was scheduled and before the pass ran.

    What it published must not stay."""
    return isinstance(step.action, Drop) and step.before.running[step.action.request].in_pass


def a_preempted_request_hits_its_own_blocks(step: WorldStep) -> bool:
    """A preempted request starts again behind what it had computed.

    Preemption is cheap only because the cache keeps what it can."""
    return (
        isinstance(step.action, Admit)
        and step.before.used.get("preempt", 0) > 0
        and (step.after.running[step.action.request].computed > 0)
    )


def a_block_leaves_the_window(step: WorldStep) -> bool:
    """A running request gives back a block that it will not read again.

    A window group needs memory for its window, not for the whole text."""
    if not isinstance(step.action, Grow):
        return False
    name = step.action.request
    before, after = step.before.running[name].tables, step.after.running[name].tables
    return any(
        was != NULL and now == NULL
        for old, new in zip(before, after, strict=True)
        for was, now in zip(old, new, strict=False)
    )


def a_reader_is_told_to_stop(step: WorldStep) -> bool:
    """An allocation takes a block that somebody still reads, and tells him.

    Unpinned blocks are memory, not waste."""
    return len(step.after.transfers) < len(step.before.transfers) and not isinstance(step.action, EndTransfer)


def a_transfer_outlives_its_request(step: WorldStep) -> bool:
    """A request ends while its block is being read.

    Decode machines fetch what prefill machines computed, after the request is gone."""
    return (
        isinstance(step.action, Drop) and bool(step.after.transfers) and step.action.request not in step.after.running
    )


def references_wait_for_the_pass(step: WorldStep) -> bool:
    """What a request gave up in a pass comes back only after the pass.

    Engines that schedule ahead may still be writing."""
    return isinstance(step.action, RunPass) and bool(step.before.deferred)


def an_idle_cache_is_kept(step: WorldStep) -> bool:
    """All requests are gone and the cache is not empty.

    The next one may hit."""
    free = len(step.after.pool.queue) == len(step.after.pool.lendable)
    return free and any(step.after.pool.life_of(BlockId(block)) is Life.CACHED for block in step.after.pool.lendable)


WORLD_POSSIBILITIES = collect(
    WorldPossibility,
    a_request_hits_what_another_computed,
    a_request_hits_what_is_written_in_the_same_pass,
    a_hit_ends_inside_a_block,
    a_state_moves_out_of_the_way,
    a_request_is_dropped_from_its_pass,
    a_preempted_request_hits_its_own_blocks,
    a_block_leaves_the_window,
    a_reader_is_told_to_stop,
    a_transfer_outlives_its_request,
    references_wait_for_the_pass,
    an_idle_cache_is_kept,
)
