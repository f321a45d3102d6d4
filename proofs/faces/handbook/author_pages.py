"""For authors of other pools: the choices of a profile in words, and the laws that a pool is judged by."""

from collections.abc import Iterator
from dataclasses import fields
from inspect import cleandoc

from blockpool.proofs.cases.bug_catalogue import ACTION_OF, naming
from blockpool.proofs.faces.handbook.writing import Page, action, plain
from blockpool.proofs.oracle.kv_events import LAWS as EVENT_LAWS
from blockpool.spec.contract import profiles
from blockpool.spec.contract.laws import LAWS, Law
from blockpool.spec.contract.profiles import KNOBS, PROFILES, Profile
from blockpool.spec.contract.violation import DUTIES

OWN = """from dataclasses import replace
from blockpool.spec.contract.profiles import PROFILES

mine = replace(PROFILES["index"], name="mine", order="stack")
"""
"""A profile of one's own, as a page shows it and a test runs it."""


def pages() -> Iterator[Page]:
    """Profiles and laws."""
    yield _profiles()
    yield _laws()


def _profiles() -> Page:
    page = Page("authors/profiles", "Profiles: what a pool promises", "profiles")
    first, *_ = cleandoc(profiles.__doc__ or "").split("\n\n    ")
    for paragraph in first.split("\n\n"):
        page.say(" ".join(paragraph.split()))
    page.code(OWN)
    page.heading("The named profiles")
    rows = [[f"[`{one.name}`](#profile-{one.name})", plain(one.sentence)] for one in PROFILES.values()]
    page.table(["profile", "in one sentence"], rows)
    page.heading("The choices")
    for knob in fields(Profile):
        if knob.name in KNOBS:
            page.heading(knob.metadata["question"], f"knob-{knob.name}", 3)
            page.say(f"Field `{knob.name}`; `{knob.default}` if nothing is said.")
            page.table(["value", "answer"], ([f"`{value}`", plain(words)] for value, words in KNOBS[knob.name].items()))
    page.heading("Each profile in words")
    for one in PROFILES.values():
        page.heading(one.name, f"profile-{one.name}", 3)
        page.say(one.sentence)
        page.items(plain(line) for line in one.in_words())
    return page


def _laws() -> Page:
    page = Page("authors/laws", "Laws: what a pool is judged by", "laws")
    page.say(
        "The claims speak of the state of the abstract machine. Laws speak of what a caller sees, so that a pool can "
        "be judged from outside, by its answers alone. A law without a choice holds for every pool."
    )
    page.heading("Promised by every pool")
    for one in LAWS:
        if one.knob is None:
            _law(page, one)
    page.heading("If the profile says so")
    page.say("A pool that breaks one of these is outside its profile, and safe nevertheless.")
    for one in LAWS:
        if one.knob is not None:
            _law(page, one)
    page.heading("Of event streams alone")
    page.say("Where there is nothing but recorded events, `blockpool audit --events` judges by these.")
    for name, sentence in EVENT_LAWS.items():
        page.heading(f"`{name}`", f"law-{name}", 3)
        page.say(sentence)
        _reports(page, name)
    page.heading("Duties of callers")
    page.say("Where one of these is broken, the trace is judged to be the caller's fault, never the pool's.")
    for name, sentence in DUTIES.items():
        page.heading(f"`{name}`", f"law-{name}", 3)
        page.say(sentence)
        _reports(page, name)
    return page


def _law(page: Page, one: Law) -> None:
    page.heading(f"`{one.name}`", f"law-{one.name}", 3)
    page.quote(one.sentence)
    page.say(one.reason)
    notes = [f"Belongs to the choice [{one.knob}](#knob-{one.knob})."] if one.knob else []
    if one.needs is not None:
        known = ACTION_OF.get(one.needs)
        notes.append(f"Says nothing of pools without `{one.needs}`" + (f" ({action(known)})." if known else "."))
    if notes:
        page.markdown(" ".join(notes))
    _reports(page, one.name)


def _reports(page: Page, name: str) -> None:
    found = [bug for bug in naming(name) if not bug.of_vllm]
    if found:
        page.fold(f"{len(found)} public reports", "\n".join(f"- {bug.id}: {plain(bug.happened)}" for bug in found))
