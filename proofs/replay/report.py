"""What came of a replay."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

Verdict = Literal["agreed", "refuted", "interrupted", "timed"]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The pool did what the spec does not allow, or failed: in which call, and how."""

    call: int  # the number of the pool call, counted from 1
    action: str
    words: str


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """The figures of one replay. If it was cut short, they are what was counted until then."""

    blocks: int  # that can be lent: the null block comes on top
    block_size: int
    concurrency: int
    lockstep: bool
    events: bool  # did the pool report events?
    requests: int  # given; finished and skipped ones are among them
    finished: int
    skipped_too_large: int
    preemptions: int
    prompt_tokens: int  # of all requests that were started
    hit_tokens: int  # of these, found in the cache; counted at the first start, not after a preemption
    evictions: int  # cached blocks that were handed out for something else
    peak_used: int  # most blocks held at a time
    calls_by_method: dict[str, int]
    seconds: float  # spent inside pool calls
    full_comparisons: int  # of the whole state
    leaked_blocks: int | None  # still held after the last request; None if it was not reached
    mismatch: Mismatch | None
    interrupted: bool

    @property
    def hit_rate(self) -> float:
        """The share of prompt tokens that were found in the cache."""
        return self.hit_tokens / self.prompt_tokens if self.prompt_tokens else 0.0

    @property
    def calls(self) -> int:
        return sum(self.calls_by_method.values())

    @property
    def calls_per_second(self) -> float:
        return self.calls / self.seconds if self.seconds else 0.0

    @property
    def verdict(self) -> Verdict:
        """`timed` says that nothing was compared: the pool ran alone, to the end, and without leaks."""
        if self.mismatch is not None or self.leaked_blocks:
            return "refuted"
        if self.interrupted:
            return "interrupted"
        return "agreed" if self.lockstep else "timed"

    def as_dict(self) -> dict[str, Any]:
        """All of it for JSON, the derived figures included."""
        return {
            "verdict": self.verdict,
            **asdict(self),
            "hit_rate": self.hit_rate,
            "calls": self.calls,
            "calls_per_second": self.calls_per_second,
        }
