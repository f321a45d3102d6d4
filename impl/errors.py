"""The error family: why a call was refused, on which block, and what to do instead.

Every refusal is raised before anything has changed: no count, link, key, event or watcher. A class also derives
from the built-in error that callers of such pools already catch, so that existing handlers keep working.
"""

# ruff: noqa: N818  (the classes are named after the reasons)

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class BlockPoolError(Exception):
    """Root of the family.

    `reason` is the name of the broken rule, the same string for every instance of a class; `block_id` is the block
    that broke it, or None; `remedy` says what to do instead. `call` and `detail` are the parts of the message.
    """

    reason: str = "block pool error"
    law: str = ""
    remedy: str = ""

    def __init__(self, call: str, detail: str, block_id: int | None = None) -> None:
        super().__init__(call, detail, block_id)  # all of it in args, so that an instance survives pickling
        self.call = call
        self.detail = detail
        self.block_id = block_id

    def __str__(self) -> str:
        where = "" if self.block_id is None else f" (block {self.block_id})"
        return f"{self.call}: {self.reason}{where}: {self.detail}. Law: {self.law}. Remedy: {self.remedy}."


class Refusal(BlockPoolError):
    """A wrong call that was detected in full before anything changed."""


class NotEnoughFreeBlocks(Refusal, ValueError):
    reason = "not enough free blocks"
    law = "blocks are handed out all or none, and only free ones"
    remedy = "compare with get_num_free_blocks() first, or free or preempt until it suffices"


class BadCount(Refusal, ValueError):
    reason = "bad count"
    law = "a number of blocks is an integer, and not negative"
    remedy = "compute the count with integers and clamp it at zero"


class UnknownBlock(Refusal, RuntimeError, AssertionError):
    reason = "unknown block"
    law = "a pool handles the blocks that it made itself, ids 0 to size - 1"
    remedy = "pass blocks, or ids, that this very pool handed out"


class NotHeld(Refusal, AssertionError):
    reason = "not held"
    law = "a reference is given up once for each time it was taken, and only a held block is published"
    remedy = "release a block once for each get_new_blocks or touch, and publish it before releasing it"


class NullBlock(Refusal, AssertionError):
    reason = "null block"
    law = "the null block is a placeholder: it is never lent, watched or keyed"
    remedy = "leave block 0 out of this call"


class RepeatedBlock(Refusal, AssertionError):
    reason = "repeated block"
    law = "one call names a block at most once here"
    remedy = "remove the repetition; one block cannot hold two positions"


class AlreadyCached(Refusal, AssertionError):
    reason = "already cached"
    law = "a published block gets a new primary key only for a longer prefix"
    remedy = "start at the first block that is not published yet"


class DifferentContent(Refusal, ValueError):
    reason = "different content"
    law = "two prefixes of the same length cannot both be what one block holds"
    remedy = "pass replace_existing_hashes=True if the block was overwritten, else use another block"


class BadRange(Refusal, AssertionError, IndexError, ValueError):
    reason = "bad range"
    law = "ranges lie inside the blocks, tokens and hashes of the request, on hash unit boundaries"
    remedy = "publish only blocks whose hashes exist, in multiples of hash_block_size"


class CachingDisabled(Refusal, RuntimeError):
    reason = "caching disabled"
    law = "a pool without prefix caching carries no keys"
    remedy = "build the pool with enable_caching=True, or do not publish"


class ReEntrant(Refusal, RuntimeError):
    reason = "re-entrant"
    law = "an on_reuse callback may query the pool but not change it"
    remedy = "note the block inside the callback and call the pool after the outer call has returned"


class BadWatcher(Refusal, TypeError):
    reason = "bad watcher"
    law = "on_reuse is something that can be called with a block"
    remedy = "pass a function of one argument, the block"


class QueueError(Refusal, RuntimeError):
    """Misuse of the free queue itself; a client of the pool never sees it."""

    reason = "queue misuse"


class NotQueued(QueueError):
    reason = "not queued"
    law = "only a block that is in the queue can leave it or be a cursor"
    remedy = "check that the block is free before removing it"


class AlreadyQueued(QueueError):
    reason = "already queued"
    law = "a block is in at most one queue, at one place"
    remedy = "remove the block before adding it again"


class WatcherErrors(BlockPoolError, RuntimeError):
    """Some on_reuse callbacks raised. Not a refusal: every watcher was told and the call has *finished*.

    `errors` holds what was raised, in order; `result` is what the call would have returned. After get_new_blocks the
    caller therefore owns the blocks in `result` and has to release them like any others.
    """

    reason = "watcher failed"
    law = "a callback that raises neither stops the call nor the other callbacks"
    remedy = "look at .errors; the outcome of the call is in .result"

    def __init__(self, call: str, errors: Sequence[BaseException], result: Any) -> None:
        super().__init__(call, f"{len(errors)} callback(s) raised, first {errors[0]!r}; the call has finished")
        self.args = (call, errors, result)
        self.errors = list(errors)
        self.result = result

    def __reduce__(self) -> tuple[Any, ...]:
        # Blocks are linked to each other: pickling one would pickle the whole pool. Their ids are enough elsewhere.
        result = (
            [getattr(block, "block_id", block) for block in self.result]
            if isinstance(self.result, list)
            else self.result
        )
        return type(self), (self.call, self.errors, result)
