"""Lockstep: the spec and `impl` take the same call; what came of it must be allowed, and the states must agree."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from blockpool.impl.pool import BlockPool
from blockpool.proofs.core.counterexample import Call, walk
from blockpool.proofs.refine.abstraction import abstract, differences
from blockpool.proofs.refine.correspondence import BrokenPoolError, Names
from blockpool.proofs.refine.driver import Refused, Subject
from blockpool.spec import Action, Pool, Step, first_state, settled


class MismatchError(Exception):
    """The implementation did what the spec does not allow; the message says what."""


def check_call(subject: Subject, before: Pool, action: Action[Any], allowed: Sequence[Step]) -> Pool:
    """Take one call on the implementation, judge it, and return the state both are in. Raises MismatchError."""
    try:
        outcome = subject.take(action)
        step = _matching(outcome, action, allowed)
        if subject.told() != step.told:
            raise MismatchError(f"it told {sorted(subject.told())}; the spec tells {sorted(step.told)}")
        for seen in subject.seen_inside:
            _compare("inside a watcher, ", replace(before, telling=True), seen)
        _compare("", step.after, subject.state())
    except BrokenPoolError as error:
        raise MismatchError(str(error)) from error
    except MismatchError:
        raise
    except Exception as error:
        raise MismatchError(f"it raised {type(error).__name__}: {error}") from error
    return step.after


def check_trace(first: Pool, calls: Sequence[Call]) -> Pool:
    """Run a trace on the spec and on a fresh pool of `impl`, beside another pool and alone; the last state.

    Raises MismatchError at the first difference.
    """
    _check_trace(first, calls, Names(first.unit))
    return _check_trace(first, calls, Names(first.unit, alone=True))


def _check_trace(first: Pool, calls: Sequence[Call], names: Names) -> Pool:
    subject, after = Subject(first, names), first
    for line, step in zip(calls, walk(first, calls), strict=True):
        assert isinstance(step, Step), "a trace of the pool has only steps of the pool"
        if step.before.telling:
            subject = Subject(step.before, names)
        after = check_call(subject, step.before, line.action, [step])
    return after


def check_new_pools() -> int:
    """Compare new pools of many sizes and settings with the first state; how many. Raises MismatchError."""
    settings = list(product(range(1, 10), (1, 2), (False, True), (False, True)))
    for size, unit, caching, reporting in settings:
        first = first_state(size, unit=unit, caching=caching, reporting=reporting)
        try:
            _compare("", first, abstract(BlockPool(size, caching, unit, reporting), Names(unit)))
        except BrokenPoolError as error:
            raise MismatchError(f"a new pool of {size} blocks: {error}") from error
    return len(settings)


class EdgeFollower:
    """Takes every call of a search on `impl`.

    Each call starts from a pool that was put into the state of the search. If the last call left it in that state, as
    seen from the spec, it stays as it is; should a call then fail that does not fail from a new pool, the report says
    so.
    """

    def __init__(self, unit: int, *, raising: bool = False, alone: bool = False) -> None:
        self.unit, self.raising, self.alone = unit, raising, alone
        self._subject: Subject | None = None
        self._state: Pool | None = None  # the state the subject is known to be in

    def follow(self, state: Pool, action: Action[Any], allowed: Sequence[Step]) -> str | None:
        """What differs, or None."""
        pool = state
        if self._subject is None:  # made here, since a worker process gets the follower by pickling
            self._subject = Subject(pool, Names(self.unit, alone=self.alone), raising=self.raising)
        elif pool is not self._state:
            self._subject.put_into(pool)
        words = self._check(self._subject, pool, action, allowed)
        if words is None:
            return None
        names = self._subject.names
        self._subject = None
        subject = Subject(pool, names, raising=self.raising)
        return self._check(subject, pool, action, allowed) or f"after earlier calls only: {words}"

    def _check(self, subject: Subject, pool: Pool, action: Action[Any], allowed: Sequence[Step]) -> str | None:
        self._state = None
        try:
            after = check_call(subject, pool, action, allowed)
        except MismatchError as mismatch:
            return str(mismatch)
        if after is pool:
            self._state = pool
        return None


def _matching(outcome: Any, action: Action[Any], allowed: Sequence[Step]) -> Step:
    """The step of the spec that agrees with what was observed."""
    first = allowed[0]
    if isinstance(outcome, Refused):
        if outcome.reason not in first.refused:
            wanted = " or ".join(sorted(first.refused)) or f"the answer {first.answer}"
            raise MismatchError(f"it refused ({outcome.reason}); the spec wants {wanted}")
        return first
    if first.refused:
        reasons = " or ".join(sorted(first.refused))
        raise MismatchError(f"it answered {outcome.answer}; the spec refuses ({reasons})")
    for step in allowed:
        if outcome.answer == step.answer:
            return step
    if not action.allows(first.before, outcome.answer):
        raise MismatchError(f"it answered {outcome.answer}; the spec allows {[step.answer for step in allowed]}")
    return first._replace(answer=outcome.answer, after=action.effect(first.before, outcome.answer))


def _compare(where: str, expected: Pool, seen: Pool) -> None:
    found = differences(expected, seen, settled)
    if found:
        raise MismatchError(where + "; ".join(found))
