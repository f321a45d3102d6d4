"""From what a person writes to a subject: a shipped adapter, or a class of their own."""

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from blockpool.proofs.oracle.adapter import InProcess, Subject


class AdapterError(Exception):
    """There is no such adapter, or it cannot be used; the message says why and what to do."""


def subject_of(name: str) -> Subject:
    """The subject called NAME (see `blockpool adapters list`), MODULE:CLASS or FILE.py:CLASS. Raises AdapterError."""
    from blockpool.proofs.systems.registry import MissingPoolError, NoSuchAdapterError, shipped

    if ":" not in name:
        try:
            return InProcess(shipped(name))
        except NoSuchAdapterError as error:
            raise AdapterError(f"{error}, and your own as MODULE:CLASS or FILE.py:CLASS") from error
        except MissingPoolError as error:
            raise AdapterError(str(error)) from error
    place, _, attribute = name.rpartition(":")
    made = getattr(_module(place), attribute, None)
    if not callable(made):
        raise AdapterError(f"{place} has no class {attribute!r}")
    try:
        return InProcess(made())
    except (TypeError, AttributeError) as error:  # arguments, a missing method, or a missing name or profile
        raise AdapterError(f"{name} is no adapter: {error}") from error


def _module(place: str) -> ModuleType:
    try:
        return _from_file(Path(place)) if place.endswith(".py") else import_module(place)
    except Exception as error:  # whatever the author's module does
        raise AdapterError(f"{place} cannot be imported: {type(error).__name__}: {error}") from error


def _from_file(path: Path) -> ModuleType:
    found = spec_from_file_location(path.stem, path)
    if found is None or found.loader is None or not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    module = module_from_spec(found)
    sys.modules[path.stem] = module  # dataclasses look their module up
    found.loader.exec_module(module)
    return module
