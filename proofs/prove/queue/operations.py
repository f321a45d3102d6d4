"""What each method of a free queue promises, as formulas: when it must refuse, and what it does otherwise."""

# ruff: noqa: SIM300  (names in capitals are the unknowns of formulas)

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import z3

from blockpool.proofs.prove.queue import order
from blockpool.proofs.prove.queue.execution import Facts
from blockpool.proofs.prove.queue.order import I, Order
from blockpool.proofs.prove.queue.values import BLOCK, HEAD, NONE, TAIL, Items, Node

INT = z3.IntSort()
AFTER, BEFORE = z3.Function("next", BLOCK, BLOCK), z3.Function("prev", BLOCK, BLOCK)
INSIDE, PLACE = z3.Function("inside", BLOCK, z3.BoolSort()), z3.Function("place", BLOCK, INT)
LENGTH, NUMBER, WIDTH = z3.Ints("length number width")
GIVEN, ITEM, FIRST = z3.Const("given", BLOCK), z3.Function("item", INT, BLOCK), z3.Function("first", BLOCK, INT)
WITNESS, EARLIER = z3.Ints("witness earlier")
QUEUED = Order(INSIDE, PLACE, LENGTH)


def named(block: Any) -> z3.BoolRef:
    """The block is in the batch."""
    return z3.And(0 <= FIRST(block), FIRST(block) < WIDTH, ITEM(FIRST(block)) == block)


def linked(block: Any) -> z3.BoolRef:
    """The block had a link before the call."""
    return z3.Or(AFTER(block) != NONE, BEFORE(block) != NONE)


def in_batch(index: Any) -> z3.BoolRef:
    return z3.And(0 <= index, index < WIDTH)


def every_item(body: z3.BoolRef) -> z3.BoolRef:
    """For each item of the batch."""
    return z3.ForAll([I], z3.Implies(in_batch(I), body), patterns=[ITEM(I)])


def queued(block: Any) -> z3.BoolRef:
    """The block was in the queue, and no sentinel."""
    return z3.And(INSIDE(block), block != HEAD, block != TAIL)


BATCH: Facts = {
    "the batch is a list of blocks": z3.And(WIDTH >= 0, every_item(ITEM(I) != NONE)),
    "each item has a first place in the batch": every_item(
        z3.And(FIRST(ITEM(I)) >= 0, FIRST(ITEM(I)) <= I, ITEM(FIRST(ITEM(I))) == ITEM(I))
    ),
}
OLD_BLOCKS: Facts = {"the blocks are older than the sentinels": every_item(z3.And(ITEM(I) != HEAD, ITEM(I) != TAIL))}
A_BLOCK: Facts = {"the argument is a block": GIVEN != NONE}
NO_REPETITION = every_item(FIRST(ITEM(I)) == I)
EMPTY = "an empty queue"
REPETITION = z3.And(in_batch(WITNESS), FIRST(ITEM(WITNESS)) != WITNESS)


@dataclass(frozen=True)
class Operation:
    """One method. Formulas speak of the state before the call by the constants above."""

    name: str
    takes: str  # nothing, a block, a number, a batch
    arguments: Facts
    legal: z3.BoolRef
    reasons: Facts  # to refuse: what must be refused, and when it is met
    result: Callable[[Any, Any], tuple[Order, Facts]]  # of the answer and a ghost: the sequence after, and more
    many: z3.BoolRef  # a call that is interesting: two blocks


def _popped(answer: Any, _ghost: Any) -> tuple[Order, Facts]:
    first = z3.And(INSIDE(answer.term), PLACE(answer.term) == 1) if isinstance(answer, Node) else z3.BoolVal(False)
    return order.without_first(QUEUED, 1), {"the answer is the first block": first}


def _popped_n(answer: Any, _ghost: Any) -> tuple[Order, Facts]:
    return order.without_first(QUEUED, NUMBER), listing(answer, 0, NUMBER)


def listing(answer: Any, start: Any, count: Any) -> Facts:
    """The answer is a list of the `count` blocks behind place `start`, in order."""
    if not isinstance(answer, Items):
        return {"the answer is a list of blocks": z3.BoolVal(False)}
    b = order.B
    there = z3.And(INSIDE(b), start < PLACE(b), PLACE(b) <= start + count)
    return {
        "the answer has one item for each": answer.length == count,
        "the answer has the blocks in order": z3.ForAll([b], z3.Implies(there, answer.at(PLACE(b) - 1 - start) == b)),
    }


def _walked(answer: Any, _ghost: Any) -> tuple[Order, Facts]:
    start = z3.If(GIVEN == NONE, 0, PLACE(GIVEN))
    return QUEUED, listing(answer, start, LENGTH - start)


def _silent(answer: Any) -> Facts:
    return {"nothing is answered": z3.BoolVal(answer is None)}


def _removed_n(answer: Any, ghost: Any) -> tuple[Order, Facts]:
    b = order.B
    return ghost, {
        **_silent(answer),
        "the others are inside": z3.ForAll([b], ghost.inside(b) == z3.And(INSIDE(b), z3.Not(named(b)))),
        "the others stand in the same order": order.same_order(ghost, QUEUED),
        "as many have left as were named": ghost.length == LENGTH - WIDTH,
    }


def _built(answer: Any, _ghost: Any) -> tuple[Order, Facts]:
    empty = Order(lambda b: z3.Or(b == HEAD, b == TAIL), lambda b: z3.If(b == HEAD, 0, 1), z3.IntVal(0))
    return order.followed_by(empty, named, FIRST, WIDTH), _silent(answer)


_QUEUED_BLOCK = {"a queued block": z3.And(in_batch(WITNESS), linked(ITEM(WITNESS)))}
_REPEATED_BLOCK = {"a repeated block": REPETITION}
_ADDABLE = z3.And(every_item(z3.Not(linked(ITEM(I)))), NO_REPETITION)
_ANY = z3.BoolVal(True)

OPERATIONS = (
    Operation("__init__", "a batch", BATCH | OLD_BLOCKS, _ADDABLE, _QUEUED_BLOCK | _REPEATED_BLOCK, _built, WIDTH == 2),
    Operation("popleft", "nothing", {}, LENGTH > 0, {EMPTY: LENGTH == 0}, _popped, _ANY),
    Operation(
        "popleft_n", "a number", {}, z3.And(0 <= NUMBER, NUMBER <= LENGTH),
        {"a negative count": NUMBER < 0, "more blocks than there are": NUMBER > LENGTH}, _popped_n, NUMBER == 2,
    ),
    Operation(
        "remove", "a block", A_BLOCK, queued(GIVEN), {"a block that is not queued": z3.Not(queued(GIVEN))},
        lambda answer, _ghost: (order.without(QUEUED, GIVEN), _silent(answer)), _ANY,
    ),
    Operation(
        "remove_n", "a batch", BATCH, z3.And(every_item(queued(ITEM(I))), NO_REPETITION),
        {"a block that is not queued": z3.And(in_batch(WITNESS), z3.Not(queued(ITEM(WITNESS))))} | _REPEATED_BLOCK,
        _removed_n, WIDTH == 2,
    ),
    Operation(
        "append", "a block", A_BLOCK, z3.Not(INSIDE(GIVEN)), {"a queued block": INSIDE(GIVEN)},
        lambda answer, _ghost: (order.followed_by(QUEUED, lambda b: b == GIVEN, lambda b: 0, 1), _silent(answer)), _ANY,
    ),
    Operation(
        "append_n", "a batch", BATCH, _ADDABLE, _QUEUED_BLOCK | _REPEATED_BLOCK,
        lambda answer, _ghost: (order.followed_by(QUEUED, named, FIRST, WIDTH), _silent(answer)), WIDTH == 2,
    ),
    Operation(
        "prepend_n", "a batch", BATCH, _ADDABLE, _QUEUED_BLOCK | _REPEATED_BLOCK,
        lambda answer, _ghost: (order.preceded_by(QUEUED, named, FIRST, WIDTH), _silent(answer)), WIDTH == 2,
    ),
    Operation(
        "get_all_free_blocks", "nothing", {}, _ANY, {},
        lambda answer, _ghost: (QUEUED, listing(answer, 0, LENGTH)), _ANY,
    ),
    Operation(
        "iter_blocks_after", "a block", {}, z3.Or(GIVEN == NONE, queued(GIVEN)),
        {"a cursor that is not queued": z3.And(GIVEN != NONE, z3.Not(queued(GIVEN)))}, _walked, _ANY,
    ),
)  # fmt: skip
BY_NAME = {operation.name: operation for operation in OPERATIONS}
