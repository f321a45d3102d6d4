"""What is measured: serving, from traces of real requests or from built-in ones, and one thing at a time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from blockpool.proofs.bench.micro import WORKS, record_micro
from blockpool.proofs.bench.serving import record_serving
from blockpool.proofs.bench.stream import Stream
from blockpool.proofs.core.sources import ROOT
from blockpool.proofs.replay.reader import requests_from_file
from blockpool.proofs.replay.synthetic import synthetic_requests

TRACES = ROOT.parent / "shared" / "traces"
"""Where the traces are looked for, unless another folder is named."""


@dataclass(frozen=True)
class Workload:
    """A stream that can be recorded with any pool."""

    stream: Callable[[], Stream]  # empty
    record: Callable[[Stream, Any], Stream]

    @property
    def name(self) -> str:
        return self.stream().name


SERVING = (
    # trace, tokens a block, blocks, requests, running at a time
    ("conversation", 512, 2_000, 4_000, 64),
    ("conversation", 16, 20_000, 300, 64),
    ("conversation", 16, 200_000, 500, 256),
    ("synthetic", 64, 20_000, 1_000, 64),
)
BUILT_IN = ("built-in chats", 16, 20_000, 1_000, 64)
LARGEST_WITH_EVENTS = 20_000
POOL, QUICK_POOL = 20_000, 3_000
"""Blocks of the pool for one thing at a time."""


def workloads(traces: Path, quick: bool) -> Iterator[Workload]:
    """All of them; with `quick` a tenth of the requests and small pools, to see that it works."""
    part = 10 if quick else 1
    present = [each for each in SERVING if _trace(traces, each[0]).exists()]
    for name, block_size, blocks, requests, running in (*present, BUILT_IN):
        for events in (False, True):
            if events and blocks > LARGEST_WITH_EVENTS:
                continue
            title = f"{name}, {block_size} tokens, {blocks // part:,} blocks{', events' if events else ''}"
            stream = partial(Stream, title, blocks // part, block_size, events)
            file = None if name == BUILT_IN[0] else _trace(traces, name)
            yield Workload(stream, partial(_serve, file, requests // part, running))
    blocks, rounds = (QUICK_POOL, 2) if quick else (POOL, 20)
    for name, work in WORKS.items():
        yield Workload(partial(Stream, name, blocks, 16, by_part=True), partial(record_micro, work=work, rounds=rounds))


def quick_names(traces: Path) -> list[tuple[str, str]]:
    """The workloads of serving, and what each is called when it is quick."""
    pairs = zip(workloads(traces, quick=False), workloads(traces, quick=True), strict=True)
    return [(full.name, quick.name) for full, quick in pairs if full.name not in WORKS]


def _trace(folder: Path, name: str) -> Path:
    return folder / f"mooncake_{name}.jsonl"


def _serve(file: Path | None, limit: int, running: int, stream: Stream, pool: Any) -> Stream:
    requests = synthetic_requests(limit, 0) if file is None else requests_from_file(file, limit)
    return record_serving(stream, pool, requests, running)
