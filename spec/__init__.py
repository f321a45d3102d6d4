"""What a KV-cache block pool promises. Read in this order:

    pool/terms.py, prefix.py    the nouns, and what a key means
    pool/state.py       the state variables, the first state, derived notions
    pool/action.py      the shape of every action
    pool/allocation.py, publishing.py, eviction.py    references and the queue; keys given; keys that leave their block
    pool/queries.py     questions
    pool/events.py      what the outside is told, and the consumer that mirrors the cache from it
    claims/invariants.py, allocation.py, caching.py, possibilities.py    what is true of all that
    claims/ownership.py    the level above: who may use a block
    requests/layout.py, state.py    the environment: groups, requests, passes, and what memory holds
    requests/hits.py    the longest hit over all groups
    requests/action.py, scheduler.py, execution.py    what schedulers, workers and readers do
    requests/pool_calls.py, block_tables.py    how they use the pool
    claims/requests.py, request_possibilities.py    what a hit really promises, and which rule each claim needs
    scenarios.py    worked stories
    contract/    what is promised of pools judged from outside: calls, laws, profiles, and the judge

Standard library only. Nothing here knows the implementation.
"""

from typing import Any

from blockpool.spec.claims.allocation import LENDING_PROPERTIES
from blockpool.spec.claims.caching import CACHING_PROPERTIES
from blockpool.spec.claims.claim import Claim, Invariant, Possibility, StepProperty
from blockpool.spec.claims.invariants import INVARIANTS
from blockpool.spec.claims.ownership import LEDGER_PROPERTIES
from blockpool.spec.claims.possibilities import POSSIBILITIES
from blockpool.spec.claims.request_possibilities import WORLD_POSSIBILITIES
from blockpool.spec.claims.requests import WORLD_INVARIANTS, WORLD_STEP_PROPERTIES
from blockpool.spec.pool.action import Action, Handed, ResetDone, Step, steps, while_telling
from blockpool.spec.pool.allocation import CancelWatch, FreeBlocks, GetNewBlocks, Touch, UnpinBlocks
from blockpool.spec.pool.events import Cleared, Event, FalseEventError, Mirror, Removed, Stored, settled
from blockpool.spec.pool.eviction import EvictBlocks, MoveBlockHashes, ResetPrefixCache
from blockpool.spec.pool.prefix import Extra, Key, Prefix
from blockpool.spec.pool.publishing import CacheFullBlocks, CachePartialBlock
from blockpool.spec.pool.queries import (
    GetCachedBlock,
    GetNumFreeBlocks,
    GetUsage,
    IsBlockWritable,
    TakeEvents,
)
from blockpool.spec.pool.state import Pool, Primary, first_state
from blockpool.spec.pool.terms import NULL, BlockId, GroupId, Life, Reason, Watcher
from blockpool.spec.requests.action import Move, WorldStep
from blockpool.spec.requests.execution import BeginTransfer, EndTransfer, Invalidate, Reset, RunPass, Unpin
from blockpool.spec.requests.layout import Group, Kind
from blockpool.spec.requests.scheduler import Admit, Drop, Grow, LookUp
from blockpool.spec.requests.state import RULES, Plan, Rules, Running, Transfer, World, first_world

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
