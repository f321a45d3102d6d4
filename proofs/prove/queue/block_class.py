"""What a block is: its class must be as the engine models it, an object with plain links that is only itself.

Read from the text around the queue, or from a module beside it. Where that is not at hand, as for a class that another
package defines, nothing can be checked, and the proof trusts it.
"""

import ast

from blockpool.proofs.prove.queue.module_scope import ModuleScope
from blockpool.proofs.prove.queue.refusing import refuse
from blockpool.proofs.prove.queue.source import Layout

METHODS = frozenset({"__init__", "__repr__", "__str__", "__copy__", "__deepcopy__"})
"""Special methods that nothing which is modelled calls, and the constructor."""


def check_block_class(scope: ModuleScope, name: str, layout: Layout) -> bool:
    """Refuse a class of which links, truth or attributes are not plain; and whether blocks are compared by identity."""
    found = scope.class_called(name)
    if found is None:
        return True
    tree, there = found
    if tree.bases or tree.keywords:
        refuse(there.file, tree, f"the block class {name} has bases, which are not read")
    links = {layout.next, layout.prev}
    for node in tree.body:
        _check_member(there.file, node, links)
    for statement in there.tree.body:
        _check_patch(there.file, statement, tree.name, links)
    return _compared_by_identity(there.file, tree)


def _check_member(file: str, node: ast.stmt, links: set[str]) -> None:
    match node:
        case ast.FunctionDef():
            if node.name in links or (node.name.startswith("__") and node.name not in METHODS):
                refuse(file, node, f"the block class defines {node.name}, which is not modelled")
            if any(ast.unparse(part) not in ("property", f"{node.name}.setter") for part in node.decorator_list):
                refuse(file, node, f"{node.name} of the block class is decorated")
            if node.name == "__init__":
                _check_constructor(file, node, links)
        case ast.Assign(targets=[ast.Name(id="__slots__")]):
            slots = {part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant)}
            if not links <= slots:
                refuse(file, node, "the slots of the block class lack a link")
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if name in links:
            if not _is_none(value):
                refuse(file, node, f"{name} of a new block is not None")
        case ast.AnnAssign(target=ast.Name()) | ast.Expr(value=ast.Constant()) | ast.Pass():
            pass
        case _:
            refuse(file, node, f"the block class has a {type(node).__name__}, which is not modelled")


def _check_constructor(file: str, method: ast.FunctionDef, links: set[str]) -> None:
    """Plain assignments to attributes; links are None."""
    for node in method.body:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case ast.Assign(targets=targets, value=value) if all(_of_self(t) for t in targets):
                linked = any(isinstance(t, ast.Attribute) and t.attr in links for t in targets)
                if (linked and not _is_none(value)) or any(isinstance(part, ast.Call) for part in ast.walk(value)):
                    refuse(file, node, "the constructor of a block does more than set what is known")
            case _:
                refuse(file, node, "the constructor of a block does more than set what is known")


def _check_patch(file: str, node: ast.stmt, name: str, links: set[str]) -> None:
    """Code behind the class that writes to it must leave links and special methods alone."""
    for part in ast.walk(node) if not isinstance(node, ast.FunctionDef | ast.ClassDef) else ():
        written = isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store | ast.Del)
        if written and (part.attr in links or part.attr.startswith("__")):  # type: ignore[attr-defined]
            refuse(file, part, f"{name}.{part.attr} is patched")  # type: ignore[attr-defined]


def _compared_by_identity(file: str, tree: ast.ClassDef) -> bool:
    """A data class compares fields."""
    for decorator in tree.decorator_list:
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        if ast.unparse(function) not in ("dataclass", "dataclasses.dataclass"):
            refuse(file, decorator, f"the block class is decorated with {ast.unparse(function)}")
        if not isinstance(decorator, ast.Call) or not any(_says_no(word) for word in decorator.keywords):
            return False
    return True


def _says_no(word: ast.keyword) -> bool:
    return word.arg == "eq" and isinstance(word.value, ast.Constant) and word.value.value is False


def _is_none(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is None


def _of_self(target: ast.expr) -> bool:
    return isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"
