"""Run a few source files of a package without the rest of it.

Each set of files gets a world of its own: an import inside it finds the files of the set, the standard library and what
is listed as real; everything else is a stub, good for a name but not for a call. So several releases of one package
live side by side in a process, and nothing of the package is installed.
"""

import builtins
import importlib
import sys
from collections.abc import Mapping
from importlib.util import find_spec, resolve_name
from pathlib import Path
from types import ModuleType
from typing import Any, Never


class StubCalledError(RuntimeError):
    """The files need more of their package than was taken along."""


def files_of(package: str, *modules: str) -> dict[str, Path]:
    """The source files of an installed package's modules, found without importing it. Raises ImportError if absent."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(f"there is no package {package!r} here", name=package)
    root = Path(spec.submodule_search_locations[0])
    return {f"{package}.{module}": root / f"{module.replace('.', '/')}.py" for module in modules}


class Isolated:
    """The modules of one set of files, executed when they are first imported.

    Args:
        label: what tells the set from other releases, for module names.
        files: source file of each module, by its full name.
        real: top-level packages to import as they are, besides the standard library.
        given: objects that stand in for names of absent modules, as "module.name".
    """

    def __init__(
        self, label: str, files: Mapping[str, Path], real: frozenset[str], given: Mapping[str, Any] | None = None
    ) -> None:
        self.label = label
        self.files = files
        self.real = real | sys.stdlib_module_names
        self.given = dict(given or {})
        self.modules: dict[str, ModuleType] = {}

    def module(self, name: str) -> ModuleType:
        """The module of that name: executed from its file, or a stub."""
        if name not in self.modules:
            if name in self.files:
                self._execute(name)
            else:
                self.modules[name] = _Stub(name, self)
        return self.modules[name]

    def _execute(self, name: str) -> None:
        # Dataclasses and msgspec look a class's module up in sys.modules; the name there must be this release's.
        module = ModuleType(f"{self.label}:{name}")
        module.__package__ = name.rpartition(".")[0]
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": self._import}
        self.modules[name] = sys.modules[module.__name__] = module
        path = self.files[name]
        try:
            exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), module.__dict__)
        except BaseException:
            del self.modules[name], sys.modules[module.__name__]
            raise

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,  # noqa: A002  the signature is Python's
        locals: Mapping[str, Any] | None = None,  # noqa: A002
        fromlist: tuple[str, ...] | None = (),
        level: int = 0,
    ) -> ModuleType:
        if level:
            name = resolve_name("." * level + name, str((globals or {})["__package__"]))
        top = name.partition(".")[0]
        if top in self.real:
            module = importlib.import_module(name)
            return module if fromlist else sys.modules[top]
        return self.module(name if fromlist else top)


class _Stub(ModuleType):
    """An absent module: any name can be imported from it."""

    def __init__(self, name: str, world: Isolated) -> None:
        super().__init__(name)
        self._world = world

    def __getattr__(self, name: str) -> Any:
        full = f"{self.__name__}.{name}"
        if name.startswith("__"):
            raise AttributeError(name)
        if full in self._world.given:
            return self._world.given[full]
        if full in self._world.files or any(known.startswith(f"{full}.") for known in self._world.files):
            return self._world.module(full)
        if name.isupper():
            return None
        value = _absent_class(name) if name[0].isupper() else _absent_function(full)
        setattr(self, name, value)
        return value


def _absent_class(name: str) -> type:
    return type(name, (), {"__class_getitem__": classmethod(lambda cls, _: cls)})


def _absent_function(name: str) -> Any:
    def stub(*_: object, **__: object) -> Never:
        raise StubCalledError(f"{name} is called, but is not among the files")

    return stub
