"""A serving engine as far as its managers can see it: admission, decoding, preemption, release.

Time goes by in passes. In each, those that wait are admitted, in order, as far as there is room; then every request
that ran before gains 16 tokens of output, oldest first, so that the blocks of many requests mix; then all is computed,
and what is done is released. There is one pass for each request that arrives, and more for one that cannot start yet
because too many are running or too few blocks are free. If a running request needs a block and none is free, the
youngest other one is preempted, often in the pass that admitted it: it gives back its blocks and starts again, before
any new request, with the output it had.

A block that a pass fills is published when its request is next given blocks, mostly in the same pass: a coordinator
publishes when it schedules.

All of that depends on the requests alone, so the same requests make the same calls.
"""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count

from blockpool.proofs.refine.lockstep import MismatchError
from blockpool.proofs.replay.managed import Managed
from blockpool.proofs.replay.requests import Sequence, TraceRequest

ROUND = 16
"""Output tokens that each running request gains in a pass."""


@dataclass(slots=True)
class Tally:
    """What an engine counts."""

    finished: int = 0
    skipped_too_large: int = 0
    preemptions: int = 0
    prompt_tokens: int = 0  # of requests that were started; hits are counted at the first start only
    hit_tokens: int = 0


@dataclass(slots=True, eq=False)
class Job:
    """A request on its way. All counts are in tokens of the trace."""

    sequence: Sequence  # up to what is scheduled
    known: int  # tokens that exist already: the prompt, and then some output
    total: int  # tokens when it is done
    scheduled: int  # tokens after this pass
    started: bool = False


class Engine:
    """Drives managers through requests; calls `on_done` whenever one is finished or skipped.

    Raises MismatchError if managers or pool fail a call, or have lost blocks so that a request that fits cannot go on.
    """

    def __init__(self, managed: Managed, block_size: int, concurrency: int, on_done: Callable[[], None]) -> None:
        self.managed, self.block_size, self.concurrency = managed, block_size, concurrency
        self._on_done = on_done
        self.tally = Tally()
        self.running: dict[Job, None] = {}  # oldest first
        self.waiting: deque[Job] = deque()  # the next to start first: preempted ones, then new ones
        self._no_room = False  # for the next to start, as long as nothing is released
        self._private = count(-1, -1)  # tokens that no two requests share; those of a trace are not negative

    def serve(self, requests: Iterable[TraceRequest]) -> None:
        """Run all of them to the end."""
        blocks = self.managed.pool.num_gpu_blocks - 1
        for number, request in enumerate(requests):
            if self._blocks_for(request.computed_length) > blocks:
                self.tally.skipped_too_large += 1
                self._on_done()
                continue
            self.waiting.append(self._job(str(number), request))
            self._pass()
            while self.waiting:
                self._pass()
        while self.running or self.waiting:
            self._pass()

    def _job(self, name: str, request: TraceRequest) -> Job:
        sequence = Sequence(name, request.full_blocks(self.block_size), self._private)
        job = Job(sequence, request.input_length, request.computed_length, request.input_length)
        self._reach(job, job.known)
        return job

    def _pass(self) -> None:
        before = list(self.running)
        self._start_waiting()
        for job in before:
            if job in self.running:  # not preempted by an earlier one
                self._decode(job)
        self.managed.run_pass()
        for job in list(self.running):
            job.known = job.scheduled
            if job.known == job.total:
                self._finish(job)
        self.managed.pool.take_events()

    # --- starting ---

    def _start_waiting(self) -> None:
        while self.waiting and not self._no_room and len(self.running) < self.concurrency:
            job = self.waiting[0]
            if not self.managed.admit(job.sequence):
                self._no_room = True
                break
            self._start(self.waiting.popleft())
        if self.waiting and not self.running:
            needed = self._blocks_for(self.waiting[0].known)
            raise MismatchError(f"nothing runs, yet there is no room for {needed} blocks")

    def _start(self, job: Job) -> None:
        self.running[job] = None
        if not job.started:
            job.started = True
            self.tally.prompt_tokens += job.known
            self.tally.hit_tokens += self.managed.hit(job.sequence) * self.block_size

    # --- decoding ---

    def _decode(self, job: Job) -> None:
        """Some more tokens, and room for them."""
        before = self._blocks_for(job.known)
        self._reach(job, min(job.total, job.known + ROUND))
        if self._blocks_for(job.scheduled) > before:
            while not self.managed.grow(job.sequence):
                self._preempt_youngest_but(job)

    def _preempt_youngest_but(self, job: Job) -> None:
        youngest = next((other for other in reversed(self.running) if other is not job), None)
        if youngest is None:
            raise MismatchError(f"nothing else runs, yet there is no block to add to {self._blocks_for(job.known)}")
        self.managed.preempt(youngest.sequence)
        self._release(youngest)
        self._reach(youngest, youngest.known)  # what this pass would have added to it is not computed
        self.waiting.appendleft(youngest)
        self.tally.preemptions += 1

    # --- both ---

    def _finish(self, job: Job) -> None:
        self.managed.finish(job.sequence)
        self._release(job)
        self.tally.finished += 1
        self._on_done()

    def _release(self, job: Job) -> None:
        del self.running[job]
        self._no_room = False

    def _reach(self, job: Job, tokens: int) -> None:
        job.scheduled = tokens
        job.sequence.reach(self._blocks_for(tokens), tokens // self.block_size)

    def _blocks_for(self, tokens: int) -> int:
        return -(-tokens // self.block_size)
