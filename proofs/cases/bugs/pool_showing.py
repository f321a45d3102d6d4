"""How a report about a block pool is shown: by the calls and replies of the faulty system, judged from outside.

A `Run` is a trace whose last line the judge rejects. The same calls asked of right pools of every profile are its right
twin; where a caller is at fault, a right caller does something else. A `Stream` has only KV events, and `Confused` two
prefixes that a key function takes for one.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from json import dumps
from typing import Any

from blockpool.impl import Request
from blockpool.proofs.cases.bugs.toy_pools import Toy
from blockpool.proofs.oracle.adapter import Adapter, InProcess, started
from blockpool.proofs.oracle.kv_events import EventAudit
from blockpool.proofs.systems.ours import ImplPool
from blockpool.spec.contract.calls import (
    OPERATIONS,
    Alloc,
    BlockName,
    Call,
    Events,
    Free,
    FreeCount,
    Lookup,
    Ok,
    PoolEvent,
    Publish,
    PublishPartial,
    Reply,
    Share,
    Start,
    Started,
    Unpublish,
)
from blockpool.spec.contract.judge import Judge
from blockpool.spec.contract.owners import Owners
from blockpool.spec.contract.profiles import Profile, profile_of
from blockpool.spec.contract.violation import Breach, blocks_of

DONE = Ok()

Verdict = tuple[str, str]
"""The law and the party at fault."""


@dataclass(frozen=True, slots=True)
class Line:
    """A call and its reply; in the last line, the right reply, or what a right caller does in place of the call."""

    call: Call
    reply: Reply = DONE
    right: Reply | None = None
    instead: tuple[Call, ...] | None = None
    owner: str | None = None
    pool: str = ""

    def by(self, owner: str) -> "Line":
        return replace(self, owner=owner)

    def at(self, pool: str) -> "Line":
        return replace(self, pool=pool)


# --- the lines, in few words ---


def wanted(count: int, reply: Reply, **right: Any) -> Line:
    return Line(Alloc(count), reply, **right)


def lent(*blocks: BlockName, right: Reply | tuple[BlockName, ...] | None = None) -> Line:
    return Line(Alloc(len(blocks)), Ok(blocks), Ok(right) if isinstance(right, tuple) else right)


def shared(*blocks: BlockName, instead: tuple[Call, ...] | None = None) -> Line:
    return Line(Share(blocks), instead=instead)


def freed(*blocks: BlockName, instead: tuple[Call, ...] | None = None) -> Line:
    return Line(Free(blocks), instead=instead)


def counted(count: int, right: int | None = None) -> Line:
    return Line(FreeCount(), Ok(count), None if right is None else Ok(right))


def published(keys: str, *blocks: BlockName, tokens: int = 1, after: str | None = None, **more: Any) -> Line:
    """Blocks of so many tokens each, the first of them after the parent, if there is one."""
    start = 1 if after is None else 2
    ends = tuple(tokens * (start + place) for place in range(len(blocks)))
    return Line(Publish(blocks, tuple(keys.split()), ends, after), **{"reply": Ok(blocks), **more})


def partly(key: str, block: BlockName, tokens: int) -> Line:
    return Line(PublishPartial(block, key, tokens))


def unpublished(*blocks: BlockName) -> Line:
    return Line(Unpublish(blocks))


def found(key: str, *blocks: BlockName, right: tuple[BlockName, ...] | None = None) -> Line:
    return Line(Lookup(key), Ok(blocks or None), None if right is None else Ok(right or None))


def told(*events: PoolEvent, right: tuple[PoolEvent, ...]) -> Line:
    return Line(Events(), Ok(events), Ok(right))


# --- right pools ---


class InOrder(Toy):
    """A right pool of the lineage of vLLM, with its free queue in the order of a family of releases."""

    def __init__(self, order: str) -> None:
        self.order = order

    def queue(self, freed: list[int]) -> None:
        plain = self.order == "a" or (self.order == "c" and not self.caching)
        front = [] if plain else [block for block in freed if block not in self.keys]
        self.free_list = front + self.free_list + [block for block in freed if block not in front]


def right_pool(profile: Profile) -> InProcess:
    """A pool that keeps the profile."""
    pool: Adapter = InOrder(profile.order) if profile.order in tuple("abcd") else ImplPool()
    return InProcess(pool)


# --- the three ways to show a bug ---


@dataclass(frozen=True)
class Run:
    """Calls and replies of a faulty system. Only the last line breaks a law."""

    profile: str | Profile
    lines: tuple[Line, ...]
    blocks: int = 3  # of each pool
    caching: bool = True
    events: bool = False
    begun: Started | None = None  # if not the usual

    def shows(self) -> Verdict:
        """Judge all lines; answers what the last one breaks."""
        *good, last = self.judged(self.lines)
        assert not any(good), f"noticed before the last line: {good}"
        assert last is not None, "nothing is noticed"
        return last.law, last.party

    def right_reply_is_allowed(self) -> bool:
        """Under the same profile, the same lines with the right last reply."""
        last = self.lines[-1]
        assert last.right is not None
        return not any(self.judged((*self.lines[:-1], replace(last, reply=last.right))))

    def judged(self, lines: tuple[Line, ...]) -> Iterator[Breach | None]:
        """The breach of each line, if there is one. Owners are followed as `audit` does."""
        usual = Started(self.blocks, (0,), tuple(range(1, self.blocks + 1)))
        courts: dict[str, tuple[Judge, Owners]] = {}
        for line in lines:
            if line.pool not in courts:
                judge = Judge(self.profile, self.start, self.begun or usual, OPERATIONS)
                courts[line.pool] = judge, Owners()
            judge, owners = courts[line.pool]
            yield judge.judge(line.call, line.reply) or owners.judge(line.call, line.reply, line.owner)

    @property
    def start(self) -> Start:
        return Start(self.blocks, self.caching, self.events)

    @property
    def names_reserved(self) -> bool:
        """Does it name the null block, as only some profiles allow?"""
        return any(0 in blocks_of(line.call) for line in self.lines)

    def on_right_pools(self, profile: str, *, right_caller: bool = True) -> list[Breach]:
        """Ask right pools of the profile the same calls, or those of a right caller. What the judge says of them."""
        asked = {name: Asked(profile, self.start) for name in dict.fromkeys(line.pool for line in self.lines)}
        breaches = []
        for line in self.lines:
            calls = line.instead if right_caller and line.instead is not None else (line.call,)
            breaches += [asked[line.pool].ask(call, line) for call in calls]
        wrong_calls = sum(one.judge.wrong_calls for one in asked.values())
        assert not (right_caller and wrong_calls), "a right caller makes no wrong call"
        return [breach for breach in breaches if breach is not None]


class Asked:
    """A right pool and its judge. It may lend other blocks than the faulty one: later calls mean those."""

    def __init__(self, profile: str, start: Start) -> None:
        self.pool = right_pool(profile_of(profile))
        begun = started(self.pool, start)
        assert isinstance(begun, Started)
        self.judge, self.owners = Judge(profile, start, begun, OPERATIONS), Owners()
        self.meant: dict[BlockName, BlockName] = {}

    def ask(self, call: Call, line: Line) -> Breach | None:
        for name in ("blocks", "block"):
            if hasattr(call, name):
                call = replace(call, **{name: self._mean(getattr(call, name))})
        reply = self.pool.ask(call)
        if isinstance(call, Alloc) and isinstance(reply, Ok) and isinstance(line.reply, Ok):
            self.meant.update(zip(line.reply.value, reply.value, strict=False))  # type: ignore[arg-type]
        return self.judge.judge(call, reply) or self.owners.judge(call, reply, line.owner)

    def _mean(self, named: Any) -> Any:
        return tuple(map(self._mean, named)) if isinstance(named, tuple) else self.meant.get(named, named)


@dataclass(frozen=True)
class Stream:
    """KV events as a server sends them. The last one cannot be true, as they are read here."""

    lines: tuple[dict[str, Any], ...]
    right: tuple[dict[str, Any], ...]  # what belongs in place of the last
    per_copy: bool = True
    right_per_copy: bool = True

    def shows(self) -> list[tuple[int, str]]:
        """The findings: the place of each, and its law."""
        audit = EventAudit(self.per_copy)
        return [(one.line, one.law) for one in audit.read(map(dumps, self.lines))]

    def right_findings(self) -> list[Any]:
        return list(EventAudit(self.right_per_copy).read(map(dumps, (*self.lines[:-1], *self.right))))


@dataclass(frozen=True)
class Confused:
    """Two requests of different content that the key function of a report takes for one."""

    one: Request
    other: Request
    key: Callable[[Request], object]

    @property
    def run(self) -> Run:
        """What follows: content is published under the key of one, and the other is looked up."""
        hit = (1,) if self.key(self.one) == self.key(self.other) else ()
        return Run("index", (lent(1), published("one", 1), found("other", *hit, right=())))

    def impl_tells_them_apart(self) -> bool:
        return self.one.block_hashes[-1] != self.other.block_hashes[-1]


@dataclass(frozen=True, slots=True)
class PoolBug:
    """One report: what happened, the law that names it, who is at fault, and what shows it."""

    id: str
    happened: str
    law: str
    party: str
    shown: Run | Stream | Confused
    release: str = ""  # of vLLM, if its pool gave these very replies
