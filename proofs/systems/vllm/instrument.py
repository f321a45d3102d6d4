"""Listening to a live Python pool with vLLM's interface: each call and its reply in the oracle's words.

The pool's own methods are covered, on this one object, by methods that do the same and then tell a listener. Nothing
else changes: answers and exceptions are the pool's own. Calls that the pool makes of itself are not told, nor are those
that a watcher makes while it is being told.

Works on `impl` and on vLLM's pool from 0.14 on; `record.py` and `watch.py` are its listeners.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from blockpool.impl.errors import Refusal
from blockpool.proofs.systems.vllm.method_map import INNER, METHODS, Covers, key_name
from blockpool.spec.contract.calls import (
    AllCleared,
    BlockName,
    Call,
    Fault,
    Free,
    Ok,
    PoolEvent,
    Refused,
    RemovedKeys,
    Reply,
    Share,
    Start,
    Started,
    StoredKeys,
    Value,
)

Listener = Callable[[Call, Reply], None]


def operations_of(pool: Any) -> frozenset[str]:
    """What the pool can be asked, in the oracle's words."""
    return frozenset(["start", *(op for name, op in METHODS.items() if hasattr(pool, name))])


class Tap:
    """Listens to `pool` until `close`. The first thing told is its start.

    Raises ValueError for a pool that has been used already: what happened before cannot be known.
    """

    def __init__(self, pool: Any, listener: Listener) -> None:
        if pool.get_num_free_blocks() != pool.num_gpu_blocks - 1 or len(pool.cached_block_hash_to_block):
            raise ValueError("the pool is in use already; listen from its construction on")
        self.pool = pool
        self._listener = listener
        self._inside = False
        self._told: list[tuple[BlockName, str]] = []
        self._watchers: dict[Any, tuple[str, Callable[[Any], None]]] = {}  # each callback: its name, and what covers it
        self._digests: dict[int, str] = {}  # events may name a digest by its last 64 bits
        self._left_out: dict[int, Any] = {}  # events that report no change
        self.writes_its_events = True  # not so if somebody else inserts keys: then he writes the Stored events
        self.other_media: set[str] = set()  # of other pools that put their events among those of this one
        start = Start(pool.num_gpu_blocks - 1, pool.enable_caching, pool.enable_kv_cache_events)
        order = tuple(block.block_id for block in pool.free_block_queue.get_all_free_blocks())
        listener(start, Ok(Started(pool.num_gpu_blocks - 1, (pool.null_block.block_id,), order)))
        self._covers = [name for name in (*METHODS, *INNER) if hasattr(pool, name)]
        covers = Covers(self, {name: getattr(pool, name) for name in self._covers})
        for name in self._covers:
            setattr(pool, name, getattr(covers, name))

    def close(self) -> None:
        """The pool is as it was."""
        for name in self._covers:
            delattr(self.pool, name)
        self._covers = []

    def pass_on(
        self,
        call: Call,
        method: Callable[..., Any],
        arguments: Sequence[Any],
        read: Callable[[Any], Value],
        exact: bool = True,
    ) -> Any:
        """Let the pool do it, and tell the listener what came of it; `read` puts the answer into the oracle's words.

        A call with arguments that the oracle has no words for is not `exact`: if the pool fails it, nothing is told.
        """
        if self._inside:
            return method(*arguments)
        self._inside = True
        self._told = []
        try:
            answer = method(*arguments)
        except BaseException as error:
            self._inside = False
            if exact:
                self._listener(call, self._failure(error, read))
            raise
        self._inside = False
        self._listener(call, Ok(read(answer), tuple(self._told)))
        return answer

    def counted(self, block: Any, change: int) -> None:
        """References were taken or given back at the block itself, behind the pool: told like calls of the pool."""
        if not self._inside:
            call = Share((self.name(block),) * change) if change > 0 else Free((self.name(block),) * -change)
            self._listener(call, Ok(None))

    def inserted(self) -> None:
        """A key was inserted by an inner method. If by somebody else, the events are no longer all of the pool."""
        self.writes_its_events = self.writes_its_events and self._inside

    def leave_out(self, events: Iterable[Any]) -> None:
        """These events will not be told."""
        self._left_out.update((id(event), event) for event in events)

    def watcher(self, callback: Any) -> tuple[str, Callable[[Any], None]]:
        """A name for the callback, and the callback that the pool gets in its place."""
        if callback not in self._watchers:
            name = f"watcher {len(self._watchers) + 1}"

            def told(block: Any) -> None:
                self._told.append((self.name(block), name))
                callback(block)

            self._watchers[callback] = (name, told)
        return self._watchers[callback]

    def name(self, block: Any) -> BlockName:
        """The number of the block; a block of another pool gets a name that no block here has."""
        number: int = block.block_id
        owner = getattr(block, "pool", self.pool)
        return number if owner is self.pool or owner is None else f"block {number} of another pool"

    def names(self, blocks: Iterable[Any]) -> tuple[BlockName, ...]:
        """The numbers of the blocks. Most are the pool's own: asked here, that saves a call for each."""
        pool, name = self.pool, self.name
        return tuple([block.block_id if getattr(block, "pool", None) is pool else name(block) for block in blocks])

    def learn(self, digest: Any) -> str:
        """The name of a digest that is published."""
        name = key_name(digest)
        if self.pool.enable_kv_cache_events and isinstance(digest, bytes):
            self._digests[int.from_bytes(digest[-8:], "big")] = name
        return name

    def events(self, events: Iterable[Any]) -> tuple[PoolEvent, ...]:
        """The pool's events in the oracle's words, whatever their class."""
        told = [event for event in events if id(event) not in self._left_out]
        self._left_out.clear()
        return tuple([self._event(event) for event in told if getattr(event, "medium", None) not in self.other_media])

    def _event(self, event: Any) -> PoolEvent:
        if not hasattr(event, "block_hashes"):
            return AllCleared()
        keys, group = tuple(map(self._digest, event.block_hashes)), getattr(event, "group_idx", None) or 0
        if not hasattr(event, "token_ids"):
            return RemovedKeys(keys, group)
        parent = None if event.parent_block_hash is None else self._digest(event.parent_block_hash)
        return StoredKeys(keys, parent, len(event.token_ids), event.block_size, group)

    def _digest(self, named: Any) -> str:
        if isinstance(named, int):
            return self._digests.get(named, str(named))
        return key_name(named)

    def _failure(self, error: BaseException, read: Callable[[Any], Value]) -> Reply:
        """What an exception means. One that carries the watchers' errors comes after the call was done."""
        if hasattr(error, "errors") and hasattr(error, "result"):
            return Ok(read(error.result), tuple(self._told))
        if isinstance(error, ValueError | Refusal):
            return Refused(str(getattr(error, "reason", error)))
        return Fault(type(error).__name__, str(error)[:500])
