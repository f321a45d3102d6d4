"""The pools that can be measured: any class with the method names of vLLM's BlockPool."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any


class UnknownContenderError(ValueError):
    """There is no such pool here."""


@dataclass(frozen=True)
class Contender:
    """A pool by name, and how to make one: size in blocks (the null block included), tokens a block, events."""

    name: str
    make: Callable[[int, int, bool], Any]


def contender(name: str) -> Contender:
    """By name: `blockpool`, `vllm` (importable here), `vllm==VERSION` (fetched core files), or MODULE:CLASS."""
    try:
        pool, label = _pool_class(name)
    except (ImportError, LookupError, AttributeError) as error:
        raise UnknownContenderError(f"{name}: {error}") from error
    return Contender(label, lambda blocks, block_size, events: pool(blocks, True, block_size, events))


def _pool_class(name: str) -> tuple[Any, str]:
    if name == "blockpool":
        return import_module("blockpool.impl").BlockPool, name
    if name == "vllm" or name.startswith("vllm=="):
        release = _vllm(name.removeprefix("vllm").removeprefix("=="))
        return release.pool, f"vllm {release.version}"
    module, colon, attribute = name.partition(":")
    if not colon:
        raise UnknownContenderError(f"{name} is none of blockpool, vllm, vllm==VERSION and MODULE:CLASS")
    return getattr(import_module(module), attribute), name


def _vllm(version: str) -> Any:
    """As in a running engine: there the variables of the environment are read once, at the start."""
    from blockpool.proofs.systems.vllm.release import core_release, installed_release

    if version:
        return core_release(version)
    release = installed_release()
    envs = import_module("vllm.envs")
    if hasattr(envs, "enable_envs_cache"):
        envs.enable_envs_cache()
    return release
