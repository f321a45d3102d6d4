"""The ledger: figures of earlier runs that may change only on purpose, in one file, `figures.json`.

Nothing writes it but `blockpool ledger accept RUN.json`, which takes the figures out of what commands write with
`--json`, so that a run and its acceptance are two deeds and the difference is read in between. Sections:

- `counts`: states and steps of each named scope, exact
- `proofs`: resource units of each proof; one may spend up to `FACTOR` times what is recorded
- `kills`: mutants of each tree, how many are killed, and how many survivors are proved harmless; a score may not fall
- `matrix`: which gate catches which seeded defect, by which claims, at which least scope, in how many calls
- `versions`: of the tools that the figures were measured with
- `digests`: of each of these sections as it was written, so that a figure edited by hand is noticed
"""

import json
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from blockpool.proofs.core.obligation import Figures, Obligation, Verdict

FILE = Path(__file__).with_name("figures.json")
FORMAT = "blockpool-ledger/1"
SECTIONS = ("versions", "counts", "proofs", "kills", "matrix")

FACTOR = 2
"""A proof that needs more than this many times its recorded resources has changed, though it still holds."""
SLACK = 100_000
"""Resource units that any proof may add: the small ones vary with the version of Z3 and mean nothing."""

UNRECORDED = (0, 0)
"""The counts expected of a named scope that the ledger does not know: every search contradicts them."""

TOOLS = ("z3-solver", "crosshair-tool", "hypothesis", "mutmut")
"""Tools whose versions change figures; not all need to be installed."""

TREES = ("impl", "spec")
"""Kill scores are recorded of whole trees only."""

COUNTED = "the_state_count_is_as_recorded"
BUDGETS = "every_proof_stays_within_its_budget"
SCORES = "no_kill_score_falls"
WRITTEN = "recorded_figures_are_as_they_were_written"
MATCHED = "every_recorded_figure_is_of_something_that_exists"
SENTENCES = {
    COUNTED: "The number of states and steps is the recorded one, so a change of meaning cannot pass unnoticed.",
    BUDGETS: f"No proof spends more than {FACTOR} times what the ledger records for it, with the same version of Z3.",
    SCORES: "At least as large a part of the mutants is killed as the ledger records.",
    WRITTEN: "Each section of the ledger has the digest with which a command wrote it: nobody edited it by hand.",
    MATCHED: "Each figure of the ledger is of a scope, a defect or a proof that there still is.",
}

Entries = dict[str, Any]
Ledger = dict[str, Entries]


@cache
def ledger() -> Ledger:
    """All sections, as recorded."""
    return read(FILE)


def read(file: Path) -> Ledger:
    """The ledger in this file; an empty one if there is no such file."""
    written: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"format": FORMAT}
    if written.get("format") != FORMAT:
        raise ValueError(f"{file} is not a ledger of format {FORMAT}")
    return {section: written.get(section, {}) for section in SECTIONS}


def recorded(section: str, name: str) -> Any:
    """What is recorded under this name; None if nothing is."""
    return ledger()[section].get(name)


def counts(scope: str) -> tuple[int, int]:
    """The states and steps recorded for a named scope."""
    states, steps = recorded("counts", scope) or UNRECORDED
    return states, steps


def tool_versions() -> dict[str, str]:
    """The versions of those tools that are installed."""
    found = {}
    for name in TOOLS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def measured(document: Mapping[str, Any]) -> Ledger:
    """The figures for the ledger in what a command wrote with `--json`."""
    found: Ledger = {section: {} for section in SECTIONS}
    found["matrix"] = dict(document.get("matrix", {}))
    for obligation in document.get("obligations", ()):
        figures, name = obligation["figures"], obligation["name"]
        if name == COUNTED and {"states", "steps"} <= figures.keys() and obligation["verdict"] != "inconclusive":
            found["counts"][obligation["scope"]] = [figures["states"], figures["steps"]]
        elif obligation["method"] == "prove" and "resources" in figures and obligation["verdict"] == "holds":
            found["proofs"][name] = figures["resources"]
        elif obligation["method"] == "mutate" and obligation["scope"] in TREES:
            found["kills"][obligation["scope"]] = {key: figures[key] for key in ("mutants", "killed", "harmless")}
    if any(found.values()):
        found["versions"] = {tool: number for tool, number in document["versions"].items() if tool in TOOLS}
    return found


def merged(old: Ledger, new: Ledger, *, whole: bool = False) -> Ledger:
    """The ledger with new figures. With `whole`, a section that was measured loses what was not measured."""
    return {section: {**({} if whole and new[section] else old[section]), **new[section]} for section in SECTIONS}


def differences(old: Ledger, new: Ledger) -> list[str]:
    """A line for each entry that differs."""
    lines = []
    for section in SECTIONS:
        for name in sorted(old[section].keys() | new[section].keys()):
            before, after = old[section].get(name), new[section].get(name)
            if before != after:
                lines.append(f"{section}: {name}: {_shown(before)} -> {_shown(after)}")
    return lines


def _shown(entry: Any) -> str:
    return "nothing" if entry is None else json.dumps(entry)


def digest(entries: Entries) -> str:
    """What stands for a section."""
    return sha256(json.dumps(entries, sort_keys=True).encode()).hexdigest()[:16]


def edited(file: Path) -> list[str]:
    """The sections of this file that are not as a command wrote them."""
    digests = json.loads(file.read_text(encoding="utf-8")).get("digests", {})
    return [section for section, entries in read(file).items() if digests.get(section) != digest(entries)]


def write(entries: Ledger, file: Path) -> None:
    """One line for each entry, in the order of the names, so that a change reads well in a diff."""
    sections = [f'"format": "{FORMAT}"', f'"digests": {json.dumps({one: digest(entries[one]) for one in SECTIONS})}']
    for section in SECTIONS:
        lines = [f"  {json.dumps(name)}: {json.dumps(entries[section][name])}" for name in sorted(entries[section])]
        sections.append(f'"{section}": {{\n' + ",\n".join(lines) + ("\n}" if lines else "}"))
    file.write_text("{\n" + ",\n".join(sections) + "\n}\n", encoding="utf-8")
    ledger.cache_clear()


def as_written(file: Path = FILE) -> Obligation:
    """Is the ledger as commands wrote it?"""
    wrong = edited(file)
    words = f"edited by hand: {', '.join(wrong)}; `blockpool ledger accept RUN.json` writes it" if wrong else ""
    verdict = Verdict.REFUTED if wrong else Verdict.HOLDS
    return Obligation(WRITTEN, "ledger", "", verdict, {"sections": len(SECTIONS)}, 0.0, words)


def matched(known: Mapping[str, Collection[str]], entries: Ledger | None = None) -> Obligation:
    """Does each entry of these sections have something that it is of? `known` has the names that there are."""
    kept = ledger() if entries is None else entries
    stale = [f"{section}: {name}" for section in known for name in sorted(kept[section].keys() - set(known[section]))]
    words = f"of nothing that there is: {'; '.join(stale[:5])}{' ...' if len(stale) > 5 else ''}" if stale else ""
    figures: Figures = {section: len(kept[section]) for section in known}
    return Obligation(MATCHED, "ledger", "", Verdict.REFUTED if stale else Verdict.HOLDS, figures, 0.0, words)


def compare(obligations: Sequence[Obligation]) -> list[Obligation]:
    """What the ledger says about a run: budgets of its proofs, and its kill scores. Counts are compared by the search.

    One obligation for each kind of figure that the run measured.
    """
    proofs = {one.name: int(one.figures["resources"]) for one in obligations if _is_proof(one)}
    scores = {one.scope: one.figures for one in obligations if one.method == "mutate" and one.scope in TREES}
    return [*([_budgets(proofs)] if proofs else []), *([_scores(scores)] if scores else [])]


def _is_proof(obligation: Obligation) -> bool:
    return obligation.method == "prove" and obligation.verdict is Verdict.HOLDS and "resources" in obligation.figures


def _budgets(proofs: dict[str, int]) -> Obligation:
    unknown = sorted(name for name in proofs if recorded("proofs", name) is None)
    known = {name: (spent, int(recorded("proofs", name))) for name, spent in proofs.items() if name not in unknown}
    over = [
        f"{name} spent {spent:,} instead of {before:,}"
        for name, (spent, before) in sorted(known.items())
        if spent > FACTOR * before + SLACK
    ]
    figures: Figures = {"proofs": len(proofs), "spent": sum(proofs.values())}
    solver, before = tool_versions().get("z3-solver"), recorded("versions", "z3-solver")
    if over and before in (None, solver):  # another solver counts otherwise, which says nothing about the proofs
        return Obligation(BUDGETS, "ledger", "", Verdict.REFUTED, figures, 0.0, "; ".join(over))
    if unknown:
        words = f"not in the ledger: {', '.join(unknown[:5])}{' ...' if len(unknown) > 5 else ''}"
        return Obligation(BUDGETS, "ledger", "", Verdict.VACUOUS, figures, 0.0, words)
    if over:
        figures["recorded with Z3"] = str(before)
    return Obligation(BUDGETS, "ledger", "", Verdict.HOLDS, figures)


def _scores(scores: Mapping[str, Figures]) -> Obligation:
    fallen, unknown = [], []
    for tree, figures in sorted(scores.items()):
        before = recorded("kills", tree)
        if before is None:
            unknown.append(tree)
        elif _score(figures) < _score(before):
            fallen.append(f"{tree}: {_score(figures):.2%} instead of {_score(before):.2%}")
    shown: Figures = {tree: f"{_score(figures):.2%}" for tree, figures in sorted(scores.items())}
    if fallen:
        return Obligation(SCORES, "ledger", "", Verdict.REFUTED, shown, 0.0, "; ".join(fallen))
    if unknown:
        return Obligation(SCORES, "ledger", "", Verdict.VACUOUS, shown, 0.0, f"not in the ledger: {unknown}")
    return Obligation(SCORES, "ledger", "", Verdict.HOLDS, shown)


def _score(figures: Mapping[str, Any]) -> float:
    return float(figures["killed"]) / float(figures["mutants"]) if figures["mutants"] else 0.0
