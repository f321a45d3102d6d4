"""Work beyond one machine: the units that local workers take, as tasks of Ray, which is an optional extra.

A unit is a pure function of what it is given, so it may run anywhere, and again when its process or machine is lost.
Results come in the order of the units: what a search finds on a cluster is, to the trace, what one process finds.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from hashlib import sha256
from importlib import import_module
from types import TracebackType
from typing import Any, TypeVar

from blockpool.proofs.core.sources import ROOT, TREES

Result = TypeVar("Result")

LOCAL = "local"
"""The address that means: start a cluster on this machine."""

AGAIN = 5
"""So often a unit is done again after its process was lost; one that is lost each time would be lost for ever."""

AHEAD = 4
"""Units handed out ahead of the results, for each processor."""


class ClusterError(Exception):
    """The cluster cannot do the work; the message says why."""


class Cluster:
    """A cluster of Ray, to be used in a `with` statement; `workers` is how many processes a local one has."""

    def __init__(self, address: str, workers: int) -> None:
        try:
            self._ray: Any = import_module("ray")
        except ImportError as error:
            raise ClusterError(f"Ray is not installed here: pip install 'blockpool[ray]' ({error})") from error
        self.address, self.workers = address, workers
        self.source = "" if address == LOCAL else source_hash()

    def __enter__(self) -> "Cluster":
        size = {"num_cpus": self.workers} if self.address == LOCAL else {}
        try:
            self._ray.init(self.address, include_dashboard=False, log_to_driver=False, logging_level="ERROR", **size)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise ClusterError(f"there is no cluster at {self.address}: {error}") from error
        self.workers = max(1, int(self._ray.cluster_resources().get("CPU", 0)))
        return self

    # What is still waiting ends with the connection.
    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ray.shutdown()

    def map(self, work: Callable[..., Result], units: Iterable[Any], *given: Any) -> Iterator[Result]:
        """What `work(unit, *given)` returns for each unit, in order."""
        task = self._ray.remote(num_cpus=1, max_retries=AGAIN)(_done)
        shared = [self._ray.put(one) for one in given]
        waiting: deque[Any] = deque()
        try:
            for unit in units:
                waiting.append(task.remote(self.source, work, unit, *shared))
                if len(waiting) > AHEAD * self.workers:
                    yield self._ray.get(waiting.popleft())
            while waiting:
                yield self._ray.get(waiting.popleft())
        except self._ray.exceptions.RayError as error:
            raise ClusterError(f"a unit of work failed or was lost: {str(error).strip()}") from error


Workforce = int | Cluster
"""Who does the work: so many processes of this machine, or a cluster."""


def _done(source: str, work: Callable[..., Result], unit: Any, *given: Any) -> Result:
    """In a process of the cluster: a verdict about other sources would be no verdict about ours."""
    if source and source != source_hash():
        raise ClusterError("a machine of the cluster has another version of blockpool; install the same one everywhere")
    return work(unit, *given)


@cache
def source_hash() -> str:
    """A hash of what verdicts rest on: the sources of this package."""
    found = sha256()
    for tree in TREES:
        for file in sorted((ROOT / tree).rglob("*.py")):
            found.update(file.relative_to(ROOT).as_posix().encode())
            found.update(file.read_bytes())
    return found.hexdigest()
