"""One page for each claim: what it says, why it matters, how it is established, and what refutes it."""

from collections.abc import Iterator, Mapping
from inspect import getsource
from textwrap import dedent
from typing import Any

from blockpool.proofs.adequacy.defects.matrix import REDUNDANT, sole_kills
from blockpool.proofs.cases.bug_catalogue import naming
from blockpool.proofs.core.sources import file_of
from blockpool.proofs.faces.handbook.drawings import play, strip
from blockpool.proofs.faces.handbook.evidence import Evidence
from blockpool.proofs.faces.handbook.examples import Examples, check_names, stories
from blockpool.proofs.faces.handbook.writing import Page, claim, plain, rule
from blockpool.spec import (
    INVARIANTS,
    POSSIBILITIES,
    STEP_PROPERTIES,
    WORLD_INVARIANTS,
    WORLD_POSSIBILITIES,
    WORLD_STEP_PROPERTIES,
    Claim,
)

KINDS: dict[str, tuple[str, tuple[Claim[Any], ...]]] = {
    "The pool: true at every moment": ("Each action preserves all of them together.", INVARIANTS),
    "The pool: true of every step": ("Of calls that are taken, and of calls that are refused.", STEP_PROPERTIES),
    "The pool: possible": ("A pool that can do nothing breaks no promise; each of these is shown.", POSSIBILITIES),
    "Requests and memory: true at every moment": ("Of the pool together with what uses it.", WORLD_INVARIANTS),
    "Requests and memory: true of every step": ("Of every move of schedulers and workers.", WORLD_STEP_PROPERTIES),
    "Requests and memory: possible": ("What a serving engine is there for.", WORLD_POSSIBILITIES),
}

METHODS = {
    "explore": "Explored: every reachable state of a scope, every call from each.",
    "refine": "Refined: each of these calls on the implementation.",
    "prove": "Proved by Z3, with no bound on blocks, keys, references or watchers.",
    "sample": "Sampled: long random histories of larger pools.",
    "detect": "Detected: a seeded defect, or a rule switched off.",
}
"""What each way of establishing a claim means."""


def pages(evidence: Evidence, examples: Examples) -> Iterator[Page]:
    """A page for each claim, and the one that leads to them. Raises RecordError if what is kept does not fit."""
    possible: tuple[Claim[Any], ...] = (*POSSIBILITIES, *WORLD_POSSIBILITIES)
    check_names("claims", examples["claims"], [one.name for _, claims in KINDS.values() for one in claims])
    check_names("shown", examples["shown"], [one.name for one in possible])
    yield _contents()
    for title, (_, claims) in KINDS.items():
        for one in claims:
            yield _page(one, title, evidence, examples)


def _contents() -> Page:
    page = Page("claims/index", "What is promised", "claims")
    page.say(
        "Each claim is a function whose name says it. It is judged on every state and step of every search, and each "
        "has a page: why it matters, how it is established, and what would break it."
    )
    for title, (words, claims) in KINDS.items():
        page.heading(title)
        page.say(words)
        page.items(f"{claim(one.name)} {plain(one.sentence)}" for one in claims)
    page.toctree(one.name for _, claims in KINDS.values() for one in claims)
    return page


def _page(one: Claim[Any], kind: str, evidence: Evidence, examples: Examples) -> Page:
    page = Page(f"claims/{one.name}", one.name.replace("_", " ").capitalize(), f"claim-{one.name}")
    page.quote(one.sentence)
    page.say(f"{kind}. In the code and in verdicts its name is `{one.name}`.")
    page.heading("Why it matters")
    page.say(one.reason)
    page.heading("What it says, exactly")
    page.say(
        "True is kept, False is broken; None means that this state or step has nothing to do with the claim. "
        f"From `{file_of(one.judge.__module__)}`."
    )
    page.code(dedent(getsource(one.judge)))
    _established(page, one, evidence)
    _refuted(page, one, evidence, examples)
    _bugs(page, one)
    return page


def _established(page: Page, one: Claim[Any], evidence: Evidence) -> None:
    page.heading("How it is established")
    decided = evidence.by_name.get(one.name, [])
    if not decided:
        page.say("No run is kept that decided it.")
        return
    methods = dict.fromkeys(entry["method"] for entry in decided)
    page.items(plain(METHODS.get(method, method)) for method in methods)
    rows = [
        [entry["method"], entry["scope"], f"**{entry['verdict']}**", figures(entry["figures"])] for entry in decided
    ]
    page.table(["method", "scope", "verdict", "figures"], rows)
    page.markdown(
        "*Judged* counts the states or steps that the claim had something to say about; see [the evidence](#evidence)."
    )


def figures(entries: Mapping[str, Any]) -> str:
    """Figures in one line."""
    shown = (f"{name} {value:,}" if isinstance(value, int) else f"{name} {value}" for name, value in entries.items())
    return plain(", ".join(shown))


def _refuted(page: Page, one: Claim[Any], evidence: Evidence, examples: Examples) -> None:
    if one.name in examples["shown"]:
        shown = examples["shown"][one.name]
        page.heading("A shortest trace that shows it")
        page.say(f"Found in scope `{shown['scope']}`.")
        page.html(strip(shown["story"]))
        page.html(_playing("shown", one.name, examples))
    elif one.name in examples["broken"]:
        _broken(page, examples["broken"][one.name])
        page.html(_playing("broken", one.name, examples))
    else:
        page.heading("What refutes it")
        page.say("No seeded defect of the spec breaks it within the few calls of an example.")
    alone = sole_kills(evidence.ledger["matrix"]).get(one.name, [])
    if alone:
        page.say("Defects that this claim notices and no other claim of its machine does:")
        page.items(plain(name) for name in alone)
    elif one.name in REDUNDANT:
        page.say(f"It kills no defect alone, and is kept all the same: {REDUNDANT[one.name]}")


def _broken(page: Page, example: Mapping[str, Any]) -> None:
    page.heading("What refutes it")
    if "rule" in example:
        page.markdown(
            f"A scheduler that breaks the rule {rule(example['rule'])}. The shortest trace, in scope "
            f"`{example['scope']}`, step by step:"
        )
    else:
        page.say(
            f"The seeded defect “{example['defect']}”: so much of the spec is made wrong, and the search finds this "
            f"shortest trace, in scope `{example['scope']}`. The states are those of the wrong spec."
        )
    page.html(strip(example["story"]))


def _playing(kind: str, name: str, examples: Examples) -> str:
    return play(list(stories(examples)).index((kind, name)))


def _bugs(page: Page, one: Claim[Any]) -> None:
    found = naming(one.name)
    if found:
        page.heading("Real bugs that it names")
        page.table(["report", "what happened"], ([bug.id, plain(bug.happened)] for bug in found))
