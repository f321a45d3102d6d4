"""Putting a mutant into a process that has imported everything: the code of one function is exchanged in place.

So nothing is imported again for each mutant, which is most of the time that a trial takes. What a module did while it
was imported stays undone: a mutant that nobody notices this way is tried once more in a new process, see `worker.py`.
"""

import functools
import gc
import sys
from collections import defaultdict
from types import CodeType, FunctionType
from typing import Any

from blockpool.proofs.adequacy.mutation.mutants import Mutant

Place = tuple[str, str]
"""A module, and the outermost function in it, by qualified name."""


class NotSwappableError(Exception):
    """The change is not in the body of a function that exists, or needs other free variables."""


def place_of(code: CodeType, files: dict[str, str]) -> Place | None:
    """Where this code belongs, if it is in one of these files (file to module)."""
    module = files.get(code.co_filename)
    return None if module is None else (module, code.co_qualname.partition(".<locals>")[0])


def files_of(*packages: str) -> dict[str, str]:
    """The modules of these packages that are imported, by file."""
    return {
        str(module.__file__): name
        for name, module in list(sys.modules.items())
        if any(name == package or name.startswith(f"{package}.") for package in packages)
        and getattr(module, "__file__", None)
    }


class Swapper:
    """Knows every function of some packages, as they are now."""

    def __init__(self, *packages: str) -> None:
        self.files = files_of(*packages)
        self.functions: dict[tuple[str, str], list[FunctionType]] = defaultdict(list)
        self.caches: list[Any] = []
        for thing in gc.get_objects():
            if isinstance(thing, FunctionType) and thing.__code__.co_filename in self.files:
                module = self.files[thing.__code__.co_filename]
                self.functions[module, thing.__code__.co_qualname].append(thing)
            elif isinstance(thing, functools._lru_cache_wrapper):
                self.caches.append(thing)

    def swap(self, mutant: Mutant) -> None:
        """From now on this process runs the mutant."""
        if mutant.function is None or (mutant.module, mutant.function) not in self.functions:
            raise NotSwappableError(mutant.name)
        file = self.functions[mutant.module, mutant.function][0].__code__.co_filename
        changed = compile(mutant.source, file, "exec", dont_inherit=True)
        differs = False
        for code in _codes(changed):
            if (mutant.module, mutant.function) != place_of(code, self.files):
                continue
            for function in self.functions[mutant.module, code.co_qualname]:
                differs = differs or function.__code__ != code
                try:
                    function.__code__ = code
                except ValueError as error:
                    raise NotSwappableError(f"{mutant.name}: {error}") from error
        if not differs:
            raise NotSwappableError(f"{mutant.name}: not in the body")  # but in the default of an argument
        for cache in self.caches:
            cache.cache_clear()


def _codes(code: CodeType) -> list[CodeType]:
    """All code objects inside this one."""
    found = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found += [constant, *_codes(constant)]
    return found
