"""What the explorer's page is given: pictures, steps, paths, the packed graph, and stories."""

import base64
import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from blockpool.proofs.core.counterexample import Call, Counterexample
from blockpool.proofs.core.strict_json import FormatError
from blockpool.proofs.explore.scopes import SCOPES, narrowed
from blockpool.proofs.explore.serving import SERVING_SCOPES, with_rules
from blockpool.proofs.faces.explorer.graph import BEYOND, Graph, frozen, packed
from blockpool.proofs.faces.explorer.page import explorer_page
from blockpool.proofs.faces.stories import story as stories
from blockpool.proofs.faces.stories.pictures import picture_of
from blockpool.proofs.faces.stories.stepping import BadPathError, Stepper
from blockpool.proofs.oracle.example import OracleExample
from blockpool.proofs.oracle.session import Line
from blockpool.spec import (
    INVARIANTS,
    Admit,
    CacheFullBlocks,
    FreeBlocks,
    GetNewBlocks,
    GroupId,
    Key,
    Pool,
    Prefix,
    RunPass,
    Step,
    Touch,
    UnpinBlocks,
    first_state,
    steps,
)
from blockpool.spec.contract.calls import Alloc, Ok, Start, Started
from blockpool.spec.contract.profiles import profile_of
from blockpool.spec.contract.violation import Breach

(TINY,) = narrowed(SCOPES["tiny"][:1], batch=1)
SMALLEST = replace(TINY, blocks=1, watchers=0, unpinned=1, block_sizes=(1,))
WINDOWED = SERVING_SCOPES["small"][1]


def after(first: Pool, *actions: Any) -> Pool:
    state = first
    for action in actions:
        state = next(steps(state, action)).after
    return state


def block(picture: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = (block for block in picture["blocks"] if block["id"] == name)
    return dict(found)


# --- pictures ---


def test_a_picture_says_what_is_true_of_each_block() -> None:
    publish = CacheFullBlocks(Prefix((7, 8)), (1, 2), 0, 2, 1, GroupId(0))
    pool = after(first_state(5), GetNewBlocks(4), publish, FreeBlocks((2,)), UnpinBlocks((3,), 0), Touch((1,)))
    picture = picture_of(pool)
    assert picture["queue"] == ["2", "3"]
    assert block(picture, "0") == {"id": "0", "life": "null"}
    assert block(picture, "1") == {"id": "1", "life": "published", "refs": 2, "keys": ["<7>"]}
    assert block(picture, "2") == {"id": "2", "life": "cached", "refs": 0, "keys": ["<7 8>"]}
    assert block(picture, "3") == {"id": "3", "life": "watched", "refs": 0, "watchers": ["0"]}
    assert block(picture, "4") == {"id": "4", "life": "private", "refs": 1}
    assert picture["index"] == [["<7>", ["1"]], ["<7 8>", ["2"]]]
    assert picture["outbox"] == ["stored <7>, <7 8>"]


def test_a_broken_pool_is_drawn_as_it_is() -> None:
    pool = replace(first_state(2), queue=(1, 1, 5), index={Key(Prefix((7,)), GroupId(0)): frozenset()})
    picture = picture_of(pool)
    assert picture["queue"] == ["1", "1", "5"]
    assert [one["id"] for one in picture["blocks"]] == ["0", "1", "5"]
    assert picture["index"] == [["<7>", []]]


def test_a_world_says_who_holds_a_block_and_what_is_in_it() -> None:
    world = WINDOWED.first_state()
    for move in (Admit("a", 3), RunPass()):
        world = move.effect(world)
    picture = picture_of(world)
    assert block(picture, "2")["holders"] == ["a, group 0, entry 1"]
    assert block(picture, "2")["holds"] == ["[0, 1, 2]", "unknown"]
    assert [request["status"] for request in picture["requests"]] == ["computed 3, scheduled 3", "waits"]
    assert picture["requests"][0]["tables"][1]["blocks"] == ["3", "4", "5"]


# --- stepping ---


def key_of(stepper: Stepper, path: list[str], text: str) -> str:
    (found,) = (step["key"] for step in stepper.walk(path)["steps"] if step["text"] == text)
    return str(found)


def test_a_path_leads_to_the_state_that_the_spec_makes() -> None:
    stepper, path = Stepper(TINY), list[str]()
    for text in ("get_new_blocks(1)", "touch([1])"):
        path.append(key_of(stepper, path, text))
    found = stepper.walk(path)
    assert found["state"] == picture_of(after(TINY.first_state(), GetNewBlocks(1), Touch((1,))))
    assert [step["text"] for step in found["trail"]] == ["get_new_blocks(1)", "touch([1])"]
    assert found["trail"][1]["tells"] == ["refs  1: 1 -> 2"]
    assert "0" not in found["holds"] + found["trail"][1]["holds"]


def test_a_refused_call_says_why_and_stays() -> None:
    stepper = Stepper(TINY)
    key = key_of(stepper, [], "free_blocks([1])")
    found = stepper.walk([key])
    assert found["trail"][0]["refused"] == "not held"
    assert found["state"] == picture_of(TINY.first_state())


def test_a_move_that_is_not_made_says_why() -> None:
    stepper = Stepper(WINDOWED)
    (step,) = (step for step in stepper.walk([])["steps"] if step["text"] == "run_pass()")
    assert step["refused"] == "nothing scheduled"
    assert set(step["holds"]) == {"-"}


def test_a_watcher_can_be_looked_out_of() -> None:
    nested = next(part for part in SCOPES["tiny"] if part.nested)
    stepper, path = Stepper(nested), list[str]()
    for text in ("get_new_blocks(1)", "unpin_blocks([1], watcher=0)"):
        path.append(key_of(stepper, path, text))
    inside = key_of(stepper, path, "get_new_blocks(2), seen from inside the watcher that it tells")
    assert inside == key_of(stepper, path, "get_new_blocks(2)") + ".1"
    found = stepper.walk([*path, inside])
    assert found["state"]["notes"] == ["watchers are being told at this moment"]
    assert {step["refused"] for step in found["steps"] if step["name"] == "touch"} >= {"re-entrant"}


@pytest.mark.parametrize("path", [["9999"], ["x"], ["0.7"], ["-1"], ["0"] * 1001, ["²"]])
def test_a_path_that_leads_nowhere_is_refused(path: list[str]) -> None:
    with pytest.raises(BadPathError, match=path[0] if len(path) == 1 else "1001 steps"):
        Stepper(TINY).walk(path)


def test_a_broken_claim_is_a_broken_light(monkeypatch: pytest.MonkeyPatch) -> None:
    stepper = Stepper(TINY)
    wrong = [replace(claim, judge=lambda pool: 1 not in pool.refs.values()) for claim in INVARIANTS[:1]]
    monkeypatch.setattr(stepper.machine, "invariants", wrong)
    assert stepper.walk([])["holds"] == "1"
    assert stepper.walk([key_of(stepper, [], "get_new_blocks(1)")])["holds"] == "0"


# --- the graph ---


def test_the_graph_has_every_state_and_every_step() -> None:
    """One block: up to 3 references; no key, one of two, or both: 16 states. The steps are counted again here."""
    seen, front, taken = {frozen(SMALLEST.first_state())}, [SMALLEST.first_state()], 0
    graph = Graph(SMALLEST)
    document = graph.document()
    while front:
        state = front.pop()
        for call in graph.stepper.calls:
            for step in steps(state, call):
                taken += 1
                settled = replace(step.after, outbox=())
                if SMALLEST.admits(state) and frozen(settled) not in seen:
                    seen.add(frozen(settled))
                    front.append(settled)
    assert set(graph.places) == seen
    assert len(document["nodes"]) == 16
    assert graph.steps == taken
    assert not graph.cut


def test_a_graph_that_is_cut_says_so() -> None:
    graph = Graph(TINY, most=10)
    document = graph.document()
    assert graph.cut
    assert len(document["nodes"]) == 10
    targets = {step[1] for node in document["nodes"] for step in node[3]}
    assert targets == {BEYOND, *range(10)}


def test_the_packed_graph_is_the_graph_and_always_the_same() -> None:
    document = Graph(SMALLEST).document()
    text = packed(document)
    assert json.loads(gzip.decompress(base64.b64decode(text))) == json.loads(json.dumps(document))
    assert text == packed(Graph(SMALLEST).document())


# --- stories ---

BROKEN = Counterexample(
    "counts_are_never_negative",
    "No block has fewer than zero references.",
    first_state(3),
    (Call(GetNewBlocks(1)), Call(FreeBlocks((1,)))),
    "words",
)


def test_a_story_has_a_frame_for_each_call() -> None:
    story = stories.story_of(BROKEN)
    assert [frame["call"] for frame in story["frames"]] == [None, "get_new_blocks(1)", "free_blocks([1])"]
    assert [frame["state"]["queue"] for frame in story["frames"]] == [["1", "2"], ["2"], ["1", "2"]]
    assert {len(frame["holds"]) for frame in story["frames"]} == {len(story["claims"])}
    told = stories.told(story)
    assert "  1. get_new_blocks(1)\n       answers blocks=[1]\n" in told
    assert told.endswith("\n  words")


def test_a_story_shows_what_a_defective_spec_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """And goes on showing it when the defect is gone: the states are in it."""
    right = FreeBlocks.effect

    def wrong(action: FreeBlocks, pool: Pool, answer: None) -> Pool:
        return replace(right(action, pool, answer), queue=pool.queue)

    with monkeypatch.context() as defect:
        defect.setattr(FreeBlocks, "effect", wrong)
        story = stories.story_of(BROKEN)
    verdicts = dict(zip(story["claims"], story["frames"][-1]["holds"], strict=True))
    assert verdicts["unheld_blocks_are_queued"] == "0"
    assert verdicts["counts_are_never_negative"] == "1"
    assert story["frames"][-1]["state"]["queue"] == ["2"]


def test_a_spec_that_fails_ends_the_story(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(action: FreeBlocks, pool: Pool) -> frozenset[Any]:
        raise KeyError("gone")

    monkeypatch.setattr(FreeBlocks, "guard", failing)
    story = stories.story_of(BROKEN)
    assert story["frames"][-1]["tells"] == ["the spec fails: KeyError: 'gone'"]


def test_a_call_from_inside_a_watcher_is_told() -> None:
    calls = (
        Call(GetNewBlocks(1)),
        Call(UnpinBlocks((1,), 0)),
        Call(GetNewBlocks(2), nested=True),
        Call(Touch((1,))),
    )
    frames = stories.story_of(replace(BROKEN, calls=calls))["frames"]
    assert frames[3]["state"]["notes"] == ["watchers are being told at this moment"]
    assert frames[4]["tells"] == ["refused: re-entrant"]


TRACE = [
    {"format": "blockpool-trace/1", "name": "toy", "operations": ["start", "alloc", "free", "free_count", "share"]},
    {"call": {"op": "start", "blocks": 3}, "reply": {"ok": {"capacity": 3, "order": [1, 2, 3]}}},
    {"call": {"op": "alloc", "count": 1}, "reply": {"ok": [1]}, "owner": "request 7"},
    {"call": {"op": "alloc", "count": 1}, "reply": {"ok": [1]}},
    {"call": {"op": "free_count"}, "reply": {"ok": 1}},
]


def write(tmp_path: Path, lines: list[Any]) -> Path:
    file = tmp_path / "trace.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def test_a_trace_ends_with_the_call_that_breaks_a_law(tmp_path: Path) -> None:
    story = stories.story_of_trace(write(tmp_path, TRACE), None, last=40)
    assert story["claim"] == "a_block_has_one_user_until_it_is_shared"
    assert [frame["call"] for frame in story["frames"]] == [None, "alloc(1)", "alloc(1)"]
    assert [frame["holds"] for frame in story["frames"]] == ["-", "1", "0"]
    assert "called by request 7" in story["frames"][1]["tells"]
    assert "block 1: life blank -> private; refs 0 -> 1" in story["frames"][1]["tells"]
    assert "lent 1, which is held" in story["words"]


def test_of_a_long_trace_the_end_is_told(tmp_path: Path) -> None:
    calls = [{"call": {"op": "free_count"}, "reply": {"ok": 3}}] * 30
    frames = stories.story_of_trace(write(tmp_path, [*TRACE[:2], *calls]), "safety", last=4)["frames"]
    assert len(frames) == 5
    assert frames[0]["tells"] == ["a new pool of 3 blocks", "26 calls are not shown"]


def test_a_new_pool_in_a_trace_begins_anew(tmp_path: Path) -> None:
    frames = stories.story_of_trace(write(tmp_path, [*TRACE[:3], *TRACE[1:3]]), "safety", last=4)["frames"]
    assert [frame["call"] for frame in frames] == [None, "alloc(1)"]


def test_what_is_no_story_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    for text in ("[1]", '{"a": 1}', "not\njson"):
        file.write_text(text + "\n", encoding="utf-8")
        with pytest.raises(FormatError):
            stories.read_stories(file, None, 40)


# --- the page ---


def test_the_page_is_one_file_and_safe_from_what_it_tells() -> None:
    story = stories.story_of(BROKEN) | {"title": "</script><b>bold</b>"}
    page = explorer_page([replace(SMALLEST, sentence="<i>")], [story])
    assert "</script><b>" not in page
    assert "<i>" not in page
    assert "http://" not in page
    assert "https://" not in page
    assert "{{" not in page


def test_broken_rules_light_up_in_the_graph() -> None:
    """Without withdrawing, an aborted request leaves keys that promise what was never written."""
    graph = Graph(with_rules(SERVING_SCOPES["small"][0], "withdraw_when_dropped"), most=150)
    document = graph.document()
    assert any("0" in document["texts"][node[1]] for node in document["nodes"])
    right = Graph(SERVING_SCOPES["small"][0], most=150).document()
    assert not any("0" in right["texts"][node[1]] for node in right["nodes"])


def test_every_step_is_judged() -> None:
    stepper = Stepper(TINY)
    option = next(option for option in stepper.options(TINY.first_state()) if option.step.action == GetNewBlocks(1))
    assert isinstance(option.step, Step)
    letters = dict(
        zip(
            (claim[0] for claim in stepper.claims()[len(INVARIANTS) :]), stepper.step_verdicts(option.step), strict=True
        )
    )
    assert letters["blocks_are_handed_out_from_the_front"] == "1"
    assert letters["a_move_keeps_every_key"] == "-"


def test_a_counterexample_of_the_oracle_is_told_as_the_judge_saw_it() -> None:
    breach = Breach("a_block_has_one_user_until_it_is_shared", "pool", "alloc(1) lent 1, which is held", 1)
    lines = (Line(Alloc(1), Ok((1,))), Line(Alloc(1), Ok((1,))))
    begun, operations = Started(2, order=(1, 2)), frozenset({"start", "alloc", "free", "share", "free_count"})
    example = OracleExample(breach.law, breach, "toy", profile_of("strict"), Start(2), lines, begun, operations)
    story = stories.story_of_any(example)
    assert story is not None
    assert [frame["state"]["queue"] for frame in story["frames"]] == [["1", "2"], ["2"], ["2"]]
    assert story["claims"] == [breach.law]
    assert [frame["holds"] for frame in story["frames"]] == ["-", "1", "0"]
    assert stories.story_of_any(replace(example, begun=None)) is None


def test_a_trace_without_a_pool_has_no_story(tmp_path: Path) -> None:
    refused = {"call": {"op": "start", "blocks": 3}, "reply": {"refused": "no memory"}}
    with pytest.raises(FormatError, match="no pool"):
        stories.story_of_trace(write(tmp_path, [TRACE[0], refused]), "safety", last=4)
