"""Calls in lockstep: the spec takes each one too, and judges the answer and the state.

After each call are compared: the answer, the free count, and the references, keys and coverage of the blocks that the
call named. After every `full_every` calls and at the end: the whole state. Events are compared when they are taken.

The spec keeps every key as the tuple of all its tokens, so time and memory grow with the *square* of the prompt length
in blocks. An hour of chat (12,031 requests, prompts of 24 blocks of 512 tokens on average) with 20,000 blocks takes
about a minute and 90 MB; its first 200 requests in blocks of 16 tokens take half a minute and 800 MB. So: whole traces
with large blocks, the first few hundred requests with small ones.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from impl.block import KVCacheBlock
from impl.events import KVCacheEvent
from impl.request import Request
from proofs.refine.abstraction import abstract, differences, events_of
from proofs.refine.lockstep import MismatchError
from proofs.refine.naming import BrokenPoolError
from proofs.replay.bookkeeping import FindableNames
from proofs.replay.calls import GROUP, Calls
from proofs.replay.words import clipped, differing
from proofs.words import call
from spec import (
    Action,
    BlockId,
    CacheFullBlocks,
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

_GROUP = GroupId(GROUP)


class LockstepCalls(Calls):
    """Calls that raise MismatchError as soon as the pool does what the spec does not allow."""

    def __init__(self, blocks: int, events: bool, full_every: int) -> None:
        super().__init__(blocks, events)
        self.state = first_state(blocks + 1, reporting=events)
        self.names = FindableNames()
        self._action: Action[Any] = GetNumFreeBlocks()
        self._full_every = full_every

    def get_cached_block(self, sequence: Request, length: int) -> KVCacheBlock | None:
        self._action = GetCachedBlock(Prefix(tuple(sequence.all_token_ids[:length])), (_GROUP,))
        block = super().get_cached_block(sequence, length)
        self._judge(None if block is None else _ids([block]), [] if block is None else [block])
        return block

    def touch(self, blocks: list[KVCacheBlock]) -> None:
        self._action = Touch(_ids(blocks))
        super().touch(blocks)
        self._judge(None, blocks)

    def get_new_blocks(self, count: int) -> list[KVCacheBlock]:
        self._action = GetNewBlocks(count)
        blocks = super().get_new_blocks(count)
        self._judge(Handed(_ids(blocks), frozenset()), blocks)
        return blocks

    def cache_full_blocks(self, sequence: Request, table: Sequence[KVCacheBlock], start: int, end: int) -> None:
        prefix = Prefix(tuple(sequence.all_token_ids))
        self._action = CacheFullBlocks(prefix, _ids(table), start, end, 1, _GROUP)
        super().cache_full_blocks(sequence, table, start, end)
        self._advance(None)
        for position in range(start, end):
            primary = self.state.primary[BlockId(table[position].block_id)]
            self.names.learn(sequence.block_hashes[position], primary.key)
        self._compare(table[start:end])

    def free_blocks(self, blocks: list[KVCacheBlock]) -> None:
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
        free = self.pool.get_num_free_blocks()
        if free != len(self.state.queue):
            raise MismatchError(f"{free} blocks are free; the spec says {len(self.state.queue)}")
        for block in named:
            self._compare_block(block)
        if self.number % self._full_every == 0:
            self._compare_all()

    def _compare_block(self, block: KVCacheBlock) -> None:
        number = BlockId(block.block_id)
        if block is not self.pool.blocks[number]:
            raise MismatchError(f"the block with number {number} is not the one of this pool")
        if block.ref_cnt != self.state.refs[number]:
            raise MismatchError(f"block {number}: {block.ref_cnt} references; the spec says {self.state.refs[number]}")
        expected, primary = self.state.keys_of(number), self.state.primary.get(number)
        try:
            keys = frozenset([self.names.key(*key) for key in self.pool.keys_of(block)])
        except BrokenPoolError as error:
            raise MismatchError(f"block {number}: {error}") from error
        if keys != expected:
            raise MismatchError(f"block {number}: keys {clipped(keys)}; the spec says {clipped(expected)}")
        tokens = None if primary is None else primary.tokens
        if block.block_hash_num_tokens != tokens:
            raise MismatchError(f"block {number} covers {block.block_hash_num_tokens}; the spec says {tokens}")

    def _compare_all(self) -> None:
        try:
            seen = abstract(self.pool, self.names)
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
