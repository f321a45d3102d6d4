"""Streams that do one thing over and over, each round a timed part. What prepares a round is not timed."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from itertools import count
from typing import Any

from blockpool.proofs.bench.stream import Recorder, Stream

ROUND = 2000
"""Blocks in a round of most of them."""

Work = Callable[[Recorder, int], None]
"""Records its calls, with this many rounds."""


class _Digests:
    """Digests that were never used before."""

    def __init__(self) -> None:
        self._numbers = count()

    def __call__(self, number: int) -> Sequence[bytes]:
        return [sha256(f"micro {next(self._numbers)}".encode()).digest() for _ in range(number)]


def record_micro(stream: Stream, pool: Any, work: Work, rounds: int) -> Stream:
    recorder = Recorder(stream, pool)
    recorder.part(timed=False)
    work(recorder, rounds)
    return recorder.finish()


def _fill(recorder: Recorder, fresh: _Digests, number: int) -> int:
    """Allocate and publish so many blocks for a new request, and let it keep them."""
    request = recorder.request(fresh(number))
    recorder.allocate(request, number)
    recorder.publish(request, 0, number)
    return request


def _fill_all(recorder: Recorder, fresh: _Digests) -> None:
    """Leave every block free and published, so that each allocation evicts."""
    recorder.free(_fill(recorder, fresh, recorder.stream.blocks - 1))


def unkeyed(blocks: int) -> Work:
    """Allocate and free without publishing, `blocks` a call."""

    def work(recorder: Recorder, rounds: int) -> None:
        for _ in range(rounds):
            recorder.part()
            for _ in range(ROUND // blocks):
                request = recorder.request(())
                recorder.allocate(request, blocks)
                recorder.free(request)

    return work


def prefix(held: bool) -> Work:
    """Touch and free a prefix of 256 blocks, which another request holds, or nobody."""

    def work(recorder: Recorder, rounds: int) -> None:
        fresh = _Digests()
        _fill_all(recorder, fresh)
        owner = _fill(recorder, fresh, 256)
        blocks = recorder.blocks_of(owner)
        if not held:
            recorder.free(owner)
        for _ in range(rounds):
            recorder.part()
            for _ in range(ROUND // 256):
                request = recorder.request(())
                recorder.touch(request, blocks)
                recorder.free(request)

    return work


def evicting(blocks: int, all_timed: bool) -> Work:
    """Allocate cached blocks, `blocks` a call; publishing and freeing them again is timed or not."""

    def work(recorder: Recorder, rounds: int) -> None:
        fresh = _Digests()
        _fill_all(recorder, fresh)
        for _ in range(rounds):
            requests = [recorder.request(fresh(blocks)) for _ in range(ROUND // blocks)]
            recorder.part()
            for request in requests:
                recorder.allocate(request, blocks)
            if not all_timed:
                recorder.part(timed=False)
            for request in requests:
                recorder.publish(request, 0, blocks)
            for request in requests:
                recorder.free(request)

    return work


def decoding(recorder: Recorder, rounds: int) -> None:
    """256 requests that each get one block a step, evicting another, and publish it; four steps."""
    fresh = _Digests()
    _fill_all(recorder, fresh)
    for _ in range(rounds):
        requests = [recorder.request(fresh(4)) for _ in range(256)]
        recorder.part()
        for step in range(4):
            for request in requests:
                recorder.allocate(request, 1)
            for request in requests:
                recorder.publish(request, step, step + 1)
        recorder.part(timed=False)
        for request in requests:
            recorder.free(request)


def publishing(blocks: int) -> Work:
    """Publish, `blocks` a call; allocating and freeing is not timed."""

    def work(recorder: Recorder, rounds: int) -> None:
        fresh = _Digests()
        _fill_all(recorder, fresh)
        for _ in range(rounds):
            requests = [recorder.request(fresh(blocks)) for _ in range(ROUND // blocks)]
            for request in requests:
                recorder.allocate(request, blocks)
            recorder.part()
            for request in requests:
                recorder.publish(request, 0, blocks)
            recorder.part(timed=False)
            for request in requests:
                recorder.free(request)

    return work


def looking_up(hit: bool) -> Work:
    """Look up 500 digests that are all cached, or one at a time that is not."""

    def work(recorder: Recorder, rounds: int) -> None:
        fresh = _Digests()
        cached = _fill(recorder, fresh, 500)
        digests = recorder.digests_of(cached)
        for _ in range(rounds):
            probed = [recorder.request(digests)] if hit else [recorder.request(fresh(1)) for _ in range(500)]
            recorder.part()
            for request in probed:
                recorder.lookup(request, 500)

    return work


def resetting(recorder: Recorder, rounds: int) -> None:
    """Reset a pool in which 100 blocks are published."""
    fresh = _Digests()
    for _ in range(rounds):
        recorder.part(timed=False)
        recorder.free(_fill(recorder, fresh, 100))
        recorder.part()
        recorder.reset()


WORKS: dict[str, Work] = {
    "allocate+free unkeyed, 1 a call": unkeyed(1),
    "allocate+free unkeyed, 16 a call": unkeyed(16),
    "allocate+free unkeyed, 500 a call": unkeyed(500),
    "touch+free an idle prefix of 256": prefix(held=False),
    "touch+free a shared prefix of 256": prefix(held=True),
    "allocate, all evicted, 1 a call": evicting(1, all_timed=False),
    "allocate, all evicted, 500 a call": evicting(500, all_timed=False),
    "evict+publish+free, 500 a call": evicting(500, all_timed=True),
    "decode step, 256 requests, 1 block each": decoding,
    "publish, 1 a call": publishing(1),
    "publish, 500 a call": publishing(500),
    "lookup, hit": looking_up(hit=True),
    "lookup, miss": looking_up(hit=False),
    "reset, 100 published": resetting,
}
