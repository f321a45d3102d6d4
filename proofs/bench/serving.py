"""Streams of a serving engine: admission, chunked prefill, decoding block by block, release.

Requests start in order, as many at a time as `running` says, and only when all their blocks have room, so none is
preempted. What a pool is asked depends on the requests alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from heapq import heappop, heappush
from typing import Any

from blockpool.proofs.bench.stream import Recorder, Stream
from blockpool.proofs.replay.requests import TraceRequest

CHUNK = 8192
"""Tokens of prompt computed in a step."""

PART = 20_000
"""Block operations in a part."""


@dataclass(slots=True)
class _Running:
    number: int
    prompt: int
    total: int  # tokens at the end
    tokens: int  # computed so far
    published: int = 0  # blocks
    reserved: int = 0  # blocks that it will still need


def record_serving(stream: Stream, pool: Any, requests: Iterable[TraceRequest], running: int) -> Stream:
    """Serve `requests` from `pool` and record it. Requests larger than the pool are left out."""
    return _Server(stream, pool, running).serve(requests)


class _Server:
    def __init__(self, stream: Stream, pool: Any, running: int) -> None:
        self.size = stream.block_size
        self.capacity = stream.blocks - 1
        self.most = running
        self.recorder = Recorder(stream, pool)
        self.running: list[tuple[int, int, _Running]] = []  # by the time of their next step
        self.time = 0

    def serve(self, requests: Iterable[TraceRequest]) -> Stream:
        for order, request in enumerate(requests):
            if self._blocks(request.computed_length) > self.capacity:
                continue
            number = self.recorder.request(digests_of(order, request, self.size))
            while len(self.running) >= self.most or not self._start(number, request):
                self._until_one_is_done()
        while self.running:
            self._until_one_is_done()
        return self.recorder.finish()

    def _start(self, number: int, request: TraceRequest) -> bool:
        """Look the prompt up and take what is cached, if there is room for all blocks until the end."""
        if self.recorder.blocks_in_part >= PART:
            self.recorder.part()
        total = request.computed_length
        hits = self.recorder.lookup(number, (request.input_length - 1) // self.size)
        idle = sum(block.ref_cnt == 0 for block in hits)
        promised = sum(job.reserved for _, _, job in self.running)
        if self._blocks(total) - len(hits) + idle > self.recorder.pool.get_num_free_blocks() - promised:
            return False
        if hits:
            self.recorder.touch(number, hits)
        job = _Running(number, request.input_length, total, len(hits) * self.size, len(hits))
        while job.tokens < job.prompt:
            self._compute(job, min(job.tokens + CHUNK, job.prompt))
        self._queue(job)
        return True

    def _until_one_is_done(self) -> None:
        """The request whose block is full first publishes it, and goes on or gives all back."""
        while True:
            self.time, _, job = heappop(self.running)
            self._compute(job, min((job.tokens // self.size + 1) * self.size, job.total))
            if job.tokens == job.total:
                self.recorder.free(job.number)
                return
            self._queue(job)

    def _queue(self, job: _Running) -> None:
        """Have room for the next token, and come back when its block is full."""
        self._grow(job, min(job.tokens + 1, job.total))
        job.reserved = self._blocks(job.total) - len(self.recorder.blocks_of(job.number))
        steps = min(self.size - job.tokens % self.size, max(job.total - job.tokens, 1))
        heappush(self.running, (self.time + steps, job.number, job))

    def _compute(self, job: _Running, tokens: int) -> None:
        self._grow(job, tokens)
        job.tokens = tokens
        full = tokens // self.size
        if full > job.published:
            self.recorder.publish(job.number, job.published, full)
            job.published = full

    def _grow(self, job: _Running, tokens: int) -> None:
        needed = self._blocks(tokens) - len(self.recorder.blocks_of(job.number))
        if needed > 0:
            self.recorder.allocate(job.number, needed)

    def _blocks(self, tokens: int) -> int:
        return -(-tokens // self.size)


def digests_of(order: int, request: TraceRequest, block_size: int) -> Sequence[bytes]:
    """One digest for each block that the request fills; equal for equal prefixes of prompts."""
    shared = request.full_blocks(block_size)
    names = [str(number) for number in shared]
    names += [f"{order} {j}" for j in range(len(shared), request.computed_length // block_size)]
    return [sha256(name.encode()).digest() for name in names]
