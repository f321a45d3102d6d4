"""What a queue class may consist of, beside the bodies of its methods: no state of its own, nothing that Python calls.

A class attribute, a default that is a list, a property or a `__getattr__` would each be a way to act without being
seen. So everything is refused but plain methods, a docstring, and slots for the three fields of a queue.
"""

import ast
from collections import Counter

from blockpool.proofs.prove.queue.refusing import UnsupportedError, refuse
from blockpool.proofs.prove.queue.source import QueueSource

KNOWN_DECORATORS = {"keeps_links_sound": "contracts"}
"""Decorators that leave a method as it is, and the module that they come from."""
BUILTINS = frozenset({"len", "isinstance", "range", "reversed", "list", "int", "min", "max"})
RESERVED = frozenset({"run", "term", "at", "length", "append", "items", "name", "given"})
"""Attributes of the engine's own values: a link that is called so would be taken for them."""


def check_class(source: QueueSource) -> None:
    """Refuse a class that has more than methods and slots."""
    tree, file, layout = source.tree, source.file, source.layout
    if tree.decorator_list or tree.keywords or tree.bases or getattr(tree, "type_params", []):
        refuse(file, tree, f"{tree.name} has a base class, a decorator or a keyword")
    names = {layout.next, layout.prev} & RESERVED
    if names:
        refuse(file, tree, f"a link is called {', '.join(names)}, a name that the engine uses itself")
    for name in sorted(BUILTINS):
        if not source.scope.builtin(name):
            refuse(file, source.scope.bindings[name][0], f"the module binds {name}, which a method may mean")
    for node in tree.body:
        _check_member(source, node)
    counted = Counter(node.name for node in tree.body if isinstance(node, ast.FunctionDef))
    twice = sorted(name for name, times in counted.items() if times > 1)
    if twice:
        refuse(file, source.methods[twice[0]], f"the method {twice[0]} is defined twice")
    fields = {layout.head, layout.tail, layout.count}
    if fields & counted.keys():
        raise UnsupportedError(f"{file}: {', '.join(fields & counted.keys())} is a field and a method")


def _check_member(source: QueueSource, node: ast.stmt) -> None:
    match node:
        case ast.FunctionDef():
            _check_signature(source, node)
        case ast.Assign(targets=[ast.Name(id="__slots__")]):
            _check_slots(source, node.value)
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            pass
        case ast.AnnAssign(target=ast.Name(), value=None):
            pass
        case _:
            refuse(source.file, node, f"the class has a {type(node).__name__}, which is not modelled")


def _check_slots(source: QueueSource, value: ast.expr) -> None:
    listed = value.elts if isinstance(value, ast.Tuple | ast.List) else []
    names = {part.value for part in listed if isinstance(part, ast.Constant)}
    layout = source.layout
    if len(names) != len(listed) or names != {layout.head, layout.tail, layout.count}:
        refuse(source.file, value, "the slots are not the two sentinels and the counter")


def _check_signature(source: QueueSource, method: ast.FunctionDef) -> None:
    file, name = source.file, method.name
    if name.startswith("__") and name != "__init__":
        refuse(file, method, f"{name} is called by Python itself, and is not modelled")
    for decorator in method.decorator_list:
        _check_decorator(source, decorator)
    given = method.args
    if given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs or getattr(method, "type_params", []):
        refuse(file, method, f"{name} takes more than plain arguments")
    if not given.args or given.args[0].arg != "self":
        refuse(file, method, f"the first argument of {name} is not self")
    for default in given.defaults:
        if not isinstance(default, ast.Constant) or type(default.value) not in (int, bool, str, type(None)):
            refuse(file, default, f"a default of {name} is no constant, so it could be changed from call to call")


def _check_decorator(source: QueueSource, decorator: ast.expr) -> None:
    name = ast.unparse(decorator)
    imported = source.scope.imported_from(name)
    module = (imported.module or "").rpartition(".")[2] if imported else ""
    plain = imported is not None and any(alias.name == name and alias.asname is None for alias in imported.names)
    if name not in KNOWN_DECORATORS or module != KNOWN_DECORATORS[name] or not plain:
        refuse(source.file, decorator, f"the decorator {name} is not known")
