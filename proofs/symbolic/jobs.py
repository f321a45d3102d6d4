"""The jobs of `blockpool symbolic`: each asks CrossHair, in a process of its own, about some goals."""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from blockpool.proofs.core.jobs import Job, run_module
from blockpool.proofs.core.obligation import Obligation, Verdict
from blockpool.proofs.symbolic import key_texts, pool_calls, queue_calls
from blockpool.proofs.symbolic.canaries import CANARIES
from blockpool.proofs.symbolic.goals import GOALS

DEFINED_IN = (pool_calls, queue_calls, key_texts)
"""The modules whose import fills GOALS."""

CANARY_NAMES = tuple(canary.name for canary in CANARIES)

SENTENCES = {goal.name: goal.sentence for goal in GOALS.values()} | {one.name: one.sentence for one in CANARIES}
"""What each of them claims, in words."""

BATCH = 4
"""Goals of one process: starting it takes a second, and a large batch leaves the other core idle at the end."""

MARGIN = 3.0
"""CrossHair counts CPU time, and looks at the clock between two paths; here is how much longer it may take."""


def quick_names() -> list[str]:
    """The goals that a quick run asks about."""
    return [goal.name for goal in GOALS.values() if goal.quick_scope]


def jobs(names: Sequence[str], *, quick: bool, seconds: float) -> Iterator[Job]:
    """The canaries, and these goals, in batches."""
    yield partial(asked, CANARY_NAMES, quick, seconds)
    for start in range(0, len(names), BATCH):
        yield partial(asked, tuple(names[start : start + BATCH]), quick, seconds)


def quick_job() -> list[Obligation]:
    """All of a quick run in one process, for `blockpool check`."""
    return asked((*CANARY_NAMES, *quick_names()), True, 20.0)


def asked(names: Sequence[str], quick: bool, seconds: float) -> list[Obligation]:
    """One obligation for each name, whatever happens to the process."""
    limit = 60.0 + MARGIN * seconds * len(names)
    extent = "quick" if quick else "whole"
    ran = run_module(
        "blockpool.proofs.symbolic.run", extent, str(seconds), *names, timeout=limit, BLOCKPOOL_CONTRACTS="full"
    )
    answers: dict[str, dict[str, Any]] = {}
    for line in ran.stdout.splitlines():
        answer = json.loads(line)
        answers[answer["name"]] = answer
    why = ran.stderr.strip()[-500:] or "it was not answered"
    return [
        decided(answers[name])
        if name in answers
        else Obligation(name, "symbolic", "", Verdict.INCONCLUSIVE, {}, 0.0, why)
        for name in names
    ]


def decided(answer: dict[str, Any]) -> Obligation:
    verdict = Verdict(answer["verdict"])
    figures = {"paths": answer["paths"]}
    return Obligation(answer["name"], "symbolic", answer["scope"], verdict, figures, answer["cpu"], answer["words"])
