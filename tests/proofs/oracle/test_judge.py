"""Each law of the oracle, and each party: the shortest calls that break it, judged as exactly that."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockpool.proofs.oracle import (
    AllCleared,
    Alloc,
    Call,
    Cancel,
    Events,
    Fault,
    Free,
    FreeCount,
    Judge,
    Lookup,
    Move,
    Ok,
    Publish,
    PublishPartial,
    Refused,
    RemovedKeys,
    Reply,
    Reset,
    Share,
    Start,
    Started,
    StoredKeys,
    Unpin,
    Unpublish,
    Writable,
)
from blockpool.spec.contract.judge import check_started
from blockpool.spec.contract.laws import LAWS, PROMISES
from blockpool.spec.contract.profiles import INDEX, LRU, PROFILES, SAFETY, Profile
from blockpool.spec.contract.violation import DUTIES, RULES_OF_CALLERS, Breach
from tests.proofs.oracle.spec_as_pool import OPERATIONS

STRICT = PROFILES["strict"]
LOOSE = replace(STRICT, name="loose", misuse="undefined")
TOLERANT = replace(STRICT, name="tolerant", misuse="tolerant")
DEDUP = replace(INDEX, name="dedup", duplicates="dedup")
FIRST = replace(INDEX, name="first", choice="first", duplicates="keep_all")
LAST_COPY = replace(INDEX, name="last copy", events="last_copy", reserved="skipped")

Trace = Sequence[tuple[Call, object]]


def judged(profile: Profile, trace: Trace, *, blocks: int = 3, caching: bool = True, order: bool = True) -> Judge:
    """A pool of blocks 1, 2, 3, block 0 reserved."""
    begun = Started(blocks, (0,), tuple(range(1, blocks + 1)) if order else None)
    judge = Judge(profile, Start(blocks, caching, events=True), begun, OPERATIONS)
    for place, (call, answer) in enumerate(trace):
        reply: Reply = answer if isinstance(answer, Ok | Refused | Fault) else Ok(answer)  # type: ignore[arg-type]
        breach = judge.judge(call, reply)
        assert breach is None or place == len(trace) - 1, (place, breach)
    return judge


def breach_of(profile: Profile, trace: Trace, **setting: bool) -> Breach:
    breach = judged(profile, trace, **setting).ended  # type: ignore[arg-type]
    assert breach is not None
    return breach


def published(block: int = 1, key: str = "a", tokens: int = 4) -> list[tuple[Call, object]]:
    return [(Alloc(1), (block,)), (Publish((block,), (key,), (tokens,)), (block,))]


def stored(*keys: str, tokens: int = 4, parent: str | None = None) -> StoredKeys:
    return StoredKeys(keys, parent, tokens, 4)


BROKEN: list[tuple[str, str, Profile, Trace]] = [
    ("a_block_has_one_user_until_it_is_shared", "pool", SAFETY, [(Alloc(1), (1,)), (Alloc(1), (1,))]),
    ("a_block_has_one_user_until_it_is_shared", "pool", SAFETY, [(Alloc(2), (2, 2))]),
    ("a_block_has_one_user_until_it_is_shared", "pool", STRICT, [(Alloc(1), (1,)), (Alloc(1), (1,))]),
    ("only_blocks_of_the_pool_are_lent", "pool", SAFETY, [(Alloc(1), (0,))]),
    ("only_blocks_of_the_pool_are_lent", "pool", SAFETY, [(Alloc(1), (4,))]),
    ("free_is_what_is_not_held", "pool", SAFETY, [(Alloc(1), (2,)), (FreeCount(), 3)]),
    ("free_is_what_is_not_held", "pool", SAFETY, [(Alloc(1), (2,)), (Free((2,)), None), (FreeCount(), 2)]),
    ("an_allocation_succeeds_if_it_fits", "pool", SAFETY, [(Alloc(3), Refused("no"))]),
    ("an_allocation_succeeds_if_it_fits", "pool", SAFETY, [(Alloc(2), (1,))]),
    ("an_allocation_succeeds_if_it_fits", "pool", SAFETY, [(Alloc(4), (1, 2, 3))]),
    ("only_blocks_of_the_pool_are_lent", "pool", STRICT, [(Alloc(3), (1, 2, 3)), (Alloc(1), (5,))]),
    (
        "a_repeated_release_counts_each_naming",
        "pool",
        SAFETY,
        [(Alloc(1), (1,)), (Share((1,)), None), (Free((1, 1)), None), (FreeCount(), 4)],
    ),
    (
        "a_repeated_release_counts_each_naming",
        "pool",
        STRICT,
        [(Alloc(1), (1,)), (Share((1,)), None), (Free((1, 1)), None), (Alloc(3), (1, 1, 2))],
    ),
    ("a_hit_carries_its_key", "pool", SAFETY, [*published(), (Lookup("b"), (1,))]),
    ("a_hit_carries_its_key", "pool", SAFETY, [*published(), (Lookup("a", (1,)), (1,))]),
    ("a_hit_carries_its_key", "pool", STRICT, [*published(), (Lookup("a", (0, 1)), (1, 1))]),
    ("a_hit_carries_its_key", "pool", STRICT, [(Publish((0,), ("a",), (4,)), (0,)), (Lookup("a"), (0,))]),
    ("a_hit_carries_its_key", "pool", STRICT, [*published(), (Unpublish((1,)), None), (Lookup("a"), (1,))]),
    (
        "a_hit_carries_its_key",
        "pool",
        SAFETY,
        [*published(), (Free((1,)), None), (Alloc(1), (1,)), (Lookup("a"), (1,))],
    ),
    (
        "publishing_answers_what_the_caller_holds",
        "pool",
        DEDUP,
        [(Alloc(1), (1,)), (Publish((1,), ("a",), (4,)), (2,))],
    ),
    (
        "watchers_are_told_once_before_reuse",
        "pool",
        STRICT,
        [(Alloc(3), (1, 2, 3)), (Unpin((2,), "r"), None), (Alloc(1), (2,))],
    ),
    (
        "watchers_are_told_once_before_reuse",
        "pool",
        STRICT,
        [(Alloc(1), (1,)), (Unpin((1,), "r"), None), (Reset(), Ok(True, ((1, "r"), (1, "r"))))],
    ),
    ("watchers_are_told_once_before_reuse", "pool", STRICT, [(Alloc(1), Ok((1,), ((1, "r"),)))]),
    (
        "cancelling_answers_whether_it_watched",
        "pool",
        STRICT,
        [(Alloc(1), (1,)), (Unpin((1,), "r"), None), (Cancel(1, "other"), True)],
    ),
    ("writable_only_if_unobserved", "pool", STRICT, [*published(), (Writable(1), True)]),
    ("writable_only_if_unobserved", "pool", STRICT, [(Alloc(1), (1,)), (Share((1,)), None), (Writable(1), True)]),
    ("writable_only_if_unobserved", "pool", STRICT, [(Alloc(1), (1,)), (Writable(1), False)]),
    (
        "writable_only_if_unobserved",
        "pool",
        STRICT,
        [(Alloc(1), (1,)), (Share((1,)), None), (Unpin((1,), "r"), None), (Writable(1), True)],
    ),
    ("a_legal_call_is_done", "pool", SAFETY, [(Alloc(1), (1,)), (Free((1,)), Refused("no"))]),
    ("a_legal_call_is_done", "pool", SAFETY, [(Alloc(4), Fault("IndexError"))]),
    ("a_legal_call_is_done", "pool", STRICT, [(Share((3,)), Fault("AssertionError"))]),
    ("answers_have_their_shape", "pool", SAFETY, [(Alloc(1), ([1],))]),
    ("answers_have_their_shape", "pool", SAFETY, [(Alloc(1), (True,))]),
    ("answers_have_their_shape", "pool", SAFETY, [(Alloc(1), None)]),
    ("answers_have_their_shape", "pool", SAFETY, [(FreeCount(), "3")]),
    ("answers_have_their_shape", "pool", SAFETY, [(Lookup("a"), 1)]),
    ("answers_have_their_shape", "pool", SAFETY, [(Lookup("a"), ([1],))]),
    ("answers_have_their_shape", "pool", SAFETY, [(Lookup("a"), (1, 2))]),
    ("answers_have_their_shape", "pool", SAFETY, [(Alloc(1), (1,)), (Publish((1,), ("a",), (4,)), ())]),
    ("answers_have_their_shape", "pool", STRICT, [(Reset(), None)]),
    ("answers_have_their_shape", "pool", STRICT, [(Writable(1), 0)]),
    ("answers_have_their_shape", "pool", STRICT, [(Cancel(1, "r"), None)]),
    ("answers_have_their_shape", "pool", STRICT, [(Events(), ("stored",))]),
    ("blocks_are_lent_in_order", "outside the profile", STRICT, [(Alloc(1), (2,))]),
    (
        "blocks_are_lent_in_order",
        "outside the profile",
        PROFILES["order-a"],
        [(Alloc(2), (1, 2)), (Free((2, 1)), None), (Alloc(1), (2,))],
    ),
    (
        "blocks_are_lent_in_order",
        "outside the profile",
        PROFILES["order-d"],
        [(Alloc(2), (1, 2)), (Free((2, 1)), None), (Alloc(1), (3,))],
    ),
    (
        "the_longest_released_is_evicted_first",
        "outside the profile",
        LRU,
        [*published(1, "a"), *published(2, "b"), (Free((2,)), None), (Free((1,)), None), (Alloc(2), (1, 3))],
    ),
    ("what_was_published_is_found", "outside the profile", INDEX, [*published(), (Lookup("a"), None)]),
    (
        "what_was_published_is_found",
        "outside the profile",
        INDEX,
        [*published(), (Free((1,)), None), (Alloc(2), (2, 3)), (Lookup("a"), None)],
    ),
    ("what_was_published_is_found", "outside the profile", STRICT, [(Lookup("a", ()), None)]),
    (
        "equal_keys_are_handled_as_declared",
        "outside the profile",
        INDEX,
        [*published(), (Alloc(1), (2,)), (Publish((2,), ("a",), (4,)), (1,))],
    ),
    (
        "equal_keys_are_handled_as_declared",
        "outside the profile",
        DEDUP,
        [*published(), (Alloc(1), (2,)), (Publish((2,), ("a",), (4,)), (2,))],
    ),
    ("a_lookup_prefers_as_declared", "outside the profile", FIRST, [*published(1), *published(2), (Lookup("a"), (2,))]),
    ("a_reset_is_done_as_declared", "outside the profile", STRICT, [(Alloc(1), (1,)), (Reset(), True)]),
    ("a_reset_is_done_as_declared", "outside the profile", STRICT, [(Reset(), False)]),
    ("events_are_consistent", "outside the profile", STRICT, [*published(), (Events(), (stored("a", tokens=8),))]),
    ("events_are_consistent", "outside the profile", STRICT, [*published(), (Events(), (stored("a", parent="x"),))]),
    (
        "events_are_consistent",
        "outside the profile",
        STRICT,
        [*published(), (Events(), (StoredKeys(("a",), None, 2, 2),))],
    ),
    (
        "events_are_consistent",
        "outside the profile",
        STRICT,
        [
            *published(),
            *published(2, "ab", 8)[:1],
            (Publish((2,), ("ab",), (8,), "a"), (2,)),
            (Events(), (stored("a"), stored("ab"))),
        ],
    ),
    ("events_mirror_the_index", "outside the profile", STRICT, [*published(), (Events(), ())]),
    ("events_mirror_the_index", "outside the profile", STRICT, [*published(), (Events(), (stored("a"), stored("a")))]),
    ("events_mirror_the_index", "outside the profile", STRICT, [*published(), (Events(), (stored("a"), AllCleared()))]),
    (
        "events_mirror_the_index",
        "outside the profile",
        STRICT,
        [*published(1), *published(2), (Unpublish((1,)), None), (Events(), (stored("a"), stored("a")))],
    ),
    (
        "events_mirror_the_index",
        "outside the profile",
        LAST_COPY,
        [
            *published(1),
            *published(2),
            (Unpublish((1,)), None),
            (Events(), (stored("a"), stored("a"), RemovedKeys(("a",)))),
        ],
    ),
    (
        "events_mirror_the_index",
        "outside the profile",
        STRICT,
        [
            *published(),
            (Alloc(1), (2,)),
            (Move(1, 2), None),
            (Events(), (stored("a"), RemovedKeys(("a",)), stored("a"))),
        ],
    ),
    (
        "events_come_in_order",
        "outside the profile",
        STRICT,
        [*published(1, "a"), *published(2, "b"), (Events(), (stored("b"), stored("a")))],
    ),
    ("a_wrong_call_is_refused", "pool", STRICT, [(Free((1,)), None)]),
    ("a_wrong_call_is_refused", "pool", STRICT, [(Alloc(-1), ())]),
    ("a_wrong_call_is_refused", "pool", STRICT, [(Free((1,)), Fault("AssertionError"))]),
    ("a_wrong_call_does_no_damage", "pool", TOLERANT, [(Alloc(-1), (1, 2))]),
]


@pytest.mark.parametrize(("law", "party", "profile", "trace"), BROKEN)
def test_what_breaks_a_law_is_judged_as_that(law: str, party: str, profile: Profile, trace: Trace) -> None:
    breach = breach_of(profile, trace)
    assert (breach.law, breach.party) == (law, party)
    assert trace[-1][0].op in breach.words


def test_every_law_is_broken_at_least_once() -> None:
    needs_a_twin = {"a_refusal_changes_nothing"}  # broken only in comparison, see the tests of conform
    assert {law for law, *_ in BROKEN} == {law.name for law in LAWS} - needs_a_twin


WRONG: list[tuple[str, Profile, Trace]] = [
    ("bad count", SAFETY, [(Alloc(-1), ())]),
    ("not held", SAFETY, [(Alloc(1), (1,)), (Free((1,)), None), (Free((1,)), None)]),
    ("not held", SAFETY, [(Alloc(1), (1,)), (Free((1, 1)), None)]),
    ("not held", SAFETY, [(Share((1,)), None)]),
    ("not held", LOOSE, [(Publish((1,), ("a",), (4,)), (1,))]),
    ("not held", LOOSE, [*published(), (Move(1, 2), None)]),
    ("unknown block", SAFETY, [(Free((9,)), None)]),
    ("unknown block", LOOSE, [(Unpublish((9,)), None)]),
    ("unknown block", LOOSE, [(Share((-1,)), None)]),
    ("unknown block", LOOSE, [(Cancel(9, "r"), False)]),
    ("null block", SAFETY, [(Free((0,)), None)]),
    ("null block", LOOSE, [(Unpin((0,), "r"), None)]),
    ("null block", LOOSE, [*published(), (Move(1, 0), None)]),
    ("repeated block", LOOSE, [(Alloc(1), (1,)), (Publish((1, 1), ("a", "b"), (4, 8)), (1, 1))]),
    (
        "repeated block",
        replace(SAFETY, name="distinct", repeats="refused"),
        [(Alloc(1), (1,)), (Share((1,)), None), (Free((1, 1)), None)],
    ),
    ("already cached", LOOSE, [*published(), (Publish((1,), ("a",), (4,)), (1,))]),
    ("already cached", LOOSE, [*published(1), *published(2, "b"), (Move(1, 2), None)]),
    (
        "different content",
        LOOSE,
        [(Alloc(1), (1,)), (PublishPartial(1, "x", 2), None), (PublishPartial(1, "y", 2), None)],
    ),
    ("bad range", LOOSE, [(Alloc(1), (1,)), (Publish((1,), ("a", "b"), (4, 8)), (1,))]),
    ("bad range", LOOSE, [(Alloc(1), (1,)), (PublishPartial(1, "a", 0), None)]),
    ("parent not findable", PROFILES["vllm-0.9"], [(Alloc(1), (1,)), (Publish((1,), ("ab",), (8,), "a"), (1,))]),
]


@pytest.mark.parametrize(("reason", "profile", "trace"), WRONG)
def test_a_wrong_call_is_the_callers_fault_whatever_came_of_it(reason: str, profile: Profile, trace: Trace) -> None:
    for reply in (trace[-1][1], Refused("no"), Fault("AssertionError")):
        breach = breach_of(profile, [*trace[:-1], (trace[-1][0], reply)])
        assert (breach.law, breach.party) == (RULES_OF_CALLERS, "caller")
        assert f"is wrong ({reason})" in breach.words


def test_publishing_without_caching_is_wrong() -> None:
    trace: Trace = [(Alloc(1), (1,)), (Publish((1,), ("a",), (4,)), (1,))]
    assert "caching disabled" in breach_of(LOOSE, trace, caching=False).words


def test_what_is_wrong_under_a_tolerant_profile_may_be_ignored_and_changes_nothing() -> None:
    trace: Trace = [
        *published(),
        (Free((1, 1)), None),
        (Publish((1,), ("b",), (4,)), Fault("AssertionError")),
        (Alloc(-1), Refused()),
        (FreeCount(), 2),
        (Lookup("a"), (1,)),
        (Lookup("b"), None),
    ]
    judge = judged(TOLERANT, trace)
    assert judge.ended is None
    assert judge.wrong_calls == 3


ALLOWED: list[tuple[str, Profile, Trace]] = [
    ("any free block", SAFETY, [(Alloc(2), (3, 1)), (Alloc(1), (2,)), (Alloc(1), Refused("exhausted"))]),
    ("keys may be lost", SAFETY, [*published(), (Lookup("a"), None)]),
    (
        "a hit can be shared at once",
        SAFETY,
        [*published(), (Free((1,)), None), (Lookup("a"), (1,)), (Share((1,)), None)],
    ),
    (
        "two references in one release",
        SAFETY,
        [(Alloc(1), (1,)), (Share((1,)), None), (Free((1, 1)), None), (FreeCount(), 3), (Alloc(3), (2, 1, 3))],
    ),
    (
        "the null block is skipped",
        LOOSE,
        [(Share((0, 0)), None), (Free((0,)), None), (Publish((0,), ("a",), (4,)), (0,))],
    ),
    (
        "blank blocks go in any order under lru",
        LRU,
        [*published(1), (Alloc(1), (2,)), (Free((1,)), None), (Free((2,)), None), (Alloc(2), (3, 2)), (Alloc(1), (1,))],
    ),
    (
        "the caller is moved, and its own block is free",
        DEDUP,
        [*published(), (Alloc(1), (2,)), (Publish((2,), ("a",), (4,)), (1,)), (FreeCount(), 2), (Free((1, 1)), None)],
    ),
    (
        "a release order of its own",
        replace(SAFETY, name="stack", order="stack"),
        [(Alloc(2), (1, 2)), (Free((1, 2)), None), (Alloc(3), (2, 1, 3))],
    ),
    (
        "early refusals",
        replace(SAFETY, name="paged", exhaustion="early"),
        [(Alloc(1), Refused()), (Alloc(1), (1,)), (FreeCount(), 2)],
    ),
    (
        "removed with the last copy, stored repeated",
        LAST_COPY,
        [
            *published(1),
            *published(2),
            (Unpublish((1,)), None),
            (Events(), (stored("a"), stored("a"))),
            (Unpublish((2,)), None),
            (Events(), (RemovedKeys(("a",)),)),
        ],
    ),
    (
        "removals in a row in any order, and any batches",
        STRICT,
        [
            (Alloc(2), (1, 2)),
            (Publish((1, 2), ("a", "ab"), (4, 8)), (1, 2)),
            (Unpublish((1, 2)), None),
            (Events(), (stored("a", "ab", tokens=8), RemovedKeys(("ab", "a")))),
        ],
    ),
    (
        "no answer to publish is the same blocks",
        INDEX,
        [(Alloc(1), (1,)), (Publish((1,), ("a",), (4,)), None), (Lookup("a"), (1,))],
    ),
    ("reset at will", SAFETY, [(Alloc(1), (1,)), (Reset(), True), (Reset(), False)]),
]


@pytest.mark.parametrize(("what", "profile", "trace"), ALLOWED)
def test_what_a_profile_allows_is_no_breach(what: str, profile: Profile, trace: Trace) -> None:
    assert judged(profile, trace).ended is None, what


def test_names_that_were_not_told_are_bound_when_first_lent() -> None:
    in_order: Trace = [(Alloc(1), (7,)), (Free((7,)), None), (Alloc(3), (8, 9, 7))]
    assert judged(PROFILES["order-a"], in_order, order=False).ended is None
    too_many: Trace = [(Alloc(3), (7, 8, 9)), (Free((7,)), None), (Alloc(1), (5,))]
    assert breach_of(PROFILES["order-a"], too_many, order=False).law == "only_blocks_of_the_pool_are_lent"
    out_of_order: Trace = [(Alloc(1), (7,)), (Free((7,)), None), (Alloc(1), (7,))]
    assert breach_of(PROFILES["order-a"], out_of_order, order=False).law == "blocks_are_lent_in_order"


def test_after_a_breach_nothing_more_is_judged() -> None:
    judge = judged(SAFETY, [(Alloc(1), (0,))])
    assert judge.judge(FreeCount(), Ok("nonsense")) is None  # type: ignore[arg-type]
    assert judge.ended is not None


def test_what_would_have_been_right_is_told() -> None:
    judge = judged(STRICT, published())
    assert judge.expected(Alloc(2)) == "2, 3, in this order"
    assert judge.expected(Alloc(3)) == "a refusal: 2 blocks are free"
    assert judge.expected(FreeCount()) == "2"
    assert judge.expected(Lookup("a")) == "for each group one of [[1]]"
    assert judge.expected(Lookup("b")) == "None"
    assert judge.expected(Writable(1)) == "False"
    assert judge.expected(Free((2,))) == "a wrong call (not held): take a reference first, and give each back once"


ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 5)
    | st.sampled_from(["a", "", 1.5, b"x", {}, object(), AllCleared(), stored("a"), RemovedKeys(("a",))])
    | st.builds(StoredKeys, st.sampled_from([("a",), ["a"], "a", (1,)]), st.sampled_from([None, 1, "a"]), st.none()),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple),
    max_leaves=6,
)
ANY_CALL = st.sampled_from(
    [
        *(Alloc(1), Alloc(0), Share((1,)), Free((1,)), FreeCount(), Publish((1,), ("b",), (8,)), Lookup("a")),
        *(Lookup("a", (0, 1)), Unpublish((1,)), Unpin((1,), "r"), Cancel(1, "r"), Writable(1), Reset(), Events()),
        PublishPartial(1, "x", 2),
    ]
)


@given(ANY_CALL, ODD, st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["r", "s"])), max_size=2))
def test_whatever_a_pool_answers_is_judged_without_failing(
    call: Call, value: object, told: list[tuple[int, str]]
) -> None:
    for profile in (STRICT, SAFETY, DEDUP, LAST_COPY):
        judge = judged(profile, published())
        breach = judge.judge(call, Ok(value, tuple(told)))  # type: ignore[arg-type]
        assert breach is None or breach.law in PROMISES.keys() | DUTIES.keys()
        assert judge.judge(FreeCount(), Ok(judge.books.free)) is None  # the books still count


@pytest.mark.parametrize(
    ("begun", "words"),
    [
        (Started(-1), "capacity"),
        (Started(True), "capacity"),
        (Started(1, (), (1, 2)), "the order names 2 blocks"),
        (Started(2, (), (1, 1)), "named twice"),
        (Started(1, (1,), (1,)), "named twice"),
        (Started(1, (), ([1],)), "numbers or strings"),  # type: ignore[arg-type]
    ],
)
def test_a_pool_that_cannot_be_is_refused(begun: Started, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        check_started(begun)
