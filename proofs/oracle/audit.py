"""A trace judged offline, in linear time: the longest prefix that the profile allows, and what came then.

The first pass only judges. If it finds a breach, a second one goes to the call before it, to say what would have been
right there and what had happened to the block.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from blockpool.proofs.core.strict_json import FormatError
from blockpool.proofs.oracle.trace import CutOffError, Entry, Header, read_trace
from blockpool.spec.contract.call_text import answered, shown
from blockpool.spec.contract.calls import BlockName, Call, Ok, Start, Started
from blockpool.spec.contract.judge import Judge
from blockpool.spec.contract.owners import Owners
from blockpool.spec.contract.profiles import Profile, profile_of
from blockpool.spec.contract.violation import Breach, blocks_of

REMEMBERED = 10_000
"""Calls in which to look for the past of a block."""

TOLD = 8
"""So many of them are told."""


@dataclass
class Audit:
    """What came of a trace."""

    header: Header
    profile: Profile
    calls: int = 0  # that are allowed, the last one before the breach included
    pools: int = 0
    wrong_calls: int = 0  # wrong calls that the pools refused or ignored, as the profile wants
    breach: Breach | None = None
    entry: Entry | None = None  # the line that breaks the law
    expected: str = ""  # what would have been right there
    state: list[str] = field(
        default_factory=list
    )  # the blocks concerned before the call, and the calls that named them
    cut_off: int | None = None  # the number of a last line without an end

    def story(self) -> str:
        """All of it, for a person."""
        if self.breach is None or self.entry is None:
            return ""
        who = "outside the profile" if self.breach.party == "outside the profile" else f"{self.breach.party} at fault"
        rows = [
            f"line {self.entry.line}: {self.breach.words}",
            f"law: {self.breach.law}. {self.breach.sentence}",
            f"{who}; profile {self.profile.name}",
            f"right would have been: {self.expected}" if self.expected else "",
            *self.state,
        ]
        return "\n".join(filter(None, rows))


def audit(path: Path, profile: str | Profile | None = None, progress: Callable[[int], None] | None = None) -> Audit:
    """Judge the trace in this file, by this profile or by the one it names.

    Raises FormatError for a line that is not of the format, ValueError for an unknown profile, OSError.
    """
    with path.open("rb") as file:
        header, entries = read_trace(file)
        found = Audit(header, profile_of(profile or header.profile or "safety"))
        _judge(found, entries, progress)
    if found.entry is not None:
        with path.open("rb") as file:
            _explain(found, read_trace(file)[1])
    return found


def _judge(found: Audit, entries: Iterable[Entry], progress: Callable[[int], None] | None) -> None:
    judge: Judge | None = None
    owners = Owners()
    try:
        for entry in entries:
            if isinstance(entry.call, Start):
                found.wrong_calls += judge.wrong_calls if judge is not None else 0
                judge, owners = _begun(found, entry), Owners()
            elif judge is None:
                raise FormatError("a trace begins with start: which pool is called here?", "call.op", entry.line)
            else:
                found.breach = judge.judge(entry.call, entry.reply)
                found.breach = found.breach or owners.judge(entry.call, entry.reply, entry.owner)
            if found.breach is not None:
                found.entry = entry
                break
            found.calls += 1
            if progress is not None and found.calls % 10_000 == 0:
                progress(found.calls)
    except CutOffError as error:
        found.cut_off = error.line
    found.wrong_calls += judge.wrong_calls if judge is not None else 0


def _begun(found: Audit, entry: Entry, history: int = 0) -> Judge | None:
    """The judge of the pool that starts here; None if it was refused."""
    assert isinstance(entry.call, Start)
    if not isinstance(entry.reply, Ok):
        return None
    assert isinstance(entry.reply.value, Started)
    found.pools += not history
    try:
        return Judge(found.profile, entry.call, entry.reply.value, found.header.operations, history)
    except ValueError as error:
        raise FormatError(str(error), "reply.ok", entry.line) from error


def _explain(found: Audit, entries: Iterable[Entry]) -> None:
    """Go to the call before the breach, and look around."""
    assert found.entry is not None
    assert found.breach is not None
    judge: Judge | None = None
    for entry in entries:
        if entry.line == found.entry.line:
            break
        if isinstance(entry.call, Start):
            judge = _begun(found, entry, REMEMBERED)
        elif judge is not None:
            judge.judge(entry.call, entry.reply)
    if judge is None:
        return
    found.expected = judge.expected(found.entry.call)
    for block in concerned(found.breach, found.entry.call):
        found.state.append(describe(judge, block))
        past = judge.history(block)[-TOLD:]
        found.state += [f"  call {number}: {shown(call)} {answered(reply)}" for number, call, reply in past]


def concerned(breach: Breach, call: Call) -> list[BlockName]:
    """The block that a breach is about; if it names none, the first few of the call."""
    return [breach.block] if breach.block is not None else list(dict.fromkeys(blocks_of(call)))[:3]


def describe(judge: Judge, block: BlockName) -> str:
    """What the judge believes of a block."""
    books = judge.books
    if block not in books.refs:
        return f"block {block!r}: never seen before"
    parts = [f"{books.refs[block]} references"]
    if block in books.queue:
        parts.append(f"place {list(books.queue).index(block) + 1} of {len(books.queue)} in the free queue")
    parts += [f"key {key!r} in group {group}, {n} tokens" for (key, group), n in books.keys.get(block, {}).items()]
    parts += [f"watched by {name!r}" for name in sorted(books.watchers.get(block, ()))]
    return f"block {block!r} before: {', '.join(parts)}"
