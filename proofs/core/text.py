"""Values of the spec in few words, for people: traces, differences and counterexamples are read, not parsed."""

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from blockpool.spec import Cleared, Event, Key, Pool, Prefix, Primary, Removed, Running, Stored, Transfer


def show(value: Any) -> str:
    """A value of the spec as a reader would write it."""
    match value:
        case Key(prefix, group):
            return show(prefix) + (f"g{group}" if group else "")
        case Primary(key, tokens):
            return show(key) + (f" covering {tokens}" if tokens != key.tokens else "")
        case Prefix(tokens, extras):
            tail = "".join(f" {extra.kind}={extra.value}@{extra.at}" for extra in extras)
            return "<" + " ".join(map(str, tokens)) + tail + ">"
        case Stored() | Removed() | Cleared():
            return _event(value)
        case Running():
            state = f"computed {value.computed}, scheduled {value.scheduled}"
            return f"tables {show(value.tables)}, {state}"
        case Transfer(block, _, pinned):
            return f"block {block} {'pinned' if pinned else 'watched'}"
        case frozenset():
            return "{" + ", ".join(show(item) for item in sorted(value)) + "}"
        case tuple() if hasattr(value, "_fields"):
            named = zip(value._fields, value, strict=True)
            return ", ".join(f"{name}={show(item)}" for name, item in named if item != frozenset())
        case tuple() | list():
            return "[" + ", ".join(map(show, value)) + "]"
        case Mapping():
            return "{" + ", ".join(f"{show(key)}: {show(item)}" for key, item in value.items()) + "}"
        case _:
            return str(value)


def _event(event: Event) -> str:
    match event:
        case Stored(keys, parent, _, _):
            return f"stored {', '.join(map(show, keys))}" + (f" after {show(parent)}" if parent else "")
        case Removed(key):
            return f"removed {show(key)}"
        case _:
            return "cleared"


def call(action: Any) -> str:
    """The action as the call a reader would make, defaults left out."""
    shown: list[str] = []
    if is_dataclass(action):
        for place, argument in enumerate(fields(action)):
            value = getattr(action, argument.name)
            if argument.default is MISSING or value != argument.default:
                shown.append(show(value) if place == 0 else f"{argument.name}={show(value)}")
    return f"{action.name}({', '.join(shown)})"


def changes(before: Any, after: Any) -> list[str]:
    """The state variables that differ, as `name  before -> after`; of maps only the entries that differ."""
    found = []
    for name in (variable.name for variable in fields(before)):
        old, new = getattr(before, name), getattr(after, name)
        if old == new or name == "used":
            continue
        if isinstance(old, Pool):
            found += changes(old, new)
        elif isinstance(old, Mapping):
            entries = [
                f"{show(key)}: {show(old.get(key, '-'))} -> {show(new.get(key, '-'))}"
                for key in dict.fromkeys([*old, *new])
                if old.get(key) != new.get(key)
            ]
            found.append(f"{name}  {'; '.join(entries)}")
        else:
            found.append(f"{name}  {show(old)} -> {show(new)}")
    return found
