"""One trial: the gates of `check`, run on a copy of the source with one defect in it, until one of them fails.

Run as `python -m blockpool.proofs.adequacy.defects.run_defect [NAME]`, in a process of its own, since the defect is
put in at import. Prints one line of JSON. The gates and their order are in `checks_by_gate.py`. With `--row` no gate is
spared, for the detection matrix; with `--file=FILE` the defect is one of that file.
"""

import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from blockpool.proofs.adequacy.census import registered, taken
from blockpool.proofs.adequacy.defects.from_file import fitted, places_with, read_defects
from blockpool.proofs.adequacy.defects.seeded import DEFECTS
from blockpool.proofs.core.edits import Defect
from blockpool.proofs.core.loader import install
from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.core.sources import file_of

if TYPE_CHECKING:
    from blockpool.proofs.adequacy.defects.checks_by_gate import Gate
    from blockpool.proofs.core.obligation import Example
    from blockpool.proofs.explore.expand import AnyScope

DIED = "the gate itself fails"
"""Not a catch: a gate that dies has judged nothing."""

MOST_STATES = 6_000
"""Of a part. Without a defect none has so many; with one a search may have no end."""

FILE = "--file="

WITHOUT = "without "
"""Begins the name of a row for a scheduler that breaks a rule."""


def run_trial(defect: Defect, scope: int | None = None) -> dict[str, Any]:
    """Which gate catches the defect, by which claim, in how many calls; `gate` is None if none does.

    `scope`: which of the scopes of each gate, -1 for the widest; the routine one if it is not said.
    """
    started = perf_counter()
    gates = _gates(defect, contracts=False)
    outcome: dict[str, Any] = {"defect": defect.name, "gates": len(gates), "gate": None}
    for gate in gates:
        caught = _noticed(gate.run if scope is None else [*gate.scopes.values()][scope])
        if caught is not None:
            outcome |= {"gate": gate.name, **caught}
            break
    return outcome | {"seconds": perf_counter() - started}


def run_from_file(defect: Defect, deep: bool) -> dict[str, Any]:
    """Which gates catch a defect that nobody here has seen: the census of its text, and the first gate that runs it."""
    started = perf_counter()
    files = {place.file for place in places_with(defect)} | {file_of(edit.module) for edit in defect.edits}
    known = {file: entries for file, entries in registered().items() if file in files}
    noted = taken(list(places_with(defect)), known)
    caught = [{"gate": "census", "claim": noted.name, "words": noted.words}] if noted.verdict is Verdict.REFUTED else []
    ran = run_trial(defect) if not deep else run_trial(defect, scope=-1)
    if ran["gate"] is not None and ran["claim"] != DIED:
        caught.append({key: ran[key] for key in ("gate", "claim", "words")})
    died = ran["words"] if ran["gate"] is not None and ran["claim"] == DIED else ""
    return {"defect": defect.name, "caught": caught, "died": died, "seconds": perf_counter() - started}


def run_row(defect: Defect, *, contracts: bool) -> dict[str, Any]:
    """A row of the detection matrix: for each gate that catches the defect, how, and at which least scope."""
    row: dict[str, Any] = {}
    for gate in _gates(defect, contracts):
        started = perf_counter()
        for scope, run in gate.scopes.items():
            if gate.judged and scope == gate.routine:
                continue  # judged below, with every claim
            caught = _noticed(run)
            if caught is not None:
                row[gate.name] = {"scope": scope, "claims": [caught["claim"]], "calls": caught["calls"]}
                break
        if gate.judged:
            broken = _noticed(partial(claims_broken, gate.judged))
            if broken:
                row.setdefault(gate.name, {"scope": gate.routine, "calls": _least(broken)})["claims"] = _claims(broken)
        if gate.name in row:
            row[gate.name]["seconds"] = round(perf_counter() - started, 2)
    return row


def claims_broken(parts: "Sequence[AnyScope]") -> dict[str, int | None] | None:
    """Every claim that does not hold in a search of all these parts to the end, and in how many calls it breaks."""
    from blockpool.proofs.core.obligation import Verdict
    from blockpool.proofs.explore.search import explore
    from blockpool.proofs.refine.search_obligations import COUNTED, decide

    decided = decide("", [explore(part, most_states=MOST_STATES) for part in parts], with_impl=False)
    failed = [one for one in decided if one.verdict is Verdict.REFUTED and one.name != COUNTED]
    # Nothing is tried from a state that breaks a claim, so what was not shown then only shows that.
    failed = failed or [one for one in decided if one.verdict is Verdict.VACUOUS]
    return {one.name: _length(one.counterexample) for one in failed} or None


def run_without(rule: str) -> dict[str, Any]:
    """The row of a scheduler that breaks this rule."""
    from blockpool.proofs.explore.serving import SERVING_SCOPES, with_rules

    started = perf_counter()
    broken = claims_broken([with_rules(part, rule) for part in SERVING_SCOPES["small"]])
    if broken is None:
        return {}
    seconds = round(perf_counter() - started, 2)
    return {"model": {"scope": "small", "claims": sorted(broken), "calls": _least(broken), "seconds": seconds}}


def _claims(broken: dict[str, Any]) -> list[str]:
    return [DIED] if broken.get("claim") == DIED else sorted(broken)


def _least(broken: dict[str, Any]) -> int | None:
    return min((length for length in broken.values() if isinstance(length, int)), default=None)


def _length(counterexample: "Example | None") -> int | None:
    return None if counterexample is None else len(counterexample.as_dict()["calls"])


def _gates(defect: Defect, contracts: bool) -> "list[Gate]":
    """Put the defect in; the gates that judge its tree."""
    install(defect)
    # Imported only now: these modules import the defective one.
    from blockpool.proofs.adequacy.defects.checks_by_gate import GATES

    tree = "spec" if defect.of_spec else "impl"
    return [gate for gate in GATES.values() if tree in gate.trees and gate.contracts is contracts]


def _noticed(run: Callable[[], dict[str, Any] | None]) -> dict[str, Any] | None:
    try:
        return run()
    except Exception as error:  # noqa: BLE001  whatever it is, it is reported
        return {"claim": DIED, "calls": None, "words": f"{type(error).__name__}: {error}"}


def main() -> None:
    """Run the trial named on the command line; without a name, one without a defect. With --row, all gates."""
    files = [argument.removeprefix(FILE) for argument in sys.argv[1:] if argument.startswith(FILE)]
    options = {argument for argument in sys.argv[1:] if argument.startswith("--")}
    name = next((argument for argument in sys.argv[1:] if argument not in options), None)
    if name is not None and name.startswith(WITHOUT):
        print(json.dumps(run_without(name.removeprefix(WITHOUT))))
        return
    if files and name:
        defect = fitted(name, read_defects(Path(files[0]))[name])
    else:
        defect = next(defect for defect in DEFECTS if defect.name == name) if name else Defect("nothing", ())
    if files:
        print(json.dumps(run_from_file(defect, deep="--deep" in options)))
    elif "--row" in options:
        print(json.dumps(run_row(defect, contracts="--contracts" in options)))
    else:
        print(json.dumps(run_trial(defect)))


if __name__ == "__main__":
    main()
