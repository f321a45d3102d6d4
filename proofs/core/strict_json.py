"""JSON from outside, read strictly: what is not of the form it should have is an error that says where and what."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import Any

import msgspec

_MISSING = re.compile(r"object missing required field `(.*)`")


class FormatError(ValueError):
    """Input that is not of the form it should have: which line, which field, and what is wrong with it."""

    def __init__(self, words: str, field: str = "", line: int | None = None) -> None:
        self.words, self.field, self.line = words, field, line
        place = [f"line {line}"] * (line is not None) + [f"field {field!r}"] * bool(field)
        super().__init__(": ".join([", ".join(place), words]) if place else words)

    def at_line(self, line: int) -> "FormatError":
        """The same, known to be on this line."""
        return type(self)(self.words, self.field, line)


@contextmanager
def within(place: str) -> Iterator[None]:
    """Read a part; what is wrong in it is told with its place in the whole."""
    try:
        yield
    except FormatError as error:
        raise FormatError(error.words, _joined(place, error.field)) from error


def decoded(line: str | bytes) -> Any:
    """What the JSON says, of any form."""
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"not JSON: {error}: {shortened(line)}") from error


def parse(line: str | bytes, form: str | None = None) -> dict[str, Any]:
    """One line or file as a JSON object; of this format, if one is named."""
    found = decoded(line)
    if not isinstance(found, dict):
        raise FormatError(f"an object is needed, not {shortened(found)}")
    if form is not None and found.get("format") != form:
        raise FormatError(f"this is read: {form!r}, not {shortened(found.get('format'))}", "format")
    return found


def converted(value: Any, kind: Any, where: str = "") -> Any:
    """The value as this type, strictly: no string is a number, no field is missing or, if the type says so, unknown."""
    known = _known(kind)
    if known and isinstance(value, Mapping) and (unknown := value.keys() - set(known)):
        field = min(unknown, key=str)
        raise FormatError(f"unknown field; known are: {', '.join(known)}", _joined(where, str(field)))
    try:
        return msgspec.convert(value, kind, strict=True)
    except msgspec.ValidationError as error:
        words, _, path = str(error).partition(" - at ")
        words, inner = words[0].lower() + words[1:], path.strip("`").removeprefix("$").removeprefix(".")
        if missing := _MISSING.fullmatch(words):
            raise FormatError(f"missing required field `{missing[1]}`", _joined(where, inner, missing[1])) from error
        raise FormatError(words + _given(value, inner), _joined(where, inner)) from error


def shortened(value: object) -> str:
    """A value from outside, for a message."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _known(kind: Any) -> tuple[str, ...]:
    """The fields of a type that allows no others."""
    if is_dataclass(kind):
        return tuple(field.name for field in fields(kind)) or ("none",)
    config = getattr(kind, "__struct_config__", None)
    return kind.__struct_fields__ if config is not None and config.forbid_unknown_fields else ()


def _given(value: Any, path: str) -> str:
    if "[...]" in path:
        return ""  # in a map, and it is not said under which name
    for name, place in re.findall(r"([^.\[\]]+)(?![^\[]*\])|\[(\d+)\]", path):
        value = value[int(place)] if place else value[name]
    return f": {shortened(value)}"


def _joined(*path: str) -> str:
    """The path to a field; an index follows without a dot."""
    return ".".join(filter(None, path)).replace(".[", "[")
