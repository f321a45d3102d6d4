"""SGLang's allocators of token slots and of pages: no reference counts and no index, those are in its radix tree."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

from blockpool.proofs.oracle.adapter import Refusal
from blockpool.proofs.systems.isolated import Isolated, files_of
from blockpool.spec.contract.calls import BlockName, Started
from blockpool.spec.contract.profiles import PROFILES

_FOLDER = "srt.mem_cache.allocator"
_GIVEN = {
    "sglang.srt.platforms.current_platform": SimpleNamespace(capabilities=SimpleNamespace(supports_triton=False)),
    "sglang.srt.utils.is_hip": lambda: False,
    "sglang.srt.utils.get_bool_env_var": lambda name: False,
}
_PAGE = 4  # tokens


class TokenPool:
    """The adapter: a block is one token slot, and slot 0 takes the outputs of padding."""

    page = 1
    profile = replace(PROFILES["safety"], name="sglang-token", sentence="A plain queue of token slots.", order="a")

    def __init__(self) -> None:
        self._torch = import_module("torch")
        self.name = f"SGLang token allocator {version('sglang')}"

    def start(self, blocks: int, caching: bool, events: bool, groups: int) -> Started:
        if events or groups > 1:
            raise Refusal("an allocator has no KV events, and one group")
        self.pool = self._new_pool(blocks)
        return Started(capacity=blocks, reserved=(0,), order=tuple(self.pool.free_pages.tolist()))

    def _new_pool(self, blocks: int) -> Any:
        return _modules()["token"].TokenToKVPoolAllocator(blocks, self._torch.float16, "cpu", None, need_sort=False)

    def alloc(self, count: int) -> list[BlockName]:
        slots = self.pool.alloc(count * self.page)
        if slots is None:
            raise Refusal(f"{count} are not free")
        return [slot // self.page for slot in slots.tolist()[:: self.page]]

    def free(self, blocks: Sequence[BlockName]) -> None:
        first = self._torch.tensor(blocks, dtype=self._torch.int64) * self.page
        slots = first[:, None] + self._torch.arange(self.page)
        self.pool.free(slots.reshape(-1))

    def free_count(self) -> int:
        count: int = self.pool.available_size() // self.page
        return count


class PagedPool(TokenPool):
    """The adapter: a block is one page."""

    page = _PAGE
    profile = replace(PROFILES["safety"], name="sglang-paged", sentence="Freed pages go to the front.", order="page")

    def __init__(self) -> None:
        super().__init__()
        self.name = f"SGLang paged allocator {version('sglang')}"

    def _new_pool(self, blocks: int) -> Any:
        allocator = _modules()["paged"].PagedTokenToKVPoolAllocator
        return allocator(blocks * self.page, self.page, self._torch.float16, "cpu", None, need_sort=False)


@cache
def _modules() -> dict[str, Any]:
    files = files_of("sglang", f"{_FOLDER}.base", f"{_FOLDER}.token", f"{_FOLDER}.paged")
    world = Isolated("sglang", files, frozenset({"torch"}), _GIVEN)
    return {name.rpartition(".")[2]: world.module(name) for name in files}
