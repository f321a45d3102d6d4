"""A counterexample: the shortest trace that was found, told step by step, and as a test that anybody can run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from blockpool.proofs.core.text import call, changes, show
from blockpool.spec import Move, Pool, Step, World, WorldStep, steps, while_telling

State = Pool | World


class Call(NamedTuple):
    """One line of a trace."""

    action: Any  # an action of the pool or a move of its environment
    answer: Any = None
    nested: bool = False  # what follows is called from inside a watcher that this call tells


def walk(first: State, calls: Sequence[Call]) -> Iterator[Step | WorldStep]:
    """The steps of the spec along a trace; where it leaves a choice, the answer in the trace decides."""
    state: State | None = first
    for line in calls:
        step = _world_step(state, line.action) if isinstance(state, World) else _pool_step(state, line)
        yield step
        state = step.after
        if line.nested:
            state = while_telling(step) if isinstance(step, Step) else None
            if state is None:
                raise ValueError(f"nobody is told by {call(line.action)}, so nothing can be called from inside")


def _pool_step(state: Any, line: Call) -> Step:
    options = list(steps(state, line.action))
    return next((step for step in options if step.answer == line.answer), options[0])


def _world_step(world: World, move: Move) -> WorldStep:
    obstacles = move.guard(world)
    after = world if obstacles else move.effect(world, None)
    return WorldStep(world, move, obstacles, None, after)


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A broken claim, and the calls that break it."""

    claim: str
    sentence: str
    first: State
    calls: tuple[Call, ...]
    words: str  # what went wrong at the last call

    def story(self) -> str:
        """What is broken, and the steps that break it."""
        head = f"{self.claim} is broken after {len(self.calls)} calls: {self.sentence}"
        return f"{head}\n\n{self.steps()}\n\n  {self.words}"

    def steps(self) -> str:
        """The trace with what each call changed, as the spec sees it."""
        lines = [f"  {beginning(self.first)}"]
        walked = walk(self.first, self.calls)
        for number, line in enumerate(self.calls, 1):
            lines.append(f"  {number}. {call(line.action)}")
            try:
                step = next(walked)
            except Exception as error:  # noqa: BLE001  the spec itself may be what is broken
                lines.append(f"       the spec fails: {type(error).__name__}: {error}")
                break
            lines += [f"       {line}" for line in told_of(step)]
            if line.nested:
                lines.append("     the next call comes from inside the watcher:")
        return "\n".join(lines)

    def pytest_source(self) -> str:
        """A test that fails as long as the claim is broken."""
        body = "".join(
            f"        Call({line.action!r}{', nested=True' if line.nested else ''}),\n" for line in self.calls
        )
        return (
            "from blockpool.proofs.core.counterexample import Call\n"
            "from blockpool.proofs.refine.rerun import rerun\n"
            "from blockpool.spec import *\n\n\n"
            f"def test_{self.claim}():\n"
            f'    """{self.sentence}"""\n'
            f"    calls = [\n{body}    ]\n"
            f'    rerun("{self.claim}", {first_source(self.first)}, calls)\n'
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "claim": self.claim,
            "sentence": self.sentence,
            "calls": [call(line.action) + (" -> inside" if line.nested else "") for line in self.calls],
            "words": self.words,
            "pytest": self.pytest_source(),
        }


def first_source(first: State) -> str:
    """An expression that makes the first state of a trace."""
    pool = first.pool if isinstance(first, World) else first
    made = f"first_state({pool.size}, unit={pool.unit}, caching={pool.caching}, reporting={pool.reporting})"
    if not isinstance(first, World):
        return made
    groups = "".join(f"Group(Kind.{group.kind.name}, {group.block_size}, {group.window}), " for group in first.layout)
    rules = f"Rules({', '.join(f'{rule}=False' for rule in first.rules.broken())})"
    return f"first_world({made}, ({groups}), {dict(first.plans)!r}, {dict(first.limits)!r}, {rules})"


def beginning(first: State) -> str:
    """The first state in words."""
    if isinstance(first, World):
        plans = ", ".join(
            f"{name} wants {show(plan.tokens)}, prompt {plan.prompt}" for name, plan in first.plans.items()
        )
        groups = ", ".join(f"{group.kind} ({group.block_size} a block)" for group in first.layout)
        broken = first.rules.broken()
        rules = f"; rules broken: {', '.join(broken)}" if broken else ""
        return f"a new pool of {first.pool.size} blocks; groups {groups}; requests {plans}{rules}"
    options = f"unit {first.unit}, caching {_on(first.caching)}, events {_on(first.reporting)}"
    return f"a new pool of {first.size} blocks, {options}; queue {show(first.queue)}"


def told_of(step: Step | WorldStep) -> list[str]:
    """What was answered, and what changed."""
    if step.refused:
        return [f"refused: {' or '.join(sorted(step.refused))}"]
    lines = [f"answers {show(step.answer)}"] if step.answer is not None else []
    return lines + (changes(step.before, step.after) or ["nothing changes"])


def _on(flag: bool) -> str:
    return "on" if flag else "off"
