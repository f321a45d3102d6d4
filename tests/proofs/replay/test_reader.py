"""Trace files: every malformed line is refused with its number, what was expected and what was found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from blockpool.proofs.replay import TraceError, TraceRequest, requests_from_file

GOOD = {"timestamp": 5, "input_length": 600, "output_length": 7, "hash_ids": [3, 4]}


def line(**changes: object) -> str:
    return json.dumps({**GOOD, **changes})


@pytest.fixture
def trace(tmp_path: Path):
    def write(text: str | bytes) -> Path:
        path = tmp_path / "trace.jsonl"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_a_good_line_is_read_and_further_fields_are_ignored(trace):
    path = trace(line(model="x") + "\n")
    assert requests_from_file(path) == [TraceRequest(600, 7, (3, 4), 5)]
    assert requests_from_file(str(path)) == requests_from_file(path)


def test_the_last_line_needs_no_newline_and_blank_lines_may_follow_it(trace):
    assert len(requests_from_file(trace(line() + "\n" + line()))) == 2
    assert len(requests_from_file(trace(line() + "\r\n\n  \n"))) == 1


def test_no_output_is_accepted(trace):
    assert requests_from_file(trace(line(output_length=0)))[0].computed_length == 600


def test_the_limit_ends_the_reading(trace):
    path = trace(line() + "\n" + line(timestamp=6) + "\nnot read\n")
    assert [request.timestamp for request in requests_from_file(path, limit=2)] == [5, 6]
    with pytest.raises(ValueError, match="at least 1"):
        requests_from_file(path, limit=0)


MALFORMED = {
    "not JSON": ("hello", "", "not JSON: JSON is malformed: invalid character (byte 0): b'hello', where the file ends"),
    "cut off": (line()[:40], "", "where the file ends"),
    "a list": ("[1]", "", "an object is needed, not [1]"),
    "a byte order mark": ("\ufeff" + line(), "", "\\xef\\xbb\\xbf"),
    "not UTF-8": (b'{"timestamp": "\xff"}', "", "Invalid UTF-8"),
    "nested too deeply": ("[" * 100_000, "", "recursion"),
    "too many digits": ('{"timestamp": ' + "9" * 5000 + "}", "", "out of range"),
    "an empty object": ("{}", "timestamp", "missing"),
    "a missing field": ('{"timestamp": 1, "input_length": 1, "output_length": 1}', "hash_ids", "missing"),
    "time as text": (line(timestamp="5"), "timestamp", "expected `float`, got `str`: '5'"),
    "negative time": (line(timestamp=-1), "timestamp", "expected `float` >= 0.0: -1"),
    "time not a number": (line(timestamp=float("nan")), "", "NaN"),
    "endless time": ('{"timestamp": 1e999' + line()[15:], "", "out of range"),
    "time as bool": (line(timestamp=True), "timestamp", "got `bool`: True"),
    "length as text": (line(input_length="600"), "input_length", "expected `int`, got `str`: '600'"),
    "length as float": (line(input_length=600.0), "input_length", "got `float`: 600.0"),
    "length as bool": (line(input_length=True), "input_length", "got `bool`: True"),
    "no prompt": (line(input_length=0, hash_ids=[]), "input_length", "expected `int` >= 1: 0"),
    "negative length": (line(input_length=-600), "input_length", "expected `int` >= 1: -600"),
    "negative output": (line(output_length=-7), "output_length", "expected `int` >= 0: -7"),
    "no output length": (line(output_length=None), "output_length", "got `null`: None"),
    "ids not a list": (line(hash_ids=3), "hash_ids", "expected `array`, got `int`: 3"),
    "an id as text": (line(hash_ids=[3, "4"]), "hash_ids[1]", "expected `int`, got `str`: '4'"),
    "an id as float": (line(hash_ids=[3, 4.0]), "hash_ids[1]", "got `float`: 4.0"),
    "an id as bool": (line(hash_ids=[False, 4]), "hash_ids[0]", "got `bool`: False"),
    "a negative id": (line(hash_ids=[3, -4]), "hash_ids[1]", "expected `int` >= 0: -4"),
    "too few ids": (line(hash_ids=[3]), "hash_ids", "2 are needed, one for each 512 of 600 tokens, not 1"),
    "too many ids": (line(input_length=512), "hash_ids", "1 are needed, one for each 512 of 512 tokens, not 2"),
}


@pytest.mark.parametrize(("bad", "field", "words"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_line_is_named(trace, bad, field, words):
    raw = bad if isinstance(bad, bytes) else bad.encode()
    path = trace(line().encode() + b"\n" + raw)
    with pytest.raises(TraceError) as caught:
        requests_from_file(path)
    error = caught.value
    assert (error.path, error.line, error.field) == (str(path), 2, field)
    assert words in error.words
    place = f"line 2, field {field!r}" if field else "line 2"
    assert str(error) == f"{path}: {place}: {error.words}"
    assert len(error.words) < 300  # never the whole line


def test_a_line_in_the_middle_is_not_said_to_be_cut_off(trace):
    with pytest.raises(TraceError) as caught:
        requests_from_file(trace("hello\n" + line()))
    assert caught.value.line == 1
    assert "where the file ends" not in str(caught.value)


def test_a_huge_integer_where_none_belongs_can_be_shown(trace):
    with pytest.raises(TraceError, match=r"expected `array`, got `int`"):
        requests_from_file(trace(line(hash_ids=10**4000)))


def test_a_blank_line_before_others_is_refused_where_it_is(trace):
    with pytest.raises(TraceError, match=r"line 2: a blank line before other lines"):
        requests_from_file(trace(line() + "\n\n\n" + line()))


@pytest.mark.parametrize("text", ["", "\n", "\n\n"])
def test_an_empty_file_is_refused(trace, text):
    with pytest.raises(TraceError, match=r"line 1: at least one request is needed"):
        requests_from_file(trace(text))


def test_a_missing_file_or_a_directory_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        requests_from_file(tmp_path / "none")
    with pytest.raises(OSError, match="directory"):
        requests_from_file(tmp_path)
