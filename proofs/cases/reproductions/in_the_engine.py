"""Findings that need what stands around the pool: the managers and the scheduler of an installed release."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from blockpool.proofs.cases.reproductions.engine import Engine
from blockpool.proofs.cases.reproductions.saying import Told, error_in, listed, so, told
from blockpool.proofs.systems.vllm.testbench import UNIT


@dataclass(frozen=True)
class Pass:
    """What one pass did; `unwritten` are positions that it read, with their blocks, where nothing was ever written."""

    scheduled: dict[str, int]
    preempted: set[str]
    unwritten: list[tuple[int, int]]


class Run:
    """A scheduler at work, and beside it the memory that its passes would write."""

    def __init__(self, engine: Engine, policy: str) -> None:
        self.engine = engine
        self.scheduler = engine.scheduler([engine.attention(UNIT)], 9, policy=policy)
        self.written: set[tuple[int, int]] = set()

    def after(self, *arrivals: Any) -> Pass:
        """The next pass, after these requests have come."""
        for request in arrivals:
            self.scheduler.add_request(request)
        plan, unwritten = self.scheduler.schedule(), list[tuple[int, int]]()
        for name, count in plan.num_scheduled_tokens.items():
            (table,) = self.scheduler.kv_cache_manager.get_block_ids(name)
            end = self.scheduler.requests[name].num_computed_tokens
            slots = [(table[place // UNIT], place % UNIT) for place in range(end)]
            self.written.update(slots[end - count :])
            unwritten += [(place, slots[place][0]) for place in range(end) if slots[place] not in self.written]
        self.engine.finish(self.scheduler, plan)
        return Pass(plan.num_scheduled_tokens, set(plan.preempted_req_ids or ()), unwritten)


def a_preempted_request_reads_what_nobody_wrote(engine: Engine) -> Iterator[str]:
    def rivals() -> tuple[Any, Any, Any]:
        victim = engine.prompt("victim", range(24), UNIT, priority=9, arrival_time=1.0)
        urgent = engine.prompt("urgent", range(100, 108), UNIT, priority=0, arrival_time=2.0)
        return victim, urgent, engine.prompt("short", [99], UNIT, most=3)

    run, (victim, urgent, short) = Run(engine, "priority"), rivals()
    pool = run.scheduler.kv_cache_manager.block_pool
    first, second = run.after(victim, short), run.after(urgent)
    computed = first.scheduled["victim"] + second.scheduled["victim"]
    unpublished = engine.find(pool, victim, 5) is None
    third = run.after()
    yield so(
        computed == 16 and unpublished and third.preempted == {"victim"} and "victim" not in third.scheduled,
        f"priority: after two passes {computed} of 24 tokens are computed; the third pass preempts the request",
    )
    found = engine.find(pool, victim, 5)
    left = None if found is None else found.block_id
    yield so(left is not None, f"in that pass it published its first 20 tokens: a lookup answers block {left}")
    fourth = run.after()
    yield so(fourth.scheduled == {"victim": 4}, "the fourth pass schedules it for 4 tokens: 20 count as computed")
    expected = [(place, left) for place in range(16, 20)]
    yield so(fourth.unwritten == expected, f"it reads positions 16 to 19 from block {left}, which no pass has written")

    run, (victim, urgent, short) = Run(engine, "fcfs"), rivals()
    passes = [run.after(victim, short), run.after(urgent), *(run.after() for _ in range(4))]
    preempted = [name for one in passes for name in one.preempted]
    unwritten = [place for one in passes for place in one.unwritten]
    yield so(
        preempted == ["urgent"] and not unwritten,
        f"first come, first served: {' and '.join(preempted)} is preempted, and {len(unwritten)} positions are misread",
    )


def a_superseded_key_is_stored_again(engine: Engine) -> Iterator[str]:
    manager = engine.manager([engine.attention(4), engine.recurrent(4)], 2)
    request = engine.prompt("request", range(7), 2)
    manager.new_step_starts()
    manager.allocate_slots(request, 7)
    events = told(engine, manager, request, 2, group=0)
    expected = [Told("Stored", (4,), None, 4), Told("Stored", (6,), 4, 2)]
    yield so(events == expected, f"a prompt of 7 tokens, blocks of 4, units of 2: {listed(events)}")

    request.num_computed_tokens = 7
    request.append_output_token_ids([7])
    manager.new_step_starts()
    manager.allocate_slots(request, 1)
    events = told(engine, manager, request, 2, group=0)
    expected = [Told("Removed", (6,)), Told("Stored", (8,), 4, 4), Told("Stored", (6,), 4, 2)]
    yield so(events == expected, f"one call for the next token: {listed(events)}")
    partial, full = (manager.block_pool.get_cached_block(request.block_hashes[place], [0]) for place in (2, 3))
    yield so(
        full is not None and partial == full,
        f"lookups of 6 and of 8 tokens both answer block {full and full[0].block_id}",
    )


def hits_are_reported_that_are_none(engine: Engine) -> Iterator[str]:
    manager = engine.manager([engine.attention(4), engine.recurrent(4)], 2)
    before = engine.prompt("before", range(7), 2)
    manager.new_step_starts()
    manager.allocate_slots(before, 6)
    manager.free(before)
    manager.new_step_starts()
    manager.take_events()

    after = engine.prompt("after", [*range(6), 90, 91, 92], 2, full_report=True)
    blocks, hit, _ = manager.get_computed_blocks(after)
    events = told(engine, manager, after, 2)
    expected = [Told("Stored", (4, 8), None, 8)] * 2
    yield so(hit == 6 and events == expected, f"a hit of {hit} tokens is reported, group by group: {listed(events)}")
    places = range(len(after.block_hashes))
    for group, expected_keys in enumerate([[4, 6], [6]]):
        findable = [
            2 * (place + 1)
            for place in places
            if manager.block_pool.get_cached_block(after.block_hashes[place], [group])
        ]
        yield so(findable == expected_keys, f"findable in group {group}: {' and '.join(map(str, findable))} tokens")
    yield so(blocks.blocks[1][0].is_null, "the first block that was hit in group 1 is the null block")

    short = engine.prompt("short", [*range(6), 90], 2, full_report=True)
    error = error_in("emit_cached_block_events", lambda: manager.get_computed_blocks(short))
    yield so(error == "IndexError in emit_cached_block_events", f"the same prefix in a prompt of 7 tokens: {error}")


def a_report_of_hits_fails_an_assertion(engine: Engine) -> Iterator[str]:
    manager = engine.manager([engine.attention(4)], 8, ranks=2)
    before = engine.prompt("before", range(17), 8)
    manager.allocate_slots(before, 17)
    manager.free(before)
    _, hit, _ = manager.get_computed_blocks(engine.prompt("plain", range(17), 8))
    yield so(hit == 16, f"blocks of 4 on 2 ranks: without reports a prompt of 17 tokens hits {hit}")
    reported = engine.prompt("reported", range(17), 8, full_report=True)
    error = error_in("emit_cached_block_events", lambda: manager.get_computed_blocks(reported))
    expected = "AssertionError in emit_cached_block_events"
    yield so(error == expected, f"the same prompt of a client that wants full reports: {error}")


def a_deferred_release_has_another_order(engine: Engine) -> Iterator[str]:
    for deferred, expected in ((False, [2, 1, 4, 3]), (True, [4, 3, 2, 1])):
        scheduler = engine.scheduler([engine.attention(4), engine.attention(4, window=8)], 8)
        scheduler.defer_block_free = deferred  # as with a connector that loads while passes overlap
        request = engine.prompt("request", range(8), 4)
        scheduler.add_request(request)
        plan = scheduler.schedule()
        tables = scheduler.kv_cache_manager.get_block_ids("request")
        engine.abort(scheduler, request)
        engine.finish(scheduler, plan)
        tail = engine.queue(scheduler.kv_cache_manager.block_pool)[4:]
        path = "deferred" if deferred else "immediate"
        yield so(
            tables == ([1, 2], [3, 4]) and tail == expected,
            f"{path} release of the tables {tables[0]} and {tables[1]}: the queue ends in {tail}",
        )


def a_refused_reset_clears_the_other_pool(engine: Engine) -> Iterator[str]:
    manager = engine.manager_with_host(UNIT)
    pools = dict.fromkeys(one.block_pool for one in manager.coordinator.single_type_managers)
    device, request = manager.block_pool, engine.request(range(UNIT))
    (host,) = (pool for pool in pools if pool is not device)
    device.get_new_blocks(1)
    blocks = host.get_new_blocks(1)
    engine.publish(host, request, blocks)
    host.free_blocks(blocks)
    before = engine.find(host, request)
    manager.take_events()
    yield so(before is blocks[0], "a block of the device is held; the host's pool is idle, and has a key")
    answer, events = manager.reset_prefix_cache(), told(engine, manager, request, UNIT)
    yield so(answer is False and events == [Told("Cleared")], f"a reset answers {answer} and tells {listed(events)}")
    yield so(engine.find(host, request) is None, "the host's key is gone")


def evictions_are_counted_that_were_none(engine: Engine) -> Iterator[str]:
    metrics = engine.metrics()
    pool = engine.make_pool(3, True, UNIT, False, metrics)
    pool.free_blocks(pool.get_new_blocks(2))
    held, other = pool.get_new_blocks(2)
    count = len(metrics.drain_events())
    yield so(count == 2, f"two blocks are handed out twice, and never had a key: {count} evictions are counted")
    before = sorted(metrics.block_metrics)
    pool.evict_blocks({held.block_id})
    after = sorted(metrics.block_metrics)
    yield so(
        held.ref_cnt == 1 and before == [held.block_id, other.block_id] and after == [other.block_id],
        f"one of them is evicted by name while it is held: {before} were tracked, now {after}",
    )
