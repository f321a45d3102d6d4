"""Instructions instead of time: repeatable to a fraction of a percent whatever else the machine does.

`python -m blockpool.proofs.bench.counted POOL WORKLOAD TRACES REPLAYS` replays a stream under callgrind;
the count is that of one
replay less that of none. Caches are not seen, so for large pools it promises more than there is.
"""

import gc
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from blockpool.proofs.bench.contenders import contender
from blockpool.proofs.bench.stream import bind, run
from blockpool.proofs.bench.workloads import workloads


class NoInstructionsError(RuntimeError):
    """valgrind is missing or did not count."""


def instructions(pool: str, workload: str, traces: Path) -> int:
    """Of one replay of a quick workload of serving."""
    if shutil.which("valgrind") is None:
        raise NoInstructionsError("valgrind is not installed")
    with ThreadPoolExecutor(2) as both:
        without, with_one = both.map(lambda replays: _count(pool, workload, traces, replays), (0, 1))
    return with_one - without


def _count(pool: str, workload: str, traces: Path, replays: int) -> int:
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, "-m", __spec__.name]
    done = subprocess.run(
        [*command, pool, workload, str(traces), str(replays)],
        env={**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or found is None:
        raise NoInstructionsError(f"valgrind did not count: {done.stderr[-500:]}")
    return int(found[1])


def main() -> None:
    """Record, forget the recording pool, bind, and replay."""
    name, title, traces, replays = sys.argv[1:]
    subject = contender(name)
    workload = next(each for each in workloads(Path(traces), quick=True) if each.name == title)
    empty = workload.stream()
    stream = workload.record(empty, subject.make(empty.blocks, empty.block_size, False))
    gc.collect()
    pool = subject.make(stream.blocks, stream.block_size, stream.events)
    calls = bind(stream, pool)
    gc.disable()
    for _ in range(int(replays)):
        run(pool, calls, stream.events)


if __name__ == "__main__":
    main()
