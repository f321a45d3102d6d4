"""Calls and replies as JSON: what goes out comes back, and what is not of the form is an error that names the field."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockpool.proofs.core.strict_json import FormatError, parse
from blockpool.proofs.oracle.wire import ANSWERS, call_document, dump, read_call, read_reply, reply_document
from blockpool.spec.contract.calls import (
    AllCleared,
    Alloc,
    Call,
    Cancel,
    Events,
    Fault,
    Free,
    Lookup,
    Ok,
    Publish,
    PublishPartial,
    Refused,
    RemovedKeys,
    Reply,
    Reset,
    Start,
    Started,
    StoredKeys,
    Unpin,
)

WIRE_CALLS: list[tuple[Call, str]] = [
    (Alloc(2), '{"op":"alloc","count":2}'),
    (Start(4, caching=False), '{"op":"start","blocks":4,"caching":false}'),
    (Free((1, "a", 1)), '{"op":"free","blocks":[1,"a",1]}'),
    (
        Publish((1,), ("k",), (4,), "p", 1),
        '{"op":"publish","blocks":[1],"keys":["k"],"tokens":[4],"parent":"p","group":1}',
    ),
    (PublishPartial(3, "k", 2), '{"op":"publish_partial","block":3,"key":"k","tokens":2}'),
    (Lookup("k", (0, 1)), '{"op":"lookup","key":"k","groups":[0,1]}'),
    (Unpin((1,), "reader"), '{"op":"unpin","blocks":[1],"watcher":"reader"}'),
    (Reset(), '{"op":"reset"}'),
]

WIRE_REPLIES: list[tuple[str, Reply, str]] = [
    ("alloc", Ok((1, 2), ((1, "w"),)), '{"ok":[1,2],"told":[[1,"w"]]}'),
    ("start", Ok(Started(3, (0,))), '{"ok":{"capacity":3,"reserved":[0]}}'),
    ("lookup", Ok(None), '{"ok":null}'),
    ("reset", Ok(True), '{"ok":true}'),
    ("free", Refused("not held"), '{"refused":"not held"}'),
    ("free", Fault("KeyError", "7"), '{"fault":{"error":"KeyError","message":"7"}}'),
    (
        "events",
        Ok((StoredKeys(("a",), None, 4, 4), RemovedKeys(("b",), 1), AllCleared())),
        '{"ok":[{"type":"stored","keys":["a"],"parent":null,"tokens":4,"block_size":4,"group":0},'
        '{"type":"removed","keys":["b"],"group":1},{"type":"cleared"}]}',
    ),
]


@pytest.mark.parametrize(("call", "line"), WIRE_CALLS)
def test_a_call_is_this_line(call: Call, line: str) -> None:
    assert json.loads(dump(call_document(call))) == json.loads(line)
    assert read_call(parse(line)) == call


@pytest.mark.parametrize(("op", "reply", "line"), WIRE_REPLIES)
def test_a_reply_is_this_line(op: str, reply: Reply, line: str) -> None:
    assert json.loads(dump(reply_document(reply))) == json.loads(line)
    assert read_reply(op, parse(line)) == reply


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "not JSON"),
        ("[1]", "an object is needed"),
        ('{"op":"fly"}', "field 'op': unknown operation 'fly'"),
        ('{"op":["alloc"]}', "field 'op'"),
        ("{}", "field 'op'"),
        ('{"op":"alloc"}', "field 'count': missing required field `count`"),
        ('{"op":"alloc","count":"2"}', "field 'count': expected `int`, got `str`: '2'"),
        ('{"op":"alloc","count":true}', "field 'count': expected `int`, got `bool`"),
        ('{"op":"free","blocks":[1,null]}', r"field 'blocks\[1\]'"),
        ('{"op":"free","blocks":[1],"group":0}', "field 'group': unknown field"),
    ],
)
def test_what_is_not_a_call_is_named(line: str, complaint: str) -> None:
    with pytest.raises(FormatError, match=complaint):
        read_call(parse(line))


@pytest.mark.parametrize(
    ("op", "line", "complaint"),
    [
        ("alloc", "{}", "a reply has one of ok, refused and fault"),
        ("alloc", '{"ok":[1],"refused":""}', "a reply has one of ok, refused and fault"),
        ("alloc", '{"ok":[1.5]}', r"field 'ok\[0\]'"),
        ("alloc", '{"ok":[1],"note":1}', "field 'note'"),
        ("alloc", '{"ok":[1],"told":[[1]]}', "field 'told"),
        ("free", '{"ok":1}', "field 'ok': expected `null`"),
        ("start", '{"ok":{}}', "field 'ok.capacity': missing required field"),
        ("start", '{"ok":{"capacity":1,"size":2}}', "field 'ok.size': unknown field"),
        ("events", '{"ok":[{"type":"lost"}]}', "unknown event 'lost'"),
        ("free", '{"fault":{"message":"x"}}', "field 'fault.error': missing required field"),
        ("free", '{"refused":3}', "field 'refused': expected `str`, got `int`: 3"),
    ],
)
def test_what_is_not_a_reply_is_named(op: str, line: str, complaint: str) -> None:
    with pytest.raises(FormatError, match=complaint):
        read_reply(op, parse(line))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = st.sampled_from(["op", "ok", "told", "refused", "fault", "count", "blocks", "keys", "tokens", "type", "error"])
OPERATION = st.sampled_from(sorted(ANSWERS))


@given(OPERATION, st.dictionaries(FIELDS, JSON | OPERATION, max_size=4))
def test_garbage_is_read_or_refused_and_never_a_traceback(op: str, document: dict[str, object]) -> None:
    for read in (lambda: call_document(read_call(document)), lambda: reply_document(read_reply(op, document))):
        try:
            said = read()
        except FormatError:
            continue
        assert parse(dump(said))  # what was read can be written


@given(st.binary(max_size=30))
def test_any_bytes_are_an_object_or_refused(line: bytes) -> None:
    found: object = {}
    with suppress(FormatError):
        found = parse(line)
    assert isinstance(found, dict)


def test_cancel_and_events_have_no_other_arguments() -> None:
    assert read_call({"op": "cancel", "block": 1, "watcher": "w"}) == Cancel(1, "w")
    assert read_call({"op": "events"}) == Events()
