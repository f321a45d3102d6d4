"""Keys that leave their block: moved to a copy, evicted by name, or all forgotten at once."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

from blockpool.spec.pool.action import Action, ResetDone, any_unknown, drop_keys, refusals, report
from blockpool.spec.pool.events import Cleared
from blockpool.spec.pool.publishing import add_alias, enter
from blockpool.spec.pool.state import Pool
from blockpool.spec.pool.terms import NULL, BlockId, Reason


@dataclass(frozen=True, slots=True)
class MoveBlockHashes(Action[None]):
    """All keys of `source` now name `target`: its content was copied there. Silent: no event, no reference, no place in
    the queue changes. Nothing happens if the source has no key.
    """

    source: BlockId
    target: BlockId

    name: ClassVar[str] = "move_block_hashes"
    reasons: ClassVar = frozenset(
        {Reason.RE_ENTRANT, Reason.UNKNOWN_BLOCK, Reason.NULL_BLOCK, Reason.NOT_HELD, Reason.ALREADY_CACHED}
    )

    def guard(self, pool: Pool) -> frozenset[Reason]:
        known = pool.knows(self.target)
        return refusals(
            (Reason.RE_ENTRANT, pool.telling),
            (Reason.UNKNOWN_BLOCK, any_unknown(pool, [self.source, self.target])),
            (Reason.NULL_BLOCK, self.target == NULL),
            (Reason.NOT_HELD, known and self.target != NULL and not pool.is_held(self.target)),
            (Reason.ALREADY_CACHED, self.target in pool.primary),
        )

    def answers(self, pool: Pool) -> Iterable[None]:
        return (None,)

    def effect(self, pool: Pool, answer: None) -> Pool:
        if self.source not in pool.primary:
            return pool
        primary, aliases = pool.primary[self.source], pool.aliases.get(self.source, frozenset())
        silent = replace(drop_keys(pool, [self.source]), outbox=pool.outbox)
        moved = enter(silent, {self.target: primary.key})
        for alias in sorted(aliases):
            moved = add_alias(moved, self.target, alias)
        return moved


@dataclass(frozen=True, slots=True)
class EvictBlocks(Action[None]):
    """Forget what these blocks hold. References, watchers and the place in the queue stay as they are."""

    blocks: frozenset[BlockId]

    name: ClassVar[str] = "evict_blocks"
    reasons: ClassVar = frozenset({Reason.RE_ENTRANT, Reason.UNKNOWN_BLOCK})

    def guard(self, pool: Pool) -> frozenset[Reason]:
        return refusals(
            (Reason.RE_ENTRANT, pool.telling),
            (Reason.UNKNOWN_BLOCK, any_unknown(pool, self.blocks)),
        )

    def answers(self, pool: Pool) -> Iterable[None]:
        return (None,)

    def effect(self, pool: Pool, answer: None) -> Pool:
        return drop_keys(pool, sorted(self.blocks))


@dataclass(frozen=True, slots=True)
class ResetPrefixCache(Action[ResetDone]):
    """Forget everything, after telling every watcher; for new weights. Answers False, and changes nothing, while any
    block is held. The queue keeps its order.
    """

    name: ClassVar[str] = "reset_prefix_cache"
    reasons: ClassVar = frozenset({Reason.RE_ENTRANT})

    def guard(self, pool: Pool) -> frozenset[Reason]:
        return refusals((Reason.RE_ENTRANT, pool.telling))

    def answers(self, pool: Pool) -> Iterable[ResetDone]:
        if any(pool.refs.values()):
            return (ResetDone(False, frozenset()),)
        return (ResetDone(True, pool.told_about(pool.watchers)),)

    def effect(self, pool: Pool, answer: ResetDone) -> Pool:
        if not answer.done:
            return pool
        return report(replace(pool, primary={}, aliases={}, index={}, watchers={}), [Cleared()])
