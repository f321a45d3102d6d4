"""A failed induction is drawn, and the search says what it means."""

from dataclasses import replace
from typing import Any

import pytest
import z3

from blockpool.proofs.core.counterexample import walk
from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.explore.scopes import SCOPES
from blockpool.proofs.prove.pool.claims import INVARIANTS
from blockpool.proofs.prove.pool.concretize import sharpened
from blockpool.proofs.prove.pool.encoding_check import is_real, story
from blockpool.proofs.prove.pool.induction import hypotheses
from blockpool.proofs.prove.pool.models import cast_of, read, state_of, step_of
from blockpool.proofs.prove.pool.picture import picture
from blockpool.proofs.prove.pool.reachability import find
from blockpool.proofs.prove.pool.samples import Sampling, names_of, sampled_steps
from blockpool.proofs.prove.pool.step_claims import STEP_CLAIMS
from blockpool.proofs.prove.pool.structures import step_structure
from blockpool.proofs.prove.pool.transition import Transition
from blockpool.proofs.prove.pool.transitions import TRANSITIONS
from blockpool.proofs.prove.pool.triage import Finding, triage
from blockpool.proofs.prove.pool.vocabulary import AFTER, BEFORE, SORTS, State, b, every, k, named, tokens
from blockpool.proofs.prove.solve import Condition, Outcome, decide
from blockpool.spec import (
    NULL,
    BlockId,
    CachePartialBlock,
    EvictBlocks,
    FreeBlocks,
    GetNewBlocks,
    GroupId,
    Key,
    MoveBlockHashes,
    Pool,
    Prefix,
    Primary,
    Touch,
    UnpinBlocks,
    Watcher,
    first_state,
)

ONE, TWO, THREE = BlockId(1), BlockId(2), BlockId(3)
SHORT, LONG = Key(Prefix((0,)), GroupId(0)), Key(Prefix((0, 1)), GroupId(0))


def condition(claim: str, goal: Any, transition: Transition, without: str = "") -> Condition:
    known = {name: formula for name, formula in hypotheses(transition).items() if name != without}
    return Condition(f"{claim}: {transition.name}", known, goal, SORTS)


def of_invariant(claim: str, kind: type[Any], without: str) -> Condition:
    return condition(claim, INVARIANTS[claim](AFTER), TRANSITIONS[kind], without)


WEAKENED = [
    ("queued_blocks_are_unheld", Touch, "queued_blocks_are_unheld"),
    ("unheld_blocks_are_queued", FreeBlocks, "unheld_blocks_are_queued"),
    (
        "the_index_answers_only_blocks_that_carry_the_key",
        EvictBlocks,
        "the_index_answers_only_blocks_that_carry_the_key",
    ),
    ("only_lendable_blocks_are_watched", UnpinBlocks, "only_lendable_blocks_are_watched"),
    ("no_alias_covers_more_than_the_primary", MoveBlockHashes, "coverage_is_the_length_of_the_primary_key"),
    ("a_block_is_queued_at_most_once", FreeBlocks, "queued_blocks_are_unheld"),
]


@pytest.mark.parametrize(("claim", "kind", "dropped"), WEAKENED)
def test_an_invariant_that_was_not_assumed_is_named(claim: str, kind: type[Any], dropped: str) -> None:
    weak = of_invariant(claim, kind, dropped)
    outcome = decide(weak, seeds=(0,))
    assert outcome.verdict is Verdict.REFUTED
    found = triage(weak, outcome)
    assert found.finding is Finding.NOT_ASSUMED
    assert dropped in found.broken
    assert f"It breaks {dropped}, which is not assumed." in found.text
    assert found.trace is None
    assert find(found.before or first_state(1)).calls is None


def broken_allocation() -> Transition:
    """An allocation that keeps the watchers of the block."""
    right = TRANSITIONS[GetNewBlocks]
    return replace(right, effect={**right.effect, "listed": BEFORE.listed, "watched": BEFORE.watched})


def test_a_wrong_transition_is_shown_from_a_state_that_is_reached() -> None:
    claim = "a_watcher_leaves_by_being_told_or_cancelled"
    wrong = condition(claim, STEP_CLAIMS[claim](GetNewBlocks), broken_allocation())
    found = triage(wrong, decide(wrong, seeds=(0,)))
    assert found.finding is Finding.WRONG_TRANSITION
    assert found.counterexample is None  # the spec does not break the claim
    assert found.trace is not None
    assert found.before is not None
    *_, reached, last = walk(found.trace.first, found.trace.calls)
    assert isinstance(last.action, GetNewBlocks)
    assert len(reached.after.watchers) == len(found.before.watchers) == 1
    assert "unpin_blocks([1]" in found.text
    assert "On this call the spec answers" in found.text


def test_a_false_claim_is_shown_with_the_calls_that_break_it() -> None:
    false = condition("nothing_is_ever_held", every(b, so=AFTER.refs(b) == BEFORE.refs(b)), TRANSITIONS[Touch])
    found = triage(false, decide(false, seeds=(0,)))
    assert found.finding is Finding.CLAIM_IS_FALSE
    assert found.counterexample is not None
    assert isinstance(found.counterexample.calls[-1].action, Touch)
    assert "touch(" in found.text


def test_a_missing_invariant_is_noticed() -> None:
    """Aliases are strictly shorter than the primary, which no invariant of the spec says."""

    def shorter(p: State) -> Any:
        return every(b, k, so=z3.Implies(p.alias(b, k), tokens(k) < p.coverage(b)))

    weak = condition("aliases_are_shorter", shorter(AFTER), TRANSITIONS[UnpinBlocks])
    found = triage(weak, decide(weak, seeds=(0,)))
    assert found.finding is Finding.INVARIANT_MISSING
    assert found.broken == ()
    assert "not among the" in found.text


def test_a_counterexample_counts_its_counters() -> None:
    false = condition("claim", every(b, so=named(b) == 0), TRANSITIONS[FreeBlocks])
    model = sharpened(false)
    assert model is not None
    said = read(model)
    pool = state_of(cast_of(said), "")
    assert said.symbols["free"] == len(pool.queue)
    assert said.symbols["held"] == sum(count != 0 for count in pool.refs.values())
    assert said.symbols["lendable_count"] == pool.size - 1


def test_what_is_no_step_of_a_pool_is_said_so() -> None:
    found = triage(Condition("claim: first_state", {}, z3.BoolVal(False)), Outcome(Verdict.REFUTED))
    assert found.finding is Finding.UNDRAWN
    assert "first_state is not an action" in found.text


def a_pool() -> Pool:
    return replace(
        first_state(4),
        refs={ONE: 2, TWO: 0, THREE: 0},
        queue=(THREE, TWO),
        primary={ONE: Primary(LONG, 2), TWO: Primary(SHORT, 1)},
        aliases={ONE: frozenset({SHORT})},
        index={SHORT: frozenset({ONE, TWO}), LONG: frozenset({ONE})},
        watchers={TWO: frozenset({Watcher(0), Watcher(1)})},
    )


def test_a_pool_is_drawn_as_a_row_and_block_by_block() -> None:
    assert picture(a_pool()) == (
        "queue    front [3] - [2 <0> watched] back\n"
        "block 1  2 references, not queued, primary <0 1>, aliases <0>\n"
        "block 2  0 references, queued, primary <0>, watched by 0 1\n"
        "block 3  0 references, queued\n"
        "index    <0>: 1 2;  <0 1>: 1"
    )


def test_a_broken_pool_is_drawn_as_it_is() -> None:
    broken = replace(
        first_state(2), queue=(NULL, ONE, ONE, TWO), watchers={ONE: frozenset()}, index={SHORT: frozenset()}
    )
    assert picture(replace(broken, telling=True, caching=False)) == (
        "queue    front [0] - [1 watched] - [1 watched] - [2] back\n"
        "block 0  null, queued\n"
        "block 1  0 references, queued 2 times, watched by an empty set\n"
        "block 2  queued\n"
        "index    <0>: \n"
        "         caching is disabled\n"
        "         watchers are being told at this moment"
    )


def test_a_reachable_state_is_found_up_to_names() -> None:
    """Two blocks in use; the first published, the second an allocation of the other way round."""
    pool = replace(
        first_state(3),
        refs={ONE: 0, TWO: 1},
        queue=(ONE,),
        primary={TWO: Primary(LONG, 2)},
        index={LONG: frozenset({TWO})},
    )
    search = find(pool)
    assert search.calls is not None
    assert len(search.calls) == 2
    *_, last = walk(first_state(3, reporting=False), search.calls)
    assert [*last.after.refs.values()].count(1) == 1
    assert [primary.tokens for primary in last.after.primary.values()] == [2]


def test_an_unreachable_state_is_not_found() -> None:
    lost = replace(first_state(3), queue=(ONE,))
    assert find(lost).calls is None
    assert find(lost).unsearched == ""
    empty_entry = replace(first_state(2), watchers={ONE: frozenset()})
    assert find(empty_entry).calls is None


def test_a_state_that_cannot_be_searched_for_is_left_open() -> None:
    assert find(first_state(9)).unsearched == "it is too large to search for"
    assert "does not have" in find(replace(first_state(2), queue=(THREE,))).unsearched


def test_a_partial_publication_is_written_out_as_a_call() -> None:
    right = TRANSITIONS[CachePartialBlock]
    false = condition("no_new_key", every(b, k, so=AFTER.primary(b, k) == BEFORE.primary(b, k)), right)
    found = triage(false, decide(false, seeds=(0,)))
    assert found.finding is Finding.CLAIM_IS_FALSE
    assert found.counterexample is not None
    assert isinstance(found.counterexample.calls[-1].action, CachePartialBlock)


def test_a_real_step_read_as_a_model_is_drawn_as_a_real_step() -> None:
    """What triage draws is what the model says: blocks, keys and calls are renamed, and nothing else."""
    part = SCOPES["tiny"][0]
    edges = [step for step, is_an_edge in sampled_steps(part, Sampling(20, 1, 2, 0)) if is_an_edge]
    assert len({(step.action.name, bool(step.refused)) for step in edges}) > 20
    for step in edges:
        drawn = step_of(cast_of(step_structure(step, names_of(part))), type(step.action))
        assert is_real(drawn), story(step)
        assert len(drawn.before.queue) == len(step.before.queue)
        assert sorted(drawn.after.refs.values()) == sorted(step.after.refs.values())
