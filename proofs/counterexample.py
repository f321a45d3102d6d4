"""A counterexample: the shortest trace that was found, told step by step, and as a test that anybody can run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from proofs.words import call, changes, show
from spec import Action, Pool, Step, steps, while_telling


class Call(NamedTuple):
    """One line of a trace."""

    action: Action[Any]
    answer: Any = None
    nested: bool = False  # what follows is called from inside a watcher that this call tells


def walk(first: Pool, calls: Sequence[Call]) -> Iterator[Step]:
    """The steps of the spec along a trace; where it leaves a choice, the answer in the trace decides."""
    state = first
    for line in calls:
        options = list(steps(state, line.action))
        step = next((step for step in options if step.answer == line.answer), options[0])
        yield step
        state = step.after
        if line.nested:
            inside = while_telling(step)
            if inside is None:
                raise ValueError(f"nobody is told by {call(line.action)}, so nothing can be called from inside")
            state = inside


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A broken claim, and the calls that break it."""

    claim: str
    sentence: str
    first: Pool
    calls: tuple[Call, ...]
    words: str  # what went wrong at the last call

    def story(self) -> str:
        """What is broken, and the steps that break it."""
        head = f"{self.claim} is broken after {len(self.calls)} calls: {self.sentence}"
        return f"{head}\n\n{self.steps()}\n\n  {self.words}"

    def steps(self) -> str:
        """The trace with what each call changed, as the spec sees it."""
        first = self.first
        options = f"unit {first.unit}, caching {_on(first.caching)}, events {_on(first.reporting)}"
        lines = [f"  a new pool of {first.size} blocks, {options}; queue {show(first.queue)}"]
        walked = walk(first, self.calls)
        for number, line in enumerate(self.calls, 1):
            lines.append(f"  {number}. {call(line.action)}")
            try:
                step = next(walked)
            except Exception as error:  # noqa: BLE001  the spec itself may be what is broken
                lines.append(f"       the spec fails: {type(error).__name__}: {error}")
                break
            lines += [f"       {line}" for line in _told_of(step)]
            if line.nested:
                lines.append("     the next call comes from inside the watcher:")
        return "\n".join(lines)

    def pytest_source(self) -> str:
        """A test that fails as long as the claim is broken."""
        first = self.first
        arguments = f"{first.size}, unit={first.unit}, caching={first.caching}, reporting={first.reporting}"
        body = "".join(
            f"        Call({line.action!r}{', nested=True' if line.nested else ''}),\n" for line in self.calls
        )
        return (
            "from proofs.counterexample import Call\n"
            "from proofs.rerun import rerun\n"
            "from spec import *\n\n\n"
            f"def test_{self.claim}():\n"
            f'    """{self.sentence}"""\n'
            f"    calls = [\n{body}    ]\n"
            f'    rerun("{self.claim}", first_state({arguments}), calls)\n'
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


def _told_of(step: Step) -> list[str]:
    if step.refused:
        return [f"refused: {' or '.join(sorted(step.refused))}"]
    lines = [f"answers {show(step.answer)}"] if step.answer is not None else []
    return lines + (changes(step.before, step.after) or ["nothing changes"])


def _on(flag: bool) -> str:
    return "on" if flag else "off"
