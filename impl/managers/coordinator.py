"""The interface for a scheduler: requests that grow in passes, over groups of layers that share one pool or several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from blockpool.impl.block import KVCacheBlock
from blockpool.impl.managers.base import GroupManager
from blockpool.impl.managers.current_pass import CurrentPass
from blockpool.impl.managers.errors import (
    AlreadyRunningError,
    GroupError,
    LengthError,
    PinError,
    ScheduledError,
    StillReadError,
    UnknownRequestError,
)
from blockpool.impl.managers.full import FullAttentionManager
from blockpool.impl.managers.groups import GroupSpec, Kind
from blockpool.impl.managers.hits import Hit, Tables, longest_common_hit
from blockpool.impl.managers.prefix import Mark
from blockpool.impl.managers.ring import RingManager
from blockpool.impl.managers.state import StateManager
from blockpool.impl.managers.window import SlidingWindowManager
from blockpool.impl.pool import BlockPool
from blockpool.impl.request import CacheRequest
from blockpool.impl.watchers import OnReuse

MANAGERS: dict[Kind, type[GroupManager]] = {
    Kind.FULL: FullAttentionManager,
    Kind.WINDOW: SlidingWindowManager,
    Kind.RING: RingManager,
    Kind.STATE: StateManager,
}


@dataclass(slots=True)
class Progress:
    """How far a running request has come, in tokens."""

    request: CacheRequest
    prompt_len: int
    computed: int
    scheduled: int


class Coordinator:
    """Keeps the tables of all requests, and every rule of the protocol between requests and pools.

    Args:
        pool: the pool of all groups, or a sequence with one for each group (the same one may occur repeatedly). All
            have the same hash unit. Nobody else may allocate from them between the calls of one pass.
        groups: the groups of the model; the index of a group is its id in keys.

    In a pass: any number of find_longest_hit, admit, grow, preempt, finish, abort; then the workers run copies_to_run
    in order, and after them compute tokens computed to scheduled of every running request; then commit. Requests are
    known by their request_id. Token counts are from the start of a request.

    A wrong call raises a ManagerError, with nothing changed. A watcher that raises does not stop a call: it finishes,
    then raises WatcherErrors with its answer.
    """

    def __init__(self, pool: BlockPool | Sequence[BlockPool], groups: Sequence[GroupSpec]) -> None:
        pools = [pool] * len(groups) if isinstance(pool, BlockPool) else list(pool)
        if not groups or len(pools) != len(groups):
            raise GroupError("Coordinator", f"{len(groups)} groups and {len(pools)} pools")
        if len({each.hash_block_size for each in pools}) > 1:
            raise GroupError("Coordinator", "the hash units of the pools differ")
        self.pools = list(dict.fromkeys(pools))
        self._unit = pools[0].hash_block_size
        self._pass = CurrentPass()
        self.managers = [
            MANAGERS[spec.kind](spec, group_id, own, self._pass)
            for group_id, (spec, own) in enumerate(zip(groups, pools, strict=True))
        ]
        self._running: dict[str, Progress] = {}
        self._pins: Counter[KVCacheBlock] = Counter()

    # ---- queries ----

    @property
    def running(self) -> tuple[CacheRequest, ...]:
        """The running requests, in the order of admission."""
        return tuple(progress.request for progress in self._running.values())

    def is_running(self, request: CacheRequest) -> bool:
        return request.request_id in self._running

    def computed(self, request: CacheRequest) -> int:
        """How many tokens of a running request are computed, or were hit. Raises: UnknownRequestError."""
        return self._progress("computed", request).computed

    def scheduled(self, request: CacheRequest) -> int:
        """How many tokens of a running request will be computed after this pass. Raises: UnknownRequestError."""
        return self._progress("scheduled", request).scheduled

    def tables(self, request: CacheRequest) -> Tables:
        """One table for each group, null where nothing is needed. Raises: UnknownRequestError."""
        self._progress("tables", request)
        return tuple(manager.table(request.request_id) for manager in self.managers)

    def copies_to_run(self) -> list[tuple[KVCacheBlock, KVCacheBlock]]:
        """(source, destination) of every copy of the pass, to be run in this order before any write."""
        return self._pass.copies

    def find_longest_hit(self, request: CacheRequest, prompt_len: int) -> Hit:
        """The longest prefix that no group has to compute, at least one token of the prompt left out.

        No reference is taken: admit looks again. Raises: LengthError.
        """
        if not 1 <= prompt_len <= len(request.all_token_ids):
            detail = f"a prompt of {prompt_len} tokens in a request of {len(request.all_token_ids)}"
            raise LengthError("find_longest_hit", detail)
        at_most = min((prompt_len - 1) // self._unit, len(request.block_hashes)) * self._unit
        return longest_common_hit(self.managers, request, at_most)

    # ---- scheduling ----

    def admit(self, request: CacheRequest, prompt_len: int, upto: int) -> bool:
        """Start a request with the longest hit, and schedule its tokens from there to `upto`.

        False, with nothing changed, if the blocks do not suffice or a state group cannot compute this chunk at once.
        All hits are touched before anything is allocated. Raises: AlreadyRunningError, LengthError.
        """
        request_id = request.request_id
        if request_id in self._running:
            raise AlreadyRunningError("admit", f"request {request_id}")
        hit = self.find_longest_hit(request, prompt_len)
        if not hit.num_tokens < upto <= prompt_len:
            raise LengthError("admit", f"{hit.num_tokens} of {prompt_len} tokens are hit, the chunk ends at {upto}")
        if not self._allows(hit.num_tokens, upto) or not self._fits(self._admission_demand(hit, upto)):
            return False
        for manager, table in zip(self.managers, hit.tables, strict=True):
            manager.adopt(request_id, table, hit.num_tokens)
        for manager in self.managers:
            manager.own_tail(request_id, hit.num_tokens)
            manager.extend(request_id, upto)
        self._running[request_id] = Progress(request, prompt_len, hit.num_tokens, upto)
        return self._published("admit", self._running[request_id])

    def grow(self, request: CacheRequest, upto: int) -> bool:
        """Schedule the next tokens of a running request, up to `upto`.

        False, with nothing changed, as for admit. Raises: UnknownRequestError, ScheduledError, LengthError.
        """
        progress = self._progress("grow", request)
        request_id, computed = request.request_id, progress.computed
        if progress.scheduled != computed:
            raise ScheduledError("grow", f"request {request_id}, up to {progress.scheduled} tokens")
        if not computed < upto <= len(request.all_token_ids):
            detail = f"{computed} of {len(request.all_token_ids)} tokens are computed, the chunk ends at {upto}"
            raise LengthError("grow", detail)
        demand: Counter[BlockPool] = Counter()
        for manager in self.managers:
            demand[manager.pool] += manager.growth_demand(request_id, computed, upto)
        if not self._allows(computed, upto) or not self._fits(demand):
            return False
        for manager in self.managers:
            manager.prepare(request_id, computed, upto)
        progress.scheduled = upto
        for manager in self.managers:
            manager.extend(request_id, upto)
        return self._published("grow", progress)

    def commit(self) -> None:
        """The pass ran: what it published is written, its copies are done, deferred blocks are given back."""
        for progress in self._running.values():
            progress.computed = progress.scheduled
        ended = self._pass.end()
        if ended:
            self.pools[0].free_blocks(ended)  # blocks of other pools go back to their owners

    def _allows(self, start: int, upto: int) -> bool:
        return all(manager.allows_chunk(start, upto) for manager in self.managers)

    def _fits(self, demand: Counter[BlockPool]) -> bool:
        return all(num_blocks <= pool.get_num_free_blocks() for pool, num_blocks in demand.items())

    def _admission_demand(self, hit: Hit, upto: int) -> Counter[BlockPool]:
        """How many free blocks of each pool the admission takes: allocated ones, and hit ones that are free now."""
        demand: Counter[BlockPool] = Counter()
        idle: set[KVCacheBlock] = set()
        for manager, table in zip(self.managers, hit.tables, strict=True):
            demand[manager.pool] += manager.admission_demand(table, hit.num_tokens, upto)
            for block in table:
                if not block.is_null and block.ref_cnt == 0 and block not in idle:
                    idle.add(block)
                    demand[manager.pool] += 1
        return demand

    def _published(self, call: str, progress: Progress) -> bool:
        """Publish what a chunk completes; the last step of a call, which answers True."""
        for manager in self.managers:
            manager.publish(progress.request, progress.scheduled, progress.prompt_len)
        self._pass.report(call, True)
        return True

    # ---- the end of a request ----

    def preempt(self, request: CacheRequest, deferred: bool = False) -> None:
        """Drop a request that will be admitted again later. See finish."""
        self._drop("preempt", request, deferred)

    def finish(self, request: CacheRequest, deferred: bool = False) -> None:
        """Drop a request that is done: its blocks are given back, tails first, and stay findable.

        `deferred`: a worker may still be reading them, so they are given back at the commit. If this pass scheduled
        the request, the pass no longer computes it: what it published in it is withdrawn. Copies stay: they are run.
        Raises: UnknownRequestError; StillReadError if another request counts on what would be withdrawn.
        """
        self._drop("finish", request, deferred)

    def abort(self, request: CacheRequest, deferred: bool = False) -> None:
        """Drop a request whose client is gone. See finish."""
        self._drop("abort", request, deferred)

    def _drop(self, call: str, request: CacheRequest, deferred: bool) -> None:
        self._progress(call, request)
        request_id = request.request_id
        withdrawn = self._pass.published_by(request_id)
        self._check_unread(call, request_id, withdrawn)
        self._withdraw(withdrawn)
        self._pass.forget(request_id)
        del self._running[request_id]
        for manager in self.managers:
            blocks = manager.surrender(request_id)
            if deferred:
                self._pass.defer(blocks)
            elif blocks:
                manager.pool.free_blocks(blocks)

    def _check_unread(self, call: str, request_id: str, withdrawn: Sequence[Mark]) -> None:
        shared = {block for _, _, block in withdrawn if block.ref_cnt > 1}
        if not shared:
            return
        for other in self._running:
            if other == request_id:
                continue
            for manager in self.managers:
                for block in manager.table(other):
                    if block in shared:
                        raise StillReadError(call, f"request {other} reads what {request_id} publishes", block.block_id)

    def _withdraw(self, marks: Sequence[Mark]) -> None:
        named: dict[BlockPool, set[int]] = {}
        for digest, group_id, block in marks:
            pool = self.managers[group_id].pool
            if (digest, group_id) in pool.keys_of(block):
                named.setdefault(pool, set()).add(block.block_id)
        for pool, block_ids in named.items():
            pool.evict_blocks(block_ids)

    # ---- connectors, failures, reset ----

    def pin(self, request: CacheRequest, group: int, entry: int) -> KVCacheBlock:
        """Keep the block at `entry` of a table for a reader outside the pass. Raises: UnknownRequestError, PinError."""
        self._progress("pin", request)
        if not 0 <= group < len(self.managers):
            raise PinError("pin", f"group {group} of {len(self.managers)}")
        manager = self.managers[group]
        table = manager.table(request.request_id)
        if not 0 <= entry < len(table) or table[entry].is_null:
            raise PinError("pin", f"there is no block at entry {entry} of {len(table)}")
        manager.pool.touch([table[entry]])
        self._pins[table[entry]] += 1
        return table[entry]

    def unpin(self, block: KVCacheBlock, on_reuse: OnReuse) -> None:
        """Give a pin back while the reader goes on until `on_reuse(block)`. Raises: PinError, BadWatcher.

        As for BlockPool.unpin_blocks, the callback must not change the pool, nor call the coordinator.
        """
        self._pinned_in("unpin", block).unpin_blocks([block], on_reuse)
        self._pins -= Counter([block])

    def unpin_now(self, block: KVCacheBlock) -> None:
        """Give a pin back: the reader is done. Raises: PinError."""
        self._pinned_in("unpin_now", block).free_blocks([block])
        self._pins -= Counter([block])

    def invalidate(self, request: CacheRequest) -> None:
        """The content of a running request's blocks was lost: nobody may find them. Raises: UnknownRequestError."""
        self._progress("invalidate", request)
        named: dict[BlockPool, set[int]] = {}
        for manager in self.managers:
            used = {block.block_id for block in manager.table(request.request_id) if not block.is_null}
            named.setdefault(manager.pool, set()).update(used)
        for pool, block_ids in named.items():
            pool.evict_blocks(block_ids)

    def reset(self) -> bool:
        """Drop every key of every pool; False, with nothing changed in any pool, while some block is held."""
        if any(pool.get_num_free_blocks() != pool.num_gpu_blocks - 1 for pool in self.pools):
            return False
        for pool in self.pools:
            self._pass.complete(pool.reset_prefix_cache)
        self._pass.report("reset", True)
        return True

    def _progress(self, call: str, request: CacheRequest) -> Progress:
        progress = self._running.get(request.request_id)
        if progress is None:
            raise UnknownRequestError(call, f"request {request.request_id}")
        return progress

    def _pinned_in(self, call: str, block: KVCacheBlock) -> BlockPool:
        if block not in self._pins or block.pool is None:
            raise PinError(call, "the block is not pinned", block.block_id)
        return block.pool
