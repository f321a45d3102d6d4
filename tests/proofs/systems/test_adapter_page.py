"""docs/adapters.md and docs/vectors.md: what they show is run word for word, and what they say is so."""

import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from typer.testing import CliRunner, Result

from blockpool.proofs.adequacy.defects.vectors_catching import defects_of_impl
from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.core.sources import ROOT
from blockpool.proofs.faces.cli.main import app
from blockpool.proofs.oracle.kv_events import EventAudit
from blockpool.proofs.oracle.vectors.consume import Coverage, consume
from blockpool.proofs.oracle.vectors.vector import read_all
from blockpool.proofs.systems.ours import subject_in
from blockpool.spec.contract.calls import OPERATIONS
from blockpool.spec.contract.profiles import profile_of
from tests.proofs.oracle.release_vectors import FOLDER, wrong_pools

PAGE = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
VECTORS_PAGE = (ROOT / "docs" / "vectors.md").read_text(encoding="utf-8")


def code(name: str) -> str:
    """The block of the page that begins with the name of its file."""
    (found,) = re.findall(rf"```python\n(# {re.escape(name)}\n.*?)```", PAGE, re.DOTALL)
    return str(found)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("my_pool.py", "test_my_pool.py"):
        (tmp_path / name).write_text(code(name), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


def commands() -> list[list[str]]:
    """The commands of the page that check the pool."""
    lines = re.findall(r"^(?: {4})?(blockpool conform my_pool.*?)(?: {2,}#.*)?$", PAGE, re.MULTILINE)
    return [line.split()[1:] for line in lines]


def test_the_pool_and_its_adapter_are_small() -> None:
    pool, adapter = code("my_pool.py").split("class PagePoolAdapter")
    assert len(adapter.splitlines()) < 40
    assert len(pool[pool.index("class PagePool") :].splitlines()) < 35


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_the_commands_of_the_page_end_in_a_verdict(command: list[str], here: Path) -> None:
    found = run(*command, "--runs", 5)
    assert found.exit_code == 0, found.output
    assert "13 obligations: 13 hold" in found.output


def test_the_page_has_its_commands() -> None:
    assert len(commands()) == 3


def test_the_slip_of_the_page_is_found_as_the_page_shows(here: Path) -> None:
    right = (here / "my_pool.py").read_text(encoding="utf-8")
    assert right.count("self.users[page] == 0") == 1
    (here / "my_pool.py").write_text(right.replace("self.users[page] == 0", "self.users[page] <= 1"), encoding="utf-8")
    found = run("conform", "my_pool.py:PagePoolAdapter", "--runs", 5)
    assert found.exit_code == 1
    (shown,) = re.findall(r"\n(free_is_what_is_not_held is broken .*?at fault\))", PAGE, re.DOTALL)
    assert shown in found.output


def test_it_forgives_wrong_calls_as_little_as_the_page_says(here: Path) -> None:
    found = run("conform", "my_pool.py:PagePoolAdapter", "--runs", 1, "--misuse")
    assert found.exit_code == 1
    kinds = re.findall(r"^(\w+) +a_wrong_call_does_no_damage: (\w+)", found.output, re.MULTILINE)
    assert ("refuted", "free") in kinds


def test_the_pytest_suite_of_the_page_passes(here: Path) -> None:
    options = ["-q", "-n", "0", "-p", "no:cacheprovider", "--rootdir", ".", "-c", "/dev/null"]
    command = [sys.executable, "-m", "pytest", *options, "--junit-xml", "junit.xml", "test_my_pool.py"]
    environment = {"PYTHONPATH": f"{ROOT}:{here}", "PATH": ""}
    done = subprocess.run(command, cwd=here, env=environment, capture_output=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout
    cases = list(ElementTree.parse(here / "junit.xml").getroot().iter("testcase"))
    assert sum(case.find("skipped") is None for case in cases) == 13


def test_the_released_vectors_take_the_pool_of_the_page(here: Path) -> None:
    from blockpool.proofs.systems.find import subject_of

    subject = subject_of("my_pool.py:PagePoolAdapter")
    found = [one.verdict for one in consume(read_all(FOLDER), subject, profile_of(subject.profile), Coverage())]
    assert Verdict.REFUTED not in found
    assert found.count(Verdict.HOLDS) >= 30


def test_every_operation_is_on_the_page() -> None:
    for operation in OPERATIONS:
        assert f"{operation}(" in PAGE, operation


def test_the_subscriber_writes_what_audit_reads(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = ["BlockStored", [b"\x01\x02", 7], None, [1, 2, 3, 4], 2, None, "GPU"]
    later = {"type": "BlockStored", "block_hashes": [b"\x03"], "parent_block_hash": b"\x01\x02", "token_ids": [5, 6]}
    messages = [
        [0.5, [stored], 0],
        [0.6, [later | {"block_size": 2, "medium": "GPU"}, ["BlockRemoved", [9], "GPU"]], 0],
    ]

    class Socket:
        def __init__(self) -> None:
            self.left = [(b"", n.to_bytes(8, "big"), msgspec.msgpack.encode(m)) for n, m in enumerate(messages)]

        def connect(self, _: str) -> None: ...

        def subscribe(self, _: str) -> None: ...

        def recv_multipart(self) -> Any:
            if not self.left:
                raise KeyboardInterrupt
            return self.left.pop(0)

    zmq: Any = ModuleType("zmq")
    zmq.SUB = 2
    zmq.Context = type("Context", (), {"socket": lambda *_: Socket()})
    monkeypatch.setitem(sys.modules, "zmq", zmq)
    with pytest.raises(KeyboardInterrupt):
        exec(compile(code("subscribe.py"), "subscribe.py", "exec"), {})
    audited = EventAudit()
    findings = list(audited.read((here / "events.jsonl").read_bytes().splitlines()))
    assert audited.events == {"BlockStored": 2, "BlockRemoved": 1}
    assert [(one.line, one.law) for one in findings] == [(2, "what_is_removed_was_stored")]


def test_the_page_about_vectors_counts_rightly() -> None:
    size = sum(path.stat().st_size for path in FOLDER.iterdir())
    vectors = read_all(FOLDER)
    text = " ".join(VECTORS_PAGE.split())
    assert f"{len(vectors)} vectors, {size / 1e3:.0f} kB" in text
    named = {defect for vector in vectors for defect in vector.receipt.defects}
    assert "catches all of the latter, and over fifty of those of `impl`" in text
    assert {name for name, _ in wrong_pools()} <= named
    of_impl = {name for name in named if name.startswith("impl: ")}
    assert len(of_impl) > 50
    assert of_impl <= {name for name, _ in defects_of_impl(subject_in)}
    assert json.dumps("blockpool-vectors/1") in text
