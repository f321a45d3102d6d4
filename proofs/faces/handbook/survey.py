"""What a search of the spec tells a reader: how a block changes its state of life, which call is refused when, which
claims speak of which actions. Every entry was really met, and is kept with the shortest trace that meets it.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from blockpool.proofs.core.counterexample import Call
from blockpool.proofs.core.text import call
from blockpool.proofs.explore.expand import Witness
from blockpool.proofs.explore.machines import machine_of
from blockpool.proofs.explore.scopes import SCOPES, Scope
from blockpool.proofs.explore.search import Exploration, explore
from blockpool.proofs.faces.stories.pictures import pool_picture
from blockpool.spec import BlockId, Step, while_telling

FILE = Path(__file__).with_name("survey.json")

Survey = dict[str, Any]


def read(file: Path = FILE) -> Survey:
    """The survey that is kept."""
    kept: Survey = json.loads(file.read_text(encoding="utf-8"))
    return kept


def record(file: Path = FILE) -> Survey:
    """Make the survey anew, and keep it; one line for each entry."""
    found = survey()
    kinds = (
        f'"{kind}": {{\n' + ",\n".join(f" {json.dumps(name)}: {json.dumps(entries[name])}" for name in entries) + "\n}"
        for kind, entries in found.items()
    )
    file.write_text("{\n" + ",\n".join(kinds) + "\n}\n", encoding="utf-8")
    return found


def survey(parts: Sequence[Scope] = SCOPES["tiny"]) -> Survey:
    """Every arrow, refusal and concern of these scopes, of the shortest trace first."""
    found: Survey = {"scopes": {}, "arrows": {}, "refusals": {}, "concerns": {}}
    for part in parts:
        exploration = explore(part)
        found["scopes"][part.name] = [len(exploration.states), exploration.tally.steps]
        for state, step in _steps(exploration):
            _note_arrows(found["arrows"], exploration, state, step)
            _note_refusal(found["refusals"], exploration, state, step)
            _note_concerns(found["concerns"], part, step)
    found["concerns"] = {action: sorted(claims) for action, claims in sorted(found["concerns"].items())}
    return found


def _steps(found: Exploration) -> Iterator[tuple[int, Step]]:
    machine = machine_of(found.scope)
    for number, state in enumerate(found.states):
        for action in machine.calls:
            for step in machine.steps(state, action):
                yield number, step


def _trace(found: Exploration, state: int, step: Step) -> list[str]:
    """The calls that lead there, and the call itself."""
    calls = found.trace(Witness(state, (Call(step.action, step.answer),)))
    return [call(line.action) + (", from inside the watcher" if line.nested else "") for line in calls]


def _note_arrows(arrows: dict[str, Any], found: Exploration, state: int, step: Step) -> None:
    if step.after is step.before:
        return
    for block in map(BlockId, step.before.lendable):
        source, target = step.before.life_of(block), step.after.life_of(block)
        if source is not target:
            arrow = arrows.setdefault(f"{source} {target}", {"calls": {}})
            calls = arrow["calls"]
            if step.action.name not in calls:
                calls[step.action.name] = {
                    "count": 0,
                    "block": block,
                    "trace": _trace(found, state, step),
                    "before": pool_picture(step.before),
                    "after": pool_picture(step.after),
                }
            calls[step.action.name]["count"] += 1


def _note_refusal(refusals: dict[str, Any], found: Exploration, state: int, step: Step) -> None:
    """Refused for one reason alone, so that the example is one of this reason."""
    if len(step.refused) == 1:
        (reason,) = step.refused
        name = f"{step.action.name}: {reason}"
        if name not in refusals:
            refusals[name] = {"trace": _trace(found, state, step), "scope": found.scope.name}


def _note_concerns(concerns: dict[str, set[str]], part: Scope, step: Step) -> None:
    """The claims that have something to say about steps of this action that are taken."""
    if step.refused or (while_telling(step) is not None and part.nested):
        return
    known = concerns.setdefault(step.action.name, set())
    known.update(
        claim.name
        for claim in machine_of(part).step_properties
        if claim.name not in known and claim.judge(step) is not None
    )
