"""One step of every contracted method from any small pool, with symbolic data, through CrossHair.

Importing CrossHair switches icontract off in the whole process, silently. Whoever imports anything of this package
keeps its contracts: they are switched off only while CrossHair is asked.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from icontract import _checkers

SWITCHED_OFF = ("_assert_invariant", "_assert_preconditions", "_assert_postconditions")
"""What CrossHair replaces in icontract by functions that do nothing."""


@contextmanager
def contracts_kept() -> Iterator[None]:
    """Afterwards icontract is as it was before."""
    before = {name: getattr(_checkers, name) for name in SWITCHED_OFF}
    try:
        yield
    finally:
        for name, function in before.items():
            setattr(_checkers, name, function)


@contextmanager
def contracts_off() -> Iterator[None]:
    """Inside, icontract checks nothing, as CrossHair needs it."""
    nothing: dict[str, Any] = {name: lambda *given, **named: None for name in SWITCHED_OFF}
    with patch.multiple(_checkers, **nothing):
        yield


with contracts_kept():
    import crosshair.core_and_libs  # noqa: F401
