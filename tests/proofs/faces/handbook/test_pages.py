"""Pages are made of what is checked: a changed sentence changes the page, and a claim that is gone breaks the build."""

from dataclasses import replace
from typing import Any

import pytest

from blockpool.proofs.cases.bug_catalogue import ACTION_OF, bugs, concerning, naming
from blockpool.proofs.faces.handbook import (
    action_pages,
    claim_pages,
    evidence,
    examples,
    request_pages,
    start_pages,
    survey,
)
from blockpool.proofs.faces.handbook.author_pages import OWN
from blockpool.proofs.faces.handbook.book import kinds_of_names, made_pages
from blockpool.proofs.faces.handbook.evidence import Evidence, Run
from blockpool.proofs.faces.handbook.examples import RecordError
from blockpool.proofs.faces.handbook.start_pages import StaleSurveyError
from blockpool.proofs.faces.handbook.writing import Page, plain
from blockpool.spec import ACTIONS, CLAIMS, RULES, WORLD_CLAIMS, Claim
from blockpool.spec.contract.calls import OPERATIONS
from blockpool.spec.contract.laws import LAWS
from blockpool.spec.contract.profiles import PROFILES


@pytest.fixture(scope="module")
def book() -> dict[str, Page]:
    return {page.path: page for page in made_pages()}


def test_there_is_a_page_for_each_action_claim_and_rule(book: dict[str, Page]) -> None:
    assert {f"actions/{kind.name}" for kind in ACTIONS} <= book.keys()
    assert {f"claims/{one.name}" for one in (*CLAIMS, *WORLD_CLAIMS)} <= book.keys()
    assert {f"requests/{name}" for name in RULES} <= book.keys()


def test_a_page_of_a_claim_has_its_sentence_reason_and_source(book: dict[str, Page]) -> None:
    for one in (*CLAIMS, *WORLD_CLAIMS):
        shown = unlinked(book[f"claims/{one.name}"].text)
        assert plain(one.sentence) in shown
        assert plain(one.reason) in shown
        assert f"def {one.name}(" in shown


def test_a_page_of_an_action_has_every_reason_to_refuse(book: dict[str, Page]) -> None:
    for kind in ACTIONS:
        assert all(f"**{reason}**" in book[f"actions/{kind.name}"].text for reason in kind.reasons)


def test_laws_and_profiles_are_there_in_words(book: dict[str, Page]) -> None:
    laws, profiles = unlinked(book["authors/laws"].text), unlinked(book["authors/profiles"].text)
    assert all(plain(one.sentence) in laws for one in LAWS)
    assert all(plain(line) in profiles for one in PROFILES.values() for line in one.in_words())


def test_the_profile_of_ones_own_on_the_page_is_one() -> None:
    scope: dict[str, Any] = {}
    exec(OWN, scope)
    assert scope["mine"].order == "stack"


# --- what is checked decides what is written ---


def claims_without(name: str) -> dict[str, tuple[str, tuple[Claim[Any], ...]]]:
    return {
        title: (words, tuple(one for one in claims if one.name != name))
        for title, (words, claims) in claim_pages.KINDS.items()
    }


@pytest.mark.parametrize("name", ["queued_blocks_are_unheld", "keys_move_to_a_copy", "hits_are_sound"])
def test_without_a_claim_there_is_no_book(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claim_pages, "KINDS", claims_without(name))
    with pytest.raises(RecordError, match=name):
        list(claim_pages.pages(evidence.read(), examples.read()))


def test_a_new_claim_must_be_recorded_first(monkeypatch: pytest.MonkeyPatch) -> None:
    new = replace(CLAIMS[0], name="blocks_are_blue")
    kinds = {**claim_pages.KINDS, "New": ("", (new,))}
    monkeypatch.setattr(claim_pages, "KINDS", kinds)
    with pytest.raises(RecordError, match="nothing is kept of blocks_are_blue"):
        list(claim_pages.pages(evidence.read(), examples.read()))


def test_another_sentence_makes_another_page(monkeypatch: pytest.MonkeyPatch) -> None:
    one = replace(CLAIMS[2], sentence="A queued block is green.")
    kinds = {"All": ("", tuple(one if old.name == one.name else old for old in (*CLAIMS, *WORLD_CLAIMS)))}
    monkeypatch.setattr(claim_pages, "KINDS", kinds)
    pages = {page.path: page.text for page in claim_pages.pages(evidence.read(), examples.read())}
    assert "A queued block is green." in pages[f"claims/{one.name}"]
    assert "A queued block is green." in pages["claims/index"]


def test_without_a_rule_there_is_no_book(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_pages, "RULES", {"be_kind": "Be kind."})
    with pytest.raises(RecordError, match="nothing is kept of be_kind"):
        list(request_pages.pages(examples.read()))


def test_figures_on_a_page_are_those_that_were_recorded() -> None:
    name = CLAIMS[0].name
    obligation = {"name": name, "method": "explore", "scope": "moon", "verdict": "holds", "figures": {"judged": 123456}}
    kept = Evidence([Run("blockpool check", {}, [obligation])], evidence.read().ledger)
    pages = {page.path: page.text for page in claim_pages.pages(kept, examples.read())}
    assert "| explore | moon | **holds** | judged 123,456 |" in pages[f"claims/{name}"]


def test_a_survey_of_another_machine_is_noticed() -> None:
    kept = survey.read()
    start_pages.check(kept, evidence.read())
    with pytest.raises(StaleSurveyError, match="scope tiny"):
        start_pages.check({**kept, "scopes": {"tiny": [1, 2]}}, evidence.read())


def test_every_action_is_shown_at_work_and_changes_something_if_it_can() -> None:
    questions = {"get_cached_block", "is_block_writable", "get_num_free_blocks", "get_usage"}
    for kind in ACTIONS:
        *_, step = action_pages.scenario_of(kind)
        assert isinstance(step.action, kind)
        assert (step.after == step.before) == (kind.name in questions)


# --- the museum ---


def test_every_operation_has_an_action() -> None:
    assert {*ACTION_OF, "start"} == set(OPERATIONS)
    assert set(ACTION_OF.values()) | {"get_usage"} == {kind.name for kind in ACTIONS}


def test_bugs_are_found_by_what_they_concern(book: dict[str, Page]) -> None:
    assert len(bugs()) > 120
    assert {"DF-01", "B1"} <= {bug.id for bug in bugs()}
    assert "B8" in {bug.id for bug in concerning("evict_blocks")}
    assert "LK-02" in {bug.id for bug in naming("every_reference_is_accounted_for")}
    assert "LK-02" in book["claims/every_reference_is_accounted_for"].text
    assert all(f"finding-{bug.id.lower()}" in book["findings"].text for bug in bugs() if bug.of_vllm)


def test_seeded_defects_belong_to_the_action_whose_source_they_change() -> None:
    names = {name for name, _ in action_pages.seeded_in(next(kind for kind in ACTIONS if kind.name == "touch"))}
    assert "spec: a touched block stays queued" in names
    assert "spec: keys survive re-allocation" not in names


def test_names_on_pages_are_of_something() -> None:
    known = kinds_of_names()
    assert all(known.get(name) for bug in bugs() for name in bug.named_by)


def unlinked(text: str) -> str:
    """The page with links to the glossary as plain words."""
    import re

    return re.sub(r"\{term\}`([^<`]*) <[^>]*>`", r"\1", text)
