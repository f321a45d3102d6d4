"""The table of conditions is complete: every action and the start, against every claim of the spec."""

import pytest
import z3

from blockpool.proofs.prove.pool.claims import INVARIANTS
from blockpool.proofs.prove.pool.induction import START, STATE_CLAIMS, table
from blockpool.proofs.prove.pool.possibilities import AT_WORK, POSSIBLE
from blockpool.proofs.prove.pool.step_claims import STEP_CLAIMS, NotSaid
from blockpool.proofs.prove.pool.transitions import TRANSITIONS
from blockpool.proofs.prove.pool.vocabulary import COUNTERS, SIGNATURES, State
from blockpool.spec import ACTIONS, CLAIMS, POSSIBILITIES, STEP_PROPERTIES
from blockpool.spec import INVARIANTS as SPEC_INVARIANTS


def names(claims):
    return {claim.name for claim in claims}


def test_every_claim_and_action_of_the_spec_has_its_formula():
    assert INVARIANTS.keys() == names(SPEC_INVARIANTS)
    assert STEP_CLAIMS.keys() == names(STEP_PROPERTIES)
    assert POSSIBLE.keys() == names(POSSIBILITIES)
    assert TRANSITIONS.keys() == set(ACTIONS) == AT_WORK.keys()


def test_every_action_stands_against_every_claim():
    rows = table()
    actions = {START, *(action.name for action in ACTIONS)}
    assert {(action, claim) for action in actions for claim in names(CLAIMS)} <= rows.keys()
    assert all(row.reason if isinstance(row, NotSaid) else row for row in rows.values())


def test_what_is_not_proved_says_why():
    rows = table()
    proved = {claim for (_, claim), row in rows.items() if not isinstance(row, NotSaid)}
    assert names(CLAIMS) - proved - names(POSSIBILITIES) == {"stored_events_name_their_tokens"}
    for claim in STATE_CLAIMS:
        assert not any(isinstance(rows[action, claim], NotSaid) for action in (START, *(a.name for a in ACTIONS)))


def test_the_names_of_conditions_differ_and_begin_with_claim_and_action():
    for (action, claim), row in table().items():
        if not isinstance(row, NotSaid):
            conditions = [condition.name for condition in row]
            assert len(set(conditions)) == len(conditions)
            assert all(name.split(": ")[:2] == [claim, action] for name in conditions)


@pytest.mark.parametrize("transition", TRANSITIONS.values(), ids=lambda transition: transition.name)
def test_a_transition_speaks_of_every_field_and_every_reason(transition):
    assert transition.reasons.keys() == transition.action.reasons
    formulas = transition.formulas()
    assert {f"effect: {field}" for field in SIGNATURES} <= formulas.keys()
    assert all(z3.is_bool(formula) for formula in formulas.values())
    open_fields = {field for field, law in transition.effect.items() if law is None}
    assert open_fields <= COUNTERS


def test_the_versions_of_a_state_share_no_symbol():
    one, other = State.version("").symbols(), State.version("'").symbols()
    assert one.keys() == SIGNATURES.keys()
    assert not {str(symbol) for symbol in one.values()} & {str(symbol) for symbol in other.values()}
