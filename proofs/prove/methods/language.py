"""The Python that is understood, and how it is rewritten: as little as symbolic execution needs.

- `a is b` becomes a call, because Python does not let an object answer it;
- a loop becomes one step from an arbitrary iteration, see `loops.py`;
- a display of a list, `{}`, a filter (`[x for x in items if ..]`) and `raise` become calls;
- `except E` catches what the method raises and E covers, never a refusal of the engine; `finally` is not followed by a
  path that was cut off.

Everything else stays as written and is run by Python itself, on proxies. A construct or a name that is not listed is
refused, with its file and line.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from blockpool.proofs.prove.methods.errors import UnsupportedError

ENGINE = "_engine"

SUPPORTED: tuple[type[ast.AST], ...] = (
    ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.If, ast.For,
    ast.Break, ast.Continue, ast.Pass, ast.Expr, ast.Raise, ast.Try, ast.ExceptHandler, ast.Delete, ast.Name,
    ast.Attribute, ast.Constant, ast.Compare, ast.Is, ast.IsNot, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE,
    ast.In, ast.NotIn, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.BinOp, ast.Add, ast.Sub,
    ast.Mult, ast.FloorDiv, ast.Call, ast.List, ast.Tuple, ast.Subscript, ast.Slice, ast.IfExp, ast.ListComp,
    ast.comprehension, ast.expr_context, ast.Starred, ast.Dict, ast.JoinedStr, ast.keyword,
)  # fmt: skip
IN_MESSAGES = (ast.JoinedStr, ast.FormattedValue, ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.expr_context)
"""What an error may be built from, besides: it is shown to people and not executed."""
SHOWN_CALLS = frozenset({"getattr"})


@dataclass(frozen=True)
class LoopInfo:
    """What is known about a loop from its text."""

    function: str
    number: int  # in its function, from 0
    where: str  # file and line
    carried: tuple[str, ...]  # locals whose value at the end of a step is used in the next one
    dropped: tuple[str, ...]  # other locals that the loop sets: not known at the start of a step, nor behind the loop


class Rewriter(ast.NodeTransformer):
    """Rewrites one function at a time; `loops` collects what the generated code refers to."""

    def __init__(self, file: str, names: Iterable[str], loops: list[LoopInfo]) -> None:
        self.file, self.names, self.loops = file, frozenset(names), loops
        self.function, self.number, self.line, self.known = "", 0, 0, frozenset[str]()

    def rewritten(self, function: ast.FunctionDef) -> ast.FunctionDef:
        """The function, ready to be run on proxies."""
        self.function, self.number = function.name, 0
        made = copy.deepcopy(function)
        made.decorator_list, made.returns = [], None
        arguments = made.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
            self.refuse(function, "only plain parameters are modelled")
        for argument in arguments.args:
            argument.annotation = None
        for default in arguments.defaults:
            if not isinstance(default, ast.Constant):
                self.refuse(default, "a default that is no constant may be shared by calls: it is not modelled")
        self.known = self.names | {a.arg for a in arguments.args} | set(_stored(made.body))
        made.body = self.statements(made.body)
        return ast.fix_missing_locations(made)

    def refuse(self, node: ast.AST, words: str) -> None:
        raise UnsupportedError(f"{self.file}:{getattr(node, 'lineno', self.line)}: {words}")

    def visit(self, node: ast.AST) -> Any:
        self.line = getattr(node, "lineno", self.line)
        if not isinstance(node, SUPPORTED):
            self.refuse(node, f"{type(node).__name__} is not modelled")
        return super().visit(node)

    def statements(self, nodes: list[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        for node in nodes:
            visited = self.visit(node)
            for part in visited if isinstance(visited, list) else [visited]:
                found.append(_placed(part, node))
        return found

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if isinstance(node.ctx, ast.Load) and node.id not in self.known:
            self.refuse(node, f"nothing is known of {node.id}")
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if not any(isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops):
            return node
        if len(node.ops) > 1:
            self.refuse(node, "a chain of comparisons with 'is' is not modelled")
        name = "same" if isinstance(node.ops[0], ast.Is) else "different"
        return _call(name, node.left, node.comparators[0])

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == "list":  # elsewhere `list` is a class to compare with
            return _call("copied", *map(self.visit, node.args))
        self.generic_visit(node)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
            self.refuse(node, "a minus sign is modelled before a constant only")
        self.generic_visit(node)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if node.value is not None and not isinstance(node.value, bool | int | str):
            self.refuse(node, f"the constant {node.value!r} is not modelled")
        return node

    def visit_List(self, node: ast.List) -> ast.AST:
        if len(node.elts) == 1 and isinstance(node.elts[0], ast.Starred):
            return _call("copied", self.visit(node.elts[0].value))
        self.generic_visit(node)
        return _call("new_list", node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """A text for people: not built, and of no use for anything else."""
        self._is_message(node)
        return ast.Attribute(ast.Name(ENGINE, ast.Load()), "forgotten", ast.Load())

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        if node.keys:
            self.refuse(node, "a dict with something in it is not modelled")
        return _call("new_table")

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        self.refuse(node, "a star is modelled in [*items] only")
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        """A filter: the items that pass a test, which changes nothing."""
        part, target = node.generators[0], node.generators[0].target
        if len(node.generators) > 1 or len(part.ifs) > 1 or not isinstance(target, ast.Name):
            self.refuse(node, "a comprehension that is no filter is not modelled")
        if not isinstance(node.elt, ast.Name) or node.elt.id != ast.unparse(target):
            self.refuse(node, "a comprehension that is no filter is not modelled")
        over = self.visit(part.iter)
        outer, self.known = self.known, self.known | {ast.unparse(target)}
        test = self.visit(part.ifs[0]) if part.ifs else ast.Constant(True)
        self.known = outer
        parameters = ast.arguments([], [ast.arg(ast.unparse(target))], None, [], [], None, [])
        return _call("filtered", over, ast.Lambda(parameters, test))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return ast.Pass()
        return ast.Assign([self.visit(node.target)], self.visit(node.value))

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        """The arguments of an error are for people: they are looked at, and not executed."""
        if node.exc is None:
            return node
        kind = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        arguments = node.exc.args if isinstance(node.exc, ast.Call) else []
        for argument in arguments:
            self._is_message(argument)
        return ast.Raise(_call("refusal", self.visit(kind)), None)

    def _is_message(self, node: ast.AST) -> None:
        for part in ast.walk(node):
            called = isinstance(part, ast.Call) and ast.unparse(part.func) not in SHOWN_CALLS
            if called or not isinstance(part, (*IN_MESSAGES, *SUPPORTED)):
                self.refuse(part, "an error is built from something that is not modelled")

    def visit_Try(self, node: ast.Try) -> ast.AST:
        if node.orelse:
            self.refuse(node, "the else of a try is not modelled")
        ending = [ast.If(_call("follows"), self.statements(node.finalbody), [])] if node.finalbody else []
        return ast.Try(self.statements(node.body), self._handlers(node.handlers), [], list[ast.stmt](ending))

    def _handlers(self, handlers: list[ast.ExceptHandler]) -> list[ast.ExceptHandler]:
        if not handlers:
            return []
        chain: list[ast.stmt] = [ast.Raise(None, None)]
        for handler in reversed(handlers):
            if handler.type is None:
                self.refuse(handler, "an except without a class is not modelled")
            assert handler.type is not None
            named = _parsed(f"{handler.name} = {ENGINE}.forgotten") if handler.name else []
            test = _call("catches", ast.Name("_raised", ast.Load()), self.visit(handler.type))
            chain = [ast.If(test, [*named, *self.statements(handler.body)], chain)]
        caught = ast.Attribute(ast.Name(ENGINE, ast.Load()), "Raised", ast.Load())
        return [ast.ExceptHandler(caught, "_raised", chain)]

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        if node.orelse:
            self.refuse(node, "the else of a loop is not modelled")
        key, info = len(self.loops), self._info(node)
        self.loops.append(info)
        variable = f"_loop{key}"
        enter = _parsed(f"{variable} = {ENGINE}.enter({key}, None, locals())")
        assert isinstance(enter[0], ast.Assign)
        assert isinstance(enter[0].value, ast.Call)
        enter[0].value.args[1] = self.visit(node.iter)
        lost = [f"if {n!r} in locals(): {n} = {variable}.value({n!r})" for n in info.carried]
        lost += [f"if {n!r} in locals(): {n} = {ENGINE}.forgotten" for n in info.dropped]
        loop = _parsed(f"while {variable}.again(locals()) and {variable}.more(): pass")[0]
        assert isinstance(loop, ast.While)
        target = _parsed(f"{ast.unparse(node.target)} = {variable}.item()")
        loop.body = [*target, *self.statements(node.body)]
        return [*enter, *_parsed("\n".join(lost)), loop]

    def _info(self, node: ast.For) -> LoopInfo:
        uses = [use for part in node.body for use in _uses(part)]
        first: dict[str, bool] = {}
        for name, loaded in uses:
            first.setdefault(name, loaded)
        targets = [name for name, _ in _uses(node.target)]
        stored = list(dict.fromkeys([name for name, loaded in uses if not loaded] + targets))
        carried = tuple(name for name in stored if first.get(name, False) and name not in targets)
        dropped = tuple(name for name in stored if name not in carried)
        number, self.number = self.number, self.number + 1
        return LoopInfo(self.function, number, f"{self.file}:{node.lineno}", carried, dropped)


def compiled(file: str, functions: Mapping[str, ast.FunctionDef], names: Iterable[str], loops: list[LoopInfo]) -> Any:
    """The functions as code; run in a scope with `names`, it defines them."""
    rewriter = Rewriter(file, [*names, *functions], loops)
    body: list[ast.stmt] = [rewriter.rewritten(function) for function in functions.values()]
    return compile(ast.fix_missing_locations(ast.Module(body, [])), file, "exec")


def _stored(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield part.id
            if isinstance(part, ast.ExceptHandler) and part.name:
                yield part.name


def _uses(node: ast.AST) -> list[tuple[str, bool]]:
    """Names in the order in which they are evaluated, and whether each is read."""
    if isinstance(node, ast.Name):
        return [(node.id, isinstance(node.ctx, ast.Load))]
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return [(node.target.id, True), *_uses(node.value), (node.target.id, False)]
    parts: list[ast.AST] = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        parts = [*([node.value] if node.value is not None else []), *targets]
    elif isinstance(node, ast.For):
        parts = [node.iter, node.target, *node.body, *node.orelse]
    return [use for part in parts for use in _uses(part)]


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name(ENGINE, ast.Load()), name, ast.Load()), list(arguments), [])


def _parsed(text: str) -> list[ast.stmt]:
    return ast.parse(text).body


def _placed(made: ast.stmt, origin: ast.stmt) -> ast.stmt:
    """The generated statement, at the line of what it was made from: a refusal names it."""
    for node in ast.walk(made):
        if getattr(node, "lineno", 0) < origin.lineno:
            ast.copy_location(node, origin)
    return made
