"""Calls and replies in few words, as an author would write them."""

from dataclasses import MISSING, fields
from typing import Any

from blockpool.spec.contract.calls import Call, Fault, Ok, Refused, Reply


def shown(call: Call) -> str:
    """The call, defaults left out: `publish([1, 2], keys=['a', 'b'], tokens=[1, 2])`."""
    arguments = []
    for place, argument in enumerate(fields(call)):
        value = getattr(call, argument.name)
        if argument.default is MISSING or value != argument.default:
            arguments.append(_value(value) if place == 0 else f"{argument.name}={_value(value)}")
    return f"{call.op}({', '.join(arguments)})"


def answered(reply: Reply) -> str:
    """What came of a call."""
    match reply:
        case Refused(reason):
            return f"was refused ({reason})" if reason else "was refused"
        case Fault(error, message):
            return f"failed with {error}: {message}" if message else f"failed with {error}"
        case Ok(value, told):
            tail = f", telling {_value(told)}" if told else ""
            return f"answered {_value(value)}{tail}"


LONGEST_NAME = 16
"""Keys are often digests; their beginning says enough."""


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str) and len(value) > LONGEST_NAME:
        return repr(value[:LONGEST_NAME] + "…")
    return repr(value)
