"""The table of watchers: from blocks to callbacks."""

from __future__ import annotations

from typing import Any

import z3

from blockpool.proofs.prove.methods.errors import Raised
from blockpool.proofs.prove.methods.machine import Run
from blockpool.proofs.prove.methods.tables import Table
from blockpool.proofs.prove.methods.values import (
    Poison,
    term_of,
)
from blockpool.proofs.prove.methods.world import (
    And,
    B,
    Not,
    Or,
)
from blockpool.proofs.prove.pool import vocabulary as words
from blockpool.proofs.prove.queue.values import BLOCK


class Watchers(Table):
    """`_watchers`: from a block to its callbacks, each once."""

    def has(self, block: Any) -> Any:
        return self.run.heap["listed"](block)

    def __bool__(self) -> bool:
        return self.run.branch(z3.Exists([B], self.run.heap["listed"](B)))  # type: ignore[no-any-return]

    def __contains__(self, block: Any) -> bool:
        return self.run.branch(self.run.heap["listed"](term_of(block, BLOCK)))  # type: ignore[no-any-return]

    def get(self, block: Any, _default: Any) -> Callbacks:
        """Those of the block; of a block that is not listed there are none, which an empty default says as well."""
        return Callbacks(self.run, term_of(block, BLOCK))

    def setdefault(self, block: Any, _default: Any) -> Callbacks:
        heap, at = self.run.heap, term_of(block, BLOCK)
        listed, watched = heap["listed"], heap["watched"]
        heap["watched"] = lambda b, w: And(watched(b, w), Or(b != at, listed(b)))
        heap["listed"] = lambda b: Or(listed(b), b == at)
        return Callbacks(self.run, at)

    def __delitem__(self, block: Any) -> None:
        heap, at = self.run.heap, term_of(block, BLOCK)
        listed, watched = heap["listed"], heap["watched"]
        if not self.run.branch(listed(at)):
            raise Raised(KeyError)
        heap["watched"] = lambda b, w: And(watched(b, w), b != at)
        heap["listed"] = lambda b: And(listed(b), b != at)


class Callbacks(Poison):
    """The callbacks of one block: compared as the vocabulary compares watchers."""

    def __init__(self, run: Run, at: Any) -> None:
        self._has(run=run, at=at)

    def _has_it(self, callback: Any) -> Any:
        heap = self.run.heap
        return And(heap["listed"](self.at), heap["watched"](self.at, term_of(callback, words.Watcher)))

    def __contains__(self, callback: Any) -> bool:
        return self.run.branch(self._has_it(callback))  # type: ignore[no-any-return]

    def __bool__(self) -> bool:
        w, heap = z3.Const("w", words.Watcher), self.run.heap
        return self.run.branch(z3.Exists([w], And(heap["listed"](self.at), heap["watched"](self.at, w))))  # type: ignore[no-any-return]

    def append(self, callback: Any) -> None:
        self.run.needs(Not(self._has_it(callback)), "a callback is registered once")
        watched, at, mine = self.run.heap["watched"], self.at, term_of(callback, words.Watcher)
        self.run.heap["watched"] = lambda b, w: Or(watched(b, w), And(b == at, w == mine))

    def remove(self, callback: Any) -> None:
        if not self.run.branch(self._has_it(callback)):
            raise Raised(ValueError)
        watched, at, mine = self.run.heap["watched"], self.at, term_of(callback, words.Watcher)
        self.run.heap["watched"] = lambda b, w: And(watched(b, w), Not(And(b == at, w == mine)))
