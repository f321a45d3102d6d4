"""Trace files: one JSON object a line, checked before anything runs."""

import json
import math
from os import PathLike, fspath
from typing import Any

from blockpool.proofs.replay.trace import TRACE_BLOCK, TraceRequest

FIELDS = ("timestamp", "input_length", "output_length", "hash_ids")


class TraceError(ValueError):
    """A line that is no request: where it is, what was expected there, and what was found."""

    def __init__(self, path: str, line: int, expected: str, found: str) -> None:
        super().__init__(path, line, expected, found)
        self.path, self.line, self.expected, self.found = path, line, expected, found

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}: expected {self.expected}, found {self.found}"


class _Malformed(Exception):  # noqa: N818  (never seen outside: it becomes a TraceError)
    def __init__(self, expected: str, found: str) -> None:
        super().__init__(expected, found)
        self.expected, self.found = expected, found


def requests_from_file(path: str | PathLike[str], limit: int | None = None) -> list[TraceRequest]:
    """All requests of the file, or the first `limit`. Blank lines are accepted at the end only.

    Raises: TraceError for the first malformed line, OSError if the file cannot be read.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"a limit of {limit} requests; at least 1 is needed")
    name = fspath(path)
    found: list[TraceRequest] = []
    blank = 0  # the first blank line of a run, 0 for none
    with open(path, "rb") as lines:
        for number, line in enumerate(lines, start=1):
            if len(found) == limit:
                break
            if not line.strip():
                blank = blank or number
                continue
            if blank:
                raise TraceError(name, blank, "a request", "a blank line before other lines")
            try:
                found.append(_request(_object(line)))
            except _Malformed as error:
                raise TraceError(name, number, error.expected, error.found) from error
    if not found:
        raise TraceError(name, 1, "at least one request", "nothing")
    return found


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line.decode())
    except UnicodeDecodeError as error:
        where = f"byte 0x{line[error.start]:02x} at position {error.start + 1}"
        raise _Malformed("text in UTF-8", where) from error
    except (ValueError, RecursionError) as error:  # not only JSONDecodeError: an integer may have too many digits
        cut = "" if line.endswith(b"\n") else ", where the file ends"
        raise _Malformed("a JSON object", f"{_shown(line.decode().strip())} ({error}{cut})") from error
    if not isinstance(value, dict):
        raise _Malformed("a JSON object", _shown(value))
    return value


def _request(fields: dict[str, Any]) -> TraceRequest:
    for name in FIELDS:
        if name not in fields:
            raise _Malformed(f"the field {name}", f"only {', '.join(fields) or 'an empty object'}"[:200])
    input_length = _count(fields, "input_length", 1)  # an engine has nothing to do for an empty prompt
    return TraceRequest(
        input_length=input_length,
        output_length=_count(fields, "output_length", 0),
        hash_ids=_ids(fields["hash_ids"], -(-input_length // TRACE_BLOCK), input_length),
        timestamp=_time(fields["timestamp"]),
    )


def _count(fields: dict[str, Any], name: str, least: int) -> int:
    value = fields[name]
    if type(value) is not int or value < least:  # a bool is an int to Python, but not here
        raise _Malformed(f"{name} as an integer, at least {least}", _shown(value))
    return value


def _time(value: object) -> float:
    if type(value) not in (int, float) or not value >= 0 or value == math.inf:  # type: ignore[operator]
        raise _Malformed("timestamp as a number of milliseconds, at least 0", _shown(value))
    return value  # type: ignore[return-value]


def _ids(value: object, wanted: int, input_length: int) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise _Malformed("hash_ids as a list", _shown(value))
    for place, found in enumerate(value):
        if type(found) is not int or found < 0:
            raise _Malformed(f"hash_ids[{place}] as an integer, at least 0", _shown(found))
    if len(value) != wanted:
        each = f"one for each {TRACE_BLOCK} of {input_length} tokens"
        raise _Malformed(f"{wanted} hash_ids, {each}", f"{len(value)}")
    return tuple(value)


def _shown(value: object) -> str:
    """The value as JSON writes it, shortened; a huge integer has no text at all."""
    if isinstance(value, str) and len(value) > 60:
        value = value[:60] + ".."
    try:
        text = json.dumps(value, ensure_ascii=False)
    except ValueError:
        return "a huge number"
    return text if len(text) <= 80 else text[:78] + ".."
