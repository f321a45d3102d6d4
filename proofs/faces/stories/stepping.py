"""Stepping through a machine: what can be called in a state, what comes of it, and how a state is named by its path.

A path is the keys of the steps taken from the first state on. A key is the number of the call among all calls of the
scope; where a call has several outcomes, the later ones have a number of their own behind a point.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from blockpool.proofs.core.counterexample import told_of
from blockpool.proofs.core.text import call
from blockpool.proofs.explore.expand import AnyScope, State
from blockpool.proofs.explore.machines import Claims, machine_of
from blockpool.proofs.faces.stories.pictures import Picture, picture_of
from blockpool.spec import World, WorldStep

MOST_STEPS = 1000
"""A longer path is nobody's."""

INSIDE = "seen from inside the watcher that it tells"


class BadPathError(ValueError):
    """A path that leads nowhere: which step of it, and why."""


class Option(NamedTuple):
    """One outcome of one call."""

    key: str
    call: int
    step: Any
    after: State
    inside: bool  # what a watcher sees in the middle of the step


class Stepper:
    """The machine of one scope."""

    def __init__(self, scope: AnyScope) -> None:
        self.scope = scope
        self.machine = machine_of(scope)
        self.calls: Sequence[Any] = self.machine.calls
        self.texts = [call(action) for action in self.calls]

    def options(self, state: State) -> Iterator[Option]:
        """Every outcome of every call in this state, refusals too."""
        for number in range(len(self.calls)):
            yield from self._outcomes_of(state, number)

    def _options_of(self, state: State, key: str) -> Iterator[Option]:
        number = key.partition(".")[0]
        if number.isdecimal() and int(number) < len(self.calls):
            yield from self._outcomes_of(state, int(number))

    def _outcomes_of(self, state: State, number: int) -> Iterator[Option]:
        action = self.calls[number]
        yield from self._outcomes(number, _refusal(state, action) or self.machine.steps(state, action))

    def _outcomes(self, number: int, steps: Iterable[Any]) -> Iterator[Option]:
        place = 0
        for step in steps:
            inside = self.machine.inside(step)
            for after in (step.after, inside):
                if after is not None:
                    yield Option(f"{number}.{place}" if place else str(number), number, step, after, after is inside)
                    place += 1

    def document(self, option: Option) -> Picture:
        """One outcome, for the page."""
        return {
            "key": option.key,
            "name": option.step.action.name,
            "text": self.texts[option.call] + f", {INSIDE}" * option.inside,
            "refused": " or ".join(sorted(option.step.refused)),
            "tells": told_of(option.step),
            "holds": self.step_verdicts(option.step),
        }

    def node(self, state: State) -> Picture:
        """A state with all that can be done in it, for the page."""
        return {
            "state": picture_of(state),
            "holds": self.state_verdicts(state),
            "steps": [self.document(option) for option in self.options(state)],
        }

    def walk(self, path: Sequence[str]) -> Picture:
        """The node at the end of a path, and the steps that lead there. Raises BadPathError."""
        if len(path) > MOST_STEPS:
            raise BadPathError(f"a path of {len(path)} steps; at most {MOST_STEPS} are followed")
        state, trail = self.scope.first_state(), []
        before = state
        for number, key in enumerate(path, 1):
            option = next((option for option in self._options_of(state, key) if option.key == key), None)
            if option is None:
                raise BadPathError(f"step {number} of the path, {key!r}, is no step of scope {self.scope.name}")
            trail.append(self.document(option))
            before, state = state, option.after
        return {"trail": trail, "before": picture_of(before), **self.node(state)}

    # --- verdicts, a letter for each claim: kept 1, broken 0, nothing to say - ---

    def claims(self) -> list[list[str]]:
        """Name, sentence, reason and kind of each claim, in the order of the letters; first those of states."""
        machine = self.machine
        kinds = (
            ("state", machine.invariants),
            ("step", machine.step_properties),
            ("possibility", machine.possibilities),
        )
        return [[claim.name, claim.sentence, claim.reason, kind] for kind, claims in kinds for claim in claims]

    def state_verdicts(self, state: State) -> str:
        """Of the claims about states."""
        return verdicts(self.machine.invariants, state)

    def step_verdicts(self, step: Any) -> str:
        """Of the claims about steps, then of the possibilities, which a step can only show."""
        machine = self.machine
        if isinstance(step, WorldStep) and step.refused:  # not made at all
            return "-" * (len(machine.step_properties) + len(machine.possibilities))
        kept = verdicts(machine.step_properties, step, machine.refusal_claims if step.refused else None)
        return kept + verdicts(machine.possibilities, step).replace("0", "-")


def verdicts(claims: Claims, subject: Any, judged: Claims | None = None) -> str:
    """A letter for each claim; of those not judged, that there is nothing to say."""
    found = [claim.judge(subject) if judged is None or claim in judged else None for claim in claims]
    return "".join(["-" if verdict is None else "1" if verdict else "0" for verdict in found])


def _refusal(state: State, action: Any) -> list[WorldStep] | None:
    """A move of the environment for which there is no reason or no right now; the search does not try it."""
    if isinstance(state, World) and (obstacles := action.guard(state)):
        return [WorldStep(state, action, obstacles, None, state)]
    return None
