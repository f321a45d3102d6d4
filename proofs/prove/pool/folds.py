"""A batch as a fold of one-block steps: that it ends in the effect of the call, and how the counters move.

`transitions.py` gives the effect of a whole batch at once, but not how the numbers `free`, `held` and `copies` move:
that takes counting. Here the same effect is reached one naming, or one key, at a time. A single step changes a set by
at most one member, so the size of the set moves by exactly that. Proved of each fold:

    start   before the first step the loop invariant holds
    step    one step keeps it
    end     once all are done the state is that of the call, and the claim follows

The loop invariant is the effect itself with `passed`, what has been named so far, in place of what is named: between
two steps of `free_blocks`, say, some named block has references left and is not queued yet. All that is assumed of the
counters is that they are sizes: equal sets have equal sizes, one member more or less is a size one more or less.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from blockpool.proofs.prove.pool.vocabulary import (
    Block,
    Key,
    refused,
    symbol,
)

Formulas = Mapping[str, Any]

it, its_key = symbol("it", Block), symbol("its_key", Key)
"""The block, and the key, whose turn it is."""


@dataclass(frozen=True)
class Part:
    """A condition of a fold, without the hypotheses that every condition about the action has."""

    name: str
    hypotheses: Formulas
    goals: Formulas
    of_the_call: bool = True  # does the state after the call matter? Not in the middle of the fold


def refusal(claim: Any) -> Part:
    """The claim about a refused call, for which nothing is folded."""
    return Part("refused", {"refused": refused}, {"": claim})
