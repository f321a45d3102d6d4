"""The formulas about queues are twins of the plain Python that judges runs: they agree on every small call."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import z3

from blockpool.proofs.prove.queue import order
from blockpool.proofs.prove.queue.concrete_runs import EXPECTED, Runner, arguments
from blockpool.proofs.prove.queue.operations import (
    AFTER,
    BEFORE,
    BY_NAME,
    FIRST,
    GIVEN,
    INSIDE,
    ITEM,
    LENGTH,
    NUMBER,
    PLACE,
    WIDTH,
    Operation,
)  # fmt: skip
from blockpool.proofs.prove.queue.source import read_queue
from blockpool.proofs.prove.queue.values import BLOCK, HEAD, NONE, TAIL, Items, Node

FIRST_BLOCK, SECOND_BLOCK, OUTSIDE, OTHER = z3.Consts("b1 b2 b3 b4", BLOCK)
NAMED = {"head": HEAD, "tail": TAIL, None: NONE, 1: FIRST_BLOCK, 2: SECOND_BLOCK, 3: OUTSIDE, 4: OTHER}
WORLD = [HEAD, TAIL, NONE, FIRST_BLOCK, SECOND_BLOCK, OUTSIDE, OTHER]
UNARY_AND_COUNTED = ["popleft", "popleft_n", "remove", "append", "get_all_free_blocks", "iter_blocks_after"]
BATCHED = ["append_n", "prepend_n"]
NO_RUN: Any = SimpleNamespace(lists=[])
Links = dict[Any, tuple[Any, Any]]


def links_of(queue: tuple[int, ...]) -> Links:
    row = ["head", *queue, "tail"]
    links: Links = dict.fromkeys(NAMED, (None, None))
    return links | {b: (after, before) for before, b, after in zip([None, *row], row, [*row[1:], None], strict=False)}


def world(queue: tuple[int, ...], given: Any) -> Iterator[z3.BoolRef]:
    """Everything about the call, point by point."""
    b = order.B
    yield z3.Distinct(WORLD)
    yield z3.ForAll([b], z3.Or([b == element for element in WORLD]))
    for label, (after, before) in links_of(queue).items():
        yield z3.And(AFTER(NAMED[label]) == NAMED[after], BEFORE(NAMED[label]) == NAMED[before])
        yield INSIDE(NAMED[label]) == (label in ("head", *queue, "tail"))
    for place, label in enumerate(["head", *queue, "tail"]):
        yield PLACE(NAMED[label]) == place
    yield len(queue) == LENGTH
    if isinstance(given, tuple):
        yield len(given) == WIDTH
        yield from (ITEM(index) == NAMED[label] for index, label in enumerate(given))
        yield from (FIRST(NAMED[label]) == (given.index(label) if label in given else -1) for label in NAMED)
    elif given is None or given in NAMED:
        yield NAMED[given] == GIVEN
    yield (given if isinstance(given, int) else 0) == NUMBER


def can_be(facts: list[z3.BoolRef], *more: z3.BoolRef) -> bool:
    solver = z3.Solver(ctx=z3.main_ctx())
    solver.add(*facts, *more)
    answer = solver.check()
    assert answer != z3.unknown
    return bool(answer == z3.sat)


def calls(method: str, step: int) -> list[tuple[tuple[int, ...], Any]]:
    cases = [(tuple(range(1, n + 1)), given) for n in range(3) for ends in ((), ("head", "tail"))
             for given in arguments(method, n, ends)]  # fmt: skip
    fits = [(queue, given) for queue, given in cases if not isinstance(given, tuple) or len(given) < 3]
    return [call for call in fits if _labels(call[1]) <= NAMED.keys()][::step]


def _labels(given: Any) -> set[Any]:
    return set(given) if isinstance(given, tuple) else set()


def answer_terms(value: Any) -> Any:
    if isinstance(value, list):
        return Items(NO_RUN, z3.IntVal(len(value)), lambda index: _item(value, index))
    return None if value is None else Node(NO_RUN, NAMED[value])


def _item(value: list[Any], index: Any) -> Any:
    term = NONE
    for place, label in enumerate(value):
        term = z3.If(index == place, NAMED[label], term)
    return term


def field(links: Links, side: int) -> Any:
    def read(block: Any) -> Any:
        term = NONE
        for label, link in links.items():
            term = z3.If(block == NAMED[label], NAMED[link[side]], term)
        return term

    return read


def holds_after(facts: list[z3.BoolRef], operation: Operation, links: Links, count: int, answer: Any) -> bool:
    """The promise, as the proof states it, about this heap after the call."""
    expected, more = operation.result(answer_terms(answer), None)
    after, before = field(links, 0), field(links, 1)
    promised = {**order.represents(after, before, expected), **order.outside_unlinked(after, before, expected), **more}
    return not can_be(facts, z3.Not(z3.And(*promised.values(), expected.length == count)))


@pytest.mark.parametrize("method", [*UNARY_AND_COUNTED, *BATCHED, "remove_n"])
def test_formulas_and_python_agree_on_what_must_be_refused(method: str) -> None:
    operation = BY_NAME[method]
    for queue, given in calls(method, 1 if method in UNARY_AND_COUNTED else 3):
        facts = [*world(queue, given), *operation.arguments.values()]
        reasons = EXPECTED[method](queue, given)[0]
        assert can_be(facts), (queue, given)
        assert can_be(facts, operation.legal) == (not reasons), (queue, given)
        assert {name for name, formula in operation.reasons.items() if can_be(facts, formula)} == reasons, (
            queue,
            given,
        )


@pytest.mark.parametrize("method", [*UNARY_AND_COUNTED, *BATCHED])
def test_formulas_and_python_agree_on_what_comes_of_a_legal_call(method: str) -> None:
    operation, legal = BY_NAME[method], 0
    for queue, given in calls(method, 1 if method in UNARY_AND_COUNTED else 2):
        reasons, after, answer = EXPECTED[method](queue, given)
        if not reasons:
            legal += 1
            facts = [*world(queue, given), *operation.arguments.values()]
            right = links_of(after)
            assert holds_after(facts, operation, right, len(after), answer), (queue, given)
            assert not holds_after(facts, operation, right, len(after) + 1, answer), (queue, given)
            for label in ("head", 1, 4):
                other = None if right[label][0] is not None else 2
                wrong = right | {label: (other, right[label][1])}
                assert not holds_after(facts, operation, wrong, len(after), answer), (queue, given, label)
    assert legal > 1


def test_every_small_run_of_our_queue_keeps_its_promises() -> None:
    runner = Runner(read_queue("blockpool.impl.free_queue:FreeKVCacheBlockQueue"))
    met = {method: [reasons for reasons, run in runner.runs(method) if not run.broken] for method in EXPECTED}
    assert {method: len(runs) for method, runs in met.items()} == {
        "__init__": 296, "popleft": 4, "popleft_n": 22, "remove": 22, "remove_n": 900, "append": 22, "append_n": 900,
        "prepend_n": 900, "get_all_free_blocks": 4, "iter_blocks_after": 26,
    }  # fmt: skip
    for method, runs in met.items():
        assert {reason for reasons in runs for reason in reasons} == BY_NAME[method].reasons.keys()
