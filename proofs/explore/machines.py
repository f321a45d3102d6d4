"""The two machines a search can run: the pool alone, and the pool with requests and memory around it.

A machine answers what the search asks: where to begin, what to try, what a step leads to, which claims to judge, and
which states are one up to renaming.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from blockpool.proofs.explore.scopes import Scope, vocabulary
from blockpool.proofs.explore.serving import ServingScope, ServingSymmetry, serving_vocabulary
from blockpool.proofs.explore.symmetry import Canon, Symmetry
from blockpool.spec import (
    INVARIANTS,
    POSSIBILITIES,
    STEP_PROPERTIES,
    WORLD_INVARIANTS,
    WORLD_POSSIBILITIES,
    WORLD_STEP_PROPERTIES,
    Claim,
    TakeEvents,
    WorldStep,
    steps,
    while_telling,
)

Claims = Sequence[Claim[Any]]


class Renaming(Protocol):
    """Which states are one up to names."""

    def described(self, state: Any) -> Canon:
        """Equal only for states that are one; cheap."""

    def canon(self, state: Any) -> Canon:
        """Equal exactly for states that are one."""

    def orbit(self, state: Any) -> int:
        """How many states are one with this one."""


class Machine(Protocol):
    """What a search asks."""

    invariants: Claims
    step_properties: Claims
    refusal_claims: Claims  # those that a refused step can break
    possibilities: Claims
    calls: Sequence[Any]
    symmetry: Renaming

    def steps(self, state: Any, call: Any) -> Iterator[Any]:
        """The steps a call leads to; none if it makes no sense to try it."""

    def inside(self, step: Any) -> Any | None:
        """A state that can be seen in the middle of the step."""

    def settle(self, step: Any) -> Any | None:
        """A call to be made at once after the step, before anything else."""


class PoolMachine:
    """The pool alone. Wrong calls are tried as well; events are taken after every call that sends some."""

    invariants: Claims = INVARIANTS
    step_properties: Claims = STEP_PROPERTIES
    # A refused step that changes nothing keeps every other claim as well.
    refusal_claims: Claims = tuple(c for c in STEP_PROPERTIES if c.name == "a_refused_call_changes_nothing")
    possibilities: Claims = POSSIBILITIES

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.calls: Sequence[Any] = vocabulary(scope)
        self.symmetry: Renaming = Symmetry(scope)

    def steps(self, state: Any, call: Any) -> Iterator[Any]:
        return steps(state, call)

    def inside(self, step: Any) -> Any | None:
        return while_telling(step) if self.scope.nested else None

    def settle(self, step: Any) -> Any | None:
        too_many = len(step.after.outbox) > self.scope.untaken
        return TakeEvents() if too_many and not isinstance(step.action, TakeEvents) else None


class ServingMachine:
    """The pool with its environment. Only what the environment has reason to do is tried."""

    invariants: Claims = WORLD_INVARIANTS
    step_properties: Claims = WORLD_STEP_PROPERTIES
    refusal_claims: Claims = ()
    possibilities: Claims = WORLD_POSSIBILITIES

    def __init__(self, scope: ServingScope) -> None:
        self.calls: Sequence[Any] = serving_vocabulary(scope)
        self.symmetry: Renaming = ServingSymmetry(scope)

    def steps(self, state: Any, call: Any) -> Iterator[Any]:
        if not call.guard(state):
            for answer in call.answers(state):
                yield WorldStep(state, call, frozenset(), answer, call.effect(state, answer))

    def inside(self, step: Any) -> Any | None:
        return None

    def settle(self, step: Any) -> Any | None:
        return None


def machine_of(scope: Scope | ServingScope) -> Machine:
    """The machine that a scope is a piece of."""
    return PoolMachine(scope) if isinstance(scope, Scope) else ServingMachine(scope)
