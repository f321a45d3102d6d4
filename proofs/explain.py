"""Explaining a name: what it claims, why it matters, and a shortest trace that shows it."""

from collections.abc import Iterable
from difflib import get_close_matches
from inspect import getdoc
from typing import Any

from proofs.counterexample import Counterexample
from proofs.decide import SENTENCES
from proofs.explore.scopes import SCOPES
from proofs.explore.search import explore
from spec import ACTIONS, CLAIMS, INVARIANTS, POSSIBILITIES, STEP_PROPERTIES, Action, Claim, Possibility, Reason


def explain_name(name: str) -> str:
    """A few paragraphs. Raises KeyError with the nearest names if there is none like it."""
    claims = {claim.name: claim for claim in CLAIMS}
    actions = {action.name: action for action in ACTIONS}
    reasons = {str(reason): reason for reason in Reason}
    if name in claims:
        return _claim(claims[name])
    if name in actions:
        return _action(actions[name])
    if name in reasons:
        return _reason(reasons[name])
    if name in SENTENCES:
        return f"{name}\n\n{SENTENCES[name]}"
    known = [*claims, *actions, *reasons, *SENTENCES]
    raise KeyError(f"there is nothing called {name!r}. {nearest(name, known)}")


def list_names(*, markdown: bool) -> str:
    """Every claim by kind, with its sentence; then, unless it is for a document, actions and reasons to refuse."""
    kinds: dict[str, tuple[Claim[Any], ...]] = {
        "True at every moment": INVARIANTS,
        "True of every step": STEP_PROPERTIES,
        "Possible": POSSIBILITIES,
    }
    lines = []
    for title, claims in kinds.items():
        lines += [f"**{title}**" if markdown else title, ""]
        for claim in claims:
            place = f"{claim.judge.__module__.replace('.', '/')}.py"
            name = f"[`{claim.name}`]({place})" if markdown else f"{claim.name}:"
            lines.append(f"- {name} {claim.sentence}" if markdown else f"  {name} {claim.sentence}")
        lines.append("")
    if not markdown:
        lines += ["Actions", "", f"  {', '.join(action.name for action in ACTIONS)}", ""]
        lines += ["Reasons to refuse", "", f"  {', '.join(Reason)}"]
    return "\n".join(lines).rstrip()


def nearest(name: str, known: Iterable[str]) -> str:
    """The names most like it, as a sentence."""
    listed = list(known)
    close = get_close_matches(name, listed, n=3, cutoff=0.4)
    return "Nearest: " + ", ".join(close) if close else "Known: " + ", ".join(listed)


def _claim(claim: Claim[Any]) -> str:
    kind = "possibility" if claim in POSSIBILITIES else "invariant" if claim in INVARIANTS else "step property"
    text = f"{claim.name} ({kind})\n\n{claim.sentence}\n\nWhy it matters: {claim.reason}"
    return f"{text}\n\n{_witness(claim)}" if isinstance(claim, Possibility) else text


def _witness(claim: Possibility) -> str:
    for part in (*SCOPES["tiny"], *SCOPES["small"][1:]):
        found = explore(part)
        if claim.name in found.tally.shown:
            calls = found.trace(found.tally.shown[claim.name])
            shown = Counterexample(claim.name, claim.sentence, part.first_state(), calls, "")
            return f"A shortest trace that shows it, in scope {part.name}:\n\n{shown.steps()}"
    return "No scope of `tiny` or `small` shows it."


def _action(action: type[Action[Any]]) -> str:
    reasons = "\n".join(f"  - {reason}" for reason in sorted(action.reasons)) or "  (never)"
    return f"{action.name}\n\n{getdoc(action)}\n\nRefused, changing nothing:\n{reasons}"


def _reason(reason: Reason) -> str:
    actions = [action.name for action in ACTIONS if reason in action.reasons]
    return f"{reason}\n\nA reason to refuse {', '.join(actions)}. A refused call changes nothing."
