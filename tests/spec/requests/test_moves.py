"""The machine with requests, by hand: what each move needs and does, what a lookup finds, in which order a pass works,
and for every claim a world that breaks it.
"""

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import pytest

from blockpool import spec
from blockpool.spec import (
    NULL,
    WORLD_INVARIANTS,
    WORLD_STEP_PROPERTIES,
    Admit,
    BeginTransfer,
    BlockId,
    Drop,
    EndTransfer,
    FreeBlocks,
    GetNewBlocks,
    Group,
    GroupId,
    Grow,
    Invalidate,
    Key,
    Kind,
    LookUp,
    Move,
    Plan,
    Prefix,
    Primary,
    Reset,
    Rules,
    Running,
    RunPass,
    Transfer,
    Unpin,
    Watcher,
    World,
    WorldStep,
    first_state,
    first_world,
)
from blockpool.spec.requests.hits import longest_hit
from blockpool.spec.requests.layout import Slot, Table
from blockpool.spec.requests.pool_calls import call, give_back, lend, touch
from blockpool.spec.requests.state import expected, holds

FULL, FULL_4 = Group(Kind.FULL, 2), Group(Kind.FULL, 4)
WINDOW, WIDE = Group(Kind.WINDOW, 2, window=2), Group(Kind.WINDOW, 2, window=4)
STATE, RING = Group(Kind.STATE, 2), Group(Kind.RING, 2)

A, B = Plan((0, 1, 2, 3, 4), 3), Plan((0, 1, 2, 7, 8), 4)
C = Plan((5, 5, 5, 5, 5, 5), 4)
OFTEN = dict.fromkeys(("preempt", "abort", "defer", "transfer", "failure", "reset"), 3)
T0, T1 = Watcher(0), Watcher(1)
G0, G1 = GroupId(0), GroupId(1)


def new(*layout: Group, blocks: int = 4, unit: int = 1, limits: dict[str, int] = OFTEN, **broken: bool) -> World:
    """A world in which nothing has happened. Three requests: b begins with the prompt of a, c is a stranger."""
    pool = first_state(blocks + 1, unit=unit, reporting=False)
    return first_world(pool, layout or (FULL,), {"a": A, "b": B, "c": C}, limits, Rules(**broken))


def after(world: World, *moves: Move) -> World:
    """The world after these moves, each of which may be made."""
    for move in moves:
        assert move.guard(world) == frozenset(), move
        world = move.effect(world)
    return world


def key(*tokens: int, group: int = 0) -> Key:
    return Key(Prefix(tokens), GroupId(group))


def slot(*tokens: int, group: int = 0) -> Slot:
    """What the place of the last of these tokens holds."""
    return (GroupId(group), tokens)


def refs(world: World) -> dict[int, int]:
    """The blocks held, and how often."""
    return {block: count for block, count in world.pool.refs.items() if count}


def index(world: World) -> dict[Key, set[int]]:
    return {found: set(blocks) for found, blocks in world.pool.index.items()}


def one_table(*blocks: int) -> tuple[Table, ...]:
    """The tables of a request in a model with one group."""
    return (tuple(map(BlockId, blocks)),)


def tables(world: World, request: str) -> tuple[Table, ...]:
    return world.running[request].tables


A_COMPUTED = after(new(), Admit("a", 3), RunPass())  # table 1, 2
A_SHARED = after(A_COMPUTED, Admit("b", 4))  # b: table 1, 3; 3 is to be a copy of 2
A_STATE = after(new(STATE), Admit("a", 3), RunPass())  # table null, 1
A_READ = after(A_COMPUTED, BeginTransfer("a", G0, 1))


# --- what a lookup finds ---


@dataclass(frozen=True)
class Case:
    """Published are prefixes of 0, 1, 2, ...: for each group, the length and the block."""

    layout: tuple[Group, ...]
    published: tuple[dict[int, int], ...]
    finds: tuple[int, tuple[tuple[int, ...], ...]]
    prompt: int = 6
    unit: int = 1


LOOKUPS = {
    "nothing is published": Case((FULL,), ({},), (0, ((),))),
    "full, whole blocks": Case((FULL,), ({2: 1, 4: 2},), (4, ((1, 2),))),
    "full, one token of the prompt is left": Case((FULL,), ({2: 1, 4: 2},), (2, ((1,),)), prompt=4),
    "full, inside a block": Case((FULL,), ({2: 1, 3: 2},), (3, ((1, 2),))),
    "full, a beginning inside a block of more": Case((FULL_4,), ({2: 1},), (2, ((1,),))),
    "full, a hole": Case((FULL,), ({4: 2},), (0, ((),))),
    "full, only units are looked at": Case((FULL_4,), ({4: 1, 6: 2, 7: 3},), (6, ((1, 2),)), prompt=9, unit=2),
    "full, a prompt that is no multiple of the unit": Case((FULL_4,), ({4: 1},), (4, ((1,),)), prompt=7, unit=4),
    "window, the last block is enough": Case((WINDOW,), ({4: 1},), (4, ((0, 1),))),
    "window, several blocks": Case((WIDE,), ({4: 2, 6: 1},), (6, ((0, 2, 1),)), prompt=8),
    "window, one block too few": Case((WIDE,), ({6: 1},), (0, ((),)), prompt=8),
    "window, a shorter hit": Case((WIDE,), ({2: 1, 4: 2, 8: 3},), (4, ((1, 2),)), prompt=10),
    "state, the last is enough": Case((STATE,), ({4: 1},), (4, ((0, 1),))),
    "state, inside a block": Case((STATE,), ({3: 1},), (3, ((0, 1),))),
    "state, the deepest": Case((STATE,), ({2: 1, 4: 2},), (4, ((0, 2),))),
    "ring, never": Case((RING,), ({},), (0, ((),))),
    "ring, and nobody else either": Case((FULL, RING), ({2: 1}, {}), (0, ((), ()))),
    "groups, both": Case((FULL, STATE), ({2: 1, 4: 2}, {4: 3}), (4, ((1, 2), (0, 3)))),
    "groups, the state is behind": Case((FULL, STATE), ({2: 1, 4: 2}, {2: 3}), (2, ((1,), (3,)))),
    "groups, attention is behind": Case((FULL, STATE), ({2: 1}, {4: 3}), (0, ((), ()))),
    "groups, the window is behind": Case((FULL, WINDOW), ({2: 1, 4: 2}, {2: 3}), (2, ((1,), (3,)))),
    "sizes, whole blocks of both": Case(
        (FULL_4, FULL), ({4: 1}, {2: 2, 4: 3, 6: 4}), (4, ((1,), (2, 3))), prompt=10, unit=2
    ),
    "sizes, inside a block of one": Case(
        (FULL_4, FULL), ({4: 1, 6: 5}, {2: 2, 4: 3, 6: 4}), (6, ((1, 5), (2, 3, 4))), prompt=10, unit=2
    ),
    "sizes, inside blocks of both": Case((FULL_4, FULL), ({3: 1}, {2: 2, 3: 3}), (3, ((1,), (2, 3)))),
}


def publishing(case: Case) -> World:
    """A world in which these blocks are published, and free."""
    text = tuple(range(12))
    keys = {
        BlockId(block): Key(Prefix(text[:tokens]), GroupId(group))
        for group, published in enumerate(case.published)
        for tokens, block in published.items()
    }
    pool = replace(
        first_state(9, unit=case.unit, reporting=False),
        primary={block: Primary(found, found.tokens) for block, found in keys.items()},
        index={found: frozenset({block}) for block, found in keys.items()},
    )
    return first_world(pool, case.layout, {"a": Plan(text, case.prompt)}, {})


@pytest.mark.parametrize("case", LOOKUPS.values(), ids=LOOKUPS.keys())
def test_a_lookup_finds_the_longest_prefix_that_all_groups_can_continue(case: Case) -> None:
    assert longest_hit(publishing(case), "a") == case.finds


def test_of_equal_blocks_any_is_found() -> None:
    world = publishing(LOOKUPS["full, whole blocks"])
    found = {**world.pool.index, key(0, 1): frozenset({BlockId(5), BlockId(3)})}
    assert longest_hit(replace(world, pool=replace(world.pool, index=found)), "a") == (4, ((3, 2),))


@pytest.mark.parametrize(
    ("case", "block", "finds", "impatient"),
    [
        (LOOKUPS["full, whole blocks"], 2, (4, ((1, 2),)), (4, ((1, 2),))),
        (LOOKUPS["full, inside a block"], 2, (2, ((1,),)), (3, ((1, 2),))),
        (LOOKUPS["state, the deepest"], 2, (2, ((1,),)), (4, ((0, 2),))),
        (LOOKUPS["groups, both"], 2, (4, ((1, 2), (0, 3))), (4, ((1, 2), (0, 3)))),
        (LOOKUPS["groups, both"], 3, (0, ((), ())), (4, ((1, 2), (0, 3)))),
    ],
)
def test_what_is_not_written_yet_is_found_by_attention_alone(
    case: Case, block: int, finds: Any, impatient: Any
) -> None:
    world = publishing(case)
    (found,) = world.pool.keys_of(BlockId(block))
    world = replace(world, fresh=frozenset({(found, BlockId(block), "z")}))
    assert longest_hit(world, "a") == finds
    assert longest_hit(replace(world, rules=Rules(wait_for_commit=False)), "a") == impatient


# --- what a block holds ---


@pytest.mark.parametrize(
    ("layout", "memory", "wanted", "answer"),
    [
        (FULL, {1: (slot(0), slot(0, 1))}, key(0, 1), True),
        (FULL, {1: (slot(0), slot(0, 1))}, key(0), True),
        (FULL, {1: (slot(0), None)}, key(0), True),
        (FULL, {1: (slot(0), None)}, key(0, 1), False),
        (FULL, {1: (None, slot(0, 1))}, key(0, 1), False),
        (FULL, {1: (slot(0), slot(0, 2))}, key(0, 1), False),
        (FULL, {1: (slot(9), slot(9, 1))}, key(0, 1), False),
        (FULL, {1: (slot(0, group=1), slot(0, 1, group=1))}, key(0, 1), False),
        (FULL, {1: (slot(0, 1, 2), slot(0, 1, 2, 3))}, key(0, 1, 2, 3), True),  # its own block only
        (FULL, {1: (slot(0, 1, 2), None)}, key(0, 1, 2), True),
        (FULL, {}, key(0, 1), False),
        (STATE, {1: (slot(0, 1),)}, key(0, 1), True),
        (STATE, {1: (slot(0, 1, 2),)}, key(0, 1), False),
        (STATE, {1: (slot(0, 1, 2),)}, key(0, 1, 2), True),
    ],
)
def test_a_block_holds_what_its_key_promises(layout: Group, memory: Any, wanted: Key, answer: bool) -> None:
    assert holds(replace(new(layout), memory=memory), BlockId(1), wanted) is answer


def test_the_null_block_holds_nothing() -> None:
    assert not holds(replace(new(), memory={NULL: (slot(0), slot(0, 1))}), NULL, key(0, 1))


def test_what_a_token_needs_is_all_before_it() -> None:
    assert expected(G1, A, 2) == slot(0, 1, 2, group=1)


# --- obstacles ---

IN_PASS = after(new(), Admit("a", 3))
LATE = new(claim_at_once=False)
MID_STATE = after(new(STATE), Admit("c", 1), RunPass())
FINISHED = after(A_COMPUTED, Grow("a", 4), RunPass(), Grow("a", 5), RunPass())
HIT_IN_PASS = after(IN_PASS, Admit("b", 3))
NO_LIMITS: dict[str, int] = {}
LEFT_WINDOW = after(new(WINDOW), Admit("c", 4), RunPass(), Grow("c", 5), RunPass())  # table null, 2, 3

LONGER = replace(A_STATE, plans={"a": A, "b": Plan((0, 1, 2, 7, 8, 9), 6)})  # the hit of b ends inside a block

OBSTACLES: list[tuple[Move, World, set[str]]] = [
    (LookUp("a"), new(), {"hits are claimed at once"}),
    (LookUp("a"), after(LATE, LookUp("a"), Admit("a", 3)), {"not waiting"}),
    (LookUp("a"), after(LATE, LookUp("a")), {"looked up already"}),
    (Admit("a", 3), IN_PASS, {"not waiting"}),
    (Admit("a", 3), LATE, {"looked nothing up"}),
    (Admit("a", 0), new(), {"nothing to compute"}),
    (Admit("b", 3), A_COMPUTED, {"nothing to compute"}),  # the hit is as long
    (Admit("a", 4), new(), {"beyond the prompt"}),
    (Admit("b", 5), LONGER, {"chunk ends between states"}),
    (Admit("b", 4), LONGER, set()),
    (Admit("a", 3), new(blocks=1), {"not enough free blocks"}),
    (Admit("b", 4), replace(A_COMPUTED, pool=replace(A_COMPUTED.pool, queue=())), {"not enough free blocks"}),
    (Grow("a", 3), new(), {"not running"}),
    (Grow("a", 4), IN_PASS, {"in this pass already", "beyond what is known"}),
    (Grow("a", 3), A_COMPUTED, {"nothing to compute"}),
    (Grow("a", 5), A_COMPUTED, {"beyond what is known"}),  # one token at a time is generated
    (Grow("a", 6), FINISHED, {"beyond what is known"}),
    (Grow("c", 3), MID_STATE, {"chunk ends between states"}),
    (Grow("c", 2), MID_STATE, set()),
    (Grow("a", 4), after(new(STATE, blocks=1), Admit("a", 3), RunPass()), {"not enough free blocks"}),  # for a copy
    (Drop("a", False), new(), {"not running"}),
    (Drop("a", True), after(new(limits=NO_LIMITS), Admit("a", 3), RunPass()), {"no preempt left"}),
    (Drop("a", False), after(new(limits=NO_LIMITS), Admit("a", 3), RunPass()), {"no abort left"}),
    (Drop("a", False), replace(FINISHED, limits=NO_LIMITS), set()),
    (Drop("a", True, True), after(new(limits={"preempt": 1}), Admit("a", 3)), {"nothing deferred here"}),
    (Drop("a", False), HIT_IN_PASS, {"others read what it is about to write"}),
    (Drop("b", False), HIT_IN_PASS, set()),
    (Drop("a", False), after(HIT_IN_PASS, RunPass()), set()),
    (RunPass(), new(), {"nothing scheduled"}),
    (RunPass(), A_COMPUTED, {"nothing scheduled"}),
    (RunPass(), after(IN_PASS, Drop("a", True, True)), set()),
    (BeginTransfer("a", G0, 0), new(), {"not running"}),
    (BeginTransfer("a", G0, 0), replace(A_COMPUTED, limits=NO_LIMITS), {"no transfer left"}),
    (BeginTransfer("a", G0, 0), IN_PASS, {"still to be written or copied"}),
    (BeginTransfer("a", G0, 0), A_SHARED, {"still to be written or copied"}),
    (BeginTransfer("a", G0, 2), A_COMPUTED, {"no block there"}),
    (BeginTransfer("c", G0, 0), LEFT_WINDOW, {"no block there"}),
    (BeginTransfer("a", G0, 0), after(new(RING), Admit("a", 3), RunPass()), {"overwritten in turn"}),
    (Unpin(T0), A_COMPUTED, {"not pinned"}),
    (Unpin(T0), after(A_READ, Unpin(T0)), {"not pinned"}),
    (EndTransfer(T0), A_COMPUTED, {"no such transfer"}),
    (Invalidate("a"), new(), {"not running"}),
    (Invalidate("a"), replace(A_COMPUTED, limits=NO_LIMITS), {"no failure left"}),
    (Reset(), A_COMPUTED, {"blocks are held"}),
    (Reset(), new(limits=NO_LIMITS), {"no reset left"}),
    (Reset(), after(A_COMPUTED, Drop("a", False)), set()),
]


@pytest.mark.parametrize(
    ("move", "world", "obstacles"),
    OBSTACLES,
    ids=[f"{number}-{move.name}" for number, (move, *_) in enumerate(OBSTACLES)],
)
def test_why_a_move_is_not_made(move: Move, world: World, obstacles: set[str]) -> None:
    assert move.guard(world) == obstacles


def test_rules_that_are_switched_off_are_no_obstacle() -> None:
    loose = replace(MID_STATE, rules=Rules(states_end_at_boundaries=False))
    assert Grow("c", 3).guard(loose) == frozenset()
    assert Drop("a", False).guard(replace(HIT_IN_PASS, rules=Rules(withdraw_when_dropped=False))) == frozenset()
    tight = replace(A_SHARED, pool=replace(A_COMPUTED.pool, queue=()), running={}, waiting=frozenset({"b"}))
    assert Admit("b", 4).guard(replace(tight, rules=Rules(count_what_hits_take=False))) == frozenset()


def test_an_admission_counts_hits_that_are_free() -> None:
    """Blocks 1 and 2 are cached and free; b needs both, and one for the copy of 2."""
    cached = after(new(blocks=3), Admit("a", 3), RunPass(), Drop("a", False))
    assert Admit("b", 4).guard(cached) == frozenset()
    fewer = after(new(blocks=2), Admit("a", 3), RunPass(), Drop("a", False))
    assert Admit("b", 4).guard(fewer) == {"not enough free blocks"}


# --- admission ---


def test_the_first_request_gets_new_blocks() -> None:
    world = IN_PASS
    assert world.running == {"a": Running(one_table(1, 2), 0, 3, (1,))}
    assert world.running["a"].in_pass
    assert world.waiting == {"b", "c"}
    assert refs(world) == {1: 1, 2: 1}
    assert world.pool.queue == (3, 4)
    assert index(world) == {key(0, 1): {1}, key(0, 1, 2): {2}}  # the end of the prompt is inside a block
    assert world.fresh == {(key(0, 1), 1, "a"), (key(0, 1, 2), 2, "a")}
    assert (world.copies, world.retained, world.memory, world.used) == ((), (), {}, {})


def test_the_end_of_a_prompt_that_is_no_whole_unit_is_not_published() -> None:
    assert index(after(new(FULL, unit=2), Admit("a", 3))) == {key(0, 1): {1}}


def test_a_first_chunk_publishes_only_what_it_fills() -> None:
    assert index(after(new(), Admit("a", 1))) == {}
    assert index(after(new(), Admit("a", 2))) == {key(0, 1): {1}}


def test_a_hit_is_touched_and_its_half_used_end_is_copied() -> None:
    world = A_SHARED
    assert tables(world, "b") == ((1, 3),)
    assert world.running["b"] == Running(one_table(1, 3), 3, 4, (2,))
    assert (world.copies, world.retained) == (((2, 3),), (2, 3))
    assert refs(world) == {1: 2, 2: 2, 3: 2}  # 2: a and the copy; 3: b and the copy
    assert world.fresh == {(key(0, 1, 2, 7), 3, "b")}
    assert tables(world, "a") == ((1, 2),)


def test_in_the_same_pass_a_half_used_block_is_no_hit() -> None:
    world = HIT_IN_PASS
    assert tables(world, "b") == ((1, 3),)
    assert world.running["b"].computed == 2
    assert world.copies == ()
    assert refs(world) == {1: 2, 2: 1, 3: 1}


def test_every_group_has_a_table_of_its_own() -> None:
    world = after(new(FULL, STATE, RING, WINDOW, blocks=9), Admit("c", 4))
    assert tables(world, "c") == ((1, 2), (NULL, 3), (4,), (5, 6))
    assert world.running["c"].cached == (2, 2, 0, 2)
    assert set(index(world)) == {
        key(5, 5),
        key(5, 5, 5, 5),
        key(5, 5, 5, 5, group=1),  # only the state at the end of the chunk
        key(5, 5, group=3),
        key(5, 5, 5, 5, group=3),
    }


def test_hits_of_all_groups_are_touched_before_any_group_allocates() -> None:
    """Block 1 holds the prefix of one group, 2 that of the other; both are free and next to be handed out."""
    layout = (FULL, FULL)
    before = after(
        first_world(
            first_state(5, reporting=False), layout, {"z": Plan((0, 1), 2), "y": Plan((9, 9), 2), "a": A}, OFTEN
        ),
        *(Admit("z", 2), RunPass(), Drop("z", False)),
        *(Admit("y", 2), RunPass(), Drop("y", False)),
    )
    assert before.pool.queue == (1, 2, 3, 4)
    assert tables(after(before, Admit("a", 3)), "a") == ((1, 3), (2, 4))
    careless = replace(before, rules=Rules(touch_before_allocating=False))
    assert tables(after(careless, Admit("a", 3)), "a") == ((1, 2), (2, 3))


def test_a_hit_found_earlier_is_believed() -> None:
    world = after(LATE, LookUp("b"))
    assert world.looked_up == {"b": (0, ((),))}
    world = after(world, LookUp("a"), Admit("a", 3), RunPass(), Admit("b", 4))
    assert world.looked_up == {}
    assert tables(world, "b") == ((3, 4),)


# --- growth ---


def test_a_table_grows_at_its_end() -> None:
    world = after(A_COMPUTED, Grow("a", 4))
    assert tables(world, "a") == ((1, 2),)
    assert index(world) == {key(0, 1): {1}, key(0, 1, 2, 3): {2}}  # the partial key gives way
    world = after(world, RunPass(), Grow("a", 5))
    assert tables(world, "a") == ((1, 2, 3),)
    assert world.running["a"] == Running(one_table(1, 2, 3), 4, 5, (2,), dispatched=True)


def test_what_left_the_window_is_given_back() -> None:
    before = after(new(WINDOW), Admit("c", 4), RunPass())
    world = after(before, Grow("c", 5))
    assert tables(world, "c") == ((NULL, 2, 3),)
    assert refs(world) == {2: 1, 3: 1}
    assert world.pool.queue == (4, 1)  # it is cached, so it is kept longest


def test_a_window_is_left_when_tokens_are_processed() -> None:
    """At 4 tokens of a window of 4, the token at 4 reads from 1 on; the one at 5 would not."""
    for upright, table in ((True, (1, 2, 3)), (False, (NULL, 2, 3))):
        before = after(new(WIDE, release_by_processed=upright), Admit("c", 4), RunPass())
        assert tables(after(before, Grow("c", 5)), "c") == (table,)


def test_a_ring_stays_one_block_without_a_key() -> None:
    world = after(new(RING), Admit("a", 3), RunPass(), Grow("a", 4))
    assert tables(world, "a") == ((1,),)
    assert index(world) == {}


def test_a_published_state_leaves_its_keys_to_a_copy() -> None:
    world = after(A_STATE, Grow("a", 4))
    assert tables(world, "a") == ((NULL, 1),)
    assert index(world) == {key(0, 1, 2): {2}, key(0, 1, 2, 3): {1}}
    assert (world.copies, world.retained) == (((1, 2),), (1, 2))
    assert refs(world) == {1: 2, 2: 1}  # 1: a and the copy; 2: the copy alone
    world = after(world, RunPass())
    assert world.memory == {1: (slot(0, 1, 2, 3),), 2: (slot(0, 1, 2),)}
    assert refs(world) == {1: 1}
    assert world.pool.queue == (3, 4, 2)


def test_a_state_that_is_read_stays_and_the_request_moves() -> None:
    world = after(A_STATE, BeginTransfer("a", G0, 1), Grow("a", 4))
    assert tables(world, "a") == ((NULL, 3),)
    assert index(world) == {key(0, 1, 2): {2}, key(0, 1, 2, 3): {3}}
    assert world.copies == ((1, 2), (1, 3))
    assert refs(world) == {1: 3, 2: 1, 3: 2}
    world = after(world, RunPass())
    assert refs(world) == {1: 1, 3: 1}  # 1: the reader
    assert world.memory[BlockId(1)] == (slot(0, 1, 2),)


def test_a_watched_state_is_spared() -> None:
    for spared, table in ((True, (NULL, 3)), (False, (NULL, 1))):
        before = after(
            new(STATE, spare_watched_blocks=spared), Admit("a", 3), RunPass(), BeginTransfer("a", G0, 1), Unpin(T0)
        )
        assert tables(after(before, Grow("a", 4)), "a") == (table,)


def test_a_state_that_nobody_sees_is_updated_in_place() -> None:
    world = after(new(STATE), Admit("c", 1), RunPass(), Grow("c", 2))
    assert tables(world, "c") == ((1,),)
    assert (world.copies, refs(world)) == ((), {1: 1})


# --- the end of a request ---


def test_a_request_dropped_from_its_pass_takes_back_what_it_published() -> None:
    world = after(IN_PASS, Drop("a", again=True))
    assert not world.running
    assert world.waiting == {"a", "b", "c"}
    assert world.used == {"preempt": 1}
    assert (index(world), world.fresh, refs(world)) == ({}, frozenset(), {})
    assert world.pool.queue == (2, 1, 3, 4)  # worthless, its end first


def test_a_request_without_the_rule_leaves_what_it_published() -> None:
    world = after(new(withdraw_when_dropped=False), Admit("a", 3), Drop("a", again=True))
    assert index(world) == {key(0, 1): {1}, key(0, 1, 2): {2}}


def test_a_computed_request_leaves_its_cache_behind() -> None:
    world = after(A_COMPUTED, Drop("a", again=False))
    assert not world.running
    assert world.waiting == {"b", "c"}
    assert world.used == {"abort": 1}
    assert index(world) == {key(0, 1): {1}, key(0, 1, 2): {2}}
    assert world.pool.queue == (3, 4, 2, 1)
    careless = replace(A_COMPUTED, rules=Rules(tails_first=False))
    assert after(careless, Drop("a", again=False)).pool.queue == (3, 4, 1, 2)


def test_a_finished_request_is_not_an_aborted_one() -> None:
    assert after(FINISHED, Drop("a", again=False)).used == {}


def test_deferred_references_come_back_after_the_pass() -> None:
    world = after(A_COMPUTED, Drop("a", again=True, deferred=True))
    assert (world.deferred, refs(world)) == ((2, 1), {1: 1, 2: 1})
    assert world.used == {"preempt": 1, "defer": 1}
    world = after(world, RunPass())
    assert (world.deferred, refs(world), world.pool.queue) == ((), {}, (3, 4, 2, 1))


def test_a_dropped_request_leaves_a_pending_copy_to_the_pass() -> None:
    world = after(A_SHARED, Drop("b", again=True))
    assert (world.copies, world.retained, refs(world)) == (((2, 3),), (2, 3), {1: 1, 2: 2, 3: 1})
    world = after(world, RunPass())
    assert (world.copies, refs(world)) == ((), {1: 1, 2: 1})


# --- a pass ---


def test_a_pass_writes_every_scheduled_token() -> None:
    world = A_COMPUTED
    assert world.memory == {1: (slot(0), slot(0, 1)), 2: (slot(0, 1, 2), None)}
    assert world.running["a"] == Running(one_table(1, 2), 3, 3, (1,), dispatched=True)
    assert (world.fresh, world.misread) == (frozenset(), frozenset())


def test_a_pass_copies_before_it_writes() -> None:
    world = after(A_SHARED, RunPass())
    assert world.memory[BlockId(3)] == (slot(0, 1, 2), slot(0, 1, 2, 7))
    assert (world.copies, world.retained, refs(world)) == ((), (), {1: 2, 2: 1, 3: 1})
    assert not world.misread
    late = after(replace(A_SHARED, rules=Rules(copies_before_writes=False)), RunPass())
    assert late.memory[BlockId(3)] == (slot(0, 1, 2), None)
    assert late.misread == {("b", 0, 3)}


def test_copies_run_in_their_order() -> None:
    world = replace(A_COMPUTED, copies=((BlockId(2), BlockId(3)), (BlockId(3), BlockId(4))))
    assert after(world, RunPass()).memory[BlockId(4)] == (slot(0, 1, 2), None)


def test_a_state_is_written_once_where_the_chunk_ends() -> None:
    assert A_STATE.memory == {1: (slot(0, 1, 2),)}


def test_a_ring_keeps_the_last_tokens() -> None:
    world = after(new(RING), Admit("a", 3), RunPass())
    assert world.memory == {1: (slot(0, 1, 2), slot(0, 1))}
    assert not after(world, Grow("a", 4), RunPass()).misread
    assert after(replace(world, memory={}), Grow("a", 4), RunPass()).misread == {("a", 0, 2)}


def beside(group: Group, computed: int) -> World:
    """c is to write block 1 in this pass; d, with the same tokens, reads it and writes block 2."""
    writer = Running(one_table(1), 0, 2, (0,))
    reader = Running(one_table(1, 2), computed, 3, (1,))
    world = replace(new(group), running={"c": writer, "d": reader}, plans={"c": C, "d": C})
    return touch(lend(world, 2)[0], (BlockId(1),))


def test_attention_reads_after_everything_is_written_and_a_state_before() -> None:
    assert after(beside(FULL, 2), RunPass()).misread == set()
    assert after(beside(STATE, 2), RunPass()).misread == {("d", 0, 1)}


def test_a_request_reads_what_its_groups_look_back_to() -> None:
    """Memory is lost; what each kind of group reads of it when the token at 4 is computed."""
    for group, positions in ((FULL, {0, 1, 2, 3}), (WINDOW, {3}), (WIDE, {1, 2, 3}), (STATE, {3})):
        before = after(new(group), Admit("c", 4), RunPass())
        world = after(replace(before, memory={}), Grow("c", 5), RunPass())
        assert world.misread == {("c", 0, position) for position in positions}


def test_the_null_block_and_the_end_of_a_table_are_misread_and_not_written() -> None:
    for table in ((BlockId(1), NULL), (BlockId(1),)):
        world = replace(A_COMPUTED, running={"a": Running((table,), 2, 3, (1,))})
        world = after(replace(world, memory={}), RunPass())
        assert world.memory == {}
        assert world.misread == {("a", 0, 0), ("a", 0, 1), ("a", 0, 2)}


# --- outside ---


def test_a_transfer_pins_and_remembers_what_is_there() -> None:
    world = A_READ
    assert world.transfers == {T0: Transfer(BlockId(2), (slot(0, 1, 2), None))}
    assert (refs(world), world.used) == ({1: 1, 2: 2}, {"transfer": 1})
    assert set(after(world, BeginTransfer("a", G0, 0)).transfers) == {T0, T1}


def test_a_transfer_ends() -> None:
    assert (after(A_READ, EndTransfer(T0)).transfers, refs(after(A_READ, EndTransfer(T0)))) == ({}, {1: 1, 2: 1})


def test_an_unpinned_reader_watches_and_can_stop() -> None:
    world = after(A_READ, Unpin(T0))
    assert world.transfers == {T0: Transfer(BlockId(2), (slot(0, 1, 2), None), pinned=False)}
    assert refs(world) == {1: 1, 2: 1}
    assert world.pool.watchers == {2: {T0}}
    world = after(world, EndTransfer(T0))
    assert (world.transfers, world.pool.watchers, refs(world)) == ({}, {}, {1: 1, 2: 1})


def test_a_reader_is_told_when_its_block_is_reused() -> None:
    world = after(A_READ, Unpin(T0), Drop("a", False))
    assert set(after(world, Admit("c", 4)).transfers) == {T0}  # 3 and 4
    assert after(after(world, Admit("c", 4)), RunPass(), Grow("c", 5)).transfers == {}


def test_an_invalidated_request_keeps_its_blocks_and_nobody_finds_them() -> None:
    world = after(A_COMPUTED, Invalidate("a"))
    assert (index(world), refs(world), world.used) == ({}, {1: 1, 2: 1}, {"failure": 1})
    assert world.memory == A_COMPUTED.memory
    assert index(after(LEFT_WINDOW, Invalidate("c"))) == {key(5, 5): {1}}  # no longer in its table


def test_a_reset_forgets_everything() -> None:
    world = after(A_READ, Unpin(T0), Drop("a", False), Reset())
    assert (index(world), world.transfers, world.pool.watchers, world.used["reset"]) == ({}, {}, {}, 1)


# --- calls ---


def test_a_refused_call_leaves_a_mark_and_nothing_else() -> None:
    for action, mark in (
        (GetNewBlocks(5), "get_new_blocks: not enough free blocks"),
        (FreeBlocks((BlockId(3),)), "free_blocks: not held"),
    ):
        world, step = call(A_COMPUTED, action)
        assert step.refused
        assert world == replace(A_COMPUTED, refused=frozenset({mark}))
    assert lend(A_COMPUTED, 3) == (
        replace(A_COMPUTED, refused=frozenset({"get_new_blocks: not enough free blocks"})),
        (),
    )


def test_lending_forgets_what_memory_held() -> None:
    world, blocks = lend(after(A_COMPUTED, Drop("a", False)), 3)
    assert (blocks, world.memory) == ((3, 4, 2), {1: (slot(0), slot(0, 1))})


def test_null_entries_are_neither_touched_nor_given_back() -> None:
    assert touch(A_COMPUTED, (NULL,)) is A_COMPUTED
    assert refs(touch(A_COMPUTED, (NULL, BlockId(1)))) == {1: 2, 2: 1}
    assert give_back(A_COMPUTED, (NULL,)) is A_COMPUTED
    assert refs(give_back(A_COMPUTED, (NULL, BlockId(1)))) == {2: 1}
    assert lend(A_COMPUTED, 0) == (A_COMPUTED, ())


# --- claims ---


def with_pool(world: World, **changed: Any) -> World:
    return replace(world, pool=replace(world.pool, **changed))


def with_table(world: World, *table: int) -> World:
    blocks = tuple(map(BlockId, table))
    return replace(world, running={"a": replace(world.running["a"], tables=(blocks,))})


IDLE = after(A_COMPUTED, Drop("a", False))

BROKEN_WORLDS: list[tuple[str, World, World]] = [
    ("hits_are_sound", A_COMPUTED, replace(A_COMPUTED, memory={})),
    ("hits_are_sound", A_COMPUTED, with_pool(A_COMPUTED, index={key(0, 1): frozenset({BlockId(2)})})),
    ("hits_are_sound", IN_PASS, replace(IN_PASS, fresh=frozenset())),
    ("hits_are_sound", IN_PASS, replace(IN_PASS, running={})),  # published by nobody who will write
    ("hits_are_sound", after(A_STATE, Grow("a", 4)), replace(after(A_STATE, Grow("a", 4)), copies=())),
    (
        "requests_read_only_their_own_prefix",
        after(A_COMPUTED, Grow("a", 4), RunPass()),
        after(replace(A_COMPUTED, memory={}), Grow("a", 4), RunPass()),
    ),
    ("transfers_read_the_old_content", A_READ, replace(A_READ, memory={})),
    ("transfers_read_the_old_content", A_READ, replace(A_READ, memory={BlockId(2): (slot(0, 1, 9), None)})),
    ("every_reference_is_accounted_for", A_COMPUTED, with_table(A_COMPUTED, 1)),
    ("every_reference_is_accounted_for", A_COMPUTED, with_table(A_COMPUTED, 1, 2, 2)),
    ("every_reference_is_accounted_for", A_SHARED, replace(A_SHARED, retained=())),
    ("every_reference_is_accounted_for", A_READ, replace(A_READ, transfers={})),
    ("every_reference_is_accounted_for", A_READ, replace(A_READ, deferred=(BlockId(1),))),
    ("when_all_is_quiet_every_block_is_free", IDLE, lend(IDLE, 1)[0]),
    (
        "a_checked_call_is_not_refused",
        A_COMPUTED,
        replace(A_COMPUTED, refused=frozenset({"get_new_blocks: not enough free blocks"})),
    ),
    (
        "what_can_be_hit_is_closed_under_prefixes",
        IDLE,
        with_pool(IDLE, index={key(0, 1, 2): frozenset({BlockId(2)})}),
    ),
    ("the_pools_own_invariants_hold", A_COMPUTED, with_pool(A_COMPUTED, queue=(3, 3))),
    ("the_pools_own_invariants_hold", A_COMPUTED, with_pool(A_COMPUTED, index={})),
]


def table_step(group: Group, table: tuple[int, ...], move: Move | None = None, *, dispatched: bool = True) -> WorldStep:
    """The table of a request was 1, 2."""
    before = replace(new(group), running={"a": Running(one_table(1, 2), 3, 3, (1,), dispatched)})
    return WorldStep(before, move or RunPass(), frozenset(), None, with_table(before, *table))


TABLE_STEPS = [
    (table_step(FULL, (1, 2)), True),
    (table_step(FULL, (1, 2, 3)), True),
    (table_step(WINDOW, (0, 2, 3)), True),
    (table_step(STATE, (1, 3)), True),
    (table_step(FULL, (1, 3)), False),
    (table_step(WINDOW, (3, 2)), False),
    (table_step(FULL, (1,)), False),
    (table_step(STATE, (1,)), False),
    (table_step(FULL, ()), False),
    (table_step(FULL, (1, 3), dispatched=False), None),
    (table_step(FULL, (1, 3), Drop("a", again=True)), None),
]

INVARIANTS_BY_NAME = {claim.name: claim for claim in WORLD_INVARIANTS}


@pytest.mark.parametrize(
    ("claim", "good", "bad"),
    BROKEN_WORLDS,
    ids=[f"{number}-{name}" for number, (name, *_) in enumerate(BROKEN_WORLDS)],
)
def test_a_claim_tells_a_good_world_from_a_bad_one(claim: str, good: World, bad: World) -> None:
    assert INVARIANTS_BY_NAME[claim].judge(good) is True
    assert INVARIANTS_BY_NAME[claim].judge(bad) is False


@pytest.mark.parametrize(("step", "verdict"), TABLE_STEPS)
def test_a_table_grows_only_at_the_end(step: WorldStep, verdict: bool | None) -> None:
    (claim,) = WORLD_STEP_PROPERTIES
    assert claim.name == "tables_grow_only_at_the_end"
    assert claim.judge(step) is verdict


def test_every_claim_can_be_broken() -> None:
    assert {name for name, *_ in BROKEN_WORLDS} == set(INVARIANTS_BY_NAME)


@pytest.mark.parametrize(
    ("claim", "world"),
    [
        ("hits_are_sound", new()),
        ("requests_read_only_their_own_prefix", IN_PASS),
        ("transfers_read_the_old_content", A_COMPUTED),
        ("when_all_is_quiet_every_block_is_free", A_COMPUTED),
        ("when_all_is_quiet_every_block_is_free", after(A_READ, Drop("a", False))),
        ("when_all_is_quiet_every_block_is_free", after(A_COMPUTED, Drop("a", False, True))),
        ("when_all_is_quiet_every_block_is_free", replace(IDLE, copies=((BlockId(1), BlockId(2)),))),
        ("a_checked_call_is_not_refused", new()),
        ("what_can_be_hit_is_closed_under_prefixes", A_STATE),
        ("what_can_be_hit_is_closed_under_prefixes", A_READ),
    ],
)
def test_a_claim_has_nothing_to_say(claim: str, world: World) -> None:
    assert INVARIANTS_BY_NAME[claim].judge(world) is None


def test_once_a_reader_was_told_the_block_may_be_written() -> None:
    """The part of a block that was not written when the reading began may be written meanwhile."""
    judge = INVARIANTS_BY_NAME["transfers_read_the_old_content"].judge
    assert judge(after(A_READ, Grow("a", 4), RunPass())) is True
    assert judge(replace(A_READ, memory={BlockId(2): (slot(0, 1, 2), slot(9))})) is True


# --- effects ---

A_LIFE: tuple[Move, ...] = (
    LookUp("a"),
    Admit("a", 3),
    RunPass(),
    BeginTransfer("a", G0, 1),
    BeginTransfer("a", G1, 1),
    Unpin(T1),
    LookUp("b"),
    Admit("b", 4),
    RunPass(),
    Grow("a", 4),
    Drop("b", True),
    RunPass(),
    Invalidate("a"),
    EndTransfer(T0),
    EndTransfer(T1),
    Drop("a", False, True),
    RunPass(),
    LookUp("b"),
    LookUp("c"),
    Admit("c", 4),
    RunPass(),
    Drop("c", False),
    Reset(),
)


def test_effects_change_nothing_in_place() -> None:
    """Every move is made, a world is left as it was, and the same move leads to the same world again."""
    world = new(FULL, STATE, blocks=12, claim_at_once=False)
    for move in A_LIFE:
        assert move.guard(world) == frozenset(), move
        kept = deepcopy(world)
        reached = move.effect(world)
        assert world == kept
        assert move.effect(world) == reached
        assert (reached.layout, reached.plans, reached.limits, reached.rules) == (
            world.layout,
            world.plans,
            world.limits,
            world.rules,
        )
        world = reached
    moves = {kind for kind in vars(spec).values() if isinstance(kind, type) and issubclass(kind, Move)}
    assert {type(move) for move in A_LIFE} == moves - {Move}


def test_a_move_has_a_guard_and_an_effect_of_its_own() -> None:
    for ask in (Move().guard, Move().effect):
        with pytest.raises(TypeError, match="has no"):
            ask(new())
    assert list(Reset().answers(new())) == [None]


@pytest.mark.parametrize(
    ("kind", "size", "window"), [(Kind.WINDOW, 2, 1), (Kind.WINDOW, 2, 0), (Kind.FULL, 2, 3), (Kind.FULL, 0, 0)]
)
def test_a_group_that_makes_no_sense_is_refused(kind: Kind, size: int, window: int) -> None:
    with pytest.raises(ValueError, match="at least"):
        Group(kind, size, window=window)
