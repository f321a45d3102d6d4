"""The claims ledger as a page, and the findings in vLLM 0.33 with what reproduces each."""

from collections import Counter
from collections.abc import Iterator, Mapping
from inspect import getsource
from textwrap import dedent

from blockpool.proofs.cases import observed
from blockpool.proofs.cases.article import CLAIMED, Is, On, Said
from blockpool.proofs.cases.bug_catalogue import Bug, bugs
from blockpool.proofs.cases.findings import IN_THE_ENGINE, Finding
from blockpool.proofs.cases.observed import Observed
from blockpool.proofs.faces.handbook.writing import Page, claim, named, plain, rule
from blockpool.proofs.systems.vllm.testbench import RELEASE


def pages(known: Mapping[str, object]) -> Iterator[Page]:
    """Both pages."""
    yield _ledger()
    yield _findings(known)


def _ledger() -> Page:
    page = Page("article", "The claims ledger", "article")
    page.say(
        "A well-known article explains vLLM's block pool. These are its claims in our words, what is so in release "
        f"{RELEASE}, the same as a formula, and a witness: a few lines that are run, on the pool of this project and "
        "on the core files of vLLM, and fail if it were otherwise."
    )
    count = Counter(one.verdict for one in CLAIMED)
    unseen = sum(one.witness is None for one in CLAIMED)
    page.say(
        f"{count[Is.FALSE]} are false, {count[Is.IMPRECISE]} imprecise, {count[Is.RIGHT]} right and worth keeping. "
        f"{unseen} are about parts of vLLM that its core files do not have; they were seen in an installed vLLM and "
        "are not shown here."
    )
    rows = [
        [f"[{one.number}](#said-{one.number.lower()})", plain(one.said), f"**{one.verdict}**", str(one.on)]
        for one in CLAIMED
    ]
    page.table(["no.", "the article says", "verdict", "shown on"], rows)
    page.heading("Claim by claim")
    for one in CLAIMED:
        _said(page, one)
    return page


def _said(page: Page, one: Said) -> None:
    page.heading(f"{one.number}. {plain(one.said)}", f"said-{one.number.lower()}", 3)
    page.markdown(f"**{str(one.verdict).capitalize()}.** {page.with_terms(plain(one.so))}")
    page.code(one.formula, "text")
    if one.witness is None:
        page.say("No witness here: it was seen in an installed vLLM, which has the parts it is about.")
        return
    page.say(
        f"Witness, run on {one.on}."
        + (" Our pool does otherwise." if one.on is On.VLLM and one.verdict is not Is.RIGHT else "")
    )
    page.fold("The witness", f"```python\n{dedent(getsource(one.witness)).rstrip()}\n```")


def _findings(known: Mapping[str, object]) -> Page:
    page, seen = Page("findings", f"Findings in vLLM {RELEASE}", "findings"), observed.read()
    page.say(
        "Every defect was executed on the real pool. Those of the pool are kept as traces, recorded from the release "
        "itself; an audit of the trace names the law that is broken. Those of the engine around it have a few lines "
        "each that reproduce them, and the machine with requests shows them too where it can express them."
    )
    page.heading("In the engine around the pool")
    page.say("Reachable through the unmodified scheduler and managers.")
    page.say(
        f"What was observed is of vLLM {seen.vllm}, installed under Python {seen.python}. To see it again, run "
        "`blockpool docs --findings` where it is installed; a reproduction fails where its finding is not so. Events "
        "are written with each key as the number of tokens of its prefix. What a `lab` is asked, the core files of the "
        "release answer too; what an `engine` is asked needs an installation."
    )
    for one in IN_THE_ENGINE:
        _in_the_engine(page, one, seen)
    page.heading("In the pool")
    page.say("Latent: an engine that makes no mistake meets few of these, and then they are silent.")
    for bug in bugs():
        if bug.of_vllm:
            _in_the_pool(page, bug, known)
    return page


def _in_the_engine(page: Page, one: Finding, seen: Observed) -> None:
    page.heading(f"{one.id}. {plain(one.title)}", f"finding-{one.id.lower()}", 3)
    page.say(one.happens)
    page.say(f"Observed in vLLM {seen.vllm}:")
    page.items(plain(line) for line in seen.findings[one.id])
    page.fold("The reproduction", f"```python\n{getsource(one.reproduction).rstrip()}\n```")
    if one.rules:
        page.markdown(f"The machine with requests does the same without {', '.join(rule(name) for name in one.rules)}.")
    if one.claims:
        page.markdown(f"Our claims about it: {', '.join(claim(name) for name in one.claims)}.")
    if not one.rules and not one.claims:
        page.say("Our machine has no words for it.")


def _in_the_pool(page: Page, bug: Bug, known: Mapping[str, object]) -> None:
    page.heading(bug.id, f"finding-{bug.id.lower()}", 3)
    page.say(bug.happened)
    laws = ", ".join(named(name, known) for name in bug.named_by)
    page.markdown(f"Named by {laws}." if laws else "This is within our contract too.")
    again = f"`blockpool audit proofs/cases/bugs/vllm-0.33/{bug.id}.jsonl --profile strict` judges this trace:"
    page.fold("What the released pool answers", f"{again}\n\n" + "\n".join(f"1. {plain(line)}" for line in bug.calls))
