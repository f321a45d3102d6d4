"""The nouns: what the specification talks about, as types.

A *block* is a fixed-size piece of KV memory. The pool knows it by its number and never looks inside.
A *group* is a set of model layers that share block tables; a prefix is cached once per group.
A *watcher* is the name of a reader who released a block, still reads it, and wants to be told before it is reused.
"""

from enum import StrEnum
from typing import NewType

BlockId = NewType("BlockId", int)
GroupId = NewType("GroupId", int)
Watcher = NewType("Watcher", int)

NULL = BlockId(0)
"""The null block: a placeholder in block tables. Never lent, queued, keyed, watched or counted."""


class Reason(StrEnum):
    """Why a correct pool refuses a call. A pool that refuses changes nothing."""

    NOT_ENOUGH_FREE = "not enough free blocks"
    BAD_COUNT = "bad count"
    UNKNOWN_BLOCK = "unknown block"
    NOT_HELD = "not held"
    NULL_BLOCK = "null block"
    REPEATED_BLOCK = "repeated block"
    ALREADY_CACHED = "already cached"
    DIFFERENT_CONTENT = "different content"
    BAD_RANGE = "bad range"
    CACHING_DISABLED = "caching disabled"
    RE_ENTRANT = "re-entrant"


class Life(StrEnum):
    """The six states a block can be in; which one is derived from the pool, never stored."""

    NULL = "null"  # the placeholder
    BLANK = "blank"  # free, and nothing to find in it
    PRIVATE = "private"  # held, and no lookup can find it: its holder may write
    PUBLISHED = "published"  # held, and found by lookups: read only
    CACHED = "cached"  # free, but a lookup still finds it: a hit revives it, an allocation evicts it
    WATCHED = "watched"  # free, not findable, but somebody reads it until told
