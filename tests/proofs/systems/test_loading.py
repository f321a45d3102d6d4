"""Core files of a release: fetched with pip, kept with checksums, run apart from each other and from anything else.

Nothing is downloaded here: pip is pointed at a folder with wheels made by the test, of a package named vllm that holds
a small pool with vLLM's interface.
"""

import json
import sys
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from blockpool.proofs.faces.cli.adapters import app
from blockpool.proofs.oracle.adapter import InProcess
from blockpool.proofs.systems.isolated import Isolated, StubCalledError, files_of
from blockpool.proofs.systems.registry import MissingPoolError, NoSuchAdapterError, shipped
from blockpool.proofs.systems.vllm.files import (
    FetchError,
    cache_folder,
    core_modules,
    fetch,
    fetched_releases,
    version_numbers,
)
from blockpool.spec.contract.calls import Alloc, Free, FreeCount, Lookup, Ok, Publish, Refused, Start, Started

POOL = """
from vllm.logger import init_logger
from vllm.v1.core.kv_cache_utils import KVCacheBlock
from vllm.v1.request import Request

logger = init_logger(__name__)


class Queue(list):
    def get_all_free_blocks(self):
        return list(self)


class BlockPool:
    def __init__(self, num_gpu_blocks: int, enable_caching: bool):
        self.blocks = [KVCacheBlock(number) for number in range(num_gpu_blocks)]
        self.null_block, *free = self.blocks
        self.free_block_queue = Queue(free)
        self.index = {}

    def get_num_free_blocks(self) -> int:
        return len(self.free_block_queue)

    def get_new_blocks(self, num_blocks: int):
        if num_blocks > len(self.free_block_queue):
            raise ValueError("too many")
        logger.info("lending")
        return [self.free_block_queue.pop(PLACE) for _ in range(num_blocks)]

    def touch(self, blocks):
        Request()

    def free_blocks(self, ordered_blocks):
        self.free_block_queue.extend(ordered_blocks)

    def cache_full_blocks(self, request, blocks, block_hashes, num_cached_blocks, num_full_blocks, block_size, hash_fn):
        for place in range(num_cached_blocks, num_full_blocks):
            self.index[block_hashes[place]] = blocks[place]

    def get_cached_block(self, block_hash):
        return self.index.get(block_hash)

    def reset_prefix_cache(self):
        from vllm.utils import forget
        forget(self)
"""
UTILS = """
from dataclasses import dataclass
from typing import NamedTuple, Optional

import torch


class BlockHashType(NamedTuple):
    hash_value: int
    token_ids: tuple


@dataclass
class KVCacheBlock:
    block_id: int
    block_hash: "Optional[BlockHashType]" = None
    place: "torch.Tensor" = None
"""


def make_wheel(folder: Path, version: str, **texts: str) -> None:
    """A wheel of the platform and tag that vLLM uses, with these files in vllm/v1/core."""
    info = f"vllm-{version}.dist-info"
    with zipfile.ZipFile(folder / f"vllm-{version}-cp38-abi3-manylinux1_x86_64.whl", "w") as wheel:
        for name, text in texts.items():
            wheel.writestr(f"vllm/v1/core/{name}.py", text)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp38-abi3-manylinux1_x86_64\n"
        )
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that pip takes for its index, with releases 0.8.7 and 0.8.8, and an empty cache."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    make_wheel(wheels, "0.8.7", block_pool=POOL.replace("PLACE", "0"), kv_cache_utils=UTILS)
    make_wheel(wheels, "0.8.8", block_pool=POOL.replace("PLACE", "-1"), kv_cache_utils=UTILS)
    make_wheel(wheels, "0.1", other="")
    monkeypatch.setenv("BLOCKPOOL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    core_modules.cache_clear()
    return wheels


def test_releases_are_fetched_and_live_side_by_side(index: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["fetch", "vllm==0.8.7", "vllm==0.8.8"])
    assert done.exit_code == 0, done.output
    assert "kept 2 files" in done.output
    assert fetched_releases() == ["0.8.7", "0.8.8"]
    first, second = InProcess(shipped("vllm==0.8.7")), InProcess(shipped("vllm==0.8.8"))
    for subject, lent in ((first, (1, 2)), (second, (3, 2))):
        assert subject.ask(Start(3)) == Ok(Started(3, (0,), (1, 2, 3)))
        assert subject.ask(Alloc(2)) == Ok(lent)
        assert subject.ask(Publish(lent, ("a", "b"), (4, 8))) == Ok(lent)
        assert subject.ask(Lookup("b")) == Ok((lent[1],))
        assert subject.ask(Lookup("c")) == Ok(None)
        assert subject.ask(Free(lent[:1])) == Ok()
        assert subject.ask(FreeCount()) == Ok(2)
        assert isinstance(subject.ask(Alloc(3)), Refused)
    assert not [name for name in sys.modules if name.startswith("vllm.")]
    assert not list(tmp_path.glob("cache/**/*.whl"))


def test_what_a_release_lacks_is_not_asked_of_it(index: Path) -> None:
    fetch("0.8.7")
    subject = InProcess(shipped("vllm==0.8.7"))
    assert subject.operations == {"start", "alloc", "share", "free", "free_count", "publish", "lookup", "reset"}
    assert isinstance(subject.ask(Start(3, events=True)), Refused)
    assert isinstance(subject.ask(Start(3, groups=2)), Refused)


def test_a_stub_that_matters_is_a_fault_and_says_which(index: Path) -> None:
    fetch("0.8.7")
    adapter = shipped("vllm==0.8.7")
    adapter.start(3, True, False, 1)
    with pytest.raises(StubCalledError, match=r"vllm\.utils\.forget"):
        adapter.reset()  # type: ignore[attr-defined]


def test_changed_files_are_not_run(index: Path) -> None:
    fetch("0.8.7")
    path = cache_folder() / "vllm" / "0.8.7" / "block_pool.py"
    path.write_text(path.read_text() + "\n# changed\n")
    with pytest.raises(FetchError, match=r"not what was fetched.*fetch vllm==0\.8\.7"):
        shipped("vllm==0.8.7")


def test_the_receipt_names_the_wheel_and_its_checksum(index: Path) -> None:
    receipt = fetch("0.8.7")
    assert json.loads((cache_folder() / "vllm" / "0.8.7" / "receipt.json").read_text()) == receipt
    assert receipt["wheel"] == "vllm-0.8.7-cp38-abi3-manylinux1_x86_64.whl"
    assert receipt["wheel_bytes"] == (index / receipt["wheel"]).stat().st_size
    assert set(receipt["files"]) == {"block_pool.py", "kv_cache_utils.py"}


@pytest.mark.parametrize(
    ("release", "words"),
    [("vllm==0.8.6", "No matching distribution"), ("vllm==0.1", "has no vllm/v1/core/block_pool.py")],
)
def test_a_release_that_cannot_be_had_is_an_error_with_words(index: Path, release: str, words: str) -> None:
    done = CliRunner().invoke(app, ["fetch", release])
    assert done.exit_code == 2
    assert words in " ".join(done.output.split())
    assert fetched_releases() == []


@pytest.mark.parametrize("release", ["torch==2.0", "vllm", "vllm==", "vllm==../x", "vllm==0.8.7;x"])
def test_only_releases_of_vllm_are_fetched(release: str) -> None:
    assert CliRunner().invoke(app, ["fetch", release]).exit_code == 2


def test_an_adapter_without_its_pool_says_what_to_do(index: Path) -> None:
    with pytest.raises(MissingPoolError, match=r"blockpool adapters fetch vllm==0\.8\.7"):
        shipped("vllm==0.8.7")
    with pytest.raises(NoSuchAdapterError, match="there are impl, vllm"):
        shipped("vlm")


def test_the_list_says_what_is_here_and_how_to_get_the_rest(index: Path) -> None:
    fetch("0.8.7")
    listed = CliRunner().invoke(app, ["list"])
    assert listed.exit_code == 0
    lines = listed.output.splitlines()
    assert next(line for line in lines if line.startswith("impl ")).split()[-1] == "here"
    assert "fetch vllm==VERSION" in listed.output
    assert "0.8.7" in lines[-1]


def test_versions_are_ordered_as_numbers() -> None:
    assert sorted(["0.10.2", "0.9.2", "0.33.0+cpu"], key=version_numbers) == ["0.9.2", "0.10.2", "0.33.0+cpu"]
    assert version_numbers("0.33.0rc1") == (0, 33)


def test_files_are_found_without_importing_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "explosive"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (package / "inner" / "one.py").write_text("from .two import VALUE\nfrom ..other import absent\nfrom . import two\n")
    (package / "inner" / "two.py").write_text("import os.path\nVALUE = os.path.sep\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    files = files_of("explosive", "inner.one", "inner.two")
    one = Isolated("test", files, frozenset()).module("explosive.inner.one")
    assert one.VALUE == one.two.VALUE
    with pytest.raises(StubCalledError, match=r"explosive\.other\.absent"):
        one.absent()
    with pytest.raises(ImportError, match="there is no package"):
        files_of("not_there_at_all", "x")


def test_a_file_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("raise ValueError('broken')\n")
    before = set(sys.modules)
    with pytest.raises(ValueError, match="broken"):
        Isolated("test", {"some.broken": path}, frozenset()).module("some.broken")
    assert set(sys.modules) == before
