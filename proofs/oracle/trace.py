"""Traces: calls and their replies, one JSON object a line.

    {"format": "blockpool-trace/1", "name": "my pool 1.2", "operations": ["start", "alloc", ...], "profile": "lru"}
    {"call": {"op": "start", "blocks": 7}, "reply": {"ok": {"capacity": 7}}}
    {"call": {"op": "alloc", "count": 2}, "reply": {"ok": [1, 2]}, "owner": "request 7"}

The first line says who was recorded; `start` begins a new pool. `owner`, if there, is who made the call. Calls and
replies are those of `wire.py`; the format in full: docs/traces.md.
"""

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

import msgspec

from blockpool.proofs.core.strict_json import FormatError, converted, parse, within
from blockpool.proofs.oracle.wire import call_document, dump, read_call, read_reply, reply_document
from blockpool.spec.contract.calls import Call, Reply

FORMAT = "blockpool-trace/1"


class Header(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """The first line: who was recorded."""

    format: str
    name: str
    operations: tuple[str, ...]
    profile: str | None = None


class Entry(NamedTuple):
    """One line: a call and what came of it."""

    line: int
    call: Call
    reply: Reply
    owner: str | None = None


class _Written(msgspec.Struct, forbid_unknown_fields=True):
    """The same, as it is written."""

    call: dict[str, Any]
    reply: dict[str, Any]
    owner: str | None = None


class CutOffError(FormatError):
    """The last line has no end: whoever wrote it was stopped in the middle."""


class TraceWriter:
    """Writes a trace to a file opened for bytes. Lines appear in the file when it is flushed."""

    def __init__(self, file: BinaryIO, name: str, operations: Iterable[str], profile: str | None = None) -> None:
        self.file = file
        header = Header(FORMAT, name, tuple(sorted(operations)), profile)
        file.write(msgspec.json.encode(header) + b"\n")

    def write(self, call: Call, reply: Reply, owner: str | None = None) -> None:
        """One more line."""
        line: dict[str, Any] = {"call": call_document(call), "reply": reply_document(reply)}
        self.file.write(dump(line | {"owner": owner} if owner is not None else line))


def read_trace(lines: Iterable[bytes]) -> tuple[Header, Iterator[Entry]]:
    """The header at once, the entries as they are asked for. Raises FormatError, naming line and field."""
    numbered = iter(enumerate(lines, 1))
    try:
        _, first = next(numbered)
    except StopIteration:
        raise FormatError("the trace is empty; its first line says its format", line=1) from None
    return _header(first), _entries(numbered)


def _header(line: bytes) -> Header:
    try:
        header: Header = converted(parse(_whole(line), FORMAT), Header)
    except FormatError as error:
        raise error.at_line(1) from error
    return header


def _entries(numbered: Iterable[tuple[int, bytes]]) -> Iterator[Entry]:
    for number, line in numbered:
        try:
            yield _entry(number, parse(_whole(line)))
        except FormatError as error:
            raise error.at_line(number) from error


def _entry(number: int, document: dict[str, Any]) -> Entry:
    written: _Written = converted(document, _Written)
    with within("call"):
        call = read_call(written.call)
    with within("reply"):
        return Entry(number, call, read_reply(call.op, written.reply), written.owner)


def _whole(line: bytes) -> bytes:
    if not line.endswith(b"\n"):
        raise CutOffError("the line is cut off: it has no end")
    return line
