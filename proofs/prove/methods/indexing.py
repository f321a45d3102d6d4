"""`HashIndex.remove`, `insert` and `insert_copy`, from their source: what others use as contracts.

Here the index is what it is: for each key the first block that carries it, and the copies, in a side table that has an
entry exactly for the keys with copies. What it stands for is the relation that the contracts speak of.
"""

from __future__ import annotations

from typing import Any

import z3

from blockpool.proofs.prove.methods.errors import Raised
from blockpool.proofs.prove.methods.machine import Facts, Run
from blockpool.proofs.prove.methods.method import Method
from blockpool.proofs.prove.methods.values import DIGEST, GROUP, TRUTH, Model, Node, Poison, Thing, term_of
from blockpool.proofs.prove.methods.world import KEY_OF, MAKE, And, B, F, Implies, K, Not, Or, every
from blockpool.proofs.prove.pool.vocabulary import Key
from blockpool.proofs.prove.queue.values import BLOCK, NONE

FIRST, LATER, ENTRY = F("first", Key, BLOCK), F("later", BLOCK, Key, TRUTH), F("has copies", Key, TRUTH)
VICTIM, GIVEN_DIGEST, GIVEN_GROUP = z3.Const("block", BLOCK), z3.Const("digest", DIGEST), z3.Const("group", GROUP)
KEY = KEY_OF(GIVEN_DIGEST, GIVEN_GROUP)


def carries(first: Any, later: Any, b: Any, k: Any) -> Any:
    """The relation that the index stands for."""
    return And(b != NONE, Or(first(k) == b, later(b, k)))


def sound(first: Any, later: Any, entry: Any) -> Facts:
    """There are copies behind a first only, each once, and an entry exactly where there are copies."""
    return {
        "copies come behind another": every(
            [B, K], Implies(later(B, K), And(first(K) != NONE, first(K) != B, B != NONE, entry(K))), later(B, K)
        ),
        "no entry is empty": every([K], Implies(entry(K), z3.Exists([B], later(B, K))), entry(K)),
    }


class Later(Poison):
    """`_later`: from a key to the copies, oldest first."""

    def __init__(self, run: Run) -> None:
        self._has(run=run)

    def __bool__(self) -> bool:
        return self.run.branch(z3.Exists([K], self.run.heap["entry"](K)))  # type: ignore[no-any-return]

    def get(self, key: Any, default: Any = None) -> Any:
        at = _key(key)
        return CopiesOf(self.run, at) if self.run.branch(self.run.heap["entry"](at)) else default

    def setdefault(self, key: Any, default: Any) -> CopiesOf:
        at, entry = _key(key), self.run.heap["entry"]
        if not isinstance(default, NoCopies):
            self._refused()
        self.run.heap["entry"] = lambda k: Or(entry(k), k == at)
        return CopiesOf(self.run, at)

    def __delitem__(self, key: Any) -> None:
        at, entry, later = _key(key), self.run.heap["entry"], self.run.heap["later"]
        if not self.run.branch(entry(at)):
            raise Raised(KeyError)
        self.run.heap["entry"] = lambda k: And(entry(k), k != at)
        self.run.heap["later"] = lambda b, k: And(later(b, k), k != at)


class NoCopies(Poison):
    """A new OrderedDict."""


class CopiesOf(Poison):
    """The copies of one key."""

    def __init__(self, run: Run, key: Any) -> None:
        self._has(run=run, key=key)

    def __bool__(self) -> bool:
        return self.run.branch(z3.Exists([B], self.run.heap["later"](B, self.key)))  # type: ignore[no-any-return]

    def __contains__(self, block: Any) -> bool:
        return self.run.branch(self.run.heap["later"](term_of(block, BLOCK), self.key))  # type: ignore[no-any-return]

    def __setitem__(self, block: Any, _nothing: Any) -> None:
        at, later, key = term_of(block, BLOCK), self.run.heap["later"], self.key
        self.run.heap["later"] = lambda b, k: Or(later(b, k), And(b == at, k == key))

    def __delitem__(self, block: Any) -> None:
        if block not in self:
            raise Raised(KeyError)
        self._take(term_of(block, BLOCK))

    def popitem(self, last: bool) -> tuple[Node, None]:
        """The oldest, or the newest: which of them is not modelled."""
        if not self:
            raise Raised(KeyError)
        taken = self.run.fresh("taken", BLOCK)
        self.run.know("it is one of them", self.run.heap["later"](taken, self.key))
        self._take(taken)
        return Node(self.run, taken), None

    def _take(self, at: Any) -> None:
        later, key = self.run.heap["later"], self.key
        self.run.heap["later"] = lambda b, k: And(later(b, k), Not(And(b == at, k == key)))


def _key(pair: Any) -> Any:
    digest, group = pair
    return KEY_OF(term_of(digest, DIGEST), term_of(group, GROUP))


def _group(run: Run) -> None:
    """The dict of one group: the first block of each digest."""

    def key(group: Any, digest: Any) -> Any:
        return KEY_OF(term_of(digest, DIGEST), group.term)

    def put(group: Any, digest: Any, block: Any) -> None:
        run.write("first", key(group, digest), term_of(block, BLOCK))

    def delete(group: Any, digest: Any) -> None:
        if run.branch(run.heap["first"](key(group, digest)) == NONE):
            raise Raised(KeyError)
        run.write("first", key(group, digest), NONE)

    run.of_groups |= {
        "set": put,
        "del": delete,
        "get": lambda group: lambda digest: Node(run, run.heap["first"](key(group, digest))),
    }


def _index(name: str) -> Any:
    def call(run: Run, scope: dict[str, Any]) -> Any:
        _group(run)
        run.heap |= {"first": FIRST, "later": LATER, "entry": ENTRY}

        def insert_copy(digest: Any, group: Any, block: Any) -> Any:
            return scope["insert_copy"](index, digest, group, block)

        index = Model(run, _later=Later(run), group=lambda group: Thing(run, group.term), insert_copy=insert_copy)
        arguments = Thing(run, GIVEN_DIGEST), Thing(run, GIVEN_GROUP), Node(run, VICTIM)
        return scope[name](index, *arguments)

    return call


def _goals(leaves: bool) -> Any:
    def goals(run: Run, kind: str, value: Any) -> Facts:
        first, later, entry = (run.heap[name] for name in ("first", "later", "entry"))
        before, now, mine = carries(FIRST, LATER, B, K), carries(first, later, B, K), And(B == VICTIM, K == KEY)
        had = carries(FIRST, LATER, VICTIM, KEY)
        if kind == "raised":
            wrong = Not(had) if leaves else had
            reason = {"UnknownBlock", "RepeatedBlock"} if value.__name__ in ("UnknownBlock", "RepeatedBlock") else set()
            same = {name: z3.BoolVal(run.heap[name] is given) for name, given in HEAP.items()}
            return {"refused for a reason": And(wrong, z3.BoolVal(bool(reason)))} | same
        after = And(before, Not(mine)) if leaves else Or(before, mine)
        return {
            "answers nothing": z3.BoolVal(value is None),
            "it could be done": had if leaves else Not(had),
            "the relation": every([B, K], now == after),
            **sound(first, later, entry),
            "the first of other keys": every([K], Implies(K != KEY, first(K) == FIRST(K))),
            "the first stays first": Implies(And(FIRST(KEY) != VICTIM, FIRST(KEY) != NONE), first(KEY) == FIRST(KEY)),
        }

    return goals


HEAP = {"first": FIRST, "later": LATER, "entry": ENTRY}
ASSUMED = sound(FIRST, LATER, ENTRY) | {
    "a block is given": VICTIM != NONE,
    **{name: MAKE[name] for name in ("keys are pairs", "of digest and group")},
}
BY_HAND = "the promise is written by hand: it is the contract that others use; which of several copies comes first"


def _method(
    name: str, runs: tuple[str, ...], leaves: bool, kinds: tuple[str, ...], also: Facts | None = None
) -> Method:
    return Method(
        f"HashIndex.{name}",
        {"hash_index": runs},
        _index(name),
        _goals(leaves),
        ASSUMED | (also or {}),
        names=lambda run: {"OrderedDict": NoCopies},
        kinds=kinds,
        limits=BY_HAND,
    )


REMOVE = _method("remove", ("remove",), True, ("returns", "raises UnknownBlock"))
INSERT = _method("insert", ("insert", "insert_copy"), False, ("returns", "raises RepeatedBlock"))
INSERT_COPY = _method(
    "insert_copy",
    ("insert_copy",),
    False,
    ("returns",),
    {"behind another": And(FIRST(KEY) != NONE, FIRST(KEY) != VICTIM, Not(LATER(VICTIM, KEY)))},
)
