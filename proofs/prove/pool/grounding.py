"""Quantifiers written out over a few named elements: where sizes are fixed, Z3 answers at once."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import product

import z3


class World:
    """So many names for the elements of each sort; two names may mean the same one. What is written out is kept."""

    def __init__(self, sizes: Iterable[tuple[z3.SortRef, int]]) -> None:
        self.names = {sort: [z3.Const(f"{sort.name()}!{number}", sort) for number in range(n)] for sort, n in sizes}
        self._written: dict[int, tuple[z3.ExprRef, z3.ExprRef]] = {}  # by identity, which is kept alive

    def finite(self, formulas: Sequence[z3.BoolRef]) -> list[z3.BoolRef]:
        """The formulas in a world in which every element of these sorts has one of the names."""
        symbols: dict[int, z3.FuncDeclRef] = {}
        seen: set[int] = set()
        for formula in formulas:
            symbols |= {symbol.get_id(): symbol for symbol in _symbols(formula, seen)}
        closed = [said for number in sorted(symbols) for said in self._closed(symbols[number])]
        written = map(self.written, formulas)
        return [*written, *closed, *(_complete(sort, names) for sort, names in self.names.items())]

    def written(self, formula: z3.ExprRef) -> z3.ExprRef:
        """The formula with each quantifier over these sorts alone written out; one over other sorts as well stays."""
        known = self._written.get(formula.get_id())
        if known is None:
            known = self._written[formula.get_id()] = (formula, self._write(formula))
        return known[1]

    def _write(self, formula: z3.ExprRef) -> z3.ExprRef:
        if z3.is_quantifier(formula):
            sorts = [formula.var_sort(place) for place in range(formula.num_vars())]
            if not all(sort in self.names for sort in sorts):
                return formula
            # Variables are numbered from the innermost, so the outermost quantifier has to go first.
            body, values = formula.body(), product(*(self.names[sort] for sort in sorts))
            cases = [self.written(z3.substitute_vars(body, *reversed(case))) for case in values]
            return z3.And(cases) if formula.is_forall() else z3.Or(cases)
        if formula.num_args() == 0:
            return formula
        return formula.decl()(*map(self.written, formula.children()))

    def _closed(self, symbol: z3.FuncDeclRef) -> Iterator[z3.BoolRef]:
        """Every value of the symbol has one of the names."""
        names = self.names.get(symbol.range())
        sorts = [symbol.domain(place) for place in range(symbol.arity())]
        if names and all(sort in self.names for sort in sorts):
            domain = product(*(self.names[sort] for sort in sorts))
            yield from (z3.Or([symbol(*case) == name for name in names]) for case in domain)


@cache
def world(*sizes: tuple[z3.SortRef, int]) -> World:
    """The one of these sizes."""
    return World(sizes)


def _symbols(term: z3.ExprRef, seen: set[int]) -> Iterator[z3.FuncDeclRef]:
    """The uninterpreted symbols of a term."""
    if term.get_id() not in seen:
        seen.add(term.get_id())
        if z3.is_app(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            yield term.decl()
        for child in term.children():
            yield from _symbols(child, seen)


def _complete(sort: z3.SortRef, names: Sequence[z3.ExprRef]) -> z3.BoolRef:
    """Every element has a name; for quantifiers that stayed."""
    element = z3.Const(f"any!{sort.name()}", sort)
    return z3.ForAll([element], z3.Or([element == name for name in names]))
