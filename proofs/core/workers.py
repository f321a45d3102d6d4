"""Workers of this machine: processes that are started once and take units of work, whatever the work is.

`workers_ray.py` does the same beyond this machine.
"""

import gc
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.context import BaseContext
from types import TracebackType
from typing import Any, TypeVar

from blockpool.proofs.core.workers_ray import Workforce

Result = TypeVar("Result")


class Crew:
    """So many processes, to be used in a `with` statement."""

    def __init__(self, workers: int) -> None:
        self._pool = ProcessPoolExecutor(workers, start_context(), initializer=_start)

    def __enter__(self) -> "Crew":
        return self

    # It waits for what is being done and drops the rest. Without waiting, CPython's exit would race with the executor's
    # own thread.
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._pool.shutdown(cancel_futures=True)

    def map(self, work: Callable[..., Result], units: Iterable[Any], *given: Any) -> Iterator[Result]:
        """What `work(unit, *given)` returns for each unit, in order."""
        return self._pool.map(partial(_done, work, given), units)


@contextmanager
def crew(workers: Workforce | Crew) -> Iterator[Workforce | Crew]:
    """Who does the work: a new crew if several workers are asked for, else as given."""
    if isinstance(workers, int) and workers > 1:
        with Crew(workers) as new:
            yield new
    else:
        yield workers


def start_context() -> BaseContext:
    """How processes are started: never by a bare fork, which would copy the threads' locks."""
    return get_context("forkserver" if "forkserver" in get_all_start_methods() else "spawn")


def _start() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which keeps what was found
    gc.freeze()


def _done(work: Callable[..., Result], given: tuple[Any, ...], unit: Any) -> Result:
    return work(unit, *given)
