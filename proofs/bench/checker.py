"""How fast the checker itself is: states and steps of a search, edges in lockstep, calls of random histories."""

from dataclasses import dataclass
from time import perf_counter

from proofs.bench.compare import Progress
from proofs.explore.scopes import SCOPES, Scope
from proofs.explore.search import Exploration, explore
from proofs.refine.lockstep import REFINES, EdgeFollower
from proofs.refine.machine import sample


@dataclass(frozen=True, slots=True)
class Rate:
    """So many of something in so many seconds."""

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
        alone = [explore(part, workers=count, depth=depth, progress=progress) for part in parts]
        rates += [
            _rate("states explored", scope, count, alone, sum(len(each.states) for each in alone)),
            _rate("transitions explored", scope, count, alone, sum(each.tally.steps for each in alone)),
        ]
        followed = [_lockstep(part, count, depth, progress) for part in parts]
        rates.append(_rate("edges in lockstep", scope, count, followed, sum(each.tally.followed for each in followed)))
    progress(f"{runs} random histories")
    started = perf_counter()
    run = sample(runs, 100)
    rates.append(Rate("calls of random histories", f"{run.runs} histories", 1, run.steps, perf_counter() - started))
    return rates


def _lockstep(part: Scope, workers: int, depth: int | None, progress: Progress) -> Exploration:
    follower = EdgeFollower(part.unit, raising=part.nested)
    return explore(part, follower=follower, follow_claim=REFINES, workers=workers, depth=depth, progress=progress)


def _rate(what: str, scope: str, workers: int, searches: list[Exploration], number: int) -> Rate:
    return Rate(what, scope, workers, number, sum(each.seconds for each in searches))
