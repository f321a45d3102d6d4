"""Hunting mutants: from a small test to a score, what is remembered, and what is said about survivors."""

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pytest

from blockpool.proofs.adequacy.mutation import run as mutation
from blockpool.proofs.adequacy.mutation.mutants import Mutant, mutants_of
from blockpool.proofs.adequacy.mutation.run import Judged, Memory
from blockpool.proofs.adequacy.mutation.scores import BARS, FITS, JUDGED, KILLED, LISTED, harmless, scored
from blockpool.proofs.adequacy.mutation.targets import AREAS, Area, modules_of
from blockpool.proofs.adequacy.mutation.worker import Judgement, Task
from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.faces.cli import check
from blockpool.proofs.faces.cli.console import Progress
from blockpool.proofs.faces.cli.session import Session

TEST = """
import time
from blockpool.spec.pool.prefix import Prefix

def test_first():
    assert Prefix((1, 2, 3)).first(2) == Prefix((1, 2))
"""


def hunted(folder: Path, mutants: list[Mutant]) -> dict[str, Judgement]:
    task = Task([str(folder)], [], False, 2, [asdict(mutant) for mutant in mutants])
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "blockpool.proofs.adequacy.mutation.worker"],
        input=json.dumps(asdict(task)),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    if ran.returncode:
        raise RuntimeError(ran.stderr)
    found = [Judgement(**message) for message in map(json.loads, ran.stdout.splitlines()) if "fate" in message]
    return {judgement.key: judgement for judgement in found}


def changed(mutant: Mutant, source: str) -> Mutant:
    return Mutant(mutant.module, mutant.function, mutant.before, "", 1, mutant.line, source)


def test_a_small_hunt(tmp_path: Path) -> None:
    (tmp_path / "test_small.py").write_text(TEST, encoding="utf-8")
    mutants = mutants_of("blockpool.spec.pool.prefix")
    first = next(mutant for mutant in mutants if mutant.function == "Prefix.first")
    line = first.before
    endless = changed(first, first.source.replace(first.after, "while True: pass"))
    same = changed(first, "\n" + first.source.replace(first.after, line))  # a line lower, and nothing else
    fatal = changed(first, first.source.replace(first.after, "__import__('os').kill(__import__('os').getpid(), 9)"))
    found = hunted(tmp_path, [*mutants, endless, same, fatal])
    assert found[first.key].fate == "killed"
    assert found[first.key].by.endswith("test_small.py::test_first")
    assert found[endless.key].fate == "timeout"
    assert found[same.key].fate == "survived"
    assert found[fatal.key].fate == "died"
    outside = [mutant for mutant in mutants if mutant.function is None]
    assert outside
    assert {found[mutant.key].fate for mutant in outside} == {"untried"}


def test_a_test_that_fails_without_a_mutant_ends_the_hunt(tmp_path: Path) -> None:
    (tmp_path / "test_wrong.py").write_text("def test_wrong():\n    assert False\n", encoding="utf-8")
    with pytest.raises(RuntimeError, match=r"without a mutant, .*test_wrong fails"):
        hunted(tmp_path, mutants_of("blockpool.spec.pool.prefix")[:1])


# --- what is remembered ---


def test_a_kill_is_remembered_until_its_test_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant, area = mutants_of("blockpool.spec.pool.prefix")[0], AREAS["machine"]
    test = tmp_path / "tests" / "spec" / "test_it.py"
    other = tmp_path / "tests" / "spec" / "test_other.py"
    test.parent.mkdir(parents=True)
    monkeypatch.setattr(mutation, "ROOT", tmp_path)

    def kept(judgement: Judgement, touched: Path) -> bool:
        for path in (test, other):
            path.write_text("1", encoding="utf-8")
        mutation._hash_of.cache_clear()
        memory = Memory(tmp_path / "memory" / "mutants.jsonl")
        memory.keep(judgement, area)
        touched.write_text("2", encoding="utf-8")
        mutation._hash_of.cache_clear()
        known = Memory(tmp_path / "memory" / "mutants.jsonl").of(mutant, area)
        return known is not None and (known.fate, known.by) == (judgement.fate, judgement.by)

    kill = Judgement(mutant.key, "killed", "tests/spec/test_it.py::test_one")
    assert kept(kill, other)
    assert not kept(kill, test)
    survival = Judgement(mutant.key, "survived")
    assert not kept(survival, other)
    assert kept(survival, tmp_path / "elsewhere.py")
    mutation._hash_of.cache_clear()


@pytest.mark.parametrize(
    ("fate", "deep", "again"), [("survived", True, True), ("survived", False, False), ("killed", True, False)]
)
def test_the_dear_gates_see_what_survived_before(
    fate: str, deep: bool, again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant = mutants_of("blockpool.spec.pool.prefix")[0]
    gates: list[list[str]] = []

    def hunted(area: Area, asked: list[str], *rest: object) -> list[Judgement]:
        gates.append(asked)
        return [Judgement(mutant.key, "killed", "a gate")]

    monkeypatch.setattr(mutation, "_hunted", hunted)
    memory = Memory(None)
    monkeypatch.setattr(memory, "of", lambda mutant, area: Judgement(mutant.key, fate, "somebody"))
    [judged] = mutation.judge([mutant], workers=1, memory=memory, deep=deep)
    assert judged.judgement.by == ("a gate" if again else "somebody")
    assert bool(gates) == again


def test_an_unknown_mutant_is_not_remembered() -> None:
    assert Memory(None).of(mutants_of("blockpool.spec.pool.prefix")[0], AREAS["machine"]) is None


def test_where_mutants_cannot_be_judged_the_nightly_run_is_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "tools_missing", lambda: "there is no mutmut")
    session = Session("nightly", None)
    check._mutants(session, 1, Progress())
    [obligation] = session.obligations
    assert (obligation.name, obligation.verdict) == (JUDGED, Verdict.INCONCLUSIVE)
    assert obligation.words == "there is no mutmut"


def test_the_nightly_run_judges_all_modules_of_both_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Sequence[str]] = []
    monkeypatch.setattr(check, "tools_missing", str)
    monkeypatch.setattr(check, "judge_mutants", lambda session, modules, *rest: asked.append(modules))
    check._mutants(Session("nightly", None), 1, Progress())
    assert asked == [[*modules_of("impl"), *modules_of("spec")]]


# --- scores ---


def judged(fates: dict[str, str]) -> list[Judged]:
    return [
        Judged(Mutant("blockpool.impl.x", "f", name, "other", 1, 1, name), Judgement(name, fate, "a test"))
        for name, fate in fates.items()
    ]


def name_of(change: str) -> str:
    return f"blockpool.impl.x:f: {change} -> other"


def verdicts(fates: dict[str, str], listed: dict[str, str]) -> dict[str, tuple[Verdict, str]]:
    decided = scored("impl", judged(fates), listed, ["blockpool.impl.x"], 0.0)
    return {one.name: (one.verdict, one.words) for one in decided}


def test_a_score_at_the_bar_holds_and_below_is_refuted() -> None:
    many = {str(number): "killed" for number in range(98)} | {"t": "timeout"}
    found = verdicts({**many, "s": "survived"}, {name_of("s"): "the same"})
    assert found == {KILLED: (Verdict.HOLDS, ""), LISTED: (Verdict.HOLDS, ""), FITS: (Verdict.HOLDS, "")}
    more = {f"s{number}": "survived" for number in range(3)}
    assert verdicts({**many, **more}, {})[KILLED][0] is Verdict.REFUTED
    assert verdicts({}, {})[KILLED][0] is Verdict.VACUOUS
    assert BARS == {"impl": 0.98, "spec": 0.95}


def test_a_survivor_that_is_not_listed_is_named() -> None:
    assert verdicts({"s": "survived"}, {})[LISTED] == (Verdict.REFUTED, name_of("s"))


def test_a_listed_mutant_must_exist_and_survive() -> None:
    listed = {name_of("k"): "why", name_of("gone"): "why", "blockpool.impl.y:f: a -> b": "of another module"}
    verdict, words = verdicts({"k": "killed"}, listed)[FITS]
    assert verdict is Verdict.REFUTED
    assert words == f"there is no mutant {name_of('gone')}; a test kills {name_of('k')}"


def test_the_list_of_harmless_mutants_fits_the_source() -> None:
    listed = harmless()
    assert all(why.strip() for why in listed.values())
    for module in {name.partition(":")[0] for name in listed}:
        names = {mutant.name for mutant in mutants_of(module)}
        assert {name for name in listed if name.partition(":")[0] == module} <= names
