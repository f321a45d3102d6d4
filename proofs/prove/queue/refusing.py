"""How the prover says that it does not model something."""

import ast
import traceback
from typing import NoReturn


class UnsupportedError(BaseException):
    """The source uses something that is not modelled. No Exception: the code that is executed must not catch it."""


def refuse(file: str, node: ast.AST, words: str) -> NoReturn:
    """Say where."""
    raise UnsupportedError(f"{file}:{getattr(node, 'lineno', 1)}: {words}")


def located(error: BaseException, file: str) -> UnsupportedError:
    """What the execution met, with the line of the source at which it was. An error of Python's would be a crash."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    words = str(error) if isinstance(error, UnsupportedError) else f"{type(error).__name__}: {error}"
    return UnsupportedError(f"{file}:{lines[-1]}: {words}" if lines else words)
