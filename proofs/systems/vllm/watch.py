"""A monitor beside a live pool: every call is judged as it happens, in time proportional to the call.

    with watch(pool, "vllm-0.33"):
        ...                                # the first broken law raises WatchError, in the call that broke it

    with watch_counts(pool):
        ...                                # references and the number of free blocks only, at a tenth of the cost

The judge keeps books of its own and never looks into the pool, so a defect cannot hide by being consistent.
"""

import logging
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from blockpool.proofs.oracle.audit import REMEMBERED, TOLD, concerned, describe
from blockpool.proofs.oracle.light_monitor import Counting
from blockpool.proofs.systems.vllm.instrument import Tap, operations_of
from blockpool.spec.contract.call_text import answered, shown
from blockpool.spec.contract.calls import Call, Ok, Reply, Start, Started
from blockpool.spec.contract.judge import Judge
from blockpool.spec.contract.owners import Owners
from blockpool.spec.contract.profiles import Profile
from blockpool.spec.contract.violation import Breach

logger = logging.getLogger("blockpool.watch")

STACKS = 1000
"""Of so many calls the stacks are kept, if they are wanted at all."""


class WatchError(RuntimeError):
    """A law is broken: the message names the call, the law, who is at fault, and what happened to the block."""

    def __init__(self, breach: Breach, message: str) -> None:
        super().__init__(message)
        self.breach = breach


OnBreach = Literal["raise", "log"] | Callable[[Breach, str], None]


class Watch:
    """The monitor. `owner` says who makes the calls, until it is changed; None: nobody in particular."""

    def __init__(self, profile: str | Profile, on_breach: OnBreach, operations: frozenset[str], stacks: bool) -> None:
        self.owner: str | None = None
        self.calls = 0
        self.breach: Breach | None = None
        self._profile, self._on_breach, self._operations = profile, on_breach, operations
        self._judge: Judge
        self._owners = Owners()
        self._stacks: deque[tuple[int, str]] | None = deque(maxlen=STACKS) if stacks else None

    def heard(self, call: Call, reply: Reply) -> None:
        """One call and its reply. After the first breach nothing is judged any more."""
        if self.breach is not None:
            return
        if isinstance(call, Start):
            assert isinstance(reply, Ok)
            assert isinstance(reply.value, Started)
            self._judge = Judge(self._profile, call, reply.value, self._operations, REMEMBERED)
            return
        self.calls += 1
        if self._stacks is not None:
            self._stacks.append((self.calls, "".join(traceback.format_stack(limit=12)[:-3])))
        self.breach = self._judge.judge(call, reply)
        if self.owner is not None:
            self.breach = self.breach or self._owners.judge(call, reply, self.owner)
        if self.breach is not None:
            tell(self._on_breach, self.breach, self._message(self.breach, call))

    def _message(self, breach: Breach, call: Call) -> str:
        rows = in_words(breach, self.calls)
        stacks = dict(self._stacks or ())
        for block in concerned(breach, call):
            rows.append(describe(self._judge, block))
            for number, past, reply in self._judge.history(block)[-TOLD:]:
                rows.append(f"  call {number}: {shown(past)} {answered(reply)}")
                rows += [f"    {line}" for line in stacks.get(number, "").splitlines()]
        return "\n".join(rows)


def in_words(breach: Breach, number: int) -> list[str]:
    """What is broken, in which call, and by whom."""
    who = breach.party if breach.party == "outside the profile" else f"{breach.party} at fault"
    return [f"call {number}: {breach.words}", f"law: {breach.law}. {breach.sentence}", who]


def tell(on_breach: OnBreach, breach: Breach, message: str, then: str = "The pool is no longer watched.") -> None:
    """Raise, log or hand on; `then` says how it goes on if it is logged."""
    if callable(on_breach):
        on_breach(breach, message)
    elif on_breach == "log":
        logger.error("%s\n%s", message, then)
    else:
        raise WatchError(breach, message)


@contextmanager
def watch(
    pool: Any, profile: str | Profile = "strict", *, on_breach: OnBreach = "raise", stacks: bool = False
) -> Iterator[Watch]:
    """Watch a live pool with vLLM's interface while the context lasts. The pool must be new.

    `on_breach`: raise WatchError (in the call that breaks the law, after the pool has done it), log it, or a function
    of the breach and the message. `stacks`: also keep where the last calls came from; costs ten times as much.
    """
    watching = Watch(profile, on_breach, operations_of(pool), stacks)
    tap = Tap(pool, watching.heard)
    try:
        yield watching
    finally:
        tap.close()


@contextmanager
def watch_counts(pool: Any, *, on_breach: OnBreach = "raise") -> Iterator[Counting]:
    """As `watch`, at a small part of its cost: only that blocks are lent to one user at a time and given back once."""
    counting = Counting(pool, lambda breach: tell(on_breach, breach, "\n".join(in_words(breach, counting.calls))))
    try:
        yield counting
    finally:
        counting.close()
