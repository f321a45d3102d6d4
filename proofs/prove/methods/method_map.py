"""The methods of the pool in `prove --map`: proved, up to what, by which contracts; or why not."""

from collections.abc import Iterator

from blockpool.proofs.core.figures import recorded
from blockpool.proofs.prove.methods.catalogue import METHODS, NOT_PROVED, QUICK
from blockpool.proofs.prove.methods.method import Method
from blockpool.proofs.prove.methods.obligations import REFINES


def method_map() -> Iterator[str]:
    """A paragraph for each method."""
    yield "The methods of the pool, from their source, for any number of blocks and any length of argument"
    yield ""
    for method in METHODS.values():
        yield from _proved(method)
    for name, why in NOT_PROVED.items():
        yield f"{name}\n    not proved: {why}"


def _proved(method: Method) -> Iterator[str]:
    spent = recorded("proofs", f"{method.name} {REFINES}")
    yield method.name
    goal = f"the transition {method.through} of the spec" if method.through else "a promise by hand"
    yield f"    {'proved' if spent else 'stated, no proof is recorded,'} from {method.files}, against {goal}"
    yield f"    by `check{'' if method.name in QUICK else ' --deep'}`"
    functions = ", ".join(f"{module}.{name}" for module, names in method.runs.items() for name in names)
    yield f"    run: {functions}"
    if method.contracts:
        yield f"    by contract: {', '.join(method.contracts)}"
    if method.limits:
        yield f"    not shown: {method.limits}"
