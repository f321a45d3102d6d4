"""Which tests and gates judge the mutants of which modules, cheapest first."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules

ROOT = Path(__file__).parents[2]
"""The checkout: mutants are judged by its tests, which a wheel does not have."""

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
            ("managers",),
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
            ("serving",),
            ("requests: 10 runs", "manage: 4 moves", "model: small"),
            ("requests: 100 runs", "manage: 6 moves"),
        ),
    )
}
"""The gates of each area, cheapest first."""

_REQUESTS = frozenset({"handling", "hits", "layout", "moves", "passing", "scheduling", "serving", "tables"})
_MACHINE = frozenset(
    {"actions", "events", "forgetting", "ledger", "lending", "pool", "prefix", "publishing", "queries"}
)
"""Of the spec, guards and effects are mutated; claims are tested by what they refuse, in tests/spec."""


_WITH_VLLM = frozenset({"vllm", "vllm_compat", "vllm_pool"})
"""Judged where vLLM is installed, by tests/vllm: here nothing could kill their mutants."""


def area_of(module: str) -> str | None:
    """The area that judges this module; None if it is not mutated."""
    tree, _, rest = module.partition(".")
    if tree == "impl":
        if rest in _WITH_VLLM:
            return None
        if module == "impl.contracts":
            return "contracts"
        return "managers" if rest.startswith("managers.") else "pool"
    if rest in _REQUESTS:
        return "requests"
    return "machine" if rest in _MACHINE else None


def modules_of(tree: str) -> list[str]:
    """The modules of a tree that are mutated, by name."""
    found = find_spec(tree)
    if found is None or found.submodule_search_locations is None:
        raise ModuleNotFoundError(f"there is no package {tree}")
    modules = []
    for module in iter_modules(found.submodule_search_locations, f"{tree}."):
        modules += modules_of(module.name) if module.ispkg else [module.name]
    return sorted(module for module in modules if area_of(module) is not None)
