"""Methods are rewritten as little as symbolic execution needs: identity tests, loops, list displays, raise and yield.

- `a is b` becomes a call, because Python does not let an object answer it;
- a loop becomes one step from an arbitrary iteration (see loops.py): its invariant is checked before it and after the
  step, and everything that it changes is forgotten in between;
- `raise` and a failed `assert` become a refusal, which is thereby told from a crash;
- a generator becomes a function that returns the list of what it yields: it speaks about a walk that nobody interrupts.

Everything else stays as written and is run by Python itself. Only what `allowed.py` lets through comes here.
"""

import ast
import copy
from collections.abc import Iterable
from dataclasses import dataclass

from blockpool.proofs.prove.queue.allowed_values import yields
from blockpool.proofs.prove.queue.source import QueueSource, with_fields

ENGINE = "_engine"


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
        self.function = ""
        self.number = 0
        self.yields = False

    def rewritten(self, method: ast.FunctionDef) -> ast.FunctionDef:
        self.function, self.number, self.yields = method.name, 0, yields(method)
        flat = self._statements(copy.deepcopy(method.body))
        if self.yields:
            flat = [*_parsed(f"_yielded = {ENGINE}.new_list([])"), *flat, *_parsed("return _yielded")]
        return with_fields(method, body=flat)  # type: ignore[no-any-return]

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if not any(isinstance(operator, ast.Is | ast.IsNot) for operator in node.ops):
            return node
        name = "same" if isinstance(node.ops[0], ast.Is) else "different"
        return _call(name, node.left, node.comparators[0])

    def visit_List(self, node: ast.List) -> ast.AST:
        self.generic_visit(node)
        return _call("new_list", node) if isinstance(node.ctx, ast.Load) else node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return _call(
            "message", *(self.visit(part.value) for part in node.values if isinstance(part, ast.FormattedValue))
        )

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        assert node.exc is not None
        return ast.copy_location(ast.Raise(_call("refusal", self.visit(node.exc)), None), node)

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        message = [] if node.msg is None else [self.visit(node.msg)]
        refused = ast.Raise(_call("refusal", ast.Name("AssertionError", ast.Load()), *message), None)
        return ast.copy_location(ast.If(ast.UnaryOp(ast.Not(), self.visit(node.test)), [refused], []), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        assert node.value is not None
        return ast.copy_location(ast.Assign([self.visit(node.target)], self.visit(node.value)), node)

    def visit_Yield(self, node: ast.Yield) -> ast.AST:
        assert node.value is not None
        append = ast.Attribute(ast.Name("_yielded", ast.Load()), "append", ast.Load())
        return ast.Call(append, [self.visit(node.value)], [])

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        return ast.Return(ast.Name("_yielded", ast.Load())) if self.yields else node

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
        made = [*_parsed("\n".join([enter, *forget])), loop]
        for part in [*made[:-1], loop.test]:  # so that a refusal names the line of the loop
            for inner in ast.walk(part):
                ast.copy_location(inner, node.iter if isinstance(node, ast.For) else node.test)
        return [*made[:-1], ast.copy_location(loop, node)]

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
