"""Trace files: one JSON object a line, checked before anything runs."""

from collections.abc import Iterable
from os import PathLike, fspath
from typing import Annotated

from msgspec import Meta, Struct

from blockpool.proofs.core.strict_json import FormatError, converted, parse
from blockpool.proofs.replay.requests import TRACE_BLOCK, TraceRequest

Count = Annotated[int, Meta(ge=0)]


class TraceError(FormatError):
    """A line that is no request: in which file it is, where, and what is wrong with it."""

    def __init__(self, path: str, error: FormatError) -> None:
        super().__init__(error.words, error.field, error.line)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: {super().__str__()}"


class _Written(Struct):
    timestamp: Annotated[float, Meta(ge=0)]
    input_length: Annotated[int, Meta(ge=1)]  # an engine has nothing to do for an empty prompt
    output_length: Count
    hash_ids: tuple[Count, ...]


def requests_from_file(path: str | PathLike[str], limit: int | None = None) -> list[TraceRequest]:
    """All requests of the file, or the first `limit`. Blank lines are accepted at the end only.

    Raises: TraceError for the first malformed line, OSError if the file cannot be read.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"a limit of {limit} requests; at least 1 is needed")
    try:
        with open(path, "rb") as lines:
            return _requests(lines, limit)
    except FormatError as error:
        raise TraceError(fspath(path), error) from error


def _requests(lines: Iterable[bytes], limit: int | None) -> list[TraceRequest]:
    found: list[TraceRequest] = []
    blank = 0  # the first blank line of a run, 0 for none
    for number, line in enumerate(lines, start=1):
        if len(found) == limit:
            break
        if not line.strip():
            blank = blank or number
            continue
        if blank:
            raise FormatError("a blank line before other lines, where a request is needed", line=blank)
        try:
            found.append(_request(line))
        except FormatError as error:
            raise error.at_line(number) from error
    if not found:
        raise FormatError("at least one request is needed", line=1)
    return found


def _request(line: bytes) -> TraceRequest:
    try:
        document = parse(line)
    except FormatError as error:
        cut = ", where the file ends" if error.words.startswith("not JSON") and not line.endswith(b"\n") else ""
        raise FormatError(error.words + cut) from error
    written: _Written = converted(document, _Written)
    wanted = -(-written.input_length // TRACE_BLOCK)
    if len(written.hash_ids) != wanted:
        each = f"one for each {TRACE_BLOCK} of {written.input_length} tokens"
        raise FormatError(f"{wanted} are needed, {each}, not {len(written.hash_ids)}", "hash_ids")
    return TraceRequest(written.input_length, written.output_length, written.hash_ids, written.timestamp)
