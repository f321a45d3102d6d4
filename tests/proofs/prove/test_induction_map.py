"""The proof map is what is recorded here: each core is inductive by itself, and nothing in it can be spared."""

from dataclasses import replace

import pytest

from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.prove.pool.claims import INVARIANTS
from blockpool.proofs.prove.pool.induction import rows_of
from blockpool.proofs.prove.pool.proof_map import DIFFERENCES, KNOWN_AS, NOTES, core_of, uses, witness
from blockpool.proofs.prove.solve import decide

ONCE, UNHELD, QUEUED = "a_block_is_queued_at_most_once", "queued_blocks_are_unheld", "unheld_blocks_are_queued"
COUNTS, COVERAGE = "counts_are_never_negative", "coverage_is_the_length_of_the_primary_key"
COUNTED = "every_lendable_block_is_counted"
PRIMARY, CARRIED = "aliases_need_a_primary", "the_index_answers_only_blocks_that_carry_the_key"

RESTS_ON = dict.fromkeys(INVARIANTS, frozenset()) | {
    "every_block_is_free_or_held": frozenset({COUNTED, ONCE, UNHELD, QUEUED, COUNTS}),
    COUNTED: frozenset({UNHELD}),
    ONCE: frozenset({UNHELD}),
    UNHELD: frozenset({ONCE}),
    QUEUED: frozenset({COUNTS}),
    "no_alias_covers_more_than_the_primary": frozenset({PRIMARY, COVERAGE}),
    "a_writable_block_cannot_be_observed": frozenset({PRIMARY, CARRIED}),
}


@pytest.mark.parametrize("claim", INVARIANTS)
def test_the_core_is_inductive_by_itself(claim):
    core = core_of(claim, RESTS_ON)
    for member in core:
        for row in rows_of(member).values():
            for condition in row:
                spared = {name: f for name, f in condition.hypotheses.items() if name not in INVARIANTS.keys() - core}
                assert decide(replace(condition, hypotheses=spared), seeds=(0,)).verdict is Verdict.HOLDS, (
                    condition.name
                )


@pytest.mark.parametrize("claim", [claim for claim, needed in RESTS_ON.items() if needed])
def test_nothing_in_the_core_can_be_spared(claim):
    found = [use for use in uses(claim) if use.indispensable]
    assert {use.invariant for use in found} == RESTS_ON[claim]


def test_the_notes_are_corrected_where_the_proofs_differ():
    differ = {
        number
        for claim, number in KNOWN_AS.items()
        if frozenset(KNOWN_AS[needed] for needed in RESTS_ON[claim]) != NOTES[number]
    }
    assert differ == DIFFERENCES.keys()


def test_a_witness_shows_the_state_that_the_invariant_rules_out():
    use = next(use for use in uses(UNHELD) if use.indispensable)
    assert use.action == "get_new_blocks"
    assert "queued 2 times" in witness(use)
