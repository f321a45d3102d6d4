"""A recorded stream of pool calls, to be replayed against any pool.

A stream names requests and positions, not objects: `bind` looks up the blocks of one pool beforehand, so that a replay
does nothing but call.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from time import thread_time_ns
from typing import Any, NamedTuple

GROUP = [0]
LOOKUP, TOUCH, ALLOCATE, PUBLISH, FREE, RESET = range(6)
NAMES = ("lookup", "touch", "allocate", "publish", "free", "reset")


class Call(NamedTuple):
    """One call for a request: its blocks up to `end`; when publishing, from `start` on."""

    kind: int
    request: int
    end: int
    start: int = 0
    timed: bool = True
    part: int = 0

    @property
    def blocks(self) -> int:
        """Block operations: blocks looked up, touched, allocated, published or freed."""
        return self.end - self.start


class PoolRequest:
    """What pools read of a request with nothing but text."""

    lora_request = cache_salt = session_id = prompt_embeds = None
    mm_features = ()

    def __init__(self, number: int, digests: Sequence[bytes], tokens: int) -> None:
        self.request_id = str(number)
        # New objects for each pool: a bytes object keeps its hash, so a second pool would get it for nothing.
        self.block_hashes = [bytes(bytearray(digest)) for digest in digests]
        self.all_token_ids = [0] * tokens


@dataclass(slots=True)
class Plan:
    """A request of the stream: its digests, and the ids of the blocks it had when it was freed."""

    digests: Sequence[bytes]
    block_ids: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Stream:
    """Calls for a pool of `blocks` blocks of `block_size` tokens. A part is timed as one, or not at all."""

    name: str
    blocks: int
    block_size: int
    events: bool = False
    by_part: bool = False  # one ratio for each part, or for the whole
    plans: list[Plan] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    @property
    def block_operations(self) -> int:
        """In timed parts."""
        return sum(call.blocks for call in self.calls if call.timed)


class Recorder:
    """Drives a pool and notes what it was asked."""

    def __init__(self, stream: Stream, pool: Any) -> None:
        self.stream, self.pool = stream, pool
        self._tables: list[list[Any]] = []
        self._requests: list[PoolRequest] = []
        self._timed, self._part = True, 0
        self.blocks_in_part = 0

    def part(self, timed: bool = True) -> None:
        """What follows is timed together, or not at all."""
        self._part += 1
        self._timed = timed
        self.blocks_in_part = 0

    def request(self, digests: Sequence[bytes]) -> int:
        """A new request with these digests; the number that stands for it."""
        number = len(self._tables)
        self.stream.plans.append(Plan(digests))
        self._tables.append([])
        self._requests.append(PoolRequest(number, digests, len(digests) * self.stream.block_size))
        return number

    def lookup(self, request: int, limit: int) -> list[Any]:
        """Probe the first `limit` digests until one is missing; what was found."""
        found = []
        probes = 0
        for digest in self._requests[request].block_hashes[:limit]:
            probes += 1
            hit = self.pool.get_cached_block(digest, GROUP)
            if hit is None:
                break
            found.append(hit[0])
        self._note(LOOKUP, request, probes)
        return found

    def touch(self, request: int, blocks: Sequence[Any]) -> None:
        """Let the table of the request begin with these."""
        self._tables[request] = list(blocks)
        self.pool.touch(self._tables[request])
        self._note(TOUCH, request, len(blocks))

    def allocate(self, request: int, count: int) -> None:
        self._tables[request] += self.pool.get_new_blocks(count)
        self._note(ALLOCATE, request, count)

    def publish(self, request: int, start: int, end: int) -> None:
        table, size = self._tables[request], self.stream.block_size
        self.pool.cache_full_blocks(self._requests[request], table, start, end, size, 0)
        self._note(PUBLISH, request, end, start)

    def free(self, request: int) -> None:
        """Give the table back, last block first."""
        table = self._tables[request]
        self.pool.free_blocks(reversed(table))
        self._note(FREE, request, len(table))

    def reset(self) -> None:
        self.pool.reset_prefix_cache()
        self._note(RESET, 0, 0)

    def blocks_of(self, request: int) -> list[Any]:
        return self._tables[request]

    def digests_of(self, request: int) -> Sequence[bytes]:
        return self.stream.plans[request].digests

    def finish(self) -> Stream:
        """The stream, complete."""
        for plan, table in zip(self.stream.plans, self._tables, strict=True):
            plan.block_ids = [block.block_id for block in table]
        return self.stream

    def _note(self, kind: int, request: int, count: int, start: int = 0) -> None:
        self.stream.calls.append(Call(kind, request, count, start, self._timed, self._part))
        self.blocks_in_part += count - start


Bound = tuple[int, Any]
"""A call with the objects of one pool: its kind and its argument."""


def bind(stream: Stream, pool: Any) -> list[Bound]:
    """The calls of a stream for this pool. It must hand out the blocks that were recorded."""
    size = stream.block_size
    requests = [PoolRequest(n, plan.digests, len(plan.digests) * size) for n, plan in enumerate(stream.plans)]
    tables = [[pool.blocks[block_id] for block_id in plan.block_ids] for plan in stream.plans]
    return [_bound(call, requests, tables, size) for call in stream.calls]


def _bound(call: Call, requests: Sequence[PoolRequest], tables: Sequence[list[Any]], size: int) -> Bound:
    match call.kind:
        case 0:
            return LOOKUP, requests[call.request].block_hashes[: call.end]
        case 1:
            return TOUCH, tables[call.request][: call.end]
        case 2:
            return ALLOCATE, call.end
        case 3:
            return PUBLISH, (requests[call.request], tables[call.request], call.start, call.end, size, 0)
        case 4:
            return FREE, tables[call.request][: call.end]
        case _:
            return RESET, None


def parts_of(stream: Stream) -> Iterator[tuple[bool, slice]]:
    """Each part: whether it is timed, and which calls it has."""
    start = 0
    for _, calls in groupby(stream.calls, lambda call: call.part):
        part = list(calls)
        yield part[0].timed, slice(start, start + len(part))
        start += len(part)


def run(pool: Any, calls: Sequence[Bound], events: bool) -> int:
    """Make the calls; the nanoseconds of CPU time they took."""
    get, touch, new = pool.get_cached_block, pool.touch, pool.get_new_blocks
    publish, free, reset, drain = pool.cache_full_blocks, pool.free_blocks, pool.reset_prefix_cache, pool.take_events
    started = thread_time_ns()
    for kind, argument in calls:
        if kind == ALLOCATE:
            new(argument)
        elif kind == PUBLISH:
            publish(*argument)
        elif kind == FREE:
            free(reversed(argument))
            if events:  # an engine takes them every step
                drain()
        elif kind == TOUCH:
            touch(argument)
        elif kind == LOOKUP:
            hits = []
            for digest in argument:
                hit = get(digest, GROUP)
                if hit is None:
                    break
                hits.append(hit[0])
        else:
            reset()
    if events:
        drain()
    return thread_time_ns() - started
