"""The methods that cover those of a pool with vLLM's interface: the same, and the call in the oracle's words."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from blockpool.spec.contract.calls import (
    Alloc,
    Cancel,
    Events,
    Free,
    FreeCount,
    Lookup,
    Move,
    Publish,
    PublishPartial,
    Reset,
    Share,
    Unpin,
    Unpublish,
    Value,
    Writable,
)

if TYPE_CHECKING:
    from blockpool.proofs.systems.vllm.instrument import Tap

METHODS = {
    "get_new_blocks": "alloc",
    "touch": "share",
    "free_blocks": "free",
    "get_num_free_blocks": "free_count",
    "cache_full_blocks": "publish",
    "cache_partial_block": "publish_partial",
    "get_cached_block": "lookup",
    "evict_blocks": "unpublish",
    "move_block_hashes": "move",
    "unpin_blocks": "unpin",
    "cancel_watch": "cancel",
    "is_block_writable": "writable",
    "reset_prefix_cache": "reset",
    "take_events": "events",
}
"""What each method is in the oracle's words."""

INNER = ("_insert_block_hash", "_maybe_evict_cached_block", "emit_cached_block_events")
"""What other parts of vLLM call besides: the first two change keys, the last reports hits as Stored once more."""


class Covers:
    """The methods, with the parameters of the pool's own."""

    def __init__(self, tap: "Tap", methods: dict[str, Callable[..., Any]]) -> None:
        self._tap = tap
        self._of = methods

    def get_new_blocks(self, num_blocks: int) -> Any:
        tap = self._tap
        return tap.pass_on(Alloc(num_blocks), self._of["get_new_blocks"], (num_blocks,), tap.names)

    def touch(self, blocks: Sequence[Any]) -> Any:
        blocks = list(blocks)
        return self._tap.pass_on(Share(self._tap.names(blocks)), self._of["touch"], (blocks,), _nothing)

    def free_blocks(self, ordered_blocks: Iterable[Any]) -> Any:
        blocks = list(ordered_blocks)
        own = [block for block in blocks if getattr(block, "pool", None) in (None, self._tap.pool)]
        return self._tap.pass_on(Free(self._tap.names(own)), self._of["free_blocks"], (blocks,), _nothing)

    def unpin_blocks(self, blocks: Iterable[Any], on_reuse: Any) -> Any:
        blocks = list(blocks)
        name, told = self._tap.watcher(on_reuse)
        return self._tap.pass_on(
            Unpin(self._tap.names(blocks), name), self._of["unpin_blocks"], (blocks, told), _nothing
        )

    def cancel_watch(self, block: Any, on_reuse: Any) -> Any:
        name, told = self._tap.watcher(on_reuse)
        return self._tap.pass_on(Cancel(self._tap.name(block), name), self._of["cancel_watch"], (block, told), bool)

    def cache_full_blocks(
        self,
        request: Any,
        blocks: Sequence[Any],
        num_cached_blocks: int,
        num_full_blocks: int,
        block_size: int,
        kv_cache_group_id: int,
        block_mask: Sequence[bool] | None = None,
    ) -> Any:
        arguments = (request, blocks, num_cached_blocks, num_full_blocks, block_size, kv_cache_group_id)
        extra = () if block_mask is None else (block_mask,)
        call = self._publish(*arguments, block_mask)
        units = block_size // self._tap.pool.hash_block_size
        reach = min(len(blocks), len(request.block_hashes) // units if units else 0)
        masked = block_mask is None or len(block_mask) == num_full_blocks - num_cached_blocks
        exact = masked and 0 <= num_cached_blocks <= num_full_blocks <= reach
        return self._tap.pass_on(call, self._of["cache_full_blocks"], (*arguments, *extra), _nothing, exact)

    def cache_partial_block(
        self,
        request: Any,
        block: Any,
        num_tokens: int,
        kv_cache_group_id: int,
        block_size: int,
        replace_existing_hashes: bool = False,
    ) -> Any:
        unit = self._tap.pool.hash_block_size
        units, hashes = num_tokens // unit, request.block_hashes
        exact = num_tokens % unit == 0 and 0 < units <= len(hashes)
        key = self._tap.learn(hashes[units - 1]) if 0 < units <= len(hashes) else ""
        parent = self._tap.learn(hashes[units - 2]) if 1 < units <= len(hashes) else None
        call = PublishPartial(
            self._tap.name(block), key, num_tokens, parent, kv_cache_group_id, replace_existing_hashes
        )
        arguments = (request, block, num_tokens, kv_cache_group_id, block_size, replace_existing_hashes)
        return self._tap.pass_on(call, self._of["cache_partial_block"], arguments, _nothing, exact)

    def get_cached_block(self, block_hash: Any, kv_cache_group_ids: Sequence[int]) -> Any:
        tap = self._tap
        call = Lookup(key_name(block_hash), tuple(kv_cache_group_ids))
        return tap.pass_on(call, self._of["get_cached_block"], (block_hash, kv_cache_group_ids), self._found)

    def evict_blocks(self, block_ids: set[int]) -> Any:
        return self._tap.pass_on(Unpublish(tuple(block_ids)), self._of["evict_blocks"], (block_ids,), _nothing)

    def move_block_hashes(self, src_block: Any, dst_block: Any) -> Any:
        call = Move(self._tap.name(src_block), self._tap.name(dst_block))
        return self._tap.pass_on(call, self._of["move_block_hashes"], (src_block, dst_block), _nothing)

    def is_block_writable(self, block: Any) -> Any:
        return self._tap.pass_on(Writable(self._tap.name(block)), self._of["is_block_writable"], (block,), bool)

    def reset_prefix_cache(self) -> Any:
        return self._tap.pass_on(Reset(), self._of["reset_prefix_cache"], (), bool)

    def take_events(self) -> Any:
        if not self._tap.writes_its_events:
            return self._of["take_events"]()
        return self._tap.pass_on(Events(), self._of["take_events"], (), self._tap.events)

    def _insert_block_hash(self, block_hash_with_group_id: bytes, block: Any, num_tokens: int | None) -> Any:
        """One more key. Of a further one nobody says how many tokens it covers: no more than the first."""
        tap, key, arguments = self._tap, block_hash_with_group_id, (block_hash_with_group_id, block, num_tokens)
        tokens = num_tokens if num_tokens and block.block_hash is None else 1
        call = PublishPartial(tap.name(block), tap.learn(key[:-4]), tokens, None, int.from_bytes(key[-4:], "big"))
        answer = tap.pass_on(call, self._of["_insert_block_hash"], arguments, _nothing)
        tap.inserted()
        return answer

    def _maybe_evict_cached_block(self, block: Any) -> Any:
        call = Unpublish((self._tap.name(block),))
        return self._tap.pass_on(call, self._of["_maybe_evict_cached_block"], (block,), _nothing)

    def emit_cached_block_events(self, *args: Any, **kwargs: Any) -> None:
        told_before = len(self._tap.pool.kv_event_queue)
        self._of["emit_cached_block_events"](*args, **kwargs)
        self._tap.leave_out(self._tap.pool.kv_event_queue[told_before:])

    def get_num_free_blocks(self) -> Any:
        return self._tap.pass_on(FreeCount(), self._of["get_num_free_blocks"], (), int)

    def _publish(
        self, request: Any, blocks: Sequence[Any], cached: int, full: int, size: int, group: int, mask: Any
    ) -> Publish:
        """The blocks that are published, and their keys: the last digest inside each block."""
        units = size // self._tap.pool.hash_block_size
        hashes = request.block_hashes
        chosen = [
            place
            for place in range(cached, min(full, len(blocks), len(hashes) // units if units else 0))
            if not blocks[place].is_null and (mask is None or mask[place - cached])
        ]
        learn = self._tap.learn
        return Publish(
            self._tap.names(blocks[place] for place in chosen),
            tuple([learn(hashes[(place + 1) * units - 1]) for place in chosen]),
            tuple([(place + 1) * size for place in chosen]),
            learn(hashes[chosen[0] * units - 1]) if chosen and chosen[0] else None,
            group,
        )

    def _found(self, answer: Any) -> Value:
        return None if answer is None else self._tap.names(answer)


def _nothing(answer: Any) -> None:
    """The answer is not part of the promise."""


def key_name(digest: Any) -> str:
    """A digest as the oracle names it."""
    return digest.hex() if isinstance(digest, bytes) else str(digest)
