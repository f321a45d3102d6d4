"""Seeded defects: a line or two of the spec or of `impl` made wrong, as real pools have had it wrong.

They are data, a file for each area in `patches/`: by name, a list of [module, piece of its source, what that becomes].
The piece must occur exactly once, so that a defect that no longer fits the source is an error and not a silent pass.
`run_defect.py` runs one; every one must be caught. Those in `claims.json` break one claim each and no other: so every
claim is seen to be needed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from blockpool.proofs.core.sources import tree_of
from blockpool.proofs.core.strict_json import FormatError

PATCHES = Path(__file__).parent / "patches"

AREAS = (
    *("queue", "references", "watchers", "keys", "events", "digests"),
    *("callbacks", "pools", "large_only", "managers", "spec", "claims"),
)


@dataclass(frozen=True, slots=True)
class Edit:
    """A piece of the source of a module, and what it becomes."""

    module: str
    right: str
    wrong: str


@dataclass(frozen=True, slots=True)
class Defect:
    """A named defect; several edits where the pool checks the same thing twice."""

    name: str
    edits: tuple[Edit, ...]

    @property
    def of_spec(self) -> bool:
        """Is the spec made wrong (or the implementation)?"""
        return not self.edits or tree_of(self.edits[0].module) == "spec"


def defects_in(file: Path) -> Iterator[Defect]:
    """The defects of a file. Modules may be named without the package. Raises FormatError, OSError."""
    try:
        found = msgspec.json.decode(file.read_bytes(), type=dict[str, list[tuple[str, str, str]]])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise FormatError(f"{file} has no defects, by name [[module, old text, new text], ...]: {error}") from error
    for name, edits in found.items():
        yield Defect(name, tuple(Edit(f"blockpool.{m.removeprefix('blockpool.')}", old, new) for m, old, new in edits))


DEFECTS = tuple(defect for area in AREAS for defect in defects_in(PATCHES / f"{area}.json"))
"""All of them; names are unique."""

CANARIES: tuple[str, ...] = (
    "popped blocks keep a link",
    "double free in one call is accepted",
    "refused free drops the references before the wrong block",
    "watcher stays after it was told",
    "promotion keeps the partial key",
    "removed event only with the last copy",
    "digest ignores the extras",
    "key survives re-allocation on the short cut",
    "spec: a touched block stays queued",
    "spec: a freed block is queued in the middle",
    "spec: a refused call turns the queue",
)
"""A few of each kind, quick to catch, that `check` tries in every run; `detect` tries all."""
