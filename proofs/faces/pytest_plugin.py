"""What pytest loads of this package where it is installed: an answer to counterexamples written before 0.2.

They import `proofs` and `spec`, which were top-level packages and collided with a user's own.
"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

MOVED = {
    "proofs.counterexample": "from blockpool.proofs.core.counterexample import Call",
    "proofs.rerun": "from blockpool.proofs.refine.rerun import rerun",
    "proofs.oracle": "from blockpool.proofs.oracle import *, from blockpool.proofs.systems.rerun import rerun",
}
"""What the imports of a written counterexample have become."""


class _Moved(MetaPathFinder):
    """Last on `sys.meta_path`: asked only for what nobody else has, so that a user's own `proofs` comes first."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Say what must be written instead, for the old name of this package."""
        if fullname == "proofs":
            instead = "; ".join(MOVED.values())
            raise ModuleNotFoundError(
                f"there is no package {fullname!r}: since 0.2 blockpool is one package. Write {instead}, and "
                "from blockpool.spec import * for from spec import *; or save the counterexample anew.",
                name=fullname,
            )


def pytest_configure() -> None:
    """Listen for old imports; once in a process."""
    if not any(isinstance(finder, _Moved) for finder in sys.meta_path):
        sys.meta_path.append(_Moved())
