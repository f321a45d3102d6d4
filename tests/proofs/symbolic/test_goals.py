"""The goals: they cover every contracted method, judge every contract, start from well-formed pools, and can fail."""

import json
import subprocess
import sys

import pytest

from blockpool.proofs.core.jobs import run_module
from blockpool.proofs.symbolic import pool_calls
from blockpool.proofs.symbolic.goals import GOALS, within
from blockpool.proofs.symbolic.run import DEFINED_IN
from blockpool.proofs.symbolic.shapes import (
    BLANK_TRIPLES,
    KEYED_PAIRS,
    PAIRS,
    SHORT_PAIRS,
    SINGLES,
    TRIPLES,
    WATCHED_PAIRS,
    Shape,
    pool_of,
    shapes,
)
from blockpool.spec import INVARIANTS

FAMILIES = (SINGLES, PAIRS, SHORT_PAIRS, KEYED_PAIRS, WATCHED_PAIRS, BLANK_TRIPLES, TRIPLES)

PRELUDE = """
import sys
from blockpool.proofs.adequacy.defects.seeded import DEFECTS
from blockpool.proofs.core.loader import install
"""

WITH_DEFECT = (
    PRELUDE
    + """
name, *arguments = sys.argv[1:]
install(next(defect for defect in DEFECTS if defect.name == name))
sys.argv[1:] = arguments
from blockpool.proofs.symbolic.run import main
main()
"""
)

SPOILED = """
from blockpool.proofs.refine.contracted import _spoiled
from blockpool.proofs.symbolic.plain_contracts import ContractBrokenError, make_plain
make_plain()
for name, pool in list(_spoiled()):
    try:
        pool.evict_blocks(set())
        print(name, "passed")
    except ContractBrokenError as broken:
        print(broken)
"""

UNCOVERED = """
import sys
from blockpool.proofs.symbolic import run
del run.GOALS["queue_popleft"]
sys.argv[1:] = ["quick", "5"]
run.main()
"""


def python(code: str, *arguments: str, level: str = "full") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env={"BLOCKPOOL_CONTRACTS": level}, check=False)


@pytest.mark.parametrize(
    ("defect", "goal", "words"),
    [
        ("popped blocks keep a link", "queue_popleft_n", "afterwards the queue is"),
        ("free counter counts calls, not blocks", "queue_prepend_n", "both directions of the queue and its counter"),
        ("touch counts the null block", "touch_one", "touch([0])"),
        ("double free in one call is accepted", "free_blocks", "when calling free_blocks"),
        ("watched block goes to the front when freed", "free_one_block", "queue: the spec says"),
        ("watcher stays after it was told", "get_new_blocks", "watcher"),
        ("move forgets the aliases", "move_block_hashes", "keys"),
        ("a shorter prefix replaces a longer one", "cache_partial_block", "primary"),
        ("reset is not reported", "reset_prefix_cache", "outbox"),
        ("call from inside a watcher is accepted", "calls_while_watchers_are_told", "re-entrant"),
        ("digest ignores the prefix before", "parent_in_the_text", "something else is read back"),
        ("digest ignores the sign of a token", "wide_tokens_in_the_text", "something else is read back"),
        ("a salt passes for an adapter", "kinds_of_extra_keys", "two kinds share a digest"),
        ("digest ignores where an item stands", "chain_of_a_request", "extra keys"),
    ],
)
def test_a_seeded_defect_is_refuted(defect: str, goal: str, words: str) -> None:
    done = python(WITH_DEFECT, defect, "whole", "20", goal)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["verdict"] == "refuted", answer
    assert words in answer["words"]


def test_a_counterexample_says_from_which_pool_and_by_which_call() -> None:
    done = python(WITH_DEFECT, "watcher stays after it was told", "quick", "20", "get_new_blocks")
    words = json.loads(done.stdout)["words"]
    assert "get_new_blocks(1): " in words
    assert "(block 1 free, found under <7 8> and <7>, watched; events on)" in words


def test_every_contracted_public_method_is_covered() -> None:
    done = python(UNCOVERED)
    assert "no goal covers FreeKVCacheBlockQueue.popleft" in done.stderr
    assert done.returncode == 1


def test_a_goal_covers_only_methods_that_exist() -> None:
    done = python("from blockpool.proofs.symbolic import run\nprint(*run.read_contracts())")
    known = set(done.stdout.split())
    assert len(known) == 20, done.stderr
    assert {method for goal in GOALS.values() for method in goal.covers} <= known


def test_plain_contracts_notice_every_spoiled_pool() -> None:
    done = python(SPOILED)
    assert done.stdout.splitlines() == [
        "both directions of the free queue and its counter agree",
        "a block is queued exactly when nobody holds it, and no count is negative",
        "the index lists exactly the keys that blocks carry",
        "aliases are distinct further keys of a block with a primary key",
        "the null block is not held, queued, keyed or watched",
        "watchers are distinct and sit on own blocks",
    ], done.stderr


def test_without_contracts_nothing_is_asked() -> None:
    done = run_module("blockpool.proofs.symbolic.run", "quick", "5", BLOCKPOOL_CONTRACTS="off")
    assert "contracts are off; set BLOCKPOOL_CONTRACTS=full" in done.stderr


def test_a_quick_run_speaks_about_most_methods() -> None:
    assert pool_calls in DEFINED_IN
    quick = {method for goal in GOALS.values() if goal.quick_scope for method in goal.covers}
    assert quick == {method for goal in GOALS.values() for method in goal.covers}


@pytest.mark.parametrize("family", FAMILIES)
def test_shapes_are_different_and_well_formed(family: tuple[Shape, ...]) -> None:
    pools = [pool_of(shape, (1, 2, 3), reporting=True) for shape in family]
    assert len({repr(pool) for pool in pools}) == len(pools)
    for pool in pools:
        assert [claim.name for claim in INVARIANTS if claim.judge(pool) is False] == []


def test_the_shapes_are_all_there_are_up_to_renaming() -> None:
    # Two kinds, held or free: the held ones are a multiset, the free ones a sequence.
    assert len(list(shapes(2, ((), ()), (False,)))) == 3 + 2 * 2 + 4
    assert (len(SINGLES), len(BLANK_TRIPLES), len(TRIPLES), len(KEYED_PAIRS)) == (16, 4, 26, 42)


@pytest.mark.parametrize(("number", "settled"), [(-9, -1), (-1, -1), (0, 0), (2, 2), (3, 3), (9, 3)])
def test_within_keeps_what_is_inside(number: int, settled: int) -> None:
    assert within(number, -1, 3) == settled
