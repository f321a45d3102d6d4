"""Methods are rewritten as little as symbolic execution needs: identity tests, loops, list displays, raise and yield.

- `a is b` becomes a call, because Python does not let an object answer it;
- a loop becomes one step from an arbitrary iteration (see loops.py): its invariant is checked before it and after the
  step, and everything that it changes is forgotten in between;
- `raise` and a failed `assert` become a refusal, which is thereby told from a crash;
- a generator becomes a function that returns the list of what it yields: it speaks about a walk that nobody interrupts.

Everything else stays as written and is run by Python itself. A statement that is not in the list below is not
supported: the method is then not proved, never half understood.
"""

import ast
import copy
from collections.abc import Iterable
from dataclasses import dataclass

from blockpool.proofs.prove.queue.source import QueueSource, with_fields

SUPPORTED: tuple[type[ast.AST], ...] = (
    ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.If, ast.For,
    ast.While, ast.Break, ast.Continue, ast.Pass, ast.Expr, ast.Raise, ast.Assert, ast.Yield, ast.Name, ast.Attribute,
    ast.Constant, ast.Compare, ast.Is, ast.IsNot, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In,
    ast.NotIn, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.BinOp, ast.Add, ast.Sub, ast.Call,
    ast.List, ast.Tuple, ast.Subscript, ast.JoinedStr, ast.FormattedValue, ast.IfExp, ast.expr_context, ast.keyword,
)  # fmt: skip

ENGINE = "_engine"
BUILTINS = frozenset({"len", "isinstance", "range", "reversed", "list", "int", "min", "max"})
"""Known by the engine, or working on its numbers by comparisons only."""


class UnsupportedError(Exception):
    """The method uses something that the engine does not model."""


@dataclass(frozen=True)
class LoopInfo:
    """What is known about a loop from its text."""

    function: str
    number: int  # in its function, from 0
    line: int
    carried: tuple[str, ...]  # locals whose value at the end of a step is used in the next one
    dropped: tuple[str, ...]  # other locals that the loop sets: worth nothing after it
    written: frozenset[str]  # attributes that it may set, also through methods that it calls
    grown: tuple[str, ...]  # lists that it appends to


class Rewriter(ast.NodeTransformer):
    """Rewrites one method; `loops` collects what the generated code refers to."""

    def __init__(self, source: QueueSource, loops: list[LoopInfo]) -> None:
        self.methods = source.methods
        self.loops = loops
        self.makers = {"__init__": source.block_makers}
        self.of_errors = {  # methods of which the result is raised
            node.exc.func.attr
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Raise)
            and isinstance(node.exc, ast.Call)
            and isinstance(node.exc.func, ast.Attribute)
        }
        self.function = ""
        self.number = 0
        self.yields = False
        self.raising = False
        self.known: frozenset[str] = BUILTINS

    def rewritten(self, method: ast.FunctionDef) -> ast.FunctionDef:
        for node in _body_nodes(method):
            if not isinstance(node, SUPPORTED):
                line = getattr(node, "lineno", method.lineno)
                raise UnsupportedError(f"{method.name}, line {line}: {type(node).__name__} is not modelled")
        self.function, self.number = method.name, 0
        self.known = BUILTINS | self.makers.get(method.name, frozenset()) | _own_names(method)
        self.yields = any(isinstance(node, ast.Yield) for node in ast.walk(method))
        flat = self._statements(copy.deepcopy(method.body))
        if self.yields:
            flat = [*_parsed(f"_yielded = {ENGINE}.new_list([])"), *flat, *_parsed("return _yielded")]
        return with_fields(method, body=flat)  # type: ignore[no-any-return]

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if not any(isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops):
            return node
        if len(node.ops) > 1:
            raise UnsupportedError(f"{self.function}: a chain of comparisons with 'is' is not modelled")
        name = "same" if isinstance(node.ops[0], ast.Is) else "different"
        return _call(name, node.left, node.comparators[0])

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """What the class does not define itself may only be raised: nothing else is known about it."""
        if isinstance(node.ctx, ast.Load) and node.id not in self.known and not self.raising:
            raise UnsupportedError(
                f"{self.function}, line {node.lineno}: {node.id} is used, which the class does not define"
            )
        return node

    def visit_List(self, node: ast.List) -> ast.AST:
        self.generic_visit(node)
        return _call("new_list", node) if isinstance(node.ctx, ast.Load) else node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        self._visit_error(node)
        if node.exc is None:
            raise UnsupportedError(f"{self.function}: a bare raise is not modelled")
        return ast.Raise(_call("refusal", node.exc), None)

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        self.generic_visit(node)
        refused = ast.Raise(_call("refusal", ast.Name("AssertionError", ast.Load())), None)
        return ast.If(ast.UnaryOp(ast.Not(), node.test), [refused], [])

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return ast.Pass()
        return ast.Assign([self.visit(node.target)], self.visit(node.value), lineno=node.lineno)

    def visit_Yield(self, node: ast.Yield) -> ast.AST:
        self.generic_visit(node)
        value = node.value if node.value is not None else ast.Constant(None)
        return ast.Call(ast.Attribute(ast.Name("_yielded", ast.Load()), "append", ast.Load()), [value], [])

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if self.function in self.of_errors:
            self._visit_error(node)
        else:
            self.generic_visit(node)
        return ast.Return(ast.Name("_yielded", ast.Load())) if self.yields else node

    def _visit_error(self, node: ast.AST) -> None:
        self.raising = True
        self.generic_visit(node)
        self.raising = False

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        return self._loop(node, ast.Constant(None), [node.test], "")

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        return self._loop(node, node.iter, [], f"{ast.unparse(node.target)} = ")

    def _loop(self, node: ast.While | ast.For, over: ast.expr, tests: list[ast.expr], target: str) -> list[ast.stmt]:
        info = self._info(node, tests)
        key, variable = len(self.loops), f"_loop{len(self.loops)}"
        self.loops.append(info)
        enter = f"{variable} = {ENGINE}.enter({key}, {ast.unparse(self.visit(over))}, locals())"
        forget = [f"if {name!r} in locals(): {name} = {variable}.value({name!r})" for name in info.carried]
        forget += [f"if {name!r} in locals(): {name} = {ENGINE}.forgotten" for name in info.dropped]
        more = f"{variable}.again(locals()) and " + (f"{variable}.more()" if target else "(_test)")
        loop = ast.parse(f"while {more}: pass").body[0]
        assert isinstance(loop, ast.While)
        assert isinstance(loop.test, ast.BoolOp)
        if not target:
            loop.test.values[1] = self.visit(tests[0])
        body = self._statements(node.body)
        loop.body = [*(_parsed(f"{target}{variable}.item()") if target else []), *body]
        loop.orelse = self._statements(node.orelse)
        return [*_parsed("\n".join([enter, *forget])), loop]

    def _statements(self, nodes: list[ast.stmt]) -> list[ast.stmt]:
        visited = [self.visit(node) for node in nodes]
        return [statement for part in visited for statement in (part if isinstance(part, list) else [part])]

    def _info(self, node: ast.While | ast.For, tests: list[ast.expr]) -> LoopInfo:
        uses = [use for part in [*tests, *node.body] for use in _uses(part)]
        first: dict[str, bool] = {}
        for name, loaded in uses:
            first.setdefault(name, loaded)
        targets = [name for name, _ in _uses(node.target)] if isinstance(node, ast.For) else []
        stored = list(dict.fromkeys([name for name, loaded in uses if not loaded] + targets))
        carried = tuple(name for name in stored if first.get(name, False) and name not in targets)
        number, self.number = self.number, self.number + 1
        grown = ("_yielded",) if any(isinstance(part, ast.Yield) for part in ast.walk(node)) else ()
        return LoopInfo(
            self.function, number, node.lineno, carried, tuple(name for name in stored if name not in carried),
            frozenset(_written(node.body, self.methods, set())), grown + tuple(_grown(node)),
        )  # fmt: skip


def _body_nodes(method: ast.FunctionDef) -> Iterable[ast.AST]:
    """Everything that is executed: no annotations."""
    for statement in method.body:
        pending: list[ast.AST] = [statement]
        while pending:
            node = pending.pop()
            yield node
            pending += [
                child for name, value in ast.iter_fields(node) if name != "annotation" for child in _nodes(value)
            ]


def _own_names(method: ast.FunctionDef) -> frozenset[str]:
    """Parameters and locals."""
    parameters = [argument.arg for argument in (*method.args.args, *method.args.kwonlyargs)]
    stored = [name for statement in method.body for name, loaded in _uses(statement) if not loaded]
    return frozenset([*parameters, *stored])


def _nodes(value: object) -> list[ast.AST]:
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, ast.AST)]


def _uses(node: ast.AST) -> list[tuple[str, bool]]:
    """Names in the order in which they are evaluated, and whether each is read."""
    if isinstance(node, ast.Name):
        return [(node.id, isinstance(node.ctx, ast.Load))]
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return [(node.target.id, True), *_uses(node.value), (node.target.id, False)]
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        parts: list[ast.AST] = [*([node.value] if node.value is not None else []), *targets]
    elif isinstance(node, ast.For):
        parts = [node.iter, node.target, *node.body, *node.orelse]
    else:
        parts = list(ast.iter_child_nodes(node))
    return [use for part in parts for use in _uses(part)]


def _written(nodes: Iterable[ast.AST], methods: dict[str, ast.FunctionDef], seen: set[str]) -> Iterable[str]:
    for part in nodes:
        for node in ast.walk(part):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                yield node.attr
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self" and node.attr in methods:
                called, known = methods[node.attr], node.attr in seen
                seen.add(node.attr)
                yield from () if known else _written(called.body, methods, seen)


def _grown(loop: ast.AST) -> Iterable[str]:
    for node in ast.walk(loop):
        function = node.func if isinstance(node, ast.Call) else None
        if isinstance(function, ast.Attribute) and function.attr == "append" and isinstance(function.value, ast.Name):
            yield function.value.id


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name(ENGINE, ast.Load()), name, ast.Load()), list(arguments), [])


def _parsed(text: str) -> list[ast.stmt]:
    return ast.parse(text).body
