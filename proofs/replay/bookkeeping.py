"""Digests and the keys of the spec that they stand for, as long as they are findable.

A replay meets far more prefixes than are cached at any time, so what left the index is forgotten now and then.
"""

from collections.abc import Container, Sized
from typing import Protocol

from blockpool.proofs.refine.correspondence import BrokenPoolError, Names
from blockpool.spec import GroupId, Key


class Index(Container[Key], Sized, Protocol):
    """The keys that are findable now."""


class FindableNames(Names):
    """Names that are learned when a block is published and may be forgotten when its key has left the index."""

    def __init__(self) -> None:
        super().__init__(unit=1)
        self._findable: dict[tuple[bytes, int], Key] = {}

    def learn(self, digest: bytes, key: Key) -> None:
        """This digest now stands for this key. Raises BrokenPoolError if it stands for another one."""
        known = self._findable.setdefault((digest, key.group), key)
        if known != key:
            raise BrokenPoolError(f"{key} and {known} have the same digest")

    def key(self, digest: bytes, group: int) -> Key:
        """The key of the spec that this digest and group stand for."""
        key = self._findable.get((digest, GroupId(group)))
        if key is None:
            raise BrokenPoolError(f"digest {digest.hex()[:12]} belongs to no prefix that was published lately")
        return key

    def forget_all_but(self, index: Index) -> None:
        """Forget what is not in the index, once that is more than half. No event about it may be untaken."""
        if len(self._findable) > 2 * len(index) + 1000:
            self._findable = {place: key for place, key in self._findable.items() if key in index}

    def __len__(self) -> int:
        return len(self._findable)
