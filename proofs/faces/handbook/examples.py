"""Examples that take too long to find while pages are made: found by a command, and kept in `examples.json`.

For each claim a shortest trace that breaks it, once one line of the spec is made wrong (a seeded defect of
`proofs/adequacy`); for each possibility a shortest trace that shows it; for each rule of schedulers what happens
without it. Each is kept as a story of the explorer, with a picture of every state, which stays true when the defect is
gone.
Run as a module with the name of a defect, this prints the examples of that one.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blockpool.proofs.cases import CaseError
from blockpool.proofs.core.edits import Defect
from blockpool.proofs.core.loader import install

if TYPE_CHECKING:
    from blockpool.proofs.core.counterexample import Counterexample
    from blockpool.proofs.explore.expand import AnyScope
    from blockpool.proofs.explore.search import Exploration

FILE = Path(__file__).with_name("examples.json")
FORMAT = "blockpool-examples/1"
KINDS = ("broken", "shown", "without", "claims")
"""Traces that break a claim, that show a possibility, that break a rule; and the claims that were judged."""
PLAYED = ("broken", "without", "shown")

DEEP = 5
"""Most calls of an example. A defect that takes more is no example for a reader."""

Example = dict[str, Any]
Examples = dict[str, dict[str, Example]]


class RecordError(CaseError):
    """What is kept does not fit the spec any more; it says which command to run."""


def read(file: Path = FILE) -> Examples:
    """What is kept, by kind and name."""
    written = json.loads(file.read_text(encoding="utf-8"))
    if written.get("format") != FORMAT:
        raise RecordError(f"{file} is not of format {FORMAT}; run: blockpool docs --record")
    return {kind: written.get(kind, {}) for kind in KINDS}


def check_names(kind: str, kept: Mapping[str, object], wanted: Sequence[str]) -> None:
    """There must be an entry for each name and for no other. Raises RecordError."""
    missing, gone = sorted(set(wanted) - set(kept)), sorted(set(kept) - set(wanted))
    if missing or gone:
        words = [f"nothing is kept of {', '.join(missing)}"] if missing else []
        words += [f"the spec does not know {', '.join(gone)}"] if gone else []
        raise RecordError(f"examples, {kind}: {'; '.join(words)}. Run: blockpool docs --record")


def stories(kept: Examples) -> dict[tuple[str, str], Example]:
    """Every story that is kept, by kind and name, in the order in which the explorer of the book has them."""
    return {(kind, name): kept[kind][name]["story"] for kind in PLAYED for name in sorted(kept[kind])}


def record(workers: int, progress: Callable[[str], None], file: Path = FILE) -> Examples:
    """Find all examples anew, and keep them."""
    found: Examples = {kind: {} for kind in KINDS}
    names = ["", *_defects_of_spec()]
    with ThreadPoolExecutor(workers) as threads:
        for number, part in enumerate(threads.map(_in_a_process, names), 1):
            progress(f"{number} of {len(names)} defects")
            for kind in KINDS:
                for name, example in part[kind].items():
                    found[kind][name] = _better(found[kind].get(name), example) if example else {}
    lines = [f'"format": "{FORMAT}"']
    for kind in KINDS:
        entries = ",\n".join(f" {json.dumps(name)}: {json.dumps(found[kind][name])}" for name in sorted(found[kind]))
        lines.append(f'"{kind}": {{\n{entries}\n}}')
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return found


def _better(old: Example | None, new: Example) -> Example:
    """The defect that breaks the fewest claims says most about this one; then the shorter trace."""
    return new if old is None or _length(new) < _length(old) else old


def _length(example: Example) -> tuple[int, int]:
    return example["breaks"], len(example["story"]["frames"])


def _defects_of_spec() -> list[str]:
    from blockpool.proofs.adequacy.defects.seeded import DEFECTS

    return [defect.name for defect in DEFECTS if defect.of_spec]


def _in_a_process(name: str) -> Examples:
    """The examples of one defect, put in before the spec is imported; of the spec as it is if no defect is named."""
    from blockpool.proofs.core.jobs import run_module

    ran = run_module("blockpool.proofs.faces.handbook.examples", name)
    if ran.returncode:
        raise RuntimeError(f"the examples of {name!r} cannot be found: {ran.stderr.strip()[-300:]}")
    found: Examples = json.loads(ran.stdout)
    return found


def of_defect(defect: Defect) -> Examples:
    """Shortest traces that break a claim, now that the defect is in."""
    from blockpool.proofs.explore.scopes import SCOPES
    from blockpool.proofs.explore.search import explore
    from blockpool.proofs.explore.serving import SERVING_SCOPES

    broken: dict[str, Example] = {}
    for parts in (SCOPES["tiny"], SERVING_SCOPES["small"][:2]):
        of_machine: dict[str, Example] = {}
        for part in parts:
            for name, example in _failures(explore(part, depth=DEEP)):
                of_machine[name] = _better(of_machine.get(name), example | {"defect": defect.name})
        broken |= {name: example | {"breaks": len(of_machine)} for name, example in of_machine.items()}
    return {kind: {} for kind in KINDS} | {"broken": broken}


def of_the_spec() -> Examples:
    """Witnesses of the possibilities, and what happens without each rule; a rule's example is one of its claim too."""
    from blockpool.proofs.core.counterexample import Counterexample
    from blockpool.proofs.explore.scopes import SCOPES
    from blockpool.proofs.explore.search import explore
    from blockpool.proofs.explore.serving import SERVING_SCOPES
    from blockpool.spec import CLAIMS, RULES, WORLD_CLAIMS

    parts: list[AnyScope] = [*SCOPES["tiny"], *SERVING_SCOPES["small"]]
    sentences = {claim.name: claim.sentence for claim in (*CLAIMS, *WORLD_CLAIMS)}
    found: Examples = {kind: {} for kind in KINDS} | {"claims": {name: {} for name in sentences}}
    for part in parts:
        exploration = explore(part)
        for name, witness in exploration.tally.shown.items():
            calls = exploration.trace(witness)
            shown = Counterexample(name, sentences[name], part.first_state(), calls, "")
            example = _example(part.name, shown)
            example["story"]["title"] = f"{name} is shown"
            found["shown"][name] = _better(found["shown"].get(name), example)
    for rule in RULES:
        broken = without(rule)
        if broken is not None:
            found["without"][rule] = broken
            found["broken"][broken["claim"]] = _better(found["broken"].get(broken["claim"]), broken)
    return found


def without(rule: str) -> Example | None:
    """What happens first when this rule is switched off; None if nothing does."""
    from blockpool.proofs.explore.search import explore
    from blockpool.proofs.explore.serving import SERVING_SCOPES, with_rules

    for part in SERVING_SCOPES["small"]:
        failures = dict(_failures(explore(with_rules(part, rule), first_failure_ends=True)))
        for claim, example in failures.items():
            return example | {"rule": rule, "claim": claim, "breaks": len(failures)}
    return None


def _failures(found: "Exploration") -> Iterator[tuple[str, Example]]:
    """Each broken claim of the spec, with the trace."""
    from blockpool.proofs.refine.search_obligations import example
    from blockpool.spec import CLAIMS, WORLD_CLAIMS

    known = {claim.name for claim in (*CLAIMS, *WORLD_CLAIMS)}
    for name, failure in found.tally.failures.items():
        if name in known:
            yield name, _example(found.scope.name, example(found, failure))


def _example(scope: str, shown: "Counterexample") -> Example:
    from blockpool.proofs.faces.stories.story import story_of

    return {"scope": scope, "breaks": 0, "story": story_of(shown)}


def main() -> None:
    """Print the examples of the defect named on the command line; of the spec as it is if the name is empty."""
    from blockpool.proofs.adequacy.defects.seeded import DEFECTS

    name = sys.argv[1]
    if not name:
        print(json.dumps(of_the_spec()))
        return
    defect = next((defect for defect in DEFECTS if defect.name == name), None)
    if defect is None:
        raise RecordError(f"there is no defect {name!r}")
    install(defect)
    print(json.dumps(of_defect(defect)))


if __name__ == "__main__":
    main()
