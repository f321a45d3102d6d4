"""The concrete key against the abstract one: digests are equal exactly when the prefixes are.

The abstract key is the prefix itself, so the spec can never confuse two. `impl` uses SHA-256 chains; here pairs of
prefixes that differ in one place (a token, its position, the kind, value or position of an extra) are drawn, and their
digests compared at every hash unit.
"""

from dataclasses import dataclass, replace

from hypothesis import HealthCheck, Verbosity, given, seed, settings
from hypothesis import strategies as st
from hypothesis.reporting import with_reporter

from blockpool.proofs.refine.correspondence import request_for
from blockpool.spec import Extra, Prefix

SEPARATES = "digests_are_equal_exactly_when_prefixes_are"

_VALUES = st.sampled_from(["", "a", "b", "ab", "0"])
_ADAPTERS = st.sampled_from(["a#1", "a#2", "b#1", "#1"])  # a name and an id
_TOKENS = st.integers(0, 3) | st.integers(-(2**70), 2**70)


@dataclass
class Pairs:
    """What was compared, and the first pair that was confused or torn apart."""

    compared: int = 0
    unequal: int = 0
    failure: str | None = None


@st.composite
def _extras(draw: st.DrawFn) -> tuple[Extra, ...]:
    found = [Extra("salt", draw(_VALUES))] if draw(st.booleans()) else []
    found += [Extra("adapter", draw(_ADAPTERS))] if draw(st.booleans()) else []
    places = draw(st.lists(st.integers(0, 5), max_size=2, unique=True))
    return tuple(sorted((*found, *(Extra("item", draw(_VALUES), at=place) for place in places))))


_PREFIXES = st.builds(Prefix, st.lists(_TOKENS, max_size=6).map(tuple), _extras())


@st.composite
def _pairs(draw: st.DrawFn) -> tuple[Prefix, Prefix, int]:
    """Two prefixes that mostly differ in one place, and a hash unit."""
    one, unit = draw(_PREFIXES), draw(st.integers(1, 3))
    tokens, extras = list(one.tokens), one.extras
    match draw(st.sampled_from(["token", "sign", "order", "extras", "kind", "adapter", "place", "other"])):
        case "token" if tokens:
            tokens[draw(st.integers(0, len(tokens) - 1))] = draw(_TOKENS)
        case "sign" if tokens:
            place = draw(st.integers(0, len(tokens) - 1))
            tokens[place] = -tokens[place]
        case "adapter":
            one = replace(one, extras=(Extra("adapter", draw(_ADAPTERS)),))
            extras = (Extra("adapter", draw(_ADAPTERS)),)
        case "order":
            tokens = draw(st.permutations(tokens))
        case "extras":
            extras = draw(_extras())
        case "kind":  # the same name, of an adapter here and a salt there
            one = replace(one, extras=(Extra("adapter", "a#1"),))
            extras = (Extra("salt", "a"),)
        case "place":  # the same item at another place, often within the same hash unit
            item = Extra("item", draw(_VALUES), draw(st.integers(0, 3)))
            one = replace(one, extras=(item,))
            extras = (replace(item, at=draw(st.integers(0, 3))),)
        case "other":
            return one, draw(_PREFIXES), unit
    return one, Prefix(tuple(tokens), extras), unit


def compare_digests(examples: int, chosen_seed: int | None = None) -> Pairs:
    """Compare the digests of many pairs of prefixes."""
    pairs = Pairs()

    @settings(
        max_examples=examples,
        derandomize=chosen_seed is None,
        deadline=None,
        database=None,
        print_blob=False,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
    )
    @given(_pairs())
    def compare(drawn: tuple[Prefix, Prefix, int]) -> None:
        one, other, unit = drawn
        digests = [request_for(prefix, unit).block_hashes for prefix in (one, other)]
        for place, (first, second) in enumerate(zip(*digests, strict=False), 1):
            same = one.first(place * unit) == other.first(place * unit)
            pairs.compared += 1
            pairs.unequal += not same
            if (first == second) is not same:
                verb = "confused" if first == second else "torn apart"
                pairs.failure = f"{verb}, unit {unit}: {one.first(place * unit)} and {other.first(place * unit)}"
                raise AssertionError(pairs.failure)

    try:
        with with_reporter(lambda _: None):
            (compare if chosen_seed is None else seed(chosen_seed)(compare))()
    except AssertionError:
        if pairs.failure is None:
            raise
    return pairs
