"""How fast the checker itself is: states and steps of a search, edges in lockstep, calls of random histories."""

from dataclasses import dataclass
from time import perf_counter, process_time

from proofs.bench.compare import Progress
from proofs.cluster import Workforce
from proofs.crew import Crew, crew
from proofs.decide import follower_of
from proofs.explore.scopes import SCOPES, Scope
from proofs.explore.search import Exploration, explore
from proofs.refine.lockstep import REFINES
from proofs.refine.machine import sample


@dataclass(frozen=True, slots=True)
class Rate:
    """So many of something in so many seconds: CPU time of one process, or by the clock where there are several."""

    what: str
    scope: str
    workers: int
    number: int
    seconds: float

    @property
    def per_second(self) -> float:
        return self.number / self.seconds if self.seconds else 0.0

    def as_dict(self) -> dict[str, str | int | float]:
        return {
            "what": self.what,
            "scope": self.scope,
            "workers": self.workers,
            "number": self.number,
            "seconds": round(self.seconds, 3),
            "per_second": round(self.per_second),
        }


def checker_rates(scope: str, depth: int | None, runs: int, workers: int, progress: Progress) -> list[Rate]:
    """Search the parts of a scope, alone and in lockstep with `impl`, then sample; with one worker and with several."""
    parts = SCOPES[scope]
    rates: list[Rate] = []
    for count in (1,) if workers == 1 else (1, workers):
        clock = process_time if count == 1 else perf_counter
        started = clock()
        with crew(count) as working:
            alone = [explore(part, workers=working, depth=depth, progress=progress) for part in parts]
        seconds = clock() - started
        steps = sum(each.tally.steps for each in alone)
        rates.append(Rate("states explored", scope, count, sum(len(each.states) for each in alone), seconds))
        rates.append(Rate("transitions explored", scope, count, steps, seconds))
        started = clock()
        with crew(count) as working:
            followed = [_lockstep(part, working, depth, progress) for part in parts]
        edges = sum(each.tally.followed for each in followed)
        rates.append(Rate("edges in lockstep", scope, count, edges, clock() - started))
    progress(f"{runs} random histories")
    started = process_time()
    run = sample(runs, 100)
    rates.append(Rate("calls of random histories", f"{run.runs} histories", 1, run.steps, process_time() - started))
    return rates


def _lockstep(part: Scope, workers: Workforce | Crew, depth: int | None, progress: Progress) -> Exploration:
    follower = follower_of(part)
    return explore(part, follower=follower, follow_claim=REFINES, workers=workers, depth=depth, progress=progress)
