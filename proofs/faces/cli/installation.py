"""Is this installation fit to decide anything? Versions, the machine, and a planted question to every tool.

A tool that misses what was planted makes every verdict that rests on it worthless, so that is *vacuous*. A version that
was never tested is *vacuous* too, until its canary and the tests have been run with it.
"""

import os
import platform
import sys
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter

import icontract

from blockpool.impl import BlockPool, FreeKVCacheBlockQueue
from blockpool.proofs.core.jobs import run_module
from blockpool.proofs.core.memory import memory_left
from blockpool.proofs.core.obligation import Figures, Obligation, Verdict

TESTED: dict[str, tuple[str, str]] = {
    "python": ("3.11", "3.15"),
    "crosshair-tool": ("0.0.113", "0.0.114"),
    "hypothesis": ("6.150", "7"),
    "icontract": ("2.7.1", "3"),
    "z3-solver": ("5.4", "6"),
}
"""What is needed: the first version that was tested, and the first that was not."""

OPTIONAL = ("hypothesis-crosshair", "mypy", "pytest", "ruff")
"""For tests and the nightly profile."""

MEMORY = 1.0
"""GiB that a search wants to have left."""

SENTENCES = {
    "versions": "Every tool has a version that was tested.",
    "machine": "There is memory for a search.",
    "canary: z3": "Z3 finds a planted counterexample and proves a planted truth.",
    "canary: hypothesis": "Hypothesis finds a planted bug, and its least example.",
    "canary: icontract": "A planted violation of a contract raises.",
    "canary: levels": "BLOCKPOOL_CONTRACTS switches the contracts of impl.",
    "canary: invariant": "CrossHair finds a broken invariant.",
    "canary: postcondition": "CrossHair finds a broken contract of the pool, by its name.",
    "canary: precondition": "CrossHair finds a precondition that nothing meets.",
}


def examine() -> Iterable[Obligation]:
    """One obligation after the other."""
    yield versions()
    yield machine()
    for name, canary in CANARIES.items():
        started = perf_counter()
        words = canary()
        verdict = Verdict.VACUOUS if words else Verdict.HOLDS
        yield Obligation(name, "doctor", "planted", verdict, {}, perf_counter() - started, words)
    from blockpool.proofs.symbolic.jobs import CANARY_NAMES, asked

    yield from asked(CANARY_NAMES, True, 10.0)


def installed() -> dict[str, str]:
    """The version of each tool, needed or optional; empty if it is not there."""
    return {name: version_of(name) for name in (*TESTED, *OPTIONAL)}


def version_of(name: str) -> str:
    if name == "python":
        return platform.python_version()
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def numbers(text: str) -> tuple[int, ...]:
    """The leading numbers of a version, to compare it by."""
    found = []
    for part in text.split("."):
        if not part.isdecimal():
            break
        found.append(int(part))
    return tuple(found)


def versions(found: dict[str, str] | None = None) -> Obligation:
    """Are the needed tools there, in versions that were tested?"""
    found = installed() if found is None else found
    wrong = []
    for name, (first, end) in TESTED.items():
        if not found[name]:
            wrong.append(f"{name} is not installed")
        elif not numbers(first) <= numbers(found[name]) < numbers(end):
            wrong.append(f"{name} {found[name]} was not tested, {first} up to {end} was")
    figures: Figures = {name: number or "missing" for name, number in found.items()}
    return Obligation("versions", "doctor", "", verdict_of(wrong), figures, 0.0, "; ".join(wrong))


def machine() -> Obligation:
    """How large is this machine?"""
    left = memory_left()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    figures: Figures = {"cores": cores, "GiB free": round(left, 1), "system": sys.platform}
    wrong = [f"less than {MEMORY} GiB of memory is left: searches will give up"] if left < MEMORY else []
    return Obligation("machine", "doctor", "", verdict_of(wrong), figures, 0.0, "; ".join(wrong))


def verdict_of(wrong: list[str]) -> Verdict:
    return Verdict.VACUOUS if wrong else Verdict.HOLDS


# --- a planted question to each tool: what is wrong with the answer, or nothing ---


def ask_z3() -> str:
    import z3

    count = z3.Int("count")
    wrong = []
    possible = z3.Solver()
    possible.add(count > 2, count * count == 16)
    if possible.check() != z3.sat or possible.model()[count].as_long() != 4:
        wrong.append("it finds no square root of 16")
    block = z3.DeclareSort("Block")
    held = z3.Function("held", block, z3.BoolSort())
    any_block = z3.Const("any", block)
    impossible = z3.Solver()
    impossible.add(z3.ForAll(any_block, held(any_block)), z3.Not(held(z3.Const("one", block))))
    if impossible.check() != z3.unsat:
        wrong.append("it does not refute that all are held and one is not")
    return "; ".join(wrong)


def ask_hypothesis() -> str:
    from hypothesis import find, settings, strategies

    quietly = settings(database=None, derandomize=True, max_examples=200)
    found = find(strategies.integers(0, 10_000), lambda number: number >= 137, settings=quietly)
    return "" if found == 137 else f"the least number from 137 on is {found}"


def ask_icontract() -> str:
    @icontract.require(is_positive)
    def lend(count: int) -> int:
        return count

    try:
        lend(0)
    except icontract.ViolationError:
        return ""
    return "a broken precondition is not noticed"


def is_positive(count: int) -> bool:
    return count > 0


def ask_levels() -> str:
    counts = []
    for level in ("off", "cheap", "full"):
        ran = run_module("blockpool.proofs.faces.cli.installation", timeout=60.0, BLOCKPOOL_CONTRACTS=level)
        if ran.returncode:
            return f"{level}: {ran.stderr.strip()[-200:]}"
        counts.append(int(ran.stdout))
    none, some, most = counts
    return "" if 0 == none < some < most else f"{none}, {some} and {most} methods have contracts at off, cheap and full"


CANARIES: dict[str, Callable[[], str]] = {
    "canary: z3": ask_z3,
    "canary: hypothesis": ask_hypothesis,
    "canary: icontract": ask_icontract,
    "canary: levels": ask_levels,
}

if __name__ == "__main__":  # in a process of its own for each level of contracts
    methods = [method for cls in (BlockPool, FreeKVCacheBlockQueue) for method in vars(cls).values()]
    print(sum(hasattr(method, "__wrapped__") for method in methods))
