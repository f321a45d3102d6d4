"""Kill scores as obligations: how many mutants are killed, and whether every survivor is known to be harmless.

`harmless.json` lists survivors by name with a proof, in a line, that they do the same as the original. It is checked:
an entry that fits no mutant, or whose mutant is killed, is an error.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from blockpool.proofs.adequacy.mutation.targets import modules_of
from blockpool.proofs.core.obligation import Figures, Obligation, Verdict
from blockpool.proofs.core.sources import tree_of
from blockpool.proofs.core.workers_ray import Workforce

if TYPE_CHECKING:
    from blockpool.proofs.adequacy.mutation.run import Judged, Progress

KILLED = "mutants_are_killed"
LISTED = "every_survivor_is_proved_harmless"
FITS = "every_harmless_mutant_exists_and_survives"
JUDGED = "every_mutant_is_judged"

BARS = {"impl": 0.98, "spec": 0.95}
"""The least part of the mutants of each tree that is killed."""

SENTENCES = {
    KILLED: "At least 98 % of the mutants of impl and 95 % of those of the spec are killed by some test or gate.",
    LISTED: "Each mutant of impl that survives is listed with a proof that it does the same as the original.",
    FITS: "Each mutant that is listed as harmless exists, and nothing kills it.",
    JUDGED: "There is what it takes to judge mutants: mutmut, and the tests of a checkout.",
}

FILE = Path(__file__).with_name("harmless.json")


def harmless(file: Path = FILE) -> dict[str, str]:
    """The mutants that are listed, by name, and why each is harmless."""
    listed: dict[str, dict[str, str]] = json.loads(file.read_text(encoding="utf-8"))
    return {f"{module}:{change}": why for module, changes in listed.items() for change, why in changes.items()}


def decided(
    modules: Sequence[str],
    memory: Path | None,
    *,
    workers: Workforce,
    deep: bool,
    survives: "Callable[[Judged, str | None], None]",
    progress: "Progress",
) -> Iterator[list[Obligation]]:
    """Judge the mutants of these modules; the obligations of each tree. `survives` is told of each survivor at once."""
    from blockpool.proofs.adequacy.mutation.run import (  # needs mutmut; the names above do not
        Memory,
        all_mutants,
        judge,
    )

    known = harmless()
    for tree in BARS:
        own = [module for module in modules if tree_of(module) == tree]
        if not own:
            continue
        started, judged = perf_counter(), []
        for one in judge(all_mutants(own), workers=workers, memory=Memory(memory), deep=deep, progress=progress):
            judged.append(one)
            if not one.detected:
                survives(one, known.get(one.mutant.name))
        yield scored(tree, judged, known, own, perf_counter() - started)


def scored(
    tree: str, judged: "Sequence[Judged]", listed: dict[str, str], modules: Sequence[str], seconds: float
) -> list[Obligation]:
    """What came of the mutants of these modules of a tree."""
    names = {one.mutant.name: one for one in judged}
    known = [name for name in listed if name.partition(":")[0] in modules]
    survivors = [one for one in judged if not one.detected]
    unlisted = [one for one in survivors if one.mutant.name not in listed]
    fates = Counter(one.judgement.fate for one in judged)
    killed = len(judged) - len(survivors)
    figures: Figures = {
        "mutants": len(judged),
        "killed": killed,
        "harmless": len(survivors) - len(unlisted),
        "score": f"{killed / len(judged):.2%}" if judged else "none",
        "timeouts": fates["timeout"],
        "died": fates["died"],
    }
    verdict = Verdict.HOLDS if killed >= BARS[tree] * len(judged) else Verdict.REFUTED
    scope = tree if set(modules) == set(modules_of(tree)) else ", ".join(modules)
    obligations = [Obligation(KILLED, "mutate", scope, verdict if judged else Verdict.VACUOUS, figures, seconds)]
    words = _some([one.mutant.name for one in unlisted])
    verdict = Verdict.REFUTED if unlisted else Verdict.HOLDS
    if tree == "impl":
        obligations.append(Obligation(LISTED, "detect", tree, verdict, {"listed": len(known)}, 0.0, words))
    wrong = [f"there is no mutant {name}" for name in known if name not in names]
    wrong += [f"{names[name].judgement.by} kills {name}" for name in known if name in names and names[name].detected]
    verdict = Verdict.REFUTED if wrong else Verdict.HOLDS
    obligations.append(Obligation(FITS, "detect", tree, verdict, {"listed": len(known)}, 0.0, "; ".join(wrong)))
    return obligations


def _some(words: Sequence[str], most: int = 5) -> str:
    """The first of them, and how many there are besides: each survivor was printed when it was found."""
    more = len(words) - most
    return "; ".join([*words[:most], *([f"and {more} more"] if more > 0 else [])])
