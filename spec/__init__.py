"""What a KV-cache block pool promises. Read in this order:

    terms.py        the nouns
    prefix.py       what a key means
    pool.py         the state variables, the first state, derived notions
    actions.py      the shape of every action
    lending.py      references and the free queue
    publishing.py   giving blocks their keys
    forgetting.py   keys that leave their block
    queries.py      questions
    events.py       what the outside is told, and the consumer that mirrors the cache from it
    invariants.py, lending_properties.py, caching_properties.py, possibilities.py    the claims
    ledger.py       the level above: ownership only
    scenarios.py    worked stories

Standard library only. Nothing here knows the implementation.
"""

from typing import Any

from spec.actions import Action, Handed, ResetDone, Step, steps, while_telling
from spec.caching_properties import CACHING_PROPERTIES
from spec.events import Cleared, Event, FalseEventError, Mirror, Removed, Stored, settled
from spec.forgetting import EvictBlocks, MoveBlockHashes, ResetPrefixCache
from spec.invariants import INVARIANTS
from spec.ledger import LEDGER_PROPERTIES
from spec.lending import CancelWatch, FreeBlocks, GetNewBlocks, Touch, UnpinBlocks
from spec.lending_properties import LENDING_PROPERTIES
from spec.pool import Pool, Primary, first_state
from spec.possibilities import POSSIBILITIES
from spec.prefix import Extra, Key, Prefix
from spec.properties import Claim, Invariant, Possibility, StepProperty
from spec.publishing import CacheFullBlocks, CachePartialBlock
from spec.queries import (
    GetCachedBlock,
    GetNumFreeBlocks,
    GetUsage,
    IsBlockWritable,
    TakeEvents,
)
from spec.terms import NULL, BlockId, GroupId, Life, Reason, Watcher

ACTIONS: tuple[type[Action[Any]], ...] = (
    GetNewBlocks,
    Touch,
    FreeBlocks,
    UnpinBlocks,
    CancelWatch,
    CacheFullBlocks,
    CachePartialBlock,
    MoveBlockHashes,
    EvictBlocks,
    ResetPrefixCache,
    GetCachedBlock,
    IsBlockWritable,
    GetNumFreeBlocks,
    GetUsage,
    TakeEvents,
)
"""Every public operation."""

STEP_PROPERTIES: tuple[StepProperty, ...] = LENDING_PROPERTIES + CACHING_PROPERTIES + LEDGER_PROPERTIES

CLAIMS: tuple[Claim[Any], ...] = (*INVARIANTS, *STEP_PROPERTIES, *POSSIBILITIES)
"""Every claim, of every kind; names are unique."""

__all__ = [
    "ACTIONS",
    "CLAIMS",
    "INVARIANTS",
    "NULL",
    "POSSIBILITIES",
    "STEP_PROPERTIES",
    "Action",
    "BlockId",
    "CacheFullBlocks",
    "CachePartialBlock",
    "CancelWatch",
    "Claim",
    "Cleared",
    "Event",
    "EvictBlocks",
    "Extra",
    "FalseEventError",
    "FreeBlocks",
    "GetCachedBlock",
    "GetNewBlocks",
    "GetNumFreeBlocks",
    "GetUsage",
    "GroupId",
    "Handed",
    "Invariant",
    "IsBlockWritable",
    "Key",
    "Life",
    "Mirror",
    "MoveBlockHashes",
    "Pool",
    "Possibility",
    "Prefix",
    "Primary",
    "Reason",
    "Removed",
    "ResetDone",
    "ResetPrefixCache",
    "Step",
    "StepProperty",
    "Stored",
    "TakeEvents",
    "Touch",
    "UnpinBlocks",
    "Watcher",
    "first_state",
    "settled",
    "steps",
    "while_telling",
]  # fmt: skip
