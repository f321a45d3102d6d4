"""Mutants: which there are, how they are named, and putting one into a process that runs already."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from blockpool.proofs.adequacy.mutation.hot_swap import NotSwappableError, Swapper
from blockpool.proofs.adequacy.mutation.mutants import Mutant, mutants_of, source_of
from blockpool.proofs.adequacy.mutation.targets import area_of, modules_of
from blockpool.proofs.core.loader import install

MODULE = "tree_to_be_mutated"
SOURCE = '''"""A module."""
import os
from typing import TYPE_CHECKING, NewType

if TYPE_CHECKING:
    from os import PathLike

Name = NewType("Name", str)
Pair = tuple[int, str]
__all__ = ["Name"]
LIMIT = 3
TEXT = "a message"


class Box:
    """A box."""

    law = "boxes are square"

    def __repr__(self) -> str:
        return f"Box({1 + 1})"

    def area(self, side: int) -> int:
        """Of a square."""
        if side < 0:
            raise ValueError("negative", side + 1)
        return side * side

    def twice(self, side: int = 1) -> int:
        def inner(number: int) -> int:
            return number + number

        return inner(side)


def sizes(things: list[str]) -> list[int]:
    return [len(thing) for thing in things if isinstance(thing, str)]
'''


def changes(source: str) -> list[tuple[str | None, str, str]]:
    return [(one.function, one.before, one.after) for one in mutants_of(MODULE, source)]


def test_every_mutant_of_a_small_module() -> None:
    assert changes(SOURCE) == [
        (None, "LIMIT = 3", "LIMIT = None"),
        (None, "LIMIT = 3", "LIMIT = 4"),
        ("Box.area", "if side < 0:", "if side <= 0:"),
        ("Box.area", "if side < 0:", "if side < 1:"),
        ("Box.area", "return side * side", "return side / side"),
        ("Box.twice", "def twice(self, side: int = 1) -> int:", "def twice(self, side: int = 2) -> int:"),
        ("Box.twice", "return number + number", "return number - number"),
        ("Box.twice", "return inner(side)", "return inner(None)"),
    ]


@pytest.mark.parametrize(
    ("line", "mutated"),
    [
        ("return a is None", "return a is not None"),
        ("return f(a, b)", "return f(a, )"),
        ("return a if b else c", "return a if (b) and False else c"),
        ("a += b", "a -= b"),
        ("return not a", "return a"),
        ("return a and b", "return a or b"),
        ("return a in b", "return a not in b"),
        ("return g(key=lambda x: x)", "return g(key=lambda x: None)"),
    ],
)
def test_operators(line: str, mutated: str) -> None:
    assert ("f", line, mutated) in changes(f"def f(a, b, c):\n    {line}\n")


def test_mutants_differ_from_the_original_and_from_each_other() -> None:
    for module in ("blockpool.impl.free_queue", "blockpool.spec.pool.allocation"):
        found = mutants_of(module)
        assert len({mutant.key for mutant in found}) == len(found) > 100
        assert len({mutant.name for mutant in found}) == len(found)
        assert source_of(module) not in {mutant.source for mutant in found}
        for mutant in found:
            compile(mutant.source, module, "exec")


def test_equal_changes_of_equal_lines_are_numbered() -> None:
    first, second = mutants_of(MODULE, "def f(a):\n    a.b()\n    return a is a\n\n\ndef g(a):\n    return a is a\n")
    assert (first.function, second.function) == ("f", "g")
    names = [one.name for one in mutants_of(MODULE, "def f(a):\n    a = a is a\n    a = a is a\n    return a\n")]
    assert f"{MODULE}:f: a = a is a -> a = a is not a" in names
    assert f"{MODULE}:f: a = a is a -> a = a is not a #2" in names


def test_every_module_with_behaviour_has_an_area() -> None:
    assert area_of("blockpool.impl.pool") == "pool"
    assert area_of("blockpool.impl.contracts") == "contracts"
    assert area_of("blockpool.impl.managers.window") == "managers"
    assert area_of("blockpool.spec.pool.allocation") == "machine"
    assert area_of("blockpool.spec.requests.block_tables") == "requests"
    assert area_of("blockpool.spec.claims.invariants") is None
    assert {"blockpool.impl.pool", "blockpool.impl.managers.state"} <= set(modules_of("impl"))
    assert {"blockpool.spec.pool.publishing", "blockpool.spec.requests.pool_calls"} <= set(modules_of("spec"))


# --- into the process ---


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The small module, imported."""
    path = tmp_path / f"{MODULE}.py"
    path.write_text(SOURCE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    yield importlib.import_module(MODULE)
    sys.modules.pop(MODULE, None)


def mutant(change: str) -> Mutant:
    [found] = [one for one in mutants_of(MODULE, SOURCE) if one.after == change]
    return found


def test_swapping_changes_what_runs_everywhere(module: Any) -> None:
    area, box = module.Box.area, module.Box()
    Swapper(MODULE).swap(mutant("return side / side"))
    assert area(box, 5) == box.area(5) == 1
    assert box.twice(5) == 10


def test_swapping_reaches_inner_functions(module: Any) -> None:
    Swapper(MODULE).swap(mutant("return number - number"))
    assert module.Box().twice(5) == 0


def test_what_is_in_no_function_cannot_be_swapped(module: ModuleType) -> None:
    for change in ("LIMIT = 4", "def twice(self, side: int = 2) -> int:"):
        with pytest.raises(NotSwappableError):
            Swapper(MODULE).swap(mutant(change))
    assert module.LIMIT == 3


def test_the_loader_puts_a_mutant_in_at_import(module: ModuleType) -> None:
    sys.modules.pop(MODULE)
    install(mutant("LIMIT = 4").as_defect())
    assert importlib.import_module(MODULE).LIMIT == 4
    assert module.LIMIT == 3
