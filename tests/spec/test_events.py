"""The consumer of events, and the order that is not promised."""

from collections import Counter

import pytest

from blockpool.spec import Cleared, Event, FalseEventError, Key, Mirror, Prefix, Removed, Stored, settled

A, AB, ABC, X = (Key(Prefix(tokens), 0) for tokens in ((1,), (1, 2), (1, 2, 3), (9,)))


def read_all(mirror: Mirror, events: list[Event]) -> Counter[Key]:
    for event in events:
        mirror.read(event)
    return mirror.copies


def test_a_true_stream() -> None:
    events: list[Event] = [
        Stored((A, AB), None, (1, 2), 1),
        Stored((A,), None, (1,), 1),
        Stored((ABC,), AB, (3,), 1),
        Removed(A),
        Removed(AB),
    ]
    assert read_all(Mirror(), events) == Counter({A: 1, ABC: 1})


def test_a_last_removal_leaves_nothing_behind() -> None:
    mirror = Mirror()
    assert read_all(mirror, [Stored((A,), None, (1,), 1), Removed(A)]) == Counter()
    assert A not in mirror.copies


def test_cleared_forgets_all_copies_and_events_go_on() -> None:
    events: list[Event] = [Stored((A, AB), None, (1, 2), 1), Cleared(), Cleared(), Stored((X,), None, (9,), 1)]
    assert read_all(Mirror(), events) == Counter({X: 1})


def test_a_mirror_of_an_index() -> None:
    # An entry without a block is no copy; and `dict`, since a Counter would not tell a count of 0 from none.
    index = {A: frozenset({1, 2}), X: frozenset({3}), ABC: frozenset[int]()}
    assert dict(Mirror.of(index).copies) == {A: 2, X: 1}


@pytest.mark.parametrize(
    ("events", "law"),
    [
        ([Removed(A)], "removed more often than stored"),
        ([Stored((A,), None, (1,), 1), Removed(A), Removed(A)], "removed more often than stored"),
        ([Stored((A,), None, (1,), 1), Cleared(), Removed(A)], "removed more often than stored"),
        ([Stored((AB,), A, (2,), 1)], "its parent was never stored"),
        ([Stored((A,), None, (1,), 1), Removed(A), Stored((AB,), A, (2,), 1)], "its parent was never stored"),
        ([Stored((A, AB), A, (1, 2), 1)], "its parent was never stored"),
        ([Stored((), None, (), 1)], "0 keys"),
        ([Stored((A,), None, (1, 2), 1)], "1 keys of 1 tokens, but 2 tokens"),
        ([Stored((A, AB), None, (1,), 1)], "2 keys of 1 tokens, but 1 tokens"),
        ([Stored((AB,), None, (1, 2), 1)], "1 keys of 1 tokens, but 2 tokens"),
    ],
)
def test_a_false_stream(events: list[Event], law: str) -> None:
    mirror = Mirror()
    read_all(mirror, events[:-1])
    before = Counter(mirror.copies)
    with pytest.raises(FalseEventError, match=law):
        mirror.read(events[-1])
    assert mirror.copies == before


def test_only_neighbouring_removals_are_sorted() -> None:
    stored = Stored((X,), None, (9,), 1)
    assert settled([Removed(X), Removed(A), stored, Removed(AB), Removed(A), Cleared(), Removed(X)]) == (
        Removed(A), Removed(X), stored, Removed(A), Removed(AB), Cleared(), Removed(X)
    )  # fmt: skip


def test_stored_events_keep_their_order() -> None:
    one, two = Stored((X,), None, (9,), 1), Stored((A,), None, (1,), 1)
    assert settled([one, two]) == (one, two)
    assert settled([]) == ()


def test_under_the_set_law_one_removal_takes_all_copies() -> None:
    stored = Stored((A,), None, (1,), 1)
    for bag, left in ((True, 1), (False, 0)):
        mirror = Mirror(bag=bag)
        for event in (stored, stored, Removed(A)):
            mirror.read(event)
        assert mirror.copies[A] == left
