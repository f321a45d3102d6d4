"""Formulas as Python: a Z3 formula becomes a fast function of a finite structure.

A structure gives each uninterpreted sort its elements, any hashable values, at least one, and each symbol its meaning:
a predicate is the set of its elements (of tuples, from two arguments on), a function a mapping from them, and a
symbol without arguments is its value. Quantifiers run over the elements, so quantified integers are not understood.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import z3

Element = Hashable
Meaning = Any  # a bool, an int or an element; a set; or a mapping to ints or elements


@dataclass(frozen=True, slots=True)
class Structure:
    """A finite world in which a formula is true or false."""

    sorts: Mapping[str, Sequence[Element]]
    symbols: Mapping[str, Meaning]


Evaluator = Callable[[Structure], Any]


class UnreadableError(ValueError):
    """A formula with something in it that has no finite meaning here."""


def compiled(formula: z3.ExprRef) -> Evaluator:
    """The formula as a function; a term works as well. Raises UnreadableError."""
    writer = _Writer()
    body = writer.written(formula, ())
    lines = [
        "def evaluate(structure):",
        *(f"    {local} = structure.sorts[{name!r}]" for name, local in writer.sorts.items()),
        *(f"    {local} = structure.symbols[{name!r}]" for name, local in writer.symbols.items()),
        f"    return {body}",
    ]
    namespace: dict[str, Any] = {}
    exec(compile("\n".join(lines), "<formula>", "exec"), namespace)
    evaluator: Evaluator = namespace["evaluate"]
    return evaluator


def symbols_in(formula: z3.ExprRef) -> frozenset[str]:
    """The names of all symbols that a structure has to know. Raises UnreadableError."""
    writer = _Writer()
    writer.written(formula, ())
    return frozenset(writer.symbols)


def structure_of(model: z3.ModelRef, symbols: Iterable[z3.FuncDeclRef]) -> Structure:
    """What a model says about these symbols; where it says nothing, any value will do and Z3 takes one.

    Elements are named by Z3. Raises UnreadableError if the model leaves a value open."""
    universes = {sort.name(): model.get_universe(sort) for sort in model.sorts()}
    used = [symbol if symbol.ctx == model.ctx else symbol.translate(model.ctx) for symbol in symbols]
    for sort in (sort for symbol in used for sort in _sorts_of(symbol) if sort.kind() == z3.Z3_UNINTERPRETED_SORT):
        universes.setdefault(sort.name(), [z3.Const(f"any {sort.name()}", sort)])
    meanings = {symbol.name(): _meaning(model, symbol, universes) for symbol in used}
    return Structure({name: tuple(map(str, elements)) for name, elements in universes.items()}, meanings)


def _sorts_of(symbol: z3.FuncDeclRef) -> list[z3.SortRef]:
    return [*(symbol.domain(place) for place in range(symbol.arity())), symbol.range()]


def _meaning(model: z3.ModelRef, symbol: z3.FuncDeclRef, universes: Mapping[str, list[z3.ExprRef]]) -> Meaning:
    domain = [universes[symbol.domain(place).name()] for place in range(symbol.arity())]
    values: dict[Any, Any] = {}
    for elements in product(*domain):
        names = tuple(map(str, elements))
        value = _value(model.eval(symbol(*elements), model_completion=True), universes)
        values[names[0] if len(names) == 1 else names] = value
    if symbol.arity() == 0:
        return values[()]
    if symbol.range() == z3.BoolSort(model.ctx):
        return {place for place, value in values.items() if value}
    return values


def _value(term: z3.ExprRef, universes: Mapping[str, list[z3.ExprRef]]) -> bool | int | str:
    if z3.is_true(term) or z3.is_false(term):
        return bool(z3.is_true(term))
    if z3.is_int_value(term):
        return int(term.as_long())
    if term.sort().name() in universes and term.num_args() == 0:
        return str(term)
    raise UnreadableError(f"the model leaves {term} open")


_INFIX = {
    z3.Z3_OP_EQ: "==",
    z3.Z3_OP_ADD: "+",
    z3.Z3_OP_SUB: "-",
    z3.Z3_OP_MUL: "*",
    z3.Z3_OP_LE: "<=",
    z3.Z3_OP_LT: "<",
    z3.Z3_OP_GE: ">=",
    z3.Z3_OP_GT: ">",
    z3.Z3_OP_AND: "and",
    z3.Z3_OP_OR: "or",
    z3.Z3_OP_XOR: "!=",
}
_ALONE = {z3.Z3_OP_TRUE: "True", z3.Z3_OP_FALSE: "False", z3.Z3_OP_AND: "True", z3.Z3_OP_OR: "False"}


class _Writer:
    """Writes one formula as a Python expression, and notes the sorts and symbols it needs."""

    def __init__(self) -> None:
        self.sorts: dict[str, str] = {}
        self.symbols: dict[str, str] = {}

    def written(self, term: z3.ExprRef, names: tuple[str, ...]) -> str:
        """The term, where the bound variables are called so, the innermost last."""
        if z3.is_quantifier(term):
            return self._quantifier(term, names)
        if z3.is_var(term):
            index: int = z3.get_var_index(term)
            return names[-1 - index]
        if z3.is_int_value(term):
            return f"({term.as_long()})"
        kind = term.decl().kind()
        if kind == z3.Z3_OP_UNINTERPRETED:
            return self._application(term, names)
        return _operation(kind, [self.written(child, names) for child in term.children()], term)

    def _application(self, term: z3.ExprRef, names: tuple[str, ...]) -> str:
        symbol = term.decl()
        local = self.symbols.setdefault(symbol.name(), f"symbol{len(self.symbols)}")
        if symbol.arity() == 0:
            return local
        arguments = ", ".join(self.written(child, names) for child in term.children())
        place = arguments if symbol.arity() == 1 else f"({arguments})"
        return f"({place} in {local})" if z3.is_bool(term) else f"{local}[{place}]"

    def _quantifier(self, term: z3.QuantifierRef, names: tuple[str, ...]) -> str:
        """Loops, outermost variable first; what does not speak of the inner ones is asked before them."""
        if term.is_lambda():
            raise UnreadableError(f"a lambda: {term}")
        depth = len(names)
        inner = (*names, *(f"x{depth + place}" for place in range(term.num_vars())))
        parts = _parts(term.body(), z3.Z3_OP_OR if term.is_forall() else z3.Z3_OP_AND)
        levels: list[list[str]] = [[] for _ in range(term.num_vars() + 1)]
        for part, positive in parts:
            text = self.written(part, inner)
            deepest = max((len(inner) - index - depth for index in _free(part)), default=0)
            levels[max(deepest, 0)].append(text if positive else f"(not {text})")
        every, joint, start = ("all", " or ", "False") if term.is_forall() else ("any", " and ", "True")
        written = joint.join(levels[-1]) or start
        for place in reversed(range(term.num_vars())):
            sort = term.var_sort(place)
            if sort.kind() != z3.Z3_UNINTERPRETED_SORT:
                raise UnreadableError(f"a quantifier over {sort}: {term}")
            elements = self.sorts.setdefault(sort.name(), f"sort{len(self.sorts)}")
            loop = f"{every}([({written}) for {inner[depth + place]} in {elements}])"
            written = joint.join([*levels[place], loop])
        return f"({written})"


def _operation(kind: int, arguments: list[str], term: z3.ExprRef) -> str:
    match kind, arguments:
        case (z3.Z3_OP_NOT, [argument]):
            return f"(not {argument})"
        case (z3.Z3_OP_UMINUS, [argument]):
            return f"(-{argument})"
        case (z3.Z3_OP_IMPLIES, [premise, conclusion]):
            return f"(not {premise} or {conclusion})"
        case (z3.Z3_OP_ITE, [condition, then, otherwise]):
            return f"({then} if {condition} else {otherwise})"
        case (z3.Z3_OP_DISTINCT, _):
            return f"(len({{{', '.join(arguments)}}}) == {len(arguments)})"
        case (_, []) if kind in _ALONE:
            return _ALONE[kind]
        case (_, [_, *_]) if kind in _INFIX:
            return f"({f' {_INFIX[kind]} '.join(arguments)})"
        case _:
            raise UnreadableError(f"no Python for {term.decl()}")


def _parts(term: z3.ExprRef, joined: int, positive: bool = True) -> list[tuple[z3.ExprRef, bool]]:
    """The disjuncts (or conjuncts) of a body, each with its sign."""
    kind = term.decl().kind() if z3.is_app(term) else None
    opposite = z3.Z3_OP_AND if joined == z3.Z3_OP_OR else z3.Z3_OP_OR
    if kind == z3.Z3_OP_NOT:
        return _parts(term.arg(0), joined, not positive)
    if kind == (joined if positive else opposite):
        return [part for child in term.children() for part in _parts(child, joined, positive)]
    if kind == z3.Z3_OP_IMPLIES and positive == (joined == z3.Z3_OP_OR):
        return [*_parts(term.arg(0), joined, not positive), *_parts(term.arg(1), joined, positive)]
    return [(term, positive)]


def _free(term: z3.ExprRef) -> set[int]:
    """The bound variables a term speaks of, by their index from here."""
    if z3.is_var(term):
        return {z3.get_var_index(term)}
    if z3.is_quantifier(term):
        return {index - term.num_vars() for index in _free(term.body()) if index >= term.num_vars()}
    return {index for child in term.children() for index in _free(child)}
