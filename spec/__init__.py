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
    layout.py, serving.py    the environment: groups, requests, passes, and what memory holds
    hits.py         the longest hit over all groups
    moves.py, scheduling.py, passing.py    what schedulers, workers and readers do
    handling.py, tables.py    how they use the pool
    serving_properties.py, serving_possibilities.py    what a hit really promises, and which rule each claim needs
    scenarios.py    worked stories
    promises.py, profiles.py    what is promised of pools judged from outside, and the choices that they make

Standard library only. Nothing here knows the implementation.
"""

from typing import Any

from spec.actions import Action, Handed, ResetDone, Step, steps, while_telling
from spec.caching_properties import CACHING_PROPERTIES
from spec.events import Cleared, Event, FalseEventError, Mirror, Removed, Stored, settled
from spec.forgetting import EvictBlocks, MoveBlockHashes, ResetPrefixCache
from spec.invariants import INVARIANTS
from spec.layout import Group, Kind
from spec.ledger import LEDGER_PROPERTIES
from spec.lending import CancelWatch, FreeBlocks, GetNewBlocks, Touch, UnpinBlocks
from spec.lending_properties import LENDING_PROPERTIES
from spec.moves import Move, WorldStep
from spec.passing import BeginTransfer, EndTransfer, Invalidate, Reset, RunPass, Unpin
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
from spec.scheduling import Admit, Drop, Grow, LookUp
from spec.serving import RULES, Plan, Rules, Running, Transfer, World, first_world
from spec.serving_possibilities import WORLD_POSSIBILITIES
from spec.serving_properties import WORLD_INVARIANTS, WORLD_STEP_PROPERTIES
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

WORLD_CLAIMS: tuple[Claim[Any], ...] = (*WORLD_INVARIANTS, *WORLD_STEP_PROPERTIES, *WORLD_POSSIBILITIES)
"""Every claim about the pool together with requests and memory."""

# fmt: off
__all__ = [
    "ACTIONS",
    "CLAIMS",
    "INVARIANTS",
    "NULL",
    "POSSIBILITIES",
    "RULES",
    "STEP_PROPERTIES",
    "WORLD_CLAIMS",
    "WORLD_INVARIANTS",
    "WORLD_POSSIBILITIES",
    "WORLD_STEP_PROPERTIES",
    "Action",
    "Admit",
    "BeginTransfer",
    "BlockId",
    "CacheFullBlocks",
    "CachePartialBlock",
    "CancelWatch",
    "Claim",
    "Cleared",
    "Drop",
    "EndTransfer",
    "Event",
    "EvictBlocks",
    "Extra",
    "FalseEventError",
    "FreeBlocks",
    "GetCachedBlock",
    "GetNewBlocks",
    "GetNumFreeBlocks",
    "GetUsage",
    "Group",
    "GroupId",
    "Grow",
    "Handed",
    "Invalidate",
    "Invariant",
    "IsBlockWritable",
    "Key",
    "Kind",
    "Life",
    "LookUp",
    "Mirror",
    "Move",
    "MoveBlockHashes",
    "Plan",
    "Pool",
    "Possibility",
    "Prefix",
    "Primary",
    "Reason",
    "Removed",
    "Reset",
    "ResetDone",
    "ResetPrefixCache",
    "Rules",
    "RunPass",
    "Running",
    "Step",
    "StepProperty",
    "Stored",
    "TakeEvents",
    "Touch",
    "Transfer",
    "Unpin",
    "UnpinBlocks",
    "Watcher",
    "World",
    "WorldStep",
    "first_state",
    "first_world",
    "settled",
    "steps",
    "while_telling",
]
# fmt: on
