"""Conformance vectors: those that are released, how they are made, and what they catch."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from blockpool.proofs.adequacy.defects.vectors_catching import Wrong, caught, defects_of_impl
from blockpool.proofs.bindings.call_of_action import call_of, reply_of
from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.explore.scopes import SCOPES
from blockpool.proofs.oracle.adapter import InProcess, Subject
from blockpool.proofs.oracle.vectors.answers import difference
from blockpool.proofs.oracle.vectors.consume import EXPECTED, Coverage, Outcome, consume
from blockpool.proofs.oracle.vectors.cover import Run, cover
from blockpool.proofs.oracle.vectors.fill import OpenProfileError, vector_of, vectors_of
from blockpool.proofs.oracle.vectors.vector import Expect, Vector, read_all, write_all
from blockpool.proofs.oracle.vectors.walk import Walk, walk
from blockpool.proofs.systems.find import subject_of
from blockpool.proofs.systems.ours import subject_in
from blockpool.spec import POSSIBILITIES, Reason
from blockpool.spec.contract.calls import OPERATIONS, Ok, Refused
from blockpool.spec.contract.laws import PROMISES
from blockpool.spec.contract.permitted import Model
from blockpool.spec.contract.profiles import PROFILES, profile_of
from blockpool.spec.contract.violation import DUTIES
from tests.proofs.oracle.release_vectors import FOLDER, undecorated, wrong_pools
from tests.proofs.oracle.toy_pools import RIGHT, Toy

STRICT = PROFILES["strict"]


@cache
def released() -> list[Vector]:
    return read_all(FOLDER)


@cache
def small_walk() -> Walk:
    return walk(SCOPES["tiny"], 2)


@cache
def small_cover() -> list[Run]:
    return cover([small_walk()])


def outcomes(vectors: Iterable[Vector], subject: Subject, profile: str | None = None) -> list[Outcome]:
    chosen = profile_of(subject.profile if profile is None else profile)
    return list(consume(vectors, subject, chosen, Coverage()))


# --- what is released ---


def test_the_released_vectors_are_what_fill_writes() -> None:
    written = [replace(vector, receipt=replace(vector.receipt, defects=())) for vector in released()]
    assert undecorated() == written


def test_they_are_few_and_small() -> None:
    assert len(released()) < 100
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 400_000


def test_impl_answers_all_of_them_as_expected() -> None:
    coverage = Coverage()
    found = list(consume(released(), subject_of("impl"), STRICT, coverage))
    assert [(one.vector.name, one.words) for one in found if one.verdict is not Verdict.HOLDS] == []
    assert coverage.operations.keys() == OPERATIONS.keys() - {"start"}
    reasons = {refusal.partition(", ")[2] for refusal in coverage.refusals}
    assert reasons == set(Reason) - {Reason.BAD_RANGE, Reason.RE_ENTRANT}


def test_their_receipts_name_what_there_is_and_nearly_all_of_it() -> None:
    receipts = [vector.receipt for vector in released()]
    laws = {law for receipt in receipts for law in receipt.laws}
    assert PROMISES.keys() - laws == {"the_longest_released_is_evicted_first"}  # strict says more than that
    assert laws <= PROMISES.keys()
    shown = {possibility for receipt in receipts for possibility in receipt.possibilities}
    assert {one.name for one in POSSIBILITIES} - shown == {"a_watcher_calls_back_into_the_pool"}  # no word for it
    assert {operation for receipt in receipts for operation in receipt.operations} == OPERATIONS.keys()


@pytest.mark.parametrize("wrong", wrong_pools(), ids=lambda wrong: str(wrong[0]))
def test_a_wrong_pool_is_caught_by_the_vectors_that_name_it(wrong: Wrong) -> None:
    name, made = wrong
    named = [vector.name for vector in released() if name in vector.receipt.defects]
    assert named
    assert [vector.name for vector in caught(released(), made)] == named


SOME = (
    "impl: null block is queued",
    "impl: freed batch is queued in reverse",
    "impl: second watcher replaces the first",
    "impl: a hit in some groups is a hit",
    "impl: promotion keeps the partial key",
)


@pytest.mark.parametrize("name", SOME)
def test_a_defect_of_impl_is_caught_by_the_vectors_that_name_it(name: str) -> None:
    made = dict(defects_of_impl(subject_in))[name]
    named = [vector.name for vector in released() if name in vector.receipt.defects]
    assert named
    assert [vector.name for vector in caught(released(), made)] == named
    assert all(one.verdict is Verdict.HOLDS for one in outcomes(released()[:3], subject_of("impl")))  # impl is whole


def test_a_call_that_does_not_end_is_a_fault_and_no_end_of_the_run() -> None:
    class Endless(Toy):
        def reset(self) -> bool:
            while True:
                pass

    vectors = [vector for vector in released() if vector.name.endswith("-reset")][:1]
    assert [vector.name for vector in caught(vectors, lambda: InProcess(Endless()))] == [vectors[0].name]


def test_most_defects_that_a_call_can_show_are_caught() -> None:
    named = {defect for vector in released() for defect in vector.receipt.defects}
    within = {name for name, _ in defects_of_impl(subject_in) if "digest" not in name and "managers" not in name}
    assert len(named & within) >= 50
    assert {name for name, _ in wrong_pools()} <= named


# --- right pools of other kinds ---


@pytest.mark.parametrize("kind", RIGHT, ids=lambda kind: str(kind.__name__))
def test_no_right_pool_is_refuted(kind: Callable[[], Any]) -> None:
    found = outcomes(released(), InProcess(kind()))
    assert [one.words for one in found if one.verdict is Verdict.REFUTED] == []
    assert sum(one.verdict is Verdict.HOLDS for one in found) >= 5


@pytest.mark.parametrize("name", PROFILES)
def test_the_model_of_each_profile_takes_them(name: str) -> None:
    found = outcomes(released(), Model(PROFILES[name]))
    assert {one.verdict for one in found} == {Verdict.HOLDS}


def test_a_pool_is_asked_on_though_it_lends_in_another_order() -> None:
    stack = replace(PROFILES["order-a"], name="stack", order="stack")
    assert sum(one.taken for one in outcomes(released(), Model(stack))) > 1000


# --- how they are made ---


def test_every_class_of_the_walk_is_shown_and_no_run_is_for_nothing() -> None:
    shown = set().union(*(run.shows for run in small_cover()))
    assert len(small_walk().classes) > 250
    assert small_walk().classes <= shown
    assert all(run.alone for run in small_cover())


def test_what_the_spec_answers_is_what_is_expected() -> None:
    compared = 0
    for run in small_cover():
        vector = vector_of(run, STRICT)
        names: dict[Any, Any] = {f"b{block}": block for block in range(1, run.part.blocks + 1)}
        names |= {"null": 0, "foreign": run.part.blocks + 1, "negative": -1}
        taken = [step for step in run.steps() if call_of(step.before, step.action) is not None]
        assert len(taken) == len(vector.steps)
        for step, written in zip(taken, vector.steps, strict=True):
            call, reply = call_of(step.before, step.action), reply_of(step)
            assert call is not None
            assert difference(written.expect, call, reply, names) is None
            assert isinstance(reply, Refused) == bool(written.expect.reasons)
            assert written.expect.reasons == tuple(sorted(step.refused))
            if written.idle:
                assert step.after == step.before
            compared += 1
    assert compared > 500


def test_the_same_is_filled_again(tmp_path: Path) -> None:
    vectors = vectors_of(SCOPES["tiny"], STRICT, 1)
    first, second = (write_all(vectors_of(SCOPES["tiny"], STRICT, 1), tmp_path / name) for name in "ab")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert read_all(tmp_path / "a") == vectors


@pytest.mark.parametrize("name", ["order-a", "order-c", "vllm-0.9", "vllm-0.33"])
def test_other_exact_profiles_have_suites_of_their_own(name: str) -> None:
    vectors = [vector_of(run, PROFILES[name]) for run in small_cover()]
    found = outcomes(vectors, Model(PROFILES[name]))
    assert {one.verdict for one in found} == {Verdict.HOLDS}
    assert {vector.profile for vector in vectors} == {name}
    refusals = {refusal for vector in vectors for refusal in vector.receipt.refusals}
    assert refusals == {"alloc, not enough free blocks"}  # on wrong calls nothing is promised


@pytest.mark.parametrize("name", ["safety", "index", "lru"])
def test_a_profile_that_leaves_answers_open_has_none(name: str) -> None:
    with pytest.raises(OpenProfileError, match="order = "):
        vectors_of(SCOPES["tiny"], PROFILES[name])


def test_the_orders_differ() -> None:
    """The gate can fail: the suite of one order refutes the model of another, compared word by word."""
    vectors = [vector_of(run, PROFILES["order-a"]) for run in small_cover()]
    impostor = replace(PROFILES["order-b"], name="order-a")
    found = outcomes(vectors, Model(impostor), "order-a")
    assert "blocks_are_lent_in_order" in {one.law for one in found}


def changed(vector: Vector, old: Expect, new: Expect) -> Vector:
    steps = list(vector.steps)
    place = next(place for place, step in enumerate(steps) if step.expect == old)
    steps[place] = replace(steps[place], expect=new)
    return replace(vector, steps=tuple(steps))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (Expect((2,)), Expect((3,))),
        (Expect((None,)), Expect(([],))),
        (Expect((False,)), Expect((True,))),
        (Expect((["b1"],)), Expect(reasons=("not held",))),
        (Expect(reasons=("not enough free blocks",)), Expect(([],))),
        (Expect(([],)), Expect(([{"type": "cleared"}],))),
    ],
    ids=str,
)
def test_a_false_expectation_is_noticed_though_the_judge_is_content(old: Expect, new: Expect) -> None:
    vector = next(one for one in released() if any(step.expect == old for step in one.steps))
    (found,) = outcomes([changed(vector, old, new)], subject_of("impl"))
    assert (found.verdict, found.law) == (Verdict.REFUTED, EXPECTED)
    (other,) = outcomes([replace(changed(vector, old, new), profile="order-a")], subject_of("impl"))
    assert other.verdict is Verdict.HOLDS  # expectations of another profile are not those of strict


def test_watchers_that_are_told_too_much_are_noticed() -> None:
    vector = next(one for one in released() if any(step.expect.told for step in one.steps))
    step = next(step for step in vector.steps if step.expect.told)
    (found,) = outcomes([changed(vector, step.expect, replace(step.expect, told=()))], subject_of("impl"))
    assert (found.verdict, found.law) == (Verdict.REFUTED, EXPECTED)


def test_laws_in_outcomes_are_laws() -> None:
    for _, made in wrong_pools():
        for one in outcomes(released(), made()):
            assert one.law in {"", *PROMISES, *DUTIES}


def test_events_are_compared_key_by_key() -> None:
    from blockpool.spec.contract.calls import Events, RemovedKeys, StoredKeys

    expect = Expect(
        (
            [
                {"type": "removed", "key": "a", "group": 0},
                {"type": "removed", "key": "b", "group": 0},
                {"type": "stored", "key": "c", "group": 0, "parent": None, "tokens": 4},
                {"type": "stored", "key": "d", "group": 0, "parent": "c"},
            ],
        )
    )
    batched = Ok((RemovedKeys(("b", "a")), StoredKeys(("c", "d"), None, 8, 4)))
    single = Ok(
        (RemovedKeys(("a",)), RemovedKeys(("b",)), StoredKeys(("c",), None, 4, 4), StoredKeys(("d",), "c", 9, 9))
    )
    for right in (batched, single):
        assert difference(expect, Events(), right, {}) is None
    late = Ok((StoredKeys(("c", "d"), None, 8, 4), RemovedKeys(("b", "a"))))
    short = Ok((RemovedKeys(("b", "a")), StoredKeys(("c",), None, 4, 4)))
    for false in (late, short, Ok(()), Refused("no")):
        assert difference(expect, Events(), false, {}) is not None


def test_each_file_has_a_line_for_each_step() -> None:
    path = next(FOLDER.glob("01-*.json"))
    (vector,) = (one for one in released() if one.name == path.stem)
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith('  {"call": ')]
    assert len(lines) == len(vector.steps)
    assert json.loads(lines[0].rstrip(",")) == {"call": {"op": "alloc", "count": 2}, "expect": {"ok": ["b1", "b2"]}}
