"""What a KV-cache block pool promises (`blockpool.spec`), a pool that keeps it (`blockpool.impl`), and the proof.

    BlockPool, KVCacheBlock, Request       the pool of this project, with the interface of vLLM's
    Coordinator, GroupSpec                 block tables of requests over groups of layers
    watch, record                          a monitor, or a recorder, beside a live pool
    conform, Report, PoolConformance       does another pool keep its promises? As a function, and as pytest tests
    PROFILES, Profile                      what pools promise beyond safety

Each is loaded when it is first asked for: a server that only wants the pool imports neither Z3 nor Hypothesis.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blockpool.impl.block import KVCacheBlock
    from blockpool.impl.managers.coordinator import Coordinator
    from blockpool.impl.managers.groups import GroupSpec
    from blockpool.impl.pool import BlockPool
    from blockpool.impl.request import Request
    from blockpool.proofs.oracle.conformance import Report, conform
    from blockpool.proofs.oracle.pytest_suite import PoolConformance
    from blockpool.proofs.systems.vllm.record import record
    from blockpool.proofs.systems.vllm.watch import watch
    from blockpool.spec.contract.profiles import PROFILES, Profile

    __version__: str

__all__ = [
    "PROFILES",
    "BlockPool",
    "Coordinator",
    "GroupSpec",
    "KVCacheBlock",
    "PoolConformance",
    "Profile",
    "Report",
    "Request",
    "conform",
    "record",
    "watch",
]

_HOMES = {
    "BlockPool": "impl.pool",
    "Coordinator": "impl.managers.coordinator",
    "GroupSpec": "impl.managers.groups",
    "KVCacheBlock": "impl.block",
    "PROFILES": "spec.contract.profiles",
    "PoolConformance": "proofs.oracle.pytest_suite",
    "Profile": "spec.contract.profiles",
    "Report": "proofs.oracle.conformance",
    "Request": "impl.request",
    "conform": "proofs.oracle.conformance",
    "record": "proofs.systems.vllm.record",
    "watch": "proofs.systems.vllm.watch",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version(__name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
