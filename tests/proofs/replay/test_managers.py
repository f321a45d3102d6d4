"""The managers under a replay: every reference is accounted for, and defects planted in them are found."""

from __future__ import annotations

import pytest

from blockpool.impl.managers import Coordinator, FullAttentionManager, GroupManager, GroupSpec, Kind
from blockpool.impl.managers.hits import longest_common_hit
from blockpool.proofs.refine.lockstep import MismatchError
from blockpool.proofs.replay import Mismatch, TraceRequest, replay
from blockpool.proofs.replay.calls import CountedPool
from blockpool.proofs.replay.managed import check_conservation
from blockpool.proofs.replay.memory import Memory
from blockpool.proofs.replay.requests import Sequence

A, B = TraceRequest(1536, 1, (1, 2, 3)), TraceRequest(1536, 1, (1, 2, 4))


def refuted(requests, **options) -> Mismatch:
    report = replay(requests, **{"blocks": 10, **options})
    assert report.verdict == "refuted"
    assert report.mismatch is not None
    return report.mismatch


# --- references ---


def loses_the_last(monkeypatch):
    original = GroupManager.surrender
    monkeypatch.setattr(GroupManager, "surrender", lambda self, name: original(self, name)[:-1])


def test_a_block_that_is_lost_is_named_after_the_call_that_lost_it(monkeypatch):
    loses_the_last(monkeypatch)
    found = refuted([A, B], full_every=1)
    assert (found.call, found.action) == (5, "free_blocks([3, 2])")  # the calls are those of test_replay_defects
    assert found.words == (
        "after it, block 1 has ref_cnt 1, and 0 places in tables, pending copies and deferred releases"
    )


def test_a_block_that_is_lost_is_named_at_the_end_at_the_latest(monkeypatch):
    loses_the_last(monkeypatch)
    found = refuted([A, B])
    assert (found.call, found.action) == (15, "take_events()")
    # b hits blocks 1 and 2, and both requests lose block 1.
    assert found.words.startswith("after it, block 1 has ref_cnt 2, and 0 places")


def test_a_block_that_is_lost_leaks_without_lockstep(monkeypatch):
    loses_the_last(monkeypatch)
    report = replay([A], blocks=10, lockstep=False)
    assert (report.verdict, report.leaked_blocks, report.mismatch) == ("refuted", 1, None)


def test_a_preemption_that_loses_blocks(monkeypatch):
    original = GroupManager.surrender

    def loses(self, name):
        return original(self, name)[1:] if name == "1" else original(self, name)

    monkeypatch.setattr(GroupManager, "surrender", loses)
    # As in test_preemption_in_a_tiny_pool: request 1 is preempted, and the block that is lost is missing right away.
    requests = [TraceRequest(512, 1025, (1,)), TraceRequest(512, 1025, (2,))]
    found = refuted(requests, blocks=4, full_every=1)
    assert found.action == "free_blocks([2])"
    assert found.words.startswith("after it, block 4 has ref_cnt 1, and 0 places")


def test_a_block_that_is_given_back_twice(monkeypatch):
    original = GroupManager.surrender
    monkeypatch.setattr(GroupManager, "surrender", lambda self, name: original(self, name)[:1] * 2)
    found = refuted([A])
    assert (found.call, found.action) == (5, "free_blocks([3, 3])")
    assert found.words == "pool and spec refuse it (not held): the managers made a wrong call"


def test_deferred_releases_and_copies_are_accounted_for():
    pool = CountedPool(8, False)
    coordinator = Coordinator(pool, [GroupSpec(Kind.FULL, 1)])
    first, second = (Sequence(name, [1, 2, 3], iter(())) for name in "ab")
    for sequence in (first, second):
        sequence.reach(3, 3)
        assert coordinator.admit(sequence, 3, 3)
        coordinator.commit()
    check_conservation(coordinator)
    coordinator.finish(first, deferred=True)
    assert pool.blocks[1].ref_cnt == 2  # in the table of the second, and deferred
    check_conservation(coordinator)
    source, target = pool.get_new_blocks(2)
    with pytest.raises(MismatchError, match="block 5 has ref_cnt 1, and 0 places"):
        check_conservation(coordinator)
    coordinator._pass.add_copy(source, target)
    check_conservation(coordinator)
    coordinator.commit()
    check_conservation(coordinator)
    pool.blocks[2].ref_cnt += 1
    with pytest.raises(MismatchError, match="block 2 has ref_cnt 2, and 1 places"):
        check_conservation(coordinator)


# --- contents ---


def test_keys_that_are_not_withdrawn_from_blocks_that_are_never_written(monkeypatch):
    # As in test_preemption_in_the_pass_of_the_admission: request 1 is preempted in the pass that published its blocks
    # 2 3 4. Their keys stay, and when it starts again it finds two of them. No law of the pool is broken.
    monkeypatch.setattr(Coordinator, "_withdraw", lambda self, marks: None)
    requests = [TraceRequest(512, 17, (1,)), TraceRequest(1536, 1, (7, 8, 9))]
    assert replay(requests, blocks=4, lockstep=False).verdict == "timed"
    found = refuted(requests, blocks=4)
    assert found.words == "request 1 reads block 2 for token 7, and nothing was written there"


def test_allocating_before_the_hits_are_touched(monkeypatch):
    touch = FullAttentionManager.adopt

    def allocates_first(self, name, hit, num_tokens):
        new = self._pass.lend(self.pool, 1)
        touch(self, name, hit, num_tokens)
        self._tables[name] += new

    # Three blocks. Request 0 gets 1 2 and gives back 2 1; request 1 gets 3 2 and gives back 2 3: the queue is 1 2 3.
    # Request 2 hits block 1 and gets it as a new one, too.
    monkeypatch.setattr(FullAttentionManager, "adopt", allocates_first)
    requests = [TraceRequest(1024, 1, ids) for ids in ((1, 2), (5, 6), (1, 9))]
    found = refuted(requests, blocks=3)
    assert found.words == "request 2 reads block 1 for token 1, and it contains token 9"


def test_memory_knows_what_copies_moved_and_what_was_never_written():
    pool = CountedPool(8, False)
    coordinator = Coordinator(pool, [GroupSpec(Kind.FULL, 1)])
    memory = Memory()
    sequence = Sequence("a", [4, 5], iter(()))
    sequence.reach(2, 2)
    assert coordinator.admit(sequence, 2, 2)
    with pytest.raises(MismatchError, match="reads block 1 for token 4, and nothing was written there"):
        memory.check_reads(sequence, pool.blocks[1:3])
    memory.run_pass(coordinator)
    memory.check_reads(sequence, pool.blocks[1:3])
    coordinator.commit()
    for block in (pool.blocks[1], *pool.get_new_blocks(1)):
        pool.touch([block])
        coordinator._pass.add_copy(pool.blocks[1], block)
    memory.run_pass(coordinator)
    memory.check_reads(sequence, [pool.blocks[3], pool.blocks[2]])
    with pytest.raises(MismatchError, match="a table of 1 blocks for 2 tokens"):
        memory.check_reads(sequence, [pool.blocks[3]])


# --- wrong calls ---


def test_a_table_that_is_too_short(monkeypatch):
    original = GroupManager.num_new
    monkeypatch.setattr(GroupManager, "num_new", lambda self, entries, upto: original(self, entries, upto) - 1)
    found = refuted([A])
    assert found.action.startswith("cache_full_blocks(")
    assert found.words == "pool and spec refuse it (bad range): the managers made a wrong call"


def test_a_table_that_is_too_long(monkeypatch):
    original = GroupManager.num_new
    monkeypatch.setattr(GroupManager, "num_new", lambda self, entries, upto: original(self, entries, upto) + 1)
    assert refuted([A]).words == "request 0 has a table of 4 blocks for 3 tokens"


def test_a_hit_that_covers_the_whole_prompt(monkeypatch):
    monkeypatch.setattr(
        Coordinator,
        "find_longest_hit",
        lambda self, request, prompt_len: longest_common_hit(self.managers, request, prompt_len),
    )
    found = refuted([A, A])
    assert found.words.startswith("after it, admit of request 1 raised LengthError: ")


def test_a_lookup_of_another_request(monkeypatch):
    original = Coordinator.find_longest_hit
    other = Sequence("other", [8, 9], iter(()))
    other.reach(2, 2)
    monkeypatch.setattr(Coordinator, "find_longest_hit", lambda self, request, length: original(self, other, 2))
    found = refuted([A, B])
    assert found.words == f"after it, digest {other.block_hashes[0].hex()[:12]} of another request is looked up"


def test_a_call_that_full_attention_never_needs(monkeypatch):
    original = Coordinator.finish

    def resets(self, request, deferred=False):
        original(self, request, deferred)
        self.reset()

    monkeypatch.setattr(Coordinator, "finish", resets)
    found = refuted([A])
    assert found.words == "after it, reset_prefix_cache is called, which managers of full attention never need"


@pytest.mark.parametrize("lockstep", [True, False])
def test_a_manager_that_raises(monkeypatch, lockstep):
    def fails(self, name):
        raise KeyError(name)

    monkeypatch.setattr(GroupManager, "surrender", fails)
    assert refuted([A], lockstep=lockstep).words == "after it, finish of request 0 raised KeyError: '0'"


# --- the model ---


def test_a_block_that_is_begun_has_a_token_and_no_digest():
    private = iter([-1, -2, -3, -4])
    sequence = Sequence("a", [7], private)
    sequence.reach(2, 1)
    assert (sequence.all_token_ids, len(sequence.block_hashes)) == ([7, -1], 1)
    full = list(sequence.block_hashes)
    sequence.reach(3, 2)
    assert sequence.all_token_ids == [7, -1, -2]
    assert sequence.block_hashes[:1] == full
    digest = sequence.block_hashes[1]
    sequence.reach(2, 1)  # the pass that filled the second block did not happen
    assert (sequence.all_token_ids, sequence.block_hashes) == ([7, -1], full)
    sequence.reach(3, 2)
    assert (sequence.all_token_ids, sequence.block_hashes[1]) == ([7, -1, -3], digest)


@pytest.mark.parametrize("size", [512, 256])
@pytest.mark.parametrize("length", [1, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 1300])
def test_a_coordinator_leaves_out_as_much_of_the_prompt_as_the_engine_would(size, length):
    # The longest hit that there can be, if all blocks of the prompt are published.
    request = TraceRequest(length, 1, tuple(range(-(-length // 512))))
    pool = CountedPool(40, False)
    coordinator = Coordinator(pool, [GroupSpec(Kind.FULL, 1)])
    twice = [Sequence(name, request.full_blocks(size), iter([-1])) for name in "ab"]
    for sequence in twice:
        sequence.reach(-(-length // size), length // size)
    assert coordinator.admit(twice[0], len(twice[0].all_token_ids), len(twice[0].all_token_ids))
    coordinator.commit()
    assert coordinator.find_longest_hit(twice[1], len(twice[1].all_token_ids)).num_tokens == (length - 1) // size
