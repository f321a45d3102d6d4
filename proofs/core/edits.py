"""What a seeded defect is: pieces of source, and what they become."""

from dataclasses import dataclass

from blockpool.proofs.core.sources import tree_of


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


def defect(name: str, module: str, right: str, wrong: str, *more: Edit) -> Defect:
    """A defect of one edit, or of more."""
    return Defect(name, (Edit(module, right, wrong), *more))
