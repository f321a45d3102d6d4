"""A pool at the other end of a pipe: any language that can read and write lines.

The oracle starts the command, writes one call a line to its standard input and reads one reply a line from its standard
output, in turn. The first call is `{"op": "hello", "protocol": "blockpool-pipe/1"}`; the answer is

    {"ok": {"name": "my pool 1.2", "operations": ["start", "alloc", ...], "profile": "lru"}}

`start` makes a new pool and may come at any time. Standard error passes through to the terminal. A subject that exits,
says nothing for `timeout` seconds, or answers what is not a reply has failed: that is a Fault, and the next `start`
runs the command anew. The protocol in full: docs/pipe.md.
"""

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from select import select
from time import monotonic
from typing import Any

import msgspec

from blockpool.proofs.core.strict_json import FormatError, converted, parse, shortened
from blockpool.proofs.oracle.wire import call_document, dump, read_reply
from blockpool.spec.contract.calls import CORE, OPERATIONS, Call, Fault, Reply, Start
from blockpool.spec.contract.profiles import Profile

PROTOCOL = "blockpool-pipe/1"
LONGEST = 10_000_000
"""Bytes of one reply; more is not a reply but a flood."""


class Hello(msgspec.Struct, forbid_unknown_fields=True):
    """What a subject says of itself."""

    name: str
    operations: tuple[str, ...]
    profile: str = "safety"


class SubjectFailedError(Exception):
    """The process does not answer as a subject should."""


class PipeSubject:
    """A subject in a process of its own."""

    def __init__(self, command: Sequence[str], timeout: float = 10.0) -> None:
        """Start the command and greet it. Raises SubjectFailedError if it does not answer the greeting rightly."""
        self.command = list(command)
        self.timeout = timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._received = b""
        hello = self._greet()
        self.name, self.operations = hello.name, frozenset(hello.operations)
        self.profile: str | Profile = hello.profile

    def ask(self, call: Call) -> Reply:
        """One call and its reply; whatever the process does wrong is a Fault."""
        try:
            if self._process is None:
                if not isinstance(call, Start):
                    return Fault("SubjectFailed", "the process is gone since an earlier call")
                self._greet()
            return read_reply(call.op, self._exchange(call_document(call)))
        except FormatError as error:
            self.close()
            return Fault("NoReply", f"the answer to {call.op} is not a reply: {error}")
        except SubjectFailedError as error:
            self.close()
            return Fault("SubjectFailed", str(error))

    def close(self) -> None:
        """End the process, and what it started."""
        process, self._process, self._received = self._process, None, b""
        if process is None:
            return
        with suppress(ProcessLookupError):  # it may have ended by itself
            os.killpg(process.pid, signal.SIGKILL)  # it leads a group of its own, see _run
        process.wait()
        for stream in filter(None, (process.stdin, process.stdout)):
            stream.close()

    def _greet(self) -> Hello:
        self._run()
        try:
            answer = self._exchange({"op": "hello", "protocol": PROTOCOL})
            if "ok" not in answer:
                raise SubjectFailedError(f"hello was answered with {shortened(answer)}")
            hello: Hello = converted(answer["ok"], Hello, "ok")
            _check_operations(hello.operations)
        except FormatError as error:
            self.close()
            raise SubjectFailedError(f"the answer to hello is not one: {error}") from error
        except SubjectFailedError:
            self.close()
            raise
        return hello

    def _run(self) -> None:
        try:
            self._process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=True
            )
        except OSError as error:
            raise SubjectFailedError(f"{self.command[0]} cannot be run: {error}") from error
        assert self._process.stdin is not None
        os.set_blocking(self._process.stdin.fileno(), False)

    def _exchange(self, document: dict[str, Any]) -> dict[str, Any]:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        deadline = monotonic() + self.timeout
        if self._received or select([process.stdout], [], [], 0)[0]:
            raise SubjectFailedError(
                self._ended() if process.poll() is not None else "it answers more than it is asked"
            )
        self._send(process.stdin.fileno(), dump(document), deadline)
        return parse(self._line(process.stdout.fileno(), deadline))

    def _send(self, pipe: int, line: bytes, deadline: float) -> None:
        """Write all of it; a subject that does not read must not hold us up for ever."""
        while line:
            self._wait([], [pipe], deadline)
            try:
                line = line[os.write(pipe, line) :]
            except BrokenPipeError:
                raise SubjectFailedError(self._ended()) from None

    def _line(self, pipe: int, deadline: float) -> bytes:
        """The next line of the process."""
        while b"\n" not in self._received:
            if len(self._received) > LONGEST:
                raise SubjectFailedError(f"more than {LONGEST:,} bytes without the end of a line")
            self._wait([pipe], [], deadline)
            piece = os.read(pipe, 65536)
            if not piece:
                raise SubjectFailedError(self._ended())
            self._received += piece
        line, _, self._received = self._received.partition(b"\n")
        if self._received:
            raise SubjectFailedError(f"it answers more than it is asked: {shortened(self._received)}")
        return line

    def _wait(self, readable: list[int], writable: list[int], deadline: float) -> None:
        if not any(select(readable, writable, [], max(0.0, deadline - monotonic()))):
            raise SubjectFailedError(f"no answer within {self.timeout:g} s")

    def _ended(self) -> str:
        process = self._process
        assert process is not None
        try:
            code = process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            return "the process closed its output"
        return f"the process ended by signal {-code}" if code < 0 else f"the process ended with exit code {code}"


def _check_operations(operations: Sequence[str]) -> None:
    unknown = sorted(set(operations) - OPERATIONS.keys())
    missing = sorted(CORE - {"share"} - set(operations))
    if unknown or missing:
        what = f"unknown operations {', '.join(unknown)}" if unknown else f"no operation {', '.join(missing)}"
        raise SubjectFailedError(f"hello names {what}; known are {', '.join(OPERATIONS)}")
