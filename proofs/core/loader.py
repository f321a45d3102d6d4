"""Importing a module with a defect in it: the source is changed on its way from the file to the interpreter."""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType

from blockpool.proofs.core.edits import Defect


class OutdatedDefectError(Exception):
    """The piece of source that the defect changes is not there, or not once."""


class _DefectiveLoader(SourceFileLoader):
    def __init__(self, module: str, path: str, defect: Defect) -> None:
        super().__init__(module, path)
        self.defect = defect

    def get_code(self, fullname: str) -> CodeType:
        source = self.get_source(fullname) or ""
        for edit in self.defect.edits:
            if edit.module == fullname:
                found = source.count(edit.right)
                if found != 1:
                    raise OutdatedDefectError(f"{self.defect.name}: {found} places in {self.path} read {edit.right!r}")
                source = source.replace(edit.right, edit.wrong)
        return compile(source, self.path, "exec")


class DefectFinder(MetaPathFinder):
    """Put it first on `sys.meta_path`, before the module is imported."""

    def __init__(self, defect: Defect) -> None:
        self.defect = defect

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The modules of the defect, to be loaded with it; no others."""
        if fullname not in modules_of(self.defect):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None:
            raise OutdatedDefectError(f"{self.defect.name}: there is no module {fullname}")
        spec.loader = _DefectiveLoader(fullname, spec.origin, self.defect)
        return spec


def modules_of(defect: Defect) -> set[str]:
    """The modules that the defect changes."""
    return {edit.module for edit in defect.edits}


def install(defect: Defect) -> None:
    """From now on these modules are imported with the defect. They must not have been imported yet."""
    early = modules_of(defect) & sys.modules.keys()
    if early:
        raise OutdatedDefectError(f"{early} imported already; run each trial in a process of its own")
    sys.meta_path.insert(0, DefectFinder(defect))
