"""Where a claim about vLLM's pool is tried: the real `BlockPool` of a release, and the pool of this project.

Both have the same methods, so that one witness runs on both. Requests are as small as each of them allows.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from types import SimpleNamespace
from typing import Any, TypeVar

from blockpool import impl
from blockpool.proofs.systems.vllm.release import Release, core_release

RELEASE = "0.33.0"
UNIT = 4


@dataclass(frozen=True)
class Lab:
    """One implementation: how to make its pools and its requests, and how to look into them."""

    name: str
    make_pool: Callable[..., Any]
    make_request: Callable[[Sequence[int], int], Any]
    count_keys: Callable[[Any, Any], int]
    queue_class: type[Any]
    release: str = ""  # of vLLM
    in_events: Callable[[Any], Any] = bytes  # how events name a hash

    def pool(self, blocks: int, *, caching: bool = True, unit: int = UNIT, events: bool = False) -> Any:
        """A pool that can lend so many blocks."""
        return self.make_pool(blocks + 1, caching, unit, events)

    def request(self, tokens: Iterable[int], unit: int = UNIT) -> Any:
        return self.make_request(list(tokens), unit)

    def publish(self, pool: Any, request: Any, blocks: Sequence[Any], group: int = 0) -> None:
        """Full blocks, from the beginning of the request."""
        pool.cache_full_blocks(request, list(blocks), 0, len(blocks), UNIT, group)

    def find(self, pool: Any, request: Any, blocks: int = 1, group: int = 0) -> Any:
        """The block found under the prefix of so many full blocks; None if there is none."""
        found = pool.get_cached_block(request.block_hashes[blocks * UNIT // pool.hash_block_size - 1], [group])
        return found[0] if found else None

    def queue(self, pool: Any) -> list[int]:
        """The free queue, next victim first."""
        return [block.block_id for block in pool.free_block_queue.get_all_free_blocks()]

    def keys(self, pool: Any, block: Any) -> int:
        """How many keys a block has."""
        return self.count_keys(pool, block)


AnyLab = TypeVar("AnyLab", bound=Lab)


def ours() -> Lab:
    """The pool of this project."""
    return Lab(
        "impl",
        impl.BlockPool,
        lambda tokens, unit: impl.Request("request", tokens, unit),
        lambda pool, block: len(pool.keys_of(block)),
        impl.FreeKVCacheBlockQueue,
    )


def vllm() -> Lab:
    """The core files of vLLM's release. Raises NotFetchedError if they are not there."""
    return of_release(core_release(RELEASE), Lab)


def of_release(release: Release, kind: type[AnyLab]) -> AnyLab:
    """The pool of a release of vLLM, of the files that are there."""
    return kind(
        f"vllm {release.version}",
        release.pool,
        _request,
        lambda pool, block: (
            0
            if block.block_hash is None
            else 1 + len(getattr(pool, "cached_block_hashes_by_block", {}).get(block.block_id, ()))
        ),
        release.utils.FreeKVCacheBlockQueue,
        release.version,
        release.utils.maybe_convert_block_hash,
    )


def _request(tokens: Sequence[int], unit: int) -> SimpleNamespace:
    """What the pool reads of a request; the hash of a prefix is one of all its tokens."""
    ends = range(unit, len(tokens) + 1, unit)
    return SimpleNamespace(
        request_id="request",
        block_hashes=[sha256(repr(tokens[:end]).encode()).digest() for end in ends],
        all_token_ids=list(tokens),
        lora_request=None,
        mm_features=[],
        cache_salt=None,
        prompt_embeds=None,
        session_id=None,
    )
