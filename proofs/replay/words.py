"""Differences between large states in few words."""

from collections.abc import Mapping
from itertools import zip_longest

from blockpool.proofs.core.text import show
from blockpool.spec import Pool

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
