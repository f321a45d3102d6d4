"""The evidence: what ran, at which scopes, with which figures and versions; and which gate catches which defect."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from blockpool.proofs.adequacy.defects.matrix import Matrix, caught
from blockpool.proofs.adequacy.defects.seeded import DEFECTS
from blockpool.proofs.faces.handbook.claim_pages import figures
from blockpool.proofs.faces.handbook.evidence import Evidence, Run
from blockpool.proofs.faces.handbook.writing import Page, named, plain

GLYPHS = (("within 2 calls", 2), ("within 4 calls", 4), ("in more", None))
"""How soon a gate notices a defect: the fewer calls, the darker the cell."""


def pages(evidence: Evidence, known: Mapping[str, object]) -> Iterator[Page]:
    """The evidence, and the matrix."""
    page = Page("evidence", "The evidence", "evidence")
    page.say(
        "Every figure on these pages was written by a command into a file: `proofs/core/figures.json` holds figures "
        "that may "
        "change only on purpose; in `proofs/faces/handbook` lie `evidence.json`, with the verdicts of the runs below, "
        "`survey.json` and `examples.json`, with the arrows and traces that are drawn, and `findings.json`, with what "
        "was observed in vLLM. Times are in `benchmarks/results.md`."
    )
    page.say(
        "There are four verdicts, and only “holds” is success. Refuted: there is a counterexample. Inconclusive: the "
        "run ended too early to say. Vacuous: nothing that was tried could have refuted it."
    )
    _runs(page, evidence, known)
    _counts(page, evidence)
    _kills(page, evidence)
    page.heading("Which gate catches which defect")
    page.markdown("See [the detection matrix](#detection-matrix).")
    page.toctree(["matrix"])
    yield page
    yield _matrix(evidence.ledger["matrix"])


def _runs(page: Page, evidence: Evidence, known: Mapping[str, object]) -> None:
    page.heading("What ran")
    for run in evidence.runs:
        verdicts = Counter(one["verdict"].replace("holds", "hold") for one in run.obligations)
        page.heading(f"`{run.command}`", level=3)
        page.say(
            f"{len(run.obligations)} obligations: {', '.join(f'{count} {name}' for name, count in verdicts.items())}. "
            f"{_seed(run)} Versions: {', '.join(f'{name} {number}' for name, number in run.versions.items())}."
        )
        page.fold("All verdicts", _verdicts(run, known))


def _seed(run: Run) -> str:
    if "--seed" in run.command:
        return "The seed is in the command."
    return "Derandomised: the same command does the same."


def _verdicts(run: Run, known: Mapping[str, object]) -> str:
    rows = ["| obligation | method | scope | verdict | figures |", "| --- | --- | --- | --- | --- |"]
    for one in run.obligations:
        shown = f"{one['verdict']}{': ' + plain(one['words']) if one.get('words') else ''}"
        cells = [named(one["name"], known), one["method"], plain(one["scope"]), shown, figures(one["figures"])]
        rows.append(f"| {' | '.join(' '.join(cell.split()) for cell in cells)} |")
    return "\n".join(rows)


def _counts(page: Page, evidence: Evidence) -> None:
    page.heading("Sizes of the searches")
    page.say(
        "Exact, and asserted by every search: a change of meaning cannot pass unnoticed. States that differ only in "
        "names are one."
    )
    rows = [[name, f"{states:,}", f"{steps:,}"] for name, (states, steps) in sorted(evidence.ledger["counts"].items())]
    page.table(["scope", "states", "steps judged"], rows)


def _kills(page: Page, evidence: Evidence) -> None:
    kills = evidence.ledger["kills"]
    if kills:
        page.heading("Mutants")
        page.say(
            "Small changes to the source made by a tool. A mutant that no test or gate notices must be proved harmless."
        )
        rows = [
            [name, *(f"{entry[what]:,}" for what in ("mutants", "killed", "harmless"))]
            for name, entry in sorted(kills.items())
        ]
        page.table(["tree", "mutants", "killed", "proved harmless"], rows)


def _matrix(matrix: Matrix) -> Page:
    page = Page("matrix", "The detection matrix", "detection-matrix")
    page.say(
        "A gate that cannot fail is no gate. Each row is a line of the source made wrong, as real pools have had it "
        "wrong; each column a gate. A cell says in how many calls the gate notices it, and at which least scope when "
        "pointed at."
    )
    if not matrix:
        page.say("No matrix is recorded in the ledger yet: `blockpool detect --matrix` measures it.")
        return page
    gates = list(dict.fromkeys(gate for row in matrix.values() for gate in row))
    listed = [defect.name for defect in DEFECTS if defect.name in matrix]
    page.say(f"{len(listed)} defects, {len(gates)} gates.")
    legend = "".join(f'<span class="cell depth{place}">{words}</span>' for place, (words, _) in enumerate(GLYPHS))
    page.html(f'<p class="legend">{legend}<span class="cell found">noticed, calls are not counted</span></p>\n')
    page.html(_heat(listed, gates, matrix))
    return page


def _heat(listed: list[str], gates: list[str], matrix: Matrix) -> str:
    head = "".join(f'<th scope="col">{gate}</th>' for gate in gates)
    rows = "".join(
        f'<tr><th scope="row">{name}</th>{"".join(_cell(caught(matrix[name]).get(gate)) for gate in gates)}</tr>\n'
        for name in listed
    )
    table = f'<thead><tr><th scope="col">defect</th>{head}</tr></thead>\n<tbody>{rows}</tbody>'
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="Matrix"><table class="heat">{table}</table></div>\n'
    )


def _cell(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return "<td></td>"
    where = f"{', '.join(found['claims'])}; scope {found['scope']}"
    if found["calls"] is None:
        return f'<td class="found" title="{where}">yes</td>'
    depth = next(place for place, (_, most) in enumerate(GLYPHS) if most is None or found["calls"] <= most)
    return f'<td class="depth{depth}" title="{where}">{found["calls"]}</td>'
