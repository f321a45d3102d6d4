"""vLLM's BlockPool, any release from 0.8.5 on.

A key of the oracle becomes the block hash that a request would have had at that position. Releases with hash units
get requests with units of one token. Their hashes between the keys are empty, so that whether a release takes the last
hash of a block or joins all of them, the block's hash is that of its key.
"""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from blockpool.proofs.oracle.adapter import Refusal
from blockpool.proofs.systems.vllm.release import Release
from blockpool.spec.contract.calls import AllCleared, BlockName, PoolEvent, RemovedKeys, Started, StoredKeys

NEEDS = {
    "publish_partial": "cache_partial_block",  # since 0.24
    "unpublish": "evict_blocks",  # since 0.13
    "move": "move_block_hashes",  # since 0.26
    "unpin": "unpin_blocks",  # since 0.30
    "cancel": "cancel_watch",  # not in vLLM
    "writable": "is_block_writable",  # since 0.29
    "events": "take_events",  # since 0.9
}
"""Which method of the pool an operation needs; a release without it lacks the operation."""


class VllmPool:
    """The adapter: names of blocks are block ids, and block 0 is the null block."""

    told: list[tuple[BlockName, str]]

    def __init__(self, release: Release) -> None:
        self.release = release
        self.name = f"vllm {release.version}"
        self.profile = release.family
        for operation, method in NEEDS.items():
            if not hasattr(release.pool, method):
                setattr(self, operation, None)

    def start(self, blocks: int, caching: bool, events: bool, groups: int) -> Started:
        if events and "enable_kv_cache_events" not in self.release.start_names:
            raise Refusal(f"{self.name} has no KV events")
        if groups > 1 and not self.release.has_groups:
            raise Refusal(f"{self.name} has one group")
        if events and groups > 1 and not self.release.events_name_groups:
            raise Refusal(f"the KV events of {self.name} do not say which group they are about")
        self.pool = self.release.new_pool(blocks + 1, caching, events)
        self._strangers: dict[BlockName, Any] = {}
        self._watchers: dict[str, Callable[[Any], None]] = {}
        self._names_of_hashes: dict[Any, str] = {}
        self._covered: dict[str, int] = {}  # tokens of the prefix that each key stands for
        order = tuple(block.block_id for block in self.pool.free_block_queue.get_all_free_blocks())
        return Started(capacity=blocks, reserved=(self.pool.null_block.block_id,), order=order)

    def alloc(self, count: int) -> list[BlockName]:
        return [block.block_id for block in self._ask("get_new_blocks", count)]

    def share(self, blocks: Sequence[BlockName]) -> None:
        named = self._blocks(blocks)
        self._ask("touch", (named,) if self.release.touches_by_group else named)

    def free(self, blocks: Sequence[BlockName]) -> None:
        self._ask("free_blocks", self._blocks(blocks))

    def free_count(self) -> int:
        count: int = self.pool.get_num_free_blocks()
        return count

    def publish(
        self, blocks: Sequence[BlockName], keys: Sequence[str], tokens: Sequence[int], parent: str | None, group: int
    ) -> list[BlockName]:
        size = self._block_size(tokens, parent) if blocks else 1
        first = tokens[0] // size - 1 if blocks else 0
        unit = 1 if hasattr(self.pool, "hash_block_size") else size
        request = self._request(keys, tokens, parent, unit, size)
        arguments = {
            "request": request,
            "blocks": [self._before(parent, group)] * first + self._blocks(blocks),
            "block_hashes": request.block_hashes,
            "num_cached_blocks": first,
            "num_full_blocks": first + len(blocks),
            "block_size": size,
            "kv_cache_group_id": group,
            "hash_fn": None,
        }
        known = arguments.keys() & self.release.publish_names
        self._ask("cache_full_blocks", **{name: arguments[name] for name in known})
        return list(blocks)

    def publish_partial(
        self, block: BlockName, key: str, tokens: int, parent: str | None, group: int, replace: bool
    ) -> None:
        request = self._request((key,), (tokens,), parent, 1, 1)
        more = {}
        if replace and self.release.replaces_partial_keys:
            more = {"replace_existing_hashes": True}
        elif replace:
            self._ask("evict_blocks", {block})
        inside = tokens + 1  # the size of a block that the tokens end inside of
        self._ask("cache_partial_block", request, self._block(block), tokens, group, inside, **more)

    def lookup(self, key: str, groups: Sequence[int]) -> list[BlockName] | None:
        if self.release.has_groups:
            found = self._ask("get_cached_block", self._hash(key), list(groups))
        else:
            one = self._ask("get_cached_block", self._hash(key))
            found = None if one is None else [one]
        return None if found is None else [block.block_id for block in found]

    def unpublish(self, blocks: Sequence[BlockName]) -> None:
        self._ask("evict_blocks", set(blocks))

    def move(self, source: BlockName, target: BlockName) -> None:
        self._ask("move_block_hashes", self._block(source), self._block(target))

    def unpin(self, blocks: Sequence[BlockName], watcher: str) -> None:
        self._ask("unpin_blocks", self._blocks(blocks), self._watcher(watcher))

    def cancel(self, block: BlockName, watcher: str) -> bool:
        was: bool = self._ask("cancel_watch", self._block(block), self._watcher(watcher))
        return was

    def writable(self, block: BlockName) -> bool:
        answer: bool = self._ask("is_block_writable", self._block(block))
        return answer

    def reset(self) -> bool:
        answer: bool = self._ask("reset_prefix_cache")
        return answer

    def events(self) -> list[PoolEvent]:
        return [self._event(event) for event in self._ask("take_events")]

    def _ask(self, method: str, *arguments: Any, **named: Any) -> Any:
        free = self.pool.get_num_free_blocks()
        try:
            return getattr(self.pool, method)(*arguments, **named)
        except Exception as error:
            if self._is_refusal(error, method, arguments, free):
                raise Refusal(str(error)) from error
            raise

    def _is_refusal(self, error: Exception, method: str, arguments: tuple[Any, ...], free: int) -> bool:
        """Whether the pool means a normal no. vLLM's only one is exhaustion; its assertions are accidents."""
        return isinstance(error, ValueError) and method == "get_new_blocks" and arguments[0] > free

    def _blocks(self, names: Sequence[BlockName]) -> list[Any]:
        return [self._block(name) for name in names]

    def _is_own(self, name: BlockName) -> bool:
        return isinstance(name, int) and 0 <= name < len(self.pool.blocks)

    def _block(self, name: BlockName) -> Any:
        """The block of this name; for a foreign name, a held block of another pool."""
        if self._is_own(name):
            return self.pool.blocks[name]
        if name not in self._strangers:
            self._strangers[name] = self.release.new_pool(2, True, False).get_new_blocks(1)[0]
            self._strangers[name].block_id = name
        return self._strangers[name]

    def _watcher(self, name: str) -> Callable[[Any], None]:
        def tell(block: Any) -> None:
            self.told.append((block.block_id, name))

        return self._watchers.setdefault(name, tell)

    def _block_size(self, tokens: Sequence[int], parent: str | None) -> int:
        """Tokens a block: what the call says, else what is known of its parent, else what leaves room for one."""
        if len(tokens) > 1:
            size = tokens[1] - tokens[0]
        elif parent is None or parent in self._covered:
            size = tokens[0] - self._covered.get(parent or "", 0)
        else:
            size = next((size for size in range(tokens[0] // 2, 0, -1) if tokens[0] % size == 0), tokens[0])
        if size < 1 or tokens[0] % size or list(tokens) != [tokens[0] + i * size for i in range(len(tokens))]:
            raise Refusal(f"{self.name} publishes blocks of one size in one call, not ends at {list(tokens)}")
        return size

    def _request(
        self, keys: Sequence[str], tokens: Sequence[int], parent: str | None, unit: int, size: int
    ) -> SimpleNamespace:
        """What a release reads of a request whose prefix ends with these keys."""
        tokens = tokens or (0,)
        hashes: list[Any] = [b""] * (tokens[-1] // unit)
        before = self._covered.get(parent or "", tokens[0] - size) if keys else 0
        if parent is not None and before >= unit:
            hashes[before // unit - 1] = self._hash(parent)
        for key, end in zip(keys, tokens, strict=False):
            hashes[end // unit - 1] = self._hash(key)
            self._covered[key] = end
        return SimpleNamespace(
            request_id="request",
            block_hashes=hashes,
            all_token_ids=list(range(tokens[-1])),
            lora_request=None,
            mm_features=[],
            cache_salt=None,
            prompt_embeds=None,
            session_id=None,
        )

    def _hash(self, key: str) -> Any:
        block_hash = self.release.hash_of(key)
        self._names_of_hashes.update(dict.fromkeys(self.release.in_events(block_hash), key))
        return block_hash

    def _before(self, parent: str | None, group: int) -> Any:
        """A block before the published ones, from which early releases read the parent's hash."""
        if parent is None or not self.release.reads_parent_from_block:
            return self.pool.null_block
        block = self.release.block(-1)
        block.block_hash = self.release.grouped(self._hash(parent), group)
        return block

    def _event(self, event: Any) -> PoolEvent:
        """By class name and field name: classes, encodings and fields differ between releases."""
        kind = type(event).__name__
        if kind == "AllBlocksCleared":
            return AllCleared()
        keys = tuple(map(self._key_of, event.block_hashes))
        group = getattr(event, "group_idx", None) or 0  # since 0.20
        if kind == "BlockRemoved":
            return RemovedKeys(keys, group)
        if kind == "BlockStored":
            parent = self._names_of_hashes.get(event.parent_block_hash)
            return StoredKeys(keys, parent, len(event.token_ids), event.block_size, group)
        raise TypeError(f"unknown KV event {event!r}")

    def _key_of(self, block_hash: Any) -> str:
        return self._names_of_hashes.get(block_hash, f"unknown hash {block_hash!r}")
