"""What proofs of methods assume and Z3 cannot see by itself, shown once: by induction, or from the spec's invariants.

`world.STATE` says in other words, with patterns, what the invariants of the spec say; that it follows from them is
shown here, by the same abstraction that makes the goals. What is counted over a list is defined step by step; what that
means at the end is shown by induction over the steps.
"""

# ruff: noqa: SIM300  (names in capitals are the unknowns of formulas)

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import z3

from blockpool.proofs.core.obligation import Obligation, Verdict
from blockpool.proofs.prove.methods.abstraction import first_heap, state
from blockpool.proofs.prove.methods.values import INT, TRUTH
from blockpool.proofs.prove.methods.world import (
    BATCH,
    COUNT,
    EXACT,
    FOUND,
    ITEM,
    QUEUE,
    REPRESENTED,
    STATE,
    WIDTH,
    And,
    B,
    F,
    I,
    If,
    Implies,
    counts_one_more,
    every,
    met,
)
from blockpool.proofs.prove.methods.world import MAKE as MAKE_OF_BLOCKS
from blockpool.proofs.prove.pool.claims import FIXED, INVARIANTS, MAKE
from blockpool.proofs.prove.pool.naming_fold import renamed
from blockpool.proofs.prove.pool.vocabulary import BEFORE
from blockpool.proofs.prove.queue.values import BLOCK
from blockpool.proofs.prove.solve import SEEDS, Condition, decide

LEMMAS = "what proofs of methods assume follows"
K = z3.Int("k")
AT_LAST = "what is counted at last is named"


def conditions() -> Iterator[Condition]:
    """Each lemma, as what Z3 is asked."""
    yield from from_the_spec()
    yield from of_counts()
    yield of_filters()


def from_the_spec() -> Iterator[Condition]:
    """What is assumed of the state follows from the invariants that `prove` shows."""
    names = {BEFORE.symbols()[name]: said for name, said in state(first_heap(), QUEUE).items()}
    known = {name: formula(BEFORE) for name, formula in {**MAKE, **INVARIANTS}.items() if "copies" not in name}
    said = {name: renamed(formula, names) for name, formula in (known | {**FIXED}).items()}
    for name, goal in (STATE | FOUND | EXACT).items():
        yield Condition(f"of the state: {name}", {**said, **REPRESENTED, **MAKE_OF_BLOCKS}, goal)


def of_counts() -> Iterator[Condition]:
    """By induction over the list: what was counted is what was named so far, and counts only grow."""
    given = {name: fact for name, fact in BATCH.items() if name != AT_LAST}

    def counted(k: Any) -> Any:
        return every([B], And(COUNT(k, B) >= 0, (COUNT(k, B) > 0) == met(B, k)), COUNT(k, B))

    def growing(k: Any) -> Any:
        return every([I, B], Implies(And(0 <= I, I <= k), COUNT(I, B) <= COUNT(k, B)), COUNT(I, B))

    inside = {"a step": And(0 <= K, K < WIDTH), "one more": counts_one_more(K)}
    start = z3.IntVal(0)
    yield Condition("counts: at first", given, counted(start))
    yield Condition("counts: one step", given | inside | {"so far": counted(K)}, counted(K + 1))
    yield Condition("counts: at last", given | {"so far": counted(WIDTH)}, BATCH[AT_LAST])
    yield Condition("counts grow: at first", given, growing(start))
    yield Condition("counts grow: one step", given | inside | {"so far": growing(K)}, growing(K + 1))


def of_filters() -> Condition:
    """One more item of the source: the filtered list names what passes as often as the source does, again."""
    passes, size = F("passes", BLOCK, TRUTH), F("size", INT, INT)
    count = F("count in the filtered list", INT, INT, BLOCK, INT)  # of the list filtered from the first n: of i items
    x = z3.Const("x", BLOCK)
    more = If(And(passes(ITEM(K)), ITEM(K) == B), 1, 0)
    hypotheses = {
        "a step": And(K >= 0, size(K) >= 0),
        "it grows by what passes": size(K + 1) == size(K) + If(passes(ITEM(K)), 1, 0),
        "and names that once more": every([B], count(K + 1, size(K + 1), B) == count(K, size(K), B) + more),
        "so does the source": counts_one_more(K),
        "so far": every([B], Implies(passes(B), count(K, size(K), B) == COUNT(K, B))),
    }
    return Condition("filters", hypotheses, Implies(passes(x), count(K + 1, size(K + 1), x) == COUNT(K + 1, x)))


def lemma_obligations() -> list[Obligation]:
    """All of it, as one obligation."""
    started, most, open_ones = perf_counter(), 0, []
    asked = list(conditions())
    for condition in asked:
        outcome = decide(condition, seeds=SEEDS[:1])
        most = max(most, outcome.resources)
        if outcome.verdict is not Verdict.HOLDS:
            open_ones.append(f"{condition.name}: {outcome.words or outcome.verdict}")
    verdict = Verdict.INCONCLUSIVE if open_ones else Verdict.HOLDS
    figures: dict[str, int | float | str] = {"conditions": len(asked), "resources": most}
    return [Obligation(LEMMAS, "prove", "any size", verdict, figures, perf_counter() - started, "; ".join(open_ones))]
