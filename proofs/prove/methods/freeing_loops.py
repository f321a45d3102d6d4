"""The loops of `free_blocks` on its hot way: what they have done after so many steps."""

# ruff: noqa: SIM300  (names in capitals are the unknowns of formulas)

from __future__ import annotations

from typing import Any

import z3

from blockpool.proofs.prove.methods.loops import Loop, Rule, under_way
from blockpool.proofs.prove.methods.machine import Facts, Run
from blockpool.proofs.prove.methods.values import INT, NO_DIGEST, integer
from blockpool.proofs.prove.methods.world import (
    COUNT,
    DIGESTS,
    ITEM,
    NULL,
    REFS,
    WIDTH,
    And,
    B,
    C,
    I,
    If,
    Implies,
    Not,
    counting,
    counts_one_more,
    every,
    real,
    within,
)
from blockpool.proofs.prove.queue.values import BLOCK, HEAD, NONE, TAIL

FRONT, BACK = "front", "back"


def freed(b: Any, k: Any) -> Any:
    """Has it lost its last reference in k steps?"""
    return And(b != NULL, REFS(b) > 0, COUNT(k, b) == REFS(b))


def joined(end: str, b: Any, k: Any) -> Any:
    """Did it join this end: the front without a key, else the back?"""
    return And(freed(b, k), DIGESTS(b) == NO_DIGEST if end == FRONT else DIGESTS(b) != NO_DIGEST)


class Chains:
    """The blocks that joined each end so far, in order: item i at each end, the place of each, and the step."""

    def __init__(self, run: Run) -> None:
        self.at: dict[str, Any] = {end: run.fresh(f"{end}_at", INT, BLOCK) for end in (FRONT, BACK)}
        self.index: dict[str, Any] = {end: run.fresh(f"{end}_index", BLOCK, INT) for end in (FRONT, BACK)}
        self.size: dict[str, Any] = {end: run.fresh(f"{end}_size", INT) for end in (FRONT, BACK)}
        self.when: Any = run.fresh("when", BLOCK, INT)

    def one_more(self, run: Run, k: Any) -> Chains:
        """After the step in which ITEM(k) was given back."""
        item, made = ITEM(k), Chains(run)
        new = And(item != NULL, REFS(item) - COUNT(k, item) == 1)
        for end in (FRONT, BACK):
            joins = And(new, DIGESTS(item) == NO_DIGEST if end == FRONT else DIGESTS(item) != NO_DIGEST)
            size, at, index = self.size[end], self.at[end], self.index[end]
            made.at[end] = lambda i, j=joins, n=size, at=at: If(And(j, i == n + 1), item, at(i))
            made.index[end] = lambda b, j=joins, n=size, of=index: If(And(j, b == item), n + 1, of(b))
            made.size[end] = size + If(joins, 1, 0)
        made.when = lambda b: If(And(new, b == item), k, self.when(b))
        return made


def no_more_than_held(k: Any) -> Facts:
    return {**counting(k), "held": every([B], Implies(B != NULL, COUNT(k, B) <= REFS(B)), COUNT(k, B))}


class Giving(Rule):
    """The loop of `give_back`: references are counted, and freed blocks are chained to both ends."""

    def defines(self, loop: Loop, k: Any) -> Facts:
        return {"count, one step": counts_one_more(k)}

    def heap(self, loop: Loop, k: Any, ghost: Chains) -> dict[str, Any]:
        after, before = loop.heap0["next"], loop.heap0["prev"]
        last, at, index, size = last_of(loop), ghost.at, ghost.index, ghost.size

        def chain_next(end: str, b: Any) -> Any:
            return If(index[end](b) < size[end], at[end](index[end](b) + 1), NONE)

        def chain_prev(end: str, b: Any, root: Any) -> Any:
            return If(index[end](b) > 1, at[end](index[end](b) - 1), root)

        def forward(b: Any) -> Any:
            old = If(And(b == last, size[BACK] > 0), at[BACK](1), after(b))
            chained = If(joined(FRONT, b, k), chain_next(FRONT, b), If(joined(BACK, b, k), chain_next(BACK, b), old))
            return If(b == HEAD, If(size[FRONT] > 0, at[FRONT](1), after(HEAD)), chained)

        def backward(b: Any) -> Any:
            behind = If(joined(BACK, b, k), chain_prev(BACK, b, last), before(b))
            return If(joined(FRONT, b, k), chain_prev(FRONT, b, HEAD), behind)

        return {"refs": lambda b: REFS(b) - real(b, COUNT(k, b)), "next": forward, "prev": backward}

    def facts(self, loop: Loop, k: Any, names: Any, ghost: Chains) -> Facts:
        last, when, size = last_of(loop), ghost.when, ghost.size
        said = no_more_than_held(k)
        for end in (FRONT, BACK):
            said |= self._chain(end, k, ghost)
        freed_then = And(within(when(B), k), ITEM(when(B)) == B)
        said["freed when last named"] = every([B], Implies(freed(B, k), freed_then), when(B))
        said["not named after"] = every([I], Implies(And(within(I, k), freed(ITEM(I), k)), I <= when(ITEM(I))), ITEM(I))
        said["front"] = names.front.term == If(size[FRONT] == 0, HEAD, ghost.at[FRONT](size[FRONT]))
        said["back"] = names.back.term == If(size[BACK] == 0, last, ghost.at[BACK](size[BACK]))
        said["queued"] = integer(names.queued) == size[FRONT] + size[BACK] + WIDTH - k
        return said

    def _chain(self, end: str, k: Any, ghost: Chains) -> Facts:
        at, index, size, when = ghost.at[end], ghost.index[end], ghost.size[end], ghost.when
        placed = And(1 <= index(B), index(B) <= size, at(index(B)) == B)
        held = And(joined(end, at(I), k), index(at(I)) == I)
        both = And(joined(end, B, k), joined(end, C, k))
        return {
            f"{end}: some": size >= 0,
            f"{end}: each has a place": every([B], Implies(joined(end, B, k), placed), index(B)),
            f"{end}: each place has one": every([I], Implies(And(1 <= I, I <= size), held), at(I)),
            f"{end}: in order of last naming": every(
                [B, C], Implies(both, (index(B) < index(C)) == (when(B) < when(C)))
            ),
        }

    def ghost(self, loop: Loop) -> Chains:
        return Chains(loop.run)

    def first(self, loop: Loop) -> Chains:
        ghost = Chains(loop.run)
        ghost.size = dict.fromkeys((FRONT, BACK), z3.IntVal(0))
        return ghost

    def next(self, loop: Loop, k: Any, ghost: Chains) -> Chains:
        return ghost.one_more(loop.run, k)


def last_of(loop: Loop) -> Any:
    """The last of the queue before the loop."""
    return loop.heap0["prev"](TAIL)


class Sharing(Rule):
    """A run of blocks that others hold too, or null: nothing is freed."""

    def defines(self, loop: Loop, k: Any) -> Facts:
        return {"count, one step": counts_one_more(k)}

    def heap(self, loop: Loop, k: Any, ghost: Any) -> dict[str, Any]:
        return {"refs": lambda b: REFS(b) - real(b, COUNT(k, b))}

    def facts(self, loop: Loop, k: Any, names: Any, ghost: Any) -> Facts:
        start = under_way(loop.run, Giving).k
        passed = And(start <= I, I < k)
        return {
            **no_more_than_held(k),
            "nothing is freed": every([B], freed(B, k) == freed(B, start), COUNT(k, B)),
            "nothing freed is named": every([I], Implies(passed, Not(freed(ITEM(I), k))), ITEM(I)),
        }


class TakingAgain(Rule):
    """The undo: the references are back, and the links of what had been freed are gone."""

    def defines(self, loop: Loop, k: Any) -> Facts:
        return {"count in the filtered list, one step": counts_one_more(k, loop.over.at, loop.over.count)}

    def heap(self, loop: Loop, k: Any, ghost: Any) -> dict[str, Any]:
        done, count, after, before = self._done(loop), loop.over.count, loop.heap0["next"], loop.heap0["prev"]

        def cleared(b: Any) -> Any:
            return And(freed(b, done), count(k, b) > 0)

        return {
            "refs": lambda b: REFS(b) - real(b, COUNT(done, b) - count(k, b)),
            "next": lambda b: If(cleared(b), NONE, after(b)),
            "prev": lambda b: If(cleared(b), NONE, before(b)),
        }

    def facts(self, loop: Loop, k: Any, names: Any, ghost: Any) -> Facts:
        count = loop.over.count
        body = And(count(k, B) >= 0, Implies(count(k, B) > 0, And(B != NULL, loop.over.passes(B))))
        return {"counts": every([B], body, count(k, B))}

    def _done(self, loop: Loop) -> Any:
        return loop.over.filter_of.length


RULES = {("give_back", 0): Giving(), ("give_back_shared", 0): Sharing(), ("take_again", 0): TakingAgain()}
