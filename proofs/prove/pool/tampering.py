"""Tools for putting a defect into a transition."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from blockpool.proofs.prove.pool.transition import Transition
from blockpool.proofs.prove.pool.transitions import TRANSITIONS
from blockpool.spec import Action, Reason


@dataclass(frozen=True, eq=False)
class Tampered(Transition):
    """A transition with some of its formulas exchanged, frames included."""

    instead: Mapping[str, Any] = field(default_factory=dict)

    def formulas(self) -> dict[str, Any]:
        """The formulas of the transition, but for those exchanged."""
        return {**super().formulas(), **self.instead}


@dataclass(frozen=True)
class Defect:
    """A wrong transition, and claims whose proof must fail with it."""

    sentence: str
    transition: Transition
    breaks: tuple[str, ...]


def with_effect(action: type[Action[Any]], **effect: Any) -> Transition:
    """The action with another effect on these fields."""
    right = TRANSITIONS[action]
    return replace(right, effect={**right.effect, **effect})


def without_effect(action: type[Action[Any]], *fields: str) -> Transition:
    """The action that forgets to change these fields."""
    right = TRANSITIONS[action]
    return replace(right, effect={name: law for name, law in right.effect.items() if name not in fields})


def without_reason(action: type[Action[Any]], reason: Reason) -> Transition:
    """The action that does not refuse for this reason."""
    right = TRANSITIONS[action]
    return replace(right, reasons={name: law for name, law in right.reasons.items() if name != reason})


def tampered(action: type[Action[Any]], **instead: Any) -> Transition:
    """The action with another formula for the whole field, refusals and frame included."""
    right = TRANSITIONS[action]
    parts = {name: getattr(right, name) for name in Transition.__dataclass_fields__}
    return Tampered(**parts, instead={f"effect: {name}": formula for name, formula in instead.items()})
