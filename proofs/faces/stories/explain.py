"""Explaining a name: what it claims, why it matters, and a shortest trace that shows it."""

from collections.abc import Iterable
from difflib import get_close_matches
from inspect import getdoc
from typing import Any

from blockpool.proofs.adequacy.defects import least_scopes as adequacy
from blockpool.proofs.adequacy.defects import matrix
from blockpool.proofs.adequacy.mutation import scores
from blockpool.proofs.core.counterexample import Counterexample
from blockpool.proofs.core.sources import file_of
from blockpool.proofs.explore.expand import AnyScope
from blockpool.proofs.explore.scopes import SCOPES
from blockpool.proofs.explore.search import explore
from blockpool.proofs.explore.serving import SERVING_SCOPES, with_rules
from blockpool.proofs.refine.search_obligations import SENTENCES, example
from blockpool.proofs.suite import checks as jobs
from blockpool.spec import (
    ACTIONS,
    CLAIMS,
    INVARIANTS,
    POSSIBILITIES,
    RULES,
    STEP_PROPERTIES,
    WORLD_CLAIMS,
    WORLD_INVARIANTS,
    WORLD_POSSIBILITIES,
    WORLD_STEP_PROPERTIES,
    Action,
    Claim,
    Reason,
)
from blockpool.spec.contract.laws import PROMISES, Law

OBLIGATIONS = SENTENCES | jobs.SENTENCES | adequacy.SENTENCES | matrix.SENTENCES | scores.SENTENCES
"""What is decided besides the claims of the spec, in a sentence each."""


def explain_name(name: str) -> str:
    """A few paragraphs. Raises KeyError with the nearest names if there is none like it."""
    claims: dict[str, Claim[Any]] = {claim.name: claim for claim in (*CLAIMS, *WORLD_CLAIMS)}
    actions = {action.name: action for action in ACTIONS}
    reasons = {str(reason): reason for reason in Reason}
    if name in claims:
        return _claim(claims[name])
    if name in actions:
        return _action(actions[name])
    if name in reasons:
        return _reason(reasons[name])
    if name in RULES:
        return f"{name} (a rule that schedulers owe the pool)\n\n{RULES[name]}\n\n{_without(name)}"
    if name in PROMISES:
        return _promise(PROMISES[name])
    if name in OBLIGATIONS:
        return f"{name}\n\n{OBLIGATIONS[name]}"
    known = dict.fromkeys([*claims, *actions, *reasons, *RULES, *PROMISES, *OBLIGATIONS])
    raise KeyError(f"there is nothing called {name!r}. {nearest(name, known)}")


def sentence_of(name: str) -> str:
    """A claim, law, rule or obligation in one sentence; its name in words if there is none."""
    if name in PROMISES:
        return PROMISES[name].sentence
    return (OBLIGATIONS | RULES).get(name, name.replace("_", " "))


def list_names(*, markdown: bool) -> str:
    """Every claim by kind, with its sentence; then, unless it is for a document, actions and reasons to refuse."""
    kinds: dict[str, tuple[Claim[Any], ...]] = {
        "The pool: true at every moment": INVARIANTS,
        "The pool: true of every step": STEP_PROPERTIES,
        "The pool: possible": POSSIBILITIES,
        "Requests and memory: true at every moment": WORLD_INVARIANTS,
        "Requests and memory: true of every step": WORLD_STEP_PROPERTIES,
        "Requests and memory: possible": WORLD_POSSIBILITIES,
    }
    lines = []
    for title, claims in kinds.items():
        lines += [f"**{title}**" if markdown else title, ""]
        for claim in claims:
            place = f"{file_of(claim.judge.__module__)}"
            name = f"[`{claim.name}`]({place})" if markdown else f"{claim.name}:"
            lines.append(f"- {name} {claim.sentence}" if markdown else f"  {name} {claim.sentence}")
        lines.append("")
    place = "[`{}`](spec/requests/state.py)" if markdown else "{}:"
    lines += ["**Rules that schedulers owe the pool**" if markdown else "Rules that schedulers owe the pool", ""]
    lines += [f"{'-' if markdown else ' '} {place.format(rule)} {sentence}" for rule, sentence in RULES.items()] + [""]
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
    possible = claim in POSSIBILITIES or claim in WORLD_POSSIBILITIES
    steady = claim in INVARIANTS or claim in WORLD_INVARIANTS
    kind = "possibility" if possible else "invariant" if steady else "step property"
    text = f"{claim.name} ({kind})\n\n{claim.sentence}\n\nWhy it matters: {claim.reason}"
    return f"{text}\n\n{_witness(claim)}" if possible else text


def _promise(law: Law) -> str:
    kind = "promised by every pool" if law.knob is None else f"if the profile says so: {law.knob}"
    return f"{law.name} (law of the oracle; {kind})\n\n{law.sentence}\n\nWhy it matters: {law.reason}"


def _witness(claim: Claim[Any]) -> str:
    parts: tuple[AnyScope, ...] = (*SCOPES["tiny"], *SCOPES["small"][1:])
    for part in SERVING_SCOPES["small"] if claim in WORLD_POSSIBILITIES else parts:
        found = explore(part)
        if claim.name in found.tally.shown:
            calls = found.trace(found.tally.shown[claim.name])
            shown = Counterexample(claim.name, claim.sentence, part.first_state(), calls, "")
            return f"A shortest trace that shows it, in scope {part.name}:\n\n{shown.steps()}"
    return "No scope of `tiny` or `small` shows it."


def _without(rule: str) -> str:
    for part in SERVING_SCOPES["small"]:
        found = explore(with_rules(part, rule), first_failure_ends=True)
        for failure in found.tally.failures.values():
            return f"Without it, in scope {part.name}:\n\n{example(found, failure).story()}"
    return "No scope of `small` shows what breaks without it."


def _action(action: type[Action[Any]]) -> str:
    reasons = "\n".join(f"  - {reason}" for reason in sorted(action.reasons)) or "  (never)"
    return f"{action.name}\n\n{getdoc(action)}\n\nRefused, changing nothing:\n{reasons}"


def _reason(reason: Reason) -> str:
    actions = [action.name for action in ACTIONS if reason in action.reasons]
    return f"{reason}\n\nA reason to refuse {', '.join(actions)}. A refused call changes nothing."
