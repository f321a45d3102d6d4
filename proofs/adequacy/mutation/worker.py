"""Judging mutants: each by the same tests and gates, until one notices.

Run as `python -m blockpool.proofs.adequacy.mutation.worker`.

Everything is imported and all tests are collected once; then a child is forked for each mutant, in which the code of
the mutated function is exchanged (`hot_swap.py`). First an unchanged child shows which test and which gate runs which
function, how long each takes, and that none of them fails: a mutant is tried only by those that run what it changes,
those first that noticed its neighbours. A child that needs far more processor time than the unchanged one is stopped;
that is a catch, and reported as such. In a copy of the checkout that holds one mutant already, nothing is exchanged.
"""

import gc
import json
import os
import resource
import select
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from time import perf_counter, process_time
from types import FrameType
from typing import Any, NoReturn

import pytest
from _pytest.runner import runtestprotocol

from blockpool.proofs.adequacy.mutation.hot_swap import NotSwappableError, Place, Swapper, place_of
from blockpool.proofs.adequacy.mutation.mutants import Mutant
from blockpool.proofs.core.sources import ROOT

LEAST_SECONDS, TIMES = 2.0, 8.0
"""A check may take this long, or so many times what it takes unchanged, in processor time."""
MOST_MEMORY = 6 << 30
"""Bytes of address space of a child."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a hunting process is told: what to run, and the mutants."""

    folders: list[str]  # of tests
    gates: list[str]  # run these; if there are none, the tests
    strict: bool  # the one mutant is in the source already
    workers: int
    mutants: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of one mutant."""

    key: str
    fate: str  # killed, timeout, died, survived, or untried: it cannot be swapped in, or nothing runs it
    by: str = ""  # the test or gate that noticed
    words: str = ""
    seconds: float = 0.0


@dataclass
class Check:
    """A test or a gate, and what its unchanged run showed."""

    name: str
    item: Any = None  # the pytest item of a test
    seconds: float = 0.0
    places: set[Place] = field(default_factory=set)
    leaves_process: bool = False  # it starts another process, which does not see a swapped function


class Hunt:
    """A plugin of pytest: once the tests are collected, it hunts instead of running them."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.kills: Counter[tuple[str, Place | str]] = Counter()

    def pytest_runtestloop(self, session: Any) -> bool:
        """Instead of the tests of the session."""
        self.hunt([Check(item.nodeid, item) for item in session.items])
        return True

    def hunt(self, checks: list[Check]) -> None:
        """Judge all mutants, and say what became of each."""
        self.checks = checks
        mutants = [Mutant(**mutant) for mutant in self.task.mutants]
        if self.task.strict:
            [mutant] = mutants
            _say(asdict(self._judge(mutant, self.checks, perf_counter())))
            return
        self.swapper = Swapper("blockpool.impl", "blockpool.spec")
        self._baseline()
        gc.collect()
        gc.freeze()  # or each child would copy all memory by counting references in it
        for judgement in self._all(mutants):
            _say(asdict(judgement))

    # --- the unchanged run ---

    def _baseline(self) -> None:
        """Time each check, see what it runs, and that it passes."""
        found = json.loads(_in_child(self._measure))
        for check, (seconds, places, leaves, words) in zip(self.checks, found, strict=True):
            if words:
                _give_up(f"without a mutant, {check.name} fails: {words}")
            check.seconds, check.leaves_process = seconds, leaves
            check.places = {(module, function) for module, function in places}
        self.checks = [check for check in self.checks if not check.leaves_process]
        _say({"checks": len(self.checks), "seconds": sum(check.seconds for check in self.checks)})

    def _measure(self) -> str:
        left: list[str] = []
        sys.addaudithook(lambda event, _: left.append(event) if event in ("subprocess.Popen", "os.fork") else None)
        return json.dumps([self._measured(check, left) for check in self.checks])

    def _measured(self, check: Check, left: list[str]) -> tuple[float, list[Place], bool, str]:
        codes: set[Any] = set()

        def note(frame: FrameType, *_: object) -> None:
            codes.add(frame.f_code)

        started = process_time()
        left.clear()
        sys.settrace(note)
        words = _noticed(check)
        sys.settrace(None)
        places = {place_of(code, self.swapper.files) for code in codes} - {None}
        return process_time() - started, sorted(place for place in places if place is not None), bool(left), words

    # --- the mutants ---

    def _all(self, mutants: Sequence[Mutant]) -> Iterator[Judgement]:
        """Judge them, some at a time, each in a child of its own."""
        waiting = list(reversed(mutants))
        running: dict[int, tuple[int, Mutant, list[bytes]]] = {}
        while waiting or running:
            while waiting and len(running) < self.task.workers:
                mutant = waiting.pop()
                checks = self._for(mutant)
                if not checks:
                    yield Judgement(mutant.key, "untried", words="nothing in this process runs it")
                    continue
                pid, reader = _fork(lambda m=mutant, c=checks: json.dumps(asdict(self._judge_swapped(m, c))))
                running[reader] = (pid, mutant, [])
            for reader in select.select(list(running), [], [])[0] if running else ():
                pid, mutant, chunks = running[reader]
                chunk = os.read(reader, 1 << 16)
                if chunk:
                    chunks.append(chunk)
                    continue
                del running[reader]
                judgement = _ended(mutant, pid, reader, b"".join(chunks))
                if judgement.fate != "survived" and mutant.function is not None:
                    self.kills[judgement.by, (mutant.module, mutant.function)] += 1
                    self.kills[judgement.by, mutant.module] += 1
                yield judgement

    def _for(self, mutant: Mutant) -> list[Check]:
        """The checks that run the mutated function, those first that noticed most of its neighbours."""
        place = (mutant.module, mutant.function or "")
        running = [check for check in self.checks if place in check.places]
        tests = [check for check in running if check.item is not None]
        gates = [check for check in running if check.item is None]
        tests.sort(
            key=lambda check: (
                -self.kills[check.name, place],
                -self.kills[check.name, mutant.module],
                len(check.places),
                check.seconds,
            )
        )
        return tests + gates

    def _judge_swapped(self, mutant: Mutant, checks: Sequence[Check]) -> Judgement:
        started = perf_counter()
        try:
            self.swapper.swap(mutant)
        except NotSwappableError as error:
            return Judgement(mutant.key, "untried", words=str(error))
        return self._judge(mutant, checks, started)

    def _judge(self, mutant: Mutant, checks: Sequence[Check], started: float) -> Judgement:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        for check in checks:
            _limit(check, mutant.key, started)
            words = _noticed(check)
            if words:
                signal.setitimer(signal.ITIMER_PROF, 0)
                fate = "died" if words.startswith(_DIED) else "killed"
                return Judgement(mutant.key, fate, check.name, words[:300], perf_counter() - started)
        signal.setitimer(signal.ITIMER_PROF, 0)
        return Judgement(mutant.key, "survived", seconds=perf_counter() - started)


_DIED = "the gate itself fails: "


def _noticed(check: Check) -> str:
    """Run the test or gate: what it noticed, or nothing."""
    if check.item is not None:
        for report in runtestprotocol(check.item, log=False, nextitem=None):
            if report.failed:
                return str(report.longreprtext).strip().rpartition("\n")[2] or "failed"
        return ""
    from blockpool.proofs.adequacy.defects.checks_by_gate import GATES

    gate, _, scope = check.name.partition(": ")
    try:
        caught = GATES[gate].run(scope)
    except Exception as error:  # noqa: BLE001  whatever it is, it is reported
        return f"{_DIED}{type(error).__name__}: {error}"
    return "" if caught is None else f"{caught['claim']}: {caught['words']}"


def _limit(check: Check, key: str, started: float) -> None:
    """Stop the process, with a judgement, when this check takes too long."""

    def stop(*_: object) -> None:
        _say_and_end(json.dumps(asdict(Judgement(key, "timeout", check.name, "", perf_counter() - started))))

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, max(LEAST_SECONDS, TIMES * check.seconds) if check.seconds else 120.0)


# --- children ---

_to_parent = 1


def _fork(work: Any) -> tuple[int, int]:
    """Run the work in a child; its process and where its words can be read."""
    global _to_parent
    reader, writer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writer)
        return pid, reader
    os.close(reader)
    _to_parent = writer
    try:
        _say_and_end(work())
    finally:
        os._exit(3)
    raise AssertionError("a child ends above")


def _say_and_end(words: str) -> None:
    left = words.encode()
    while left:
        left = left[os.write(_to_parent, left) :]
    os._exit(0)


def _in_child(work: Any) -> str:
    pid, reader = _fork(work)
    with os.fdopen(reader, "rb") as pipe:
        words = pipe.read().decode()
    os.waitpid(pid, 0)
    if not words:
        _give_up("the unchanged child ends without a word")
    return words


def _ended(mutant: Mutant, pid: int, reader: int, words: bytes) -> Judgement:
    os.close(reader)
    _, status = os.waitpid(pid, 0)
    if words:
        return Judgement(**json.loads(words))
    return Judgement(mutant.key, "died", f"status {os.waitstatus_to_exitcode(status)}")


# --- the process ---


def _give_up(words: str) -> NoReturn:
    """End with these words, past pytest, which would show them to nobody."""
    print(words, file=sys.stderr, flush=True)
    os._exit(1)


def _say(message: dict[str, Any]) -> None:
    """One line of JSON to whoever started this process; standard output is closed to everybody else."""
    _say_line(json.dumps(message))


def _say_line(line: str) -> None:
    left = line.encode() + b"\n"
    while left:
        left = left[os.write(_to_parent, left) :]


def main() -> None:
    """Read the task from standard input, judge its mutants, print a line of JSON for each."""
    global _to_parent
    task = Task(**json.load(sys.stdin))
    _to_parent = os.dup(1)
    os.dup2(2, 1)  # what tests and pytest print is not for whoever reads the judgements
    hunt = Hunt(task)
    if task.gates:
        from blockpool.proofs.adequacy.defects import checks_by_gate  # noqa: F401  before the children are forked

        hunt.hunt([Check(gate) for gate in task.gates])
        return
    options = ["-q", "-n", "0", "-s", "-p", "no:cacheprovider", f"--rootdir={ROOT}", f"--confcutdir={ROOT}"]
    code = pytest.main([*options, *task.folders], plugins=[hunt])
    if code:
        raise SystemExit(f"pytest ends with {code}")


if __name__ == "__main__":
    main()
