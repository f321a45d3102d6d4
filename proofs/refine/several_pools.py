"""Several pools in one `free_blocks`: the list is split by owner, and refused whole if any owner would refuse its part.

The spec says it in one sentence (`FreeBlocks`), so here two spec pools stand side by side with two pools of `impl`, and
random releases mix the blocks of both.
"""

from dataclasses import dataclass, replace
from random import Random
from typing import Any

from blockpool.impl.errors import Refusal
from blockpool.proofs.refine.correspondence import BrokenPoolError, Names
from blockpool.proofs.refine.driver import Subject
from blockpool.proofs.refine.lockstep import MismatchError, check_call
from blockpool.spec import (
    Action,
    BlockId,
    CacheFullBlocks,
    FreeBlocks,
    GetNewBlocks,
    GroupId,
    Pool,
    Prefix,
    Touch,
    UnpinBlocks,
    Watcher,
    first_state,
    settled,
    steps,
)

SPLITS = "a_release_over_several_pools_is_one_for_each_or_none"

Named = tuple[int, BlockId]
"""A block of one of the pools: which pool, which block."""


@dataclass
class PoolsRun:
    """What was tried, and the first difference."""

    mixed: int = 0
    refused: int = 0
    failure: str | None = None


class _Pair:
    """Two pools of the spec and two of `impl`."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        names = Names(1)
        self.states: list[Pool] = [first_state(chance.randrange(2, 7)) for _ in range(2)]
        self.subjects = [Subject(state, names) for state in self.states]

    def on_one(self) -> None:
        """Some call on one of the pools, so that there is something to give back."""
        which = self.chance.randrange(2)
        state = self.states[which]
        held = [block for block, count in state.refs.items() if count] or [BlockId(0)]
        block = self.chance.choice(held)
        calls: list[Action[Any]] = [
            GetNewBlocks(self.chance.randrange(3)),
            Touch((block, block)),
            UnpinBlocks((block,), Watcher(self.chance.randrange(2))),
            CacheFullBlocks(Prefix((self.chance.randrange(3),)), (block,), 0, 1, 1, GroupId(0)),
        ]
        action = self.chance.choice(calls)
        self.states[which] = check_call(self.subjects[which], state, action, list(steps(state, action)))

    def release(self) -> bool:
        """Give back references of both pools in one call. Was it refused?"""
        named = self._named()
        parts = [FreeBlocks(tuple(block for which, block in named if which == mine)) for mine in range(2)]
        told = self.chance.randrange(6)  # now and then, one of the pools is telling its watchers
        if told < 2 and self.states[told].watchers:
            self.states[told] = replace(self.states[told], telling=True)
            self.subjects[told].pool._telling = True
        caller = self.chance.randrange(2)
        reasons: set[str] = set()
        for which, (state, part) in enumerate(zip(self.states, parts, strict=True)):
            if part.blocks or which == caller:
                reasons |= part.guard(state)
        self._call(self.subjects[caller], named, reasons)
        if not reasons:
            self.states = [part.effect(state, None) for state, part in zip(self.states, parts, strict=True)]
        for state, subject in zip(self.states, self.subjects, strict=True):
            seen = subject.state()
            if replace(seen, outbox=settled(seen.outbox)) != replace(state, outbox=settled(state.outbox)):
                raise MismatchError(f"after releasing {named}: the spec says {state}, the pool has {seen}")
        for which, state in enumerate(self.states):
            self.states[which] = replace(state, telling=False)
            self.subjects[which].pool._telling = False
        return bool(reasons)

    def _named(self) -> list[Named]:
        references = [
            (which, block)
            for which, state in enumerate(self.states)
            for block, n in state.refs.items()
            for _ in range(n)
        ]
        named = self.chance.sample(references, self.chance.randrange(len(references) + 1))
        if self.chance.random() < 0.3:  # one too many, or a null block
            which = self.chance.randrange(2)
            named.append((which, BlockId(self.chance.randrange(self.states[which].size))))
            self.chance.shuffle(named)
        return named

    def _call(self, caller: Subject, named: list[Named], reasons: set[str]) -> None:
        try:
            caller.pool.free_blocks([self.subjects[which].block(block) for which, block in named])
        except Refusal as refusal:
            if refusal.reason not in reasons:
                raise MismatchError(
                    f"releasing {named} was refused ({refusal.reason}); the spec wants {reasons}"
                ) from None
        else:
            if reasons:
                raise MismatchError(f"releasing {named} was accepted; the spec refuses ({reasons})")


def compare_pools(runs: int, seed: int) -> PoolsRun:
    """So many random histories of two pools."""
    found = PoolsRun()
    for number in range(runs):
        pair = _Pair(Random(seed * 1_000_003 + number))
        try:
            for _ in range(20):
                for _ in range(3):
                    pair.on_one()
                found.refused += pair.release()
                found.mixed += 1
        except (MismatchError, BrokenPoolError) as error:
            found.failure = f"run {number}: {error}"
            return found
        except Exception as error:  # noqa: BLE001  whatever a pool raises here is a finding
            found.failure = f"run {number}: {type(error).__name__}: {error}"
            return found
    return found
