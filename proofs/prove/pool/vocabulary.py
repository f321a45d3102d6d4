"""The words in which proofs at any size speak of the pool: relations over uninterpreted sorts, with no bound on any.

A state is a `State`: one set of symbols for each version (before, after, and two in the middle of a fold). What each
symbol says of a `blockpool.spec.pool.state.Pool` named `pool` (b a block, k a key, w a watcher):

    counted(b)      b in pool.refs                       refs(b)         pool.refs.get(b, 0)
    places(b)       pool.queue.count(b)                  ahead(a, b)     both queued, a first at an earlier place
    free            len(pool.queue)                      held            number of blocks whose pool.refs is not 0
    published(b)    b in pool.primary                    primary(b, k)   pool.primary[b].key == k, if published
    coverage(b)     pool.primary[b].tokens, else 0       aliased(b)      b in pool.aliases
    alias(b, k)     k in pool.aliases.get(b, ())         indexed(k)      k in pool.index
    findable(k, b)  b in pool.index.get(k, ())           copies(k)       len(pool.index.get(k, ()))
    listed(b)       b in pool.watchers                   watched(b, w)   w in pool.watchers.get(b, ())
    posted(s, e)    pool.outbox[s] == e, if s is a place in it (Slot: the places of the longer outbox)

The *counters* `free`, `held`, `copies` are numbers of members of sets that other symbols give. The transition
of a batch leaves those open that it would have to count; folds of one-block steps say how they move (`folds.py`).

What never changes in a step (versions would be equal):

    null   NULL            lendable(b)   b in pool.lendable       lendable_count   len(pool.lendable)
    caching, reporting, telling   the fields of the pool          tokens(k)        k.tokens

The sort Block has the blocks of the pool, the null block, and any foreign numbers that a call names.

What a step says besides its two states, `Step` named `step`, its action named `action` (a symbol that does
not belong to the action is false, 0 or anything):

    refused             bool(step.refused)
    named(b)            how often action.blocks names b (Touch, FreeBlocks, UnpinBlocks; 0 or 1 for EvictBlocks)
    named_ahead(a, b)   both named, the last naming of a is before the last naming of b
    block, watcher      action.block, action.watcher, of the actions that have them
    source, target      of MoveBlockHashes
    count               of GetNewBlocks
    key                 action.key of CachePartialBlock
    rewritten           action.replace_existing of CachePartialBlock
    bad_range           the same word in the guards of CacheFullBlocks and CachePartialBlock
    chosen(b, k)        CacheFullBlocks: (p, b) in action.chosen().items() and action.key(p) == k; nothing if bad_range
    asked(k)            GetCachedBlock: k == Key(action.prefix, g) for a group g
    handed(b)           step.answer.blocks.count(b), the answer a Handed
    handed_ahead(a, b)  both handed, the first place of a in step.answer.blocks is before that of b
    told(b, w)          (b, w) in step.told
    done                step.answer of CancelWatch and IsBlockWritable, step.answer.done of ResetPrefixCache;
                        step.answer is not None for CachePartialBlock and GetCachedBlock
    number              step.answer of GetNumFreeBlocks
    answered(k, b)      GetCachedBlock: b is the answer for a group whose asked key is k
    stored(k)           how often k is among the keys of the Stored in step.emitted
    removed(k)          how many Removed(k) are in step.emitted
    cleared             Cleared() in step.emitted
    parent(k)           a Stored in step.emitted names k as its parent

Not in the vocabulary: the tokens and extras of a prefix, the block size, and the order of events within one step.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import z3

Block = z3.DeclareSort("Block")
Key = z3.DeclareSort("Key")
Watcher = z3.DeclareSort("Watcher")
Slot = z3.DeclareSort("Slot")
Event = z3.DeclareSort("Event")
SORTS = (Block, Key, Watcher, Slot, Event)
"""All uninterpreted sorts, in the order in which small counterexamples bound them."""

TRUTH, NUMBER = z3.BoolSort(), z3.IntSort()

SIGNATURES: Mapping[str, tuple[Any, ...]] = {
    "counted": (Block, TRUTH),
    "refs": (Block, NUMBER),
    "places": (Block, NUMBER),
    "ahead": (Block, Block, TRUTH),
    "free": (NUMBER,),
    "held": (NUMBER,),
    "published": (Block, TRUTH),
    "primary": (Block, Key, TRUTH),
    "coverage": (Block, NUMBER),
    "aliased": (Block, TRUTH),
    "alias": (Block, Key, TRUTH),
    "indexed": (Key, TRUTH),
    "findable": (Key, Block, TRUTH),
    "copies": (Key, NUMBER),
    "listed": (Block, TRUTH),
    "watched": (Block, Watcher, TRUTH),
    "posted": (Slot, Event, TRUTH),
}
"""The symbols of a state: their argument sorts and, last, the sort of their value."""

COUNTERS = frozenset({"free", "held", "copies"})
"""Numbers of members of sets that the other symbols give."""


@dataclass(frozen=True)
class State:
    """One version of every symbol of the state."""

    counted: Any
    refs: Any
    places: Any
    ahead: Any
    free: Any
    held: Any
    published: Any
    primary: Any
    coverage: Any
    aliased: Any
    alias: Any
    indexed: Any
    findable: Any
    copies: Any
    listed: Any
    watched: Any
    posted: Any

    @classmethod
    def version(cls, mark: str) -> "State":
        """The state whose symbols end in this mark."""
        return cls(**{name: symbol(name + mark, *signature) for name, signature in SIGNATURES.items()})

    def symbols(self) -> dict[str, Any]:
        """Its symbols by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def symbol(name: str, *signature: Any) -> Any:
    """A function symbol; a constant if it takes no argument."""
    return z3.Function(name, *signature) if len(signature) > 1 else z3.Const(name, signature[0])


BEFORE = State.version("")
AFTER = State.version("'")
MIDDLE = State.version("~")  # between two steps of a fold
NEXT = State.version("~'")  # one step of the fold later

null = symbol("null", Block)
lendable = symbol("lendable", Block, TRUTH)
lendable_count = symbol("lendable_count", NUMBER)
caching = symbol("caching", TRUTH)
reporting = symbol("reporting", TRUTH)
telling = symbol("telling", TRUTH)
tokens = symbol("tokens", Key, NUMBER)

refused = symbol("refused", TRUTH)
named = symbol("named", Block, NUMBER)
named_ahead = symbol("named_ahead", Block, Block, TRUTH)
block = symbol("block", Block)
watcher = symbol("watcher", Watcher)
source = symbol("source", Block)
target = symbol("target", Block)
count = symbol("count", NUMBER)
key = symbol("key", Key)
rewritten = symbol("rewritten", TRUTH)
bad_range = symbol("bad_range", TRUTH)
chosen = symbol("chosen", Block, Key, TRUTH)
asked = symbol("asked", Key, TRUTH)
handed = symbol("handed", Block, NUMBER)
handed_ahead = symbol("handed_ahead", Block, Block, TRUTH)
told = symbol("told", Block, Watcher, TRUTH)
done = symbol("done", TRUTH)
number = symbol("number", NUMBER)
answered = symbol("answered", Key, Block, TRUTH)
stored = symbol("stored", Key, NUMBER)
removed = symbol("removed", Key, NUMBER)
cleared = symbol("cleared", TRUTH)
parent = symbol("parent", Key, TRUTH)

# Variables, only ever bound by a quantifier.
a, b, c = z3.Consts("a b c", Block)
j, k = z3.Consts("j k", Key)
w = z3.Const("w", Watcher)
s = z3.Const("s", Slot)
e, f = z3.Consts("e f", Event)


def every(*variables: Any, so: Any) -> Any:
    """For all values of these variables."""
    return z3.ForAll(list(variables), so)


def some(*variables: Any, so: Any) -> Any:
    """For at least one value of each of these variables."""
    return z3.Exists(list(variables), so)


def known(x: Any) -> Any:
    """Is it a block of this pool, the null block included?"""
    return z3.Or(x == null, lendable(x))


def has_key(state: State, x: Any, y: Any) -> Any:
    """Is it one of the keys of the block: its primary or an alias?"""
    return z3.Or(state.primary(x, y), state.alias(x, y))


def queued(state: State, x: Any) -> Any:
    """Does the block stand in the queue?"""
    return state.places(x) > 0


def writable(state: State, x: Any) -> Any:
    """The rule of `Pool.is_writable`."""
    return z3.And(x != null, state.refs(x) == 1, z3.Not(state.published(x)), z3.Not(state.listed(x)))
