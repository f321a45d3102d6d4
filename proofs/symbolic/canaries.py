"""Planted violations that every run must find: if CrossHair misses one, it is not looking where we think it looks."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import icontract
from crosshair.core_and_libs import MessageType

from blockpool.impl import BlockPool
from blockpool.proofs.refine.driver import Subject
from blockpool.proofs.symbolic.goals import analysed, block, step, untraced
from blockpool.proofs.symbolic.plain_contracts import judged, read_contracts
from blockpool.proofs.symbolic.shapes import FEW
from blockpool.spec import Pool, Touch


@dataclass(frozen=True)
class Canary:
    """A planted defect, and the message it must lead to."""

    name: str
    sentence: str
    target: Callable[[], Callable[..., Any] | type]
    expected: MessageType
    words: str = ""  # what the message must contain


def never_overdrawn(self: "Till") -> bool:
    return self.coins >= 0


def is_paid(result: bool) -> bool:
    return result


@icontract.invariant(never_overdrawn)
class Till:
    """Breaks its invariant. The contract of its method hides that from CrossHair unless it is told the kind."""

    def __init__(self) -> None:
        self.coins = 0

    @icontract.ensure(is_paid)
    def pay(self, coins: int) -> bool:
        self.coins -= coins
        return True


def touch_that_does_nothing(subject: Subject, state: Pool, only: int) -> str:
    """Breaks the contract of `touch` on every free block."""

    def idle(self: BlockPool, blocks: object) -> None:
        return None

    broken = untraced(lambda: judged(replace(read_contracts()["BlockPool.touch"], bare=idle)))
    subject.pool.touch = partial(broken, subject.pool)  # type: ignore[method-assign]
    return step(subject, state, Touch((block(state, only),)))


def cannot_be(count: int) -> bool:
    return 0 < count < 0


@icontract.require(cannot_be)
@icontract.ensure(is_paid)
def pay_nobody(count: int) -> bool:
    """Can never be called, so whatever it promises holds."""
    return False


CANARIES = (
    Canary(
        "canary: invariant",
        "A broken invariant is found.",
        lambda: Till,
        MessageType.POST_FAIL,
    ),
    Canary(
        "canary: postcondition",
        "A broken contract of the pool is found, by its name.",
        lambda: analysed(touch_that_does_nothing, FEW, (True,), None),
        MessageType.POST_FAIL,
        "every named block is held",
    ),
    Canary(
        "canary: precondition",
        "A precondition that nothing meets is found.",
        lambda: pay_nobody,
        MessageType.PRE_UNSAT,
    ),
)
