"""Which tests and gates judge the mutants of which modules, cheapest first."""

from dataclasses import dataclass
from importlib.util import find_spec
from pkgutil import iter_modules

from blockpool.proofs.core.sources import PACKAGE, name_in_tree, tree_of

FULL = {"BLOCKPOOL_CONTRACTS": "full"}
OFF = {"BLOCKPOOL_CONTRACTS": "off"}


@dataclass(frozen=True, slots=True)
class Area:
    """Modules that are judged alike: by these tests (with contracts), then by these gates at these scopes."""

    name: str
    tests: tuple[str, ...]
    gates: tuple[str, ...]
    dear: tuple[str, ...] = ()  # run as well when the run may take its time
    gates_with_contracts: bool = False


AREAS = {
    area.name: area
    for area in (
        Area(
            "pool",
            ("impl",),
            ("digest: 50 pairs", "pools: 5 runs", "serve: 20 requests", "refine: 1 block", "sample: 10 runs"),
            ("requests: 10 runs", "digest: 1000 pairs", "sample: 100 runs", "refine: tiny"),
        ),
        Area("contracts", ("impl",), ("contracts: 20 runs",), gates_with_contracts=True),
        Area(
            "managers",
            ("impl/managers",),
            ("serve: 20 requests", "requests: 10 runs", "manage: 4 moves", "requests: 100 runs"),
            ("serve: 150 requests", "manage: 6 moves"),
        ),
        Area(
            "machine",
            ("spec",),
            ("refine: 1 block", "explore: 1 block", "sample: 10 runs", "requests: 10 runs"),
            ("manage: 4 moves", "explore: tiny", "refine: tiny", "sample: 100 runs", "model: small"),
        ),
        Area(
            "requests",
            ("spec/requests",),
            ("requests: 10 runs", "manage: 4 moves", "model: small"),
            ("requests: 100 runs", "manage: 6 moves"),
        ),
    )
}
"""The gates of each area, cheapest first."""

_REQUESTS = "requests"
_MACHINE = "pool"
"""Of the spec, guards and effects are mutated; claims are tested by what they refuse, in tests/spec."""


_WITH_VLLM = "vllm"
"""Judged where vLLM is installed, by tests/proofs/systems/vllm: here nothing could kill their mutants."""


def area_of(module: str) -> str | None:
    """The area that judges this module; None if it is not mutated."""
    folder, _, _ = name_in_tree(module).rpartition(".")
    if tree_of(module) == "impl":
        if folder == _WITH_VLLM:
            return None
        if name_in_tree(module) == "contracts":
            return "contracts"
        return "managers" if folder == "managers" else "pool"
    if folder == _REQUESTS or name_in_tree(module) == "claims.ownership":
        return "requests" if folder == _REQUESTS else "machine"
    return "machine" if folder == _MACHINE and name_in_tree(module) != "pool.terms" else None


def modules_of(tree: str) -> list[str]:
    """The modules of a tree that are mutated, by name."""
    return sorted(module for module in _modules(f"{PACKAGE}.{tree}") if area_of(module) is not None)


def _modules(package: str) -> list[str]:
    found = find_spec(package)
    if found is None or found.submodule_search_locations is None:
        raise ModuleNotFoundError(f"there is no package {package}")
    modules = []
    for module in iter_modules(found.submodule_search_locations, f"{package}."):
        modules += _modules(module.name) if module.ispkg else [module.name]
    return modules
