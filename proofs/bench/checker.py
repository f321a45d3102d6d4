"""How fast the checker itself is: states and steps of a search, edges in lockstep, calls of random histories.

What the oracle judges: `judging.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time

from blockpool.proofs.bench.compare import Progress
from blockpool.proofs.bench.judging import judging_rates
from blockpool.proofs.bench.rate import Rate
from blockpool.proofs.core.claim_names import REFINES
from blockpool.proofs.core.workers import crew
from blockpool.proofs.explore.scopes import SCOPES
from blockpool.proofs.explore.search import explore
from blockpool.proofs.refine.search_obligations import follower_of
from blockpool.proofs.refine.stateful_test import sample


@dataclass(frozen=True, slots=True)
class _Searched:
    """The search of all parts of a scope."""

    states: int
    steps: int
    cpu: float  # of this process
    clock: float


def checker_rates(
    scope: str, depth: int | None, runs: int, workers: int, progress: Progress, rounds: int = 1, requests: int = 300
) -> list[Rate]:
    """Search the parts of a scope, alone and in lockstep with `impl`; sample; let the oracle judge `requests`.

    With one worker and with several in alternation, `rounds` times: the median counts.
    """
    rates: list[Rate] = []
    for lockstep in (False, True):
        by_workers: dict[int, list[_Searched]] = {1: [], workers: []}
        for _ in range(rounds):
            for count, searched in by_workers.items():
                searched.append(_search(scope, lockstep, depth, count, progress))
        alone = by_workers.pop(1)
        rates += _rates(scope, lockstep, 1, alone, None)
        for count, together in by_workers.items():
            ratio = median(one.clock / several.clock for one, several in zip(alone, together, strict=True))
            rates += _rates(scope, lockstep, count, together, ratio)
    progress(f"{runs} random histories")
    started = process_time()
    run = sample(runs, 100)
    rates.append(Rate("calls of random histories", f"{run.runs} histories", 1, run.steps, process_time() - started))
    progress("built-in chats, watched, recorded and audited")
    return rates + judging_rates(requests, rounds)


def _search(scope: str, lockstep: bool, depth: int | None, workers: int, progress: Progress) -> _Searched:
    clock, cpu = perf_counter(), process_time()
    states = steps = 0
    with crew(workers) as working:
        for part in SCOPES[scope]:
            follower = follower_of(part) if lockstep else None
            found = explore(
                part, follower=follower, follow_claim=REFINES, workers=working, depth=depth, progress=progress
            )
            if found.stopped == "interrupted":
                raise KeyboardInterrupt
            states += len(found.states)
            steps += found.tally.followed if lockstep else found.tally.steps
    return _Searched(states, steps, process_time() - cpu, perf_counter() - clock)


def _rates(scope: str, lockstep: bool, workers: int, searched: Sequence[_Searched], ratio: float | None) -> list[Rate]:
    seconds = median(each.cpu if workers == 1 else each.clock for each in searched)
    numbers = {"states explored": searched[0].states, "transitions explored": searched[0].steps}
    if lockstep:
        numbers = {"edges in lockstep": searched[0].steps}
    than = "as fast as one worker" if workers > 1 else ""
    return [Rate(what, scope, workers, number, seconds, ratio, than) for what, number in numbers.items()]
