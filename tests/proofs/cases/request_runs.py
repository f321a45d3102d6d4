"""Public bug reports as runs, each as small as it can be; `SHOWN` says which report is which.

Blocks are numbered in the order in which a new pool hands them out: 1, 2, ...
"""

from collections.abc import Callable
from dataclasses import replace

from blockpool.proofs.explore.serving import ServingScope
from blockpool.spec import (
    NULL,
    Admit,
    BeginTransfer,
    BlockId,
    Drop,
    EndTransfer,
    GetNewBlocks,
    Group,
    GroupId,
    Grow,
    Kind,
    Move,
    Plan,
    Reason,
    RunPass,
    Unpin,
    Watcher,
    World,
)
from blockpool.spec.requests.hits import longest_hit
from blockpool.spec.requests.pool_calls import give_back, lend, touch, with_running, with_table
from tests.proofs.cases.deeds import (
    FIRST,
    admit_counting,
    admit_masked,
    answered,
    begin_load,
    end_load,
    evict,
    forget_transfer,
    hit_of_the_deepest_group,
    hit_that_collapses,
    lived,
    load,
    load_and_publish,
    pin_hit,
    publish_as,
    reject,
    rewind,
    start,
    store,
    text,
    vanish,
    without_copy,
    world_of,
    write_token,
)
from tests.proofs.cases.showing import Act, Fault, NotNow, Refusal, Scenario, Search, Shown

SECOND = GroupId(1)
FULL, FULL_4 = Group(Kind.FULL, 2), Group(Kind.FULL, 4)
STATE, STATE_4 = Group(Kind.STATE, 2), Group(Kind.STATE, 4)
WINDOW = Group(Kind.WINDOW, 2, window=2)
WIDE_WINDOW = Group(Kind.WINDOW, 2, window=4)
NOT_ENOUGH = "not enough free blocks"


# --- double free ---


def a_merged_completion_gives_back_the_pins_of_two() -> Scenario:
    plan = text(0, 1, 2, prompt=3)

    def merged(world: World) -> World:
        block = world.transfers[Watcher(0)].block
        return forget_transfer(give_back(world, (block, block)), 0)

    return Scenario(
        world_of(4, (FULL,), z=plan, a=plan),
        (
            *lived("z", 3),
            Admit("a", 3),
            RunPass(),
            BeginTransfer("a", FIRST, 0),
            BeginTransfer("a", FIRST, 0),
            Fault("the completion of one connector gives back both pins", merged, (EndTransfer(Watcher(0)),)),
            EndTransfer(Watcher(1)),
        ),
    )


# --- leaks ---

ONE = text(0, 1, 2, 3, prompt=4)
OTHER = text(7, 7, 7, 7, prompt=4)


def the_table_goes_and_the_references_stay() -> Scenario:
    fault = Fault("the table is dropped, its blocks are not freed", lambda w: vanish(w, "a"), (Drop("a", False),))
    return Scenario(world_of(4, (FULL,), a=ONE, b=OTHER), (Admit("a", 4), RunPass(), fault, *lived("b", 4)))


def one_block_of_each_request_stays() -> Scenario:
    def all_but_one(world: World) -> World:
        return vanish(give_back(world, reversed(world.running["a"].tables[0][:-1])), "a")

    fault = Fault("all blocks but the last one are freed", all_but_one, (Drop("a", False),))
    return Scenario(world_of(4, (FULL,), a=ONE), (Admit("a", 4), RunPass(), fault))


def a_failed_admission_keeps_its_touches() -> Scenario:
    def touched(world: World) -> World:
        return touch(world, longest_hit(world, "b")[1][0])

    not_now = NotNow(Admit("b", 4), NOT_ENOUGH)
    return Scenario(
        world_of(3, (FULL,), z=text(0, 1, 2, prompt=3), h=OTHER, b=text(0, 1, 5, 6, prompt=4)),
        (
            *lived("z", 3),
            Admit("h", 4),
            RunPass(),
            Fault("the hit is touched, the rest does not fit, the teardown sees no tokens", touched, (not_now,)),
        ),
    )


def a_failed_admission_keeps_its_state() -> Scenario:
    not_now = NotNow(Admit("b", 2), NOT_ENOUGH)
    return Scenario(
        world_of(3, (FULL, STATE), h=text(7, 7, prompt=2), b=text(0, 1, prompt=2)),
        (
            Admit("h", 2),
            RunPass(),
            Fault(
                "a state is taken before it is known that the rest does not fit", lambda w: lend(w, 1)[0], (not_now,)
            ),
        ),
    )


def the_second_chunk_begins_a_new_table() -> Scenario:
    def grown(world: World) -> World:
        return Grow("a", 4).effect(with_running(world, "a", replace(world.running["a"], tables=((),), cached=(0,))))

    return Scenario(
        world_of(5, (FULL,), a=ONE),
        (Admit("a", 2), RunPass(), Fault("nobody knows what is owned already", grown, (Grow("a", 4),))),
    )


def a_pin_of_a_lookup_is_never_taken_back() -> Scenario:
    def aborted(world: World) -> World:
        return forget_transfer(replace(world, waiting=world.waiting - {"b"}), 0)

    return Scenario(
        world_of(4, (FULL,), z=text(0, 1, 2, prompt=3), b=text(0, 1, 5, prompt=3)),
        (
            *lived("z", 3),
            Act("the lookup pins what it found", lambda w: pin_hit(w, "b")),
            Fault("the request is aborted and never retrieves", aborted, (EndTransfer(Watcher(0)),)),
        ),
    )


def only_what_is_loaded_is_unlocked() -> Scenario:
    def retrieved(world: World) -> World:
        return forget_transfer(EndTransfer(Watcher(1)).effect(world), 0)

    return Scenario(
        world_of(5, (FULL,), z=text(0, 1, 2, 3, 4, prompt=5), b=text(0, 1, 2, 3, 5, prompt=5)),
        (
            *lived("z", 5),
            Act("the lookup locks two blocks", lambda w: pin_hit(w, "b")),
            Fault(
                "the engine loads the second block, only that is unlocked",
                retrieved,
                (EndTransfer(Watcher(0)), EndTransfer(Watcher(1))),
            ),
        ),
    )


HELD_FOR_A_READER: tuple[Move, ...] = (
    Admit("a", 4),
    RunPass(),
    BeginTransfer("a", FIRST, 0),
    Drop("a", again=False),
)


def the_done_signal_never_comes() -> Scenario:
    fault = Fault("the peer died; nobody ends the hold", lambda w: forget_transfer(w, 0), (EndTransfer(Watcher(0)),))
    return Scenario(world_of(4, (FULL,), a=ONE), (*HELD_FOR_A_READER, fault))


def the_done_signal_comes_after_the_lease() -> Scenario:
    late = Fault("the late signal frees the block once more", lambda w: give_back(w, (BlockId(1),)))
    return Scenario(
        world_of(2, (FULL,), a=ONE, b=OTHER),
        (*HELD_FOR_A_READER, EndTransfer(Watcher(0)), Admit("b", 4), late),
    )


def a_completion_for_a_forgotten_request_is_dropped() -> Scenario:
    fault = Fault(
        "the request is forgotten first, so the completion is filtered out",
        lambda w: RunPass().effect(replace(w, deferred=())),
        (RunPass(),),
    )
    return Scenario(world_of(4, (FULL,), a=ONE), (Admit("a", 4), Drop("a", again=False, deferred=True), fault))


def a_sender_with_nothing_to_send_says_nothing() -> Scenario:
    fault = Fault("the free waits for a sender that has nothing to send", lambda w: vanish(w, "a"), (Drop("a", False),))
    return Scenario(world_of(4, (FULL,), a=ONE), (Admit("a", 4), RunPass(), fault))


def a_group_that_is_not_recognised_stays_pinned() -> Scenario:
    fault = Fault(
        "the end of the send is reported for attention only",
        lambda w: forget_transfer(EndTransfer(Watcher(0)).effect(w), 1),
        (EndTransfer(Watcher(0)), EndTransfer(Watcher(1))),
    )
    return Scenario(
        world_of(6, (FULL, STATE), a=ONE),
        (Admit("a", 2), RunPass(), BeginTransfer("a", FIRST, 0), BeginTransfer("a", SECOND, 0), fault),
    )


def the_release_names_another_request() -> Scenario:
    fault = Fault("the transfer counts as released all the same", lambda w: forget_transfer(w, 0))
    return Scenario(
        world_of(4, (FULL,), a=ONE),
        (*HELD_FOR_A_READER, NotNow(EndTransfer(Watcher(7)), "no such transfer"), fault),
    )


# --- use after free ---


def a_hit_is_claimed_late() -> Scenario:
    """`b` finds the block of `z`, `c` takes it, `b` uses it."""
    return Scenario(
        world_of(
            5,
            (FULL,),
            z=text(0, 1, prompt=2),
            y=text(5, 5, 5, 5, prompt=4),
            c=text(8, 8, 8, 8, 8, 8, prompt=6),
            b=text(0, 1, 6, 6, prompt=4),
        ),
        (
            *lived("z", 2),
            *lived("y", 4),
            Fault("a hit is found and not claimed", lambda w: answered(w, "b", longest_hit(w, "b"))),
            Admit("c", 6),
            Admit("b", 3),
            RunPass(),
        ),
    )


def fewer_blocks_than_promised() -> Scenario:
    """Two blocks are promised; when they are claimed, the second is gone."""
    return Scenario(
        world_of(
            5,
            (FULL,),
            z=text(0, 1, 2, 3, prompt=4),
            y=text(5, 5, 5, 5, prompt=4),
            c=text(8, 8, 8, 8, prompt=4),
            b=text(0, 1, 2, 3, 6, 6, prompt=6),
        ),
        (
            *lived("z", 4),
            *lived("y", 4),
            Fault("matching promises and does not claim", lambda w: answered(w, "b", longest_hit(w, "b"))),
            Admit("c", 4),
            Admit("b", 5),
            RunPass(),
        ),
    )


def one_group_allocates_what_another_has_hit() -> Scenario:
    """The first group's new block is the second group's hit."""
    return Scenario(
        world_of(4, (FULL, FULL), z=text(0, 1, prompt=2), y=text(5, 5, prompt=2), b=text(0, 1, 6, 6, prompt=4)),
        (*lived("z", 2), *lived("y", 2), Admit("b", 3), RunPass()),
        broken=("touch_before_allocating",),
    )


TWO_GROUPS = ServingScope(
    "two groups",
    "2 requests with a common beginning, full attention and a sliding window, 5 blocks",
    blocks=5,
    layout=(FULL, Group(Kind.WINDOW, 1, window=2)),
    plans={"a": Plan((0, 1, 2, 3), 3), "b": Plan((0, 1, 2, 4, 5), 4)},
    limits={"preempt": 1, "transfer": 1},
    chunked=True,
)
WITH_STATES = replace(TWO_GROUPS, name="with states", layout=(FULL, STATE))
ATTENTION = replace(TWO_GROUPS, name="attention", blocks=4, layout=(FULL,), limits={"preempt": 1, "abort": 1})


def one_group_allocates_what_another_has_hit_by_search() -> Search:
    return Search(TWO_GROUPS, "touch_before_allocating")


def new_blocks_are_taken_before_hits_are_touched() -> Scenario:
    def admitted(world: World) -> World:
        _, (hit,) = longest_hit(world, "b")
        world, new = lend(world, 1)
        return start(touch(world, hit), "b", (*hit, *new), 2, 3)

    return Scenario(
        world_of(2, (FULL,), z=text(0, 1, prompt=2), y=text(5, 5, prompt=2), b=text(0, 1, 6, 6, prompt=4)),
        (
            *lived("z", 2),
            *lived("y", 2),
            Fault("new blocks first, hits afterwards", admitted, (Admit("b", 3),)),
            RunPass(),
        ),
    )


def an_old_step_writes_into_a_new_block() -> Scenario:
    """`a` ends while a step that writes its last token, into block 2, is on its way."""
    return Scenario(
        world_of(4, (FULL,), a=text(0, 1, 2, 3, prompt=3), b=text(7, 8, 9, prompt=3)),
        (
            Admit("a", 3),
            RunPass(),
            Grow("a", 4),
            Fault(
                "the blocks go back at once", Drop("a", again=False).effect, (Drop("a", again=False, deferred=True),)
            ),
            Act("content for b comes from outside", lambda w: load(w, "b", 2)),
            Act("the old step writes", lambda w: write_token(w, BlockId(2), "a", 3)),
            Grow("b", 3),
            RunPass(),
        ),
    )


def a_window_is_left_by_scheduled_tokens() -> Scenario:
    return Scenario(
        world_of(4, (WIDE_WINDOW,), a=text(0, 1, 2, 3, 4, prompt=4)),
        (Admit("a", 4), RunPass(), Grow("a", 5), RunPass()),
        broken=("release_by_processed",),
    )


def a_window_is_left_by_scheduled_tokens_by_search() -> Search:
    return Search(TWO_GROUPS, "release_by_processed")


# Block 1 holds three tokens of `a`, published with two; `b` continues differently behind those two.
HALF_USED: tuple[Move, ...] = (Admit("a", 2), RunPass(), Grow("a", 3), RunPass())
LAST_READ: tuple[Move, ...] = (RunPass(), Grow("a", 4), RunPass())


def half_used(*layout: Group) -> World:
    return world_of(8, layout, a=text(0, 1, 2, 3, 4, prompt=2), b=text(0, 1, 5, 6, 7, prompt=4))


def a_match_of_an_earlier_chunk_is_written() -> Scenario:
    def matched(world: World) -> World:
        _, (hit,) = longest_hit(world, "b")
        return start(touch(world, hit), "b", hit, 2, 2)

    def continued(world: World) -> World:
        return with_running(world, "b", replace(world.running["b"], scheduled=3))

    return Scenario(
        half_used(FULL_4),
        (
            *HALF_USED,
            Fault("a match is taken over; this chunk does not write it", matched),
            Fault("the next chunk has no match, so nothing is redirected", continued, (Admit("b", 3),)),
            *LAST_READ,
        ),
    )


def a_shared_tail_gets_a_second_writer() -> Scenario:
    fault = Fault(
        "a half used block is hit and not copied",
        lambda w: without_copy(Admit("b", 3).effect(w), "b", FIRST),
        (Admit("b", 3),),
    )
    return Scenario(half_used(FULL_4), (*HALF_USED, fault, *LAST_READ))


def a_shared_state_is_taken_for_private() -> Scenario:
    fault = Fault(
        "the state is not marked as shared, so the copy is skipped",
        lambda w: without_copy(Admit("b", 3).effect(w), "b", SECOND),
        (Admit("b", 3),),
    )
    return Scenario(half_used(FULL_4, STATE_4), (Admit("a", 2), RunPass(), fault, RunPass()))


def duplicates_are_freed_and_stay_in_the_table() -> Scenario:
    """The second blocks of `a` and `b`, 2 and 3, hold the same; `b` frees its own and goes on using it."""
    fault = Fault("the duplicate is freed, the table keeps it", lambda w: give_back(w, (BlockId(3),)))
    return Scenario(twins(), (*TWINS_COMPUTED, fault))


def twins() -> World:
    plan = text(0, 1, 2, 3, 4, prompt=4)
    return world_of(5, (FULL,), a=plan, b=plan)


TWINS_COMPUTED: tuple[Move, ...] = (Admit("a", 4), Admit("b", 4), RunPass())


def a_suffix_is_written_over_the_shared_beginning() -> Scenario:
    def shifted(world: World) -> World:
        block = world.running["b"].tables[0][0]
        return write_token(write_token(world, block, "b", 2), block, "b", 3)

    return Scenario(
        world_of(5, (FULL,), a=text(0, 1, 2, prompt=2), b=text(0, 1, 7, 8, 9, prompt=4)),
        (
            Admit("a", 2),
            RunPass(),
            Admit("b", 4),
            Fault("the suffix is written from the first entry of the table on", shifted),
            RunPass(),
        ),
    )


def a_store_is_not_told_that_its_block_is_reused() -> Scenario:
    def untold(world: World) -> World:
        return replace(load(world, "b", 2), transfers=world.transfers)

    return Scenario(
        world_of(1, (FULL,), a=text(0, 1, prompt=2), b=text(7, 8, 9, prompt=3)),
        (
            Admit("a", 2),
            RunPass(),
            BeginTransfer("a", FIRST, 0),
            Unpin(Watcher(0)),
            Drop("a", again=False),
            Fault(
                "the block is filled by another connector, of which the store knows nothing",
                untold,
                (Act("the store is told", lambda w: load(w, "b", 2)),),
            ),
        ),
    )


# --- wrong hits ---


def a_replaced_token_keeps_its_old_key() -> Scenario:
    plan, old = text(1, 2, 3, 4, 5, prompt=4), text(1, 2, 3, 99, 5, prompt=4)

    def grown(world: World) -> World:
        stale = Grow("a", 4).effect(replace(world, plans={"a": old}))
        return replace(stale, plans=world.plans)

    return Scenario(
        world_of(2, (FULL_4,), a=plan),
        (
            Admit("a", 3),
            RunPass(),
            Fault("the key list still ends in the token that was replaced", grown, (Grow("a", 4),)),
            RunPass(),
        ),
    )


def what_is_dropped_before_it_is_written_stays_published() -> Scenario:
    return Scenario(
        world_of(2, (FULL,), a=ONE), (Admit("a", 2), Drop("a", again=False)), broken=("withdraw_when_dropped",)
    )


def what_is_dropped_stays_published_by_search() -> Search:
    return Search(ATTENTION, "withdraw_when_dropped")


def a_half_filled_block_is_published_as_full() -> Scenario:
    def admitted(world: World) -> World:
        return publish_as(Admit("a", 2).effect(world), "a", 0, world.plans["a"].prefix(4))

    return Scenario(
        world_of(2, (FULL_4,), a=ONE),
        (Fault("keys are registered inside allocate", admitted, (Admit("a", 2),)), RunPass()),
    )


def coarse_blocks_get_fine_keys() -> Scenario:
    """Two blocks of 4 tokens are filed under the first two keys of 2 tokens each."""
    plan = text(0, 1, 2, 3, 4, 5, 6, 7, 8, prompt=8)

    def admitted(world: World) -> World:
        world, table = lend(world, 2)
        world = start(world, "a", table, 0, 8)
        for entry, tokens in enumerate((2, 4)):
            world = publish_as(world, "a", entry, plan.prefix(tokens))
        return world

    return Scenario(
        world_of(3, (FULL_4,), unit=2, a=plan),
        (Fault("keys and blocks are paired one to one", admitted, (Admit("a", 8),)), RunPass()),
    )


def a_pending_block_is_stored() -> Scenario:
    return Scenario(
        world_of(4, (FULL,), a=text(0, 1, 2, prompt=3)),
        (
            Act("one connector begins to load", lambda w: begin_load(w, "a", 2)),
            Fault(
                "the other connector stores at once",
                lambda w: end_load(store(w, "a"), "a", 2),
                (
                    Act("the load ends", lambda w: end_load(w, "a", 2)),
                    Act("the store begins", lambda w: store(w, "a")),
                ),
            ),
        ),
    )


def one_sharer_of_a_failed_block_goes_on() -> Scenario:
    return Scenario(
        world_of(6, (FULL,), a=text(0, 1, 2, prompt=3), b=text(0, 1, 5, 6, prompt=4)),
        (
            Act("content for a comes from outside", lambda w: load_and_publish(w, "a", 2)),
            Admit("b", 3),
            Act("block 1 is rejected", lambda w: reject(w, (BlockId(1),), (BlockId(1),))),
            Drop("a", again=True),
            Fault("b resumes", lambda w: w, (Drop("b", again=True), Admit("b", 3))),
            RunPass(),
        ),
    )


LONG = text(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, prompt=8)
LONGER = text(0, 1, 2, 3, 4, 5, 6, 7, 20, 21, prompt=9)
EDITED = text(0, 1, 2, 3, 4, 5, 6, 20, 21, prompt=9)


def a_window_hit_loses_its_last_block() -> Scenario:
    def shortened(world: World) -> World:
        tokens, (table,) = longest_hit(world, "b")
        return answered(world, "b", (tokens - 2, (table[:-1],)))

    return Scenario(
        world_of(12, (WIDE_WINDOW,), z=LONG, b=LONGER),
        (*lived("z", 8), Fault("the last block of the hit is dropped", shortened), Admit("b", 9), RunPass()),
    )


# --- lost hits ---


def masked(prompt: Plan, *mask: bool) -> Scenario:
    fault = Fault("only these blocks are worth caching", lambda w: admit_masked(w, "a", 8, mask), (Admit("a", 8),))
    return Scenario(
        world_of(12, (WIDE_WINDOW,), a=LONG, b=prompt),
        (fault, RunPass(), Drop("a", again=False), Admit("b", 9), RunPass()),
    )


def the_mask_leaves_out_what_the_lookup_needs() -> Scenario:
    return masked(LONGER, False, False, False, True)


def only_the_last_run_is_kept() -> Scenario:
    return masked(EDITED, False, False, True, True)


def one_group_misses_once_and_all_miss() -> Scenario:
    layout = (FULL_4, WIDE_WINDOW, Group(Kind.WINDOW, 1, window=2))
    return Scenario(
        world_of(40, layout, z=LONG, b=LONGER),
        (
            *lived("z", 8),
            Act("a small block is evicted", lambda w: evict(w, LONG.prefix(8), GroupId(2))),
            Fault("the search for a common length gives up", lambda w: answered(w, "b", hit_that_collapses(w, "b"))),
            Admit("b", 9),
            RunPass(),
        ),
    )


def only_the_last_state_of_a_chunk_is_kept() -> Scenario:
    """Our machine allows it too: how long a chunk is decides which states there are."""
    fault = Fault("the prompt is computed in one chunk", Admit("a", 4).effect, (Admit("a", 2), RunPass(), Grow("a", 4)))
    return Scenario(
        world_of(10, (FULL, STATE), a=ONE, b=text(0, 1, 7, 8, prompt=3)),
        (fault, RunPass(), Drop("a", again=False), Admit("b", 3), RunPass()),
    )


def a_preempted_request_is_not_looked_up_again() -> Scenario:
    fault = Fault("the record says that it was loaded already", lambda w: answered(w, "a", (0, ((),))))
    return Scenario(
        world_of(4, (FULL,), a=text(0, 1, 2, 3, prompt=3)),
        (Admit("a", 3), RunPass(), Drop("a", again=True), fault, Admit("a", 3), RunPass()),
    )


# --- null blocks, groups, tables ---


def tokens_run_into_the_null_block() -> Scenario:
    def overflowing(world: World) -> World:
        running = with_table(world.running["a"], FIRST, (*world.running["a"].tables[0], NULL))
        return with_running(world, "a", replace(running, scheduled=3))

    return Scenario(
        world_of(4, (FULL,), a=text(0, 1, 2, 3, prompt=3)),
        (Admit("a", 2), RunPass(), Fault("the table is padded, not grown", overflowing, (Grow("a", 3),)), RunPass()),
    )


def a_null_entry_counts_as_failed() -> Scenario:
    """The block of `a` fails. `b` has left its first block behind."""

    def failed(world: World, *besides: BlockId) -> World:
        (block,) = world.running["a"].tables[0]
        return rewind(reject(world, (block,), (block,)), frozenset({block, *besides}))

    return Scenario(
        world_of(8, (WINDOW,), a=text(7, 8, 9, prompt=2), b=text(0, 1, 2, 3, 4, 5, prompt=4)),
        (
            Admit("b", 4),
            RunPass(),
            Grow("b", 5),
            RunPass(),
            Act("content for a comes from outside", lambda w: load(w, "a", 2)),
            Fault(
                "whoever has a failed block, or the null block, computes again",
                lambda w: Grow("b", 4).effect(failed(w, NULL)),
                (Act("whoever has a failed block computes again", failed), Grow("b", 6)),
            ),
            Grow("a", 2),
            RunPass(),
        ),
    )


def diverging(evicted: GroupId) -> Scenario:
    """Attention and states of a prefix of 4 tokens are kept, but for the last 2 tokens of one group."""
    return Scenario(
        world_of(16, (FULL, STATE), z=text(0, 1, 2, 3, 4, prompt=5), b=text(0, 1, 2, 3, 8, 9, 9, prompt=6)),
        (
            Admit("z", 2),
            RunPass(),
            Grow("z", 4),
            RunPass(),
            Drop("z", again=False),
            Act("one group loses its last block", lambda w: evict(w, w.plans["z"].prefix(4), evicted)),
            Fault("the longest hit of any group", lambda w: answered(w, "b", hit_of_the_deepest_group(w, "b"))),
            Admit("b", 5),
            RunPass(),
        ),
    )


def attention_lags_behind() -> Scenario:
    return diverging(FIRST)


def the_state_lags_behind() -> Scenario:
    return diverging(SECOND)


def only_one_group_of_a_failed_span_is_forgotten() -> Scenario:
    def fails(world: World, *groups: GroupId) -> World:
        tables = world.running["a"].tables
        return reject(world, (block for table in tables for block in table), (tables[group][0] for group in groups))

    return Scenario(
        world_of(6, (FULL, FULL), a=text(0, 1, 2, prompt=3)),
        (
            Act("content for a comes from outside", lambda w: load_and_publish(w, "a", 2)),
            Fault(
                "the keys of the first group are forgotten",
                lambda w: fails(w, FIRST),
                (Act("the keys of all groups are forgotten", lambda w: fails(w, FIRST, SECOND)),),
            ),
        ),
    )


def the_table_does_not_grow() -> Scenario:
    def frozen(world: World) -> World:
        return with_running(world, "a", replace(world.running["a"], scheduled=5))

    return Scenario(
        world_of(4, (FULL_4,), a=text(0, 1, 2, 3, 4, prompt=4)),
        (Admit("a", 4), RunPass(), Fault("the list of blocks is frozen", frozen, (Grow("a", 5),)), RunPass()),
    )


def a_late_merge_rewrites_a_table() -> Scenario:
    def merged(world: World) -> World:
        (first, own), kept = world.running["b"].tables[0], world.running["a"].tables[0][1]
        world = with_running(touch(world, (kept,)), "b", with_table(world.running["b"], FIRST, (first, kept)))
        return give_back(world, (own,))

    return Scenario(twins(), (*TWINS_COMPUTED, Fault("equal blocks of running requests become one", merged)))


# --- check and act ---


def unchecked(request: str, upto: int, counted: int, words: str) -> Fault:
    """An admission whose check counts too few blocks. A right one does not happen."""
    return Fault(
        words, lambda w: admit_counting(w, request, upto, counted), (NotNow(Admit(request, upto), NOT_ENOUGH),)
    )


def a_window_is_counted_with_a_cap() -> Scenario:
    fault = unchecked("a", 6, 5, "3 blocks of attention and at most 2 of the window")
    return Scenario(world_of(5, (FULL, WINDOW), a=text(0, 1, 2, 3, 4, 5, prompt=6)), (fault,))


def null_entries_count_as_held() -> Scenario:
    """The table is null, null, 3, 4; the cap is 2 blocks."""

    def demanded(world: World) -> World:
        return lend(world, 2 - len(world.running["a"].tables[0]))[0]

    return Scenario(
        world_of(6, (WINDOW,), a=text(0, 1, 2, 3, 4, 5, 6, 7, prompt=6)),
        (Admit("a", 6), RunPass(), Grow("a", 7), RunPass(), Fault("cap minus length", demanded, (Grow("a", 8),))),
    )


def the_copy_is_not_counted() -> Scenario:
    plan, longer = text(0, 1, 2, 3, 4, 5, prompt=6), text(0, 1, 2, 3, 4, 5, 8, 9, 9, prompt=8)
    return Scenario(
        world_of(2, (FULL_4,), unit=2, a=plan, b=longer),
        (Admit("a", 6), RunPass(), unchecked("b", 8, 0, "the table needs no new entry")),
    )


def the_copy_is_not_counted_by_search() -> Search:
    return Search(WITH_STATES, "count_what_hits_take")


def a_peer_takes_what_was_counted() -> Scenario:
    def late(world: World) -> World:
        return Admit("a", 4).effect(Admit("b", 4).effect(world))

    fault = Fault("2 blocks are free; the peer takes them; they are used", late, (Admit("b", 4), NOT_A))
    return Scenario(world_of(2, (FULL,), a=ONE, b=OTHER), (fault,))


NOT_A = NotNow(Admit("a", 4), NOT_ENOUGH)


def a_page_is_not_rounded_up() -> Scenario:
    fault = unchecked("a", 6, 1, "6 tokens in pages of 4, rounded down")
    return Scenario(world_of(1, (FULL_4,), a=text(0, 1, 2, 3, 4, 5, 6, 7, prompt=8)), (fault,))


def one_token_more_than_the_pool_was_sized_for() -> Scenario:
    not_now = NotNow(Grow("a", 5), NOT_ENOUGH)
    return Scenario(
        world_of(2, (FULL,), a=text(0, 1, 2, 3, 4, prompt=4)),
        (Admit("a", 4), RunPass(), Fault("4 tokens fit, so the request fits", Grow("a", 5).effect, (not_now,))),
    )


def less_is_required_than_held() -> Refusal:
    plan = text(0, 1, 2, 3, 4, 5, 6, 7, prompt=8)
    return Refusal(world_of(6, (FULL,), a=plan), (Admit("a", 8), RunPass()), GetNewBlocks(3 - 4), Reason.BAD_COUNT)


SHOWN: dict[str, tuple[Callable[[], Shown], ...]] = {
    "DF-03": (a_merged_completion_gives_back_the_pins_of_two,),
    "LK-02": (the_table_goes_and_the_references_stay,),
    "LK-03": (one_block_of_each_request_stays,),
    "LK-06": (a_failed_admission_keeps_its_touches,),
    "LK-07": (a_failed_admission_keeps_its_state,),
    "LK-08": (the_second_chunk_begins_a_new_table,),
    "LK-10": (a_pin_of_a_lookup_is_never_taken_back,),
    "LK-11": (only_what_is_loaded_is_unlocked,),
    "LK-12": (
        the_done_signal_never_comes,
        the_done_signal_comes_after_the_lease,
    ),
    "LK-13": (a_completion_for_a_forgotten_request_is_dropped,),
    "LK-14": (a_sender_with_nothing_to_send_says_nothing,),
    "LK-15": (a_group_that_is_not_recognised_stays_pinned,),
    "LK-16": (the_release_names_another_request,),
    "UA-01": (a_hit_is_claimed_late,),
    "UA-02": (
        one_group_allocates_what_another_has_hit,
        one_group_allocates_what_another_has_hit_by_search,
    ),
    "UA-03": (new_blocks_are_taken_before_hits_are_touched,),
    "UA-04": (fewer_blocks_than_promised,),
    "UA-05": (an_old_step_writes_into_a_new_block,),
    "UA-06": (
        a_window_is_left_by_scheduled_tokens,
        a_window_is_left_by_scheduled_tokens_by_search,
    ),
    "UA-07": (a_match_of_an_earlier_chunk_is_written,),
    "UA-08": (a_shared_tail_gets_a_second_writer,),
    "UA-12": (duplicates_are_freed_and_stay_in_the_table,),
    "UA-13": (a_suffix_is_written_over_the_shared_beginning,),
    "UA-15": (a_shared_state_is_taken_for_private,),
    "UA-17": (a_store_is_not_told_that_its_block_is_reused,),
    "SH-05": (a_replaced_token_keeps_its_old_key,),
    "SH-07": (
        what_is_dropped_before_it_is_written_stays_published,
        what_is_dropped_stays_published_by_search,
    ),
    "SH-08": (a_half_filled_block_is_published_as_full,),
    "SH-12": (coarse_blocks_get_fine_keys,),
    "SH-14": (a_pending_block_is_stored,),
    "SH-15": (one_sharer_of_a_failed_block_goes_on,),
    "SH-17": (a_window_hit_loses_its_last_block,),
    "LH-03": (the_mask_leaves_out_what_the_lookup_needs,),
    "LH-04": (only_the_last_run_is_kept,),
    "LH-06": (one_group_misses_once_and_all_miss,),
    "LH-07": (only_the_last_state_of_a_chunk_is_kept,),
    "LH-08": (a_preempted_request_is_not_looked_up_again,),
    "NB-04": (tokens_run_into_the_null_block,),
    "NB-05": (a_null_entry_counts_as_failed,),
    "GC-01": (attention_lags_behind,),
    "GC-02": (the_state_lags_behind,),
    "GC-03": (only_one_group_of_a_failed_span_is_forgotten,),
    "AO-01": (the_table_does_not_grow,),
    "AO-02": (a_late_merge_rewrites_a_table,),
    "OB-04": (a_window_is_counted_with_a_cap,),
    "OB-06": (null_entries_count_as_held,),
    "OB-07": (
        the_copy_is_not_counted,
        the_copy_is_not_counted_by_search,
    ),
    "OB-10": (a_peer_takes_what_was_counted,),
    "OB-12": (a_page_is_not_rounded_up,),
    "OB-13": (one_token_more_than_the_pool_was_sized_for,),
    "BA-02": (less_is_required_than_held,),
}
"""What shows each report, by its id in `requests.json`."""
