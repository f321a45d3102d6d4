"""How a reported bug is shown: by a run of the machine with requests in which somebody deviates, by a search with a
rule switched off, or by the wrong call that the pool refuses.

A `Scenario` is told once and run twice: with the fault, and with what a right scheduler does in its place.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from blockpool.proofs.explore.search import explore
from blockpool.proofs.explore.serving import ServingScope, with_rules
from blockpool.spec import (
    STEP_PROPERTIES,
    WORLD_INVARIANTS,
    WORLD_POSSIBILITIES,
    WORLD_STEP_PROPERTIES,
    Action,
    Move,
    Reason,
    Rules,
    World,
    WorldStep,
    steps,
)

Deed = Callable[[World], World]

SAFETY = {claim.name for claim in WORLD_INVARIANTS} | {claim.name for claim in WORLD_STEP_PROPERTIES}
POSSIBILITIES = {claim.name: claim for claim in WORLD_POSSIBILITIES}
OF_CALLS = {claim.name: claim for claim in STEP_PROPERTIES}


# --- what happens besides the moves of the machine ---


@dataclass(frozen=True, slots=True)
class Act(Move):
    """Something that is right and that the machine has no move for, such as a load from another tier."""

    words: str
    does: Deed

    name: ClassVar[str] = "act"

    def guard(self, world: World) -> frozenset[str]:
        return frozenset()

    def effect(self, world: World, answer: None = None) -> World:
        return self.does(world)


@dataclass(frozen=True, slots=True)
class Fault(Act):
    """What the report describes. A right scheduler does something else, or nothing."""

    instead: tuple[Move, ...] = ()


@dataclass(frozen=True, slots=True)
class NotNow(Move):
    """There is no right to make this move now, for this reason; so it is not made."""

    move: Move
    obstacle: str

    name: ClassVar[str] = "not_now"

    def guard(self, world: World) -> frozenset[str]:
        found = self.move.guard(world)
        return frozenset() if self.obstacle in found else frozenset({f"{self.obstacle!r} is not among {sorted(found)}"})

    def effect(self, world: World, answer: None = None) -> World:
        return world


# --- the three ways to show a bug ---


@dataclass(frozen=True, slots=True)
class Scenario:
    """A run. The faulty scheduler does the faults, and does not keep the rules named in `broken`."""

    world: World
    moves: tuple[Move, ...]
    broken: tuple[str, ...] = ()

    def faulty(self) -> Iterator[WorldStep]:
        rules = replace(Rules(), **dict.fromkeys(self.broken, False))
        return run(replace(self.world, rules=rules), self.moves)

    def right(self) -> Iterator[WorldStep]:
        moves = (right for move in self.moves for right in (move.instead if isinstance(move, Fault) else (move,)))
        return run(self.world, tuple(moves))

    def shows(self, claim: str) -> None:
        """Only the faulty run breaks the claim, and no other claim notices earlier; or only the right run shows it."""
        assert self.broken or any(isinstance(move, Fault) for move in self.moves), "nobody deviates"
        right, faulty = list(self.right()), list(self.faulty())
        for step in right:
            assert not broken_by(step), f"the right run breaks {broken_by(step)} at {step.action}"
        if claim in POSSIBILITIES:
            judge = POSSIBILITIES[claim].judge
            assert any(map(judge, right)), "the right run does not show it"
            assert not any(map(judge, faulty)), "the faulty run shows it as well"
            assert not any(map(broken_by, faulty)), "a lost hit is not all that is wrong"
            return
        noticed = next((step for step in faulty if broken_by(step)), None)
        assert noticed is not None, "nothing notices the fault"
        assert claim in broken_by(noticed), f"{broken_by(noticed)} notice it at {noticed.action}"
        if not self.broken:
            first = next(at for at, move in enumerate(self.moves) if isinstance(move, Fault))
            assert faulty.index(noticed) >= first, "noticed before anything went wrong"


@dataclass(frozen=True, slots=True)
class Search:
    """The search finds the bug by itself once this rule is switched off."""

    scope: ServingScope
    rule: str

    def shows(self, claim: str) -> None:
        """A shortest run breaks the claim; as far as the rule lets it go, the same run breaks nothing."""
        found = explore(with_rules(self.scope, self.rule), first_failure_ends=True)
        assert claim in found.tally.failures, f"found only {sorted(found.tally.failures)}"
        world = self.scope.first_state()
        for call in found.trace(found.tally.failures[claim]):
            if call.action.guard(world):
                return
            step = next(run(world, (call.action,)))
            assert not broken_by(step)
            world = step.after


@dataclass(frozen=True, slots=True)
class Refusal:
    """After these moves comes a wrong call, and the pool refuses it."""

    world: World
    moves: tuple[Move, ...]
    action: Action[Any]
    reason: Reason

    def shows(self, claim: str) -> None:
        world = self.world
        for step in run(self.world, self.moves):
            assert not broken_by(step)
            world = step.after
        (refused,) = steps(world.pool, self.action)
        assert self.reason in refused.refused
        assert refused.after == world.pool
        assert OF_CALLS[claim].judge(refused) is True


def run(world: World, moves: tuple[Move, ...]) -> Iterator[WorldStep]:
    """The steps; every move must be one that may be made."""
    for move in moves:
        obstacles = move.guard(world)
        assert not obstacles, f"{move} cannot be made: {sorted(obstacles)}"
        step = WorldStep(world, move, frozenset(), None, move.effect(world))
        yield step
        world = step.after


def broken_by(step: WorldStep) -> list[str]:
    """The claims that are false of the step or of the state it leads to."""
    invariants = [claim.name for claim in WORLD_INVARIANTS if claim.judge(step.after) is False]
    return invariants + [claim.name for claim in WORLD_STEP_PROPERTIES if claim.judge(step) is False]


Shown = Scenario | Search | Refusal
