"""CrossHair on some goals: `python -m blockpool.proofs.symbolic.run whole|quick SECONDS NAME..`. Prints JSON lines.

A process of its own, since BLOCKPOOL_CONTRACTS=full must be set when `impl` is imported. The canaries are goals too: a
run of the command always names them.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.symbolic import key_texts, pool_calls, queue_calls
from blockpool.proofs.symbolic.canaries import CANARIES
from blockpool.proofs.symbolic.engine import Answer, ask, repair_formatting
from blockpool.proofs.symbolic.goals import GOALS
from blockpool.proofs.symbolic.plain_contracts import make_plain, read_contracts

DEFINED_IN = (pool_calls, queue_calls, key_texts)
"""The modules whose import fills GOALS."""

BY_NAME = {canary.name: canary for canary in CANARIES}


def uncovered() -> set[str]:
    """The contracted public methods of `impl` that no goal speaks about."""
    return set(read_contracts()) - {method for goal in GOALS.values() for method in goal.covers}


def of_canary(name: str, seconds: float) -> Answer:
    """A canary holds if the planted violation was found; else nothing that this tool says counts."""
    canary = BY_NAME[name]
    answer = ask(canary.target(), seconds)
    found = canary.expected.name in answer.kinds and canary.words in answer.words
    words = "" if found else f"planted, and not found: {', '.join(answer.kinds) or 'no message'} {answer.words}".strip()
    return Answer(Verdict.HOLDS if found else Verdict.VACUOUS, answer.kinds, words, answer.paths, answer.seconds)


def of_goal(name: str, quickly: bool, seconds: float) -> Answer:
    analysed: Callable[..., Any] = GOALS[name].function(quickly)
    return ask(analysed, seconds)


def main() -> None:
    """Ask about each goal that is named."""
    extent, seconds, *names = sys.argv[1:]
    repair_formatting()
    missing = uncovered()
    make_plain()
    if missing:
        raise SystemExit(f"no goal covers {', '.join(sorted(missing))}")
    for name in names:
        if name in BY_NAME:
            answer, scope = of_canary(name, float(seconds)), "planted"
        else:
            answer, goal = of_goal(name, extent == "quick", float(seconds)), GOALS[name]
            scope = goal.quick_scope if extent == "quick" else goal.scope
        line = {
            "name": name,
            "scope": scope,
            "verdict": answer.verdict,
            "paths": answer.paths,
            "cpu": round(answer.seconds, 1),
            "words": answer.words,
        }
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
