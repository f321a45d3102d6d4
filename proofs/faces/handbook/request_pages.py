"""Requests and memory: the environment of the pool, and each rule as a story of what happens without it."""

from collections.abc import Iterator
from dataclasses import fields
from inspect import cleandoc
from typing import Any

from blockpool.proofs.cases.bug_catalogue import naming
from blockpool.proofs.faces.handbook.drawings import play, strip
from blockpool.proofs.faces.handbook.examples import Examples, check_names, stories
from blockpool.proofs.faces.handbook.writing import Page, claim, plain, rule
from blockpool.spec import RULES, WORLD_INVARIANTS, WORLD_STEP_PROPERTIES, Claim
from blockpool.spec.requests import layout
from blockpool.spec.requests import state as serving
from blockpool.spec.requests.layout import Kind
from blockpool.spec.requests.state import World


def pages(examples: Examples) -> Iterator[Page]:
    """A page for each rule, and the one that leads to them. Raises RecordError if what is kept does not fit."""
    check_names("without", examples["without"], list(RULES))
    yield _contents()
    for name, sentence in RULES.items():
        yield _page(name, sentence, examples)


def _contents() -> Page:
    page = Page("requests/index", "Requests and memory", "requests")
    for paragraph in cleandoc(serving.__doc__ or "").split("\n\n"):
        page.say(" ".join(paragraph.split()))
    page.heading("Kinds of layers")
    words = cleandoc(layout.__doc__ or "")
    page.code(words, "text")
    page.say(f"There are {len(Kind)} kinds, and a model may have groups of several at once.")
    page.heading("What is promised to users")
    promised: tuple[Claim[Any], ...] = (*WORLD_INVARIANTS, *WORLD_STEP_PROPERTIES)
    page.items(f"{claim(one.name)} {plain(one.sentence)}" for one in promised)
    page.heading("What schedulers owe the pool")
    page.say(
        "The pool cannot check these rules; it has no view of requests. Each can be switched off in the search, and "
        "then something breaks. Each page tells what."
    )
    page.items(f"{rule(name)} {plain(sentence)}" for name, sentence in RULES.items())
    page.heading("What the state holds")
    page.say(f"{len(fields(World))} fields, of which memory is a ghost: no server stores it.")
    page.toctree(RULES)
    return page


def _page(name: str, sentence: str, examples: Examples) -> Page:
    example = examples["without"][name]
    page = Page(f"requests/{name}", name.replace("_", " ").capitalize(), f"rule-{name}")
    page.quote(sentence)
    page.heading("What happens without it")
    page.say(
        f"The rule is switched off and the scope `{example['scope']}` is searched; this is a shortest run that breaks "
        "a claim."
    )
    page.markdown(f"Broken is {claim(example['claim'])}.")
    page.html(strip(example["story"]))
    page.html(play(list(stories(examples)).index(("without", name))))
    page.say("The same from the command line:")
    page.code(f"blockpool explore --machine requests --break {name}", "text")
    found = naming(name)
    if found:
        page.heading("Real bugs in which it is not kept")
        page.table(["report", "what happened"], ([bug.id, plain(bug.happened)] for bug in found))
    return page
