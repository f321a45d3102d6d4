"""A mutation run: which mutants of a tree are killed, by whom, and which survive.

Three rounds: the tests of the area, then its gates, both in processes that exchange the code of a function; and what is
left (also what cannot be exchanged) once more in a copy of the checkout with the mutated file in it. What is known from
an earlier run is kept: a kill as long as the mutated module and the file of the test, or the gates, are what they were;
a survival as long as all tests and gates are.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from blockpool.proofs.adequacy.mutation.mutants import Mutant, mutants_of
from blockpool.proofs.adequacy.mutation.targets import AREAS, FULL, OFF, Area, area_of
from blockpool.proofs.adequacy.mutation.worker import Judgement, Task
from blockpool.proofs.core.sources import ROOT, file_of
from blockpool.proofs.core.workers_ray import Cluster, Workforce

DETECTED = frozenset({"killed", "timeout", "died"})

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Judged:
    """A mutant and what became of it."""

    mutant: Mutant
    judgement: Judgement

    @property
    def detected(self) -> bool:
        return self.judgement.fate in DETECTED


class Memory:
    """What earlier runs found, in a file with a line for each mutant."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self.known: dict[str, dict[str, str]] = {}
        if file is not None and file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                self.known[entry["key"]] = entry

    def of(self, mutant: Mutant, area: Area) -> Judgement | None:
        """What is known of this mutant and still true."""
        entry = self.known.get(mutant.key)
        if entry is None or entry["evidence"] != _evidence(entry["fate"], entry["by"], area):
            return None
        return Judgement(mutant.key, entry["fate"], entry["by"], entry["words"])

    def keep(self, judgement: Judgement, area: Area) -> None:
        """Remember it, at once: a run may be interrupted."""
        if self.file is None:
            return
        plain = {name: str(value) for name, value in asdict(judgement).items()}
        entry = {**plain, "evidence": _evidence(judgement.fate, judgement.by, area)}
        self.known[judgement.key] = entry
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(entry) + "\n")


def _evidence(fate: str, by: str, area: Area) -> str:
    """A hash of the files that the judgement rests on."""
    test = ROOT / by.partition("::")[0]
    if fate in DETECTED and test.suffix == ".py" and test.exists():
        return _hash_of(str(test), str(test.parent / "conftest.py"))
    folders = _folders(area, ROOT)
    return _hash_of(
        str(ROOT / "proofs" / "refine"), str(ROOT / "proofs" / "explore"), str(ROOT / "proofs" / "replay"), *folders
    )


def _folders(area: Area, root: Path) -> list[str]:
    return [str(root / "tests" / folder) for folder in area.tests]


@cache
def _hash_of(*paths: str) -> str:
    found = sha256()
    for path in map(Path, paths):
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path] * path.exists():
            found.update(file.read_bytes())
    return found.hexdigest()[:16]


def judge(
    mutants: Sequence[Mutant],
    *,
    workers: Workforce,
    memory: Memory,
    deep: bool = False,
    progress: Progress = lambda line: None,
) -> Iterator[Judged]:
    """Judge all these mutants, area by area; by the dear gates as well if `deep`."""
    areas: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        name = area_of(mutant.module)
        assert name is not None
        areas.setdefault(name, []).append(mutant)
    done = 0
    for name, listed in areas.items():
        for judged in _judge_area(AREAS[name], listed, workers, memory, deep, progress):
            done += 1
            progress(f"{name}: {done} of {len(mutants)} mutants judged")
            yield judged


def _judge_area(
    area: Area, mutants: Sequence[Mutant], workers: Workforce, memory: Memory, deep: bool, progress: Progress
) -> Iterator[Judged]:
    by_key = {mutant.key: mutant for mutant in mutants}
    left: dict[str, str] = {}  # what is not decided: key to fate so far
    for mutant in mutants:
        known = memory.of(mutant, area)
        if known is not None and (known.fate in DETECTED or not deep):  # dear gates have not seen what survived before
            yield Judged(mutant, known)
        else:
            left[mutant.key] = "untried"
    gates_of_area = [*area.gates, *(area.dear if deep else ())]
    for gates in ([], gates_of_area):
        if not left:
            return
        for judgement in _hunted(area, gates, [by_key[key] for key in left], workers):
            if judgement.fate in DETECTED:
                del left[judgement.key]
                memory.keep(judgement, area)
                yield Judged(by_key[judgement.key], judgement)
            elif judgement.fate == "survived":
                left[judgement.key] = "survived"
            progress(f"{area.name}: {'gates' if gates else 'tests'}, {len(left)} left")
    for judgement in _copied(area, gates_of_area, [(by_key[key], fate) for key, fate in left.items()], workers):
        memory.keep(judgement, area)
        yield Judged(by_key[judgement.key], judgement)


def _hunted(area: Area, gates: list[str], mutants: Sequence[Mutant], workers: Workforce) -> Iterator[Judgement]:
    """Judge them by swapping, all here or a share in each process of the cluster."""
    if not isinstance(workers, Cluster):
        yield from _swapped(area, gates, mutants, workers)
        return
    shares = [mutants[at :: workers.workers] for at in range(min(workers.workers, len(mutants)))]
    for judgements in workers.map(_share, shares, area, gates):
        yield from judgements


def _share(mutants: Sequence[Mutant], area: Area, gates: list[str]) -> list[Judgement]:
    return list(_swapped(area, gates, mutants, 1))


def _copied(
    area: Area, gates: list[str], left: Sequence[tuple[Mutant, str]], workers: Workforce
) -> Iterator[Judgement]:
    """Judge them in copies of the checkout, some at a time."""
    if isinstance(workers, Cluster):
        yield from workers.map(_in_copy, left, area, gates)
        return
    with ThreadPoolExecutor(workers) as threads:
        yield from threads.map(lambda one: _in_copy(one, area, gates), left)


def _environment(area: Area, gates: list[str]) -> dict[str, str]:
    full = not gates or area.gates_with_contracts
    return {**os.environ, **(FULL if full else OFF), "PYTHONHASHSEED": "0"}


def _swapped(area: Area, gates: list[str], mutants: Sequence[Mutant], workers: int) -> Iterator[Judgement]:
    """Judge them in one process that forks."""
    task = Task(_folders(area, ROOT), gates, False, workers, [asdict(mutant) for mutant in mutants])
    hunt = subprocess.Popen(
        [sys.executable, "-P", "-m", "blockpool.proofs.adequacy.mutation.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=_environment(area, gates),
        cwd=ROOT,
        text=True,
    )
    assert hunt.stdin is not None
    assert hunt.stdout is not None
    try:
        hunt.stdin.write(json.dumps(asdict(task)))
        hunt.stdin.close()
        for line in hunt.stdout:
            message = json.loads(line)
            if "fate" in message:
                yield Judgement(**message)
        if hunt.wait():
            raise RuntimeError(f"the hunt in area {area.name} ended with {hunt.returncode}")
    finally:
        hunt.terminate()


def _in_copy(one: tuple[Mutant, str], area: Area, gates: list[str]) -> Judgement:
    """Judge one mutant in a copy of the checkout: by the tests, and by the gates if they have not seen it yet."""
    mutant, fate = one
    with TemporaryDirectory() as folder:
        for part in ("spec", "impl", "proofs", "src", "tests"):
            shutil.copytree(ROOT / part, Path(folder, part), symlinks=True)
        shutil.copy(ROOT / "pyproject.toml", folder)
        file = Path(folder, file_of(mutant.module))
        file.write_text(mutant.source, encoding="utf-8")
        found = _strict(area, [], mutant, folder)
        if found.fate in DETECTED or fate == "survived":
            return found
        return _strict(area, gates, mutant, folder)


def _strict(area: Area, gates: list[str], mutant: Mutant, folder: str) -> Judgement:
    task = Task(_folders(area, Path(folder)), gates, True, 1, [asdict(mutant)])
    ran = subprocess.run(
        [sys.executable, "-m", "blockpool.proofs.adequacy.mutation.worker"],
        input=json.dumps(asdict(task)),
        env=_environment(area, gates) | {"PYTHONPATH": os.pathsep.join((f"{folder}/src", folder))},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    if lines:
        return replace(Judgement(**lines[-1]), by=str(lines[-1]["by"]))
    # It did not come so far: the mutated module cannot be imported, or the tests cannot be collected.
    words = ran.stderr.strip().rpartition("\n")[2][:300]
    return Judgement(mutant.key, "died", "import", words)


def all_mutants(modules: Iterable[str]) -> list[Mutant]:
    """The mutants of these modules."""
    return [mutant for module in modules for mutant in mutants_of(module)]
