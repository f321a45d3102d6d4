"""A census of the places in `spec` and `impl` at which behaviour may depend on a size, or on what happened before.

Gates that search small shapes are blind to `if len(blocks) >= 300`. Whatever could say such a thing is found in the
source and must be registered in `census.json`, with the reason why it is right at every size; a new one refutes
`check`. The stories of `spec/scenarios.py` are examples, and left out.
"""

import ast
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from blockpool.proofs.core.obligation import Obligation, Verdict
from blockpool.proofs.core.sources import ROOT

REGISTERED = "every_place_that_depends_on_a_size_is_registered"
SENTENCES = {
    REGISTERED: "Each number, slice, identity test, default, cache and shared object in spec and impl has its reason."
}

FILE = Path(__file__).with_name("census.json")
"""File, then function, then the place as code, and why it is right at every size."""

TREES = ("impl", "spec")
USUAL = (-1, 0, 1)
"""Numbers that every loop and count needs."""

COUNTS = ("count", "cnt", "refs", "num", "length", "size", "held", "usage")
"""Parts of names that stand for a length or a count."""

FRESH = frozenset({"TypeVar", "NewType", "namedtuple", "frozenset", "tuple", "auto", "field", "ParamSpec", "property"})
"""Calls at the level of a module or class that make nothing which later calls could change."""

CACHES = frozenset({"cache", "lru_cache", "cached_property", "id", "WeakKeyDictionary", "WeakValueDictionary"})

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Place(NamedTuple):
    """Something that may depend on a size or on the past."""

    file: str
    line: int
    function: str  # or class; empty at the level of the module
    code: str
    kind: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.kind}: {self.code}"


def places() -> list[Place]:
    """All places of both trees."""
    files = sorted(path for tree in TREES for path in (ROOT / tree).rglob("*.py") if path.name != "scenarios.py")
    return [place for file in files for place in places_in(file.read_text("utf-8"), str(file.relative_to(ROOT)))]


def places_in(source: str, file: str) -> Iterator[Place]:
    """The places of one file."""
    return _walk(ast.parse(source), file, (), None)


def _walk(node: ast.AST, file: str, within: tuple[str, ...], parent: ast.AST | None) -> Iterator[Place]:
    for kind in _kinds(node, parent, inside=bool(within) and within[-1].endswith("()")):
        shown = parent if isinstance(node, ast.Constant | ast.Slice) and isinstance(parent, ast.expr) else node
        name = ".".join(within).replace("()", "")
        yield Place(file, getattr(node, "lineno", 0), name, ast.unparse(shown).splitlines()[0], kind)
    if isinstance(node, ast.ClassDef):
        within = (*within, node.name)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        within = (*within, f"{node.name}()")
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, file, within, node)


def _kinds(node: ast.AST, parent: ast.AST | None, inside: bool) -> Iterator[str]:
    """What is to be registered about this node itself."""
    if isinstance(node, ast.Constant) and _is_number(node.value) and _signed(node, parent) not in USUAL:
        yield "number"
    if isinstance(node, ast.Slice) and (node.lower or node.upper or node.step):
        yield "slice"
    if isinstance(node, ast.Compare):
        yield from _compared(node)
    if isinstance(node, ast.Name | ast.Attribute) and _name(node) in CACHES and isinstance(node.ctx, ast.Load):
        yield "cache"
    if isinstance(node, ast.Name) and node.id == "islice" and isinstance(node.ctx, ast.Load):
        yield "slice"
    if isinstance(node, ast.Global | ast.Nonlocal):
        yield "shared name"
    if isinstance(node, Function) and any(_is_mutable(default) for default in _defaults(node)):
        yield "mutable default"
    if isinstance(node, ast.Assign | ast.AnnAssign) and not inside and _is_shared(node):
        yield "shared object"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | complex) and not isinstance(value, bool)


def _signed(node: ast.Constant, parent: ast.AST | None) -> object:
    negative = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub)
    return -node.value if negative else node.value  # type: ignore[operator]


def _compared(node: ast.Compare) -> Iterator[str]:
    sides = [node.left, *node.comparators]
    for operator, left, right in zip(node.ops, sides, sides[1:], strict=False):
        if isinstance(operator, ast.Is | ast.IsNot):
            if not any(_has_identity(side) for side in (left, right)):
                yield "identity"
        elif any(_is_count(one) and _is_constant(other) for one, other in ((left, right), (right, left))):
            yield "comparison of a count"


def _has_identity(node: ast.expr) -> bool:
    """None, a member of an enumeration and a type are one object each; what else `is` compares must be registered."""
    if isinstance(node, ast.Attribute):
        return node.attr.isupper() and isinstance(node.value, ast.Name)
    is_type = isinstance(node, ast.Call) and _name(node.func) == "type"
    return is_type or (isinstance(node, ast.Constant) and node.value is None)


def _is_count(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return _name(node.func) == "len"
    if isinstance(node, ast.BinOp):
        return _is_count(node.left) or _is_count(node.right)
    if isinstance(node, ast.Subscript):
        return _is_count(node.value)
    return any(part in _name(node).lower() for part in COUNTS)


def _is_constant(node: ast.expr) -> bool:
    """Is it the same whatever the pool is? Names in capitals are constants, too."""
    names = [_name(one) for one in ast.walk(node) if isinstance(one, ast.Name | ast.Attribute)]
    return all(name.isupper() or name == "len" for name in names)


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _defaults(node: Function) -> list[ast.expr]:
    return [*node.args.defaults, *(default for default in node.args.kw_defaults if default is not None)]


def _is_mutable(node: ast.expr) -> bool:
    """Could two calls see the same object change? Whatever a call makes counts, unless it is known to be fresh."""
    if isinstance(node, ast.Call):
        return _name(node.func) not in FRESH
    kinds = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)
    return isinstance(node, kinds)


def _is_shared(node: ast.Assign | ast.AnnAssign) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    exported = any(_name(target) == "__all__" for target in targets)
    return node.value is not None and not exported and _is_mutable(node.value)


def registered(file: Path = FILE) -> dict[str, dict[str, dict[str, str]]]:
    """What is registered: file, function, code, reason."""
    entries: dict[str, dict[str, dict[str, str]]] = json.loads(file.read_text(encoding="utf-8"))
    return entries


def taken(found: list[Place], known: Mapping[str, Mapping[str, Mapping[str, str]]]) -> Obligation:
    """Is each place registered, as often as it is there, with a reason, and each entry of a place that is there?"""
    started, seen, new = perf_counter(), Counter[tuple[str, str, str]](), []
    for place in found:
        key = place.file, place.function, _numbered(place.code, seen[place[0], place.function, place.code])
        seen[place.file, place.function, place.code] += 1
        if not known.get(key[0], {}).get(key[1], {}).get(key[2]):
            new.append(str(place))
    there = {
        (file, function, _numbered(code, time))
        for (file, function, code), times in seen.items()
        for time in range(times)
    }
    stale = [
        f"{file}: {function or 'module'}: {code} is registered and not there"
        for file, functions in known.items()
        for function, codes in functions.items()
        for code in codes
        if (file, function, code) not in there
    ]
    verdict = Verdict.REFUTED if new or stale else Verdict.HOLDS
    words = "\n".join([*(f"{one} is not registered in {FILE.name}" for one in new), *stale])
    return Obligation(REGISTERED, "census", "source", verdict, {"places": len(found)}, perf_counter() - started, words)


def _numbered(code: str, earlier: int) -> str:
    """The same code a second time in one function is another place."""
    return f"{code}  # {earlier + 1}" if earlier else code


def census() -> list[Obligation]:
    """The obligation of `check`."""
    return [taken(places(), registered())]
