"""The interface that callers of vLLM's pool rely on, the error family, and how the work grows."""

from __future__ import annotations

import copy
import inspect
import os
import pickle
import subprocess
import sys
from dataclasses import fields
from typing import Any

import pytest

from blockpool import impl
from blockpool.impl import (
    AllBlocksCleared,
    BadRange,
    BlockPool,
    BlockPoolError,
    BlockRemoved,
    BlockStored,
    NotHeld,
    Refusal,
    WatcherErrors,
)
from blockpool.proofs.core.sources import ROOT

SIGNATURES = {
    "__init__": [
        "num_gpu_blocks",
        "enable_caching",
        "hash_block_size",
        "enable_kv_cache_events=False",
        "metrics_collector=None",
        "num_hash_lookahead_tokens=0",
        "medium='GPU'",
    ],
    "get_new_blocks": ["num_blocks"],
    "touch": ["blocks"],
    "free_blocks": ["ordered_blocks"],
    "unpin_blocks": ["blocks", "on_reuse"],
    "cancel_watch": ["block", "on_reuse"],
    "is_block_writable": ["block"],
    "is_watched": ["block"],
    "cache_full_blocks": [
        "request",
        "blocks",
        "num_cached_blocks",
        "num_full_blocks",
        "block_size",
        "kv_cache_group_id",
        "block_mask=None",
    ],
    "cache_partial_block": [
        "request",
        "block",
        "num_tokens",
        "kv_cache_group_id",
        "block_size",
        "replace_existing_hashes=False",
    ],
    "move_block_hashes": ["src_block", "dst_block"],
    "evict_blocks": ["block_ids"],
    "reset_prefix_cache": [],
    "get_cached_block": ["block_hash", "kv_cache_group_ids"],
    "get_num_free_blocks": [],
    "get_usage": [],
    "take_events": [],
    "emit_cached_block_events": ["request", "num_cached_blocks", "block_size", "kv_cache_group_id"],
    "keys_of": ["block"],
}


def test_signatures() -> None:
    methods = {n: f for n, f in inspect.getmembers(BlockPool, inspect.isfunction) if n == "__init__" or n[0] != "_"}
    found = {}
    for name, method in methods.items():
        parameters = list(inspect.signature(method).parameters.values())[1:]
        defaults = ["" if p.default is p.empty else f"={p.default!r}" for p in parameters]
        found[name] = [p.name + default for p, default in zip(parameters, defaults, strict=True)]
    assert found == SIGNATURES


def test_event_fields() -> None:
    assert [f.name for f in fields(BlockStored)] == [
        "block_hashes",
        "parent_block_hash",
        "token_ids",
        "block_size",
        "lora_id",
        "medium",
        "lora_name",
        "extra_keys",
        "group_idx",
        "kv_cache_spec_kind",
        "kv_cache_spec_sliding_window",
        "locality",
        "ownership",
        "session_id",
        "lookahead_token_ids",
    ]
    assert [f.name for f in fields(BlockRemoved)] == ["block_hashes", "medium", "group_idx", "locality", "ownership"]
    assert [f.name for f in fields(AllBlocksCleared)] == ["medium"]


REASONS = {
    "NotEnoughFreeBlocks": ("not enough free blocks", ValueError),
    "BadCount": ("bad count", ValueError),
    "UnknownBlock": ("unknown block", RuntimeError, AssertionError),
    "NotHeld": ("not held", AssertionError),
    "NullBlock": ("null block", AssertionError),
    "RepeatedBlock": ("repeated block", AssertionError),
    "AlreadyCached": ("already cached", AssertionError),
    "DifferentContent": ("different content", ValueError),
    "BadRange": ("bad range", AssertionError, IndexError, ValueError),
    "CachingDisabled": ("caching disabled", RuntimeError),
    "ReEntrant": ("re-entrant", RuntimeError),
    "BadWatcher": ("bad watcher", TypeError),
    "NotQueued": ("not queued", RuntimeError),
    "AlreadyQueued": ("already queued", RuntimeError),
}


def test_the_error_family() -> None:
    for name, (reason, *builtins) in REASONS.items():
        error = getattr(impl, name)
        assert error.reason == reason
        assert issubclass(error, (Refusal, *builtins))
        assert all(issubclass(error, builtin) for builtin in builtins), name
        assert error.law
        assert error.remedy
    assert issubclass(Refusal, BlockPoolError)
    assert not issubclass(WatcherErrors, Refusal)


def test_errors_survive_copying_and_pickling() -> None:
    error = NotHeld("free_blocks", "the block is free", 3)
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is NotHeld
        assert twin.block_id == 3
        assert str(twin) == str(error)
    collected = WatcherErrors("get_new_blocks", [ValueError("x")], [1, 2])
    twin = pickle.loads(pickle.dumps(collected))
    assert twin.result == [1, 2]
    assert str(twin) == str(collected)
    assert str(twin.errors) == "[ValueError('x')]"


def test_a_message_says_call_block_law_and_remedy() -> None:
    message = str(BadRange("cache_full_blocks", "blocks 3 to 9 of a list of 5", 7))
    assert message.startswith("cache_full_blocks: bad range (block 7): blocks 3 to 9 of a list of 5. Law: ")
    assert "Remedy: publish only blocks whose hashes exist" in message


def test_everything_exported_exists_and_is_listed_once() -> None:
    assert len(set(impl.__all__)) == len(impl.__all__)
    assert all(hasattr(impl, name) for name in impl.__all__)


COUNT_LINES = """
import gc
import sys
from blockpool.impl import BlockPool, Request

def lines_of(call):
    count = 0
    def trace(frame, event, arg):
        nonlocal count
        count += event == "line"
        return trace
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(None)
    return count

def costs(size, n):
    gc.collect()  # with a second pool around, calls also look for foreign blocks
    pool = BlockPool(size, True, 2)
    big = Request("big", range(2 * size), 2)
    every = pool.get_new_blocks(size - 1)
    pool.cache_full_blocks(big, every, 0, size - 1, 2, 0)
    pool.free_blocks(every)
    new = []
    request = Request("new", [-1] * 2 * n, 2)
    out = [
        lines_of(lambda: pool.touch(every[5:5 + n])),
        lines_of(lambda: pool.free_blocks(every[5:5 + n])),
        lines_of(lambda: new.extend(pool.get_new_blocks(n))),
        lines_of(lambda: pool.cache_full_blocks(request, new, 0, n, 2, 0)),
        lines_of(lambda: pool.get_cached_block(request.block_hashes[0], [0])),
        lines_of(lambda: pool.unpin_blocks(new, print)),
        lines_of(lambda: [pool.cancel_watch(b, print) for b in new]),
        lines_of(lambda: pool.evict_blocks({b.block_id for b in new})),
        lines_of(lambda: pool.get_num_free_blocks()),
    ]
    pool.reset_prefix_cache()
    pool.touch(every[5:5 + n])
    pool.cache_full_blocks(request, every[5:5 + n], 0, n, 2, 0)
    pool.free_blocks(every[5:5 + n])
    return out + [lines_of(pool.reset_prefix_cache)]

small, large = costs(64, 8), costs(4096, 8)
assert small == large, (small, large)
double = costs(4096, 16)
assert all(a <= b <= 2 * a for a, b in zip(large, double)), (large, double)
print("ok", small)
"""


def run(code: str, level: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "BLOCKPOOL_CONTRACTS": level, "PYTHONPATH": str(ROOT)}
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)


def test_work_depends_on_the_call_and_not_on_the_pool() -> None:
    """Executed source lines, contracts off: equal for 64 and 4096 blocks, at most proportional to the call."""
    done = run(COUNT_LINES, "off")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ok")


def test_a_key_with_many_copies_costs_no_more_to_drop() -> None:
    code = """
import sys
from blockpool.impl import BlockPool, Request
pool = BlockPool(2002, True, 2)
request = Request("r", [1, 2], 2)
blocks = pool.get_new_blocks(2000)
for block in blocks:
    pool.cache_full_blocks(request, [block], 0, 1, 2, 0)
def lines_of(call):
    count = 0
    def trace(frame, event, arg):
        nonlocal count
        count += event == "line"
        return trace
    sys.settrace(trace)
    call()
    sys.settrace(None)
    return count
cost = [lines_of(lambda: pool.evict_blocks({block.block_id})) for block in (blocks[0], blocks[1000], blocks[1999])]
assert max(cost) <= min(cost) + 3, cost
"""
    done = run(code, "off")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("optimise", [[], ["-O"]])
def test_refusals_do_not_depend_on_assert(optimise: list[str]) -> None:
    code = """
from blockpool.impl import BlockPool, NotHeld
pool = BlockPool(3, True, 2)
try:
    pool.free_blocks([pool.blocks[1]])
except NotHeld:
    print("refused", pool.blocks[1].ref_cnt)
"""
    env = {**os.environ, "BLOCKPOOL_CONTRACTS": "off", "PYTHONPATH": str(ROOT)}
    command: list[Any] = [sys.executable, *optimise, "-c", code]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.stdout == "refused 0\n", done.stderr


def test_a_pool_is_not_copied() -> None:
    pool = BlockPool(4, True, 2)
    with pytest.raises(TypeError, match="two copies would lend the same blocks"):
        copy.copy(pool)
    with pytest.raises(TypeError, match="cannot be copied"):
        copy.deepcopy(pool)
