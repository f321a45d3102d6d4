"""Seeded defects: a line or two of the spec or of `impl` made wrong, as real pools have had it wrong.

They are data, a file for each area in `patches/`: by name, a list of [module, piece of its source, what that becomes].
The piece must occur exactly once, so that a defect that no longer fits the source is an error and not a silent pass.
`run_defect.py` runs one; every one must be caught. Those in `claims.json` break one claim each and no other: so every
claim is seen to be needed.
"""

from pathlib import Path

from blockpool.proofs.adequacy.defects.from_file import read_defects
from blockpool.proofs.core.edits import Defect, Edit

PATCHES = Path(__file__).parent / "patches"

AREAS = (
    *("queue", "references", "watchers", "keys", "events", "digests"),
    *("callbacks", "pools", "large_only", "managers", "spec", "claims"),
)

DEFECTS = tuple(
    Defect(name, tuple(Edit(*edit) for edit in edits))
    for area in AREAS
    for name, edits in read_defects(PATCHES / f"{area}.json").items()
)
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
