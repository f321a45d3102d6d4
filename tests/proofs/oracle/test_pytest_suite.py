"""The pytest suite that authors subclass, run as they run it: in a process of its own, its JUnit report read."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from blockpool.proofs.core.sources import ROOT
from blockpool.spec.contract.laws import LAWS

Outcomes = dict[str, tuple[str, str]]
"""For each law passed, failed, skipped or error, and the message."""


def run(folder: Path, source: str) -> Outcomes:
    """Write the test file, run pytest on it, and read what it reports."""
    (folder / "test_mine.py").write_text(source, encoding="utf-8")
    options = ["-q", "-n", "0", "-p", "no:cacheprovider", "--rootdir", str(folder), "-c", "/dev/null"]
    command = [sys.executable, "-m", "pytest", *options, "--junit-xml", str(folder / "junit.xml"), "test_mine.py"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False, timeout=300)
    return dict(map(outcome, ElementTree.parse(folder / "junit.xml").getroot().iter("testcase")))


def outcome(case: ElementTree.Element) -> tuple[str, tuple[str, str]]:
    law = case.attrib["name"].removeprefix("test_law[").removesuffix("]")
    for kind in ("failure", "skipped", "error"):
        found = case.find(kind)
        if found is not None:
            return law, (kind, f"{found.attrib.get('message', '')} {found.text or ''}")
    return law, ("passed", "")


def source(name: str, module: str, *attributes: str) -> str:
    body = "\n    ".join((*attributes, "runs = 3", "calls = 20"))
    return f"""
from blockpool.proofs.oracle.pytest_suite import PoolConformance
from tests.proofs.oracle.{module} import {name}


class TestMine(PoolConformance):
    {body}

    def make_adapter(self):
        return {name}()
"""


def by_kind(found: Outcomes, kind: str) -> set[str]:
    return {law for law, (one, _) in found.items() if one == kind}


def test_a_right_pool_passes_a_test_for_each_law(tmp_path: Path) -> None:
    found = run(tmp_path, source("Toy", "toy_pools"))
    assert found.keys() == {law.name for law in LAWS}
    assert by_kind(found, "failure") | by_kind(found, "error") == set()
    assert by_kind(found, "skipped") == {"the_longest_released_is_evicted_first"}  # it promises a queue instead
    assert {"a_wrong_call_is_refused", "a_wrong_call_does_no_damage"} <= by_kind(found, "passed")


def test_a_pool_with_less_skips_what_it_does_not_promise_or_have(tmp_path: Path) -> None:
    found = run(tmp_path, source("Stack", "toy_pools"))
    assert by_kind(found, "failure") | by_kind(found, "error") == set()
    assert "the pool has no such operation" in found["a_hit_carries_its_key"][1]
    assert "the profile does not promise it" in found["a_wrong_call_is_refused"][1]
    assert "blocks_are_lent_in_order" in by_kind(found, "passed")


@pytest.mark.parametrize(
    ("pool", "law"),
    [
        ("TwoPasses", "a_repeated_release_counts_each_naming"),
        ("PrefersNewest", "a_lookup_prefers_as_declared"),
        ("Ignores", "a_wrong_call_is_refused"),
    ],
)
def test_a_wrong_pool_fails_the_test_of_its_law_alone(pool: str, law: str, tmp_path: Path) -> None:
    found = run(tmp_path, source(pool, "wrong_pools"))
    assert by_kind(found, "failure") == {law}
    assert by_kind(found, "error") == set()
    assert f"{law}" in found[law][1]
    assert "free(" in found[law][1] or "publish(" in found[law][1]  # the counterexample, in calls


def test_the_profile_of_the_class_comes_before_that_of_the_adapter(tmp_path: Path) -> None:
    found = run(tmp_path, source("Toy", "toy_pools", 'profile = "order-a"'))
    assert by_kind(found, "failure") == {"blocks_are_lent_in_order"}


def test_wrong_calls_are_made_if_asked_for(tmp_path: Path) -> None:
    found = run(tmp_path, source("DoubleFree", "wrong_pools", 'profile = "order-d"', "misuse = True"))
    assert by_kind(found, "failure") == {"a_wrong_call_does_no_damage"}


def test_a_class_without_a_factory_says_what_is_missing(tmp_path: Path) -> None:
    text = "from blockpool.proofs.oracle.pytest_suite import PoolConformance\n\n\n"
    text += "class TestMine(PoolConformance):\n    runs = 1\n"
    found = run(tmp_path, text)
    assert by_kind(found, "failure") == {law.name for law in LAWS}
    assert all("has to define make_adapter" in words for _, words in found.values())
