"""Where the source lies: one package when installed, top-level folders in the checkout."""

from pathlib import Path

PACKAGE = "blockpool"
TREES = ("spec", "impl", "proofs")

ROOT = Path(__file__).resolve().parents[2]
"""The folder of `spec`, `impl` and `proofs`: the checkout, which has `tests` and `docs` too, or the package."""


def tree_of(module: str) -> str:
    """The tree that a module belongs to: `spec`, `impl` or `proofs`; empty if it is not of this package."""
    package, _, rest = module.partition(".")
    return rest.partition(".")[0] if package == PACKAGE else ""


def name_in_tree(module: str) -> str:
    """The name of a module without the package and its tree: `pool.state` of `blockpool.spec.pool.state`."""
    return module.split(".", 2)[2] if module.count(".") >= 2 else ""


def file_of(module: str) -> str:
    """Its file, from the top of the checkout: `spec/pool/state.py`."""
    return "/".join(module.split(".")[1:]) + ".py"
