"""What is installed: one package, which neither hides a user's own `spec/` and `impl/` nor is hidden by them."""

import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZipFile

import pytest

from blockpool.proofs.core.sources import ROOT

ADAPTER = """
from blockpool.proofs.oracle import Refusal, Started

class Stack:
    name, profile = "stack", "lru"

    def start(self, blocks, caching, events, groups):
        self.free_list = list(range(blocks))
        return Started(capacity=blocks, order=tuple(self.free_list))

    def alloc(self, count):
        if count > len(self.free_list):
            raise Refusal("exhausted")
        return [self.free_list.pop() for _ in range(count)]

    def share(self, blocks):
        pass

    def free(self, blocks):
        self.free_list += blocks

    def free_count(self):
        return len(self.free_list)
"""


def run(command: Sequence[str], cwd: Path, **more: str) -> "subprocess.CompletedProcess[str]":
    environment = {"PATH": str(Path(sys.executable).parent), "HOME": str(cwd), "COLUMNS": "200", **more}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist and the wheel that is made of it."""
    folder = tmp_path_factory.mktemp("built")
    program = f"from hatchling.build import build_sdist; print(build_sdist({str(folder)!r}))"
    made = run([sys.executable, "-c", program], ROOT)
    assert made.returncode == 0, made.stderr
    (sdist,) = folder.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (source,) = (folder / "unpacked").iterdir()
    program = f"from hatchling.build import build_wheel; print(build_wheel({str(folder)!r}))"
    made = run([sys.executable, "-c", program], source)
    assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture(scope="module")
def site(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the wheel installs."""
    site = tmp_path_factory.mktemp("site")
    (wheel,) = built.glob("*.whl")
    with ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


def test_the_wheel_is_one_package_with_all_its_files(built: Path, site: Path) -> None:
    assert {path.name for path in site.iterdir() if not path.name.endswith(".dist-info")} == {"blockpool"}
    wanted = {
        path.relative_to(ROOT)
        for tree in ("spec", "impl", "proofs")
        for path in (ROOT / tree).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    shipped = {path.relative_to(site / "blockpool") for path in (site / "blockpool").rglob("*") if path.is_file()}
    assert wanted | {Path("__init__.py"), Path("__main__.py"), Path("py.typed")} == shipped
    (source,) = (built / "unpacked").iterdir()
    assert (source / "tests" / "test_packaging.py").is_file()


@pytest.mark.parametrize("regular", [False, True], ids=["namespace", "regular"])
def test_it_works_beside_a_users_own_spec_and_impl(regular: bool, site: Path, tmp_path: Path) -> None:
    for tree in ("spec", "impl"):
        (tmp_path / tree).mkdir()
        (tmp_path / tree / "mine.py").write_text(f"TREE = {tree!r}\n")
        if regular:
            (tmp_path / tree / "__init__.py").touch()
    (tmp_path / "my_pool.py").write_text(ADAPTER)
    path = {"PYTHONPATH": str(site)}

    program = "import spec.mine, impl.mine, blockpool, blockpool.spec, blockpool.impl; from blockpool import BlockPool"
    both = run([sys.executable, "-c", program + f"; assert {str(site)!r} in blockpool.__file__"], tmp_path, **path)
    assert both.returncode == 0, both.stderr

    command = [sys.executable, "-m", "blockpool"]
    found = run([*command, "conform", "my_pool.py:Stack", "--runs", "5", "--save", "saved"], tmp_path, **path)
    assert found.returncode == 1, found.stdout + found.stderr
    assert "blocks_are_lent_in_order" in found.stdout

    saved = run([sys.executable, "-m", "pytest", "-q", "saved", "-p", "no:cacheprovider"], tmp_path, **path)
    assert saved.returncode == 1, saved.stdout
    assert "AssertionError: " in saved.stdout

    searched = run([*command, "explore", "--blocks", "1", "--workers", "2"], tmp_path, **path)
    assert searched.returncode in (0, 4), searched.stdout + searched.stderr


def test_an_old_import_says_what_it_must_be_changed_to(site: Path, tmp_path: Path) -> None:
    (tmp_path / "test_old.py").write_text("from proofs.rerun import rerun\n\n\ndef test_it():\n    pass\n")
    found = run([sys.executable, "-m", "pytest", "-q"], tmp_path, PYTHONPATH=str(site))
    assert found.returncode == 2
    assert "from blockpool.proofs.refine.rerun import rerun" in found.stdout
