"""The oracle: any block pool, in any language, live or from a log, judged by what it promised.

What the author of an adapter needs is here; `adapter.py` says how one is written.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from blockpool.proofs.oracle.adapter import Adapter, InProcess, Refusal, Subject
from blockpool.spec.contract.calls import (
    AllCleared,
    Alloc,
    BlockName,
    Call,
    Cancel,
    Events,
    Fault,
    Free,
    FreeCount,
    Lookup,
    Move,
    Ok,
    Publish,
    PublishPartial,
    Refused,
    RemovedKeys,
    Reply,
    Reset,
    Share,
    Start,
    Started,
    StoredKeys,
    Unpin,
    Unpublish,
    Writable,
)
from blockpool.spec.contract.profiles import PROFILES, Profile

if TYPE_CHECKING:
    from blockpool.proofs.oracle.conformance import Report, conform
    from blockpool.spec.contract.judge import Judge

__all__ = [
    "PROFILES",
    "Adapter",
    "AllCleared",
    "Alloc",
    "BlockName",
    "Call",
    "Cancel",
    "Events",
    "Fault",
    "Free",
    "FreeCount",
    "InProcess",
    "Judge",
    "Lookup",
    "Move",
    "Ok",
    "Profile",
    "Publish",
    "PublishPartial",
    "Refusal",
    "Refused",
    "RemovedKeys",
    "Reply",
    "Report",
    "Reset",
    "Share",
    "Start",
    "Started",
    "StoredKeys",
    "Subject",
    "Unpin",
    "Unpublish",
    "Writable",
    "conform",
]


_LATER = {
    "Judge": "blockpool.spec.contract.judge",
    "Report": "blockpool.proofs.oracle.conformance",
    "conform": "blockpool.proofs.oracle.conformance",
}
"""What a server that only watches its pool need not import."""


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
