"""Public bug reports, and the defects of vLLM that were executed: data, read from the JSON files of this folder.

Ids are those of our survey of public trackers; numbers are small and made up. Calls and replies are written as in
`oracle/wire.py`. Of a block pool's report only the last line breaks a law.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from blockpool.proofs.oracle.trace import Entry, Header, read_trace
from blockpool.proofs.oracle.wire import read_call, read_reply
from blockpool.spec.contract.calls import Call, Party, Reply, Started
from blockpool.spec.contract.profiles import PROFILES, Profile

HERE = Path(__file__).parent
TRACES = HERE / "vllm-0.33"

Document = dict[str, Any]
Verdict = tuple[str, Party] | None
"""The law and the party at fault; None: nothing is wrong."""


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of a file."""

    id: str


@dataclass(frozen=True, slots=True)
class Line:
    """A call and its reply; in the last line, the right reply, or what a right caller does in place of the call."""

    call: Call
    reply: Reply
    right: Reply | None = None
    instead: tuple[Call, ...] | None = None
    owner: str | None = None
    pool: str = ""


class PoolReport(_Record, frozen=True):
    """What happened, the law that names it, who is at fault, and what shows it: a run, KV events, or a key function."""

    happened: str
    law: str
    party: Party
    release: str = ""  # of vLLM, if its pool gave these very replies
    note: str = ""
    profile: str = "index"
    changed: dict[str, str] = {}
    blocks: int = 3  # of each pool
    caching: bool = True
    events: bool = False
    begun: Started | None = None  # if not the usual
    lines: tuple[Document, ...] = ()
    stream: tuple[Document, ...] = ()  # KV events as a server sends them; the last one cannot be true
    right_end: tuple[Document, ...] = ()  # what belongs in place of the last
    per_copy: bool = True  # how the consumer reads them

    @property
    def judged_by(self) -> Profile:
        """The profile of the faulty system."""
        return replace(PROFILES[self.profile], **self.changed)

    @property
    def run(self) -> tuple[Line, ...]:
        """The calls and replies of the faulty system."""
        return tuple(map(_line, self.lines))


class RequestReport(_Record, frozen=True):
    """What happened, the claim that notices it, and what was not kept; or why the machine cannot say it."""

    happened: str
    claim: str = ""
    rule: str = ""  # a field of spec.Rules, or an obligation
    not_expressible: str = ""


class RequestReports(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Reports that need requests to be seen, and the obligations of who serves them, in words."""

    obligations: dict[str, str]
    reports: tuple[RequestReport, ...]


class Defect(_Record, frozen=True):
    """A defect of vLLM's pool: what happens, and what an audit of its trace says under three profiles."""

    what: str
    strict: Verdict  # what our spec promises
    own: Verdict  # what vLLM 0.33 promises
    damage: Verdict  # the same if a wrong call, however it is answered, may change nothing
    behind_its_back: dict[int, str] = {}

    @property
    def file(self) -> Path:
        """The calls, and what vLLM 0.33.0 answered."""
        return TRACES / f"{self.id}.jsonl"

    def trace(self) -> tuple[Header, Iterator[Entry]]:
        """The file, read."""
        return read_trace(self.file.read_bytes().splitlines(keepends=True))


class VllmDefects(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The defects that were executed, and what no trace can show, and why."""

    executed: tuple[Defect, ...]
    below_the_vocabulary: dict[str, str]


@cache
def pool_reports() -> tuple[PoolReport, ...]:
    """Every report that a block pool alone shows: about lending and counts, then about keys, order and events."""
    files = [HERE / "pool_lending.json", HERE / "pool_keys.json"]
    return tuple(report for file in files for report in msgspec.json.decode(file.read_bytes(), type=list[PoolReport]))


@cache
def request_reports() -> RequestReports:
    """Every report that needs requests to be seen."""
    return msgspec.json.decode((HERE / "requests.json").read_bytes(), type=RequestReports)


@cache
def vllm_defects() -> VllmDefects:
    """What was executed on the pool of vLLM 0.33.0."""
    return msgspec.json.decode((HERE / "vllm_defects.json").read_bytes(), type=VllmDefects)


def _line(written: Document) -> Line:
    call = read_call(written["call"])
    replies: Document = {name: read_reply(call.op, written[name]) for name in ("reply", "right") if name in written}
    instead = tuple(map(read_call, written["instead"])) if "instead" in written else None
    return Line(**(written | {"call": call, "instead": instead} | replies))
