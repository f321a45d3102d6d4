"""What CrossHair is asked: goals, each a function with an icontract contract and symbolic arguments.

A goal about a call of the pool is a short function of a pool and symbolic arguments. From it `on_shapes` makes the
function that CrossHair analyses; its arguments choose one of the shapes, give the numbers of references, and are handed
on. What it answers is empty, or says what is wrong.
"""

import inspect
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

import icontract
from crosshair.tracers import NoTracing, is_tracing

from blockpool.proofs.core import text as words
from blockpool.proofs.core.text import show
from blockpool.proofs.refine.correspondence import Names
from blockpool.proofs.refine.driver import Subject
from blockpool.proofs.refine.lockstep import MismatchError, check_call
from blockpool.proofs.symbolic.shapes import Shape, pool_of
from blockpool.spec import Action, BlockId, Pool, steps

Returned = TypeVar("Returned")
Body = Callable[..., str]


@dataclass(frozen=True)
class Goal:
    """One question to CrossHair."""

    name: str
    sentence: str
    covers: tuple[str, ...]  # the contracted methods of impl that it speaks about, as Class.method
    scope: str
    quick_scope: str  # empty: left out of a quick run
    function: Callable[[bool], Callable[..., Any]]  # what to analyse, whole or quickly


GOALS: dict[str, Goal] = {}
"""All goals by name, in the order of definition."""

NAMES = Names(1)


def nothing_is_wrong(result: str) -> bool:
    """The postcondition of every goal."""
    return result == ""


def on_shapes(
    *covers: str,
    whole: Sequence[Shape],
    quick: Sequence[Shape],
    reporting: Sequence[bool] = (True,),
    given: Callable[..., bool] | None = None,
) -> Callable[[Body], Body]:
    """Make a goal of a function of a pool; `given` is the precondition on its symbolic arguments."""

    def register(body: Body) -> Body:
        def function(quickly: bool) -> Callable[..., Any]:
            return analysed(body, quick if quickly else whole, reporting, given)

        name, sentence = body.__name__, inspect.cleandoc(body.__doc__ or "").split("\n")[0]
        methods = tuple(f"BlockPool.{method}" for method in covers or (name,))
        GOALS[name] = Goal(name, sentence, methods, scope_of(whole, reporting), scope_of(quick, reporting), function)
        return body

    return register


def scope_of(shapes: Sequence[Shape], reporting: Sequence[bool]) -> str:
    return f"{len(shapes) * len(reporting)} shapes" if shapes else ""


def plain(
    *covers: str, scope: str, given: Callable[..., bool] | None = None, in_quick_runs: bool = True
) -> Callable[[Body], Body]:
    """Make a goal of a function of symbolic arguments alone."""

    def register(body: Body) -> Body:
        name, sentence = body.__name__, inspect.cleandoc(body.__doc__ or "").split("\n")[0]
        function = with_contract(body, given)
        GOALS[name] = Goal(name, sentence, covers, scope, scope if in_quick_runs else "", lambda quickly: function)
        return body

    return register


def analysed(
    body: Body, shapes: Sequence[Shape], reporting: Sequence[bool], given: Callable[..., bool] | None
) -> Callable[..., Any]:
    """The function that CrossHair is given for a goal on these shapes."""
    chosen = [(shape, events) for events in reporting for shape in shapes]
    most = max(map(len, shapes))
    counts = [f"references_{number}" for number in range(1, most + 1)]
    own = list(inspect.signature(body).parameters.values())[2:]
    signature = inspect.Signature([*map(argument, ("shape", *counts)), *own], return_annotation=str)

    def call(*values: Any) -> str:
        shape, events = chosen[nth(len(chosen), values[0])]
        state = untraced(lambda: pool_of(shape, values[1 : 1 + most], reporting=events))
        subject = untraced(lambda: Subject(state, NAMES))
        wrong = body(subject, state, *values[1 + most :])
        return wrong and f"{wrong} ({described(shape, events)})"

    def possible(**values: Any) -> bool:
        held = all(values[count] >= 1 for count in counts)
        allowed = given is None or given(*[values[one.name] for one in own])
        return 0 <= values["shape"] < len(chosen) and held and allowed

    call.__name__ = call.__qualname__ = body.__name__
    for function in (call, possible):
        setattr(function, "__signature__", signature)  # noqa: B010  (a function has no such attribute to declare)
    return with_contract(call, possible)


def described(shape: Shape, reporting: bool) -> str:
    """The pool that a counterexample starts from."""
    blocks = [
        f"block {number} {'held' if kind.held else 'free'}"
        + (f", found under {' and '.join(map(show, kind.keys))}" if kind.keys else "")
        + (", watched" if kind.watched else "")
        for number, kind in enumerate(shape, 1)
    ]
    return f"{'; '.join(blocks)}; events {'on' if reporting else 'off'}"


def argument(name: str) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=int)


def with_contract(function: Callable[..., Any], given: Callable[..., bool] | None) -> Callable[..., Any]:
    """The function with its icontract contract: what is given before, nothing wrong after."""
    promised = icontract.ensure(nothing_is_wrong)(function)
    return promised if given is None else icontract.require(given)(promised)


# --- for the bodies of goals ---


def nth(limit: int, number: int) -> int:
    """`number`, which is from 0 to `limit - 1`, as an integer that is no longer symbolic: one path for each value."""
    low, high = 0, limit
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if number < middle else (middle, high)
    return low


def block(state: Pool, number: int) -> BlockId:
    """The block that a symbolic number names: any of the pool, the null block, or (the last) one of another pool."""
    return BlockId(nth(state.size + 1, number))


def within(number: int, least: int, most: int) -> int:
    """The symbolic number, one path for each value; `least` stands for all below it, `most` for all above it.

    A refusal prints the number it was given, and CrossHair never ends with the digits of a number without bounds.
    """
    if number <= least:
        return least
    return most if number >= most else least + nth(most - least, number - least)


def untraced(build: Callable[[], Returned]) -> Returned:
    """Do something that looks at no symbolic value, at full speed."""
    with NoTracing() if is_tracing() else nullcontext():  # type: ignore[no-untyped-call]
        return build()


def step(subject: Subject, state: Pool, action: Action[Any]) -> str:
    """Take one call on both, under the contracts of `impl`; what is wrong, or nothing."""
    try:
        check_call(subject, state, action, list(steps(state, action)))
    except MismatchError as mismatch:
        return f"{words.call(action)}: {mismatch}"
    return ""
