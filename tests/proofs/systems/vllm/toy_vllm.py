"""As much of vLLM as the plug-in touches: the modules, with a pool that works and a scheduler of a few lines."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from blockpool import impl


@dataclass
class BlockStored:
    block_hashes: list[Any]
    parent_block_hash: Any
    token_ids: list[int]
    block_size: int
    lora_id: int | None
    medium: str | None
    lora_name: str | None
    extra_keys: list[Any] | None = None
    group_idx: int | None = None
    session_id: str | None = None
    lookahead_token_ids: list[list[int]] | None = None


@dataclass
class BlockRemoved:
    block_hashes: list[Any]
    medium: str | None
    group_idx: int | None = None


@dataclass
class AllBlocksCleared:
    pass


@dataclass(slots=True)
class KVCacheBlock:
    block_id: int
    ref_cnt: int = 0
    pool: Any = None
    block_hash: bytes | None = None

    is_null = False

    def set_block_hash(self, block_hash: bytes, num_tokens: int) -> None:
        self.block_hash = block_hash


class Scheduler:
    """Publishes for everybody who is waiting, and drops the last one again if it is told to."""

    def __init__(self, pool: Any) -> None:
        self.kv_cache_manager = SimpleNamespace(block_pool=pool)

    def schedule(self, requests: Sequence[Any], drop: bool = False) -> Any:
        pool, scheduled = self.kv_cache_manager.block_pool, {}
        for request in requests:
            blocks = pool.get_new_blocks(1)
            pool.cache_full_blocks(request, blocks, 0, 1, 4, 0)
            scheduled[request.request_id] = 4
        if drop:
            pool.free_blocks(blocks)
            del scheduled[request.request_id]
        return SimpleNamespace(num_scheduled_tokens=scheduled)


@dataclass
class Request:
    """A request with hashes of four tokens each."""

    request_id: str
    num_computed_tokens: int = 0
    lora_request: Any = None
    session_id: str | None = None
    block_hashes: list[bytes] = field(init=False)
    all_token_ids: list[int] = field(default_factory=lambda: list(range(16)))

    def __post_init__(self) -> None:
        self.block_hashes = [f"{self.request_id}{i}".encode().rjust(32) for i in range(4)]


def external(digest: bytes) -> int:
    """How events name a digest: by its last 64 bits."""
    return int.from_bytes(digest[-8:], "big")


def install(monkeypatch: pytest.MonkeyPatch, version: str = "0.33.0") -> ModuleType:
    """Put it into sys.modules; answers the module of the pool."""
    module = sys.modules[__name__]
    for name in ("vllm_pool", "vllm_compat"):
        monkeypatch.delitem(sys.modules, f"impl.{name}", raising=False)
    contents: dict[str, dict[str, Any]] = {
        "vllm": {"__version__": version},
        "vllm.distributed.kv_events": {
            name: getattr(module, name) for name in ("BlockStored", "BlockRemoved", "AllBlocksCleared")
        },
        "vllm.v1.core.kv_cache_utils": {
            "KVCacheBlock": KVCacheBlock,
            "maybe_convert_block_hash": external,
            "generate_block_hash_extra_keys": lambda request, start, end, item: ((("salt", start),), item),
            "to_event_extra_keys": lambda keys: keys,
        },
        "vllm.v1.core.sched.scheduler": {"Scheduler": type("Scheduler", (), dict(Scheduler.__dict__))},
        "vllm.v1.core.block_pool": {"BlockPool": type("BlockPool", (impl.BlockPool,), {"__init__": _made})},
    }
    for name, values in contents.items():
        made = ModuleType(name)
        made.__dict__.update(values)
        monkeypatch.setitem(sys.modules, name, made)
    block_pool = sys.modules["vllm.v1.core.block_pool"]
    block_pool.BlockPool.__module__ = block_pool.__name__  # type: ignore[attr-defined]
    return block_pool


def _made(self: Any, *args: Any, **kwargs: Any) -> None:
    impl.BlockPool.__init__(self, *args, **kwargs)
