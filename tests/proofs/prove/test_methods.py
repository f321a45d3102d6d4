"""The pool's methods, proved from their source for any size; what is not proved, though it looks much the same."""

import pytest

from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.prove.methods import vacuity
from blockpool.proofs.prove.methods.catalogue import METHODS, NOT_PROVED, QUICK
from blockpool.proofs.prove.methods.faults import HARMLESS, changed, faults
from blockpool.proofs.prove.methods.lemmas import conditions, lemma_obligations
from blockpool.proofs.prove.methods.method import Program, functions, shipped
from blockpool.proofs.prove.methods.method_map import method_map
from blockpool.proofs.prove.methods.obligations import POSSIBLE, vacuity_obligations
from blockpool.proofs.prove.methods.proving import asked, prove
from blockpool.proofs.prove.methods.sized_runs import difference, sizes

FAST = (
    "get: the 1000th block of a batch keeps its key",
    "get: batches over 500 are cut",
    "get: more than 64 go the careful way",
    "get: block 1000 keeps its key",
    "get: pools of 1000 blocks hand batches out reversed",
    "unpin: eight are watched",
    "unpin: over 20 references are not compared",
    "unpin: the 300th freed one is not queued",
    "cancel: the block stays listed",
    "lookup: the third group is served the second's",
    "lookup: eight groups are looked at",
    "evict: a thousand at most",
    "evict: the 300th keeps its keys",
    "reset: counts are compared by identity",
    "reset: watchers of large pools are not told",
    "reset: a list that is shared by calls",
    "touch: eight leave the queue",
    "touch: null is counted",
    "free: block 1000 stays out",
    "lend: watchers of 100 victims are told",
    "drop: aliases go without an event",
    "move: the source stays keyed",
    "index: an empty entry stays",
    "index: a copy takes the first place",
    "cache: positions from 64 on have another coverage",
)
"""A defect or more of each method; `check --deep` tries them all."""


@pytest.mark.parametrize("name", QUICK)
def test_a_method_refines_the_spec_at_any_size(name: str) -> None:
    proof = prove(METHODS[name])
    assert proof.failed == []
    assert proof.refused == ""
    assert proof.conditions > 3


@pytest.mark.parametrize("name", FAST)
def test_a_method_with_a_defect_that_needs_a_size_is_not_proved(name: str) -> None:
    (fault,) = [fault for fault in faults() if fault.name == name]
    assert not fault.proof().holds


def test_at_least_twenty_defects_are_seeded_and_each_changes_its_method() -> None:
    seeded = list(faults())
    assert len(seeded) >= 20
    assert {fault.method for fault in seeded} == METHODS.keys() - {"HashIndex.insert_copy"}  # which `insert` runs
    for fault in seeded:
        runs = METHODS[fault.method].runs
        assert any(
            functions(fault.source(module))[name] is not functions(shipped(module))[name]
            and fault.source(module) != shipped(module)
            for module, names in runs.items()
            for name in names
        ), fault.name


def test_a_change_that_depends_on_a_size_and_harms_nothing_is_proved() -> None:
    (harmless,) = [one for one in HARMLESS if "links one by one" in one.name]
    assert prove(METHODS["BlockPool.get_new_blocks, hot way"], changed(harmless)).holds


def test_what_the_proofs_assume_follows() -> None:
    (obligation,) = lemma_obligations()
    assert obligation.verdict is Verdict.HOLDS, obligation.words


def test_a_lemma_without_its_hypotheses_does_not_follow() -> None:
    for condition in conditions():
        if "at first" not in condition.name:
            assert asked([], condition.goal, 0, 1_000_000)[1] != "unsat", condition.name


@pytest.mark.parametrize("name", ["BlockPool.get_cached_block", "BlockPool.cancel_watch"])
def test_each_kind_of_ending_is_possible_with_a_dozen_blocks(name: str) -> None:
    (obligation,) = vacuity_obligations(name)
    assert obligation.name == f"{name} {POSSIBLE}"
    assert obligation.verdict is Verdict.HOLDS, obligation.words


def test_a_pool_bounded_to_ten_blocks_is_vacuous(monkeypatch: pytest.MonkeyPatch) -> None:
    import z3

    from blockpool.proofs.prove.methods.values import BLOCK

    ten, b = z3.Consts([f"block {i}" for i in range(10)], BLOCK), z3.Const("b", BLOCK)
    method = METHODS["BlockPool.cancel_watch"]
    monkeypatch.setattr(vacuity, "BUDGET", 1_000_000)  # without the bound, pools are found with less
    monkeypatch.setitem(method.facts, "few blocks", z3.ForAll([b], z3.Or([b == one for one in ten])))
    (obligation,) = vacuity_obligations(method.name)
    assert obligation.verdict is Verdict.VACUOUS


def test_paths_that_lead_nowhere_are_not_taken_for_proofs() -> None:
    kinds = {ending.kind for ending in Program.of(METHODS["BlockPool.unpin_blocks"]).endings()}
    assert kinds == {"returned", "raised", "loop", "needs"}


def test_the_map_lists_each_method_and_what_is_not_proved() -> None:
    lines = list(method_map())
    assert all(name in lines for name in METHODS)
    assert all(any(line.startswith(name) for line in lines) for name in NOT_PROVED)


def test_the_story_of_the_runs_finds_nothing_in_the_shipped_pool() -> None:
    assert [difference(size) for size in (1, 2, 9, 33)] == [None] * 4


def test_the_sizes_that_a_source_names_are_run_with_their_neighbours() -> None:
    (fault,) = [fault for fault in faults() if fault.name == "touch: eight leave the queue"]
    assert {7, 8, 9} <= set(sizes(METHODS[fault.method], fault.source))
