"""Profiles: what their choices mean, checked by hand against what releases of vLLM were measured to do."""

from dataclasses import replace

import pytest

from blockpool.spec.contract.laws import LAWS, PROMISES
from blockpool.spec.contract.profiles import INDEX, KNOBS, PROFILES, SAFETY, Profile, profile_of, released

QUEUE = [4, 5, 6, 7]


def after(order: str, freed: list[int], keyed: set[int], caching: bool = True, watched: set[int] = frozenset()) -> str:  # type: ignore[assignment]
    front, back = released(order, freed, caching=caching, keyed=keyed.__contains__, watched=watched.__contains__)
    return " ".join(map(str, [*front, *QUEUE, *back]))


def test_order_a_is_a_plain_queue() -> None:
    assert after("a", [3, 2, 1], set()) == "4 5 6 7 3 2 1"
    assert after("a", [3, 2, 1], {1, 2}) == "4 5 6 7 3 2 1"
    assert after("a", [3, 2, 1], set(), caching=False) == "4 5 6 7 3 2 1"


@pytest.mark.parametrize("order", ["b", "c", "d", "watched"])
def test_later_orders_put_blocks_without_key_first(order: str) -> None:
    assert after(order, [3, 2, 1], set()) == "3 2 1 4 5 6 7"
    assert after(order, [3, 2, 1], {1, 2, 3}) == "4 5 6 7 3 2 1"
    assert after(order, [3, 2, 1], {1, 2}) == "3 4 5 6 7 2 1"


def test_without_caching_only_order_c_is_a_plain_queue_again() -> None:
    assert after("b", [3, 2, 1], set(), caching=False) == "3 2 1 4 5 6 7"
    assert after("c", [3, 2, 1], set(), caching=False) == "4 5 6 7 3 2 1"
    assert after("d", [3, 2, 1], set(), caching=False) == "3 2 1 4 5 6 7"


def test_only_the_order_of_the_spec_spares_watched_blocks() -> None:
    assert after("d", [3, 2], set(), watched={3}) == "3 2 4 5 6 7"
    assert after("watched", [3, 2], set(), watched={3}) == "2 4 5 6 7 3"


def test_a_stack_reverses_each_call_and_pages_are_sorted() -> None:
    assert after("stack", [1, 3, 2], {1}) == "2 3 1 4 5 6 7"
    assert after("page", [1, 3, 2], {1}) == "1 2 3 4 5 6 7"


def test_every_value_is_said_in_words() -> None:
    for knob, values in KNOBS.items():
        assert len(values) > 1, knob
        assert all(words.endswith(".") for words in values.values()), knob
    assert all(len(profile.in_words()) == len(KNOBS) for profile in PROFILES.values())


def test_the_named_profiles_promise_more_and_more() -> None:
    assert PROFILES["safety"] == SAFETY
    assert [name for name, profile in PROFILES.items() if profile.keys_may_go] == ["safety"]
    assert [name for name, profile in PROFILES.items() if profile.misuse != "undefined"] == ["strict"]
    assert {profile.order for name, profile in PROFILES.items() if name.startswith("vllm")} == set("abcd")
    assert [name for name, profile in PROFILES.items() if profile.parents == "findable"] == ["vllm-0.8", "vllm-0.9"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"order": "e"}, "order is one of any, lru, a, b"),
        ({"duplicates": "any"}, "need a rule for duplicates"),
        ({"keys_last": "while_held", "events": "copy"}, "events cannot be judged"),
        ({"keys_last": "while_held", "revival": "every"}, "keys must not be lost"),
    ],
)
def test_choices_that_do_not_go_together_are_refused(changes: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        replace(INDEX, name="mine", **changes)


def test_profiles_are_found_by_name() -> None:
    assert profile_of("strict").order == "watched"
    own = Profile("mine", "Mine.")
    assert profile_of(own) is own
    with pytest.raises(ValueError, match=r"no profile 'stric'; there are safety"):
        profile_of("stric")


def test_laws_have_names_sentences_and_reasons_and_belong_to_knobs_that_exist() -> None:
    assert len(PROMISES) == len(LAWS)
    for law in LAWS:
        assert law.sentence.endswith(".")
        assert law.reason.endswith(".")
        assert law.knob is None or law.knob in KNOBS, law
