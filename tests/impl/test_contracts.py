"""Contract levels: off leaves nothing behind, cheap and full catch planted defects, and none changes a refusal."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from blockpool.impl import BlockPool, KVCacheBlock, Request, contracts
from blockpool.proofs.core.sources import ROOT


def run(code: str, level: str | None) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if key != "BLOCKPOOL_CONTRACTS"}
    env["PYTHONPATH"] = str(ROOT)
    if level is not None:
        env["BLOCKPOOL_CONTRACTS"] = level
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)


WRAPPED = """
import inspect
from blockpool.impl import BlockPool, FreeKVCacheBlockQueue
methods = [f for c in (BlockPool, FreeKVCacheBlockQueue) for _, f in inspect.getmembers(c, inspect.isfunction)]
print(sum(hasattr(f, "__wrapped__") for f in methods))
"""


@pytest.mark.parametrize(("level", "wrapped"), [(None, 0), ("off", 0), ("cheap", 13), ("full", 20)])
def test_each_level_wraps_what_it_checks(level: str | None, wrapped: int) -> None:
    done = run(WRAPPED, level)
    assert done.stdout == f"{wrapped}\n", done.stderr


def test_an_unknown_level_names_the_three() -> None:
    done = run("import blockpool.impl", "on")
    assert done.returncode != 0
    assert "ValueError: BLOCKPOOL_CONTRACTS='on' is not a level of contracts: use off, cheap or full" in done.stderr


def test_the_tests_of_impl_and_of_its_managers_pass_under_contracts() -> None:
    """The level is read once: in a run of all tests, `impl` was imported before these folders could ask for it."""
    if contracts.FULL:
        pytest.skip("they run under contracts in this very process")
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "tests/impl"]
    env = {**os.environ, "BLOCKPOOL_CONTRACTS": "full"}
    done = subprocess.run(command, env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


SETUP = """
import icontract
from blockpool.impl import BlockPool, Request
pool = BlockPool(6, True, 2)
request = Request("r", range(8), 2)
blocks = pool.get_new_blocks(3)
def attempt(call):
    try:
        call()
    except icontract.ViolationError as violation:
        print("caught:", str(violation).splitlines()[0].split(": ", 1)[-1][:30])
    except Exception as error:
        print(type(error).__name__)
    else:
        print("passed")
"""


def planted(defect: str, level: str) -> str:
    done = run(SETUP + defect + "\nattempt(call)", level)
    assert done.returncode == 0, done.stderr
    return done.stdout.split(":")[0].strip()


@pytest.mark.parametrize(
    ("defect", "outcomes"),
    [
        (  # a block is handed out twice: seen in the answer
            "from blockpool.impl import references\nreferences.lend = lambda pool, n: [blocks[0]]\n"
            "pool.metrics_collector = object()\ncall = lambda: pool.get_new_blocks(1)",
            ["passed", "caught", "caught"],
        ),
        (  # publishing forgets the index: seen in the whole structure only
            "from blockpool.impl import HashIndex\nHashIndex.insert = lambda *a: None\n"
            "call = lambda: pool.cache_partial_block(request, blocks[0], 2, 0, 2)",
            ["passed", "passed", "caught"],
        ),
        (  # publishing does nothing at all
            "from blockpool.impl import publish\npublish.cache_unkeyed = lambda *a: True\n"
            "call = lambda: pool.cache_full_blocks(request, blocks, 0, 2, 2, 0)",
            ["passed", "caught", "caught"],
        ),
        (  # a link cut by a stranger
            "pool.blocks[5].prev_free_block = None\ncall = lambda: pool.touch([blocks[0]])",
            ["passed", "passed", "caught"],
        ),
        (  # the counter driven out of range by a stranger
            "pool.free_block_queue.num_free_blocks = 6\ncall = lambda: pool.touch([blocks[0]])",
            ["passed", "caught", "caught"],
        ),
        (  # a wrong call stays a refusal at every level
            "call = lambda: pool.free_blocks([blocks[0], blocks[0]])",
            ["NotHeld", "NotHeld", "NotHeld"],
        ),
        (  # also where a snapshot looks at an argument of the wrong type
            "call = lambda: pool.move_block_hashes(None, None)",
            ["UnknownBlock", "UnknownBlock", "UnknownBlock"],
        ),
    ],
    ids=["lent twice", "index forgotten", "not published", "link cut", "counter", "refusal", "refused snapshot"],
)
def test_what_each_level_catches(defect: str, outcomes: list[str]) -> None:
    assert [planted(defect, level) for level in ("off", "cheap", "full")] == outcomes


def sound() -> BlockPool:
    """Block 1 held and keyed twice, 2 free and keyed, 3 held and watched, 4 and 5 free."""
    pool = BlockPool(6, True, 2)
    request = Request("r", range(8), 2)
    a, b, c = pool.get_new_blocks(3)
    pool.cache_partial_block(request, a, 4, 0, 4)
    pool.cache_partial_block(request, a, 2, 0, 4)
    pool.cache_partial_block(request, b, 2, 0, 4)
    pool.free_blocks([b])
    pool.touch([c])
    pool.unpin_blocks([c], print)
    return pool


def swap_links(pool: BlockPool) -> None:
    first, second = pool.blocks[4], pool.blocks[5]
    first.next_free_block = second.next_free_block


def forget(pool: BlockPool) -> None:
    pool.cached_block_hash_to_block.clear()


def orphan_alias(pool: BlockPool) -> None:
    pool._aliases[pool.blocks[5]] = [(b"x", 0)]


def stray_entry(pool: BlockPool) -> None:
    pool.cached_block_hash_to_block.insert(b"x", 0, pool.blocks[3])


def repeat_alias(pool: BlockPool) -> None:
    pool._aliases[pool.blocks[1]].append(pool.keys_of(pool.blocks[1])[0])


def hold_null(pool: BlockPool) -> None:
    pool.null_block.ref_cnt = 1


def drop_reference(pool: BlockPool) -> None:
    pool.blocks[1].ref_cnt = 0


def go_negative(pool: BlockPool) -> None:
    pool.blocks[1].ref_cnt = -1


def hold_queued(pool: BlockPool) -> None:
    pool.blocks[4].ref_cnt = 1


def watch_twice(pool: BlockPool) -> None:
    pool._watchers[pool.blocks[3]] = [print, print]


def watch_nothing(pool: BlockPool) -> None:
    pool._watchers[pool.blocks[3]] = []


def watch_stranger(pool: BlockPool) -> None:
    pool._watchers[KVCacheBlock(1)] = [print]


def watch_null(pool: BlockPool) -> None:
    pool._watchers[pool.null_block] = [print]


def miscount(pool: BlockPool) -> None:
    pool.free_block_queue.num_free_blocks -= 1


BROKEN: list[tuple[Callable[[BlockPool], Any], Callable[[Any], bool]]] = [
    (swap_links, contracts.queue_links_agree),
    (miscount, contracts.queue_links_agree),
    (drop_reference, contracts.queued_are_the_unheld),
    (go_negative, contracts.queued_are_the_unheld),
    (hold_queued, contracts.queued_are_the_unheld),
    (forget, contracts.index_and_blocks_agree),
    (stray_entry, contracts.index_and_blocks_agree),
    (orphan_alias, contracts.aliases_follow_a_primary),
    (repeat_alias, contracts.aliases_follow_a_primary),
    (hold_null, contracts.null_is_untouched),
    (watch_null, contracts.null_is_untouched),
    (watch_twice, contracts.watchers_are_distinct_and_on_own_blocks),
    (watch_nothing, contracts.watchers_are_distinct_and_on_own_blocks),
    (watch_stranger, contracts.watchers_are_distinct_and_on_own_blocks),
]


@pytest.mark.parametrize(("damage", "predicate"), BROKEN, ids=[damage.__name__ for damage, _ in BROKEN])
def test_each_predicate_sees_its_damage(damage: Callable[[BlockPool], Any], predicate: Callable[[Any], bool]) -> None:
    pool = sound()
    assert predicate(pool)
    assert contracts.pool_is_well_formed(pool)
    damage(pool)
    assert not predicate(pool)
    assert not contracts.pool_is_well_formed(pool)
