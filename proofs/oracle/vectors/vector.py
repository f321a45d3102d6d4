"""Conformance vectors: short runs of calls with the replies that a profile allows, as files for any language.

The format is in docs/vectors.md. Blocks are symbols: an answer binds them, the calls after it use them.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from blockpool.proofs.core.strict_json import FormatError, converted, parse, shortened, within
from blockpool.proofs.oracle.wire import call_document, read_call
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


class VectorError(FormatError):
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
        return _vector(parse(path.read_bytes(), FORMAT))
    except FormatError as error:
        raise VectorError(f"{path}: {error}") from error


class _Written(Struct, forbid_unknown_fields=True):
    """A file."""

    format: str
    name: str
    about: str
    profile: str
    start: dict[str, Any]
    steps: list[Any]
    receipt: dict[str, Any]


class _WrittenStep(Struct, forbid_unknown_fields=True):
    call: dict[str, Any]
    expect: Any
    idle: bool = False


class _Allowed(Struct, forbid_unknown_fields=True):
    """One of the first three; nobody is told during a refusal."""

    ok: Any = UNSET
    any: Annotated[tuple[Answer, ...], Meta(min_length=1)] | UnsetType = UNSET
    refused: Annotated[tuple[str, ...], Meta(min_length=1)] | UnsetType = UNSET
    told: tuple[tuple[str, str], ...] | UnsetType = UNSET


def _vector(document: dict[str, Any]) -> Vector:
    written: _Written = converted(document, _Written)
    if written.profile not in PROFILES:
        raise FormatError(f"there is no profile {shortened(written.profile)}", "profile")
    with within("start"):
        start = _start(written.start)
    steps = tuple(_step(one, f"steps[{place}]") for place, one in enumerate(written.steps))
    for absent in (one.name for one in fields(Receipt) if one.name not in written.receipt):
        raise FormatError(f"missing required field `{absent}`", f"receipt.{absent}")
    receipt: Receipt = converted(written.receipt, Receipt, "receipt")
    return Vector(written.name, written.about, written.profile, start, steps, receipt)


def _start(document: dict[str, Any]) -> Start:
    start = read_call({**document, "op": "start"})
    assert isinstance(start, Start)
    for field in ("blocks", "groups"):
        if not 1 <= getattr(start, field) <= MOST:
            raise FormatError(f"from 1 to {MOST} is needed, not {getattr(start, field)}", field)
    return start


def _step(document: Any, place: str) -> Step:
    written: _WrittenStep = converted(document, _WrittenStep, place)
    with within(f"{place}.call"):
        call = read_call(written.call)
        if isinstance(call, Start):
            raise FormatError("a vector starts one pool, in field 'start'", "op")
    return Step(call, _expect(written.expect, f"{place}.expect"), written.idle)


def _expect(document: Any, place: str) -> Expect:
    allowed: _Allowed = converted(document, _Allowed, place)
    kinds = [kind for kind in ("ok", "any", "refused") if getattr(allowed, kind) is not UNSET]
    if len(kinds) != 1:
        raise FormatError(f"one of ok, any and refused is needed, not {kinds or list(document)}", place)
    if allowed.refused is not UNSET:
        if allowed.told is not UNSET:
            raise FormatError("unknown field; known with 'refused' are no others", f"{place}.told")
        return Expect(reasons=allowed.refused)
    answers = (allowed.ok,) if allowed.any is UNSET else allowed.any
    return Expect(answers, () if allowed.told is UNSET else allowed.told)
