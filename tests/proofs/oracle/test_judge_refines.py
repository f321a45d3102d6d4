"""The judge of profile `strict` and the spec are the same: on every edge of small scopes, in both directions."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from blockpool.proofs.bindings.call_of_action import call_of, reply_of
from blockpool.proofs.explore.scopes import SCOPES, Scope, vocabulary
from blockpool.proofs.explore.search import explore
from blockpool.spec import Pool, Reason, Step, steps
from blockpool.spec.contract import calls
from blockpool.spec.contract.calls import Call, Ok, Refused, Reply
from blockpool.spec.contract.preconditions import wrong
from tests.proofs.oracle.spec_as_pool import judge_in, state_of

PARTS = [part for part in SCOPES["tiny"] if not part.nested]

SAMPLE = 40
"""States looked at in each scope; all of them if there are fewer."""


@cache
def states(part: Scope) -> list[Pool]:
    found = [state for state in explore(part, depth=5).states if not state.telling]
    return found[:: max(1, len(found) // SAMPLE)]


def edges(part: Scope) -> Iterator[tuple[Pool, Call, Step]]:
    assert len(states(part)) >= min(SAMPLE, 30)
    for pool in states(part):
        for action in vocabulary(part):
            call = call_of(pool, action)
            if call is not None:
                for step in steps(pool, action):
                    yield pool, call, step


def perturbed(call: Call, reply: Reply, pool: Pool) -> Iterator[Reply]:
    """Answers that differ a little from the one given, and that nobody may give."""
    if isinstance(reply, Refused):
        yield Ok(())
        return
    assert isinstance(reply, Ok)
    yield Refused("no")
    yield replace(reply, told=(*reply.told, (1, "reader 7")))
    if reply.told:
        yield replace(reply, told=reply.told[1:])
        yield replace(reply, told=(*reply.told, reply.told[0]))
    value = reply.value
    if isinstance(value, bool):
        yield replace(reply, value=not value)
    elif isinstance(value, int):
        yield replace(reply, value=value + 1)
        yield replace(reply, value=value - 1)
    elif isinstance(value, tuple) and value:
        yield replace(reply, value=value[:-1])
        yield replace(reply, value=(*value, value[-1]))
        if isinstance(call, calls.Alloc) and len(value) > 1:
            yield replace(reply, value=value[::-1])
        if isinstance(call, calls.Alloc | calls.Lookup | calls.Publish):
            yield replace(reply, value=(*value[:-1], pool.size))
            yield replace(reply, value=(*value[:-1], 0 if value[-1] else pool.size))
        if isinstance(call, calls.Events):
            yield from map(Ok, false_events(value))
    elif isinstance(call, calls.Lookup) and call.groups:
        yield replace(reply, value=tuple(1 for _ in call.groups))
    if isinstance(call, calls.Lookup) and value:
        yield replace(reply, value=None)


def false_events(value: tuple[calls.PoolEvent, ...]) -> Iterator[tuple[calls.PoolEvent, ...]]:
    first, rest = value[0], value[1:]
    if isinstance(first, calls.StoredKeys):
        yield (replace(first, tokens=first.tokens + 1), *rest)
        yield (replace(first, parent="nobody"), *rest)
        yield (replace(first, group=9), *rest)
        yield (replace(first, keys=("other",) * len(first.keys)), *rest)
    yield (*value, calls.AllCleared())


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_the_judge_accepts_what_the_spec_answers_and_follows_it(part: Scope) -> None:
    for pool, call, step in edges(part):
        judge = judge_in(pool)
        assert judge.judge(call, reply_of(step)) is None, (pool, call, step)
        assert state_of(judge.books, pool) == state_of(judge_in(step.after).books, pool), (pool, call)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_the_judge_and_the_spec_agree_on_who_is_wrong(part: Scope) -> None:
    for pool, call, step in edges(part):
        found = wrong(judge_in(pool).books, call)
        if found is None:
            assert step.refused <= {Reason.NOT_ENOUGH_FREE}, (pool, call)
        else:
            assert found.reason in step.refused, (pool, call)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_the_judge_rejects_what_the_spec_does_not_answer(part: Scope) -> None:
    tried = 0
    for pool, call, step in edges(part):
        for other in perturbed(call, reply_of(step), pool):
            tried += 1
            breach = judge_in(pool).judge(call, other)
            assert breach is not None, (pool, call, other)
            assert breach.party in ("pool", "outside the profile")
    assert tried > 1000


def test_an_edge_of_each_kind_is_looked_at() -> None:
    kinds = {type(call) for part in PARTS for _, call, _ in edges(part)}
    assert kinds == set(calls.Call.__args__) - {calls.Start}
