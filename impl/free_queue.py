"""The free blocks in eviction order: a doubly linked list through the blocks themselves.

The front is handed out next. Two sentinels bound the list, so no method has a special case for an empty queue or
an end. Each method checks all it was given before it changes anything; batches are linked in one pass, and undone
when the pass meets a block that must not be added. A batch is a sequence of blocks; the pool has checked that they
are its own.

The code reads and writes attributes, compares identities, loops, and adds or subtracts integers. Nothing else, so
that it can be executed symbolically and proved for a queue of any length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from blockpool.impl.block import KVCacheBlock
from blockpool.impl.contracts import keeps_links_sound
from blockpool.impl.errors import AlreadyQueued, BadCount, NotEnoughFreeBlocks, NotQueued, RepeatedBlock

# Locals of type Any below: the links of a queued block are never None, which their declared type cannot say.


class FreeKVCacheBlockQueue:
    """`num_free_blocks` blocks between `fake_free_list_head` and `fake_free_list_tail`."""

    __slots__ = ("fake_free_list_head", "fake_free_list_tail", "num_free_blocks")

    def __init__(self, blocks: Sequence[KVCacheBlock]) -> None:
        head = KVCacheBlock(-1)
        tail = KVCacheBlock(-1)
        head.next_free_block = tail
        tail.prev_free_block = head
        self.fake_free_list_head = head
        self.fake_free_list_tail = tail
        self.num_free_blocks = 0
        self.append_n(blocks)

    @keeps_links_sound
    def popleft(self) -> KVCacheBlock:
        """Take the front block. O(1)."""
        if self.num_free_blocks == 0:
            raise NotEnoughFreeBlocks("popleft", "the queue is empty")
        head = self.fake_free_list_head
        first: Any = head.next_free_block
        block: KVCacheBlock = first
        after = first.next_free_block
        head.next_free_block = after
        after.prev_free_block = head
        block.prev_free_block = None
        block.next_free_block = None
        self.num_free_blocks -= 1
        return block

    @keeps_links_sound
    def popleft_n(self, n: int) -> list[KVCacheBlock]:
        """Take the first `n` blocks, in order. O(n)."""
        if not isinstance(n, int) or n < 0:  # type: ignore[redundant-expr]  # callers without a type checker exist
            raise BadCount("popleft_n", f"{n!r} blocks were asked for")
        if n > self.num_free_blocks:
            raise NotEnoughFreeBlocks("popleft_n", f"{n} blocks of {self.num_free_blocks} were asked for")
        taken: list[KVCacheBlock] = []
        head = self.fake_free_list_head
        block: Any = head.next_free_block
        for _ in range(n):
            taken.append(block)
            after = block.next_free_block
            block.prev_free_block = None
            block.next_free_block = None
            block = after
        head.next_free_block = block
        block.prev_free_block = head
        self.num_free_blocks -= n
        return taken

    @keeps_links_sound
    def remove(self, block: KVCacheBlock) -> None:
        """Take `block` out, wherever it stands. O(1). It must be in this queue: another queue's cannot be told."""
        before = block.prev_free_block
        after = block.next_free_block
        if before is None or after is None:
            raise NotQueued("remove", "the block is in no queue", block.block_id)
        before.next_free_block = after
        after.prev_free_block = before
        block.prev_free_block = None
        block.next_free_block = None
        self.num_free_blocks -= 1

    @keeps_links_sound
    def remove_n(self, blocks: Sequence[KVCacheBlock]) -> None:
        """Take all of `blocks` out. O(len(blocks)).

        Until the batch is through, a block that was taken out has lost one link only. The missing one shows a
        repetition; the other one lets a refusal put everything back.
        """
        count = len(blocks)
        for block in blocks:
            before = block.prev_free_block
            after = block.next_free_block
            if before is None or after is None:
                raise self._not_removable(blocks, block)
            before.next_free_block = after
            after.prev_free_block = before
            block.prev_free_block = None
        for block in blocks:
            block.next_free_block = None
        self.num_free_blocks -= count

    @keeps_links_sound
    def append(self, block: KVCacheBlock) -> None:
        """Add `block` at the back. O(1)."""
        if block.prev_free_block is not None or block.next_free_block is not None:
            raise AlreadyQueued("append", "the block is in a queue", block.block_id)
        tail = self.fake_free_list_tail
        last: Any = tail.prev_free_block
        block.prev_free_block = last
        block.next_free_block = tail
        last.next_free_block = block
        tail.prev_free_block = block
        self.num_free_blocks += 1

    @keeps_links_sound
    def append_n(self, blocks: Sequence[KVCacheBlock]) -> None:
        """Add `blocks` at the back, in the order given. O(len(blocks))."""
        count = len(blocks)
        tail = self.fake_free_list_tail
        last: Any = tail.prev_free_block
        node = last
        for block in blocks:
            # A repeated block is linked already, by this very loop.
            if block.prev_free_block is not None or block.next_free_block is not None:
                self._unlink_chain(node, last, tail)
                raise self._not_addable("append_n", block)
            block.prev_free_block = node
            node.next_free_block = block
            node = block
        node.next_free_block = tail
        tail.prev_free_block = node
        self.num_free_blocks += count

    @keeps_links_sound
    def prepend_n(self, blocks: Sequence[KVCacheBlock]) -> None:
        """Add `blocks` at the front, in the order given: the first of them is handed out next. O(len(blocks))."""
        count = len(blocks)
        head = self.fake_free_list_head
        first: Any = head.next_free_block
        node: Any = head
        for block in blocks:
            if block.prev_free_block is not None or block.next_free_block is not None:
                self._unlink_chain(node, head, first)
                raise self._not_addable("prepend_n", block)
            block.prev_free_block = node
            node.next_free_block = block
            node = block
        node.next_free_block = first
        first.prev_free_block = node
        self.num_free_blocks += count

    def get_all_free_blocks(self) -> list[KVCacheBlock]:
        """All blocks in eviction order, as a new list. O(number queued)."""
        blocks: list[KVCacheBlock] = []
        tail = self.fake_free_list_tail
        block: Any = self.fake_free_list_head.next_free_block
        while block is not tail:
            blocks.append(block)
            block = block.next_free_block
        return blocks

    def iter_blocks_after(self, cursor: KVCacheBlock | None) -> Iterator[KVCacheBlock]:
        """Walk in eviction order from the block after `cursor`; None: from the front.

        A cursor that is not queued is refused at once. The walk looks one block ahead, and promises:

        - between two steps, blocks already yielded may be removed or queued again, and blocks may be added at either
          end: each block that stood behind the cursor when the walk began is yielded exactly once, in order, and
          blocks added later are not;
        - if the block that comes next has left the queue, the next step raises NotQueued: no silent end;
        - whatever else is done to the queue, there are at most as many steps as blocks were queued at the start.
        """
        if cursor is None:
            cursor = self.fake_free_list_head
        elif cursor.prev_free_block is None or cursor.next_free_block is None:
            raise NotQueued("iter_blocks_after", "the cursor is in no queue", cursor.block_id)
        return self._walk(cursor.next_free_block, self.fake_free_list_tail.prev_free_block, self.num_free_blocks)

    def _walk(self, block: Any, last: Any, steps: int) -> Iterator[KVCacheBlock]:
        tail = self.fake_free_list_tail
        while block is not tail and steps > 0:
            after = block.next_free_block
            if after is None:
                raise NotQueued("iter_blocks_after", "the next block has left the queue", block.block_id)
            yield block
            if block is last:
                return
            block = after
            steps -= 1

    def _unlink_chain(self, node: Any, left: Any, right: Any) -> None:
        """Undo a batch: clear the links from `node` back to `left`, and join `left` to `right` as before."""
        while node is not left:
            before = node.prev_free_block
            node.prev_free_block = None
            node.next_free_block = None
            node = before
        left.next_free_block = right

    def _not_removable(self, blocks: Sequence[Any], refused: KVCacheBlock) -> NotQueued | RepeatedBlock:
        """Undo a batch removal that met `refused`, and say why it had to end."""
        head = self.fake_free_list_head
        repeated = refused.prev_free_block is None and refused.next_free_block is not None and refused is not head
        done: list[Any] = []
        for block in blocks:
            if block is refused and (not repeated or block in done):
                break
            done.append(block)
        for block in reversed(done):  # the last one first: its successor is then where it was
            after = block.next_free_block
            before = after.prev_free_block
            before.next_free_block = block
            block.prev_free_block = before
            after.prev_free_block = block
        if repeated:
            return RepeatedBlock("remove_n", "the batch names the block twice", refused.block_id)
        return NotQueued("remove_n", "the block is in no queue", refused.block_id)

    def _not_addable(self, call: str, block: KVCacheBlock) -> AlreadyQueued | RepeatedBlock:
        """Why `block` ended a batch: asked after the batch was undone, so a block still linked was queued before."""
        if block.prev_free_block is None and block.next_free_block is None:
            return RepeatedBlock(call, "the batch names the block twice", block.block_id)
        return AlreadyQueued(call, "the block is in a queue", block.block_id)
