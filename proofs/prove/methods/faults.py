"""Seeded defects of the pool's methods, most of which show at some size only: none may be proved.

Each is an edit of the source, as in `proofs/adequacy/defects`. The piece must occur exactly once, so that a defect
that no longer fits the source is an error and not a silent pass.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from blockpool.proofs.core.edits import Defect
from blockpool.proofs.core.loader import OutdatedDefectError
from blockpool.proofs.prove.methods.catalogue import METHODS
from blockpool.proofs.prove.methods.fault_list import BY_WORD, GROUPS, OTHERS
from blockpool.proofs.prove.methods.method import Source, functions, shipped
from blockpool.proofs.prove.methods.proving import Proof, prove

BUDGET = 1_500_000
"""Resource units for one question about a defective method: a few times what the dearest true one needs."""


@dataclass(frozen=True)
class Fault:
    """A defect, and the method that has it."""

    method: str
    defect: Defect

    @property
    def name(self) -> str:
        return self.defect.name

    def source(self, module: str) -> str:
        """The text of a module of impl with the defect in it."""
        return changed(self.defect)(module)

    def proof(self, budget: int = BUDGET) -> Proof:
        """What the prover makes of it; this ends at the first condition that fails."""
        return prove(METHODS[self.method], self.source, budget=budget)


def noticed(one: Defect, budget: int = BUDGET) -> str | None:
    """Which method is no longer proved with this defect in `impl`, and why; None if all that it can reach still are."""
    source = changed(one)
    for method in METHODS.values():
        texts = (
            (functions(source(module)), functions(shipped(module)), names) for module, names in method.runs.items()
        )
        if any(
            ast.dump(now[name]) != ast.dump(old[name]) for now, old, names in texts for name in names if name in now
        ):
            proof = prove(method, source, budget=budget)
            if not proof.holds:
                return f"{method.name}: {proof.refused or proof.failed[0]}"
    return None


def changed(one: Defect) -> Source:
    """The source with these edits."""

    def source(module: str) -> str:
        text = shipped(module)
        for edit in one.edits:
            if edit.module == f"blockpool.impl.{module}":
                if text.count(edit.right) != 1:
                    raise OutdatedDefectError(f"{one.name}: {text.count(edit.right)} places read {edit.right!r}")
                text = text.replace(edit.right, edit.wrong)
        return text

    return source


def faults() -> Iterator[Fault]:
    """All of them."""
    for method, defects in GROUPS.items():
        yield from (Fault(method, one) for one in defects)
    yield from (Fault(BY_WORD[one.name.split(":")[0]], one) for one in OTHERS)
