"""The vocabulary of the oracle: what any block pool can be asked, and what it can answer.

It is smaller than the spec's: blocks and keys are opaque names, a key stands for a whole prefix in one group. Each call
is one record here and one JSON object on a pipe or in a trace (`wire.py`). A pool needs the first five; the others are
capabilities, and a pool is never asked for one that it does not have.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

BlockName = int | str
"""A block as its pool names it; the oracle only compares names."""


@dataclass(frozen=True, slots=True)
class Start:
    """A new pool. Answer: `Started`."""

    op: ClassVar[str] = "start"
    blocks: int  # that can be lent; what the pool reserves for itself comes on top
    caching: bool = True
    events: bool = False
    groups: int = 1


@dataclass(frozen=True, slots=True)
class Alloc:
    """Lend `count` blocks to a new user. Answer: their names, in order."""

    op: ClassVar[str] = "alloc"
    count: int


@dataclass(frozen=True, slots=True)
class Share:
    """One more reference for each naming of a block. Answer: None."""

    op: ClassVar[str] = "share"
    blocks: tuple[BlockName, ...]


@dataclass(frozen=True, slots=True)
class Free:
    """One reference less for each naming of a block, in this order. Answer: None."""

    op: ClassVar[str] = "free"
    blocks: tuple[BlockName, ...]


@dataclass(frozen=True, slots=True)
class FreeCount:
    """How many blocks can be lent now; what can be evicted counts. Answer: the number."""

    op: ClassVar[str] = "free_count"


@dataclass(frozen=True, slots=True)
class Publish:
    """Make each block findable under the key of the same position; consecutive blocks of one prefix.

    Answer: the blocks that the caller holds afterwards, one for each (a pool may put an equal block in its place).
    """

    op: ClassVar[str] = "publish"
    blocks: tuple[BlockName, ...]
    keys: tuple[str, ...]
    tokens: tuple[int, ...]  # how many tokens of the prefix each key covers
    parent: str | None = None  # the key of the prefix before the first of them
    group: int = 0


@dataclass(frozen=True, slots=True)
class PublishPartial:
    """Make a block findable under a key that ends inside it. Answer: None."""

    op: ClassVar[str] = "publish_partial"
    block: BlockName
    key: str
    tokens: int
    parent: str | None = None
    group: int = 0
    replace: bool = False  # the content was rewritten: older keys of the block go first


@dataclass(frozen=True, slots=True)
class Lookup:
    """Find the key in all of these groups. Answer: one block for each group, or None. No reference is taken."""

    op: ClassVar[str] = "lookup"
    key: str
    groups: tuple[int, ...] = (0,)


@dataclass(frozen=True, slots=True)
class Unpublish:
    """Forget the keys of these blocks. Answer: None."""

    op: ClassVar[str] = "unpublish"
    blocks: tuple[BlockName, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """All keys of `source` name `target` from now on. Answer: None."""

    op: ClassVar[str] = "move"
    source: BlockName
    target: BlockName


@dataclass(frozen=True, slots=True)
class Unpin:
    """Give references back, and be told before these blocks are reused. Answer: None."""

    op: ClassVar[str] = "unpin"
    blocks: tuple[BlockName, ...]
    watcher: str


@dataclass(frozen=True, slots=True)
class Cancel:
    """The watcher no longer wants to be told. Answer: was it watching?"""

    op: ClassVar[str] = "cancel"
    block: BlockName
    watcher: str


@dataclass(frozen=True, slots=True)
class Writable:
    """May the holder write into the block in place? Answer: yes or no."""

    op: ClassVar[str] = "writable"
    block: BlockName


@dataclass(frozen=True, slots=True)
class Reset:
    """Forget all keys. Answer: was it done?"""

    op: ClassVar[str] = "reset"


@dataclass(frozen=True, slots=True)
class Events:
    """Take the KV events since the last call. Answer: `StoredKeys`, `RemovedKeys` and `AllCleared`, oldest first."""

    op: ClassVar[str] = "events"


Call = (
    Start
    | Alloc
    | Share
    | Free
    | FreeCount
    | Publish
    | PublishPartial
    | Lookup
    | Unpublish
    | Move
    | Unpin
    | Cancel
    | Writable
    | Reset
    | Events
)

OPERATIONS: dict[str, type[Any]] = {kind.op: kind for kind in Call.__args__}
"""Each operation by its name."""

CORE = frozenset({"start", "alloc", "share", "free", "free_count"})
"""Every pool answers these. A pool without reference counts leaves out `share`."""


# --- answers ---


@dataclass(frozen=True, slots=True)
class Started:
    """The new pool. Blocks in `reserved` are never lent; `order` is the free queue, next victim first, if told."""

    capacity: int  # blocks that can be lent
    reserved: tuple[BlockName, ...] = ()
    order: tuple[BlockName, ...] | None = None


@dataclass(frozen=True, slots=True)
class StoredKeys:
    """Consecutive blocks of one prefix became findable."""

    keys: tuple[str, ...]
    parent: str | None
    tokens: int  # how many token ids came with it
    block_size: int
    group: int = 0


@dataclass(frozen=True, slots=True)
class RemovedKeys:
    """These keys lost a block each."""

    keys: tuple[str, ...]
    group: int = 0


@dataclass(frozen=True, slots=True)
class AllCleared:
    """Nothing is findable any more."""


PoolEvent = StoredKeys | RemovedKeys | AllCleared
Value = None | bool | int | Started | tuple[BlockName, ...] | tuple[PoolEvent, ...]


@dataclass(frozen=True, slots=True)
class Ok:
    """The call was done. `told`: which watchers were told, during the call, that which block is about to be reused."""

    value: Value = None
    told: tuple[tuple[BlockName, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """A normal no: the pool saw that the call is wrong, or cannot be granted, and claims that nothing changed."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """The pool failed: an exception, an assertion, a panic, a lost process. Its state is anybody's guess."""

    error: str  # the class
    message: str = ""


Reply = Ok | Refused | Fault

Party = Literal["pool", "caller", "outside the profile"]
"""Who is at fault when a law is broken."""
