"""Who is who: the prefixes, watchers and blocks of the spec, and the digests, callbacks and blocks of `impl`."""

from collections.abc import Callable
from typing import Any

from blockpool.impl.block import KVCacheBlock
from blockpool.impl.pool import BlockPool
from blockpool.impl.request import Adapter, Item, Request
from blockpool.spec import BlockId, GroupId, Key, Prefix, Watcher


class BrokenPoolError(Exception):
    """The implementation is in a state that no state of the spec describes; the message says what is wrong with it."""


class Names:
    """Prefixes by their digest, as the requests of `impl` compute it. `unit` is the hash unit in tokens.

    A foreign block is one of another pool, with the same number as one of ours. `alone`: as if no other pool existed,
    when `impl` spares itself the test whose a block is; then a foreign block is no block at all.
    """

    def __init__(self, unit: int, *, alone: bool = False) -> None:
        self.unit, self.alone = unit, alone
        self.stranger: Any = object() if alone else BlockPool(2, False, 1).blocks[1]
        self.orphan = KVCacheBlock(1)  # of no pool at all
        self._requests: dict[Prefix, Request] = {}
        self._digests: dict[Prefix, bytes] = {}
        self._keys: dict[tuple[bytes, int], Key] = {}
        self._prefixes: dict[bytes, Prefix] = {}

    def request(self, prefix: Prefix) -> Request:
        """A request with these tokens and extras, its hashes computed and remembered."""
        request = self._requests.get(prefix)
        if request is None:
            request = self._requests[prefix] = request_for(prefix, self.unit)
            for place, digest in enumerate(request.block_hashes):
                short = prefix.first((place + 1) * self.unit)
                if self._prefixes.setdefault(digest, short) != short:
                    raise BrokenPoolError(f"{short} and {self._prefixes[digest]} have the same digest")
        return request

    def digest(self, prefix: Prefix) -> bytes:
        """The digest of a prefix that ends at a hash unit."""
        digest = self._digests.get(prefix)
        if digest is None:
            digest = self._digests[prefix] = self.request(prefix).block_hashes[-1]
        return digest

    def key(self, digest: bytes, group: int) -> Key:
        """The key of the spec that this digest and group stand for."""
        key = self._keys.get((digest, group))
        if key is None:
            if digest not in self._prefixes:
                raise BrokenPoolError(f"digest {digest.hex()[:12]} belongs to no prefix that was ever published")
            key = self._keys[digest, group] = Key(self._prefixes[digest], GroupId(group))
        return key


def request_for(prefix: Prefix, unit: int) -> Request:
    """A request of `impl` with the tokens and extras of this prefix; an adapter is written as `name#id`."""
    salts = [extra.value for extra in prefix.extras if extra.kind == "salt"]
    adapters = [extra.value.partition("#") for extra in prefix.extras if extra.kind == "adapter"]
    items = [Item(extra.value, extra.at, 1) for extra in prefix.extras if extra.kind == "item"]
    return Request(
        "request",
        prefix.tokens,
        unit,
        adapter=Adapter(adapters[0][0], int(adapters[0][2] or 1)) if adapters else None,
        cache_salt=salts[0] if salts else None,
        items=items,
    )


class Bell:
    """A watcher as `impl` knows it: a callback. It notes whom it was rung for, and may look around when it rings."""

    def __init__(self, watcher: Watcher, rung: list[tuple[BlockId, Watcher]], look: Callable[[], None]) -> None:
        self.watcher, self._rung, self._look = watcher, rung, look

    def __call__(self, block: KVCacheBlock) -> None:
        self._rung.append((BlockId(block.block_id), self.watcher))
        self._look()
