"""A method of the pool as something to be proved: which source is run, what it may assume, and what it promises."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import z3

from blockpool.impl import checks, errors
from blockpool.proofs.prove.methods.abstraction import first_heap
from blockpool.proofs.prove.methods.errors import UnsupportedError
from blockpool.proofs.prove.methods.known import builtins
from blockpool.proofs.prove.methods.language import LoopInfo, compiled
from blockpool.proofs.prove.methods.machine import Ending, Facts, Run, explore
from blockpool.proofs.prove.methods.models import Module, groups
from blockpool.proofs.prove.methods.values import Number
from blockpool.proofs.prove.methods.world import IS_NULL, ITEM, NO_BLOCK, POOLS, WIDTH

ERRORS = {n: e for n, e in vars(errors).items() if inspect.isclass(e) and issubclass(e, BaseException)}
ERRORS |= {"Irregular": checks.Irregular}

IMPL = "blockpool.impl."

HARMLESS_DECORATORS = frozenset({"remembers", "promises", "changes_pool", "keeps_links_sound"})
"""Contracts, which look on; others would change what a function does."""

Names = Callable[[Run], dict[str, Any]]
Source = Callable[[str], str]
"""The text of a module."""


@dataclass(frozen=True)
class Method:
    """One method, or one way through it."""

    name: str
    runs: Mapping[str, tuple[str, ...]]  # by module of impl: the functions that are run from their source
    call: Callable[[Run, dict[str, Any]], Any]
    goals: Callable[[Run, str, Any], Facts]
    facts: Facts
    rules: Mapping[tuple[str, int], Any] = field(default_factory=dict)
    names: Names = lambda _run: {}  # contracts, and what else the functions call
    interesting: Facts = field(default_factory=dict)  # calls among which each kind of ending has to be possible
    hints: Callable[[list[Any]], list[Any]] = lambda _blocks: []  # which pool to look at, given a dozen of its blocks
    kinds: tuple[str, ...] = ()  # the endings, each of which has to be possible
    through: str = ""  # the name of the spec's transition that the goals are made of; empty if they are by hand
    contracts: tuple[str, ...] = ()  # what stands for code that is not run
    limits: str = ""  # what of the method is not shown here

    @property
    def files(self) -> str:
        return ", ".join(f"impl/{module}.py" for module in self.runs)


def shipped(module: str) -> str:
    """The source of a module of impl."""
    spec = find_spec(f"blockpool.impl.{module}")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Program:
    """The functions of a method, rewritten once."""

    method: Method
    codes: tuple[Any, ...]
    infos: list[LoopInfo]

    @classmethod
    def of(cls, method: Method, source: Source = shipped) -> Program:
        infos: list[LoopInfo] = []
        every = [name for names in method.runs.values() for name in names]
        if len(set(every)) < len(every):
            raise UnsupportedError("two functions that are run have one name")
        known = [*_scope(method, _blank(method)), *every]
        codes = []
        for module, names in method.runs.items():
            found = functions(source(module))
            missing = [name for name in names if name not in found]
            if missing:
                raise UnsupportedError(f"impl/{module}.py has no function {', '.join(missing)}")
            check_module(module, source, names)
            codes.append(compiled(f"impl/{module}.py", {name: found[name] for name in names}, known, infos))
        return cls(method, tuple(codes), infos)

    def endings(self) -> Iterator[Ending]:
        """Every ending of every path; at the end of the method with its goals."""
        scopes: dict[int, dict[str, Any]] = {}

        def begin(decisions: list[bool]) -> Run:
            run = _blank(self.method, decisions, self.infos)
            scope = _scope(self.method, run)
            for code in self.codes:
                exec(code, scope)
            scopes[id(run)] = scope
            return run

        for ending in explore(begin, lambda run: self.method.call(run, scopes.pop(id(run))), "impl/"):
            yield ending if ending.claims is not None else replace(ending, claims=self._goals(ending))

    def _goals(self, ending: Ending) -> Facts:
        """What is to be shown at the end of the method; a list that was given must be as it was, too."""
        goals, given = self.method.goals(ending.run, ending.kind, ending.value), ending.run.parts.get("given")
        if given is None:
            return goals
        same = given.at is ITEM and given.length is WIDTH
        return goals | {"the caller's list is as it was": z3.BoolVal(same)}


def _blank(method: Method, decisions: list[bool] | None = None, infos: list[LoopInfo] | None = None) -> Run:
    run = Run(decisions or [], dict(method.facts), first_heap(), method.rules, infos or [], IS_NULL, NO_BLOCK)
    groups(run)
    return run


def _scope(method: Method, run: Run) -> dict[str, Any]:
    scope: dict[str, Any] = {"_engine": run, "__builtins__": {"locals": locals}}
    scope |= builtins(run) | ERRORS | {"KVCacheBlock": _Blocks} | method.names(run)
    scope |= {name: Module(scope) for name in ("publish", "references", "events")}
    scope["checks"] = Module(scope, num_pools=Number(run, POOLS))
    return scope


def check_module(module: str, source: Source, names: Iterable[str]) -> None:
    """The names that the functions use mean what their text says: bound once, and imported from where they are."""
    tree = ast.parse(source(module))
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name in names]
    for node in found:
        strange = {ast.unparse(part).split("(")[0] for part in node.decorator_list} - HARMLESS_DECORATORS
        if strange or sum(other.name == node.name for other in found) > 1:
            words = f"@{min(strange)} is not modelled" if strange else f"{node.name} is defined twice"
            raise UnsupportedError(f"impl/{module}.py:{node.lineno}: {words}")
    used = {part.id for node in found for part in ast.walk(node) if isinstance(part, ast.Name)}
    for statement in tree.body:
        _check_binding(module, statement, used, source)


def _check_binding(module: str, statement: ast.stmt, used: set[str], source: Source) -> None:
    where = f"impl/{module}.py:{statement.lineno}"
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        bound = {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
        constant = isinstance(statement.value, ast.Constant) and all(name.isupper() for name in bound)
        if bound & used and not constant:
            raise UnsupportedError(f"{where}: {', '.join(sorted(bound & used))} is a variable of the module")
    elif isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith(IMPL):
        home = set(_bound(ast.parse(source((statement.module or "").removeprefix(IMPL))).body))
        wrong = {
            n.asname or n.name for n in statement.names if n.asname not in (None, n.name) or n.name not in home
        } & used
        if wrong:
            raise UnsupportedError(f"{where}: {', '.join(sorted(wrong))} is not from where it seems")


def _bound(statements: Iterable[ast.stmt]) -> Iterator[str]:
    """The names that a module gives meaning to."""
    for node in statements:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (name.asname or name.name for name in node.names)
        elif isinstance(node, ast.If):
            yield from _bound(node.body)
        else:
            yield from (part.id for part in ast.walk(node) if isinstance(part, ast.Name))


@cache
def functions(text: str) -> dict[str, ast.FunctionDef]:
    """The functions and methods of a module, by name."""
    found: dict[str, ast.FunctionDef] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            found[node.name] = node
    return found


class _Blocks:
    """Stands for the class of blocks where one is asked whether it is one."""


_Blocks.__name__ = "KVCacheBlock"
