"""What the current pass has begun and its commit completes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from blockpool.impl.block import KVCacheBlock
from blockpool.impl.errors import WatcherErrors
from blockpool.impl.managers.prefix import Mark
from blockpool.impl.pool import BlockPool
from blockpool.impl.watchers import raise_watcher_errors

T = TypeVar("T")


class CurrentPass:
    """Publications that are not written yet, copies that the workers have to run, blocks to be given back at the end.

    Both ends of a copy are retained, with one reference each that is given back at the commit: until then nobody
    can be handed either of them.
    """

    def __init__(self) -> None:
        self._published: dict[str, list[Mark]] = {}
        self._fresh: set[Mark] = set()
        self._copies: list[tuple[KVCacheBlock, KVCacheBlock]] = []
        self._deferred: list[KVCacheBlock] = []
        self._watcher_errors: list[BaseException] = []

    # ---- publications ----

    def note_published(self, request_id: str, mark: Mark) -> None:
        self._published.setdefault(request_id, []).append(mark)
        self._fresh.add(mark)

    def is_fresh(self, mark: Mark) -> bool:
        """Whether this publication was made in this pass: the block is not written yet."""
        return mark in self._fresh

    def published_by(self, request_id: str) -> Sequence[Mark]:
        return self._published.get(request_id, ())

    def forget(self, request_id: str) -> None:
        """The publications of a request have been withdrawn."""
        self._fresh.difference_update(self._published.pop(request_id, ()))

    # ---- copies and releases ----

    @property
    def copies(self) -> list[tuple[KVCacheBlock, KVCacheBlock]]:
        """(source, destination), in the order in which the workers run them, before any write of the pass."""
        return list(self._copies)

    def add_copy(self, source: KVCacheBlock, destination: KVCacheBlock) -> None:
        """Takes over one reference on either block."""
        self._copies.append((source, destination))

    def defer(self, blocks: Sequence[KVCacheBlock]) -> None:
        """Takes over one reference on each block, to be given back at the commit, in this order."""
        self._deferred += blocks

    def end(self) -> list[KVCacheBlock]:
        """The pass ran: forget it. Returns the blocks to give back, in order."""
        ended = [block for copy in self._copies for block in copy] + self._deferred
        self._published.clear()
        self._fresh.clear()
        self._copies.clear()
        self._deferred.clear()
        return ended

    # ---- calls that tell watchers ----

    def lend(self, pool: BlockPool, num_blocks: int) -> list[KVCacheBlock]:
        """New blocks of `pool`."""
        return self.complete(lambda: pool.get_new_blocks(num_blocks))

    def complete(self, call: Callable[[], T]) -> T:
        """Call the pool. It finishes even if watchers raise: take its result now, and report the errors later."""
        try:
            return call()
        except BaseException as error:
            failed = error if isinstance(error, WatcherErrors) else error.__cause__
            if not isinstance(failed, WatcherErrors):
                raise
            self._watcher_errors += failed.errors
            result: T = failed.result
            return result

    def report(self, call: str, result: object) -> None:
        """Raise what watchers raised since the last report, now that `call` has finished."""
        errors, self._watcher_errors = self._watcher_errors, []
        raise_watcher_errors(call, errors, result)
