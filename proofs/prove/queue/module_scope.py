"""What the text around a queue class does when it is imported, and what the names mean that the class uses.

A module may patch a class, rebind `len` or hand a decorator something else. So the code that runs at import is held to
a list of forms that do neither, and a name counts only if the module binds it exactly once, or not at all.
Other modules are not followed, except one level for classes that are imported: see `block_class.py`.
"""

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from blockpool.proofs.prove.queue.refusing import UnsupportedError, refuse

CALLED_AT_IMPORT = frozenset(
    {"NewType", "TypeVar", "ParamSpec", "frozenset", "dataclass", "field", "init_logger", "logging.getLogger"}
)
"""The functions that code at import may call. They are known not to reach for a class."""
DECORATORS = frozenset(
    {"dataclass", "property", "staticmethod", "classmethod", "overload", "abstractmethod", "cached_property"}
)
INERT = (
    ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.BinOp,
    ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.JoinedStr, ast.FormattedValue, ast.Call, ast.keyword,
    ast.Starred, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.Load,
)  # fmt: skip
"""Nodes of expressions that do nothing, but for calls, which are looked at one by one."""
NEVER_NAMED = frozenset({"globals", "locals", "vars", "setattr", "delattr", "exec", "eval", "__builtins__", "builtins"})
"""With these, any function of the module could rebind what another one means."""


@dataclass(frozen=True)
class ModuleScope:
    """The module of a queue class."""

    tree: ast.Module
    name: str  # of the queue class
    file: str

    def check(self) -> None:
        """Refuse a module that could change what the class means."""
        for statement in self.tree.body:
            self._inert(statement)
        if len(self.bindings.get(self.name, ())) != 1:
            raise UnsupportedError(f"{self.file}: the name {self.name} is bound more than once")
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and node.id in NEVER_NAMED:
                refuse(self.file, node, f"{node.id} is named, with which the module could rebind anything")
        self._class_is_only_called()

    @cached_property
    def bindings(self) -> dict[str, list[ast.AST]]:
        """Everything that binds each name of the module, wherever it stands."""
        found: dict[str, list[ast.AST]] = {}
        for name, node in [*_bound(self.tree.body), *self._declared_global()]:
            found.setdefault(name, []).append(node)
        return found

    def builtin(self, name: str) -> bool:
        """The name means what Python means by it."""
        return hasattr(builtins, name) and name not in self.bindings

    def sole(self, name: str) -> ast.AST | None:
        """What binds the name, if one thing does."""
        bound = self.bindings.get(name, ())
        return bound[0] if len(bound) == 1 else None

    def imported_from(self, name: str) -> ast.ImportFrom | None:
        node = self.sole(name)
        return node if isinstance(node, ast.ImportFrom) else None

    def class_called(self, name: str) -> tuple[ast.ClassDef, "ModuleScope"] | None:
        """The class of this name, here or where it is imported from; None if that module is not at hand."""
        node = self.sole(name)
        if isinstance(node, ast.ClassDef):
            return node, self
        if not isinstance(node, ast.ImportFrom):
            raise UnsupportedError(f"{self.file}: {name} is no class that the module defines or imports once")
        file = self._file_of(node)
        if file is None:
            return None
        there = ModuleScope(ast.parse(file.read_text(encoding="utf-8")), name, str(file))
        original = next(alias.name for alias in node.names if (alias.asname or alias.name) == name)
        found = there.sole(original)
        if not isinstance(found, ast.ClassDef):
            raise UnsupportedError(f"{file}: {original} is not a class that is defined there once")
        return found, there

    def _file_of(self, node: ast.ImportFrom) -> Path | None:
        """The file of a relative import."""
        if not node.level or not node.module:
            return None
        folder = Path(self.file).resolve().parents[node.level - 1]
        file = folder.joinpath(*node.module.split(".")).with_suffix(".py")
        return file if file.is_file() else None

    def _declared_global(self) -> Iterator[tuple[str, ast.AST]]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Global):
                yield from ((name, node) for name in node.names)

    def _class_is_only_called(self) -> None:
        """Outside itself the class is built and named in annotations, nothing else: not passed on, not written to."""
        own = set(ast.walk(next(n for n in self.tree.body if isinstance(n, ast.ClassDef) and n.name == self.name)))
        allowed = {id(node.func) for node in ast.walk(self.tree) if isinstance(node, ast.Call)}
        allowed |= {id(part) for node in ast.walk(self.tree) for note in _annotations(node) for part in ast.walk(note)}
        for node in ast.walk(self.tree):
            named = isinstance(node, ast.Name) and node.id == self.name
            if named and node not in own and id(node) not in allowed:
                refuse(self.file, node, f"{self.name} is used otherwise than built, so it could be patched")

    # ---- code that runs at import ----

    def _inert(self, node: ast.stmt) -> None:
        match node:
            case ast.Import() | ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case ast.ImportFrom():
                if any(alias.name == "*" for alias in node.names):
                    refuse(self.file, node, "everything is imported from a module, which could rebind any name")
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._decorated(node)
                self._expressions(
                    node, [*node.args.defaults, *(d for d in node.args.kw_defaults if d), *_annotations(node)]
                )
            case ast.ClassDef():
                self._inert_class(node)
            case ast.Assign() | ast.AnnAssign():
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if not all(isinstance(target, ast.Name) for target in targets):
                    refuse(self.file, node, "code at import writes to something else than a name")
                self._expressions(node, [*([node.value] if node.value else []), *_annotations(node)])
            case ast.If():
                self._expressions(node, [node.test])
                for statement in [*node.body, *node.orelse]:
                    self._inert(statement)
            case _:
                refuse(self.file, node, f"{type(node).__name__} runs at import, and is not modelled")

    def _inert_class(self, node: ast.ClassDef) -> None:
        self._decorated(node)
        if node.keywords:
            refuse(self.file, node, f"the class {node.name} has keywords, such as a metaclass")
        self._expressions(node, node.bases)
        for statement in node.body:
            self._inert(statement)

    def _decorated(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        for decorator in node.decorator_list:
            function = decorator.func if isinstance(decorator, ast.Call) else decorator
            name = ast.unparse(function)
            own = self.sole(name.partition(".")[0])
            known = name in DECORATORS or isinstance(own, ast.ImportFrom) or name.endswith((".setter", ".getter"))
            if not known or isinstance(own, ast.FunctionDef | ast.ClassDef):
                refuse(self.file, decorator, f"the decorator {name} is not known")

    def _expressions(self, place: ast.AST, nodes: list[ast.expr]) -> None:
        for node in (part for expression in nodes for part in ast.walk(expression)):
            if not isinstance(node, INERT):
                refuse(self.file, place, f"{type(node).__name__} runs at import, and is not modelled")
            if isinstance(node, ast.Call) and not self._harmless(ast.unparse(node.func)):
                refuse(self.file, place, f"{ast.unparse(node.func)} is called at import")

    def _harmless(self, function: str) -> bool:
        own = self.bindings.get(function.partition(".")[0], [])
        return function in CALLED_AT_IMPORT and all(isinstance(node, ast.Import | ast.ImportFrom) for node in own)


def _annotations(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.AnnAssign():
            return [node.annotation]
        case ast.arg():
            return [node.annotation] if node.annotation else []
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            a = node.args
            every = [*a.posonlyargs, *a.args, *a.kwonlyargs, *(x for x in (a.vararg, a.kwarg) if x)]
            return [*([node.returns] if node.returns else []), *(x.annotation for x in every if x.annotation)]
        case _:
            return []


def _bound(statements: list[ast.stmt]) -> Iterator[tuple[str, ast.AST]]:
    """Names that the statements of a module bind, and by what. Forms that are refused anyway are left out."""
    for node in statements:
        match node:
            case ast.Import() | ast.ImportFrom():
                yield from ((alias.asname or alias.name.partition(".")[0], node) for alias in node.names)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name, node
            case ast.Assign() | ast.AnnAssign():
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = (t for target in targets for t in ast.walk(target) if isinstance(t, ast.Name))
                yield from ((t.id, node) for t in names if isinstance(t.ctx, ast.Store))
            case ast.If():
                yield from _bound([*node.body, *node.orelse])
