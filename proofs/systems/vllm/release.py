"""One vLLM release, installed or as core files: its classes, and where it differs from others.

Every difference is found by looking at the classes, not at the version, so that forks and subclasses can be judged too.
"""

import inspect
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib import import_module
from typing import Any

from blockpool.proofs.systems.vllm.files import core_modules, version_numbers

FAMILIES = (
    ((0, 8), "vllm-0.8"),
    ((0, 9), "vllm-0.9"),
    ((0, 14), "vllm-0.14"),
    ((0, 24), "vllm-0.24"),
    ((0, 27), "vllm-0.27"),
    ((0, 28), "vllm-0.28"),
    ((0, 33), "vllm-0.33"),
)
"""The profile of each family of releases, by its first release."""


@dataclass(frozen=True)
class Release:
    """The classes of a release. For a subclass of its pool: `replace(release, pool=TheirBlockPool)`."""

    version: str
    pool: type[Any]
    block: type[Any]
    utils: Any  # the module kv_cache_utils, or what has its helpers
    stored: type[Any] | None  # the event of keys that became findable, if there are events

    @property
    def family(self) -> str:
        """The name of the profile of this release."""
        numbers = version_numbers(self.version)
        return [name for first, name in FAMILIES if first <= numbers][-1]

    @cached_property
    def start_names(self) -> frozenset[str]:
        """Arguments of the constructor: events came with 0.9, hash units with 0.12."""
        return frozenset(inspect.signature(self.pool.__init__).parameters)

    @cached_property
    def publish_names(self) -> frozenset[str]:
        """Arguments of cache_full_blocks: groups came with 0.9.2, hashes and hash function went with 0.10.1."""
        return frozenset(inspect.signature(self.pool.cache_full_blocks).parameters)

    @cached_property
    def has_groups(self) -> bool:
        """Do lookups name groups? Since 0.9.2."""
        return len(inspect.signature(self.pool.get_cached_block).parameters) > 2

    @cached_property
    def events_name_groups(self) -> bool:
        """Do events say which group they are about? Since 0.20."""
        return "group_idx" in getattr(self.stored, "__annotations__", ())

    @cached_property
    def touches_by_group(self) -> bool:
        """Does touch take a tuple of lists, one for each group? From 0.9.2 to 0.13."""
        annotation = inspect.signature(self.pool.touch).parameters["blocks"].annotation
        return "tuple[" in str(annotation).lower()

    @cached_property
    def replaces_partial_keys(self) -> bool:
        """Can cache_partial_block drop the older keys itself? Since 0.30."""
        return "replace_existing_hashes" in inspect.signature(self.pool.cache_partial_block).parameters

    @cached_property
    def reads_parent_from_block(self) -> bool:
        """Can a block be given a hash by assignment, as the parent of what is published was read before 0.14?"""
        return getattr(self.block.block_hash, "fset", None) is not None

    def new_pool(self, size: int, caching: bool, events: bool) -> Any:
        """A pool of `size` blocks, the null block included, with hash units of one token where there are units."""
        optional = {"enable_kv_cache_events": events, "hash_block_size": 1}
        chosen = {name: value for name, value in optional.items() if name in self.start_names}
        return self.pool(num_gpu_blocks=size, enable_caching=caching, **chosen)

    def hash_of(self, key: str) -> Any:
        """The block hash that stands for a key: bytes, or a tuple with a number before 0.10.2."""
        digest = sha256(key.encode()).digest()
        structured = getattr(self.utils, "BlockHashType", None) or getattr(self.utils, "BlockHash", None)
        if not isinstance(structured, type):
            return digest
        number = int.from_bytes(digest[:8], "big")
        return structured(number, (number,))

    def in_events(self, block_hash: Any) -> list[Any]:
        """How a block hash may appear in events: as it is, or as a number."""
        if hasattr(block_hash, "hash_value"):
            return [block_hash.hash_value]
        convert = getattr(self.utils, "maybe_convert_block_hash", None)
        return [block_hash] if convert is None else [block_hash, convert(block_hash)]

    def grouped(self, block_hash: Any, group: int) -> Any:
        """The key under which a group's block is kept."""
        if hasattr(self.utils, "make_block_hash_with_group_id"):
            return self.utils.make_block_hash_with_group_id(block_hash, group)
        return self.utils.BlockHashWithGroupId(block_hash, group) if self.has_groups else block_hash


def installed_release() -> Release:
    """The vLLM of this environment, 0.9 or later. Raises ImportError if there is none."""
    pool = import_module("vllm.v1.core.block_pool")
    pool.logger.disabled = True  # it warns of every reset that is refused
    utils = import_module("vllm.v1.core.kv_cache_utils")
    events = import_module("vllm.distributed.kv_events")
    return Release(import_module("vllm").__version__, pool.BlockPool, utils.KVCacheBlock, utils, events.BlockStored)


def core_release(version: str) -> Release:
    """A release of which only the core files are there. Raises NotFetchedError if they are not."""
    modules = core_modules(version)
    utils = modules["kv_cache_utils"]
    stored = getattr(modules.get("kv_events"), "BlockStored", None)
    return Release(version, modules["block_pool"].BlockPool, utils.KVCacheBlock, utils, stored)
