"""What a method meets instead of blocks, numbers and lists: proxies that build Z3 terms and fork at each test.

Each says what it can be asked; whatever else Python could ask of an object refuses, so that nothing that is inherited
from `object`, such as equality by identity, is ever taken for an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import z3

from blockpool.proofs.prove.queue.refusing import UnsupportedError

if TYPE_CHECKING:
    from blockpool.proofs.prove.queue.execution import Execution

BLOCK = z3.DeclareSort("Block")
NONE, HEAD, TAIL = z3.Consts("none head tail", BLOCK)
Field = Callable[[z3.ExprRef], z3.ExprRef]


_ASKED = (
    "eq ne lt le gt ge hash bool len contains iter next reversed getitem setitem delitem call enter exit await repr "
    "str format bytes int float complex index round trunc floor ceil abs neg pos invert length_hint missing"
)
_COMBINED = "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and xor or"


def _refusal(special: str) -> Callable[..., Any]:
    def refuse(self: Any, *_others: Any) -> Any:
        raise UnsupportedError(f"{special} of {self._what()} is asked, which is not modelled")

    return refuse


class Strict:
    """A value that refuses everything that its class does not define."""

    __slots__ = ()

    def _what(self) -> str:
        return f"a {type(self).__name__}"


for _name in [*_ASKED.split(), *(prefix + name for name in _COMBINED.split() for prefix in ("", "r"))]:
    setattr(Strict, f"__{_name}__", _refusal(_name))


class Number(Strict):  # noqa: PLW1641  (what is inherited refuses)
    """An integer of any size."""

    __slots__ = ("run", "term")

    def __init__(self, run: Execution, term: z3.ArithRef) -> None:
        self.run = run
        self.term = term

    def __add__(self, other: Any) -> Number:
        return Number(self.run, self.term + integer(other))

    def __radd__(self, other: Any) -> Number:
        return Number(self.run, integer(other) + self.term)

    def __sub__(self, other: Any) -> Number:
        return Number(self.run, self.term - integer(other))

    def __rsub__(self, other: Any) -> Number:
        return Number(self.run, integer(other) - self.term)

    def __neg__(self) -> Number:
        return Number(self.run, -self.term)

    def __lt__(self, other: Any) -> bool:
        return self.run.branch(self.term < integer(other))

    def __le__(self, other: Any) -> bool:
        return self.run.branch(self.term <= integer(other))

    def __gt__(self, other: Any) -> bool:
        return self.run.branch(self.term > integer(other))

    def __ge__(self, other: Any) -> bool:
        return self.run.branch(self.term >= integer(other))

    def __eq__(self, other: object) -> bool:
        return self.run.branch(self.term == integer(other))

    def __ne__(self, other: object) -> bool:
        return self.run.branch(self.term != integer(other))

    def __bool__(self) -> bool:
        return self.run.branch(self.term != 0)


class Node(Strict):  # noqa: PLW1641  (what is inherited refuses)
    """A block, or None: a block whose attributes are read and written on the symbolic heap."""

    __slots__ = ("run", "term")
    run: Execution
    term: z3.ExprRef

    def __init__(self, run: Execution, term: z3.ExprRef) -> None:
        object.__setattr__(self, "run", run)
        object.__setattr__(self, "term", term)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.run.crashes_if(self.term == NONE, f"reads .{name} of None")
        if name not in self.run.heap:
            return Unknown(f".{name}")
        return Node(self.run, self.run.heap[name](self.term))

    def __setattr__(self, name: str, value: Any) -> None:
        self.run.crashes_if(self.term == NONE, f"sets .{name} of None")
        if name not in self.run.heap:
            raise UnsupportedError(f"the attribute {name} of a block is written, and not modelled")
        self.run.heap[name] = updated(self.run.heap[name], self.term, block_term(value))

    def __bool__(self) -> bool:
        return self.run.branch(self.term != NONE)

    def __eq__(self, other: object) -> bool:
        self.run.compares_blocks()
        return self.run.branch(self.term == block_term(other))

    def __ne__(self, other: object) -> bool:
        return not self == other


class Unknown(Strict):
    """Something of which nothing is known: it may be handed on and told in a message, and never asked."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "name", name)

    def _what(self) -> str:
        return str(self.name)

    def __getattr__(self, name: str) -> Any:
        raise UnsupportedError(f"{self.name} is used, which is not modelled")

    def __setattr__(self, name: str, value: Any) -> None:
        raise UnsupportedError(f"{self.name} is written to, which is not modelled")


class Items(Strict):
    """A list of blocks: `length` items, of which item i is `at(i)`. What was `given` belongs to the caller."""

    __slots__ = ("at", "given", "length", "run")

    def __init__(
        self, run: Execution, length: z3.ArithRef, at: Callable[[Any], z3.ExprRef], *, given: bool = False
    ) -> None:
        self.run = run
        self.length = length
        self.at = at
        self.given = given
        run.lists.append(self)

    def append(self, value: Any) -> None:
        if self.given:
            raise UnsupportedError("the list that the method was given is changed")
        before, place, item = self.at, self.length, block_term(value)
        self.at = lambda index: z3.If(index == place, item, before(index))
        self.length = self.length + 1

    def __getitem__(self, index: Any) -> Node:
        place = integer(index)
        self.run.crashes_if(z3.Or(place < -self.length, place >= self.length), "takes an item that is not in the list")
        known = place.as_long() if z3.is_int_value(place) else None
        if known is None:
            place = z3.If(place < 0, place + self.length, place)
        elif known < 0:
            place = self.length + known
        return Node(self.run, self.at(place))

    def __contains__(self, value: Any) -> bool:
        self.run.compares_blocks()
        return self.run.finds(self, block_term(value))

    def __bool__(self) -> bool:
        return self.run.branch(self.length != 0)

    def __iter__(self) -> Any:
        raise UnsupportedError("a list is iterated outside a loop")


class Reversed(Strict):
    """`reversed(items)`: only looped over."""

    def __init__(self, items: Items) -> None:
        self.items = items


class Span(Strict):
    """`range(length)`: only looped over."""

    def __init__(self, length: z3.ArithRef) -> None:
        self.length = length


def integer(value: Any) -> z3.ArithRef:
    """The term of a number."""
    if isinstance(value, Number):
        return value.term
    if isinstance(value, int) and not isinstance(value, bool):
        return z3.IntVal(value)
    raise UnsupportedError(f"a {type(value).__name__} is used as a number")


def block_term(value: Any) -> z3.ExprRef:
    """The term of a block or None."""
    if value is None:
        return NONE
    if isinstance(value, Node):
        return value.term
    raise UnsupportedError(f"a {type(value).__name__} is used as a block")


def updated(field: Field, at: z3.ExprRef, value: z3.ExprRef) -> Field:
    """The field after one write."""

    def read(block: z3.ExprRef) -> z3.ExprRef:
        return value if block.eq(at) else z3.If(block == at, value, field(block))

    return read
