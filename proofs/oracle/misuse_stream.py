"""The third stream: wrong calls, each kind in many small states, and what becomes of the pool afterwards."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from blockpool.proofs.oracle.call_generator import wrong_calls
from blockpool.proofs.oracle.campaign import DAMAGE, Hunt
from blockpool.proofs.oracle.search_stream import SmallScope, State
from blockpool.proofs.oracle.session import Line
from blockpool.spec.contract.calls import Ok, Start
from blockpool.spec.contract.laws import A_WRONG_CALL_IS_REFUSED

REFUSED = A_WRONG_CALL_IS_REFUSED.name

STATES = 60
"""How many states are tried at least, spread over those that the search reached."""

EACH = 80
"""How often each kind of wrong call is tried at most."""


def misuse(hunt: Hunt, reached: list[State]) -> None:
    """Make every kind of wrong call, and judge what it left behind."""
    tolerant = replace(hunt.profile, misuse="tolerant")
    tried: Counter[str] = Counter()
    for scope, lines in _spread(reached):
        start = scope.start
        here = hunt.replayed(start, lines, tolerant)
        if here is None or here.judge.ended is not None:
            continue
        for kind, call in wrong_calls(here.books, hunt.operations, here.foreign):
            if tried[kind] >= EACH:
                continue
            tried[kind] += 1
            hunt.wrong_calls += 1
            if f"{DAMAGE}: {kind}" not in hunt.examples:
                hunt.damage(start, here.lines, call, f"{DAMAGE}: {kind}", tolerant)
            if hunt.profile.misuse == "strict":
                _refused(hunt, start, [*here.lines, Line(call, Ok())], f"{REFUSED}: {kind}")


def _spread(reached: list[State]) -> Iterator[State]:
    """Of each scope the same number: half of them the first that were reached, half from all over the rest."""
    scopes: dict[SmallScope, list[State]] = {}
    for state in reached:
        scopes.setdefault(state.scope, []).append(state)
    half = STATES // 2 // max(1, len(scopes))
    for states in scopes.values():
        early, late = states[:half], states[half:]
        yield from early
        yield from late[:: max(1, len(late) // half)]


def _refused(hunt: Hunt, start: Start, lines: list[Line], claim: str) -> None:
    hunt.tested[claim] += 1
    trial = hunt.replayed(start, lines)
    if trial is not None and trial.judge.ended is not None:
        hunt.found(trial, claim)
