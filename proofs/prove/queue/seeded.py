"""Seeded defects of a queue, made from its own source: the proofs have to fail for each that changes what it does."""

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.prove.queue.methods import reached_methods
from blockpool.proofs.prove.queue.obligations import Prover
from blockpool.proofs.prove.queue.operations import OPERATIONS
from blockpool.proofs.prove.queue.source import QueueSource, with_fields

BUDGET = 2_000_000

_SWAPPED_OPERATORS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.Lt),
    ast.And: (ast.Or,), ast.Or: (ast.And,), ast.Add: (ast.Sub,), ast.Sub: (ast.Add,),
}  # fmt: skip
_CLOSED = "the batch that follows closes the chain with the tail, also when it is empty"
_NUMBER = "a sentinel's number, which nothing reads"
_WHICH = "the call is refused either way; which of two reasons it tells is for tests/impl"
_INTERRUPTED = "matters only when somebody changes the queue during the walk, which is for tests/impl"
HARMLESS = {
    ("__init__", "without 'head.next_free_block = tail'"): _CLOSED,
    ("__init__", "2 for 1"): _NUMBER,
    (
        "iter_blocks_after",
        "next_free_block for prev_free_block in 'self.fake_free_list_tail.prev_free_block'",
    ): _INTERRUPTED,
    ("iter_blocks_after", "fake_free_list_head for fake_free_list_tail in 'self.fake_free_list_tail'"): _INTERRUPTED,
    ("_walk", "without 'steps -= 1'"): _INTERRUPTED,
    ("_walk", "GtE in 'steps > 0'"): _INTERRUPTED,
    (
        "_walk",
        "without \"raise NotQueued('iter_blocks_after', 'the next block has left the queue', block.block_id)\"",
    ): _INTERRUPTED,
    ("_walk", "without 'return'"): _INTERRUPTED,
    ("_not_addable", "Or in 'block.prev_free_block is None and block.next_free_block is None'"): _WHICH,
    (
        "_not_addable",
        "without \"return RepeatedBlock(call, 'the batch names the block twice', block.block_id)\"",
    ): _WHICH,
    (
        "_not_removable",
        "without \"return RepeatedBlock('remove_n', 'the batch names the block twice', refused.block_id)\"",
    ): _WHICH,
    ("_not_addable", "IsNot in 'block.prev_free_block is None'"): _WHICH,
    ("_not_addable", "IsNot in 'block.next_free_block is None'"): _WHICH,
    ("_not_addable", "next_free_block for prev_free_block in 'block.prev_free_block'"): _WHICH,
    ("_not_addable", "prev_free_block for next_free_block in 'block.next_free_block'"): _WHICH,
}
"""Defects of `blockpool.impl.free_queue` that leave every promise true, and why."""

_DELETED = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Raise, ast.Assert, ast.Break, ast.Return)


@dataclass(frozen=True)
class Mutant:
    """One defect: where it is, and the class that has it."""

    method: str
    line: int
    words: str
    source: QueueSource

    @property
    def name(self) -> str:
        return f"{self.method}, line {self.line}: {self.words}"


@dataclass(frozen=True)
class Trial:
    """Whether the proofs, without any run of the method, notice the defect."""

    mutant: Mutant
    killed: bool
    by: str


def mutants(source: QueueSource) -> Iterator[Mutant]:
    """Every statement deleted, every link and sentinel swapped, every comparison and sum turned round."""
    for method in source.methods.values():
        for place, node in enumerate(ast.walk(method)):
            for words, change in _changes(source, node):
                yield _mutant(source, method, place, words, change)


def trial(mutant: Mutant) -> Trial:
    """Prove the methods that the defect can reach, one after another, until one fails."""
    prover = Prover(mutant.source, (0,), BUDGET)
    for operation in OPERATIONS:
        if operation.name in mutant.source.methods and mutant.method in reached_methods(mutant.source, operation.name):
            names = ["refines the sequence", *(f"refuses {reason}" for reason in operation.reasons)]
            for name, proof in zip(names, prover.proofs(operation, names), strict=True):
                if proof.verdict != Verdict.HOLDS:
                    return Trial(mutant, True, f"{operation.name} {name}: {proof.words.splitlines()[0]}")
    return Trial(mutant, False, "")


def kill_list(source: QueueSource, *, every: int = 1, methods: Sequence[str] | None = None) -> Iterator[Trial]:
    """A trial of every mutant, or of each `every`th."""
    wanted = [mutant for mutant in mutants(source) if methods is None or mutant.method in methods]
    for mutant in wanted[::every]:
        yield trial(mutant)


def harmless(mutant: Mutant) -> str:
    """Why no promise is broken by the defect; empty if one is."""
    return HARMLESS.get((mutant.method, mutant.words), "")


def _changes(source: QueueSource, node: ast.AST) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Other values of the node's fields; None to delete it."""
    layout = source.layout
    pairs = {layout.next: layout.prev, layout.prev: layout.next, layout.head: layout.tail, layout.tail: layout.head}
    if isinstance(node, _DELETED) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        yield f"without {ast.unparse(node).splitlines()[0]!r}", None
    if isinstance(node, ast.Attribute) and node.attr in pairs:
        yield f"{pairs[node.attr]} for {node.attr} in {ast.unparse(node)!r}", {"attr": pairs[node.attr]}
    if isinstance(node, ast.Compare):
        for other in _SWAPPED_OPERATORS.get(type(node.ops[0]), ()):
            yield f"{other.__name__} in {ast.unparse(node)!r}", {"ops": [other()]}
    if isinstance(node, ast.BoolOp | ast.BinOp | ast.AugAssign):
        for other in _SWAPPED_OPERATORS.get(type(node.op), ()):
            yield f"{other.__name__} in {ast.unparse(node)!r}", {"op": other()}
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield f"{node.value + 1} for {node.value}", {"value": node.value + 1}


def _mutant(
    source: QueueSource, method: ast.FunctionDef, place: int, words: str, change: dict[str, Any] | None
) -> Mutant:
    changed = copy.deepcopy(method)
    node: Any = list(ast.walk(changed))[place]
    line = node.lineno
    if change is None:
        _replace(changed, node, ast.copy_location(ast.Pass(), node))
    else:
        for name, value in change.items():
            setattr(node, name, value)
    body = [changed if statement is method else statement for statement in source.tree.body]
    return Mutant(method.name, line, words, replace(source, tree=with_fields(source.tree, body=body)))


def _replace(tree: ast.AST, old: ast.AST, new: ast.AST) -> None:
    for node in ast.walk(tree):
        for _, value in ast.iter_fields(node):
            if isinstance(value, list) and old in value:
                value[value.index(old)] = new
