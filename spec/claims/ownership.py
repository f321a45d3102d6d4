"""The level above: ownership only. Who may use a block, said without queue, cache, keys, watchers or events.

The ledger is the least that any block pool promises, whatever its eviction order and with or without a cache:

    a block is lent to a new user only if nobody uses it;
    a block may be shared with further users;
    what is given back was held.

`ledger_of` maps a pool to its ledger, `entry_of` a pool's step to the ledger's. The pool refines the ledger: every step
of the pool is, so mapped, a step the ledger allows, or one that changes nothing in it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from blockpool.spec.claims.claim import StepProperty, collect
from blockpool.spec.pool.action import Step, namings, real
from blockpool.spec.pool.allocation import FreeBlocks, GetNewBlocks, Touch, UnpinBlocks
from blockpool.spec.pool.state import Pool
from blockpool.spec.pool.terms import NULL, BlockId


class Ledger(NamedTuple):
    """How many uses of each block are lent out. A block that is not named is free."""

    size: int
    lent: Mapping[BlockId, int]

    def changed(self, uses: Mapping[BlockId, int]) -> "Ledger":
        """With so many more uses of these blocks, or fewer."""
        counts = {**self.lent, **{block: self.lent.get(block, 0) + more for block, more in uses.items()}}
        return Ledger(self.size, {block: count for block, count in counts.items() if count})


@dataclass(frozen=True, slots=True)
class Lend:
    """These blocks go to a new user, each for the first time."""

    blocks: tuple[BlockId, ...]

    def allowed(self, ledger: Ledger) -> bool:
        return len(set(self.blocks)) == len(self.blocks) and all(
            0 < block < ledger.size and block not in ledger.lent for block in self.blocks
        )

    def effect(self, ledger: Ledger) -> Ledger:
        return Ledger(ledger.size, {**ledger.lent, **dict.fromkeys(self.blocks, 1)})


@dataclass(frozen=True, slots=True)
class Share:
    """Each naming of a block is one more use of it."""

    blocks: tuple[BlockId, ...]

    def allowed(self, ledger: Ledger) -> bool:
        return all(0 < block < ledger.size for block in self.blocks)

    def effect(self, ledger: Ledger) -> Ledger:
        return ledger.changed(namings(self.blocks))


@dataclass(frozen=True, slots=True)
class GiveBack:
    """Each naming of a block ends one use of it."""

    blocks: tuple[BlockId, ...]

    def allowed(self, ledger: Ledger) -> bool:
        return all(times <= ledger.lent.get(block, 0) for block, times in namings(self.blocks).items())

    def effect(self, ledger: Ledger) -> Ledger:
        return ledger.changed({block: -times for block, times in namings(self.blocks).items()})


Entry = Lend | Share | GiveBack


def ledger_of(pool: Pool) -> Ledger:
    """The mapping up: forget everything but who holds what."""
    return Ledger(pool.size, {block: count for block, count in pool.refs.items() if count and block != NULL})


def entry_of(step: Step) -> Entry | None:
    """What the ledger sees of a step; None if it sees nothing."""
    if step.refused:
        return None
    match step.action:
        case GetNewBlocks():
            return Lend(step.answer.blocks)
        case Touch(blocks):
            return Share(tuple(real(blocks)))
        case FreeBlocks(blocks) | UnpinBlocks(blocks, _):
            return GiveBack(tuple(real(blocks)))
        case _:
            return None


def each_step_is_a_step_of_the_ledger(step: Step) -> bool:
    """Every step of the pool is an allowed entry in the ledger of ownership, or leaves it as it was.

    Whatever the cache does, nobody ever gets a block that somebody else was promised alone."""
    before, after, entry = ledger_of(step.before), ledger_of(step.after), entry_of(step)
    if entry is None:
        return before == after
    return entry.allowed(before) and entry.effect(before) == after


LEDGER_PROPERTIES = collect(StepProperty, each_step_is_a_step_of_the_ledger)
