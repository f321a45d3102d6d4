"""Which locals a piece of source reads and sets."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator


def stored(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The locals that are set."""
    for node in nodes:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield part.id
            if isinstance(part, ast.ExceptHandler) and part.name:
                yield part.name


def uses(node: ast.AST) -> list[tuple[str, bool]]:
    """Names in the order in which they are evaluated, and whether each is read."""
    if isinstance(node, ast.Name):
        return [(node.id, isinstance(node.ctx, ast.Load))]
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return [(node.target.id, True), *uses(node.value), (node.target.id, False)]
    parts: list[ast.AST] = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        parts = [*([node.value] if node.value is not None else []), *targets]
    elif isinstance(node, ast.For):
        parts = [node.iter, node.target, *node.body, *node.orelse]
    return [use for part in parts for use in uses(part)]
