"""The explorer and the reports in a headless Chromium: stepping, refusals, undo, links, playing, and accessibility."""

import json
import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from blockpool.proofs.core.counterexample import Call, Counterexample
from blockpool.proofs.explore.scopes import SCOPES, narrowed
from blockpool.proofs.explore.serving import SERVING_SCOPES
from blockpool.proofs.faces.explorer.page import explorer_page
from blockpool.proofs.faces.explorer.server import ExplorerServer
from blockpool.proofs.faces.handbook.report import report_page
from blockpool.proofs.faces.stories.stepping import Stepper
from blockpool.proofs.faces.stories.story import story_of
from blockpool.spec import CacheFullBlocks, FreeBlocks, GetNewBlocks, GroupId, Prefix, first_state

CHROMIUM = Path(os.environ.get("BLOCKPOOL_CHROMIUM", "/usr/bin/chromium"))
playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM.exists(), reason=f"needs Chromium at {CHROMIUM}"),
]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]

(TINY,) = narrowed(SCOPES["tiny"][:1], batch=1)
SMALL = replace(TINY, name="two blocks", watchers=0, unpinned=1, block_sizes=(1,))
PUBLISH = CacheFullBlocks(Prefix((0, 1)), (1, 2), 0, 2, 1, GroupId(0))
CALLS = (Call(GetNewBlocks(2)), Call(PUBLISH), Call(FreeBlocks((2, 1))))
SIZES = [(1280, 900), (390, 844)]


def defective_story(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the spec does with a defect in it: freed blocks are not queued."""
    right = FreeBlocks.effect
    with monkeypatch.context() as defect:
        defect.setattr(FreeBlocks, "effect", lambda *of: replace(right(*of), queue=of[1].queue))
        sentence = "A block without reference is in the free queue."
        return story_of(Counterexample("unheld_blocks_are_queued", sentence, first_state(3), CALLS, "It is lost."))


def run_document(story: dict[str, Any]) -> dict[str, Any]:
    """A file of verdicts as `--json` writes it, with one counterexample."""
    figures = {"judged": 1234567}
    held = {"name": "queued_blocks_are_unheld", "method": "explore", "scope": "tiny", "verdict": "holds"}
    held |= {"figures": figures, "seconds": 1.5}
    example = {"claim": story["claim"], "sentence": story["sentence"], "calls": ["get_new_blocks(2)"], "words": "w"}
    example |= {"pytest": "def test() -> None: ...", "story": story}
    refuted = held | {"name": story["claim"], "verdict": "refuted", "words": "It is lost.", "counterexample": example}
    covered = held | {"name": "every_action_and_refusal_is_met", "figures": {"met": 65, "of": 65}}
    return {
        "format": "blockpool-verdicts/1",
        "command": ["blockpool", "check", "--scope", "tiny"],
        "versions": {"python": "3.11.7"},
        "platform": "linux",
        "seconds": 2.0,
        "exit_code": 1,
        "note": "scope tiny, seed 7",
        "obligations": [held, refuted, covered],
    }


@pytest.fixture(scope="module")
def explorer(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("explorer") / "explorer.html"
    with pytest.MonkeyPatch.context() as monkeypatch:
        story = defective_story(monkeypatch)
    world = replace(SERVING_SCOPES["small"][0], name="requests", limits={})
    file.write_text(explorer_page([SMALL, world], [story]), encoding="utf-8")
    return file.as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=str(CHROMIUM), headless=True, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page on which nothing may go wrong, and which asks no network for anything."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(20_000)
    opened = context.new_page()
    troubles: list[str] = []
    opened.on(
        "console", lambda message: troubles.append(message.text) if message.type in ("error", "warning") else None
    )
    opened.on("pageerror", lambda error: troubles.append(str(error)))
    foreign = ("file:", "data:", "http://127.0.0.1")
    opened.on("request", lambda asked: None if asked.url.startswith(foreign) else troubles.append(asked.url))
    yield opened
    context.close()
    assert troubles == []


def take(page: Any, text: str) -> None:
    """Press the button of this call, unfolding the refused ones if need be."""
    button = page.locator("#calls button", has_text=text).first
    if not button.is_visible():
        button.locator("xpath=ancestor::details").locator("summary").click()
    button.click()


def told(page: Any, *texts: str) -> None:
    """What the live region says, sooner or later."""
    for text in texts:
        page.locator("[role=status]", has_text=text).wait_for()


def life(page: Any, block: str) -> str:
    return str(page.locator(f'[data-block="{block}"]').first.get_attribute("data-life"))


# --- stepping ---


def test_calls_are_taken_refused_and_undone(page: Any, explorer: str) -> None:
    page.goto(explorer)
    told(page, "Take a call.")
    take(page, "get_new_blocks(2)")
    told(page, "Call 1: get_new_blocks(2)", "answers blocks=[1, 2]", "queue [1, 2] -> []")
    assert life(page, "1") == "private"
    take(page, "cache_full_blocks(<0 1>, blocks=[1, 2]")
    told(page, "Call 2: cache_full_blocks", "the events are taken at once")
    assert life(page, "1") == "published"
    take(page, "get_new_blocks(1)")
    told(page, "Call 3: get_new_blocks(1)", "refused: not enough free blocks", "Nothing changes.")
    assert life(page, "1") == "published"
    page.locator("#undo").click()
    told(page, "Call 2:")
    page.locator("#undo").click()
    told(page, "Call 1:")
    assert life(page, "1") == "private"
    page.go_back()
    told(page, "Call 2:")
    assert life(page, "1") == "published"
    page.locator("#restart").click()
    told(page, "Take a call.")
    assert life(page, "1") == "blank"


def test_every_step_is_as_the_spec_says(page: Any, explorer: str) -> None:
    """The packed graph, unpacked by the page, answers what the spec answers, as long as no event was sent."""
    page.goto(explorer)
    stepper, path = Stepper(SMALL), list[str]()
    for name in ("get_new_blocks(1)", "touch([1])", "free_blocks([1])", "get_new_blocks(1)"):
        right = stepper.walk(path)
        found = page.evaluate("(path) => sources.get('two blocks').walk(path)", path)
        for step in found["steps"]:
            assert step.pop("to") is not None
            step["tells"] = [line for line in step["tells"] if line != "the events are taken at once"]
        assert found["steps"] == right["steps"]
        assert {key: found[key] for key in ("state", "before", "holds")} == {
            key: right[key] for key in ("state", "before", "holds")
        }
        path.append(next(s["key"] for s in right["steps"] if s["text"].startswith(name) and not s["refused"]))


def test_a_link_leads_to_its_state(page: Any, explorer: str) -> None:
    page.goto(explorer)
    take(page, "get_new_blocks(1)")
    told(page, "Call 1:")
    link = page.get_by_role("link", name="Link to this state").get_attribute("href")
    page.goto("about:blank")
    page.goto(explorer + link)
    told(page, "Call 1: get_new_blocks(1)")
    assert life(page, "1") == "private"
    page.goto(explorer + "#scope=two+blocks&path=9999")
    page.get_by_role("alert").filter(has_text="9999, is no step of this scope").wait_for()


def test_lights_follow_the_step(page: Any, explorer: str) -> None:
    page.goto(explorer)
    light = page.locator('[data-claim="blocks_are_handed_out_from_the_front"]')
    assert light.get_attribute("data-verdict") == "silent"
    take(page, "get_new_blocks(1)")
    told(page, "Call 1:")
    assert light.get_attribute("data-verdict") == "kept"
    assert "kept" in str(light.locator("summary").text_content())
    light.locator("summary").click()
    assert light.get_by_text("An allocation takes exactly the first blocks of the queue, in order.").is_visible()


def test_calls_are_filtered_and_the_focus_stays(page: Any, explorer: str) -> None:
    page.goto(explorer)
    page.get_by_label("Filter").fill("touch([1])")
    assert page.locator("#calls button:visible").all_text_contents() == ["touch([1])"]
    page.locator("#calls button:visible").focus()
    page.keyboard.press("Enter")
    told(page, "Call 1: touch([1])")
    assert page.evaluate("document.activeElement.textContent") == "touch([1])"


def test_requests_are_stepped_through_too(page: Any, explorer: str) -> None:
    page.goto(explorer)
    page.get_by_label("Show").select_option(label="step through requests")
    told(page, "Take a call.")
    take(page, "run_pass()")
    told(page, "not now: nothing scheduled", "Nothing changes.")
    take(page, "admit(a, upto=3)")
    told(page, "Call 2: admit(a, upto=3)")
    take(page, "run_pass()")
    told(page, "Call 3: run_pass()")
    assert page.get_by_text("held by a, group 0, entry 0").is_visible()
    assert page.get_by_text("memory: [0] [0, 1]").is_visible()


def test_a_server_answers_with_the_spec_behind_it(page: Any) -> None:
    with ExplorerServer([SMALL, SERVING_SCOPES["small"][0]], 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            page.goto(server.url)
            take(page, "get_new_blocks(2)")
            take(page, "cache_full_blocks(<0 1>, blocks=[1, 2]")
            told(page, "Call 2: cache_full_blocks")
            assert page.get_by_text("Outbox: events not yet taken").is_visible()
            page.goto(server.url + "#scope=attention&path=0")
            told(page, "Call 1: admit(a, upto=3)")
        finally:
            server.shutdown()
            thread.join()


# --- playing ---


def play_to_the_end(page: Any) -> None:
    page.locator('[data-claim="unheld_blocks_are_queued"][data-verdict="silent"]').wait_for()
    page.get_by_role("button", name="Next").click()
    told(page, "Call 1 of 3: get_new_blocks(2)")
    page.get_by_role("button", name="free_blocks([2, 1])").click()
    told(page, "Call 3 of 3: free_blocks([2, 1])", "Broken: unheld blocks are queued", "It is lost.")
    light = page.locator('[data-claim="unheld_blocks_are_queued"]')
    assert light.get_attribute("data-verdict") == "broken"
    assert page.get_by_role("button", name="Next").is_disabled()
    assert life(page, "1") == "cached"
    assert page.get_by_text("empty: nothing is free").is_visible()


def silent_at_first(story: dict[str, Any]) -> dict[str, Any]:
    """In the first frame nothing is said of the claim, so that the light is seen to change."""
    first = story["frames"][0]
    return story | {"frames": [first | {"holds": "-" * len(story["claims"])}, *story["frames"][1:]]}


def test_a_loaded_counterexample_is_played_to_what_it_breaks(
    page: Any, explorer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "run.json"
    file.write_text(json.dumps(run_document(silent_at_first(defective_story(monkeypatch)))), encoding="utf-8")
    page.goto(explorer)
    page.get_by_label("Load a counterexample").set_input_files(file)
    play_to_the_end(page)


def test_a_file_without_counterexamples_is_refused(page: Any, explorer: str, tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text('{"obligations": []}', encoding="utf-8")
    page.goto(explorer)
    page.get_by_label("Load a counterexample").set_input_files(file)
    page.get_by_role("alert").filter(has_text="no counterexample that can be played").wait_for()


def test_an_embedded_counterexample_has_links_to_its_calls(page: Any, explorer: str) -> None:
    page.goto(explorer + "#story=0&frame=3")
    told(page, "Broken: unheld blocks are queued")
    page.get_by_role("button", name="Back").click()
    told(page, "Call 2 of 3")
    assert page.url.endswith("#story=0&frame=2")


def test_the_focus_does_not_fall_off_the_end_of_a_story(page: Any, explorer: str) -> None:
    page.goto(explorer + "#story=0&frame=2")
    told(page, "Call 2 of 3")
    page.get_by_role("button", name="Next").focus()
    page.keyboard.press("Enter")
    told(page, "Call 3 of 3")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Call shown"
    page.keyboard.press("ArrowLeft")
    told(page, "Call 2 of 3")


def test_the_report_plays_too_and_reads_without_scripts(
    browser: Any, page: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "report.html"
    story = silent_at_first(defective_story(monkeypatch))
    file.write_text(report_page(run_document(story)), encoding="utf-8")
    page.goto(file.as_uri())
    play_to_the_end(page)
    plain = browser.new_context(java_script_enabled=False).new_page()
    plain.goto(file.as_uri())
    assert plain.locator("pre", has_text="3. free_blocks([2, 1])").is_visible()
    plain.context.close()


# --- for everybody ---


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_for_axe_and_no_sideways_scrolling(
    browser: Any, explorer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], scheme: str
) -> None:
    report = tmp_path / "report.html"
    report.write_text(report_page(run_document(defective_story(monkeypatch))), encoding="utf-8")
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme=scheme)
    page = context.new_page()
    for address in (
        explorer + "#scope=two+blocks&path=2",
        explorer + "#scope=requests&path=0",
        explorer + "#story=0&frame=3",
        report.as_uri(),
    ):
        page.goto("about:blank")
        page.goto(address)
        page.locator(".picture").first.wait_for()
        for details in page.locator("details:not([open]) > summary").all()[:5]:
            details.click()
        found = axe.Axe().run(page).response["violations"]
        serious = [(one["id"], one["help"]) for one in found if one["impact"] in ("serious", "critical")]
        assert serious == [], address
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address
    context.close()


def test_axe_finds_what_is_wrong(page: Any, explorer: str) -> None:
    """A gate that cannot fail is not a gate: a button without a name is found."""
    page.goto(explorer)
    page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert "button-name" in {one["id"] for one in axe.Axe().run(page).response["violations"]}


def test_the_theme_can_be_changed(page: Any, explorer: str) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(explorer)
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Dark theme").click()
    assert page.evaluate(ground) != light
    page.get_by_role("button", name="Light theme").click()
    assert page.evaluate(ground) == light
