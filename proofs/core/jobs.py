"""Jobs: parts of a run that answer obligations, each in a process of its own, some at a time."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from signal import SIG_IGN, SIGINT, SIGTERM, signal

from blockpool.proofs.core.obligation import Obligation, Verdict
from blockpool.proofs.core.workers import start_context
from blockpool.proofs.core.workers_ray import Cluster, Workforce

Job = Callable[[], list[Obligation]]


def name_of(job: Job) -> str:
    """What a job is called as long as nothing has come of it: its function, and what that was given."""
    if not isinstance(job, partial):
        return f"the job {job.__name__}"
    given = ", ".join(str(one) for one in (*job.args, *job.keywords.values()) if isinstance(one, str | int))
    return f"the job {job.func.__name__}({given})"


def run_jobs(jobs: Sequence[Job], workers: Workforce) -> Iterator[list[Obligation]]:
    """Run the jobs, some at a time; their obligations in the order of the jobs."""
    if isinstance(workers, Cluster):
        yield from workers.map(_decided, jobs)
        return
    with ProcessPoolExecutor(workers, start_context(), initializer=_start) as pool:
        futures = [pool.submit(_guarded, job) for job in jobs]
        try:
            for job, future in zip(jobs, futures, strict=True):
                yield _decided(job, future.result)
        except (KeyboardInterrupt, GeneratorExit):
            for process in list((pool._processes or {}).values()):
                process.terminate()  # ends its own child as well, see _start
            raise  # the executor sees that it lost a worker, and drops the jobs not begun


def _start() -> None:
    """In a worker: Ctrl-C is for the parent; being terminated ends what the worker waits for, too."""
    signal(SIGINT, SIG_IGN)
    signal(SIGTERM, _end)


def _end(*_: object) -> None:
    signal(SIGTERM, SIG_IGN)  # the executor terminates its workers once more; the way out must not be cut short
    sys.exit(1)


def _guarded(job: Job) -> list[Obligation]:
    """The job, in a worker. When the worker is terminated it ends; the executor would go on with the next job."""
    try:
        return job()
    except SystemExit:
        os._exit(1)


def _decided(job: Job, ask: Job | None = None) -> list[Obligation]:
    """What the job decided, done here or asked for where it is done; a job that dies has decided nothing, and must not
    take the others' verdicts with it.
    """
    try:
        return (ask or job)()
    except Exception as error:  # noqa: BLE001  a bug or a lost process: either way no verdict
        words = f"{type(error).__name__}: {error}"
        return [Obligation(f"{name_of(job)} ends", "check", "", Verdict.INCONCLUSIVE, {}, 0.0, words)]


def run_module(
    module: str, *arguments: str, timeout: float | None = None, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run a module in a new interpreter that ignores the current folder: it may hold a folder `spec` of its own."""
    command = [sys.executable, "-P", "-m", module, *arguments]
    variables = {**os.environ, **environment}
    try:
        return subprocess.run(command, capture_output=True, text=True, env=variables, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"no end after {timeout} s")
