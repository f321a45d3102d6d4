"""Each executed defect of vLLM 0.33.0: its recorded trace is rejected by the law and party of the table."""

import re
from dataclasses import replace

import pytest

from blockpool import impl
from blockpool.impl.errors import AlreadyQueued, NotHeld, NotQueued, ReEntrant, WatcherErrors
from blockpool.proofs.cases.bugs.reports import TRACES, Defect, Verdict, vllm_defects
from blockpool.proofs.cases.bugs.vllm_recording import BEHIND_ITS_BACK, RELEASE, Callbacks, recorded, transport_gone
from blockpool.proofs.oracle.adapter import InProcess, started
from blockpool.proofs.oracle.audit import Audit, audit
from blockpool.proofs.systems.ours import ImplPool
from blockpool.proofs.systems.vllm.files import NotFetchedError
from blockpool.proofs.systems.vllm.release import core_release
from blockpool.spec.contract.calls import Start, Started
from blockpool.spec.contract.judge import Judge
from blockpool.spec.contract.profiles import PROFILES, Profile

DEFECTS = vllm_defects().executed
OWN = PROFILES["vllm-0.33"]
NO_DAMAGE = replace(OWN, name="no damage", misuse="tolerant")
# Callbacks fail here. What impl does then is shown one by one.
RAISING = {"C1", "C2", "D-w6-touch", "D-w6-free", "D-w6-unpin"}
LISTED = {f"B{n}" for n in range(1, 15)} | {f"C{n}" for n in range(1, 8)} | {f"D-w{n}" for n in range(1, 7)}

by_defect = pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.id)


def audited(defect: Defect, profile: str | Profile) -> Audit:
    return audit(defect.file, profile)


def verdict(found: Audit) -> Verdict:
    return None if found.breach is None else (found.breach.law, found.breach.party)


def test_every_defect_has_a_trace_or_a_reason() -> None:
    shown = {re.sub(r"-[a-z]+$", "", defect.id) for defect in DEFECTS}
    not_shown = set(vllm_defects().below_the_vocabulary)
    assert shown | not_shown == LISTED
    assert not shown & not_shown
    assert set(TRACES.iterdir()) == {defect.file for defect in DEFECTS}


@by_defect
def test_the_audit_names_law_and_party(defect: Defect) -> None:
    found = [verdict(audited(defect, profile)) for profile in ("strict", OWN, NO_DAMAGE)]
    assert found == [defect.strict, defect.own, defect.damage]


@by_defect
def test_a_trace_is_of_one_pool_of_the_release(defect: Defect) -> None:
    header, entries = defect.trace()
    assert (header.name, header.profile) == (f"vllm {RELEASE}", OWN.name)
    begun, *lines = entries
    assert isinstance(begun.call, Start)
    assert not any(isinstance(line.call, Start) for line in lines)
    assert defect.behind_its_back.keys() <= {line.line for line in lines}
    assert set(defect.behind_its_back.values()) <= BEHIND_ITS_BACK.keys()


@by_defect
def test_a_trace_is_what_the_real_pool_answers(defect: Defect) -> None:
    try:
        adapter = Callbacks(core_release(RELEASE))
    except NotFetchedError as missing:
        pytest.skip(str(missing))
    assert recorded(defect, adapter) == defect.file.read_bytes()


# --- the same on the pool of this project ---


@pytest.mark.parametrize("defect", [one for one in DEFECTS if one.id not in RAISING], ids=lambda defect: defect.id)
def test_impl_keeps_every_law_under_the_same_calls(defect: Defect) -> None:
    subject = InProcess(ImplPool())
    start, *calls = [entry.call for entry in defect.trace()[1]]
    assert isinstance(start, Start)
    begun = started(subject, start)
    assert isinstance(begun, Started)
    judge = Judge("strict", start, begun, subject.operations)
    assert [judge.judge(call, subject.ask(call)) for call in calls] == [None] * len(calls)
    assert judge.wrong_calls == (defect.strict == ("a_wrong_call_is_refused", "pool"))


def test_impl_finishes_a_call_whose_callbacks_raise() -> None:
    """C1, C2: every watcher is told, and the error carries the result."""
    pool, request, late = impl.BlockPool(5, True, 1), impl.Request("r", [7], 1), list[object]()
    blocks = pool.get_new_blocks(2)
    pool.unpin_blocks(blocks, transport_gone)
    with pytest.raises(WatcherErrors) as caught:
        pool.get_new_blocks(4)
    assert pool.get_num_free_blocks() == 0
    pool.free_blocks(caught.value.result)
    assert pool.get_num_free_blocks() == 4
    (block, other) = pool.get_new_blocks(2)
    pool.cache_full_blocks(request, [block], 0, 1, 1, 0)
    pool.unpin_blocks([block], transport_gone)
    pool.unpin_blocks([other], late.append)
    with pytest.raises(WatcherErrors):
        pool.reset_prefix_cache()
    assert late == [other]
    assert block.block_hash is None
    assert pool.get_cached_block(request.block_hashes[0], [0]) is None


@pytest.mark.parametrize(("deed", "more"), [("touch", ()), ("free_blocks", ()), ("unpin_blocks", (print,))])
def test_impl_refuses_a_callback_that_changes_the_pool(deed: str, more: tuple[object, ...]) -> None:
    """D-w6: the call goes on, and nothing is lost."""
    pool = impl.BlockPool(4, True, 1)
    pool.unpin_blocks(pool.get_new_blocks(1), lambda block: getattr(pool, deed)([block], *more))
    with pytest.raises(WatcherErrors) as caught:
        pool.get_new_blocks(3)
    assert [type(error) for error in caught.value.errors] == [ReEntrant]
    assert [block.ref_cnt for block in caught.value.result] == [1, 1, 1]


def test_impl_has_no_way_to_lose_a_key_behind_the_index() -> None:
    """B12."""
    block = impl.BlockPool(2, True, 1).get_new_blocks(1)[0]
    assert not hasattr(block, "reset_hash")
    with pytest.raises(AttributeError):
        block.block_hash = None  # type: ignore[misc]


def test_impl_refuses_to_queue_a_block_twice() -> None:
    """B13."""
    pool = impl.BlockPool(5, True, 1)
    queue, queued = pool.free_block_queue, pool.blocks[3]
    for refused in (lambda: queue.append(queued), lambda: queue.append_n([queued]), lambda: queue.prepend_n([queued])):
        with pytest.raises(AlreadyQueued):
            refused()
    assert [block.block_id for block in queue.get_all_free_blocks()] == [1, 2, 3, 4]


def test_impl_refuses_a_walk_that_has_lost_its_place() -> None:
    """B14."""
    pool = impl.BlockPool(5, True, 1)
    queue = pool.free_block_queue
    walk = queue.iter_blocks_after(pool.blocks[2])
    assert next(walk).block_id == 3
    pool.touch([pool.blocks[4]])
    with pytest.raises(NotQueued):
        next(walk)
    with pytest.raises(NotQueued):
        queue.iter_blocks_after(pool.blocks[4])


def test_impl_releases_nothing_if_the_blocks_end_in_an_error() -> None:
    """C6."""
    pool = impl.BlockPool(5, True, 1)
    held = pool.get_new_blocks(2)
    with pytest.raises(IndexError):
        pool.free_blocks(pool.blocks[number] for number in (1, 2, 99))
    assert [block.ref_cnt for block in held] == [1, 1]
    pool.free_blocks(held)
    with pytest.raises(NotHeld):
        pool.free_blocks(held)
