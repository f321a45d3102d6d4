"""`prove` for a queue class: one obligation for each method and promise.

First the method is run on every small queue (see concrete_runs.py): a run that breaks a promise refutes it. What
survives is proved for any length. A proof that fails although no small run does is inconclusive, and shows the heap
from which a step goes wrong.
"""

# ruff: noqa: SIM300  (names in capitals are the unknowns of formulas)

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from blockpool.proofs.core.obligation import Figures, Obligation, Verdict
from blockpool.proofs.prove.queue.concrete_runs import SCOPE, Runner
from blockpool.proofs.prove.queue.executable import Executable
from blockpool.proofs.prove.queue.execution import Ending, Facts
from blockpool.proofs.prove.queue.heap_picture import heap_picture
from blockpool.proofs.prove.queue.methods import REFINES, Claim, Promise, endings, promises
from blockpool.proofs.prove.queue.operations import BY_NAME, EMPTY, LENGTH, OPERATIONS, Operation
from blockpool.proofs.prove.queue.refusing import UnsupportedError
from blockpool.proofs.prove.queue.source import QueueSource, read_queue
from blockpool.proofs.prove.queue.values import BLOCK
from blockpool.proofs.prove.solve import BUDGET, SEEDS, Condition, Outcome, decide, satisfiable

ANY_LENGTH = "any length"
SMALL = (6, 7)
"""None, two sentinels, two queued blocks, and one or two more: enough to see that a path can be taken."""


def source_obligations(where: str, *, seeds: Sequence[int] = SEEDS) -> list[Obligation]:
    """Everything about the queue class at MODULE:CLASS or FILE.py:CLASS."""
    return list(queue_obligations(read_queue(where), seeds=seeds))


def queue_obligations(
    source: QueueSource, *, seeds: Sequence[int] = SEEDS, methods: Sequence[str] | None = None
) -> Iterator[Obligation]:
    """One obligation for each promise of each method, or of some."""
    prover = Prover(source, seeds)
    for operation in OPERATIONS:
        if operation.name in source.methods and (methods is None or operation.name in methods):
            yield from prover.obligations(operation)
    yield from unstated(source) if methods is None else ()


def unstated(source: QueueSource) -> list[Obligation]:
    """Public methods about which nothing is promised, so nothing can be shown."""
    names = [name for name in source.methods if name not in BY_NAME and not name.startswith("_")]
    words = "no promise is stated for a method of this name"
    return [Obligation(f"{source.name}.{n}", "prove", ANY_LENGTH, Verdict.INCONCLUSIVE, words=words) for n in names]


@dataclass(frozen=True)
class Proof:
    """What came of the conditions of one promise."""

    verdict: Verdict
    figures: Figures = field(default_factory=dict)
    words: str = ""


class Prover:
    """Decides the promises of one class. Conditions that several promises share are decided once."""

    def __init__(self, source: QueueSource, seeds: Sequence[int] = SEEDS, budget: int = BUDGET) -> None:
        self.source, self.seeds, self.budget = source, seeds, budget
        self.executable = Executable(source)
        self.runner = Runner(source)

    def obligations(self, operation: Operation) -> Iterator[Obligation]:
        names = [REFINES, *(f"refuses {reason}" for reason in operation.reasons)]
        runs = {} if self.executable.refused else self.runner.broken(operation.name)
        proofs = self.proofs(operation, [name for name in names if name not in runs])
        for name in names:
            started, run = perf_counter(), runs.get(name)
            if run is None:
                proof = next(proofs)
            else:
                proof = Proof(Verdict.REFUTED, {}, f"a run of the method breaks this:\n{run.picture()}")
            words = proof.words
            if proof.verdict == Verdict.INCONCLUSIVE:
                tried = (
                    "it was not run, nor"
                    if self.executable.refused
                    else f"no run breaks this ({SCOPE}), but it was not"
                )
                words = f"{tried} proved: {words}"
            yield Obligation(
                f"{self.source.name}.{operation.name} {name}", "prove", ANY_LENGTH, proof.verdict, proof.figures,
                perf_counter() - started, words,
            )  # fmt: skip

    def proofs(self, operation: Operation, names: Sequence[str]) -> Iterator[Proof]:
        """The promises called `names`, by proof alone."""
        try:
            reached = list(endings(self.executable, operation))
            wanted = [promise for promise in promises(operation, reached) if promise.name in names]
        except UnsupportedError as error:
            yield from (Proof(Verdict.INCONCLUSIVE, {}, str(error)) for _ in names)
            return
        everything = len(names) == 1 + len(operation.reasons)
        shared: dict[int, Outcome] = {}
        for promise in wanted:
            yield self._prove(promise, reached, shared if everything else None)

    def _prove(self, promise: Promise, reached: list[Ending], shared: dict[int, Outcome] | None) -> Proof:
        resources, core = 0, set[str]()
        for number, claim in enumerate(promise.claims):
            outcome = self._decide(number, claim, promise.case, shared)
            resources, core = max(resources, outcome.resources), core | outcome.core
            if outcome.verdict != Verdict.HOLDS:
                return Proof(Verdict.INCONCLUSIVE, {"resources": resources}, _why(claim, outcome))
        figures: Figures = {
            "paths": sum(ending.kind in ("returned", "refused") for ending in reached),
            "conditions": len(promise.claims),
            "resources": resources,
            "core": len(core),
        }
        if self.source.left_out:
            figures["left out"] = self.source.left_out
        if not can_happen(promise, reached, self.budget):
            return Proof(Verdict.VACUOUS, figures, "no path of the method meets such a call with two blocks queued")
        return Proof(Verdict.HOLDS, figures)

    def _decide(self, number: int, claim: Claim, case: Facts, shared: dict[int, Outcome] | None) -> Outcome:
        """With what the case says, unless the claim does not need it."""
        if shared is None or not claim.always:
            return self._ask(claim, case)
        if number not in shared:
            shared[number] = self._ask(claim, {})
        return shared[number] if shared[number].verdict == Verdict.HOLDS else self._ask(claim, case)

    def _ask(self, claim: Claim, case: Facts) -> Outcome:
        condition = Condition(claim.name, {**claim.facts, **case}, claim.goal, (BLOCK,))
        return decide(condition, seeds=self.seeds, budget=self.budget)


def can_happen(promise: Promise, reached: Sequence[Ending], budget: int = BUDGET) -> bool:
    """Some path that the promise is about can be taken, with two blocks queued and two given where that is possible."""
    kind = "returned" if promise.name == REFINES else "refused"
    for ending in reached:
        operation: Operation = ending.run.start.operation
        two = {"two blocks are queued": LENGTH == (0 if promise.name == f"refuses {EMPTY}" else 2)}
        many = {"two blocks are given": operation.many} if kind == "returned" else {}
        hypotheses = {**ending.facts, **promise.case, **two, **many}
        if ending.kind == kind and _possible(hypotheses, budget):
            return True
    return False


def _possible(hypotheses: Facts, budget: int) -> bool:
    return satisfiable(hypotheses, (BLOCK,), sizes=SMALL, budget=budget).verdict == Verdict.HOLDS


def _why(claim: Claim, outcome: Outcome) -> str:
    words = f"{claim.name}: {outcome.words or 'this does not follow'}"
    return words if outcome.model is None else f"{words}\n{heap_picture(outcome.model)}"
