"""How a report about a block pool is shown: by the calls and replies of the faulty system, judged from outside.

A `Run` is a trace whose last line the judge rejects. The same calls asked of right pools of every profile are its right
twin; where a caller is at fault, a right caller does something else. Some reports have KV events only, and `Confused`
has two prefixes that a key function takes for one.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from json import dumps
from typing import Any

from blockpool.impl.request import Adapter as LoRA
from blockpool.impl.request import Item, Request
from blockpool.proofs.cases.bugs.reports import Line, PoolReport
from blockpool.proofs.oracle.adapter import Adapter, InProcess, started
from blockpool.proofs.oracle.kv_events import EventAudit, Finding
from blockpool.proofs.systems.ours import ImplPool
from blockpool.spec.contract.calls import (
    OPERATIONS,
    Alloc,
    BlockName,
    Call,
    Lookup,
    Ok,
    Publish,
    Start,
    Started,
)
from blockpool.spec.contract.judge import Judge
from blockpool.spec.contract.owners import Owners
from blockpool.spec.contract.profiles import PROFILES, Profile, profile_of
from blockpool.spec.contract.violation import Breach, blocks_of
from tests.proofs.oracle.toy_pools import Toy

Verdict = tuple[str, str]
"""The law and the party at fault."""


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

    profile: Profile
    lines: tuple[Line, ...]
    blocks: int = 3  # of each pool
    caching: bool = True
    events: bool = False
    begun: Started | None = None  # if not the usual

    @classmethod
    def of(cls, report: PoolReport) -> "Run":
        """What a report shows by calls and replies."""
        return cls(report.judged_by, report.run, report.blocks, report.caching, report.events, report.begun)

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


def shows(report: PoolReport) -> list[tuple[int, str]]:
    """The findings in the KV events of a report: the place of each, and its law."""
    return [(one.line, one.law) for one in EventAudit(report.per_copy).read(map(dumps, report.stream))]


def right_findings(report: PoolReport) -> list[Finding]:
    """The same of what should have been sent, and read rightly."""
    return list(EventAudit().read(map(dumps, (*report.stream[:-1], *report.right_end))))


@dataclass(frozen=True)
class Confused:
    """Two requests of different content that the key function of a report takes for one."""

    one: Request
    other: Request
    key: Callable[[Request], object]

    @property
    def run(self) -> Run:
        """What follows: content is published under the key of one, and the other is looked up."""
        hit = (1,) if self.key(self.one) == self.key(self.other) else None
        published = Line(Publish((1,), ("one",), (1,)), Ok((1,)))
        return Run(PROFILES["index"], (Line(Alloc(1), Ok((1,))), published, Line(Lookup("other"), Ok(hit), Ok(None))))

    def impl_tells_them_apart(self) -> bool:
        return self.one.block_hashes[-1] != self.other.block_hashes[-1]


def a_request(tokens: tuple[int, ...] = (1, 2, 3, 4), **more: Any) -> Request:
    return Request("r", tokens, 4, **more)


def an_image(name: str, at: int) -> tuple[Item, ...]:
    return (Item(name, at, 2),)


def named(request: Request) -> str | None:
    return request.adapter.name if request.adapter is not None else None


def tokens_of(request: Request) -> tuple[int, ...]:
    return tuple(request.all_token_ids)


KEY_FUNCTIONS = {
    "HI-01": Confused(
        a_request(adapter=LoRA("X", 1)),
        a_request(cache_salt="X"),
        lambda request: (tokens_of(request), *filter(None, (named(request), request.cache_salt))),
    ),
    "HI-02": Confused(
        a_request(adapter=LoRA("a", 1)),
        a_request(adapter=LoRA("a", 2)),
        lambda request: (tokens_of(request), named(request)),
    ),
    "HI-03": Confused(
        a_request(items=an_image("cat", 0)),
        a_request(items=an_image("cat", 2)),
        lambda request: (tokens_of(request), [item.identifier for item in request.items]),
    ),
    "HI-04": Confused(
        a_request(adapter=LoRA("A", 1)),
        a_request(adapter=LoRA("B", 2)),
        lambda request: (tokens_of(request), request.cache_salt),
    ),
    "HI-05": Confused(
        a_request(items=an_image("5eed0001", 0)),
        a_request(items=an_image("5eed0002", 0)),
        lambda request: (tokens_of(request), [(item.identifier[:4], item.offset) for item in request.items]),
    ),
    "HI-06": Confused(a_request((1, 2, 3, 4)), a_request((4, 3, 2, 1)), lambda request: sum(tokens_of(request)) % 256),
}
"""What shows the reports about key functions, by their ids."""
