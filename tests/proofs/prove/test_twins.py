"""Formulas mean what the functions of the spec mean; and where one does not, the twins say so."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
import z3

from blockpool.proofs.core.obligation import Obligation, Verdict
from blockpool.proofs.explore.scopes import SCOPES
from blockpool.proofs.prove.pool import claims, step_claims, transitions
from blockpool.proofs.prove.pool.encoding_check import is_real, state_twins, step_twins
from blockpool.proofs.prove.pool.perturb import perturbed, step_variations, varied
from blockpool.proofs.prove.pool.samples import QUICK, Sampling, sampled_steps
from blockpool.proofs.prove.pool.structures import Names, state_structure
from blockpool.proofs.prove.pool.vocabulary import AFTER, BEFORE, b, every, known, named, some, told, w
from blockpool.spec import (
    NULL,
    BlockId,
    FreeBlocks,
    GetNewBlocks,
    GroupId,
    Handed,
    Key,
    Pool,
    Prefix,
    Primary,
    Reason,
    Step,
    Touch,
    Watcher,
    first_state,
    steps,
)

TINY = SCOPES["tiny"][:1]  # blocks, keys and a watcher
SOME = Sampling(walk=25, perturbed=2, each=1, non_edges=4)
KEY, OTHER = Key(Prefix((0,)), GroupId(0)), Key(Prefix((0, 1)), GroupId(0))


def refuted(obligations: list[Obligation]) -> list[str]:
    return [obligation.name for obligation in obligations if obligation.verdict is Verdict.REFUTED]


def test_every_formula_about_a_state_agrees_with_the_spec() -> None:
    found = state_twins(sampling=QUICK)
    assert {obligation.verdict for obligation in found} == {Verdict.HOLDS}, [o for o in found if o.words]
    assert {f"twin {name}" for name in claims.INVARIANTS} <= {obligation.name for obligation in found}


def test_every_formula_about_a_step_agrees_with_the_spec() -> None:
    found = step_twins(sampling=QUICK)
    assert {obligation.verdict for obligation in found} == {Verdict.HOLDS}, [o for o in found if o.words]
    assert {f"twin {action.name}" for action in transitions.TRANSITIONS} <= {obligation.name for obligation in found}


WRONG_STATES: Mapping[str, Callable[[Any], Any]] = {
    "a_block_is_queued_at_most_once": lambda p: every(b, so=p.places(b) <= 2),
    "unheld_blocks_are_queued": claims.queued_blocks_are_unheld,
    "only_lendable_blocks_are_watched": lambda p: every(b, w, so=z3.Implies(p.watched(b, w), known(b))),
    "no_alias_covers_more_than_the_primary": lambda p: z3.BoolVal(True),
    "every_block_is_free_or_held": lambda p: p.free <= claims.lendable_count,
}


@pytest.mark.parametrize("name", WRONG_STATES)
def test_a_wrong_invariant_is_found(name: str) -> None:
    found = state_twins({**claims.INVARIANTS, name: WRONG_STATES[name]}, TINY, SOME)
    assert refuted(found) == [f"twin {name}"]


def test_a_wrong_step_property_is_found() -> None:
    def references_change_only_as_asked(action: Any) -> Any:
        return every(b, so=AFTER.refs(b) >= BEFORE.refs(b) - named(b))

    wrong = {**step_claims.STEP_CLAIMS, "references_change_only_as_asked": references_change_only_as_asked}
    assert refuted(step_twins(wrong, parts=TINY, sampling=SOME)) == ["twin references_change_only_as_asked"]


def test_a_claim_said_to_say_nothing_is_found() -> None:
    wrong = {**step_claims.STEP_CLAIMS, "a_query_changes_nothing": lambda action: None}
    assert refuted(step_twins(wrong, parts=TINY, sampling=SOME)) == ["twin a_query_changes_nothing"]


WRONG_TRANSITIONS: Mapping[str, tuple[type[Any], dict[str, Any]]] = {
    "an effect too strict": (Touch, {"effect": {}}),
    "an effect left open": (FreeBlocks, {"effect": {**transitions.free_blocks().effect, "places": z3.BoolVal(True)}}),
    "a guard too weak": (FreeBlocks, {"reasons": {Reason.RE_ENTRANT: z3.BoolVal(False)}}),
    "a guard too strict": (Touch, {"reasons": {Reason.UNKNOWN_BLOCK: some(b, so=named(b) > 1)}}),
    "an answer left open": (GetNewBlocks, {"answer": {}}),
    "telling nobody": (GetNewBlocks, {"tells": lambda x, y: z3.And(told(x, y), z3.BoolVal(False))}),
}


@pytest.mark.parametrize("name", WRONG_TRANSITIONS)
def test_a_wrong_transition_is_found(name: str) -> None:
    kind, change = WRONG_TRANSITIONS[name]
    wrong = {**transitions.TRANSITIONS, kind: replace(transitions.TRANSITIONS[kind], **change)}
    found = step_twins({}, wrong, TINY, SOME)
    assert refuted(found) == [f"twin {kind.name}"]
    words = next(obligation.words for obligation in found if obligation.name == f"twin {kind.name}")
    assert f"{kind.name}(" in words
    assert "the function says" in words


def test_a_wrong_assumption_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        claims.FIXED, "the null block is not lendable", some(b, so=z3.Not(known(b))) == z3.BoolVal(False)
    )
    assert refuted(state_twins({}, TINY, SOME)) == ["twin the null block is not lendable"]


def test_a_twin_that_was_never_false_is_vacuous() -> None:
    no_perturbed = replace(SOME, perturbed=10**9)
    found = state_twins({"counts_are_never_negative": claims.counts_are_never_negative}, TINY, no_perturbed)
    assert found[0].verdict is Verdict.VACUOUS
    assert found[0].words == "never False on anything compared"


def test_what_is_compared_is_the_same_in_every_run() -> None:
    once, again = (list(sampled_steps(TINY[0], SOME)) for _ in range(2))
    assert once == again
    assert len(once) > 200


def test_a_perturbed_state_differs_in_one_place() -> None:
    pool = replace(
        first_state(4),
        refs={BlockId(1): 0, BlockId(2): 1, BlockId(3): 0},
        queue=(BlockId(1), BlockId(3)),
        primary={BlockId(2): Primary(OTHER, 2)},
        aliases={BlockId(2): frozenset({KEY})},
        index={KEY: frozenset({BlockId(2)}), OTHER: frozenset({BlockId(2)})},
        watchers={BlockId(3): frozenset({Watcher(0)})},
    )
    found = list(perturbed(pool, [KEY, OTHER], [Watcher(0), Watcher(1)]))
    changed = [[name for name in Pool.__dataclass_fields__ if getattr(o, name) != getattr(pool, name)] for o in found]
    assert all(len(names) == 1 for names in changed)
    fields = {"queue", "refs", "primary", "aliases", "index", "watchers", "outbox", "telling", "caching"}
    assert {name for names in changed for name in names} == fields


def test_a_step_is_real_exactly_if_the_spec_takes_it() -> None:
    pool = first_state(3)
    (step,) = steps(pool, GetNewBlocks(1))
    assert is_real(step)
    changes = step_variations(step, [KEY], [Watcher(0)])
    assert {"queue", "refs", "index", "watchers", "outbox", "answer", "choice", "refused"} <= changes.keys()
    assert not any(is_real(varied(step, what, value)) for what, values in changes.items() for value in values)
    assert not is_real(Step(pool, GetNewBlocks(1), frozenset(), Handed((BlockId(2),), frozenset()), step.after))
    assert not is_real(Step(pool, GetNewBlocks(9), frozenset(), Handed((), frozenset()), pool))


def test_a_structure_says_what_the_vocabulary_promises() -> None:
    pool = replace(
        first_state(3),
        refs={BlockId(1): 2, BlockId(2): 0},
        queue=(BlockId(2), BlockId(2)),
        primary={BlockId(1): Primary(OTHER, 2)},
        index={OTHER: frozenset({BlockId(1)}), KEY: frozenset()},
    )
    said = state_structure(pool, Names((BlockId(3),), (KEY, OTHER)))
    assert said.sorts["Block"] == (0, 1, 2, 3)
    assert said.symbols["null"] == NULL
    assert said.symbols["lendable"] == {1, 2}
    assert [said.symbols["places"][block] for block in (0, 1, 2)] == [0, 0, 2]
    assert (said.symbols["free"], said.symbols["held"]) == (2, 1)
    assert said.symbols["coverage"][BlockId(1)] == 2
    assert said.symbols["indexed"] == {KEY, OTHER}
    assert said.symbols["findable"] == {(OTHER, BlockId(1))}
    assert said.symbols["copies"][OTHER] == 1
    assert said.symbols["copies"][KEY] == 0
    assert said.symbols["tokens"] == {KEY: 1, OTHER: 2}
