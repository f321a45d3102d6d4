"""Line-level mutants of a module, made by the operators of mutmut.

mutmut is the better kept of the tools that know Python's syntax trees: its operators cover calls (each argument lost or
None), assignments, numbers, comparisons, boolean and arithmetic operators, branches of a ternary, `match` and keywords,
and it leaves annotations alone. Only its table of operators is used; the rest of it rewrites a tree in place, which
must not happen here. What is not behaviour is left out, see `NOT_BEHAVIOUR`.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider, CodeSpan, MetadataWrapper
from mutmut.mutation.mutators import mutation_operators, operator_string

from blockpool.proofs.core.edits import Defect, Edit

NOT_BEHAVIOUR = {
    "strings": "messages, names in reports and tags of digests; tests compare those that matter",
    "assigned strings": "texts: the law and the remedy of an error, and the detail that it gives",
    "annotations, imports, type aliases, TYPE_CHECKING, NewType, TypeVar, cast": "read by the type checker only",
    "decorators": "run at import; a wrong one ends it (as in mutmut)",
    "arguments of len and isinstance": "a wrong one always raises TypeError (as in mutmut)",
    "arguments of what is raised": "the message, and the block that it names; its class and the conditions are mutated",
    "__repr__": "read by people only",
    "__all__": "names that `import *` takes",
}
"""What is not mutated, and why."""

_TYPING_CALLS = frozenset({"NewType", "TypeVar", "cast", "len", "isinstance"})
_OPERATORS = tuple((kind, operator) for kind, operator in mutation_operators if operator is not operator_string)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A module with one thing changed."""

    module: str
    function: str | None  # the outermost function around the change; None if it is in no function's body
    before: str  # the changed lines
    after: str
    number: int  # counts mutants of the module with equal names
    line: int
    source: str  # of the whole module, mutated

    @property
    def name(self) -> str:
        """Names the mutant whatever else changes in the file."""
        again = f" #{self.number}" if self.number > 1 else ""
        return f"{self.module}:{self.function or ''}: {self.before} -> {self.after}{again}"

    @property
    def key(self) -> str:
        """A hash of the mutated source."""
        return sha256(self.source.encode()).hexdigest()[:16]

    def as_defect(self) -> Defect:
        """For the loader: the whole source is replaced."""
        return Defect(self.name, (Edit(self.module, source_of(self.module), self.source),))


def source_of(module: str) -> str:
    """The source of a module, without importing it."""
    found = find_spec(module)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"there is no module {module}")
    return Path(found.origin).read_text(encoding="utf-8")


def mutants_of(module: str, source: str | None = None) -> list[Mutant]:
    """Every mutant of the module, in the order of the source; none is equal to another or to the original."""
    source = source_of(module) if source is None else source
    finder = _Finder(source)
    finder.wrapper.visit(finder)
    seen, names, found = {_tree(source)}, dict[tuple[str | None, str, str], int](), []
    for change in finder.changes:
        tree = _tree(change.source)
        if tree is None or tree in seen:
            continue
        seen.add(tree)
        line, before, after = _changed_lines(source, change.source)
        name = (change.function, before, after)
        names[name] = names.get(name, 0) + 1
        found.append(Mutant(module, change.function, before, after, names[name], line, change.source))
    return found


@dataclass(frozen=True, slots=True)
class _Change:
    function: str | None
    source: str


class _Finder(cst.CSTVisitor):
    """Walks over the module and applies each operator to each node that is behaviour."""

    METADATA_DEPENDENCIES = (ByteSpanPositionProvider,)

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source = source.encode()
        self.wrapper = MetadataWrapper(cst.parse_module(source), unsafe_skip_copy=True)
        self.changes: list[_Change] = []
        self.around: list[cst.CSTNode] = []  # the nodes around the node, itself last
        self.path: list[str] = []  # classes and functions around the node
        self.depth = 0  # functions around it
        self.function: str | None = None

    def on_visit(self, node: cst.CSTNode) -> bool:
        if _is_not_behaviour(node) or (not self.path and _is_alias(node)):
            return False
        self.around.append(node)
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            self.path.append(node.name.value)
            if isinstance(node, cst.FunctionDef):
                if self.depth == 0:
                    self.function = ".".join(self.path)
                self.depth += 1
        for kind, operator in _OPERATORS:
            if isinstance(node, kind):
                self.changes += [_Change(self.function, self._with(node, new)) for new in operator(node)]
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        if not self.around or self.around[-1] is not original_node:
            return  # it was not entered
        self.around.pop()
        if isinstance(original_node, cst.FunctionDef | cst.ClassDef):
            self.path.pop()
            if isinstance(original_node, cst.FunctionDef):
                self.depth -= 1
                if self.depth == 0:
                    self.function = None

    def _with(self, node: cst.CSTNode, new: cst.CSTNode) -> str:
        """The module with another node in the place of this one.

        The smallest node around it that stands in the source just as it prints is printed anew; the rest is copied.
        """
        module = self.wrapper.module
        for outer in reversed(self.around):
            span = self.get_metadata(ByteSpanPositionProvider, outer, None)
            if not isinstance(span, CodeSpan):
                continue
            end = span.start + span.length
            if self.source[span.start : end].decode() == module.code_for_node(outer):
                changed = new if outer is node else outer.deep_replace(node, new)
                assert isinstance(changed, cst.CSTNode)
                return (self.source[: span.start] + module.code_for_node(changed).encode() + self.source[end:]).decode()
        raise AssertionError("the module itself prints as it stands")


def _is_not_behaviour(node: cst.CSTNode) -> bool:
    match node:
        case cst.Annotation() | cst.Import() | cst.ImportFrom() | cst.Decorator():
            return True
        case cst.FunctionDef(name=cst.Name(value="__repr__")):
            return True
        case cst.Call(func=cst.Name(value=name)) if name in _TYPING_CALLS:
            return True
        case cst.If(test=cst.Name(value="TYPE_CHECKING")) | cst.Raise(exc=cst.Call()):
            return True
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value="__all__"))]):
            return True
        case cst.Assign(value=value) | cst.AnnAssign(value=value):
            return isinstance(value, cst.SimpleString | cst.ConcatenatedString | cst.FormattedString)
    return False


def _is_alias(node: cst.CSTNode) -> bool:
    """Does a statement of the module name a type, as in `Key = tuple[bytes, int]`?"""
    match node:
        case cst.Assign(value=cst.Subscript() | cst.BinaryOperation(operator=cst.BitOr())):
            return True
        case cst.Assign(value=cst.Call(func=cst.Name(value=name))):
            return name in _TYPING_CALLS
    return False


def _tree(source: str) -> str | None:
    """The syntax tree as text; None if there is none. Equal trees are equal programs."""
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return None
    return ast.dump(ast.parse(source))


def _changed_lines(before: str, after: str) -> tuple[int, str, str]:
    """The number of the first line that differs, and the lines that differ, each on one line."""
    old, new = before.splitlines(), after.splitlines()
    start = next(at for at, (one, other) in enumerate(_padded(old, new)) if one != other)
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return start + 1, _joined(old[start : len(old) - end]), _joined(new[start : len(new) - end])


def _padded(old: list[str], new: list[str]) -> Iterator[tuple[str | None, str | None]]:
    length = max(len(old), len(new))
    for at in range(length):
        yield (old[at] if at < len(old) else None), (new[at] if at < len(new) else None)


def _joined(lines: list[str]) -> str:
    return " ".join(line.strip() for line in lines)
