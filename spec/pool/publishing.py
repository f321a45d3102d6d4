"""Publishing: giving blocks their keys, so that later requests find them.

That a published block really holds its prefix is the caller's duty; the pool cannot look inside.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from blockpool.spec.pool.action import Action, any_unknown, drop_keys, refusals, report, updated
from blockpool.spec.pool.events import Stored
from blockpool.spec.pool.prefix import Key, Prefix
from blockpool.spec.pool.state import Pool, Primary
from blockpool.spec.pool.terms import NULL, BlockId, GroupId, Reason


@dataclass(frozen=True, slots=True)
class CacheFullBlocks(Action[None]):
    """Publish the full blocks num_cached..num_full-1 of a block table: each is found under the prefix that ends in it.

    Null blocks and blocks whose mask bit is off are left out. A block that was published with fewer tokens loses
    its old keys (promotion). One Stored is sent for each run of consecutive blocks.
    """

    prefix: Prefix  # the tokens of the request
    blocks: tuple[BlockId, ...]  # its block table
    num_cached: int
    num_full: int
    block_size: int
    group: GroupId
    mask: tuple[bool, ...] | None = None  # one bit for each block from num_cached to num_full

    name: ClassVar[str] = "cache_full_blocks"
    reasons: ClassVar = frozenset(
        {
            Reason.RE_ENTRANT,
            Reason.CACHING_DISABLED,
            Reason.BAD_RANGE,
            Reason.UNKNOWN_BLOCK,
            Reason.REPEATED_BLOCK,
            Reason.NOT_HELD,
            Reason.ALREADY_CACHED,
        }
    )

    def guard(self, pool: Pool) -> frozenset[Reason]:
        bad_range = self.has_bad_range(pool)
        chosen = {} if bad_range else self.chosen()
        blocks = list(chosen.values())
        known = [(position, block) for position, block in chosen.items() if pool.knows(block)]
        return refusals(
            (Reason.RE_ENTRANT, pool.telling),
            (Reason.CACHING_DISABLED, not pool.caching),
            (Reason.BAD_RANGE, bad_range),
            (Reason.UNKNOWN_BLOCK, any_unknown(pool, blocks)),
            (Reason.REPEATED_BLOCK, len(set(blocks)) < len(blocks)),
            (Reason.NOT_HELD, any(not pool.is_held(block) for _, block in known)),
            (Reason.ALREADY_CACHED, any(covers(pool, block, self.end(position)) for position, block in known)),
        )

    def answers(self, pool: Pool) -> Iterable[None]:
        return (None,)

    def effect(self, pool: Pool, answer: None) -> Pool:
        chosen = self.chosen()
        pool = drop_keys(pool, chosen.values())
        pool = enter(pool, {block: self.key(position) for position, block in chosen.items()})
        return report(pool, [self.stored(pool, run) for run in runs(sorted(chosen))])

    def has_bad_range(self, pool: Pool) -> bool:
        """Are the bounds, the block size, the mask or the number of hashed tokens wrong?"""
        if min(self.num_cached, self.num_full) < 0 or not is_multiple(self.block_size, pool.unit):
            return True
        if self.num_full <= self.num_cached:
            return False  # nothing to publish
        return (
            self.num_full > len(self.blocks)
            or self.num_full * self.block_size > hashed_tokens(self.prefix, pool.unit)
            or (self.mask is not None and len(self.mask) != self.num_full - self.num_cached)
        )

    def chosen(self) -> dict[int, BlockId]:
        """The blocks to publish, by their position in the table."""
        return {
            position: self.blocks[position]
            for position in range(self.num_cached, self.num_full)
            if self.blocks[position] != NULL and (self.mask is None or self.mask[position - self.num_cached])
        }

    def end(self, position: int) -> int:
        """How many tokens of the prefix are covered when the block at this position is full."""
        return (position + 1) * self.block_size

    def key(self, position: int) -> Key:
        return Key(self.prefix.first(self.end(position)), self.group)

    def stored(self, pool: Pool, run: Sequence[int]) -> Stored:
        """The event for a run of consecutive positions."""
        start, end = run[0] * self.block_size, self.end(run[-1])
        return Stored(
            keys=tuple(self.key(position) for position in run),
            parent=known_parent(pool, self.prefix, start, self.group),
            tokens=self.prefix.tokens[start:end],
            block_size=self.block_size,
        )


@dataclass(frozen=True, slots=True)
class CachePartialBlock(Action[Key | None]):
    """Publish a block under a prefix that may end inside it. Answers the key; None for the null block.

    A longer prefix than the block had replaces all its keys; a shorter one becomes an alias; the same one changes
    nothing. With `replace_existing` every earlier key goes: the caller has rewritten the block.
    """

    prefix: Prefix
    block: BlockId
    num_tokens: int
    group: GroupId
    block_size: int
    replace_existing: bool = False

    name: ClassVar[str] = "cache_partial_block"
    reasons: ClassVar = frozenset(
        {
            Reason.RE_ENTRANT,
            Reason.CACHING_DISABLED,
            Reason.BAD_RANGE,
            Reason.UNKNOWN_BLOCK,
            Reason.NOT_HELD,
            Reason.DIFFERENT_CONTENT,
        }
    )

    def guard(self, pool: Pool) -> frozenset[Reason]:
        bad_range = (
            not is_multiple(self.block_size, pool.unit)
            or not is_multiple(self.num_tokens, pool.unit)
            or self.num_tokens > hashed_tokens(self.prefix, pool.unit)
        )
        known = pool.knows(self.block)
        primary = pool.primary.get(self.block)
        clashes = primary is not None and primary.tokens == self.num_tokens and not self.replace_existing
        return refusals(
            (Reason.RE_ENTRANT, pool.telling),
            (Reason.CACHING_DISABLED, not pool.caching),
            (Reason.BAD_RANGE, bad_range),
            (Reason.UNKNOWN_BLOCK, not known),
            (Reason.NOT_HELD, known and self.block != NULL and not pool.is_held(self.block)),
            (Reason.DIFFERENT_CONTENT, clashes and self.key not in pool.keys_of(self.block)),
        )

    def answers(self, pool: Pool) -> Iterable[Key | None]:
        return (None if self.block == NULL else self.key,)

    def effect(self, pool: Pool, answer: Key | None) -> Pool:
        if answer is None or (answer in pool.keys_of(self.block) and not self.replace_existing):
            return pool
        if self.replace_existing or not covers(pool, self.block, self.num_tokens):
            pool = drop_keys(pool, [self.block])
            pool = enter(pool, {self.block: answer})
        else:
            pool = add_alias(pool, self.block, answer)
        return report(pool, [self.stored(pool)])

    @property
    def key(self) -> Key:
        return Key(self.prefix.first(self.num_tokens), self.group)

    def stored(self, pool: Pool) -> Stored:
        """The event: the last hash unit of the prefix became findable."""
        start = self.num_tokens - pool.unit
        return Stored(
            keys=(self.key,),
            parent=known_parent(pool, self.prefix, start, self.group),
            tokens=self.prefix.tokens[start : self.num_tokens],
            block_size=pool.unit,
        )


# --- words of this file ---


def is_multiple(count: int, unit: int) -> bool:
    """Is it a positive multiple of the unit?"""
    return count > 0 and count % unit == 0


def hashed_tokens(prefix: Prefix, unit: int) -> int:
    """How many tokens have a hash: whole units only."""
    return len(prefix) // unit * unit


def covers(pool: Pool, block: BlockId, tokens: int) -> bool:
    """Is the block published with at least this many tokens?"""
    return block in pool.primary and pool.primary[block].tokens >= tokens


def known_parent(pool: Pool, prefix: Prefix, tokens: int, group: GroupId) -> Key | None:
    """The key of the first `tokens` tokens if the consumer of the events knows it."""
    key = Key(prefix.first(tokens), group)
    return key if key in pool.index else None


def runs(positions: Iterable[int]) -> list[list[int]]:
    """Ascending positions, cut where one is missing."""
    found: list[list[int]] = []
    for position in positions:
        if found and found[-1][-1] == position - 1:
            found[-1].append(position)
        else:
            found.append([position])
    return found


def enter(pool: Pool, keys: dict[BlockId, Key]) -> Pool:
    """Give each of these unkeyed blocks its primary key. Equal keys on different blocks are all kept."""
    index = dict(pool.index)
    for block, key in keys.items():
        index[key] = index.get(key, frozenset()) | {block}
    primary = {block: Primary(key, key.tokens) for block, key in keys.items()}
    return replace(pool, primary=updated(pool.primary, primary), index=index)


def add_alias(pool: Pool, block: BlockId, key: Key) -> Pool:
    """One more key, no longer than the primary, under which the block is found."""
    return replace(
        pool,
        aliases=updated(pool.aliases, {block: pool.aliases.get(block, frozenset()) | {key}}),
        index=updated(pool.index, {key: pool.index.get(key, frozenset()) | {block}}),
    )
