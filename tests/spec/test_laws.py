"""What an exploration takes for granted: steps are pure, and actions are values that can be written down."""

from collections.abc import Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any

import pytest

from blockpool import spec
from blockpool.proofs.explore.scopes import SCOPES, Scope, vocabulary
from blockpool.proofs.explore.search import explore
from blockpool.spec import Action, Pool, steps

PARTS = [replace(part, blocks=min(part.blocks, 2)) for part in SCOPES["small"]]


def read_only(pool: Pool) -> Pool:
    """The same state, in maps that raise when they are written to."""
    frozen = {
        field.name: MappingProxyType(dict(value))
        for field in fields(Pool)
        if isinstance(value := getattr(pool, field.name), Mapping)
    }
    return replace(pool, **frozen)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_steps_write_into_nothing_they_are_given(part: Scope) -> None:
    found = explore(part, depth=2)
    calls = vocabulary(part)
    for pool in found.states[:: max(1, len(found.states) // 12)]:
        for action in calls:
            assert list(steps(read_only(pool), action)) == list(steps(pool, action))


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_actions_are_values_that_survive_being_written_down(part: Scope) -> None:
    names: dict[str, Any] = {}
    exec("from blockpool.spec import *", names)
    calls = vocabulary(part)
    assert len(set(calls)) == len(calls)
    for action in calls:
        again = eval(repr(action), names)
        assert again == action
        assert hash(again) == hash(action)
        assert type(again) is type(action)


def test_actions_of_different_kinds_are_different() -> None:
    assert spec.Touch((1,)) != spec.FreeBlocks((1,))
    assert spec.GetUsage() != spec.GetNumFreeBlocks()
    assert len({spec.Touch((1,)), spec.FreeBlocks((1,)), spec.Touch((1,))}) == 2


def test_actions_cannot_be_changed() -> None:
    for action in vocabulary(PARTS[0]):
        for field in fields(action):  # type: ignore[arg-type]
            with pytest.raises(AttributeError):
                setattr(action, field.name, None)


def test_names_of_actions_are_unique_and_belong_to_the_actions_listed() -> None:
    assert len({action.name for action in spec.ACTIONS}) == len(spec.ACTIONS) == 15
    assert all(isinstance(action.reasons, frozenset) for action in spec.ACTIONS)
    assert {type(action) for part in PARTS for action in vocabulary(part)} == set(spec.ACTIONS)


def test_everything_public_is_there() -> None:
    assert all(hasattr(spec, name) for name in spec.__all__)
    assert len(set(spec.__all__)) == len(spec.__all__)
    actions: tuple[type[Action[Any]], ...] = spec.ACTIONS
    assert {action.__name__ for action in actions} <= set(spec.__all__)
