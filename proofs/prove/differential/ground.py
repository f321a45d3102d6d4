"""The value of a term without quantifiers, where every symbol has one."""

from collections.abc import Callable, Mapping
from typing import Any

import z3


class NoValueError(Exception):
    """A term that the heap gives no value."""


def value_of(term: z3.ExprRef, known: Mapping[str, Any]) -> Any:
    """Blocks are their names. `known` has the values of other symbols, and functions as functions."""
    if z3.is_int_value(term):
        return term.as_long()
    declared = term.decl()
    kind = declared.kind()
    if kind == z3.Z3_OP_UNINTERPRETED:
        name = declared.name()
        if term.num_args():
            return known[name](*(value_of(child, known) for child in term.children()))
        return known.get(name, name)
    if kind == z3.Z3_OP_ITE:
        chosen = 1 if value_of(term.arg(0), known) else 2
        return value_of(term.arg(chosen), known)
    if kind not in _MEANINGS:
        raise NoValueError(str(term))
    return _MEANINGS[kind](*(value_of(child, known) for child in term.children()))


_MEANINGS: dict[int, Callable[..., Any]] = {
    z3.Z3_OP_TRUE: lambda: True,
    z3.Z3_OP_FALSE: lambda: False,
    z3.Z3_OP_NOT: lambda a: not a,
    z3.Z3_OP_AND: lambda *a: all(a),
    z3.Z3_OP_OR: lambda *a: any(a),
    z3.Z3_OP_IMPLIES: lambda a, b: not a or b,
    z3.Z3_OP_EQ: lambda a, b: a == b,
    z3.Z3_OP_DISTINCT: lambda *a: len(set(a)) == len(a),
    z3.Z3_OP_LE: lambda a, b: a <= b,
    z3.Z3_OP_LT: lambda a, b: a < b,
    z3.Z3_OP_GE: lambda a, b: a >= b,
    z3.Z3_OP_GT: lambda a, b: a > b,
    z3.Z3_OP_ADD: lambda *a: sum(a),
    z3.Z3_OP_SUB: lambda a, *b: a - sum(b),
    z3.Z3_OP_MUL: lambda a, b: a * b,
    z3.Z3_OP_UMINUS: lambda a: -a,
}
