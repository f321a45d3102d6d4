"""All paths of a method: one execution each."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from typing import Any

from blockpool.proofs.prove.methods.errors import Raised, Stop, UnsupportedError
from blockpool.proofs.prove.methods.machine import MOST_PATHS, Ending, Run


def explore(begin: Callable[[list[bool]], Run], call: Callable[[Run], Any], file: str) -> Iterator[Ending]:
    """Every ending of every path, once. `begin` makes the first state, the same each time; `call` runs the method."""
    pending: list[list[bool]] = [[]]
    seen: set[tuple[Any, ...]] = set()
    paths = 0
    while pending:
        paths += 1
        if paths > MOST_PATHS:
            raise UnsupportedError(f"there are more than {MOST_PATHS} paths")
        run = begin(pending.pop())
        followed(run, call, file)
        pending += run.later
        for number, ending in enumerate(run.endings):
            key = (number, ending.kind, ending.words, ending.taken)
            if key not in seen:
                seen.add(key)
                yield ending


def followed(run: Run, call: Callable[[Run], Any], file: str) -> None:
    """Follow one path to where it ends."""
    try:
        value = call(run)
        run.end("returned", f"returns {type(value).__name__}", None, value)
    except Raised as raised:
        run.end("raised", f"raises {raised.kind.__name__}", None, raised.kind)
    except Stop:
        pass  # another path follows what comes next
    except UnsupportedError as error:
        raise UnsupportedError(f"{_line_of(error, file)}{error}") from error
    except (TypeError, AttributeError, NameError, RecursionError, ValueError, KeyError, IndexError) as error:
        # Python itself does not know how to go on, so neither do we.
        raise UnsupportedError(f"{_line_of(error, file)}{type(error).__name__}: {error}") from error


def _line_of(error: BaseException, file: str) -> str:
    """File and line in the method where it was raised."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith(file)]
    return f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else ""
