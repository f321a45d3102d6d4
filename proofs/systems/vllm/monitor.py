"""Listening to every pool that a running vLLM makes, from its construction on.

What is put beside a pool is kept at the pool itself, so that it goes when the pool goes.
"""

import os
import weakref
from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from importlib import import_module
from itertools import count
from typing import Any

from blockpool.impl.block import KVCacheBlock
from blockpool.impl.pool import BlockPool
from blockpool.proofs.oracle.trace import TraceWriter
from blockpool.proofs.systems.vllm.instrument import Tap, operations_of
from blockpool.proofs.systems.vllm.method_map import METHODS
from blockpool.proofs.systems.vllm.plugin import Settings
from blockpool.proofs.systems.vllm.record import Recording
from blockpool.proofs.systems.vllm.request_calls import Passes
from blockpool.proofs.systems.vllm.watch import OnBreach, Watch
from blockpool.spec.contract.profiles import profile_of

PROFILE = "vllm-0.33"
"""What vLLM's own pool is judged by."""

_numbers = count(1)


def listen_to_vllm(settings: Settings) -> Callable[[], None]:
    """Attach a recording or a monitor to each pool that is made from now on. Returns a function that ends that."""
    if settings.profile is not None:
        profile_of(settings.profile)  # an unknown one is to be refused now, not in the first pool
    pool = import_module("vllm.v1.core.block_pool").BlockPool
    block = KVCacheBlock if issubclass(pool, BlockPool) else import_module("vllm.v1.core.kv_cache_utils").KVCacheBlock
    scheduler = import_module("vllm.v1.core.sched.scheduler").Scheduler
    with ExitStack() as undo:
        undo.callback(attach_to_new(pool, lambda made: attach(made, settings)))
        undo.callback(count_behind(block))
        undo.callback(follow_passes(scheduler))
        return undo.pop_all().close


def attach_to_new(pool: type[Any], attach: Callable[[Any], None]) -> Callable[[], None]:
    """Do this with each new pool of the class, or of a class derived from it."""
    construct = pool.__init__

    @wraps(construct)
    def constructed(self: Any, *args: Any, **kwargs: Any) -> None:
        construct(self, *args, **kwargs)
        if is_a_pool(type(self), pool):
            attach(self)

    return exchange(pool, "__init__", constructed)


def exchange(owner: type[Any], name: str, new: Any) -> Callable[[], None]:
    """Set an attribute of a class. Returns a function that sets it back."""
    old = owner.__dict__[name]
    setattr(owner, name, new)
    return lambda: setattr(owner, name, old)


def is_a_pool(derived: type[Any], pool: type[Any]) -> bool:
    """Does the class do what the pool does? One that answers in its own way, from elsewhere, is not a pool."""
    return all(getattr(derived, name, None) is getattr(pool, name, None) for name in METHODS)


def attach(pool: Any, settings: Settings) -> None:
    """A recording or a monitor beside this new pool."""
    profile = settings.profile or ("strict" if isinstance(pool, BlockPool) else PROFILE)
    if "record" in settings.modes:
        assert settings.traces is not None
        file = (settings.traces / f"pool-{os.getpid()}-{next(_numbers)}.jsonl").open("xb")
        weakref.finalize(pool, file.close)  # at the latest when the process ends
        pool.heard_by = Tap(pool, Recording(TraceWriter(file, name_of(pool), operations_of(pool), profile)).heard)
    else:
        on_breach: OnBreach = "raise" if settings.raises else "log"
        pool.heard_by = Tap(pool, Watch(profile, on_breach, operations_of(pool), stacks=False).heard)
        pool.passes = Passes(pool, on_breach)
    owner: Any = getattr(pool, "_event_owner", None)  # HiSparse: a pool that puts its events among those of another
    if hasattr(owner, "heard_by"):
        owner.heard_by.other_media.add(pool.medium)


def name_of(pool: Any) -> str:
    """Who is recorded."""
    vllm = import_module("vllm").__version__
    return f"{type(pool).__module__}.{type(pool).__name__} in vLLM {vllm}"


def count_behind(block: type[Any]) -> Callable[[], None]:
    """Also hear of references that are taken at a block itself: vLLM's copy-on-write does that, behind the pool."""
    slot = block.__dict__["ref_cnt"]
    read, write = slot.__get__, slot.__set__

    def changed(self: Any, value: int) -> None:
        heard_by: Any = getattr(getattr(self, "pool", None), "heard_by", None)
        change = value - read(self) if heard_by is not None else 0
        write(self, value)
        if change:
            heard_by.counted(self, change)

    return exchange(block, "ref_cnt", property(read, changed))


def follow_passes(scheduler: type[Any]) -> Callable[[], None]:
    """Tell the monitor of a scheduler's pool where each pass begins and ends."""
    schedule = scheduler.schedule

    @wraps(schedule)
    def scheduled(self: Any, *args: Any, **kwargs: Any) -> Any:
        passes: Passes | None = getattr(self.kv_cache_manager.block_pool, "passes", None)
        if passes is None:
            return schedule(self, *args, **kwargs)
        passes.begin()
        output = schedule(self, *args, **kwargs)
        passes.end(output.num_scheduled_tokens)
        return output

    return exchange(scheduler, "schedule", scheduled)
