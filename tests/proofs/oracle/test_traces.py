"""Recording, reading and judging traces, live and offline."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockpool.impl import BlockPool, Request
from blockpool.impl.errors import NotHeld
from blockpool.proofs.core.strict_json import FormatError
from blockpool.proofs.oracle.audit import audit
from blockpool.proofs.oracle.trace import CutOffError, Entry, TraceWriter, read_trace
from blockpool.proofs.systems.vllm.instrument import Tap
from blockpool.proofs.systems.vllm.record import record
from blockpool.proofs.systems.vllm.watch import WatchError, watch, watch_counts
from blockpool.spec.contract.calls import Alloc, Free, Ok, Refused, Share, Start, Started

HEADER = b'{"format":"blockpool-trace/1","name":"p","operations":["start","alloc"]}\n'
BEGUN = b'{"call":{"op":"start","blocks":3},"reply":{"ok":{"capacity":3}}}\n'


def a_pool(blocks: int = 5) -> BlockPool:
    return BlockPool(blocks + 1, True, 4, enable_kv_cache_events=True)


def use(pool: BlockPool) -> None:
    """Most of what can be done with a pool, wrong calls included."""
    request = Request("r", range(8), 4)
    told: list[object] = []
    blocks = pool.get_new_blocks(2)
    pool.cache_full_blocks(request, blocks, 0, 2, 4, 0)
    pool.touch(blocks)
    pool.unpin_blocks(blocks, told.append)
    pool.free_blocks(reversed(blocks))
    assert pool.get_cached_block(request.block_hashes[1], [0]) == [blocks[1]]
    with pytest.raises(NotHeld):
        pool.free_blocks(blocks)
    with pytest.raises(ValueError, match="99"):
        pool.get_new_blocks(99)
    assert len(pool.get_new_blocks(5)) == 5
    assert told == [blocks[1], blocks[0]]
    pool.cache_partial_block(request, blocks[0], 4, 0, 4)
    pool.evict_blocks({blocks[0].block_id})
    pool.take_events()
    pool.free_blocks(pool.blocks[1:])
    assert pool.is_block_writable(blocks[0]) is False
    assert pool.reset_prefix_cache()


def test_what_impl_does_is_recorded_and_allowed(tmp_path: Path) -> None:
    pool = a_pool()
    with record(pool, tmp_path / "t") as recording:
        use(pool)
    found = audit(tmp_path / "t")
    assert (found.breach, found.profile.name, found.pools, found.wrong_calls) == (None, "strict", 1, 1)
    assert found.calls == recording.calls
    lines = (tmp_path / "t").read_bytes().splitlines(keepends=True)
    ops = [entry.call.op for entry in read_trace(lines)[1]]
    expected = "start alloc publish share unpin free lookup free alloc alloc publish_partial unpublish events free"
    assert ops == [*expected.split(), "writable", "reset"]


def test_a_recorded_pool_is_its_old_self_afterwards(tmp_path: Path) -> None:
    pool = a_pool()
    with record(pool, tmp_path / "t"):
        assert "touch" in vars(pool)
    assert "touch" not in vars(pool)


def test_a_used_pool_cannot_be_listened_to() -> None:
    pool = a_pool()
    pool.get_new_blocks(1)
    with pytest.raises(ValueError, match="in use already"):
        Tap(pool, lambda *_: None)


def test_calls_without_words_are_not_told_if_they_fail(tmp_path: Path) -> None:
    pool = a_pool()
    with record(pool, tmp_path / "t") as recording:
        blocks = pool.get_new_blocks(1)
        with pytest.raises(IndexError):
            pool.cache_full_blocks(Request("r", range(4), 4), blocks, 0, 7, 4, 0)
    assert recording.calls == 2  # start and alloc
    assert audit(tmp_path / "t").breach is None


def test_owners_are_written_and_checked(tmp_path: Path) -> None:
    pool = a_pool()
    with record(pool, tmp_path / "t") as recording:
        recording.owner = "one"
        blocks = pool.get_new_blocks(1)
        recording.owner = "two"
        pool.touch(blocks)
        pool.free_blocks([*blocks, *blocks])
    found = audit(tmp_path / "t")
    assert found.breach is not None
    assert (found.breach.law, found.breach.party) == ("an_owner_gives_back_only_what_it_holds", "caller")
    assert found.entry == Entry(5, Free((1, 1)), Ok(), "two")


def written(path: Path, *lines: tuple[object, object]) -> Path:
    with path.open("wb") as file:
        writer = TraceWriter(file, "by hand", ["start", "alloc", "share", "free"])
        for call, reply in lines:
            writer.write(call, reply)  # type: ignore[arg-type]
    return path


def test_the_first_breach_is_found_and_explained(tmp_path: Path) -> None:
    start = (Start(3), Ok(Started(3)))
    lines = [start, (Alloc(2), Ok((1, 2))), (Share((1,)), Ok()), (Alloc(1), Ok((1,))), (Free((7,)), Ok())]
    found = audit(written(tmp_path / "t", *lines), "safety")
    assert found.breach is not None
    assert (found.breach.law, found.breach.party) == ("a_block_has_one_user_until_it_is_shared", "pool")
    assert (found.calls, found.entry) == (3, Entry(5, Alloc(1), Ok((1,))))
    assert found.expected == "1 of 1 free blocks"
    story = found.story()
    assert "block 1 before: 2 references" in story
    assert "call 2: share([1]) answered None" in story


def test_a_wrong_call_is_the_callers_fault_unless_it_was_refused_as_promised(tmp_path: Path) -> None:
    path = written(tmp_path / "t", (Start(3), Ok(Started(3))), (Alloc(-1), Refused("bad count")))
    assert audit(path, "strict").breach is None
    breach = audit(path, "safety").breach
    assert breach is not None
    assert breach.party == "caller"


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([], "line 1: the trace is empty"),
        ([b"{}\n"], "line 1, field 'format'"),
        ([b'{"format":"blockpool-trace/9"}\n'], "line 1, field 'format': this is read: 'blockpool-trace/1'"),
        ([b'{"format":"blockpool-trace/1"}\n'], "line 1, field 'name': missing required field"),
        ([HEADER, b"nonsense\n"], "line 2: not JSON"),
        ([HEADER, b'{"call":{"op":"alloc","count":1},"reply":{"ok":[]}}\n'], "line 2, field 'call.op': a trace begins"),
        ([HEADER, BEGUN, b'{"call":{"op":"alloc"},"reply":{"ok":[]}}\n'], "line 3, field 'call.count': missing"),
        ([HEADER, BEGUN, b'{"call":{"op":"alloc","count":1},"reply":{"ok":1}}\n'], "line 3, field 'reply.ok'"),
        ([HEADER, BEGUN, b'{"call":{"op":"alloc","count":1}}\n'], "line 3, field 'reply'"),
        ([HEADER, BEGUN, b'{"call":[],"reply":{}}\n'], "line 3, field 'call'"),
        ([HEADER, BEGUN[:-2] + b',"owner":7}\n'], "line 2, field 'owner'"),
        ([HEADER, BEGUN[:-2] + b',"who":7}\n'], "line 2, field 'who'"),
        ([HEADER, b'{"call":{"op":"start","blocks":3},"reply":{"ok":{"capacity":-3}}}\n'], "line 2, field 'reply.ok'"),
    ],
)
def test_a_bad_line_is_an_error_that_names_it(tmp_path: Path, lines: list[bytes], complaint: str) -> None:
    (tmp_path / "t").write_bytes(b"".join(lines))
    with pytest.raises(FormatError, match=complaint):
        audit(tmp_path / "t")


def test_a_last_line_that_is_cut_off_ends_the_trace_there(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(HEADER + BEGUN + b'{"call":{"op":"alloc","cou')
    found = audit(tmp_path / "t")
    assert (found.calls, found.cut_off, found.breach) == (1, 3, None)
    with pytest.raises(CutOffError, match="line 1"):
        read_trace([HEADER[:-1]])


@given(
    st.lists(
        st.sampled_from([HEADER, BEGUN, b"{}\n", b"[]\n", b'{"call":{},"reply":{}}\n', b"x\n"]) | st.binary(max_size=9)
    )
)
def test_any_bytes_are_a_trace_or_refused(lines: list[bytes]) -> None:
    read: list[object] = []
    try:
        header, entries = read_trace(lines)
        read += [header.name, *entries]
    except FormatError as error:
        read.append(error.line)
    assert read


# --- the monitor ---


def test_a_right_pool_raises_no_alarm() -> None:
    pool = a_pool()
    with watch(pool) as watching:
        use(pool)
    assert watching.breach is None
    assert watching.calls == 15


def broken(pool: BlockPool) -> None:
    """A pool that forgets to take a touched block out of its free queue."""
    (block,) = pool.get_new_blocks(1)
    pool.cache_full_blocks(Request("r", range(4), 4), [block], 0, 1, 4, 0)
    pool.free_blocks([block])
    block.ref_cnt += 1  # what a touch does, without the rest
    pool.touch([block])
    block.ref_cnt -= 2
    pool.get_new_blocks(5)


def test_the_first_broken_law_is_raised_in_the_call_that_breaks_it() -> None:
    pool = a_pool()
    with watch(pool, stacks=True), pytest.raises(WatchError) as caught:
        broken(pool)
    assert (caught.value.breach.law, caught.value.breach.party) == ("a_block_has_one_user_until_it_is_shared", "pool")
    message = str(caught.value)
    assert message.startswith("call 5: alloc(5) lent 1, which is held")
    assert "pool at fault" in message
    assert "call 4: share([1]) answered None" in message
    assert "in broken" in message  # the stack


def test_it_can_be_logged_or_handed_on_instead(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[str] = []
    handlers: list[object] = ["log", lambda breach, message: heard.append(breach.law)]
    for on_breach in handlers:
        pool = a_pool()
        with caplog.at_level(logging.ERROR), watch(pool, on_breach=on_breach):  # type: ignore[arg-type]
            broken(pool)
    assert heard == ["a_block_has_one_user_until_it_is_shared"]
    assert "a_block_has_one_user_until_it_is_shared" in caplog.text
    assert "no longer watched" in caplog.text


def test_owners_are_checked_live() -> None:
    pool = a_pool()
    with watch(pool) as watching:
        watching.owner = "one"
        blocks = pool.get_new_blocks(1)
        watching.owner = "two"
        with pytest.raises(WatchError, match="they belong to 'one'"):
            pool.free_blocks(blocks)


def test_what_a_watcher_does_while_it_is_told_is_not_a_call_of_its_own() -> None:
    pool = a_pool(1)
    seen: list[int] = []

    def on_reuse(_: object) -> None:
        seen.append(pool.get_num_free_blocks())

    with watch(pool) as watching:
        blocks = pool.get_new_blocks(1)
        pool.unpin_blocks(blocks, on_reuse)
        pool.get_new_blocks(1)
    assert seen == [1]
    assert watching.calls == 3


Callback = Callable[[object], None]


def test_a_cancelled_watcher_is_not_told() -> None:
    pool = a_pool(1)
    told: list[object] = []
    with watch(pool) as watching:
        blocks = pool.get_new_blocks(1)
        pool.unpin_blocks(blocks, told.append)
        assert pool.cancel_watch(blocks[0], told.append) is True
        assert pool.cancel_watch(blocks[0], told.append) is False
        pool.get_new_blocks(1)
    assert told == []
    assert watching.breach is None


# --- the light monitor ---


def test_the_light_monitor_raises_no_alarm_about_a_right_pool() -> None:
    pool = a_pool()
    with watch_counts(pool) as counting:
        use(pool)
        assert pool.get_num_free_blocks() == 5
    assert counting.calls == 7
    assert "touch" not in vars(pool)


def spoil_double(pool: BlockPool) -> None:
    (block,) = pool.get_new_blocks(1)
    block.ref_cnt = 2
    pool.free_blocks([block, block])


def spoil_count(pool: BlockPool) -> None:
    pool.free_block_queue.num_free_blocks -= 1
    pool.get_num_free_blocks()


def spoil_foreign(pool: BlockPool) -> None:
    other = a_pool()
    other.free_block_queue.popleft_n(5)
    pool.free_block_queue.append_n([other.blocks[3]])
    pool.get_new_blocks(6)


@pytest.mark.parametrize(
    ("spoil", "law", "party"),
    [
        (broken, "a_block_has_one_user_until_it_is_shared", "pool"),
        (spoil_double, "the_caller_keeps_the_rules", "caller"),
        (spoil_count, "free_is_what_is_not_held", "pool"),
        (spoil_foreign, "only_blocks_of_the_pool_are_lent", "pool"),
    ],
)
def test_the_light_monitor_finds_wrong_counts(spoil: Callable[[BlockPool], None], law: str, party: str) -> None:
    pool = a_pool()
    with watch_counts(pool), pytest.raises(WatchError) as caught:
        spoil(pool)
    assert (caught.value.breach.law, caught.value.breach.party) == (law, party)
