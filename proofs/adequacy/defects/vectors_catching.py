"""Which vectors catch which seeded defect: those of `impl` (`proofs/adequacy`), and wrong pools that somebody names."""

import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import Any

from blockpool.proofs.adequacy.defects.seeded import DEFECTS
from blockpool.proofs.core.edits import Defect
from blockpool.proofs.core.loader import DefectFinder
from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.core.sources import PACKAGE, tree_of
from blockpool.proofs.oracle.adapter import Subject
from blockpool.proofs.oracle.vectors.consume import Coverage, consume
from blockpool.proofs.oracle.vectors.vector import Vector
from blockpool.spec.contract.profiles import profile_of

PATIENCE = 2.0
"""Seconds of processor time for one vector; some defects run for ever."""

Wrong = tuple[str, Callable[[], Subject]]
"""The name of a defect, and a pool that has it."""


def defects_of_impl(pool: Callable[[ModuleType], Subject]) -> list[Wrong]:
    """The seeded defects of `impl`; `pool` makes a subject of a copy of that package."""
    return [(f"impl: {defect.name}", _with(defect, pool)) for defect in DEFECTS if defect.edits and not defect.of_spec]


def _with(defect: Defect, pool: Callable[[ModuleType], Subject]) -> Callable[[], Subject]:
    return lambda: pool(imported_with(defect))


def imported_with(defect: Defect) -> ModuleType:
    """A second copy of `impl`, with the defect in it. The first one stays as it is."""
    right = {name: module for name, module in sys.modules.items() if tree_of(name) == "impl"}
    finder = DefectFinder(defect)
    for name in right:
        del sys.modules[name]
    sys.meta_path.insert(0, finder)
    try:
        return import_module("blockpool.impl")
    finally:
        vars(sys.modules[PACKAGE])["impl"] = right[f"{PACKAGE}.impl"]  # the import has bound it to the copy
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if tree_of(name) == "impl"]:
            del sys.modules[name]
        sys.modules.update(right)


def caught(vectors: Sequence[Vector], made: Callable[[], Subject]) -> list[Vector]:
    """The vectors that catch what this pool has, under its own profile."""
    subject = made()
    profile = profile_of(subject.profile)
    found = []
    with _patience() as again:
        for vector in vectors:
            again()
            (outcome,) = consume([vector], subject, profile, Coverage())
            if outcome.verdict is Verdict.REFUTED:
                found.append(vector)
    return found


def with_defects(vectors: Sequence[Vector], wrongs: Iterable[Wrong]) -> list[Vector]:
    """The vectors, each with the defects that it catches in its receipt."""
    names: dict[str, list[str]] = {vector.name: [] for vector in vectors}
    for name, made in wrongs:
        for vector in caught(vectors, made):
            names[vector.name].append(name)
    return [
        replace(vector, receipt=replace(vector.receipt, defects=tuple(sorted(names[vector.name]))))
        for vector in vectors
    ]


class TooLongError(Exception):
    """A call of a defective pool does not end."""


@contextmanager
def _patience() -> Iterator[Callable[[], None]]:
    """A call that takes too long fails, as if the pool had raised; the function given starts the clock anew."""

    def stop(*_: Any) -> None:
        raise TooLongError("no answer")

    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        yield lambda: _clock(PATIENCE)
    finally:
        _clock(0.0)
        signal.signal(signal.SIGVTALRM, before)


def _clock(seconds: float) -> None:
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
