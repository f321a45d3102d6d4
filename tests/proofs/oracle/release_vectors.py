"""Fills `vectors/v1` as it is released: `python -m tests.proofs.oracle.release_vectors [FOLDER]`, the folder empty."""

import sys
from pathlib import Path

from blockpool.proofs.adequacy.defects.vectors_catching import Wrong, defects_of_impl, with_defects
from blockpool.proofs.core.sources import ROOT
from blockpool.proofs.explore.scopes import SCOPES
from blockpool.proofs.oracle.adapter import InProcess
from blockpool.proofs.oracle.vectors.fill import vectors_of
from blockpool.proofs.oracle.vectors.vector import Vector, write_all
from blockpool.proofs.systems.ours import subject_in
from blockpool.spec.contract.profiles import PROFILES
from tests.proofs.oracle.wrong_pools import CAUGHT

FOLDER = ROOT / "vectors" / "v1"


def wrong_pools() -> list[Wrong]:
    """The toy pools with one defect each."""
    return [(kind.__name__, lambda kind=kind: InProcess(kind())) for kind, _, _ in CAUGHT]  # type: ignore[misc]


def undecorated() -> list[Vector]:
    """The vectors without the defects that they catch."""
    return vectors_of(SCOPES["small"], PROFILES["strict"])


def released() -> list[Vector]:
    return with_defects(undecorated(), [*wrong_pools(), *defects_of_impl(subject_in)])


if __name__ == "__main__":
    write_all(released(), Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
