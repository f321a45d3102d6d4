"""What a transition is: refusal, effect, answer and events of one action; its frame is generated, never written.

An effect names the fields it changes and says what each is afterwards. A field it does not name is equal before and
after. A refused step changes nothing, tells nobody and sends nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import z3

from blockpool.proofs.prove.pool.vocabulary import (
    AFTER,
    BEFORE,
    SIGNATURES,
    Block,
    Event,
    Key,
    Slot,
    State,
    Watcher,
    b,
    cleared,
    e,
    every,
    f,
    j,
    k,
    parent,
    refused,
    removed,
    reporting,
    s,
    some,
    stored,
    told,
    w,
)
from blockpool.spec.pool.action import Action
from blockpool.spec.pool.terms import Reason

Value = Callable[..., Any]
"""What a field is afterwards, as an expression of the field's arguments."""

OPEN = None
"""The transition does not say what the field is afterwards: a counter, left to a fold."""

_VARIABLES = {
    Block: (b, z3.Const("b2", Block)),
    Key: (k,),
    Watcher: (w,),
    Slot: (s,),
    Event: (e,),
}


def nothing(*_: Any) -> z3.BoolRef:
    """No block, key, watcher or event."""
    return z3.BoolVal(False)


@dataclass(frozen=True, eq=False)
class Transition:
    """One action as formulas. Two of them are equal only if they are the same object."""

    action: type[Action[Any]]
    reasons: Mapping[Reason, Any] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)  # true of the arguments of every such call
    effect: Mapping[str, Value | z3.BoolRef | None] = field(default_factory=dict)  # a value, a law, or OPEN
    answer: Mapping[str, Any] = field(default_factory=dict)  # true of the answer, if it is not refused
    lost: Value = nothing  # (block, key): this key leaves this block
    gained: Value = nothing  # (block, key): this key comes to this block, after all that leave have left
    silent: bool = False  # are no events sent of the keys that leave and come?
    clears: Any = False  # is a Cleared sent?
    tells: Value = nothing  # (block, watcher): this watcher is told

    @property
    def name(self) -> str:
        """The name of the method."""
        return self.action.name

    def formulas(self) -> dict[str, Any]:
        """All of it, by name: what the hypotheses of a proof are."""
        reasons = z3.Or(*self.reasons.values())
        said = {f"call: {name}": formula for name, formula in self.given.items()}
        said["guard"] = refused == reasons
        for name in SIGNATURES:
            changed = unchanged(name) if name not in self.effect else self._changed(name)
            if changed is not OPEN:
                said[f"effect: {name}"] = z3.If(refused, unchanged(name), changed)
            else:
                said[f"effect: {name}"] = z3.Implies(refused, unchanged(name))
        said |= {f"answer: {name}": z3.Implies(z3.Not(refused), formula) for name, formula in self.answer.items()}
        said["told"] = every(b, w, so=told(b, w) == z3.And(z3.Not(refused), self.tells(b, w)))
        return said | self._events()

    def formula(self) -> z3.BoolRef:
        """All of it at once."""
        return z3.And(*self.formulas().values())

    def _changed(self, name: str) -> Any:
        law = self.effect[name]
        return definition(AFTER, name, law) if callable(law) else law

    def _events(self) -> dict[str, Any]:
        """Which keys are stored and removed, not how often; that is what the folds count."""
        sends = z3.And(z3.Not(refused), reporting, not self.silent)
        lost, gained = some(b, so=self.lost(b, k)), some(b, so=self.gained(b, k))
        # A parent ends where its run begins, so it is none of the keys of the call; it is named if it is known.
        may_be_parent = z3.And(sends, some(b, j, so=self.gained(b, j)), z3.Not(gained), AFTER.indexed(k))
        return {
            "events: removed": every(k, so=z3.And(removed(k) >= 0, (removed(k) > 0) == z3.And(sends, lost))),
            "events: stored": every(k, so=z3.And(stored(k) >= 0, (stored(k) > 0) == z3.And(sends, gained))),
            "events: cleared": cleared == z3.And(sends, self.clears),
            "events: parent": every(k, so=z3.Implies(parent(k), may_be_parent)),
        }


def definition(state: State, name: str, value: Value) -> z3.BoolRef:
    """The field equals this expression of its arguments."""
    variables = arguments(name)
    symbol = state.symbols()[name]
    return every(*variables, so=symbol(*variables) == value(*variables)) if variables else symbol == value()


def unchanged(name: str, before: State = BEFORE, after: State = AFTER) -> z3.BoolRef:
    """The field is what it was."""
    symbol = before.symbols()[name]
    return definition(after, name, symbol if arguments(name) else lambda: symbol)


def arguments(name: str) -> tuple[Any, ...]:
    """A variable for each argument of the field, no two the same."""
    taken: dict[Any, int] = {}
    found = []
    for sort in SIGNATURES[name][:-1]:
        found.append(_VARIABLES[sort][taken.get(sort, 0)])
        taken[sort] = taken.get(sort, 0) + 1
    return tuple(found)


def same(before: State = BEFORE, after: State = AFTER) -> z3.BoolRef:
    """Nothing changed at all."""
    return z3.And(*(unchanged(name, before, after) for name in SIGNATURES))


def sent() -> z3.BoolRef:
    """Was any event sent?"""
    return z3.Or(cleared, some(k, so=z3.Or(stored(k) > 0, removed(k) > 0)))


def appended() -> z3.BoolRef:
    """The outbox kept what it held, and grew exactly if an event was sent."""
    kept = every(s, e, so=z3.Implies(BEFORE.posted(s, e), AFTER.posted(s, e)))
    grew = some(s, e, so=z3.And(AFTER.posted(s, e), z3.Not(BEFORE.posted(s, e))))
    single = every(s, e, f, so=z3.Implies(z3.And(AFTER.posted(s, e), AFTER.posted(s, f)), e == f))
    return z3.And(kept, single, grew == sent())
