"""What comparing the pool with the spec takes: the keys that digests stand for, and differences in few words.

A replay meets far more prefixes than are cached at any time, so digests that left the index are forgotten now and then.
"""

from collections.abc import Container, Mapping, Sized
from itertools import zip_longest
from typing import Protocol

from blockpool.proofs.core.text import show
from blockpool.proofs.refine.correspondence import BrokenPoolError, Names
from blockpool.spec import GroupId, Key, Pool

LONGEST = 300
SHOWN = 3


def clipped(thing: object) -> str:
    """A value of the spec, or a text, cut in the middle if it is long."""
    text = show(thing)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 60]} .. {text[-50:]}"


def differing(expected: Pool, seen: Pool) -> str:
    """The first entries of each state variable that differ; empty if only events do."""
    found = []
    for name in ("refs", "primary", "aliases", "index", "watchers"):
        found += _entries(name, getattr(expected, name), getattr(seen, name))
    for place, (wanted, got) in enumerate(zip_longest(expected.queue, seen.queue)):
        if wanted != got:
            found.append(f"queue: place {place} has block {got}, the spec says {wanted}")
            break
    return "; ".join(found)


def _entries(name: str, expected: Mapping[object, object], seen: Mapping[object, object]) -> list[str]:
    places = [place for place in {**expected, **seen} if expected.get(place) != seen.get(place)]
    words = [
        f"{name}[{clipped(place)}] is {clipped(seen.get(place))}, the spec says {clipped(expected.get(place))}"
        for place in places[:SHOWN]
    ]
    return [*words, f"{name}: {len(places) - SHOWN} more differ"] if len(places) > SHOWN else words


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
