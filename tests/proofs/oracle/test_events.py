"""Streams of KV events alone: both encodings, both laws, and every way to be false."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockpool.proofs.core.strict_json import FormatError
from blockpool.proofs.oracle.kv_events import EventAudit


def stored(hashes: list[int], parent: int | None = None, tokens: int = 0, **more: object) -> dict[str, object]:
    count = tokens or 2 * len(hashes)
    event = {"type": "BlockStored", "block_hashes": hashes, "parent_block_hash": parent, "token_ids": [7] * count}
    return {**event, "block_size": 2, "lora_id": None, "medium": "GPU", "lora_name": None, **more}


def removed(*hashes: int, **more: object) -> dict[str, object]:
    return {"type": "BlockRemoved", "block_hashes": list(hashes), "medium": "GPU", **more}


CLEARED = {"type": "AllBlocksCleared"}


def findings(*lines: object, per_copy: bool = True) -> list[tuple[int, str]]:
    audit = EventAudit(per_copy)
    return [(found.line, found.law) for found in audit.read(json.dumps(line) for line in lines)]


def test_a_true_stream_has_no_findings_and_tells_what_is_cached() -> None:
    audit = EventAudit()
    events = [stored([1, 2]), stored([3], parent=2), stored([1]), removed(1), removed(3), stored([9], group_idx=1)]
    assert list(audit.read(map(json.dumps, events))) == []
    assert audit.keys() == {(0, "GPU"): (3, 3)}  # 1, 2, and 9 in the other group
    assert audit.events == {"BlockStored": 4, "BlockRemoved": 2}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([removed(1)], [(1, "what_is_removed_was_stored")]),
        ([stored([1]), removed(1), removed(1)], [(3, "what_is_removed_was_stored")]),
        ([stored([1]), removed(1, group_idx=1)], [(2, "what_is_removed_was_stored")]),
        ([stored([1]), removed(1, medium="CPU")], [(2, "what_is_removed_was_stored")]),
        ([stored([2], parent=1)], [(1, "parents_are_known")]),
        ([stored([1]), CLEARED, stored([2], parent=1)], [(3, "parents_are_known")]),
        ([stored([1, 2], tokens=3)], [(1, "tokens_fit_the_keys")]),
        ([stored([])], [(1, "tokens_fit_the_keys")]),
        ([{"seq": 1, "batch": [0, []]}, {"seq": 3, "batch": [0, []]}], [(2, "no_batch_is_missing")]),
    ],
)
def test_what_cannot_be_true_is_found(lines: list[object], expected: list[tuple[int, str]]) -> None:
    assert findings(*lines) == expected


def test_the_two_laws_disagree_about_copies() -> None:
    per_copy = [stored([1]), stored([1]), removed(1), removed(1)]
    last_copy = [stored([1]), stored([1]), removed(1)]
    assert findings(*per_copy) == []
    assert findings(*per_copy, per_copy=False) == [(4, "what_is_removed_was_stored")]
    assert findings(*last_copy, per_copy=False) == []


def test_both_encodings_say_the_same() -> None:
    array = ["BlockStored", [1, 2], None, [7, 7, 7, 7], 2, None, "GPU"]
    audits = EventAudit(), EventAudit()
    for audit, event in zip(audits, (array, stored([1, 2])), strict=True):
        assert list(audit.read([json.dumps([1.5, [event], 3])])) == []
    assert audits[0].keys() == audits[1].keys() == {(3, "GPU"): (2, 2)}


def test_each_rank_has_a_mirror_of_its_own() -> None:
    assert findings([0, [stored([1])], 0], [0, [removed(1)], 1]) == [(2, "what_is_removed_was_stored")]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "line 2: not JSON"),
        ("3", "line 2: an event or a batch"),
        ('{"type":"BlockLost"}', "line 2, field 'type': unknown event 'BlockLost'"),
        ('["BlockStored",[1.5],null,[1],1]', r"line 2, field 'block_hashes\[0\]'"),
        ('["BlockStored",[1]]', "line 2, field 'parent_block_hash': missing required field"),
        ('{"seq":"a","batch":[1,[]]}', "line 2, field 'seq'"),
    ],
)
def test_a_line_that_is_no_event_is_named(line: str, complaint: str) -> None:
    with pytest.raises(FormatError, match=complaint):
        list(EventAudit().read([json.dumps(CLEARED), line]))


VALUES = st.none() | st.integers() | st.text(max_size=4) | st.lists(st.integers() | st.text(max_size=3), max_size=3)
KINDS = st.sampled_from(["BlockStored", "BlockRemoved", "AllBlocksCleared", "BlockLost"])
NAMES = st.sampled_from(["type", "block_hashes", "parent_block_hash", "token_ids", "block_size", "batch", "seq"])


@given(st.lists(VALUES | KINDS, max_size=6) | st.dictionaries(NAMES, VALUES | KINDS, max_size=6))
def test_garbage_is_read_or_refused(document: object) -> None:
    lines: list[int | None] = []
    try:
        lines += [finding.line for finding in EventAudit().read([json.dumps(document)])]
    except FormatError as error:
        lines.append(error.line)
    assert set(lines) <= {1}
