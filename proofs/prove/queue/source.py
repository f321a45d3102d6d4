"""The source of a queue class, read from a file and never imported: no other module of its project is needed.

What the class uses from elsewhere is stood in for: exceptions by exceptions of that name, and the block class by
whatever the reader of this module supplies. Decorators and slots are left out: `class_shape.py` has looked at them.
"""

import __future__

import ast
import builtins
import copy
import importlib.util
import tokenize
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from blockpool.proofs.prove.queue.module_scope import ModuleScope

MEANT = frozenset({"property", "staticmethod", "classmethod"})
"""Decorators that change how a method is called; others are left out."""


class BadSourceError(Exception):
    """There is no such class, or it is not a doubly linked queue with two sentinels."""


@dataclass(frozen=True)
class Layout:
    """What a queue calls its fields."""

    head: str
    tail: str
    count: str
    next: str
    prev: str


@dataclass(frozen=True)
class QueueSource:
    """A class, and the module around it."""

    name: str
    tree: ast.ClassDef
    layout: Layout
    scope: ModuleScope

    @property
    def file(self) -> str:
        return self.scope.file

    @cached_property
    def methods(self) -> dict[str, ast.FunctionDef]:
        return {node.name: node for node in self.tree.body if isinstance(node, ast.FunctionDef)}

    @cached_property
    def block_makers(self) -> frozenset[str]:
        return block_makers(self.tree)

    def no_exception(self, name: str) -> str:
        """What a name is that is raised, if it is not known to be an exception; empty if it is."""
        if self.scope.builtin(name):
            return "" if is_exception(getattr(builtins, name)) else "a builtin that is no exception to raise"
        if name in self.methods or self.scope.sole(name) is None:
            return "bound by nothing, or more than once"
        return "" if is_plain_error(self.scope, name) else "not known to be derived from exceptions only"

    @cached_property
    def left_out(self) -> str:
        """The decorators about which nothing is shown."""
        used = {ast.unparse(part) for method in self.methods.values() for part in method.decorator_list} - MEANT
        return ", ".join(f"@{name}" for name in sorted(used))


def build(tree: ast.ClassDef, names: Mapping[str, Any], make_block: Callable[..., Any], file: str = "<queue>") -> Any:
    """The class that `tree` defines, with `names` in scope and `make_block` in place of the block class."""
    scope: dict[str, Any] = {name: _stand_in(name) for name in _free_names(tree)}
    scope |= dict.fromkeys(block_makers(tree), make_block) | dict(names) | {"__name__": tree.name}
    module = ast.fix_missing_locations(ast.Module([bare(tree)], []))
    flags = __future__.annotations.compiler_flag
    exec(compile(module, file, "exec", flags, dont_inherit=True), scope)
    return scope[tree.name]


def block_makers(tree: ast.ClassDef) -> frozenset[str]:
    """Names that the constructor calls and nobody raises: the classes of blocks."""
    constructors = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
    called = {name for constructor in constructors for name in _called_names(constructor)}
    return frozenset(name for name in called - _raised_names(tree) if not hasattr(builtins, name))


def read_queue(where: str) -> QueueSource:
    """The class at MODULE:CLASS or path/to/file.py:CLASS."""
    place, _, name = where.rpartition(":")
    if not place:
        raise BadSourceError(f"{where!r} does not name a class: write MODULE:CLASS or FILE.py:CLASS")
    path = Path(place) if place.endswith(".py") else _file_of(place)
    if not path.is_file():
        raise BadSourceError(f"there is no file {path}")
    with path.open("rb") as bytes_of:
        encoding, _ = tokenize.detect_encoding(bytes_of.readline)
    if encoding not in ("utf-8", "utf-8-sig"):
        raise BadSourceError(f"{path} is written in {encoding}; only UTF-8 is read")
    return parse_queue(path.read_text(encoding=encoding), name, str(path))


def parse_queue(text: str, name: str, file: str = "<text>") -> QueueSource:
    """The class called `name` in a text of Python."""
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise BadSourceError(f"this is not Python: {error}") from error
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return QueueSource(name, node, _layout_of(node), ModuleScope(tree, name, file))
    raise BadSourceError(f"there is no class {name} at the top level")


def bare(tree: ast.ClassDef) -> ast.ClassDef:
    """The class without bases, decorators and slots."""
    body: list[ast.stmt] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            kept = [part for part in node.decorator_list if ast.unparse(part) in MEANT]
            body.append(with_fields(node, decorator_list=kept))
        elif not (isinstance(node, ast.Assign) and "__slots__" in ast.unparse(node.targets[0])):
            body.append(node)
    changed: ast.ClassDef = with_fields(tree, body=body, bases=[], keywords=[], decorator_list=[])
    return changed


def with_fields(node: Any, **fields: object) -> Any:
    """A copy of the node that differs in some fields, at the same place of the text."""
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _file_of(module: str) -> Path:
    """Where a module is, without importing it or the packages around it."""
    top, *rest = module.split(".")
    spec = importlib.util.find_spec(top)
    if spec is None or spec.origin is None:
        raise BadSourceError(f"there is no module {top} on the path")
    path = Path(spec.origin)
    for part in rest:
        path = path.parent / f"{part}.py"
        path = path if path.is_file() else path.with_suffix("") / "__init__.py"
    return path


def _called_names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


def _raised_names(tree: ast.AST) -> set[str]:
    return {name for node in ast.walk(tree) if isinstance(node, ast.Raise) for name in _called_names(node)}


def _free_names(tree: ast.AST) -> set[str]:
    loaded = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return {name for name in loaded if not hasattr(builtins, name)}


def is_exception(value: object) -> bool:
    """Something that a method may raise to refuse; not what Python itself gives a meaning, such as StopIteration."""
    special = (StopIteration, StopAsyncIteration)
    return isinstance(value, type) and issubclass(value, Exception) and not issubclass(value, special)


def is_plain_error(scope: ModuleScope, name: str) -> bool:
    """A class derived from exceptions alone, as far as the text is at hand; what it says is not looked at."""
    if scope.builtin(name):
        return is_exception(getattr(builtins, name))
    found = scope.class_called(name)
    if found is None:
        return True
    tree, there = found
    special = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)} & _MAKES_CLASSES
    plain = not (tree.decorator_list or tree.keywords or special) and bool(tree.bases)
    return plain and all(isinstance(base, ast.Name) and is_plain_error(there, base.id) for base in tree.bases)


_MAKES_CLASSES = {"__new__", "__init_subclass__", "__class_getitem__"}


def _stand_in(name: str) -> type[Exception]:
    return type(name, (Exception,), {})


class PlainBlock:
    """A block of any pool: attributes that were never set are None."""

    def __init__(self, *_args: object, **_kwargs: object) -> None:
        pass  # whatever a block is made from

    def __getattr__(self, name: str) -> None:
        return None


def _layout_of(tree: ast.ClassDef) -> Layout:
    try:
        queue = build(tree, {}, PlainBlock)([])
    except Exception as error:
        raise BadSourceError(f"an empty {tree.name} cannot be built: {type(error).__name__}: {error}") from error
    fields = vars(queue)
    counts = [name for name, value in fields.items() if type(value) is int]
    heads = [name for name, value in fields.items() if isinstance(value, PlainBlock) and "head" in name.lower()]
    tails = [name for name, value in fields.items() if isinstance(value, PlainBlock) and "tail" in name.lower()]
    if not len(counts) == len(heads) == len(tails) == 1:
        raise BadSourceError(
            f"{tree.name} has not one counter, one head sentinel and one tail sentinel: {sorted(fields)}"
        )
    head, tail = fields[heads[0]], fields[tails[0]]
    forward = [name for name, value in vars(head).items() if value is tail]
    back = [name for name, value in vars(tail).items() if value is head]
    if not len(forward) == len(back) == 1:
        raise BadSourceError(f"the sentinels of an empty {tree.name} are not linked to each other")
    return Layout(heads[0], tails[0], counts[0], forward[0], back[0])
