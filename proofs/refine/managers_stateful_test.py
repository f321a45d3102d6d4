"""Long runs with many requests and mixed groups: a Hypothesis state machine with one rule for each kind of move.

The search covers every move of a few requests; this covers what it cannot have: three to five requests, up to three
groups of different kinds and block sizes, prompts that share beginnings, pools that are nearly always full. Every
move is made by the managers as well, and every claim about requests and memory is judged.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from hypothesis import HealthCheck, Phase, Verbosity, seed, settings
from hypothesis import strategies as st
from hypothesis.reporting import with_reporter
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from blockpool.proofs.core.claim_names import DEFINED, FOLLOWS
from blockpool.proofs.core.counterexample import Call
from blockpool.proofs.explore.serving import ServingScope, serving_vocabulary
from blockpool.proofs.refine.managers import ManagerFollower
from blockpool.spec import (
    WORLD_INVARIANTS,
    WORLD_POSSIBILITIES,
    WORLD_STEP_PROPERTIES,
    Admit,
    BeginTransfer,
    Drop,
    EndTransfer,
    Group,
    Grow,
    Invalidate,
    Kind,
    Move,
    Plan,
    Reset,
    RunPass,
    Unpin,
    World,
    WorldStep,
)

GROUPS = (
    Group(Kind.FULL, 1),
    Group(Kind.FULL, 2),
    Group(Kind.FULL, 4),
    Group(Kind.WINDOW, 1, window=2),
    Group(Kind.WINDOW, 2, window=3),
    Group(Kind.STATE, 2),
    Group(Kind.STATE, 4),
    Group(Kind.RING, 2),
)
_TEXTS = ((0, 1, 2, 3, 4, 5, 6, 7), (0, 1, 2, 3, 8, 9, 10, 11), (0, 1, 12, 13, 14, 15, 16, 17), (20, 21, 22, 23, 24))
_LIMITS = dict.fromkeys(("preempt", "abort", "defer", "transfer", "failure", "reset"), 3)


@dataclass
class ServingRun:
    """What the machine did, and the first claim that broke."""

    runs: int = 0
    moves: int = 0
    shown: set[str] = field(default_factory=set)
    broken: tuple[str, World, tuple[Call, ...], str] | None = None  # claim, first state, moves, words

    @property
    def missing(self) -> list[str]:
        """Possibilities that the runs should have shown and did not."""
        return [claim.name for claim in WORLD_POSSIBILITIES if claim.name not in self.shown]


class BrokenClaimError(AssertionError):
    """A claim about requests and memory is broken."""


class ServingMachine(RuleBasedStateMachine):
    """The machine with requests and the managers of `impl`, side by side."""

    run: ClassVar[ServingRun] = ServingRun()

    @initialize(data=st.data())
    def new_world(self, data: st.DataObject) -> None:
        layout = tuple(data.draw(st.lists(st.sampled_from(GROUPS), min_size=1, max_size=3)))
        plans = {}
        for number in range(data.draw(st.integers(3, 5))):
            text = data.draw(st.sampled_from(_TEXTS))
            length = data.draw(st.integers(2, len(text)))
            plans[f"r{number}"] = Plan(text[:length], data.draw(st.integers(1, length)))
        scope = ServingScope("drawn", "", data.draw(st.integers(4, 20)), layout, plans, _LIMITS, chunked=True)
        self.first = self.world = scope.first_state()
        self.vocabulary = serving_vocabulary(scope)
        self.follower = ManagerFollower(1)
        self.calls: list[Call] = []
        type(self).run.runs += 1

    @rule(data=st.data())
    def admit(self, data: st.DataObject) -> None:
        self.make(data, Admit)

    @rule(data=st.data())
    def grow(self, data: st.DataObject) -> None:
        self.make(data, Grow)

    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        self.make(data, Drop)

    @rule(data=st.data())
    def run_pass(self, data: st.DataObject) -> None:
        self.make(data, RunPass)

    @rule(data=st.data())
    def serve(self, data: st.DataObject) -> None:
        """What a scheduler does most of the time: let everybody go on, and run."""
        for kind in (Admit, Grow, Grow, RunPass) * 2:
            self.make(data, kind)

    @rule(data=st.data())
    def read_while_serving(self, data: st.DataObject) -> None:
        """A reader unpins a block of a request that ends, and others need the memory."""
        for kind in (BeginTransfer, Unpin, Drop, Admit, RunPass, Admit, RunPass):
            self.make(data, kind)

    @rule(data=st.data())
    def begin_transfer(self, data: st.DataObject) -> None:
        self.make(data, BeginTransfer)

    @rule(data=st.data())
    def unpin(self, data: st.DataObject) -> None:
        self.make(data, Unpin)

    @rule(data=st.data())
    def end_transfer(self, data: st.DataObject) -> None:
        self.make(data, EndTransfer)

    @rule(data=st.data())
    def invalidate(self, data: st.DataObject) -> None:
        self.make(data, Invalidate)

    @rule(data=st.data())
    def reset(self, data: st.DataObject) -> None:
        self.make(data, Reset)

    def make(self, data: st.DataObject, kind: type[Move]) -> None:
        """Make one of the moves of this kind that are possible now; none if none is."""
        possible = [move for move in self.vocabulary if type(move) is kind and not move.guard(self.world)]
        if possible:
            self._judge(data.draw(st.sampled_from(possible)))

    def _judge(self, move: Move) -> None:
        run = type(self).run
        run.moves += 1
        self.calls.append(Call(move))
        try:
            step = WorldStep(self.world, move, frozenset(), None, move.effect(self.world, None))
        except Exception as error:
            self._break(DEFINED, f"{type(error).__name__}: {error}")
            raise
        words = self.follower.follow(self.world, move, [step])
        if words is not None:
            self._break(FOLLOWS, words)
        run.shown.update(claim.name for claim in WORLD_POSSIBILITIES if claim.judge(step))
        for property_ in WORLD_STEP_PROPERTIES:
            if property_.judge(step) is False:
                self._break(property_.name, property_.sentence)
        for invariant in WORLD_INVARIANTS:
            if invariant.judge(step.after) is False:
                self._break(invariant.name, invariant.sentence)
        self.world = step.after

    def _break(self, claim: str, words: str) -> None:
        type(self).run.broken = (claim, self.first, tuple(self.calls), words)
        raise BrokenClaimError(f"{claim}: {words}")


def sample_serving(runs: int, moves: int, chosen_seed: int | None = None, *, shrink: bool = True) -> ServingRun:
    """Run the machine; as `sample` for the pool alone."""
    ServingMachine.run = ServingRun()
    chosen = settings(
        max_examples=runs,
        stateful_step_count=moves,
        derandomize=chosen_seed is None,
        deadline=None,
        database=None,
        print_blob=False,
        verbosity=Verbosity.quiet,
        phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    machine: Any = ServingMachine if chosen_seed is None else seed(chosen_seed)(ServingMachine)
    try:
        with with_reporter(lambda _: None):
            run_state_machine_as_test(machine, settings=chosen)
    except BrokenClaimError:
        if ServingMachine.run.broken is None:
            raise
    return ServingMachine.run
