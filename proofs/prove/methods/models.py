"""The pool and what it is made of, as a method meets them. What is not listed here is refused.

Contracts, which stand for code that is not run here, are in `contracts.py`.
"""

from __future__ import annotations

from typing import Any

import z3

from blockpool.proofs.prove.methods.errors import Raised, UnsupportedError
from blockpool.proofs.prove.methods.lists import Items
from blockpool.proofs.prove.methods.machine import Run
from blockpool.proofs.prove.methods.tables import Table
from blockpool.proofs.prove.methods.values import (
    DIGEST,
    GROUP,
    INT,
    Maybe,
    Model,
    Node,
    Number,
    Owner,
    Poison,
    Thing,
    Truth,
    integer,
    term_of,
)
from blockpool.proofs.prove.methods.world import (
    ALIASES,
    COPIES,
    DIGEST_OF,
    GIVEN,
    GROUP_OF,
    KEY_OF,
    NULL,
    And,
    B,
    I,
    If,
    Implies,
    K,
    Not,
    Or,
    every,
    own,
    within,
)
from blockpool.proofs.prove.pool import vocabulary as words
from blockpool.proofs.prove.pool.vocabulary import Event, Key, lendable_count
from blockpool.proofs.prove.queue.values import BLOCK, HEAD, TAIL


class Pool(Model):
    """A `BlockPool`. Nothing of it can be set."""


class Module(Poison):
    """A module of `impl`: the functions of it that are known."""

    def __init__(self, scope: dict[str, Any], **more: Any) -> None:
        self._has(scope=scope, more=more)

    def __getattr__(self, name: str) -> Any:
        known = self.more | self.scope
        if name not in known:
            raise UnsupportedError(f"nothing is known of {name}")
        return known[name]


class Queue(Poison):
    """The free queue: its ends and its counter; its methods are contracts or are run from their source."""

    def __init__(self, run: Run, **methods: Any) -> None:
        self._has(run=run, fake_free_list_head=Node(run, HEAD), fake_free_list_tail=Node(run, TAIL), **methods)

    def __getattr__(self, name: str) -> Any:
        if name == "num_free_blocks":
            return Number(self.run, self.run.heap["free"])
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "num_free_blocks":
            super().__setattr__(name, value)
        self.run.heap["free"] = integer(value)


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


class Aliases(Poison):
    """`_aliases`: only asked whether there is any, and emptied."""

    def __init__(self, run: Run) -> None:
        self._has(run=run)

    def __bool__(self) -> bool:
        now = self.run.heap["aliased"]
        return self.run.branch(ALIASES if now is GIVEN["aliased"] else z3.Exists([B], now(B)))  # type: ignore[no-any-return]

    def pop(self, block: Any, default: Any) -> Any:
        """The keys of a block that are no primary, taken out; `default` if there are none."""
        heap, at = self.run.heap, term_of(block, BLOCK)
        alias, aliased = heap["alias"], heap["aliased"]
        if not self.run.branch(aliased(at)):
            return default
        heap["alias"] = lambda b, k: And(alias(b, k), b != at)
        heap["aliased"] = lambda b: And(aliased(b), b != at)
        return KeyList(self.run, lambda k: alias(at, k))

    def __setitem__(self, block: Any, keys: Any) -> None:
        heap, at = self.run.heap, term_of(block, BLOCK)
        if not isinstance(keys, KeyList):
            self._refused()
        alias, aliased = heap["alias"], heap["aliased"]
        heap["alias"] = lambda b, k: If(b == at, keys.has(k), alias(b, k))
        heap["aliased"] = lambda b: Or(aliased(b), b == at)

    def clear(self) -> None:
        self.run.heap["aliased"] = lambda _b: z3.BoolVal(False)
        self.run.heap["alias"] = lambda _b, _k: z3.BoolVal(False)


class KeyList(Poison):
    """Some keys as pairs of digest and group number, each once, in an order that is not known."""

    walked = True

    def __init__(self, run: Run, has: Any) -> None:
        length, at, place = run.fresh("length", INT), run.fresh("key", INT, Key), run.fresh("place", Key, INT)
        self._has(run=run, has=has, length=length, at=at, place=place)
        run.know("keys are listed", length >= 0)
        listed = And(has(at(I)), place(at(I)) == I)
        run.know("each once", every([I], Implies(within(I, length), listed), at(I)))
        run.know("all of them", every([K], Implies(has(K), And(within(place(K), length), at(place(K)) == K)), place(K)))

    def item(self, k: Any) -> Any:
        key = self.at(k)
        return Thing(self.run, DIGEST_OF(key)), Thing(self.run, GROUP_OF(key))


class Copies(Poison):
    """`_later` of the index: only asked whether there is any, before anything has changed."""

    def __init__(self, run: Run) -> None:
        self._has(run=run)

    def __bool__(self) -> bool:
        if self.run.heap["carries"] is not GIVEN["carries"]:
            self._refused()
        return self.run.branch(COPIES)  # type: ignore[no-any-return]


class Emitted(Model):
    """An event: which key it names, and how."""


class Outbox(Poison):
    """`kv_event_queue`: what was in it, and what is appended."""

    def __init__(self, run: Run) -> None:
        self._has(run=run)

    def append(self, event: Any) -> None:
        heap = self.run.heap
        if not isinstance(event, Emitted):
            raise UnsupportedError(f"a {type(event).__name__} is sent as an event")
        at, length, term = heap["out.at"], heap["out.length"], event.term
        heap["out.at"] = lambda i: If(i == length, term, at(i))
        heap["out.length"] = length + 1
        if event.part == "cleared":
            heap["cleared"] = z3.BoolVal(True)
        else:
            count, names = heap[event.part], event.names
            heap[event.part] = lambda k: count(k) + If(names(k), 1, 0)


def block_removed(run: Run) -> Any:
    """`BlockRemoved(digests, medium, group_idx)`."""

    def make(digests: Any, _medium: Any, group: Any) -> Emitted:
        if not isinstance(digests, Items) or digests.sort != DIGEST:
            raise UnsupportedError("an event that names something else than digests is not modelled")
        run.needs(digests.length == 1, "a Removed names one key")
        key = KEY_OF(digests.at(z3.IntVal(0)), term_of(group, GROUP))
        return Emitted(run, part="removed", names=lambda k: k == key, term=run.fresh("event", Event))

    return make


def all_cleared(run: Run) -> Any:
    """`AllBlocksCleared(medium)`."""
    return lambda _medium: Emitted(run, part="cleared", names=None, term=run.fresh("event", Event))


def groups(run: Run) -> None:
    """What a group, the dict of one group, can do."""

    def delete(group: Any, digest: Any) -> None:
        """`del group[digest]` takes out the first block of the key; the copies, if there were any, would be lost."""
        heap, key = run.heap, KEY_OF(term_of(digest, DIGEST), group.term)
        carries = heap["carries"]
        run.needs(Not(COPIES), "no copies are lost with the first of a key")
        if not run.branch(z3.Exists([B], carries(B, key))):
            raise Raised(KeyError)
        heap["carries"] = lambda b, k: And(carries(b, k), k != key)

    run.of_groups |= {"group_id": lambda group: group, "del": delete}


def collector(run: Run) -> Maybe:
    """A metrics collector: it must not raise, and cannot change the pool."""
    calls = ("on_block_allocated", "on_block_accessed", "on_block_evicted", "reset")
    return Maybe(run, z3.Bool("there is a collector"), **dict.fromkeys(calls, lambda *_blocks: None))


def pool(run: Run, queue: Queue, **more: Any) -> Pool:
    """The pool that a method is called on."""
    made = Pool(
        run, free_block_queue=queue, null_block=Node(run, NULL), num_gpu_blocks=Number(run, lendable_count + 1),
        _telling=Truth(run, words.telling), enable_caching=Truth(run, words.caching), medium=Poison(),
        enable_kv_cache_events=Truth(run, words.reporting), metrics_collector=collector(run),
        _watchers=Watchers(run), _aliases=Aliases(run), kv_event_queue=Outbox(run), **more,
    )  # fmt: skip
    run.special[Owner, Pool] = lambda left, right: Truth(run, own(left.block)) if right is made else right._refused()
    run.special[Pool, Owner] = lambda left, right: run.special[Owner, Pool](right, left)
    run.special[Outbox, type(None)] = lambda _left, _right: False
    run.special[Items, type(None)] = run.special[Model, type(None)] = lambda _left, _right: False
    return made
