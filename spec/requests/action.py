"""The shape of a move: one thing that the environment of the pool does. The same three parts as every action.

The guard of a move is not a refusal by anybody: it says why there is no reason or no right to do it now.
"""

from collections.abc import Iterable
from typing import ClassVar, NamedTuple

from blockpool.spec.requests.state import World


class Move:
    """One thing that the environment does."""

    name: ClassVar[str]

    __slots__ = ()

    def guard(self, world: World) -> frozenset[str]:
        """Why it is not done now; empty if it may be."""
        raise TypeError(f"{self} has no guard")

    def answers(self, world: World) -> Iterable[None]:
        """A scheduler decides; nothing answers it."""
        return (None,)

    def effect(self, world: World, answer: None = None) -> World:
        """The world afterwards."""
        raise TypeError(f"{self} has no effect")


class WorldStep(NamedTuple):
    """One move made. What every property of behaviour speaks about; fields as in a step of the pool."""

    before: World
    action: Move
    refused: frozenset[str]
    answer: None
    after: World


def unless(*claims: tuple[str, bool]) -> frozenset[str]:
    """The obstacles whose claim is true."""
    return frozenset([obstacle for obstacle, applies in claims if applies])
