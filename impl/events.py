"""KV events: what a consumer outside the engine needs to mirror the prefix cache.

The bag law: since the last AllBlocksCleared, the Stored of a key minus its Removed is the number of blocks that
carry it. One registration is one Stored, one dropped key one Removed; moving keys between blocks says nothing.
Field names and order are vLLM's, so that its consumers can read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from blockpool.impl.checks import group_id_is_valid, is_count, not_while_telling, unit_size
from blockpool.impl.errors import BadRange

if TYPE_CHECKING:
    from blockpool.impl.pool import BlockPool
    from blockpool.impl.request import CacheRequest


@dataclass(slots=True)
class BlockStored:
    """A run of consecutive blocks of one request was published in one group.

    `block_hashes` are the raw digests, one for each `block_size` tokens of `token_ids`. `parent_block_hash` is the
    prefix right before the run when that is itself findable in the group, else None: a named parent is a known one.
    """

    block_hashes: list[bytes]
    parent_block_hash: bytes | None
    token_ids: list[int]
    block_size: int
    lora_id: int | None
    medium: str | None
    lora_name: str | None
    extra_keys: list[tuple[Any, ...] | None] | None = None
    group_idx: int | None = None
    kv_cache_spec_kind: str | None = None
    kv_cache_spec_sliding_window: int | None = None
    locality: str | None = None
    ownership: str | None = None
    session_id: str | None = None
    lookahead_token_ids: list[list[int]] | None = None


@dataclass(slots=True)
class BlockRemoved:
    """One block gave up one key."""

    block_hashes: list[bytes]
    medium: str | None
    group_idx: int | None = None
    locality: str | None = None
    ownership: str | None = None


@dataclass(slots=True)
class AllBlocksCleared:
    """Every key of the pools of this medium is gone."""

    medium: str | None = None


KVCacheEvent = BlockStored | BlockRemoved | AllBlocksCleared


def stored_events(
    pool: BlockPool, call: str, request: Any, positions: Sequence[int], block_size: int, group_id: int
) -> list[BlockStored]:
    """One event for each maximal run of consecutive positions. Reads the request, changes nothing."""
    events: list[BlockStored] = []
    if not pool.enable_kv_cache_events:
        return events
    start = 0
    for i, j in enumerate(positions):
        if i + 1 == len(positions) or positions[i + 1] != j + 1:
            events.append(stored_event(pool, call, request, positions[start], j + 1, block_size, group_id))
            start = i + 1
    return events


def stored_event(
    pool: BlockPool, call: str, request: Any, first: int, end: int, block_size: int, group_id: int
) -> BlockStored:
    """The event for blocks `first` to `end` of a request. Its parent is the prefix before them, findable or not.

    Adapter, session and extra keys are read if the request has them, under our names or vLLM's (`lora_request`).
    """
    units = block_size // pool.hash_block_size
    hashes, tokens = request.block_hashes, request.all_token_ids
    token_ids = copied(tokens[first * block_size : end * block_size])
    if len(token_ids) != (end - first) * block_size:
        raise BadRange(call, f"the request has hashes, but no tokens, behind token {len(tokens)}")
    digests = copied(hashes[(first + 1) * units - 1 : end * units : units])
    parent = hashes[first * units - 1] if first else None
    # Fields by position, and the rare ones later: fifteen by keyword take as long as publishing five blocks.
    event = BlockStored(digests, parent, token_ids, block_size, None, pool.medium, None, None, group_id)
    event.session_id = getattr(request, "session_id", None)
    adapter = getattr(request, "adapter", None) or getattr(request, "lora_request", None)
    if adapter is not None:
        event.lora_id, event.lora_name = getattr(adapter, "adapter_id", None), getattr(adapter, "name", None)
    extra_keys_for, ahead = getattr(request, "extra_keys_for", None), pool.num_hash_lookahead_tokens
    if extra_keys_for or ahead:
        ends = range((first + 1) * block_size, (end + 1) * block_size, block_size)
        event.extra_keys = [extra_keys_for(i - block_size, i) for i in ends] if extra_keys_for else None
        event.lookahead_token_ids = [list(tokens[i : i + ahead]) for i in ends] if ahead else None
    return event


def copied(part: Sequence[Any]) -> list[Any]:
    """A slice as a list of its own. That of a list is one already: saves a copy of every token."""
    return part if type(part) is list else list(part)


def send(pool: BlockPool, events: Sequence[BlockStored]) -> None:
    """Put `events` into the outbox. A parent that nobody can find is not named: it would dangle at the consumer."""
    index = pool.cached_block_hash_to_block
    for event in events:
        parent = event.parent_block_hash
        try:
            unknown = parent is not None and index.get(parent, event.group_idx or 0) is None
        except TypeError:  # not a digest: nobody can find it either, and the blocks are published already
            unknown = True
        if unknown:
            event.parent_block_hash = None
        pool.kv_event_queue.append(event)


def announce_hits(pool: BlockPool, request: CacheRequest, num_blocks: int, block_size: int, group_id: int) -> None:
    """Report the first blocks of `request` again. See BlockPool.emit_cached_block_events."""
    call = "emit_cached_block_events"
    not_while_telling(pool, call)
    units = unit_size(pool, call, block_size)
    group_id_is_valid(call, group_id)
    if not is_count(num_blocks):
        raise BadRange(call, f"{num_blocks!r} blocks")
    if num_blocks == 0:
        return
    hashes = request.block_hashes
    if num_blocks * units > len(hashes):
        raise BadRange(call, f"{num_blocks} blocks need {num_blocks * units} hashes, there are {len(hashes)}")
    index = pool.cached_block_hash_to_block
    found = [j for j in range(num_blocks) if (hashes[(j + 1) * units - 1], group_id) in index]
    send(pool, stored_events(pool, call, request, found, block_size, group_id))
