"""Recording: a trace of what a pool does, from a live pool or from any subject."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from blockpool.impl.pool import BlockPool
from blockpool.proofs.oracle.adapter import Subject
from blockpool.proofs.oracle.trace import TraceWriter
from blockpool.proofs.systems.vllm.instrument import Tap, operations_of
from blockpool.spec.contract.calls import Call, Reply


class Recording:
    """A trace in the making. `owner` is written into each line until it is changed: who makes the calls."""

    def __init__(self, writer: TraceWriter) -> None:
        self._writer = writer
        self.owner: str | None = None
        self.calls = 0

    def heard(self, call: Call, reply: Reply) -> None:
        """One call and its reply."""
        self._writer.write(call, reply, self.owner)
        self.calls += 1


@contextmanager
def record(pool: Any, path: str | Path, *, profile: str | None = None) -> Iterator[Recording]:
    """Write a trace of a live pool with vLLM's interface, while the context lasts.

        with record(pool, "pool.jsonl") as recording:
            recording.owner = "request 7"
            ...

    The pool must be new. Each call costs a few microseconds and a line of about 100 bytes. `profile` is what `blockpool
    audit` will judge by if it is not told otherwise; for a pool of `impl` it is `strict`.
    """
    if profile is None and isinstance(pool, BlockPool):
        profile = "strict"
    with Path(path).open("wb") as file:
        recording = Recording(TraceWriter(file, type(pool).__module__, operations_of(pool), profile))
        tap = Tap(pool, recording.heard)
        try:
            yield recording
        finally:
            tap.close()


class RecordedSubject:
    """Any subject, with a trace of what it is asked."""

    def __init__(self, subject: Subject, writer: TraceWriter) -> None:
        self.name, self.profile, self.operations = subject.name, subject.profile, subject.operations
        self._subject = subject
        self._writer = writer

    def ask(self, call: Call) -> Reply:
        """Pass it on."""
        reply = self._subject.ask(call)
        self._writer.write(call, reply)
        return reply

    def close(self) -> None:
        """The subject is no longer needed."""
        self._subject.close()
