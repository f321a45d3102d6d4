"""Defects of the engine, which make it prove what is false: the comparison with CPython must show each of them.

Each exchanges a part of the engine while it is planted.
"""

import ast
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import z3

from blockpool.proofs.prove.queue import class_shape, rewrite, values
from blockpool.proofs.prove.queue.allowed_values import Expressions
from blockpool.proofs.prove.queue.execution import Execution
from blockpool.proofs.prove.queue.loops import Loop
from blockpool.proofs.prove.queue.rewrite import LoopInfo, Rewriter
from blockpool.proofs.prove.queue.values import Items, Node, Number, Unknown, block_term, integer


@dataclass(frozen=True)
class Fault:
    """What the engine gets wrong, and the parts that make it so."""

    sentence: str
    parts: tuple[tuple[Any, str, Any], ...]


@contextmanager
def planted(fault: Fault) -> Iterator[None]:
    """The engine with the fault."""
    with ExitStack() as stack:
        for owner, name, part in fault.parts:
            stack.enter_context(patch.object(owner, name, part, create=True))
        yield


def _rewriting(kind: str, change: Callable[[Any], Any]) -> tuple[tuple[Any, str, Any], ...]:
    """The rewriter, where it takes a node for something else."""

    def visit(self: Rewriter, node: Any) -> Any:
        return change(self.generic_visit(node))

    return ((Rewriter, f"visit_{kind}", visit),)


def _with(node: Any, **fields: Any) -> Any:
    for name, value in fields.items():
        setattr(node, name, value)
    return node


def _from_the_right(node: ast.Assign) -> Any:
    return _with(node, targets=node.targets[::-1])


def _turned(node: ast.BoolOp) -> Any:
    return _with(node, op=ast.And()) if isinstance(node.op, ast.Or) else node


def _late_by_one(self: Loop) -> bool:
    return self.run.branch(self.k < self.length - 1)


def _from_the_front(self: Items, index: Any) -> Node:
    return Node(self.run, self.at(z3.If(integer(index) < 0, -integer(index) - 1, integer(index))))


def _by_name_only(field: Any, at: Any, value: Any) -> Any:
    return lambda block: value if block.eq(at) else field(block)


def _without_defaults(self: Rewriter, method: ast.FunctionDef) -> ast.FunctionDef:
    made = _REWRITTEN(self, method)
    made.args = ast.arguments([], made.args.args, None, [], [], None, [ast.Constant(0) for _ in made.args.defaults])
    return made


_REWRITTEN = Rewriter.rewritten


def _signature_unseen(_source: Any, _method: Any) -> None:
    pass


def _length(self: Execution, value: Any) -> Any:
    return Number(self, value.length) if isinstance(value, Items) else len(value)


def _any_attribute(self: Expressions, node: ast.Attribute) -> None:
    if not isinstance(node.value, ast.Name) or node.value.id != "self":
        self._expression(node.value)


def _nothing_forgotten(*fields: Any) -> LoopInfo:
    function, number, line, carried, _dropped, *rest = fields
    return LoopInfo(function, number, line, carried, (), *rest)


def _no_crash(self: Execution, condition: z3.BoolRef, _words: str) -> None:
    self.know("no crash", z3.Not(condition))


def _as_before(self: Loop, name: str, value: Any) -> Any:
    fresh = _ARBITRARY(self, name, value)
    return Number(self.run, integer(value)) if isinstance(fresh, Number) else Node(self.run, block_term(value))


_ARBITRARY = Loop._arbitrary


def _appended(self: Items, value: Any) -> None:
    before, item = self.at, block_term(value)
    self.at = lambda index: z3.If(index == 0, item, before(index - 1))
    self.length = self.length + 1


FAULTS = (
    Fault("blocks are equal if they are the same object of the engine", ((Node, "__eq__", object.__eq__),)),
    Fault(
        "a number that is equal counts as smaller",
        ((Number, "__lt__", lambda self, other: self.run.branch(self.term <= integer(other))),),
    ),
    Fault("what stands behind else is dropped", _rewriting("If", lambda node: _with(node, orelse=[]))),
    Fault("a loop over a list takes one step less", ((Loop, "more", _late_by_one),)),
    Fault("or is and", _rewriting("BoolOp", _turned)),
    Fault("an assignment in place is not written", _rewriting("AugAssign", lambda node: ast.Expr(node.value))),
    Fault("a raise is passed over", _rewriting("Raise", lambda _node: ast.Pass())),
    Fault("an assertion is passed over", _rewriting("Assert", lambda _node: ast.Pass())),
    Fault("defaults are taken for 0", ((Rewriter, "rewritten", _without_defaults),)),
    Fault(
        "a default that is a list is taken as new in each call",
        ((class_shape, "_check_signature", _signature_unseen), (Execution, "length", _length)),
    ),
    Fault("a write is seen only by the name that wrote", ((values, "updated", _by_name_only),)),
    Fault("reading a link of None goes on", ((Execution, "crashes_if", _no_crash),)),
    Fault("targets are assigned from the right", _rewriting("Assign", _from_the_right)),
    Fault("a reversed list is not reversed", ((Execution, "reverse", lambda self, value: self.copy(value)),)),
    Fault("items from the end are taken from the front", ((Items, "__getitem__", _from_the_front),)),
    Fault("a local that a loop sets keeps its value from before", ((rewrite, "LoopInfo", _nothing_forgotten),)),
    Fault("a step of a loop begins with the locals from before it", ((Loop, "_arbitrary", _as_before),)),
    Fault("continue leaves the loop", _rewriting("Continue", lambda _node: ast.Break())),
    Fault(
        "an attribute that is not modelled is equal to itself alone",
        (
            (Expressions, "_attribute", _any_attribute),
            (Unknown, "__eq__", object.__eq__),
            (Unknown, "__hash__", object.__hash__),
        ),
    ),
    Fault("is not is is", ((Execution, "different", Execution.same),)),
    Fault("None is not told from a block", ((Node, "__bool__", lambda _self: True),)),
    Fault("an item is appended at the front", ((Items, "append", _appended),)),
)  # fmt: skip
