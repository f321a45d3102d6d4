"""The few files of a vLLM release that hold its block pool: taken from the wheel, cached, run without torch."""

import hashlib
import json
import logging
import os
import platform
import subprocess
import sys
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from blockpool.proofs.systems.isolated import Isolated

FILES = {
    "vllm.v1.core.block_pool": "vllm/v1/core/block_pool.py",
    "vllm.v1.core.kv_cache_utils": "vllm/v1/core/kv_cache_utils.py",
    "vllm.distributed.kv_events": "vllm/distributed/kv_events.py",  # since 0.9
}
RECEIPT = "receipt.json"

# Only text is taken, so a wheel for any machine will do; the same one everywhere makes checksums comparable.
_WHEELS_FOR = ("manylinux1", "manylinux2014", *(f"manylinux_2_{minor}" for minor in range(17, 40)))


class NotFetchedError(LookupError):
    """The core files of a release are not in the cache."""


class FetchError(RuntimeError):
    """The wheel could not be had, or is not what it should be."""


def cache_folder() -> Path:
    """Where fetched files are kept: $BLOCKPOOL_CACHE, or the user's cache folder of this platform."""
    if named := os.environ.get("BLOCKPOOL_CACHE"):
        return Path(named)
    home = Path.home()
    if platform.system() == "Windows":
        return Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local")) / "blockpool" / "Cache"
    if platform.system() == "Darwin":
        return home / "Library" / "Caches" / "blockpool"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "blockpool"


def release_folder(version: str) -> Path:
    """The folder of one release in the cache."""
    return cache_folder() / "vllm" / version


def fetched_releases() -> list[str]:
    """The releases in the cache, oldest first."""
    found = [path.parent.name for path in (cache_folder() / "vllm").glob(f"*/{RECEIPT}")]
    return sorted(found, key=version_numbers)


def version_numbers(version: str) -> tuple[int, ...]:
    """(0, 33, 0) for "0.33.0+cpu": what releases are ordered by."""
    numbers = []
    for part in version.partition("+")[0].split("."):
        if not part.isdigit():
            break
        numbers.append(int(part))
    return tuple(numbers)


def fetch(version: str) -> dict[str, Any]:
    """Download the wheel of a release with pip, keep its core files, and return the receipt. The wheel is not kept."""
    with tempfile.TemporaryDirectory(prefix="blockpool-") as folder:
        wheel = _download(version, Path(folder))
        receipt: dict[str, Any] = {
            "release": f"vllm {version}",
            "wheel": wheel.name,
            "wheel_bytes": wheel.stat().st_size,
            "wheel_sha256": _sha256_of_file(wheel),
            "files": {},
        }
        target = release_folder(version)
        target.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(wheel) as archive:
            present = set(archive.namelist())
            for path in FILES.values():
                if path in present:
                    content = archive.read(path)
                    (target / Path(path).name).write_bytes(content)
                    receipt["files"][Path(path).name] = {"bytes": len(content), "sha256": _sha256(content)}
    if "block_pool.py" not in receipt["files"]:
        raise FetchError(f"{receipt['wheel']} has no {FILES['vllm.v1.core.block_pool']}; the block pool is in 0.8.5+")
    (target / RECEIPT).write_text(json.dumps(receipt, indent=1) + "\n", encoding="utf-8")
    return receipt


def _download(version: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    command += [f"--platform={tag}_x86_64" for tag in _WHEELS_FOR]
    done = subprocess.run(
        [*command, f"--dest={folder}", f"vllm=={version}"], capture_output=True, text=True, check=False
    )
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        said = [line for line in done.stderr.splitlines() if not line.startswith("WARNING")]
        raise FetchError(f"pip could not download vllm=={version}: {' '.join(said[-1:]) or 'no wheel came'}")
    return wheels[0]


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _sha256_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@cache
def core_modules(version: str) -> dict[str, ModuleType]:
    """block_pool, kv_cache_utils and, since 0.9, kv_events of a fetched release, each release apart from the others."""
    folder = release_folder(version)
    if not (folder / RECEIPT).is_file():
        raise NotFetchedError(
            f"vllm {version} is not in {cache_folder()}; run: blockpool adapters fetch vllm=={version}"
        )
    receipt = json.loads((folder / RECEIPT).read_text(encoding="utf-8"))
    for name, noted in receipt["files"].items():
        if _sha256((folder / name).read_bytes()) != noted["sha256"]:
            raise FetchError(f"{folder / name} is not what was fetched; run: blockpool adapters fetch vllm=={version}")
    files = {module: folder / Path(path).name for module, path in FILES.items() if Path(path).name in receipt["files"]}
    world = Isolated(f"vllm {version}", files, frozenset({"msgspec"}), _GIVEN)
    return {name.rpartition(".")[2]: world.module(name) for name in files}


def _quiet_logger(name: str) -> logging.Logger:
    logger = logging.getLogger(f"{__name__}.{name}")
    logger.disabled = True  # releases warn of every reset that they refuse
    return logger


_GIVEN = {
    "vllm.logger.init_logger": _quiet_logger,
    "vllm.envs": SimpleNamespace(VLLM_KV_EVENTS_USE_INT_BLOCK_HASHES=True),  # as it is by default
}
