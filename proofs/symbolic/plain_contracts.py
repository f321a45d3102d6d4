"""The contracts of `impl` without icontract's wrappers, which CrossHair's tracer makes forty times slower.

The conditions, snapshots and sentences are read off the decorated methods and evaluated by one short function. So
every contract is judged at every call, also where one method calls another; the sentence of a broken one is raised.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from icontract._checkers import find_checker

from blockpool.impl import BlockPool, contracts
from blockpool.impl.free_queue import FreeKVCacheBlockQueue

CLASSES: tuple[type, ...] = (BlockPool, FreeKVCacheBlockQueue)
"""The classes of `impl` that have contracts."""


class ContractBrokenError(Exception):
    """A contract does not hold; the message is its sentence."""


@dataclass(frozen=True)
class Condition:
    """A precondition, postcondition or snapshot: what to evaluate on which arguments, and its sentence or name."""

    evaluate: Callable[..., Any]
    arguments: tuple[str, ...]
    words: str

    def on(self, values: dict[str, Any]) -> Any:
        return self.evaluate(*[values[name] for name in self.arguments])


@dataclass(frozen=True)
class Contracts:
    """All contracts of one method, and the method without them."""

    bare: Callable[..., Any]
    before: tuple[Condition, ...]
    noted: tuple[Condition, ...]
    after: tuple[Condition, ...]


class Old:
    """What the snapshots noted."""

    def __init__(self, noted: dict[str, Any]) -> None:
        self.__dict__.update(noted)


def contracted(cls: type) -> Iterator[tuple[str, Contracts]]:
    """The methods of a class that have contracts. Level full is needed: import has decided what there is."""
    if not contracts.FULL:
        raise RuntimeError(f"contracts are {contracts.LEVEL}; set BLOCKPOOL_CONTRACTS=full")
    for name, method in inspect.getmembers(cls, inspect.isfunction):
        checker: Any = find_checker(method)
        if checker is not None:
            yield name, _read(method, checker)


@cache
def read_contracts() -> dict[str, Contracts]:
    """Those of all classes, by Class.method. Read before any of them is replaced."""
    return {f"{cls.__name__}.{name}": found for cls in CLASSES for name, found in contracted(cls)}


def _read(method: Callable[..., Any], checker: Any) -> Contracts:
    required = [contract for alternative in checker.__preconditions__ for contract in alternative]
    return Contracts(
        bare=inspect.unwrap(method),
        before=tuple(_condition(one.condition, one.description) for one in required),
        noted=tuple(_condition(one.capture, one.name) for one in checker.__postcondition_snapshots__),
        after=tuple(_condition(one.condition, one.description) for one in checker.__postconditions__),
    )


def _condition(evaluate: Callable[..., Any], words: str) -> Condition:
    return Condition(evaluate, tuple(inspect.signature(evaluate).parameters), words)


def judged(found: Contracts) -> Callable[..., Any]:
    """The bare method with its contracts evaluated around it."""
    parameters = inspect.signature(found.bare).parameters
    names = tuple(parameters)
    defaults = {name: one.default for name, one in parameters.items() if one.default is not inspect.Parameter.empty}

    def method(*given: Any, **named: Any) -> Any:
        values = {**defaults, **dict(zip(names, given, strict=False)), **named}
        _hold(found.before, values)
        old = Old({one.words: one.on(values) for one in found.noted})
        result = found.bare(*given, **named)
        _hold(found.after, {**values, "result": result, "OLD": old})
        return result

    return method


def _hold(conditions: tuple[Condition, ...], values: dict[str, Any]) -> None:
    for condition in conditions:
        if not condition.on(values):
            raise ContractBrokenError(condition.words)


def make_plain() -> None:
    """Replace the contracted methods of `impl` by their plain form, in this process."""
    found = read_contracts()
    for cls in CLASSES:
        for name in [name for name, _ in contracted(cls)]:
            setattr(cls, name, judged(found[f"{cls.__name__}.{name}"]))
