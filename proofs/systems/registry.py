"""The shipped adapters by name, what each needs, and what to do where that is missing."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec

from blockpool.proofs.oracle.adapter import Adapter
from blockpool.proofs.systems import max_jenga, sglang, transformers, vllm_mlx
from blockpool.proofs.systems import ours as impl
from blockpool.proofs.systems.vllm.adapter import VllmPool
from blockpool.proofs.systems.vllm.files import NotFetchedError, fetched_releases
from blockpool.proofs.systems.vllm.release import core_release, installed_release

RELEASE_OF_VLLM = "vllm=="


class NoSuchAdapterError(LookupError):
    """No adapter is shipped under this name."""


class MissingPoolError(RuntimeError):
    """The pool that an adapter drives is not installed."""


@dataclass(frozen=True, slots=True)
class Shipped:
    """One adapter: its name for `blockpool conform`, the pool it drives, the packages it imports, how to get them."""

    name: str
    pool: str
    make: Callable[[], Adapter]
    needs: tuple[str, ...] = ()
    install: str = ""

    def missing(self) -> list[str]:
        """The packages that are not here."""
        return [package for package in self.needs if find_spec(package) is None]


SHIPPED = (
    Shipped("impl", "the pool of this project", impl.ImplPool),
    Shipped(
        "vllm",
        "vLLM's BlockPool, as installed",
        lambda: VllmPool(installed_release()),
        ("vllm",),
        "pip install vllm",
    ),
    Shipped(
        "vllm-mlx",
        "PagedCacheManager of vllm-mlx",
        vllm_mlx.MlxPool,
        ("vllm_mlx",),
        "pip install --no-deps vllm-mlx",
    ),
    Shipped(
        "max-jenga",
        "JengaBlockPool of MAX",
        max_jenga.JengaPool,
        ("max",),
        "pip install --no-deps max max-core",
    ),
    Shipped(
        "transformers",
        "CachePool and BlockLedger of transformers",
        transformers.TransformersPool,
        ("transformers",),
        "pip install --no-deps transformers",
    ),
    Shipped(
        "sglang-token",
        "TokenToKVPoolAllocator of SGLang",
        sglang.TokenPool,
        ("sglang", "torch"),
        "pip install torch numpy && pip install --no-deps sglang",
    ),
    Shipped(
        "sglang-paged",
        "PagedTokenToKVPoolAllocator of SGLang",
        sglang.PagedPool,
        ("sglang", "torch"),
        "pip install torch numpy && pip install --no-deps sglang",
    ),
)
"""Installed pools. Core files of a vLLM release have a name each, `vllm==VERSION`, once they are fetched."""


def names() -> list[str]:
    """Every name that `shipped` knows, fetched releases included."""
    return [*(one.name for one in SHIPPED), *(RELEASE_OF_VLLM + version for version in fetched_releases())]


def shipped(name: str) -> Adapter:
    """The adapter of this name. Raises NoSuchAdapterError or MissingPoolError, with words that say what to do."""
    return _maker(name)()


def _maker(name: str) -> Callable[[], Adapter]:
    if name.startswith(RELEASE_OF_VLLM):
        return partial(_release, name.removeprefix(RELEASE_OF_VLLM))
    for one in SHIPPED:
        if one.name == name:
            if missing := one.missing():
                raise MissingPoolError(f"{name} needs {', '.join(missing)}, which is not installed: {one.install}")
            return one.make
    raise NoSuchAdapterError(f"there is no adapter {name!r}; there are {', '.join(names())} and vllm==VERSION")


def _release(version: str) -> Adapter:
    try:
        return VllmPool(core_release(version))
    except NotFetchedError as error:
        raise MissingPoolError(str(error)) from error
