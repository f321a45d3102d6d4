"""A piece of a machine as one packed text: every state of a small scope by name, no two renamed into one.

Breadth first from the first state, up to so many states; a step that leads further says so. Events are taken after
every call that sends some, as in the search, or there would be no end of states.
"""

import base64
import gzip
import json
from collections.abc import Hashable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from blockpool.proofs.core.text import call
from blockpool.proofs.explore.expand import AnyScope, State
from blockpool.proofs.faces.stories.pictures import Picture, picture_of
from blockpool.proofs.faces.stories.stepping import Option, Stepper

MOST_STATES = 2000
MOST_STEPS = 320_000
"""More of either make the file large and the page no better. All of scope tiny goes in."""

BEYOND = -1
"""Where a step leads that leaves the file."""


def packed(document: Any) -> str:
    """A JSON document, compressed and safe inside HTML; the same text for the same document."""
    plain = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
    return base64.b64encode(gzip.compress(plain, 9, mtime=0)).decode()


class Graph:
    """The states of a scope and the steps between them."""

    def __init__(self, scope: AnyScope, most: int = MOST_STATES) -> None:
        self.stepper = Stepper(scope)
        self.most = min(most, MOST_STEPS // len(self.stepper.calls))
        self.states: list[State] = []
        self.places: dict[Hashable, int] = {}
        self.texts: dict[Hashable, int] = {}  # interned: answers with changes, verdicts, rows of refusals
        self.steps = 0
        self.cut = False  # are there states that are left out?

    def document(self) -> Picture:
        """The graph, for the page."""
        self._place(self.stepper.scope.first_state())
        nodes, at = [], 0
        while at < len(self.states):
            nodes.append(self._node(self.states[at]))
            at += 1
        calls = [[action.name, call(action)] for action in self.stepper.calls]
        return {"calls": calls, "texts": list(self.texts), "nodes": nodes}

    def _node(self, state: State) -> list[Any]:
        """Picture, verdicts, the row of refusals, and each other outcome as key, place, what it tells, verdicts."""
        goes_on = self.stepper.scope.admits(state)
        row, steps = [-1] * len(self.stepper.calls), []
        for option in self.stepper.options(state):
            self.steps += 1
            document = self.stepper.document(option)
            holds = self._text(document["holds"])
            if document["refused"]:
                row[option.call] = self._text((document["refused"], holds))
            else:
                tells, after = self._settled(option, document["tells"])
                to = self._place(after, new=goes_on)
                steps.append([option.key, to, self._text(tuple(tells)), holds, *([1] if option.inside else [])])
        holds = self._text(self.stepper.state_verdicts(state))
        return [picture_of(state), holds, self._text(tuple(row)), steps]

    def _settled(self, option: Option, tells: list[str]) -> tuple[list[str], State]:
        settling = None if option.inside else self.stepper.machine.settle(option.step)
        if settling is None:
            return tells, option.after
        step = next(iter(self.stepper.machine.steps(option.after, settling)))
        return [*tells, "the events are taken at once"], step.after

    def _place(self, state: State, *, new: bool = True) -> int:
        """The number of the state; BEYOND if it is new, and there are enough or it lies outside the boundary."""
        name = frozen(state)
        if name not in self.places:
            if not new:
                return BEYOND
            if len(self.states) >= self.most:
                self.cut = True
                return BEYOND
            self.places[name] = len(self.states)
            self.states.append(state)
        return self.places[name]

    def _text(self, value: Hashable) -> int:
        return self.texts.setdefault(value, len(self.texts))


def frozen(value: Any) -> Hashable:
    """Equal for equal states, and hashable."""
    if is_dataclass(value):
        return tuple([frozen(getattr(value, field.name)) for field in fields(value)])
    if isinstance(value, Mapping):
        return frozenset((key, frozen(entry)) for key, entry in value.items())
    return value  # type: ignore[no-any-return]
