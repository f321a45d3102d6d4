"""A pool in lockstep: the spec takes each call of the managers too, and judges the answer and the state.

After each call are compared: the answer, the free count, and the references, keys and coverage of the blocks that the
call named. After every `full_every` calls and at the end: the whole state. Events are compared when they are taken.

The spec keeps every key as the tuple of all its tokens, so time and memory grow with the *square* of the prompt length
in blocks. An hour of chat (12,031 requests, prompts of 24 blocks of 512 tokens on average) with 20,000 blocks takes
about a minute and 90 MB; its first 200 requests in blocks of 16 tokens take half a minute and 800 MB. So: whole traces
with large blocks, the first few hundred requests with small ones.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from blockpool.impl.block import KVCacheBlock
from blockpool.impl.errors import Refusal
from blockpool.impl.events import KVCacheEvent
from blockpool.impl.pool import BlockPool
from blockpool.impl.request import CacheRequest
from blockpool.proofs.core.text import call
from blockpool.proofs.refine.abstraction import abstract, differences, events_of
from blockpool.proofs.refine.correspondence import BrokenPoolError
from blockpool.proofs.refine.lockstep import MismatchError
from blockpool.proofs.replay.calls import CountedPool
from blockpool.proofs.replay.comparison import FindableNames, clipped, differing
from blockpool.spec import (
    Action,
    BlockId,
    CacheFullBlocks,
    EvictBlocks,
    FreeBlocks,
    GetCachedBlock,
    GetNewBlocks,
    GetNumFreeBlocks,
    GroupId,
    Handed,
    Prefix,
    TakeEvents,
    Touch,
    first_state,
    settled,
)


class LockstepPool(CountedPool):
    """A pool that raises MismatchError as soon as it does what the spec does not allow, or is asked what it refuses."""

    def __init__(self, blocks: int, events: bool, full_every: int) -> None:
        super().__init__(blocks, events)
        self.state = first_state(blocks + 1, reporting=events)
        self.names = FindableNames()
        self._action: Action[Any] = GetNumFreeBlocks()
        self._full_every = full_every
        self._tokens: Sequence[int] = ()  # of the request that the next lookups are about
        self._lengths: dict[bytes, int] = {}  # the digests of its prefixes

    def will_ask_about(self, request: CacheRequest) -> None:
        self._tokens = request.all_token_ids
        self._lengths = {digest: place + 1 for place, digest in enumerate(request.block_hashes)}

    def get_cached_block(self, block_hash: bytes, kv_cache_group_ids: Sequence[int]) -> list[KVCacheBlock] | None:
        length = self._lengths.get(block_hash)
        if length is None:
            raise MismatchError(f"after it, digest {block_hash.hex()[:12]} of another request is looked up")
        prefix = Prefix(tuple(self._tokens[:length]))
        self._action = GetCachedBlock(prefix, tuple(map(GroupId, kv_cache_group_ids)))
        found = super().get_cached_block(block_hash, kv_cache_group_ids)
        self._judge(None if found is None else _ids(found), found or [])
        return found

    def touch(self, blocks: Sequence[KVCacheBlock]) -> None:
        self._action = Touch(_ids(blocks))
        super().touch(blocks)
        self._judge(None, blocks)

    def get_new_blocks(self, num_blocks: int) -> list[KVCacheBlock]:
        self._action = GetNewBlocks(num_blocks)
        blocks = super().get_new_blocks(num_blocks)
        self._judge(Handed(_ids(blocks), frozenset()), blocks)
        return blocks

    def cache_full_blocks(
        self,
        request: CacheRequest,
        blocks: Sequence[KVCacheBlock],
        num_cached_blocks: int,
        num_full_blocks: int,
        block_size: int,
        kv_cache_group_id: int,
        block_mask: Sequence[bool] | None = None,
    ) -> None:
        start, end, hashes = num_cached_blocks, num_full_blocks, request.block_hashes
        prefix = Prefix(tuple(request.all_token_ids[: len(hashes)]))  # the rest has no digest yet
        mask, group = None if block_mask is None else tuple(block_mask), GroupId(kv_cache_group_id)
        self._action = CacheFullBlocks(prefix, _ids(blocks), start, end, block_size, group, mask)
        super().cache_full_blocks(request, blocks, start, end, block_size, kv_cache_group_id, block_mask)
        self._advance(None)
        for position in range(start, end):
            primary = self.state.primary.get(BlockId(blocks[position].block_id))
            if primary is not None:
                self.names.learn(hashes[position], primary.key)
        self._compare(blocks[start:end])

    def evict_blocks(self, block_ids: set[int]) -> None:
        self._action = EvictBlocks(frozenset(map(BlockId, block_ids)))
        super().evict_blocks(block_ids)
        self._judge(None, [self.blocks[block_id] for block_id in block_ids])

    def free_blocks(self, ordered_blocks: Iterable[KVCacheBlock]) -> None:
        blocks = list(ordered_blocks)
        self._action = FreeBlocks(_ids(blocks))
        super().free_blocks(blocks)
        self._judge(None, blocks)

    def get_num_free_blocks(self) -> int:
        self._action = GetNumFreeBlocks()
        count = super().get_num_free_blocks()
        self._judge(count, [])
        return count

    def take_events(self) -> list[KVCacheEvent]:
        self._action = TakeEvents()
        events = super().take_events()
        self._judge(_translated(events, self.names), [])
        self.names.forget_all_but(self.state.index)
        return events

    def conclude(self) -> None:
        """The last events and the last state agree, too."""
        self.take_events()
        self._compare_all()

    def describe(self) -> str:
        return clipped(call(self._action))

    def words_for(self, error: Exception) -> str:
        if isinstance(error, Refusal) and error.reason in self._action.guard(self.state):
            return f"pool and spec refuse it ({error.reason}): the managers made a wrong call"
        return super().words_for(error)

    # --- the judgement ---

    def _judge(self, answer: object, named: Iterable[KVCacheBlock]) -> None:
        self._advance(answer)
        self._compare(named)

    def _advance(self, answer: object) -> None:
        """The spec takes the step that was observed, if there is one."""
        refused = self._action.guard(self.state)
        if refused:
            raise MismatchError(f"it answered {clipped(answer)}; the spec refuses ({' or '.join(sorted(refused))})")
        if not self._action.allows(self.state, answer):
            allowed = next(iter(self._action.answers(self.state)))
            raise MismatchError(f"it answered {clipped(answer)}; the spec allows {clipped(allowed)}")
        self.state = self._action.effect(self.state, answer)

    def _compare(self, named: Iterable[KVCacheBlock]) -> None:
        """What the call named, and the free count; now and then everything."""
        free = BlockPool.get_num_free_blocks(self)
        if free != len(self.state.queue):
            raise MismatchError(f"{free} blocks are free; the spec says {len(self.state.queue)}")
        for block in named:
            self._compare_block(block)
        if self.number % self._full_every == 0:
            self._compare_all()

    def _compare_block(self, block: KVCacheBlock) -> None:
        number = BlockId(block.block_id)
        if block is not self.blocks[number]:
            raise MismatchError(f"the block with number {number} is not the one of this pool")
        if block.ref_cnt != self.state.refs[number]:
            raise MismatchError(f"block {number}: {block.ref_cnt} references; the spec says {self.state.refs[number]}")
        expected, primary = self.state.keys_of(number), self.state.primary.get(number)
        try:
            keys = frozenset([self.names.key(*key) for key in self.keys_of(block)])
        except BrokenPoolError as error:
            raise MismatchError(f"block {number}: {error}") from error
        if keys != expected:
            raise MismatchError(f"block {number}: keys {clipped(keys)}; the spec says {clipped(expected)}")
        tokens = None if primary is None else primary.tokens
        if block.block_hash_num_tokens != tokens:
            raise MismatchError(f"block {number} covers {block.block_hash_num_tokens}; the spec says {tokens}")

    def _compare_all(self) -> None:
        try:
            seen = abstract(self, self.names)
        except BrokenPoolError as error:
            raise MismatchError(clipped(str(error))) from error
        if found := differences(self.state, seen, settled):
            raise MismatchError(differing(self.state, seen) or clipped("; ".join(found)))
        self.full_comparisons += 1


def _ids(blocks: Iterable[KVCacheBlock]) -> tuple[BlockId, ...]:
    return tuple([BlockId(block.block_id) for block in blocks])


def _translated(events: Iterable[KVCacheEvent], names: FindableNames) -> object:
    try:
        return events_of(events, names)
    except BrokenPoolError as error:
        raise MismatchError(str(error)) from error


def _not_expected(method: str) -> Callable[..., NoReturn]:
    def refuse(*_arguments: object, **_named: object) -> NoReturn:
        raise MismatchError(f"after it, {method} is called, which managers of full attention never need")

    return refuse


READS = {"keys_of", "is_watched"}
"""They tell what is compared after each call, and are neither counted nor judged."""

for _method in vars(BlockPool).keys() - vars(LockstepPool).keys() - READS:
    if not _method.startswith("_"):
        setattr(LockstepPool, _method, _not_expected(_method))
