"""Proofs about the source of a free queue: ours, one without checks, and vLLM's."""

import os
from pathlib import Path

import pytest

from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.prove.queue.obligations import queue_obligations, source_obligations
from blockpool.proofs.prove.queue.source import BadSourceError, parse_queue, read_queue

OURS = "blockpool.impl.free_queue:FreeKVCacheBlockQueue"
UNCHECKED = f"{Path(__file__).with_name('unchecked_queue.py')}:UncheckedQueue"
MISSING_CHECKS = {
    "__init__ refuses a queued block",
    "__init__ refuses a repeated block",
    "popleft_n refuses a negative count",
    "append refuses a queued block",
    "append_n refuses a queued block",
    "append_n refuses a repeated block",
    "prepend_n refuses a queued block",
    "prepend_n refuses a repeated block",
}


def short(name: str) -> str:
    return name.partition(".")[2]


@pytest.mark.parametrize(
    ("method", "promises"),
    [
        ("__init__", 3), ("popleft", 2), ("popleft_n", 3), ("remove", 2), ("remove_n", 3), ("append", 2),
        ("append_n", 3), ("prepend_n", 3), ("get_all_free_blocks", 1), ("iter_blocks_after", 2),
    ],
)  # fmt: skip
def test_every_promise_of_our_queue_is_proved_at_any_length(method: str, promises: int) -> None:
    obligations = list(queue_obligations(read_queue(OURS), seeds=(0,), methods=[method]))
    assert [o.verdict for o in obligations] == [Verdict.HOLDS] * promises, [o.words for o in obligations]
    assert all(o.method == "prove" and o.scope == "any length" for o in obligations)
    assert all(o.figures["left out"] == "@keeps_links_sound" for o in obligations)


def test_a_queue_without_checks_is_right_for_legal_calls_and_refuted_for_each_missing_check() -> None:
    obligations = source_obligations(UNCHECKED, seeds=(0,))
    refuted = {short(o.name): o.words for o in obligations if o.verdict == Verdict.REFUTED}
    assert set(refuted) == MISSING_CHECKS
    assert {o.verdict for o in obligations if short(o.name) not in refuted} == {Verdict.HOLDS}
    assert refuted["append refuses a queued block"].splitlines()[1:] == [
        "before   head - 1 - tail, counted 1",
        "call     append(1) returns",
        "promised refuses a queued block",
        "after    head > 1 > tail; backwards tail > 1 > 1 > 1 > 1 > 1 > ...; counted 2",
    ]
    assert "popleft_n(-1) returns []" in refuted["popleft_n refuses a negative count"]


def test_the_queue_of_vllm_0_33_is_right_for_legal_calls_and_lacks_these_checks() -> None:
    file = os.environ.get("BLOCKPOOL_VLLM_KV_CACHE_UTILS", "")
    if not Path(file).is_file():
        pytest.skip("BLOCKPOOL_VLLM_KV_CACHE_UTILS does not name kv_cache_utils.py of vLLM 0.33")
    obligations = source_obligations(f"{file}:FreeKVCacheBlockQueue", seeds=(0,))
    refuted = {short(o.name) for o in obligations if o.verdict == Verdict.REFUTED}
    assert refuted == MISSING_CHECKS | {"iter_blocks_after refuses a cursor that is not queued"}
    assert {o.verdict for o in obligations if short(o.name) not in refuted} == {Verdict.HOLDS}


def test_a_method_without_a_stated_promise_is_inconclusive() -> None:
    text = Path(UNCHECKED.rpartition(":")[0]).read_text() + "\n    def rotate(self):\n        pass\n"
    last = list(queue_obligations(parse_queue(text, "UncheckedQueue"), seeds=(0,)))[-1]
    assert (last.name, last.verdict) == ("UncheckedQueue.rotate", Verdict.INCONCLUSIVE)


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("FreeKVCacheBlockQueue", "does not name a class"),
        ("no_such_module:Queue", "no module no_such_module"),
        ("no/such/file.py:Queue", "there is no file"),
        ("blockpool.impl.free_queue:Nothing", "there is no class Nothing"),
        ("blockpool.impl.hash_index:BlockHashToBlockMap", "cannot be built|not one counter|no class"),
    ],
)
def test_a_source_that_is_no_queue_is_refused_with_the_reason(where: str, words: str) -> None:
    with pytest.raises(BadSourceError, match=words):
        read_queue(where)
