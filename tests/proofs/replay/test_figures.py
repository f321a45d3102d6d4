"""What a replay counts, against workloads small enough to be computed by hand, and against a second way to count."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from blockpool.proofs.core.sources import ROOT
from blockpool.proofs.replay import TraceRequest, replay, requests_from_file, synthetic_requests

RECORDED = Path(__file__).parent / "recorded.jsonl"
REAL = ROOT.parent / "shared" / "traces" / "mooncake_conversation.jsonl"


def prompt(*ids: int, output: int = 1, tokens: int | None = None) -> TraceRequest:
    """A request for full blocks of 512 tokens, unless `tokens` says otherwise; with one token of output."""
    return TraceRequest(512 * len(ids) if tokens is None else tokens, output, ids)


def hits_of_an_endless_pool(requests: list[TraceRequest], block_size: int) -> int:
    """The tokens found if nothing is ever evicted: counted from the ids alone, without any pool."""
    seen: set[int] = set()
    tokens = 0
    for request in requests:
        blocks = request.full_blocks(block_size)
        for block in blocks[: (request.input_length - 1) // block_size]:
            if block not in seen:
                break
            tokens += block_size
        seen.update(blocks)
    return tokens


def without_time(report):
    return replace(report, seconds=0.0)


@pytest.mark.parametrize("lockstep", [True, False])
def test_a_hit_never_covers_the_whole_prompt(lockstep):
    # The second request could find all three blocks, but its last token must be computed: two blocks, 1024 tokens.
    report = replay([prompt(1, 2, 3), prompt(1, 2, 3)], blocks=10, lockstep=lockstep)
    assert (report.prompt_tokens, report.hit_tokens, report.evictions) == (3072, 1024, 0)
    assert report.hit_rate == 1024 / 3072
    # One token more, and the three blocks may be hits.
    report = replay([prompt(1, 2, 3), prompt(1, 2, 3, 4, tokens=1537)], blocks=10, lockstep=lockstep)
    assert report.hit_tokens == 1536


@pytest.mark.parametrize("lockstep", [True, False])
def test_hits_and_evictions_of_three_requests(lockstep):
    # Blocks 1..4. Request a (ids 1 2) gets 1 2, and gives back 2 1; the queue is 3 4 2 1.
    # Request b (ids 3 4 5) gets 3 4 2: block 2, which held id 2, is evicted. It gives back 2 4 3; the queue is 1 2 4 3.
    # Request c (ids 1 2) finds block 1, 512 tokens, and gets block 2, which held id 5: evicted.
    report = replay([prompt(1, 2), prompt(3, 4, 5), prompt(1, 2)], blocks=4, lockstep=lockstep)
    assert (report.requests, report.finished, report.skipped_too_large, report.preemptions) == (3, 3, 0, 0)
    assert (report.prompt_tokens, report.hit_tokens, report.evictions) == (3584, 512, 2)
    assert (report.peak_used, report.leaked_blocks, report.mismatch) == (3, 0, None)
    # Each: one question for room, one allocation, one publication, one release. Lookups: a and b miss at once; c may
    # find one block at most, and does.
    assert report.calls_by_method == {
        "cache_full_blocks": 3,
        "free_blocks": 3,
        "get_cached_block": 3,
        "get_new_blocks": 3,
        "get_num_free_blocks": 3,
        "take_events": 4 if lockstep else 3,  # after each pass, and at the end to compare
        "touch": 1,
    }


@pytest.mark.parametrize("lockstep", [True, False])
def test_preemption_in_a_tiny_pool(lockstep):
    # Two requests that need 3 blocks each (512 + 1025 - 1 tokens), and 4 blocks. Pass 1 admits a (block 1), pass 2 b
    # (block 2), and a grows by block 3, pass 3 gives b block 4. In pass 34 a has 1024 tokens and needs a third block,
    # and b, with 1008 tokens, is preempted: the queue is 4 2, and a gets 4. Then b needs 2 blocks, 1 is free (its own
    # prompt block), so it waits until a is done, at the end of pass 65. The last block of a was filled by then, but
    # nothing was scheduled afterwards, so it is not published: the queue is 4 2 3 1. b starts again with block 2 as a
    # hit, which does not count, and block 4; in pass 68 it gets block 3, which a had published: one eviction.
    requests = [prompt(1, output=1025), prompt(2, output=1025)]
    report = replay(requests, blocks=4, lockstep=lockstep)
    assert (report.finished, report.preemptions, report.evictions) == (2, 1, 1)
    assert (report.prompt_tokens, report.hit_tokens, report.peak_used) == (1024, 0, 4)
    assert report.calls_by_method["touch"] == 1
    assert "evict_blocks" not in report.calls_by_method  # what b had published was written
    assert report.leaked_blocks == 0


@pytest.mark.parametrize("events", [True, False])
def test_preemption_in_the_pass_of_the_admission(events):
    # Four blocks. In pass 2 b is admitted and publishes three blocks, then a grows and finds none: b is preempted
    # before anything is computed, and its keys are withdrawn. a is done after this pass (512 + 17 - 1 tokens). So b,
    # admitted again in pass 3, finds nothing, and c, which starts like b, finds what b computed: two blocks.
    requests = [prompt(1, output=17), prompt(7, 8, 9), prompt(7, 8, 6)]
    report = replay(requests, blocks=4, full_every=1, events=events)
    assert (report.verdict, report.finished, report.preemptions) == ("agreed", 3, 1)
    assert (report.hit_tokens, report.calls_by_method["evict_blocks"], report.calls_by_method["touch"]) == (1024, 1, 1)


def test_a_request_too_large_for_the_pool_is_skipped():
    # 1024 tokens fit into two blocks, and so does one output token, which is never computed; a second one does not.
    report = replay([prompt(1, 2), prompt(1, 2, output=2), prompt(1, 2, 3)], blocks=2)
    assert (report.requests, report.finished, report.skipped_too_large) == (3, 1, 2)
    assert report.prompt_tokens == 1024  # of the one that was started
    report = replay([prompt(1, output=10**18)], blocks=2)
    assert (report.finished, report.skipped_too_large, report.calls) == (0, 1, 1)
    assert report.verdict == "agreed"


@pytest.mark.parametrize(("concurrency", "peak"), [(1, 2), (2, 4), (5, 10), (64, 10)])
def test_no_more_requests_run_at_a_time_than_allowed(concurrency, peak):
    # Each of the five needs two blocks and 25 passes, while one request arrives a pass.
    report = replay([prompt(n, output=400) for n in range(5)], blocks=100, concurrency=concurrency)
    assert (report.finished, report.peak_used) == (5, peak)


def test_smaller_blocks_find_more():
    # 1000 tokens: three full blocks of 256, or one of 512.
    twice = [prompt(7, 9, tokens=1000)] * 2
    assert replay(twice, blocks=20, block_size=512).hit_tokens == 512
    assert replay(twice, blocks=20, block_size=256).hit_tokens == 768
    with pytest.raises(ValueError, match="does not divide"):
        replay(twice, blocks=20, block_size=100)


def test_output_is_private():
    # Both fill a second block with output; the prompt is all that the second one finds. A prompt that has room for more
    # hits than there are shared blocks does not find output either.
    report = replay([prompt(1, output=600), prompt(1, 2, output=600), prompt(1, 3, 4)], blocks=20, concurrency=1)
    assert report.hit_tokens == 512 + 512


@pytest.mark.parametrize("events", [True, False])
@pytest.mark.parametrize("block_size", [512, 256])
def test_the_recorded_trace_finds_what_it_must_if_nothing_is_evicted(block_size, events):
    requests = requests_from_file(RECORDED)
    assert len(requests) == 60
    report = replay(requests, blocks=900, block_size=block_size, full_every=50, events=events)
    assert (report.verdict, report.evictions, report.finished) == ("agreed", 0, 60)
    assert report.hit_tokens == hits_of_an_endless_pool(requests, block_size)
    assert report.full_comparisons == report.calls // 50 + 1


def test_the_recorded_trace_under_pressure_is_the_same_each_time_and_in_both_modes():
    requests = requests_from_file(RECORDED)
    first, second = (replay(requests, blocks=60, concurrency=8) for _ in range(2))
    assert without_time(first) == without_time(second)
    assert first.verdict == "agreed"
    assert first.evictions > 90
    assert first.preemptions > 0
    without_events = replay(requests, blocks=60, concurrency=8, events=False)
    assert without_time(without_events) == replace(without_time(first), events=False)
    alone = replay(requests, blocks=60, concurrency=8, lockstep=False)
    assert alone.verdict == "timed"
    for figure in ("finished", "preemptions", "prompt_tokens", "hit_tokens", "evictions", "peak_used", "leaked_blocks"):
        assert getattr(alone, figure) == getattr(first, figure)


def test_a_synthetic_workload_agrees():
    report = replay(synthetic_requests(80, 5), blocks=80, concurrency=8, full_every=100)
    assert report.verdict == "agreed"
    assert report.evictions > 0
    assert report.hit_rate > 0.2


def test_the_real_trace_agrees():
    if not REAL.exists():
        pytest.skip(f"the real trace is not part of the repository and not at {REAL}")
    requests = requests_from_file(REAL, limit=200)
    report = replay(requests, blocks=400, concurrency=16)
    assert (report.verdict, report.finished + report.skipped_too_large) == ("agreed", 200)
    assert report.evictions > 1000


@pytest.mark.parametrize("events", [True, False])
def test_a_run_full_of_preemptions_agrees(events):
    # A few more blocks than the longest request needs, and long outputs.
    chats = [replace(request, output_length=4 * request.output_length) for request in synthetic_requests(300, 7)]
    most = max(-(-request.computed_length // 512) for request in chats)
    report = replay(chats, blocks=most + 5, full_every=100, events=events)
    assert (report.verdict, report.finished, report.leaked_blocks) == ("agreed", 300, 0)
    assert report.preemptions >= 100
    assert report.calls_by_method["evict_blocks"] >= 5  # withdrawn in the pass that published
    assert report.full_comparisons == report.calls // 100 + 1


@pytest.mark.parametrize("lockstep", [True, False])
def test_an_interrupt_leaves_a_partial_report(lockstep):
    def stop_at_two(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    requests = [prompt(n, n + 1) for n in range(0, 20, 2)]
    report = replay(requests, blocks=10, lockstep=lockstep, progress=stop_at_two)
    assert (report.interrupted, report.verdict, report.finished) == (True, "interrupted", 2)
    assert (report.requests, report.leaked_blocks) == (10, None)
    assert report.calls > 0


def test_progress_counts_every_request_once():
    seen = []
    requests = [prompt(1), prompt(2, 3, 4, 5), prompt(6, output=600)]
    replay(requests, blocks=3, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_a_report_is_json():
    report = replay([prompt(1)], blocks=2)
    shown = json.loads(json.dumps(report.as_dict()))
    assert shown["verdict"] == "agreed"
    assert shown["calls"] == report.calls
    assert shown["calls_per_second"] == report.calls_per_second > 0


def test_no_requests_are_a_report_of_nothing():
    report = replay([], blocks=2)
    assert (report.verdict, report.hit_rate, report.finished) == ("agreed", 0.0, 0)


@pytest.mark.parametrize("argument", ["blocks", "concurrency", "full_every"])
def test_senseless_arguments_are_refused(argument):
    with pytest.raises(ValueError, match=f"{argument} is 0"):
        replay([prompt(1)], **{"blocks": 2, argument: 0})
