"""Calls and replies as JSON: one object a line, on a pipe and in a trace.

    {"op": "alloc", "count": 2}                      a call: the operation and its arguments
    {"ok": [1, 2]}                                   done, with the answer
    {"ok": [1, 2], "told": [[1, "reader"]]}          done, and a watcher was told during it
    {"refused": "not enough free blocks"}            a normal no
    {"fault": {"error": "KeyError", "message": ""}}  the pool failed

Whatever comes from outside is checked: a line that is not of this form is a FormatError that names line and field.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import msgspec

from blockpool.proofs.core.strict_json import FormatError, converted, shortened
from blockpool.spec.contract.calls import (
    OPERATIONS,
    AllCleared,
    BlockName,
    Call,
    Fault,
    Ok,
    PoolEvent,
    Refused,
    RemovedKeys,
    Reply,
    Started,
    StoredKeys,
    Value,
)

Blocks = tuple[BlockName, ...]
Told = tuple[tuple[BlockName, str], ...]

ANSWERS: dict[str, Any] = {
    "start": Started,
    "alloc": Blocks,
    "share": None,
    "free": None,
    "free_count": int,
    "publish": Blocks | None,
    "publish_partial": None,
    "lookup": Blocks | None,
    "unpublish": None,
    "move": None,
    "unpin": None,
    "cancel": bool,
    "writable": bool,
    "reset": bool,
    "events": tuple[dict[str, Any], ...],
}
"""The type of each operation's answer."""

EVENTS: dict[str, type[Any]] = {"stored": StoredKeys, "removed": RemovedKeys, "cleared": AllCleared}


def dump(document: Mapping[str, Any]) -> bytes:
    """One line, with its end."""
    return msgspec.json.encode(document) + b"\n"


def call_document(call: Call) -> dict[str, Any]:
    """The call as a JSON object; arguments with their default value are left out."""
    given = {f.name: getattr(call, f.name) for f in fields(call) if getattr(call, f.name) != f.default}
    return {"op": call.op, **given}


def read_call(document: Mapping[str, Any]) -> Call:
    """The call that the object says."""
    op = document.get("op")
    if not isinstance(op, str) or op not in OPERATIONS:
        raise FormatError(f"unknown operation {shortened(op)}; known are {', '.join(OPERATIONS)}", "op")
    arguments = {name: value for name, value in document.items() if name != "op"}
    call: Call = converted(arguments, OPERATIONS[op])
    return call


def reply_document(reply: Reply) -> dict[str, Any]:
    """The reply as a JSON object."""
    match reply:
        case Refused(reason):
            return {"refused": reason}
        case Fault(error, message):
            return {"fault": {"error": error, "message": message}}
        case Ok(value, told):
            document: dict[str, Any] = {"ok": _plain(value)}
            return document | {"told": [list(pair) for pair in told]} if told else document


def read_reply(op: str, document: Mapping[str, Any]) -> Reply:
    """The reply that the object says, to a call of operation `op`."""
    kinds = [kind for kind in ("ok", "refused", "fault") if kind in document]
    if len(kinds) != 1:
        raise FormatError(f"a reply has one of ok, refused and fault, not {kinds or list(document)}")
    (kind,) = kinds
    stray = document.keys() - {kind, *(["told"] if kind == "ok" else [])}
    if stray:
        raise FormatError(f"a reply {kind!r} has no field {min(stray)!r}", min(stray))
    if kind == "refused":
        return Refused(converted(document["refused"], str, "refused"))
    if kind == "fault":
        fault: Fault = converted(document["fault"], Fault, "fault")
        return fault
    told: Told = converted(document.get("told", ()), Told, "told")
    return Ok(_answer(op, document["ok"]), told)


def _answer(op: str, value: Any) -> Value:
    answer: Any = converted(value, ANSWERS[op], "ok")
    return tuple(map(_read_event, answer)) if op == "events" else answer


def _read_event(document: Mapping[str, Any]) -> PoolEvent:
    kind = document.get("type")
    if not isinstance(kind, str) or kind not in EVENTS:
        raise FormatError(f"unknown event {shortened(kind)}; known are {', '.join(EVENTS)}", "ok.type")
    event: PoolEvent = converted({k: v for k, v in document.items() if k != "type"}, EVENTS[kind], "ok")
    return event


def _plain(value: Value) -> Any:
    if isinstance(value, Started):
        return {f.name: getattr(value, f.name) for f in fields(value) if getattr(value, f.name) != f.default}
    if isinstance(value, tuple):
        return [_event_document(item) if isinstance(item, PoolEvent) else item for item in value]
    return value


def _event_document(event: PoolEvent) -> dict[str, Any]:
    name = next(name for name, kind in EVENTS.items() if kind is type(event))
    return {"type": name, **{f.name: getattr(event, f.name) for f in fields(event)}}
