"""The longest prefix that all groups can serve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from blockpool.impl.block import KVCacheBlock
from blockpool.impl.managers.base import GroupManager
from blockpool.impl.managers.groups import Kind
from blockpool.impl.request import CacheRequest

Tables = tuple[tuple[KVCacheBlock, ...], ...]

LOOKUP_ORDER = (Kind.RING, Kind.FULL, Kind.WINDOW, Kind.STATE)
"""The sooner a hit is known to be short, the less is left to look at."""


@dataclass(frozen=True, slots=True)
class Hit:
    """The longest usable prefix: its length in tokens, and one table for each group."""

    num_tokens: int
    tables: Tables


def longest_common_hit(managers: Sequence[GroupManager], request: CacheRequest, at_most: int) -> Hit:
    """The longest hit of up to `at_most` tokens, a multiple of the hash unit.

    A fixpoint: each group in turn lowers the length to the greatest one that it can serve, until all agree.
    """
    lookups = [(manager, manager.prefix_of(request)) for manager in managers]
    in_order = sorted(lookups, key=lambda lookup: LOOKUP_ORDER.index(lookup[0].kind))
    length, num_agreed = at_most, 0
    while num_agreed < len(in_order):
        for manager, prefix in in_order:
            served = manager.longest_hit(prefix, length)
            num_agreed = num_agreed + 1 if served == length else 1
            length = served
    return Hit(length, tuple(manager.hit_table(prefix, length) for manager, prefix in lookups))
