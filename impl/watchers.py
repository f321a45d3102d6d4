"""Telling the readers of a released block that it is about to be reused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from blockpool.impl.block import KVCacheBlock
from blockpool.impl.errors import WatcherErrors

if TYPE_CHECKING:
    from blockpool.impl.pool import BlockPool

OnReuse = Callable[[KVCacheBlock], None]


def tell(pool: BlockPool, blocks: Sequence[KVCacheBlock]) -> list[BaseException]:
    """Tell all watchers of `blocks`, then forget them. Returns what the callbacks raised, in order.

    While they run the pool answers queries as if nothing had happened yet, and refuses changes.
    """
    errors: list[BaseException] = []
    pool._telling = True
    try:
        for block in blocks:
            for on_reuse in pool._watchers[block]:
                try:
                    on_reuse(block)
                except BaseException as error:  # noqa: BLE001  (even an interrupt must not stop the call half way)
                    errors.append(error)
    finally:
        pool._telling = False
    for block in blocks:
        del pool._watchers[block]
    return errors


def raise_watcher_errors(call: str, errors: Sequence[BaseException], result: Any) -> None:
    """Raise what callbacks raised, now that `call` has finished.

    An interrupt (KeyboardInterrupt, SystemExit) goes on as itself: its cause is the WatcherErrors with the result.
    """
    if not errors:
        return
    collected = WatcherErrors(call, errors, result)
    for error in errors:
        if not isinstance(error, Exception):
            raise error from collected
    raise collected
