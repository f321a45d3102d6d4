"""Is each kind of ending possible, in a pool with many blocks? A proof from facts that contradict is worth nothing.

For each kind of ending of a method (what it returns or raises, or that it leaves all to the careful way) a path is
looked for that has a model: a pool with at least `BLOCKS` different lendable blocks, and a call that is interesting.
A hypothesis that bounds the number of blocks would be noticed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import z3

from blockpool.proofs.prove.methods.freeing import STAND_IN
from blockpool.proofs.prove.methods.machine import Ending
from blockpool.proofs.prove.methods.method import Method, Program, Source, shipped
from blockpool.proofs.prove.methods.values import DIGEST, GROUP, NO_DIGEST
from blockpool.proofs.prove.methods.world import ALIASED, CARRIES, DIGESTS, INSIDE, LISTED, NULL, PLACE, REFS
from blockpool.proofs.prove.pool.grounding import world
from blockpool.proofs.prove.pool.vocabulary import Block, Event, Key, Slot, Watcher, lendable
from blockpool.proofs.prove.queue.values import HEAD, NONE, TAIL

BLOCKS = 12
OTHERS = (NONE, HEAD, TAIL, NULL, STAND_IN, z3.Const("a foreign block", Block))
QUEUED, KEYED = (3, BLOCKS), 5
FEW = ((Key, 6), (Watcher, 2), (Slot, 2), (Event, 3), (DIGEST, 3), (GROUP, 2))
BUDGET, WALL_MS = 40_000_000, 30_000


def kind_of(ending: Ending) -> str:
    """What sort of ending it is, in the words of `Method.kinds`."""
    if ending.run.parts.get("careful"):
        return "the careful way"
    if ending.kind == "raised":
        return f"raises {ending.value.__name__}"
    if isinstance(ending.value, bool):
        return f"returns {ending.value}"
    if ending.value is None:
        return "returns" if ending.run.parts.get("procedure") else "returns None"
    return "returns a list"


def never_seen(method: Method, source: Source = shipped) -> list[str]:
    """The kinds of endings for which no possible path was found; and endings of another kind than the stated ones."""
    wanted = set(method.kinds)
    for ending in Program.of(method, source).endings():
        if ending.kind in ("returned", "raised") and wanted:
            kind = kind_of(ending)
            kind = kind if kind in method.kinds else "returns"
            if kind in wanted and possible(ending.facts.values(), method):
                wanted.discard(kind)
    return sorted(wanted)


def possible(facts: Iterable[Any], method: Method) -> bool:
    """Is there such a pool?"""
    place = world((Block, BLOCKS + len(OTHERS)), *FEW)
    names = place.names[Block]
    formulas = [*facts, *method.interesting.values(), *method.hints(names[len(OTHERS) :])]
    for queue in QUEUED:
        solver = z3.Solver()
        solver.set("smt.ematching", False)  # a model is wanted, not a proof
        solver.set(rlimit=BUDGET, timeout=WALL_MS)
        solver.add(place.finite([*formulas, *_shape(names, place.names[Key], queue)]))
        if solver.check() == z3.sat:
            return True
    return False


def _shape(names: list[Any], keys: list[Any], queue: int) -> Iterator[Any]:
    """One pool of many, so that less is looked for: who is who, who is queued, and that most have no key."""
    yield z3.Distinct(*names)
    others, blocks = names[: len(OTHERS)], names[len(OTHERS) :]
    yield from (name == known for name, known in zip(others, OTHERS, strict=True))
    yield from (lendable(name) for name in blocks)
    yield from (z3.Not(lendable(name)) for name in others)
    for number, name in enumerate(blocks, 1):
        queued = number <= queue
        yield INSIDE(name) if queued else z3.Not(INSIDE(name))
        yield PLACE(name) == number if queued else REFS(name) > 0
        if number > KEYED:
            yield from (DIGESTS(name) == NO_DIGEST, z3.Not(LISTED(name)), z3.Not(ALIASED(name)))
            yield from (z3.Not(CARRIES(name, key)) for key in keys)
