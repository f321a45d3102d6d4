"""Properties as objects: what is claimed, in words, and how one state or step is judged.

Each is written as a function. Its name is the claim, the first paragraph of its docstring is the claim as a sentence,
the second says why it matters in a serving engine. It answers True (kept), False (broken) or None: this state or step
has nothing to do with the claim. A claim that only ever heard None has not been tested; it is reported as vacuous.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from blockpool.spec.pool.action import Step
from blockpool.spec.pool.state import Pool
from blockpool.spec.requests.action import WorldStep
from blockpool.spec.requests.state import World

Subject = TypeVar("Subject", Pool, Step, World, WorldStep)


@dataclass(frozen=True, slots=True)
class Claim(Generic[Subject]):
    """A named claim with its sentence and its reason."""

    name: str
    sentence: str
    reason: str
    judge: Callable[[Subject], bool | None]


class Invariant(Claim[Pool]):
    """Holds in every reachable state."""

    __slots__ = ()


class StepProperty(Claim[Step]):
    """Holds of every step, taken or refused."""

    __slots__ = ()


class Possibility(Claim[Step]):
    """Some step shows it. A pool that can do nothing keeps every promise; these say that it can do something."""

    __slots__ = ()


class WorldInvariant(Claim[World]):
    """Holds in every reachable state of the pool with its environment."""

    __slots__ = ()


class WorldStepProperty(Claim[WorldStep]):
    """Holds of every move of the environment."""

    __slots__ = ()


class WorldPossibility(Claim[WorldStep]):
    """Some move shows it."""

    __slots__ = ()


C = TypeVar("C", Invariant, StepProperty, Possibility, WorldInvariant, WorldStepProperty, WorldPossibility)


def collect(kind: type[C], *judges: Callable[..., bool | None]) -> tuple[C, ...]:
    """Make claims of these functions, from their names and docstrings."""
    claims = []
    for judge in judges:
        sentence, _, reason = (judge.__doc__ or "").partition("\n\n")
        if not sentence.strip() or not reason.strip():
            raise ValueError(f"{judge.__name__} needs a docstring of two paragraphs: the claim, and why it matters")
        claims.append(kind(judge.__name__, " ".join(sentence.split()), " ".join(reason.split()), judge))
    return tuple(claims)
