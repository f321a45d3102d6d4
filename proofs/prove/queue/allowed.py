"""The Python that the engine understands: every form that a method may have is listed here, and no other is run.

Statements, expressions and what is said in an error are three small languages. An attribute is a link of a block, a
field or a method of the queue; only an error may say more of a block, such as its id, because nothing can depend on
it there. What a value may be asked at run time is the business of `values.py`.
"""

import ast

from blockpool.proofs.prove.queue.allowed_values import Expressions, named, yields
from blockpool.proofs.prove.queue.source import QueueSource

WALK = "iter_blocks_after"
"""The one method that answers an iterator: what it yields is taken as a walk from start to end."""


def check_method(source: QueueSource, method: ast.FunctionDef) -> None:
    """Refuse the method if it has any other form."""
    Grammar(source, method).check()


class Grammar(Expressions):
    """The statements of one method."""

    def check(self) -> None:
        self.yields = yields(self.method)
        if self.yields and self.method.name != WALK and self.method.name not in self._walks():
            self._refuse(self.method, "the method is a generator, which does nothing until it is iterated")
        for statement in self.method.body:
            self._statement(statement)

    def _walks(self) -> set[str]:
        """Generators whose walk is what the walking method returns."""
        outer = self.source.methods.get(WALK)
        returned = [] if outer is None or yields(outer) else [n for n in ast.walk(outer) if isinstance(n, ast.Return)]
        calls = [node.value.func for node in returned if isinstance(node.value, ast.Call)]
        return {f.attr for f in calls if isinstance(f, ast.Attribute) and named(f.value, "self")}

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Pass() | ast.Break() | ast.Continue() | ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr(value=ast.Yield(value=ast.expr() as value)):
                self._expression(value)
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name(), attr="append"), args=[item], keywords=[]) as call
            ) if (
                not named(call.func.value, "self")  # type: ignore[attr-defined]
            ):
                self._expression(call.func.value)  # type: ignore[attr-defined]
                self._expression(item)
            case ast.Expr(value=ast.Call() as call):
                self._expression(call)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                self._assignment(node)
            case ast.If(test=test) | ast.While(test=test):
                self._expression(test)
                self._block([*node.body, *node.orelse])
            case ast.For(target=ast.Name()):
                self._iterated(node.iter)
                self._block([*node.body, *node.orelse])
            case ast.Return() | ast.Raise() | ast.Assert():
                self._end(node)
            case _:
                self._unknown(node)

    def _block(self, nodes: list[ast.stmt]) -> None:
        for node in nodes:
            self._statement(node)

    def _assignment(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        match node:
            case ast.AnnAssign(target=ast.Name(), value=ast.expr() as value):
                self._expression(value)
            case ast.AugAssign(op=ast.Add() | ast.Sub()):
                self._targets([node.target])
                self._expression(node.value)
            case ast.Assign(value=ast.Tuple(elts=values)):
                for target in node.targets:
                    if not isinstance(target, ast.Tuple) or len(target.elts) != len(values):
                        self._unknown(node)
                    else:
                        self._targets(target.elts)
                self._expressions(values)
            case ast.Assign():
                self._targets(node.targets)
                self._expression(node.value)
            case _:
                self._unknown(node)

    def _targets(self, nodes: list[ast.expr]) -> None:
        for node in nodes:
            self._target(node)

    def _target(self, node: ast.expr) -> None:
        match node:
            case ast.Name():
                pass
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                if name not in self.fields:
                    self._refuse(node, f"self.{name} is set, which is no field of a queue")
            case ast.Attribute(value=value, attr=name) if name in self.links:
                self._expression(value)
            case ast.Attribute(attr=name):
                self._refuse(node, f".{name} of a block is set, which is not modelled")
            case _:
                self._unknown(node)

    def _iterated(self, node: ast.expr) -> None:
        match node:
            case ast.Call(func=ast.Name(id="range" | "reversed"), args=[argument], keywords=[]):
                self._expression(argument)
            case _:
                self._expression(node)

    def _end(self, node: ast.Return | ast.Raise | ast.Assert) -> None:
        match node:
            case ast.Return(value=None) | ast.Return(value=ast.Constant(value=None)):
                pass
            case ast.Return() if self.yields:
                self._refuse(node, "a generator returns a value")
            case ast.Return(value=ast.expr() as value) if self.method.name in self.errors:
                self._error(value)
            case ast.Return(value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)) as call) if (
                self.method.name == WALK and name in self.source.methods
            ):
                self._call_of_method(call, name, walk=True)
            case ast.Return(value=ast.expr() as value):
                self._expression(value)
            case ast.Raise(exc=ast.expr() as error, cause=None | ast.Constant(value=None)):
                self._error(error)
            case ast.Assert(test=test, msg=message):
                self._expression(test)
                if message is not None:
                    self._message(message)
            case _:
                self._unknown(node)
