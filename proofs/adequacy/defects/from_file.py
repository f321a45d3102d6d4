"""Defects from a file: a JSON object, name -> list of [module, old text, new text].

A module may be named as it was before the package was one (`impl.pool`): where its text has moved, the one module of
the tree that has it now is meant.
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from blockpool.proofs.adequacy.census import Place, places_in
from blockpool.proofs.core.edits import Defect, Edit
from blockpool.proofs.core.loader import OutdatedDefectError
from blockpool.proofs.core.sources import PACKAGE, ROOT, TREES, file_of


class DefectFileError(ValueError):
    """The file does not say what defects are to be tried; the message says where and what is wanted."""


def read_defects(file: Path) -> dict[str, list[tuple[str, str, str]]]:
    """The defects of the file by name. Raises DefectFileError and OSError."""
    try:
        written = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DefectFileError(f"{file} is not JSON: {error}") from error
    if not isinstance(written, dict):
        raise DefectFileError(f"{file} is no object: name -> list of [module, old text, new text]")
    return {name: [_edit(name, entry) for entry in _listed(name, edits)] for name, edits in written.items()}


def _listed(name: str, edits: object) -> list[object]:
    if not isinstance(edits, list) or not edits:
        raise DefectFileError(f"{name!r} has no list of [module, old text, new text]")
    return edits


def _edit(name: str, entry: object) -> tuple[str, str, str]:
    if not isinstance(entry, list) or len(entry) != 3 or not all(isinstance(part, str) for part in entry):
        raise DefectFileError(f"{name!r}: {entry!r:.80} is not [module, old text, new text]")
    module, old, new = entry
    return module, old, new


def fitted(name: str, edits: list[tuple[str, str, str]]) -> Defect:
    """The defect as the source is now. Raises OutdatedDefectError if a piece of text is not there, or not once."""
    return Defect(name, tuple(Edit(_home(name, module, old), old, new) for module, old, new in edits))


def _home(name: str, module: str, old: str) -> str:
    """The module that is meant: the one that is named if it has the text, else the only one that has."""
    module = module.removeprefix(f"{PACKAGE}.")
    tree = module.partition(".")[0]
    if tree not in TREES:
        raise OutdatedDefectError(f"{name}: {module} is of none of {', '.join(TREES)}")
    texts = _texts(tree)
    named = f"{PACKAGE}.{module}"
    homes = [named] if old in texts.get(named, "") else [one for one, text in texts.items() if old in text]
    if len(homes) != 1:
        raise OutdatedDefectError(f"{name}: {len(homes)} modules of {tree} read {old!r:.80}")
    return homes[0]


@cache
def _texts(tree: str) -> dict[str, str]:
    """The source of each module of a tree."""
    files = sorted((ROOT / tree).rglob("*.py"))
    names = [".".join((PACKAGE, *file.relative_to(ROOT).with_suffix("").parts)) for file in files]
    return {name.removesuffix(".__init__"): file.read_text("utf-8") for name, file in zip(names, files, strict=True)}


def places_with(defect: Defect) -> Iterator[Place]:
    """The places of the census in the modules that a defect changes, with the change."""
    for module in {edit.module for edit in defect.edits}:
        text = _texts(module.split(".")[1])[module]
        for edit in defect.edits:
            text = text.replace(edit.right, edit.wrong) if edit.module == module else text
        yield from places_in(text, file_of(module))
