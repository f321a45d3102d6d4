"""Witnesses of the claims ledger that need requests and memory: tried on the spec."""

from blockpool.proofs.explore.search import explore
from blockpool.proofs.explore.serving import SERVING_SCOPES, with_rules
from blockpool.spec import Admit, Grow, Key, Kind, RunPass, World


def a_cached_copy_ends_without_a_reference() -> None:
    """The reference on a copy belongs to the pending copy, and goes when it has run."""
    world = _stateful()
    for move in (Admit("a", 3), RunPass(), Grow("a", 4)):
        assert not move.guard(world)
        world = move.effect(world)
    ((_, copy),) = world.copies
    assert world.pool.refs[copy] == 1
    assert copy not in {block for table in world.running["a"].tables for block in table}
    assert world.pool.keys_of(copy)
    world = RunPass().effect(world)
    assert world.pool.refs[copy] == 0
    assert world.pool.queue[-1] == copy


def what_is_scheduled_is_found_before_it_is_written() -> None:
    """A key is findable when the request is admitted; memory still holds nothing."""
    world = Admit("a", 3).effect(_attention())
    (key, *_) = sorted(world.pool.index)
    assert isinstance(key, Key)
    assert all(not world.memory.get(block) for block in world.pool.index[key])


def one_block_gets_two_owners() -> None:
    """Without the rule a request reads another's content, while all maps of the pool agree."""
    windowed = next(part for part in SERVING_SCOPES["small"] if part.name == "windowed")
    found = explore(with_rules(windowed, "touch_before_allocating"), first_failure_ends=True)
    assert "the_pools_own_invariants_hold" not in found.tally.failures
    assert found.tally.failures


def _attention() -> World:
    return next(part for part in SERVING_SCOPES["small"] if part.name == "attention").first_state()


def _stateful() -> World:
    world = next(part for part in SERVING_SCOPES["small"] if part.name == "stateful").first_state()
    assert world.layout[1].kind is Kind.STATE
    return world
