"""The request as the pool sees it, and one that computes its own hashes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from blockpool.impl.errors import BadRange
from blockpool.impl.hashing import ExtraKey, hash_block_tokens


class CacheRequest(Protocol):
    """What the pool reads. vLLM's own Request fits.

    `block_hashes[i]` is the digest of the first (i + 1) * hash_block_size tokens. For events the pool also reads,
    if present: `adapter` or `lora_request` (with `adapter_id`, `name`), `session_id`, `extra_keys_for(start, end)`.
    """

    @property
    def request_id(self) -> str: ...

    @property
    def block_hashes(self) -> Sequence[bytes]: ...

    @property
    def all_token_ids(self) -> Sequence[int]: ...


@dataclass(frozen=True, slots=True)
class Adapter:
    """A LoRA adapter. Both its name and its id separate: either may be reused for another adapter."""

    name: str
    adapter_id: int


@dataclass(frozen=True, slots=True)
class Item:
    """A multimodal item: `identifier` names its content, which stands in for `length` tokens from `offset` on."""

    identifier: str
    offset: int
    length: int

    def __post_init__(self) -> None:
        if self.offset < 0 or self.length < 1:
            raise BadRange("Item", f"offset {self.offset}, length {self.length}")


class Request:
    """A token sequence whose prefix hashes grow with it.

    `hash_block_size` is the unit in tokens, `num_hash_lookahead_tokens` how many tokens behind a unit its digest also
    covers (0, or the drafting depth of a speculative head that reads ahead): such a digest exists only once those
    tokens do.
    """

    def __init__(
        self,
        request_id: str,
        token_ids: Iterable[int],
        hash_block_size: int,
        *,
        adapter: Adapter | None = None,
        cache_salt: str | None = None,
        items: Iterable[Item] = (),
        num_hash_lookahead_tokens: int = 0,
    ) -> None:
        if hash_block_size < 1 or num_hash_lookahead_tokens < 0:
            raise BadRange("Request", f"unit {hash_block_size}, lookahead {num_hash_lookahead_tokens} tokens")
        self.request_id = request_id
        self.prompt_token_ids = list(token_ids)
        self.all_token_ids: list[int] = []
        self.block_hashes: list[bytes] = []
        self.hash_block_size = hash_block_size
        self.adapter = adapter
        self.cache_salt = cache_salt
        self.items = tuple(sorted(items, key=lambda item: item.offset))
        self.num_hash_lookahead_tokens = num_hash_lookahead_tokens
        self.append_tokens(self.prompt_token_ids)

    def append_tokens(self, token_ids: Iterable[int]) -> None:
        """Add tokens at the end, and the digest of every unit that is now complete."""
        self.all_token_ids.extend(token_ids)
        unit, tokens = self.hash_block_size, self.all_token_ids
        start = len(self.block_hashes) * unit
        while (end := start + unit + self.num_hash_lookahead_tokens) <= len(tokens):
            parent = self.block_hashes[-1] if self.block_hashes else None
            self.block_hashes.append(hash_block_tokens(parent, tokens[start:end], self._extra_keys(start, end)))
            start += unit

    def extra_keys_for(self, start: int, end: int) -> tuple[ExtraKey, ...] | None:
        """What the tokens from `start` up to `end` depend on besides themselves, None if nothing; for events."""
        return self._extra_keys(start, end) or None

    def _extra_keys(self, start: int, end: int) -> tuple[ExtraKey, ...]:
        extras: list[ExtraKey] = []
        if self.adapter is not None:
            extras.append(("adapter", self.adapter.name, self.adapter.adapter_id))
        if self.cache_salt is not None and start == 0:  # later units inherit it through the chain
            extras.append(("salt", self.cache_salt))
        for item in self.items:
            item_end = item.offset + item.length
            if item.offset < end and item_end > start:
                # Where it ends inside the unit counts: behind it, the same token id means the token itself.
                extras.append(("item", item.identifier, item.offset, min(item_end, end)))
        return tuple(extras)
