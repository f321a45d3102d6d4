"""The plug-in: what the environment asks for, on a toy vLLM."""

import logging
import os
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import blockpool.proofs.systems.vllm.plugin
from blockpool.impl import BlockPool, NotHeld, UnknownBlock
from blockpool.impl.vllm.replace import SUPPORTED, UnsupportedVllmError, replace
from blockpool.proofs.core.sources import ROOT
from blockpool.proofs.oracle.audit import audit
from blockpool.proofs.systems.vllm.monitor import listen_to_vllm
from blockpool.proofs.systems.vllm.plugin import Settings, start
from blockpool.proofs.systems.vllm.watch import watch
from tests.proofs.systems.vllm import toy_vllm
from tests.proofs.systems.vllm.toy_vllm import KVCacheBlock, Request, external


@pytest.fixture
def block_pool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    return toy_vllm.install(monkeypatch)


def settings(**environment: str) -> Settings:
    return Settings.read({f"BLOCKPOOL_{name}": value for name, value in environment.items()})


# --- the environment ---


def test_without_the_variable_nothing_is_done(block_pool: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BLOCKPOOL_VLLM", raising=False)
    monkeypatch.setenv("BLOCKPOOL_VLLM_COMPAT", "whatever")
    before = block_pool.BlockPool
    start()
    assert block_pool.BlockPool is before


@pytest.mark.parametrize(
    ("environment", "complaint"),
    [
        ({"VLLM": "replay"}, "replay"),
        ({"VLLM": "record,watch", "VLLM_TRACE": "/tmp"}, "record"),
        ({"VLLM": "record"}, "BLOCKPOOL_VLLM_TRACE"),
        ({"VLLM": "watch", "VLLM_ON_BREACH": "panic"}, "log or raise"),
        ({"VLLM": "replace", "VLLM_COMPAT": "yes"}, "0 or 1"),
        ({"VLLM": "watch", "VLLM_COMPAT": "1"}, "is about BLOCKPOOL_VLLM=replace"),
        ({"VLLM": " "}, "replace"),
    ],
)
def test_what_cannot_be_meant_is_refused(environment: dict[str, str], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        settings(**environment)


def test_the_environment_is_read(tmp_path: Path) -> None:
    found = settings(VLLM="replace, record", VLLM_TRACE=str(tmp_path), VLLM_PROFILE="lru", VLLM_ON_BREACH="raise")
    assert found == Settings(frozenset({"replace", "record"}), False, tmp_path, "lru", True)


def test_the_plug_in_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, _, name = project["entry-points"]["vllm.general_plugins"]["blockpool"].partition(":")
    assert getattr(import_module(module), name) is start
    assert project["optional-dependencies"]["vllm"] == [f"vllm=={SUPPORTED[-1]}"]


@pytest.mark.parametrize("mode", ["replace", "watch"])
def test_a_release_that_is_not_known_is_refused_and_left_as_it_was(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = toy_vllm.install(monkeypatch, "0.34.0")
    before = module.BlockPool
    construct = before.__init__
    monkeypatch.setenv("BLOCKPOOL_VLLM", mode)
    with pytest.raises(UnsupportedVllmError, match=r"knows vLLM 0\.33\.0, this is 0\.34\.0\. Nothing was changed"):
        start()
    assert module.BlockPool is before
    assert before.__init__ is construct


def test_it_starts_once_in_a_process(block_pool: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLOCKPOOL_VLLM", "replace")
    monkeypatch.setattr(blockpool.proofs.systems.vllm.plugin, "_started", False)
    start()
    ours = block_pool.BlockPool
    start()
    assert block_pool.BlockPool is ours
    assert ours.__name__ == "VllmBlockPool"


# --- replace ---


def test_every_name_and_every_subclass_follows_and_comes_back(
    block_pool: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = block_pool.BlockPool
    user = ModuleType("vllm_user")
    user.Imported, user.Derived = theirs, type("Derived", (theirs,), {})  # type: ignore[attr-defined]
    named = import_module("blockpool.impl.vllm.pool").VllmBlockPool  # imports vLLM's types, the toy's here
    user.Ours, user.Mine = named, type("Mine", (named,), {})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "vllm_user", user)
    undo = replace()
    ours = block_pool.BlockPool
    late = ModuleType("vllm_late")
    late.Imported = ours  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "vllm_late", late)
    assert user.Imported is ours is not theirs  # type: ignore[attr-defined]
    assert isinstance(user.Derived(8, True, 4), ours)  # type: ignore[attr-defined]
    undo()
    assert block_pool.BlockPool is user.Imported is late.Imported is theirs  # type: ignore[attr-defined]
    assert user.Ours is ours is named, "who asked for ours by name keeps it"  # type: ignore[attr-defined]
    assert user.Derived.__bases__ == (theirs,)  # type: ignore[attr-defined]
    assert user.Mine.__bases__ == (named,)  # type: ignore[attr-defined]


def test_it_is_not_replaced_twice(block_pool: ModuleType) -> None:
    undo = replace()
    with pytest.raises(UnsupportedVllmError, match="already"):
        replace()
    undo()
    replace()()


def ours(compat: bool = False, **kwargs: Any) -> Any:
    undo = replace(compat)
    pool = sys.modules["vllm.v1.core.block_pool"].BlockPool(8, True, 4, True, **kwargs)  # type: ignore[attr-defined]
    undo()
    return pool


def test_events_are_of_vllms_classes_wherever_they_are_read(block_pool: ModuleType) -> None:
    pool, request = ours(), Request("r", session_id="s")
    blocks = pool.get_new_blocks(2)
    pool.cache_full_blocks(request, blocks, 0, 2, 4, 3)
    named = [external(digest) for digest in request.block_hashes]
    stored = pool.kv_event_queue[0]
    assert isinstance(stored, toy_vllm.BlockStored)
    assert (stored.block_hashes, stored.parent_block_hash, stored.token_ids) == (named[:2], None, list(range(8)))
    assert (stored.extra_keys, stored.group_idx, stored.session_id) == ([(("salt", 0),), (("salt", 4),)], 3, "s")
    pool.evict_blocks({blocks[1].block_id})
    pool.kv_event_queue.append("theirs")
    pool.free_blocks(blocks)
    assert pool.reset_prefix_cache()
    assert pool.take_events()[1:] == [
        toy_vllm.BlockRemoved([named[1]], "GPU", 3),
        "theirs",
        toy_vllm.AllBlocksCleared(),
    ]
    pool.kv_event_queue.append("the next")
    assert pool.take_events() == ["the next"]


def test_the_inner_methods_that_vllm_uses(block_pool: ModuleType) -> None:
    pool, request = ours(), Request("r")
    block, free = pool.get_new_blocks(1)[0], pool.blocks[5]
    first, second = (digest + b"\0\0\0\2" for digest in request.block_hashes[:2])
    pool._insert_block_hash(second, block, 8)
    pool._insert_block_hash(first, block, None)
    index = pool.cached_block_hash_to_block
    assert index.get_one_block(first) is index.get_one_block(second) is block
    assert index.contain(first, block.block_id)
    assert not index.contain(first, 0)
    assert pool.cached_block_hashes_by_block == {block.block_id: {first}}
    assert pool.cached_block_hashes_by_block.get(7, ()) == ()
    with pytest.raises(NotHeld):
        pool._insert_block_hash(first, free, 4)
    assert pool._maybe_evict_cached_block(block)
    assert not pool._maybe_evict_cached_block(block)
    assert pool.cached_block_hashes_by_block == {}
    assert index.get_one_block(first) is None


# --- what the switch tolerates ---


def test_blocks_that_no_pool_made_are_refused_unless_tolerated(block_pool: ModuleType) -> None:
    request, stand_in = Request("r"), KVCacheBlock(1)
    with pytest.raises(UnknownBlock):
        ours().cache_full_blocks(request, [stand_in], 0, 1, 4, 0)
    with pytest.raises(UnknownBlock):
        ours().free_blocks([stand_in])
    pool = ours(compat=True)
    pool.cache_full_blocks(request, [stand_in, *pool.get_new_blocks(1)], 0, 2, 4, 0)
    assert stand_in.block_hash == request.block_hashes[0] + bytes(4)
    assert pool.get_cached_block(request.block_hashes[0], [0]) == [stand_in]
    assert pool.get_cached_block(request.block_hashes[1], [0]) == [pool.blocks[1]]
    pool.free_blocks([stand_in, pool.blocks[1]])
    assert pool.get_num_free_blocks() == 7


def test_whoever_writes_the_index_writes_the_blocks(block_pool: ModuleType) -> None:
    pool = ours(compat=True)
    index, block, null = pool.cached_block_hash_to_block, pool.blocks[3], pool.null_block
    key, other = b"k" * 32 + bytes(4), b"o" * 32 + bytes(4)
    block.set_block_hash(key, 4)
    index.insert(key, block)
    index.insert(other, block)
    null.set_block_hash(key)
    assert index._cache == {key: {3: block, 0: null}, other: block}
    assert index._cache.values() == [{3: block, 0: null}, block]
    assert index.pop(key, 3) is block
    assert pool.keys_of(block) == ((b"o" * 32, 0),)
    assert index.pop(key, 3) is None
    saved = index._cache.pop(other)
    assert pool.keys_of(block) == ()
    index._cache[other] = saved
    assert block.block_hash == other
    block._block_hash = key
    assert (block._block_hash, index.get_one_block(other)) == (key, None)
    index._cache.clear()
    assert not len(index)
    assert block.block_hash is null.block_hash is None


def test_parents_and_hits_are_told_as_vllm_tells_them(block_pool: ModuleType) -> None:
    request = Request("r")
    parents = []
    for compat in (False, True):
        pool = ours(compat)
        pool.cache_full_blocks(request, pool.get_new_blocks(2), 1, 2, 4, 0)
        pool.emit_cached_block_events(request, 1, 4, 0)
        parents.append([event.parent_block_hash for event in pool.take_events()])
    assert parents == [[None], [external(request.block_hashes[0]), None]]


# --- record and watch ---


def test_each_pool_leaves_a_trace(block_pool: ModuleType, tmp_path: Path) -> None:
    undo = listen_to_vllm(settings(VLLM="record", VLLM_TRACE=str(tmp_path)))
    for _ in range(2):
        pool = block_pool.BlockPool(8, True, 4)
        pool.get_new_blocks(3)
        pool.heard_by._listener.__self__._writer.file.flush()
    undo()
    block_pool.BlockPool(8, True, 4)
    traces = [audit(path) for path in sorted(tmp_path.glob(f"pool-{os.getpid()}-*.jsonl"))]
    assert [(trace.calls, trace.breach, trace.profile.name) for trace in traces] == [(2, None, "strict")] * 2
    assert traces[0].header.name == "vllm.v1.core.block_pool.BlockPool in vLLM 0.33.0"


def test_an_unknown_profile_is_refused_at_once(block_pool: ModuleType) -> None:
    construct = block_pool.BlockPool.__init__
    with pytest.raises(ValueError, match="there is no profile"):
        listen_to_vllm(settings(VLLM="watch", VLLM_PROFILE="vllm-9"))
    assert block_pool.BlockPool.__init__ is construct


def watched(**environment: str) -> tuple[Any, Any]:
    """A pool that is watched, and its scheduler."""
    undo = listen_to_vllm(settings(VLLM="watch", **environment))
    pool = sys.modules["vllm.v1.core.block_pool"].BlockPool(8, True, 4, True)  # type: ignore[attr-defined]
    scheduler = sys.modules["vllm.v1.core.sched.scheduler"].Scheduler(pool)  # type: ignore[attr-defined]
    scheduled = type(scheduler).schedule
    undo()
    type(scheduler).schedule = scheduled
    return pool, scheduler


def test_a_right_pool_and_a_right_scheduler_raise_no_alarm(
    block_pool: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    pool, scheduler = watched()
    computed = Request("c", num_computed_tokens=4)
    for drop in (False, True):
        scheduler.schedule([Request("a"), computed], drop)  # what is dropped was computed before
    pool.take_events()
    assert pool.passes.passes == 2
    assert not caplog.records


def test_what_is_published_and_dropped_in_one_pass_is_reported_at_its_end(
    block_pool: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    _, scheduler = watched()
    scheduler.schedule([Request("a")])
    assert not caplog.records
    with caplog.at_level(logging.ERROR, "blockpool.watch"):
        scheduler.schedule([Request("b"), Request("c")], drop=True)
    assert "request 'c' published block 3 as its first 4 tokens, of which 0 were computed" in caplog.text
    assert "what_is_published_is_written_in_the_same_pass" in caplog.text


def test_what_is_dropped_and_taken_back_is_no_breach(
    block_pool: ModuleType, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool, scheduler = watched()
    free = pool.free_blocks
    monkeypatch.setattr(
        pool, "free_blocks", lambda blocks: (pool.evict_blocks({b.block_id for b in blocks}), free(blocks))
    )
    scheduler.schedule([Request("a")], drop=True)
    assert not caplog.records


def test_a_broken_law_is_logged(block_pool: ModuleType, caplog: pytest.LogCaptureFixture) -> None:
    pool, _ = watched()
    block = pool.get_new_blocks(1)[0]
    pool.free_block_queue.append(block)  # the pool lends it again
    with caplog.at_level(logging.ERROR, "blockpool.watch"):
        pool.get_num_free_blocks()
    assert "free_is_what_is_not_held" in caplog.text


@pytest.mark.parametrize("listening", [True, False])
def test_references_taken_at_the_block_itself_are_heard(
    listening: bool, block_pool: ModuleType, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not listening:
        monkeypatch.setattr("blockpool.proofs.systems.vllm.monitor.count_behind", lambda _: lambda: None)
    undo = listen_to_vllm(settings(VLLM="watch"))
    pool = block_pool.BlockPool(8, True, 4)
    block = pool.get_new_blocks(1)[0]
    block.ref_cnt += 1
    pool.free_blocks([block, block])
    undo()
    assert block.ref_cnt == 0
    assert bool(caplog.records) is not listening


def test_a_class_that_answers_from_elsewhere_is_not_watched(block_pool: ModuleType) -> None:
    undo = listen_to_vllm(settings(VLLM="watch"))
    looks_up = type("LooksUp", (block_pool.BlockPool,), {"get_cached_block": lambda *_: ["something"]})
    shares = type("Shares", (block_pool.BlockPool,), {"more": True})
    assert not hasattr(looks_up(8, True, 4), "heard_by")
    assert hasattr(shares(8, True, 4), "heard_by")
    undo()


def test_the_plain_pool_of_the_project_is_left_alone(block_pool: ModuleType) -> None:
    undo = listen_to_vllm(settings(VLLM="watch"))
    assert not hasattr(BlockPool(8, True, 4), "heard_by")
    undo()


@pytest.mark.parametrize("heard", [True, False])
def test_keys_that_change_through_inner_methods_are_heard(
    heard: bool, block_pool: ModuleType, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not heard:
        monkeypatch.setattr("blockpool.proofs.systems.vllm.instrument.INNER", ())
    undo = replace()
    pool, _ = watched()
    undo()
    request, blocks = Request("r"), pool.get_new_blocks(2)
    pool.cache_full_blocks(request, blocks[:1], 0, 1, 4, 0)
    pool.emit_cached_block_events(request, 1, 4, 0)
    assert len(pool.take_events()) == 2
    assert pool._maybe_evict_cached_block(blocks[0])
    pool._insert_block_hash(request.block_hashes[1] + bytes(4), blocks[1], 8)
    pool._insert_block_hash(request.block_hashes[0] + bytes(4), blocks[1], None)
    assert pool.get_cached_block(request.block_hashes[0], [0]) == [blocks[1]]
    assert len(pool.take_events()) == 1  # who inserts keys has to write their Stored himself
    pool.free_blocks(blocks)
    assert pool.get_new_blocks(1) == [blocks[0]]
    assert bool(caplog.records) is not heard


def test_a_pool_that_inserts_keys_while_it_publishes_is_judged_by_its_events(block_pool: ModuleType) -> None:
    class Silent(BlockPool):
        """It publishes through an inner method, as vLLM's does, and forgets the Stored."""

        def cache_full_blocks(self, request: Any, blocks: Any, *_: Any) -> None:
            self._insert_block_hash(request.block_hashes[0] + bytes(4), blocks[0], 4)

        def _insert_block_hash(self, key: bytes, block: Any, num_tokens: int) -> None:
            super().cache_full_blocks(Request("r"), [block], 0, 1, 4, 0)
            self.kv_event_queue.clear()

    pool, laws = Silent(8, True, 4, True), list[str]()
    with watch(pool, on_breach=lambda breach, _: laws.append(breach.law)):
        pool.cache_full_blocks(Request("r"), pool.get_new_blocks(1), 0, 1, 4, 0)
        assert laws == []
        pool.take_events()
    assert laws == ["events_mirror_the_index"]


def test_events_of_another_pool_in_the_same_queue_are_not_judged(
    block_pool: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    undo = listen_to_vllm(settings(VLLM="watch"))

    class Host(block_pool.BlockPool):  # type: ignore[misc, name-defined]
        def __init__(self, owner: Any, *args: Any) -> None:
            self._event_owner = owner
            super().__init__(*args, medium="CPU")

    device = block_pool.BlockPool(8, True, 4, True)
    host = Host(device, 8, True, 4, True)
    undo()
    host.kv_event_queue = device.kv_event_queue
    host.cache_full_blocks(Request("r"), host.get_new_blocks(1), 0, 1, 4, 0)
    assert [event.medium for event in device.take_events()] == ["CPU"]
    assert not caplog.records
