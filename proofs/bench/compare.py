"""One stream on two pools in lockstep: are answers, counts, keys, events and the order of the queue the same?"""

from collections.abc import Callable
from typing import Any

from blockpool.proofs.bench.contenders import Contender
from blockpool.proofs.bench.stream import ALLOCATE, FREE, GROUP, LOOKUP, NAMES, PUBLISH, TOUCH, Bound, Stream, bind

WHOLE_EVERY = 1000
"""Calls between two comparisons of all blocks; there is one at the end in any case."""

EVENT_FIELDS = ("block_hashes", "parent_block_hash", "token_ids", "block_size", "medium", "group_idx")

Progress = Callable[[str], None]


def difference(stream: Stream, one: Contender, other: Contender, progress: Progress | None = None) -> str | None:
    """The first thing the two pools disagree about, in words; None if they agree to the end."""
    pools = [each.make(stream.blocks, stream.block_size, stream.events) for each in (one, other)]
    bound = [bind(stream, pool) for pool in pools]
    for number, calls in enumerate(zip(*bound, strict=True)):
        answers = [_answer(pool, call) for pool, call in zip(pools, calls, strict=True)]
        seen = [_seen(pool, number % WHOLE_EVERY == 0) for pool in pools]
        for what, (a, b) in {"answer": answers, **_pairs(seen)}.items():
            if a != b:
                call = stream.calls[number]
                where = f"call {number + 1}, {NAMES[call.kind]} of {call.blocks} blocks for request {call.request}"
                return f"{where}: {what} differs: {one.name} {a!r:.200}, {other.name} {b!r:.200}"
        if progress is not None and number % WHOLE_EVERY == 0:
            progress(f"comparing on {stream.name}: {number:,} of {len(stream.calls):,} calls")
    orders = [[block.block_id for block in pool.get_new_blocks(pool.get_num_free_blocks())] for pool in pools]
    if orders[0] != orders[1]:
        return "after the last call: the order of the free queue differs"
    return None if _blocks(pools[0]) == _blocks(pools[1]) else "after the last call: counts or keys differ"


def _answer(pool: Any, call: Bound) -> object:
    """Make the call; what it answers, blocks as ids. A raised error is an answer."""
    kind, argument = call
    try:
        if kind == LOOKUP:
            hits = [pool.get_cached_block(digest, GROUP) for digest in argument]
            return [None if hit is None else hit[0].block_id for hit in hits]
        if kind == ALLOCATE:
            return [block.block_id for block in pool.get_new_blocks(argument)]
        if kind == PUBLISH:
            return pool.cache_full_blocks(*argument)
        if kind == TOUCH:
            return pool.touch(argument)
        if kind == FREE:
            return pool.free_blocks(reversed(argument))
        return pool.reset_prefix_cache()
    except Exception as error:  # noqa: BLE001  (whatever a pool raises is what is compared)
        return f"raised {type(error).__name__}: {error}"


def _seen(pool: Any, whole: bool) -> dict[str, object]:
    events = [_event(event) for event in pool.take_events()]
    seen: dict[str, object] = {"number of free blocks": pool.get_num_free_blocks(), "events": events}
    return {**seen, "counts or keys": _blocks(pool)} if whole else seen


def _pairs(seen: list[dict[str, object]]) -> dict[str, tuple[object, object]]:
    return {what: (seen[0][what], seen[1][what]) for what in seen[0]}


def _blocks(pool: Any) -> list[tuple[int, bytes | None]]:
    return [(block.ref_cnt, block.block_hash) for block in pool.blocks]


def _event(event: Any) -> tuple[object, ...]:
    """What an event says, whoever made it: vLLM names hashes by their last 64 bits unless told otherwise."""
    return type(event).__name__, *(_plain(getattr(event, name, None)) for name in EVENT_FIELDS)


def _plain(value: Any) -> object:
    if isinstance(value, bytes):
        return int.from_bytes(value[-8:], "big")
    return [_plain(item) for item in value] if isinstance(value, list) else value
