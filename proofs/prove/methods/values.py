"""What a method meets instead of blocks, numbers and keys: proxies that build Z3 terms and fork at each test.

Everything derives from `Poison`, which refuses whatever Python can do with a value. A proxy takes back, one by one,
the operations of which the meaning is stated here; so a use that nobody thought of is refused, never guessed.
"""

# mypy: disable-error-code="misc"

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import z3

from blockpool.proofs.prove.methods.errors import UnsupportedError
from blockpool.proofs.prove.pool import vocabulary
from blockpool.proofs.prove.queue.values import BLOCK, NONE

if TYPE_CHECKING:
    from blockpool.proofs.prove.methods.machine import Run

INT, TRUTH = z3.IntSort(), z3.BoolSort()
DIGEST, GROUP, WATCHER = z3.DeclareSort("Digest"), z3.DeclareSort("Group"), vocabulary.Watcher
NO_DIGEST = z3.Const("no digest", DIGEST)
ABSENT = {BLOCK: NONE, DIGEST: NO_DIGEST}
"""What stands for None in each sort that has it."""


class Poison:
    """A value that is not modelled: whatever is done with it is refused."""

    def _refused(self, *_args: Any, **_named: Any) -> NoReturn:
        raise UnsupportedError(f"a {type(self).__name__} is used in a way that is not modelled")

    _no: Any = _refused  # of no type, so that each proxy may give the operations that it has their own
    __bool__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = _no
    __add__ = __radd__ = __iadd__ = __sub__ = __rsub__ = __isub__ = __mul__ = __rmul__ = __floordiv__ = _no
    __rfloordiv__ = __mod__ = __rmod__ = __truediv__ = __pow__ = __and__ = __or__ = __xor__ = __neg__ = _no
    __invert__ = __abs__ = __int__ = __index__ = __float__ = __round__ = __str__ = __repr__ = __format__ = _no
    __len__ = __iter__ = __next__ = __contains__ = __getitem__ = __setitem__ = __delitem__ = __call__ = _no
    __reversed__ = __length_hint__ = __bytes__ = __enter__ = __exit__ = __matmul__ = __lshift__ = __rshift__ = _no

    def __getattr__(self, name: str) -> Any:
        raise UnsupportedError(f"the attribute {name} of a {type(self).__name__} is not modelled")

    def __setattr__(self, name: str, value: Any) -> None:
        raise UnsupportedError(f"the attribute {name} of a {type(self).__name__} is set, which is not modelled")

    def __delattr__(self, name: str) -> None:
        raise UnsupportedError(f"the attribute {name} of a {type(self).__name__} is deleted")

    def _has(self, **fields: Any) -> None:
        """Set our own fields."""
        self.__dict__.update(fields)


class Truth(Poison):
    """A condition. Asking for its truth forks the execution."""

    def __init__(self, run: Run, term: Any) -> None:
        self._has(run=run, term=term)

    def __bool__(self) -> bool:
        return self.run.branch(self.term)  # type: ignore[no-any-return]


def integer(value: Any) -> Any:
    """The term of a number."""
    if isinstance(value, Number):
        return value.term
    if isinstance(value, int):
        return z3.IntVal(int(value))
    raise UnsupportedError(f"a {type(value).__name__} is used as a number")


def _compared(how: Callable[[Any, Any], Any]) -> Callable[[Number, Any], Truth]:
    return lambda self, other: Truth(self.run, how(self.term, integer(other)))


class Number(Poison):
    """An integer of any size. Its identity is not modelled."""

    def __init__(self, run: Run, term: Any) -> None:
        self._has(run=run, term=term)

    def __add__(self, other: Any) -> Number:
        return Number(self.run, self.term + integer(other))

    __radd__ = __iadd__ = __add__

    def __sub__(self, other: Any) -> Number:
        return Number(self.run, self.term - integer(other))

    __isub__ = __sub__

    def __rsub__(self, other: Any) -> Number:
        return Number(self.run, integer(other) - self.term)

    __lt__, __le__ = _compared(lambda a, b: a < b), _compared(lambda a, b: a <= b)
    __gt__, __ge__ = _compared(lambda a, b: a > b), _compared(lambda a, b: a >= b)
    __eq__, __ne__ = _compared(lambda a, b: a == b), _compared(lambda a, b: a != b)
    __hash__ = Poison._no

    def __bool__(self) -> bool:
        return self.run.branch(self.term != 0)  # type: ignore[no-any-return]


class Thing(Poison):
    """A digest, a group or a watcher: only compared by identity with another, or with None where it may be that.

    A group stands for its number, too: `HashIndex.group` makes one for each, and `group_id` names it.
    """

    def __init__(self, run: Run, term: Any) -> None:
        self._has(run=run, term=term)

    def __getattr__(self, name: str) -> Any:
        if self.term.sort() == GROUP and name in self.run.of_groups:
            return self.run.of_groups[name](self)
        return super().__getattr__(name)

    def __setitem__(self, key: Any, value: Any) -> None:
        if self.term.sort() != GROUP or "set" not in self.run.of_groups:
            self._refused()
        self.run.of_groups["set"](self, key, value)

    def __delitem__(self, key: Any) -> None:
        if self.term.sort() != GROUP or "del" not in self.run.of_groups:
            self._refused()
        self.run.of_groups["del"](self, key)


class Owner(Poison):
    """`block.pool`: only compared with the pool that is proved."""

    def __init__(self, run: Run, block: Any) -> None:
        self._has(run=run, block=block)


class Node(Poison):
    """A block, or None. A `doubtful` one comes from a caller, and may be something else altogether. A `sure`
    one was shown to be a block before."""

    fields: ClassVar[dict[str, tuple[str, Any]]] = {
        "next_free_block": ("next", BLOCK), "prev_free_block": ("prev", BLOCK), "_refs": ("refs", INT),
        "ref_cnt": ("refs", INT), "_digest": ("digest", DIGEST), "_group": ("group", GROUP),
        "_num_tokens": ("tokens", INT),
    }  # fmt: skip

    def __init__(self, run: Run, term: Any, doubtful: bool = False, sure: bool = False) -> None:
        self._has(run=run, term=term, doubtful=doubtful, sure=sure)

    def __getattr__(self, name: str) -> Any:
        if name not in (*self.fields, "is_null", "pool"):
            return super().__getattr__(name)
        self.run.meets_block(self, name)
        if name == "is_null":
            return Truth(self.run, self.run.is_null(self.term))
        if name == "pool":
            return Owner(self.run, self.term)
        field, sort = self.fields[name]
        return wrapped(self.run, self.run.heap[field](self.term), sort)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.fields:
            super().__setattr__(name, value)
        self.run.meets_block(self, name)
        field, sort = self.fields[name]
        self.run.write(field, self.term, term_of(value, sort))

    def __bool__(self) -> bool:
        return self.run.branch(self.term != NONE)  # type: ignore[no-any-return]


def wrapped(run: Run, term: Any, sort: Any, doubtful: bool = False) -> Any:
    """The proxy for a term of this sort."""
    if sort == BLOCK:
        return Node(run, term, doubtful)
    return Number(run, term) if sort == INT else Thing(run, term)


def term_of(value: Any, sort: Any) -> Any:
    """The term of a value that has to be of this sort."""
    if sort == INT:
        return integer(value)
    if value is None and sort in ABSENT:
        return ABSENT[sort]
    if not isinstance(value, Node | Thing) or value.term.sort() != sort:
        raise UnsupportedError(f"a {type(value).__name__} stands where a {sort} belongs")
    return value.term


class Maybe(Poison):
    """Something that may be missing: only compared with None."""

    def __init__(self, run: Run, there: Any, **fields: Any) -> None:
        self._has(run=run, there=there, **fields)


class Model(Poison):
    """An object of which the attributes given are modelled, and nothing else."""

    def __init__(self, run: Run, **fields: Any) -> None:
        self._has(run=run, **fields)
