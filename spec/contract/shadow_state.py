"""The books: what a correct pool of a profile must believe, kept beside it and changed in place.

Every entry costs time proportional to the call. The pool's answers decide what the profile leaves open: which free
block was lent, which copy was found. Blocks are known once the pool has named them.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from blockpool.spec.contract.calls import BlockName, Call, Start, Started
from blockpool.spec.contract.profiles import Profile, released

Entry = tuple[str, int]
"""A key in a group."""

Told = tuple[str, Entry | None, str | None, int | None]
"""One thing that events must tell: stored, removed or cleared; the entry; its known parent; the tokens it adds."""

Place = BlockName | tuple[int]
"""A place in the free queue: a block, or a number for one that was not named yet."""

COSTLY: dict[str, frozenset[str]] = {
    "under_pressure": frozenset({"alloc"}),
    "while_held": frozenset({"alloc", "free", "unpin", "publish"}),
    "at_will": frozenset(kind.op for kind in Call.__args__) - {"free_count", "lookup", "writable", "events"},
}
"""For each way in which keys can be lost, the calls that may cost blocks their keys."""


class Books:
    """References, the order of free blocks, keys, watchers, and what events must tell."""

    def __init__(self, profile: Profile, start: Start, begun: Started, *, partial: bool, reporting: bool) -> None:
        self.profile = profile
        self.caching = start.caching
        self.partial = partial  # can a block be published with part of its tokens, and later with more?
        self.reporting = reporting
        self.capacity = begun.capacity
        self.reserved = frozenset(begun.reserved)
        self.refs: dict[BlockName, int] = dict.fromkeys(begun.order or (), 0)  # of each block that is known
        self.held = 0  # blocks with a reference
        self.queue: OrderedDict[Place, None] = OrderedDict()  # free blocks, next to be lent first
        if begun.order is not None:
            self.queue.update(dict.fromkeys(begun.order))
        elif profile.has_queue:
            self.queue.update(dict.fromkeys((number,) for number in range(begun.capacity)))
        self.cached: OrderedDict[BlockName, None] = OrderedDict()  # if that is the order: free blocks with keys
        self.keys: dict[BlockName, dict[Entry, int]] = {}  # the keys of each block, and how many tokens each covers
        self.index: dict[Entry, dict[BlockName, None]] = {}  # the blocks under each key, longest first
        self.watchers: dict[BlockName, set[str]] = {}
        self.outbox: list[Told] = []
        self.present: set[Entry] = set()  # what the reader of the events believes, where copies are not told
        self.repeats: Call | None = None  # a release that named a block twice, its effect not seen yet
        self.now = 0  # calls so far
        self._costly = COSTLY.get(profile.keys_last, frozenset())  # the calls that may cost blocks their keys
        self._cost = -1  # the last such call
        self._seen: dict[BlockName, int] = {}  # when the keys of a block were certainly there, if they can be lost
        self._doubtful: set[BlockName] = set()  # blocks that have a key only if another one had lost it

    # --- what is known ---

    @property
    def free(self) -> int:
        """How many blocks can be lent."""
        return self.capacity - self.held

    @property
    def complete(self) -> bool:
        """Are the names of all blocks known?"""
        return len(self.refs) >= self.capacity

    def coverage(self, block: BlockName) -> int:
        """How many tokens the longest key of the block covers."""
        return max(self.keys[block].values()) if block in self.keys else 0

    def tokens_of(self, entry: Entry) -> int | None:
        """How many tokens the key covers, if a block carries it."""
        for block in self.index.get(entry, ()):
            return self.keys[block][entry]
        return None

    def is_sure(self, block: BlockName) -> bool:
        """Are the keys of this block certainly still there?"""
        if not self._costly:
            return True
        if self.refs[block] and self.profile.keys_last != "at_will":
            return block not in self._doubtful
        return self._seen.get(block, -1) > self._cost

    def is_writable(self, block: BlockName) -> bool:
        """Is it held once, and nobody finds or watches it?"""
        return self.refs.get(block) == 1 and block not in self.keys and block not in self.watchers

    # --- lending ---

    def lend(self, block: BlockName) -> None:
        """A free block, already out of the queue, goes to a new user; what was cached in it is gone."""
        self.refs[block] = 1
        self.held += 1
        if block in self.keys:
            self.drop(block)

    def taken(self, call: Call) -> None:
        """The call was made, and may have cost blocks their keys."""
        if call.op in self._costly:
            self._cost = self.now

    def share(self, block: BlockName) -> None:
        """One more reference."""
        if not self.refs[block]:
            self.held += 1
            self.queue.pop(block, None)
            self.cached.pop(block, None)
        self.refs[block] += 1

    def give_back(self, blocks: Iterable[BlockName]) -> list[BlockName]:
        """One reference less for each naming; the blocks that became free, each where it was named last."""
        refs, freed = self.refs, []
        for block in blocks:
            refs[block] -= 1
            if not refs[block]:
                freed.append(block)
        self.held -= len(freed)
        return freed

    def requeue(self, freed: Sequence[BlockName], *, unpinned: bool = False) -> None:
        """Blocks that just became free take their places. Unpinned ones are the last resort at that moment."""
        if not freed:
            return
        profile, keys = self.profile, self.keys
        if profile.keys_last == "until_released":
            for block in [block for block in freed if block in keys]:
                self.drop(block)
        front, back = ((), freed) if unpinned else self._places(freed)
        self.queue.update(dict.fromkeys(back))
        for block in reversed(front):
            self.queue[block] = None
            self.queue.move_to_end(block, last=False)
        for block in freed:
            if block in keys:
                if profile.order == "lru":
                    self.cached[block] = None
                if block not in self._doubtful:
                    self.found(block)

    def _places(self, freed: Sequence[BlockName]) -> tuple[Sequence[BlockName], Sequence[BlockName]]:
        return released(
            self.profile.order,
            freed,
            caching=self.caching,
            keyed=self.keys.__contains__,
            watched=self.watchers.__contains__,
        )

    # --- keys ---

    def found(self, block: BlockName) -> None:
        """The keys of the block are certainly there at this moment."""
        if self._costly:
            self._seen[block] = self.now
            self._doubtful.discard(block)

    def enter(self, block: BlockName, entry: Entry, tokens: int, *, doubtful: bool = False) -> bool:
        """The block is found under the key from now on, or perhaps. Answers whether that must be told."""
        if doubtful:
            self._doubtful.add(block)
        carriers = self.index.setdefault(entry, {})
        first = not carriers
        carriers[block] = None
        self.keys.setdefault(block, {})[entry] = tokens
        return first or self.profile.events == "copy"

    def drop(self, block: BlockName, *, silent: bool = False) -> dict[Entry, int]:
        """The block is found under none of its keys any more."""
        entries = self.keys.pop(block, {})
        self.cached.pop(block, None)
        self._doubtful.discard(block)
        for entry in entries:
            carriers = self.index[entry]
            del carriers[block]
            if not carriers:
                del self.index[entry]
            if self.reporting and not silent and (not carriers or self.profile.events == "copy"):
                self.outbox.append(("removed", entry, None, None))
        return entries

    def withdraw(self, entry: Entry) -> None:
        """The blocks that carry this key lose it, but not their other keys."""
        for block in self.index.pop(entry, {}):
            del self.keys[block][entry]
            if not self.keys[block]:
                del self.keys[block]
                self.cached.pop(block, None)
            if self.reporting and self.profile.events == "copy":
                self.outbox.append(("removed", entry, None, None))

    def stored(self, entry: Entry, parent: str | None, adds: int | None) -> None:
        """Events must tell that a block has come under the key."""
        if self.reporting:
            known = parent if parent is not None and (parent, entry[1]) in self.index else None
            self.outbox.append(("stored", entry, known, adds))

    def forget_all(self) -> None:
        """Nothing is findable or watched any more."""
        self.keys.clear()
        self.index.clear()
        self.cached.clear()
        self._doubtful.clear()
        self.watchers.clear()
        if self.reporting:
            self.outbox.append(("cleared", None, None, None))
