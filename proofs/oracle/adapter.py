"""What the author of a pool writes so that the oracle can drive it.

An adapter is a class with a method for each operation that the pool has, named as in `calls.py`:

    class MyPool:
        name = "my pool 1.2"
        profile = "lru"                                  # a name of blockpool.spec.contract.profiles, or a Profile

        def start(self, blocks, caching, events, groups):    # a NEW pool; called often
            self.pool = ...
            return Started(capacity=blocks)
        def alloc(self, count): ...                      # names of the blocks, or raise Refusal
        def share(self, blocks): ...
        def free(self, blocks): ...
        def free_count(self): ...

A pool with a prefix index also has `publish(blocks, keys, tokens, parent, group)` and `lookup(key, groups)`. Each
further method is a capability. What callbacks say during a call goes to `self.told.append((block, watcher))`.

A normal no is `raise Refusal(reason)`. Anything else that is raised, panics of compiled pools included, is the pool's
fault.
"""

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Protocol

from blockpool.spec.contract.calls import CORE, OPERATIONS, BlockName, Call, Fault, Ok, Refused, Reply, Start, Started

if TYPE_CHECKING:
    from blockpool.spec.contract.profiles import Profile


class Refusal(Exception):  # noqa: N818  a normal no is not an error
    """The pool refuses the call, and nothing has changed."""


class Adapter(Protocol):
    """The part every pool has. `share` is left out by pools without reference counts."""

    @property
    def name(self) -> str:
        """What is under test, with its version. A class attribute will do."""

    @property
    def profile(self) -> "str | Profile":
        """What the pool promises. A class attribute will do."""

    def start(self, blocks: int, caching: bool, events: bool, groups: int) -> Started:
        """A new pool with room for `blocks` blocks. Raise Refusal for a setting that the pool does not have."""

    def alloc(self, count: int) -> Sequence[BlockName]:
        """Lend `count` blocks."""

    def free(self, blocks: Sequence[BlockName]) -> None:
        """Give back one reference for each naming of a block."""

    def free_count(self) -> int:
        """How many blocks can be lent now."""


_ARGUMENTS = {op: tuple(argument.name for argument in fields(kind)) for op, kind in OPERATIONS.items()}


class Subject(Protocol):
    """A pool under test, wherever it lives: in this process, or at the other end of a pipe (`pipe.py`)."""

    name: str
    profile: "str | Profile"
    operations: frozenset[str]

    def ask(self, call: Call) -> Reply:
        """One call, and whatever comes of it: never raises, except for Ctrl-C. `Start` makes a new pool."""

    def close(self) -> None:
        """The subject is no longer needed."""


class InProcess:
    """A Python adapter as a subject."""

    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter
        self.name = adapter.name
        self.profile = adapter.profile
        self.operations = capabilities(adapter)

    def ask(self, call: Call) -> Reply:
        """Call the adapter's method. A compiled pool may panic with no Exception, hence BaseException."""
        told: list[tuple[BlockName, str]] = []
        self.adapter.told = told  # type: ignore[attr-defined]
        try:
            value = getattr(self.adapter, call.op)(*[getattr(call, name) for name in _ARGUMENTS[call.op]])
        except Refusal as refusal:
            return Refused(str(refusal))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  a panic is a verdict, not our failure
            return Fault(type(error).__name__, str(error)[:500])
        return Ok(tuple(value) if isinstance(value, list) else value, tuple(told))

    def close(self) -> None:
        """Nothing to do: the adapter is an object like any other."""


def capabilities(adapter: Adapter) -> frozenset[str]:
    """The operations that the adapter has. Raises TypeError if one of the core is missing."""
    has = frozenset(op for op in OPERATIONS if callable(getattr(adapter, op, None)))
    missing = sorted(CORE - {"share"} - has)
    if missing:
        raise TypeError(f"{type(adapter).__name__} has no method {', '.join(missing)}; see proofs/oracle/adapter.py")
    return has


def started(subject: Subject, start: Start) -> Started | Refused | Fault:
    """A new pool, or why there is none."""
    reply = subject.ask(start)
    if not isinstance(reply, Ok):
        return reply
    if not isinstance(reply.value, Started):
        return Fault("TypeError", f"start answered {reply.value!r}, not a Started")
    return reply.value
