"""What can be read off the source: the spec stands alone, its files are short, and so are all functions."""

import ast
import sys
from pathlib import Path

import pytest

from blockpool.proofs.core.sources import ROOT, tree_of

SPEC_FILES = sorted(path for path in (ROOT / "spec").rglob("*.py") if path.stat().st_size)
ALL_FILES = sorted(path for package in ("spec", "impl", "proofs") for path in (ROOT / package).rglob("*.py"))


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imported(path: Path) -> set[str]:
    """The top-level modules that a file imports, and the trees of this package, wherever in the file it does so."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {_top(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(_top(node.module or ""))
    return found


def _top(module: str) -> str:
    return tree_of(module) or module.partition(".")[0]


@pytest.mark.parametrize("path", SPEC_FILES, ids=named)
def test_the_spec_imports_the_standard_library_and_itself(path: Path) -> None:
    assert imported(path) <= {*sys.stdlib_module_names, "spec"}


@pytest.mark.parametrize("path", SPEC_FILES, ids=named)
def test_files_of_the_spec_are_short_and_say_what_they_are(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 250
    assert ast.get_docstring(ast.parse(text))


@pytest.mark.parametrize("path", ALL_FILES, ids=named)
def test_functions_are_short(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or 0) - node.lineno + 1
            assert length <= 40, f"{path.name}:{node.lineno} {node.name} has {length} lines"


def test_the_files_are_there() -> None:
    assert {"state.py", "allocation.py", "scenarios.py"} <= {path.name for path in SPEC_FILES}
    assert len(ALL_FILES) > 50
