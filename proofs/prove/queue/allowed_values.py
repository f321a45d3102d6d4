"""The expressions that the engine understands, and what an error may say."""

import ast
from dataclasses import dataclass, field

from blockpool.proofs.prove.queue.class_shape import BUILTINS
from blockpool.proofs.prove.queue.refusing import refuse
from blockpool.proofs.prove.queue.source import QueueSource

COMPARISONS = (ast.Is, ast.IsNot, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn)
OWN_NAMES = ("_engine", "_loop", "_yielded", "_test", "locals", "__")
"""How the names begin that the rewritten method uses itself."""


def yields(method: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.Yield) for node in ast.walk(method))


def error_methods(tree: ast.ClassDef) -> frozenset[str]:
    """Methods of which the result is raised."""
    raised = (node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise))
    calls = (node.func for node in raised if isinstance(node, ast.Call))
    return frozenset(f.attr for f in calls if isinstance(f, ast.Attribute) and named(f.value, "self"))


@dataclass
class Expressions:
    """What names and attributes mean in one method."""

    source: QueueSource
    method: ast.FunctionDef
    locals: set[str] = field(init=False)

    def __post_init__(self) -> None:
        layout = self.source.layout
        self.links = {layout.next, layout.prev}
        self.fields = {layout.head, layout.tail, layout.count}
        self.errors = error_methods(self.source.tree)
        self.makers = self.source.block_makers if self.method.name == "__init__" else frozenset()
        stored = {n.id for n in ast.walk(self.method) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        self.locals = stored | {argument.arg for argument in self.method.args.args[1:]}
        for name in sorted(self.locals):
            if name in BUILTINS | self.makers | {"self"} or name.startswith(OWN_NAMES):
                self._refuse(self.method, f"{name} is the name of a local, and means something else")

    def _refuse(self, node: ast.AST, words: str) -> None:
        refuse(self.source.file, node, f"in {self.method.name}, {words}")

    def _unknown(self, node: ast.AST) -> None:
        self._refuse(node, f"{type(node).__name__} is not modelled here: {ast.unparse(node).splitlines()[0]}")

    def _expression(self, node: ast.expr) -> None:
        match node:
            case ast.Constant(value=value) if value is None or type(value) in (bool, int):
                pass
            case ast.Name(id=name):
                if name not in self.locals:
                    self._refuse(node, f"{name} is used, which the method does not define")
            case ast.Attribute():
                self._attribute(node)
            case ast.Compare(left=left, ops=ops, comparators=others) if all(isinstance(o, COMPARISONS) for o in ops):
                if len(ops) > 1 and any(isinstance(o, ast.Is | ast.IsNot) for o in ops):
                    self._refuse(node, "a chain of comparisons with 'is' is not modelled")
                self._expressions([left, *others])
            case ast.Call():
                self._call(node)
            case _:
                self._combined(node)

    def _combined(self, node: ast.expr) -> None:
        match node:
            case ast.BoolOp(values=values) | ast.List(elts=values):
                self._expressions(values)
            case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
                self._expression(operand)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
                self._expressions([left, right])
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self._expressions([test, body, orelse])
            case ast.Subscript(value=value, slice=index):
                self._expressions([value, index])
            case _:
                self._unknown(node)

    def _expressions(self, nodes: list[ast.expr]) -> None:
        for node in nodes:
            self._expression(node)

    def _attribute(self, node: ast.Attribute) -> None:
        if named(node.value, "self"):
            if node.attr not in self.fields:
                self._refuse(node, f"self.{node.attr} is read, which is no field of a queue")
        elif node.attr not in self.links:
            self._refuse(node, f".{node.attr} is read, which is not modelled outside the message of an error")
        else:
            self._expression(node.value)

    def _call(self, node: ast.Call) -> None:
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[value, ast.Name(id="int")], keywords=[]):
                self._expression(value)
            case ast.Call(func=ast.Name(id="len" | "list"), args=[value], keywords=[]):
                self._expression(value)
            case ast.Call(func=ast.Name(id="list"), args=[], keywords=[]):
                pass
            case ast.Call(func=ast.Name(id="min" | "max"), args=[left, right], keywords=[]):
                self._expressions([left, right])
            case ast.Call(func=ast.Name(id=name)) if name in self.makers:
                if not all(_is_number(part) for part in [*node.args, *(word.value for word in node.keywords)]):
                    self._unknown(node)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)) if name in self.source.methods:
                self._call_of_method(node, name)
            case ast.Call(func=ast.Name(id=name)):
                self._refuse(node, f"{name} is called, which the method does not define")
            case _:
                self._unknown(node)

    def _call_of_method(self, node: ast.Call, name: str, *, walk: bool = False, error: bool = False) -> None:
        if name == "__init__" or (yields(self.source.methods[name]) and not walk):
            self._refuse(node, f"{name} is called, which is a constructor or a generator")
        if name in self.errors and not error:
            self._refuse(node, f"{name} makes an error, which is not raised here")
        for argument in [*node.args, *(word.value for word in node.keywords)]:
            if not isinstance(argument, ast.Constant) or type(argument.value) is not str:
                self._expression(argument)
        if any(word.arg is None for word in node.keywords):
            self._unknown(node)

    def _error(self, node: ast.expr) -> None:
        match node:
            case ast.Name(id=name):
                self._error_class(node, name)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=words):
                self._error_class(node, name)
                for part in [*arguments, *(word.value for word in words if word.arg is not None)]:
                    self._message(part)
                if any(word.arg is None for word in words):
                    self._unknown(node)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)) if name in self.source.methods:
                self._call_of_method(node, name, error=name in self.errors)
            case _:
                self._unknown(node)

    def _error_class(self, node: ast.expr, name: str) -> None:
        reason = self.source.no_exception(name) if name not in self.locals else "a local"
        if reason:
            self._refuse(node, f"{name} is raised, which is {reason}")

    def _message(self, node: ast.expr) -> None:
        """Nothing can depend on it but the message, so it may say anything that reading shows."""
        match node:
            case ast.Constant():
                pass
            case ast.JoinedStr(values=values):
                for value in values:
                    self._message(value)
            case ast.FormattedValue(value=value, format_spec=None):
                self._message(value)
            case ast.Attribute(value=value, attr=name) if not name.startswith("__") and not named(value, "self"):
                self._expression(value)
            case _:
                self._expression(node)


def named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_number(node: ast.expr) -> bool:
    value = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    return isinstance(value, ast.Constant) and type(value.value) is int
