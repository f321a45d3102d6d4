"""Is a state reachable? Asked of the exhaustive search, in a scope made for the state, up to renaming."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from blockpool.proofs.core.counterexample import Call
from blockpool.proofs.explore.scopes import Scope
from blockpool.proofs.explore.search import explore
from blockpool.proofs.explore.symmetry import Canon, Symmetry
from blockpool.proofs.prove.pool.structures import blocks_of
from blockpool.spec import Pool, Prefix

REACHED = "the state is reached"
LARGEST = 3  # lendable blocks of a scope that is searched
DEPTH = 6  # calls in the largest scope; the smaller ones are searched to their end
MOST_REFS = 4


@dataclass(frozen=True, slots=True)
class Search:
    """What the search says of a state."""

    states: int = 0  # searched
    calls: tuple[Call, ...] | None = None  # from a new pool to the state; None if it was not reached
    unsearched: str = ""  # why the search does not know


class _Target:
    """Follows a search and reports the state it waits for."""

    def __init__(self, scope: Scope, pool: Pool) -> None:
        self.symmetry = Symmetry(scope)
        self.wanted = self._named_anew(pool)
        self.last: Any = None

    def follow(self, state: Any, action: Any, allowed: Sequence[Any]) -> str | None:
        """Called before every call from every state."""
        if state is self.last:
            return None
        self.last = state
        return REACHED if self._named_anew(state) == self.wanted else None

    def _named_anew(self, pool: Pool) -> tuple[Canon, int, int]:
        """The state up to renaming; entries without a member count, as no search ever sees one."""
        return self.symmetry.canon(pool), len(pool.aliases), len(pool.watchers)


def find(pool: Pool) -> Search:
    """The calls that lead to this state, whatever events were sent on the way."""
    target = replace(pool, outbox=(), reporting=False)
    if not blocks_of(pool) <= set(range(pool.size)):
        return Search(unsearched="it speaks of blocks that the pool does not have")
    scope = scope_for(target)
    if not 0 < scope.blocks <= LARGEST or scope.max_refs > MOST_REFS:
        return Search(unsearched="it is too large to search for")
    follower = _Target(scope, target)
    depth = DEPTH if scope.blocks == LARGEST else None
    found = explore(scope, follower=follower, follow_claim=REACHED, first_failure_ends=True, depth=depth)
    failure = found.tally.failures.get(REACHED)
    if failure is not None:
        return Search(len(found.states), found.trace(failure)[:-1])
    return Search(len(found.states), unsearched=found.stopped or "")


def scope_for(pool: Pool) -> Scope:
    """The scope with as many blocks, the same prefixes, and references and watchers enough."""
    keys = {*pool.index, *(primary.key for primary in pool.primary.values())}.union(*pool.aliases.values())
    watchers = {watcher for names in pool.watchers.values() for watcher in names}
    prefixes = {key.prefix for key in keys}
    whole = {one for one in prefixes if not any(one != other and other.first(len(one)) == one for other in prefixes)}
    return Scope(
        "counterexample",
        "as many blocks, keys and watchers as the counterexample has",
        blocks=len(pool.lendable),
        prefixes=tuple(sorted(whole)) or (Prefix((0,)),),
        block_sizes=(1,),
        caching=pool.caching,
        reporting=False,
        max_refs=max([0, *pool.refs.values()]) + 1,
        watchers=max(watchers, default=-1) + 1,
        max_watches=max(sum(map(len, pool.watchers.values())), 1),
        nested=pool.telling,
        batch=2,
        unpinned=1,
    )
