"""The census: each place that may depend on a size is found, and none is new."""

from pathlib import Path

import pytest

from blockpool.proofs.adequacy.census import FILE, Place, census, places_in, registered, taken
from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.core.sources import ROOT

IMPL = sorted(path for path in (ROOT / "impl").rglob("*.py") if path.stat().st_size)


def found(text: str) -> list[tuple[str, str]]:
    return [(place.kind, place.code) for place in places_in(text, "impl/x.py")]


def test_every_place_of_this_project_is_registered() -> None:
    [decided] = census()
    assert decided.verdict is Verdict.HOLDS, decided.words
    assert FILE.name == "census.json"
    assert all(why for functions in registered().values() for codes in functions.values() for why in codes.values())


@pytest.mark.parametrize("path", IMPL, ids=lambda path: path.name)
def test_a_slice_anywhere_in_impl_is_new(path: Path) -> None:
    name = str(path.relative_to(ROOT))
    text = path.read_text(encoding="utf-8") + "\n\ndef planted(blocks):\n    return blocks[:8]\n"
    decided = taken([*places_in(text, name)], {name: registered().get(name, {})})
    assert decided.verdict is Verdict.REFUTED
    assert f"{name}:{len(text.splitlines())} slice: blocks[:8]" in decided.words


def test_the_same_slice_a_second_time_in_a_function_is_new() -> None:
    once = "def f(blocks):\n    return blocks[:8]\n"
    known = {"impl/x.py": {"f": {"blocks[:8]": "a reason", "8": "a reason"}}}
    listed = [place for place in places_in(once, "impl/x.py") if place.kind == "slice"]
    known["impl/x.py"]["f"].pop("8")
    assert taken(listed, known).verdict is Verdict.HOLDS
    assert taken(listed * 2, known).verdict is Verdict.REFUTED


def test_an_entry_of_a_place_that_is_gone_is_told() -> None:
    decided = taken([], {"impl/x.py": {"f": {"blocks[:8]": "a reason"}}})
    assert decided.verdict is Verdict.REFUTED
    assert "is registered and not there" in decided.words


def test_an_entry_without_a_reason_does_not_count() -> None:
    place = Place("impl/x.py", 2, "f", "blocks[:8]", "slice")
    assert taken([place], {"impl/x.py": {"f": {"blocks[:8]": ""}}}).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("def f(n):\n    return n > 300", "number"),
        ("def f(blocks):\n    return blocks[2:]", "slice"),
        ("def f(blocks):\n    return islice(blocks, n)", "slice"),
        ("def f(blocks):\n    return len(blocks) < 1", "comparison of a count"),
        ("def f(pool):\n    return pool.num_free_blocks == LIMIT", "comparison of a count"),
        ("def f(a, b):\n    return a is b", "identity"),
        ("def f(seen=[]):\n    pass", "mutable default"),
        ("def f(seen=dict()):\n    pass", "mutable default"),
        ("f = lambda seen=[0]: seen", "mutable default"),
        ("_NONE: list = []", "shared object"),
        ("class A:\n    calls = {}", "shared object"),
        ("_POOL = Pool()", "shared object"),
        ("def f():\n    global calls", "shared name"),
        ("@lru_cache\ndef f(n):\n    return n", "cache"),
        ("def f(block):\n    return table[id(block)]", "cache"),
    ],
)
def test_each_kind_of_place_is_found(text: str, kind: str) -> None:
    assert kind in [one for one, _ in found(text)]


@pytest.mark.parametrize(
    "text",
    [
        "def f(a):\n    return a is None and a[0] == a[-1]",
        "def f(kind):\n    return kind is Kind.STATE",
        "def f(a):\n    return type(a) is list",
        "T = TypeVar('T')",
        "def f():\n    kept = []",
    ],
)
def test_what_says_nothing_about_sizes_is_left_out(text: str) -> None:
    assert not found(text)
