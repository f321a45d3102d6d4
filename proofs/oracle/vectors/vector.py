"""Conformance vectors: short runs of calls with the replies that a profile allows, as files for any language.

The format is in docs/vectors.md. Blocks are symbols: an answer binds them, the calls after it use them.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from blockpool.proofs.oracle.wire import FormatError, call_document, parse, read_call, shortened
from blockpool.spec.contract.calls import BlockName, Call, Start
from blockpool.spec.contract.profiles import PROFILES

FORMAT = "blockpool-vectors/1"

NULL, FOREIGN, NEGATIVE = "null", "foreign", "negative"
"""The symbols of the reserved block, of a block that is not of this pool, and of a number below all blocks."""

MOST = 1000
"""Blocks of a pool, and groups."""

Answer = Any
"""What a pool may answer, as JSON: a number, a truth value, symbols of blocks, events, or null."""


@dataclass(frozen=True, slots=True)
class Expect:
    """What the profile allows: one of these answers, or a refusal for one of these reasons."""

    answers: tuple[Answer, ...] = ()
    told: tuple[tuple[BlockName, str], ...] = ()
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """A call, its blocks named by symbols."""

    call: Call
    expect: Expect
    idle: bool = False  # changes nothing, so that it can be left out


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a vector is good for; each a sorted list of names."""

    operations: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()  # operation and reason
    laws: tuple[str, ...] = ()  # that its answers could break
    possibilities: tuple[str, ...] = ()  # of the spec
    defects: tuple[str, ...] = ()  # seeded ones that it catches


@dataclass(frozen=True, slots=True)
class Vector:
    """One run of one pool."""

    name: str
    about: str
    profile: str
    start: Start
    steps: tuple[Step, ...]
    receipt: Receipt


class VectorError(ValueError):
    """A file that is no vector: which file, which field, and what is wrong with it."""


# --- writing ---


def write_all(vectors: Iterable[Vector], folder: Path) -> list[Path]:
    """Write each into a file of its name."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for vector in vectors:
        path = folder / f"{vector.name}.json"
        path.write_text(text_of(vector), encoding="utf-8")
        written.append(path)
    return written


def text_of(vector: Vector) -> str:
    """The file: a line for each step, so that a person can read it."""
    head = {"format": FORMAT, "name": vector.name, "about": vector.about, "profile": vector.profile}
    start = {key: value for key, value in call_document(vector.start).items() if key != "op"}
    steps = ",\n".join(f"  {json.dumps(_step_document(step))}" for step in vector.steps)
    receipt = ",\n".join(
        f'  "{one.name}": {json.dumps(list(getattr(vector.receipt, one.name)))}' for one in fields(Receipt)
    )
    lines = [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in (*head.items(), ("start", start))]
    return "\n".join(["{", *lines, ' "steps": [', steps, " ],", ' "receipt": {', receipt, " }", "}", ""])


def _step_document(step: Step) -> dict[str, Any]:
    expect = step.expect
    if expect.reasons:
        allowed: dict[str, Any] = {"refused": list(expect.reasons)}
    elif len(expect.answers) == 1:
        allowed = {"ok": expect.answers[0]}
    else:
        allowed = {"any": list(expect.answers)}
    if expect.told:
        allowed["told"] = [list(pair) for pair in expect.told]
    return {"call": call_document(step.call), "expect": allowed, **({"idle": True} if step.idle else {})}


# --- reading ---


def read_all(folder: Path) -> list[Vector]:
    """Every vector of a folder, by file name. Raises VectorError for a file that is none, or if there is none."""
    if not folder.is_dir():
        raise VectorError(f"there is no folder {folder}")
    found = [read(path) for path in sorted(folder.glob("*.json"))]
    if not found:
        raise VectorError(f"there are no vectors (*.json) in {folder}")
    return found


def read(path: Path) -> Vector:
    """The vector in a file. Raises VectorError."""
    try:
        return _vector(parse(path.read_bytes()))
    except FormatError as error:
        raise VectorError(f"{path}: {error}") from error


def _vector(document: dict[str, Any]) -> Vector:
    if document.get("format") != FORMAT:
        raise FormatError(f"{shortened(document.get('format'))} is not {FORMAT!r}", "format")
    known = {"format", "name", "about", "profile", "start", "steps", "receipt"}
    _only(document, known)
    name, about, profile = (_of(document, field, str) for field in ("name", "about", "profile"))
    if profile not in PROFILES:
        raise FormatError(f"there is no profile {shortened(profile)}", "profile")
    start = _placed("start", _start, _of(document, "start", dict))
    steps = tuple(_placed(f"steps[{n}]", _step, one) for n, one in enumerate(_of(document, "steps", list)))
    receipt = _placed("receipt", _receipt, _of(document, "receipt", dict))
    return Vector(name, about, profile, start, steps, receipt)


def _start(document: dict[str, Any]) -> Start:
    start = read_call({**document, "op": "start"})
    assert isinstance(start, Start)
    for field in ("blocks", "groups"):
        if not 1 <= getattr(start, field) <= MOST:
            raise FormatError(f"from 1 to {MOST} is needed, not {getattr(start, field)}", field)
    return start


def _step(document: Any) -> Step:
    if not isinstance(document, dict):
        raise FormatError(f"a step is an object, not {shortened(document)}")
    _only(document, {"call", "expect", "idle"})
    call = _placed("call", read_call, _of(document, "call", dict))
    if isinstance(call, Start):
        raise FormatError("a vector starts one pool, in field 'start'", "call.op")
    idle = _of(document, "idle", bool) if "idle" in document else False
    return Step(call, _placed("expect", _expect, _of(document, "expect", dict)), idle)


def _expect(document: dict[str, Any]) -> Expect:
    kinds = [kind for kind in ("ok", "any", "refused") if kind in document]
    if len(kinds) != 1:
        raise FormatError(f"one of ok, any and refused is needed, not {kinds or list(document)}")
    (kind,) = kinds
    _only(document, {kind} if kind == "refused" else {kind, "told"})
    if kind == "refused":
        return Expect(reasons=_strings(document, "refused", least=1))
    answers = (document["ok"],) if kind == "ok" else tuple(_of(document, "any", list))
    if not answers:
        raise FormatError("at least one answer is needed", "any")
    told = document.get("told", [])
    if not isinstance(told, list) or not all(_is_pair(pair) for pair in told):
        raise FormatError(f"pairs of block and watcher are needed, not {shortened(told)}", "told")
    return Expect(answers, tuple((block, watcher) for block, watcher in told))


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(isinstance(one, str) for one in pair)


def _receipt(document: dict[str, Any]) -> Receipt:
    names = [field.name for field in fields(Receipt)]
    _only(document, set(names))
    return Receipt(**{name: _strings(document, name) for name in names})


def _strings(document: dict[str, Any], field: str, least: int = 0) -> tuple[str, ...]:
    found = _of(document, field, list)
    if len(found) < least or not all(isinstance(one, str) for one in found):
        raise FormatError(f"a list of strings is needed, not {shortened(found)}", field)
    return tuple(found)


def _of(document: dict[str, Any], field: str, kind: type[Any]) -> Any:
    if field not in document:
        raise FormatError("the field is missing", field)
    if type(document[field]) is not kind:
        names = {str: "a string", list: "a list", dict: "an object", bool: "true or false"}
        raise FormatError(f"{names[kind]} is needed, not {shortened(document[field])}", field)
    return document[field]


def _only(document: dict[str, Any], known: set[str]) -> None:
    stray = sorted(document.keys() - known)
    if stray:
        raise FormatError(f"unknown field; known are {', '.join(sorted(known))}", stray[0])


def _placed(place: str, reader: Any, document: Any) -> Any:
    """Read a part; what is wrong in it is told with its place in the whole."""
    try:
        return reader(document)
    except FormatError as error:
        raise FormatError(error.words, f"{place}.{error.field}" if error.field else place) from error
