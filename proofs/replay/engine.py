"""A serving engine as far as a pool can see it: admission, decoding, preemption, release.

Time passes in rounds: in each, every running request gains 16 tokens of output, oldest first, so that the blocks of
many requests mix. There is one round for each request that arrives, and more for one that cannot start yet because too
many are running or too few blocks are free. If a running request needs a block and none is free, the youngest other
one is preempted: it gives back its blocks and starts again, before any new request, with the output it had.

All of that depends on the requests alone, so the same requests make the same calls.
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from impl.block import KVCacheBlock
from impl.request import Request
from proofs.refine.lockstep import MismatchError
from proofs.replay.calls import Calls
from proofs.replay.trace import TraceRequest

ROUND = 16
"""Output tokens that each running request gains in a round."""


@dataclass(slots=True)
class Tally:
    """What an engine counts."""

    finished: int = 0
    skipped_too_large: int = 0
    preemptions: int = 0
    prompt_tokens: int = 0  # of requests that were started; hits are counted at the first start only
    hit_tokens: int = 0
    evictions: int = 0  # cached blocks that were handed out for something else
    peak_used: int = 0


@dataclass(slots=True, eq=False)
class Job:
    """A request on its way. `sequence` has one token for each full block: shared ones first, then its own."""

    sequence: Request
    known: int  # tokens that exist already: the prompt, and then some output
    total: int  # tokens when it is done
    started: bool = False
    table: list[KVCacheBlock] = field(default_factory=list)
    published: int = 0  # so many blocks of the table, from the front, are findable


class Engine:
    """Drives a pool of `blocks` blocks through requests; calls `on_done` whenever one is finished or skipped.

    Raises MismatchError if the pool fails a call, or has lost blocks so that a request that fits cannot go on.
    """

    def __init__(
        self, calls: Calls, blocks: int, block_size: int, concurrency: int, on_done: Callable[[], None]
    ) -> None:
        self.calls, self.blocks, self.block_size, self.concurrency = calls, blocks, block_size, concurrency
        self._on_done = on_done
        self.tally = Tally()
        self.running: dict[Job, None] = {}  # oldest first
        self.preempted: deque[Job] = deque()  # the next to start again first
        self._cached: set[KVCacheBlock] = set()  # published, and not handed out since
        self._private = 0  # tokens of output blocks count down from here: no two requests share one

    def serve(self, requests: Iterable[TraceRequest]) -> None:
        """Run all of them to the end."""
        for number, request in enumerate(requests):
            if self._blocks_for(request.computed_length) > self.blocks:
                self.tally.skipped_too_large += 1
                self._on_done()
                continue
            self._round()
            self._start_preempted()
            sequence = Request(str(number), request.full_blocks(self.block_size), 1)
            self._start(Job(sequence, request.input_length, request.computed_length))
        while self.running or self.preempted:
            self._start_preempted()
            self._round()

    # --- starting ---

    def _start_preempted(self) -> None:
        while self.preempted:
            self._start(self.preempted.popleft())

    def _start(self, job: Job) -> None:
        """Claim what is cached, allocate the rest, publish the full blocks."""
        hits = self._find_room(job)
        if hits:
            self.calls.touch(hits)
        job.table = hits + self._allocate(self._blocks_for(job.known) - len(hits))
        job.published = len(hits)
        self._publish(job)
        self.running[job] = None
        if not job.started:
            job.started = True
            self.tally.prompt_tokens += job.known
            self.tally.hit_tokens += len(hits) * self.block_size
        self.calls.take_events()

    def _find_room(self, job: Job) -> list[KVCacheBlock]:
        """The hits of a request that fits now. Looked up anew whenever something else ran in between."""
        while True:
            if len(self.running) < self.concurrency:
                hits = self._longest_hit(job)
                # A hit that nobody holds is one of the free blocks, and no longer free when it is claimed.
                unheld = sum(block.ref_cnt == 0 for block in hits)
                if self._blocks_for(job.known) - len(hits) + unheld <= self.calls.get_num_free_blocks():
                    return hits
            if not self.running:
                raise MismatchError(f"nothing runs, yet there is no room for {self._blocks_for(job.known)} blocks")
            before = len(self.running)
            while len(self.running) == before:
                self._round()

    def _longest_hit(self, job: Job) -> list[KVCacheBlock]:
        """Cached blocks from the front until the first miss; at least the last token is left to compute."""
        hits: list[KVCacheBlock] = []
        for length in range(1, (job.known - 1) // self.block_size + 1):
            block = self.calls.get_cached_block(job.sequence, length)
            if block is None:
                break
            hits.append(block)
        return hits

    # --- decoding ---

    def _round(self) -> None:
        for job in list(self.running):
            if job in self.running:  # not preempted by an earlier one
                self._decode(job)

    def _decode(self, job: Job) -> None:
        """Some more tokens: room for them first, then what they fill is published."""
        known = min(job.total, job.known + ROUND)
        missing = self._blocks_for(known) - len(job.table)
        if missing:
            while self.calls.get_num_free_blocks() < missing:
                self._preempt_youngest_but(job)
            job.table += self._allocate(missing)
        job.known = known
        while len(job.sequence.block_hashes) < known // self.block_size:
            self._private -= 1
            job.sequence.append_tokens([self._private])
        self._publish(job)
        if known == job.total:
            self._release(job)
            self.tally.finished += 1
            self._on_done()

    def _preempt_youngest_but(self, job: Job) -> None:
        youngest = next((other for other in reversed(self.running) if other is not job), None)
        if youngest is None:
            raise MismatchError(f"nothing else runs, yet there is no block to add to {len(job.table)}")
        self._release(youngest)
        self.preempted.appendleft(youngest)
        self.tally.preemptions += 1

    # --- blocks ---

    def _blocks_for(self, tokens: int) -> int:
        return -(-tokens // self.block_size)

    def _allocate(self, count: int) -> list[KVCacheBlock]:
        blocks = self.calls.get_new_blocks(count)
        evicted = self._cached.intersection(blocks)
        self._cached -= evicted
        self.tally.evictions += len(evicted)
        used = self.blocks - self.calls.pool.get_num_free_blocks()
        self.tally.peak_used = max(self.tally.peak_used, used)
        return blocks

    def _publish(self, job: Job) -> None:
        full = job.known // self.block_size
        if full > job.published:
            self.calls.cache_full_blocks(job.sequence, job.table, job.published, full)
            self._cached.update(job.table[job.published : full])
            job.published = full

    def _release(self, job: Job) -> None:
        """The end first, so that the beginning of a prefix stays cached longest."""
        self.calls.free_blocks(job.table[::-1])
        del self.running[job]
        job.table, job.published = [], 0
