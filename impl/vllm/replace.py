"""This pool in the place of vLLM's, in a running vLLM.

    from blockpool.impl.vllm.replace import replace

    undo = replace()      # from now on every BlockPool that vLLM makes is ours
    undo()                # pools made from now on are vLLM's again

In a server: BLOCKPOOL_VLLM=replace, see docs/vllm.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from importlib import import_module
from typing import Any

SUPPORTED = ("0.33.0",)
"""The releases on whose own tests this was tried."""


class UnsupportedVllmError(RuntimeError):
    """This vLLM is none of the releases that are supported. It was left as it was."""


def supported_release() -> str:
    """The release of the vLLM of this environment. Raises UnsupportedVllmError, or ImportError if there is none."""
    version = str(import_module("vllm").__version__)
    release = version.partition("+")[0]  # a local build of a release, as 0.33.0+cpu, is that release
    if release not in SUPPORTED:
        raise UnsupportedVllmError(
            f"blockpool knows vLLM {', '.join(SUPPORTED)}, this is {version}. Nothing was changed. "
            "Install a vLLM that is known, or unset BLOCKPOOL_VLLM."
        )
    return release


def replace(compat: bool = False) -> Callable[[], None]:
    """Put this pool in place of vLLM's `BlockPool`, wherever a module has that name or a class is derived from it.

    Pools that exist already stay as they are. `compat` tolerates what is refused otherwise, see `compat.py`.
    Returns a function that undoes it.
    """
    supported_release()
    block_pool = import_module("vllm.v1.core.block_pool")
    theirs = block_pool.BlockPool
    if theirs.__module__ != block_pool.__name__:
        raise UnsupportedVllmError(f"vLLM's BlockPool is {theirs.__module__}.{theirs.__qualname__} already")
    name, module = ("CompatBlockPool", "compat") if compat else ("VllmBlockPool", "pool")
    ours = getattr(import_module(f".{module}", __package__), name)
    named_before, derived_before = names_of(ours), ours.__subclasses__()
    exchange(theirs, ours)
    return lambda: exchange(ours, theirs, named_before, derived_before)


def names_of(cls: type[Any]) -> set[tuple[str, str]]:
    """Every name of `cls` in a loaded module, as (name of the module, name in it)."""
    tables = [(name, getattr(module, "__dict__", {})) for name, module in list(sys.modules.items())]
    return {(module, name) for module, table in tables for name, value in list(table.items()) if value is cls}


def exchange(
    old: type[Any],
    new: type[Any],
    kept_names: Collection[tuple[str, str]] = (),
    kept_subclasses: Collection[type[Any]] = (),
) -> None:
    """Bind every name of `old` in a loaded module to `new`, and derive its subclasses from that, but for those kept.

    Modules of this package keep theirs.
    """
    for module, name in names_of(old).difference(kept_names):
        if not _ours(module):
            setattr(sys.modules[module], name, new)
    for subclass in old.__subclasses__():
        if subclass not in kept_subclasses and not _ours(subclass.__module__):
            subclass.__bases__ = tuple(new if base is old else base for base in subclass.__bases__)


def _ours(module: str) -> bool:
    """Is this a module of the package that this one is in?"""
    return module.partition(".")[0] == __name__.partition(".")[0]
