"""Verdicts: exit codes, and what a search decides of each obligation."""

from dataclasses import replace

import pytest

from blockpool.proofs.core.claim_names import DEFINED, REFINES
from blockpool.proofs.core.counterexample import Counterexample
from blockpool.proofs.core.obligation import Obligation, Verdict, exit_code
from blockpool.proofs.explore.machines import PoolMachine
from blockpool.proofs.explore.scopes import Scope
from blockpool.proofs.explore.search import Exploration, explore
from blockpool.proofs.refine.search_obligations import COUNTED, COVERED, SEARCHED, SENTENCES, decide, search
from blockpool.spec import (
    CLAIMS,
    INVARIANTS,
    POSSIBILITIES,
    STEP_PROPERTIES,
    GetNewBlocks,
    Prefix,
    Reason,
    Touch,
    first_state,
)

H, R, I, V = Verdict.HOLDS, Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.VACUOUS  # noqa: E741

ONE_BLOCK = Scope("one block", "1 watcher", 1, watchers=1, batch=2)
TWO_BLOCKS = replace(ONE_BLOCK, name="two blocks", blocks=2, watchers=2)
NESTED = replace(ONE_BLOCK, name="nested", watchers=2, nested=True)
CONTENTS = replace(ONE_BLOCK, name="contents", prefixes=(Prefix((0, 1)), Prefix((0, 2))))
UNCACHED = replace(ONE_BLOCK, name="uncached", batch=1, caching=False, reporting=False)


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        ((), 4),
        ((H,), 0),
        ((R,), 1),
        ((I,), 3),
        ((V,), 4),
        ((H, R), 1),
        ((H, I), 3),
        ((H, V), 4),
        ((R, I), 1),
        ((R, V), 1),
        ((I, V), 3),
        ((H, R, I), 1),
        ((H, R, V), 1),
        ((H, I, V), 3),
        ((R, I, V), 1),
        ((H, R, I, V), 1),
    ],
)
def test_exit_codes(verdicts: tuple[Verdict, ...], code: int) -> None:
    for order in (verdicts, verdicts[::-1], verdicts * 2):
        assert exit_code(Obligation("n", "explore", "s", verdict) for verdict in order) == code


def test_an_obligation_as_a_document() -> None:
    plain = Obligation("n", "explore", "s", H, {"judged": 3}, 1.23456)
    assert plain.as_dict() == {
        "name": "n", "method": "explore", "scope": "s", "verdict": "holds", "figures": {"judged": 3}, "seconds": 1.235
    }  # fmt: skip
    counterexample = Counterexample("c", "S.", first_state(2), (), "why")
    refuted = replace(plain, verdict=R, words="why", counterexample=counterexample).as_dict()
    assert refuted["words"] == "why"
    assert refuted["counterexample"]["claim"] == "c"


def decided(*parts: Exploration, with_impl: bool = False) -> dict[str, Obligation]:
    obligations = decide("scope", parts, with_impl=with_impl)
    return {obligation.name: obligation for obligation in obligations}


def test_every_claim_is_decided_once() -> None:
    obligations = decide("scope", [explore(ONE_BLOCK, depth=0)], with_impl=True)
    names = [obligation.name for obligation in obligations]
    assert names == [
        *(claim.name for claim in (*INVARIANTS, *STEP_PROPERTIES)),
        DEFINED,
        *(claim.name for claim in POSSIBILITIES),
        COVERED,
        COUNTED,
        REFINES,
    ]
    assert {claim.name for claim in CLAIMS} <= set(SENTENCES)


def test_holds() -> None:
    found = explore(ONE_BLOCK)
    verdicts = decided(found)
    assert verdicts["queued_blocks_are_unheld"].verdict is H
    assert verdicts["queued_blocks_are_unheld"].figures == {"judged": found.tally.tested["queued_blocks_are_unheld"]}
    assert verdicts["every_block_is_lent"].figures == {"calls": 1}
    assert verdicts[DEFINED].verdict is H


def test_vacuous_without_watchers() -> None:
    verdicts = decided(explore(replace(ONE_BLOCK, watchers=0)))
    vacuous = {name for name, obligation in verdicts.items() if obligation.verdict is V}
    assert vacuous == {
        # about watchers
        "only_lendable_blocks_are_watched",
        "a_watcher_leaves_by_being_told_or_cancelled",
        "only_unpinning_adds_watchers",
        "every_unpinned_block_is_watched",
        "a_watcher_is_told_of_a_reuse",
        "two_watchers_of_one_block_are_told",
        "a_watched_block_is_touched",
        "a_watcher_calls_back_into_the_pool",
        "an_unpinned_block_stays_held_by_another",
        # one block has no order
        "survivors_keep_their_order",
        "blocks_join_the_queue_only_at_its_ends",
        # nor a copy
        "keys_move_to_a_copy",
        "two_blocks_are_under_one_key",
        "a_lookup_has_a_choice",
        "a_stored_event_names_its_parent",
        # caching is on
        "without_caching_nothing_is_findable",
        # repeated blocks, re-entrant and uncached calls
        COVERED,
    }
    assert verdicts["only_unpinning_adds_watchers"].words == "nothing in this scope tests it"
    assert verdicts["a_lookup_has_a_choice"].words == "no step of this scope shows it"
    assert exit_code(verdicts.values()) == 4


def test_parts_add_up() -> None:
    parts = [explore(ONE_BLOCK), explore(NESTED), explore(UNCACHED)]
    verdicts = decided(*parts)
    assert verdicts["without_caching_nothing_is_findable"].verdict is H
    assert verdicts["a_watcher_calls_back_into_the_pool"].verdict is H
    judged = [part.tally.tested["queued_blocks_are_unheld"] for part in parts]
    assert verdicts["queued_blocks_are_unheld"].figures == {"judged": sum(judged)}
    assert len([one for one in decide("scope", parts, with_impl=False) if one.name == SEARCHED]) == 3


def test_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = [replace(claim, judge=lambda pool: 2 not in pool.refs.values()) for claim in INVARIANTS]
    monkeypatch.setattr(PoolMachine, "invariants", wrong)
    verdicts = decided(explore(ONE_BLOCK), explore(replace(ONE_BLOCK, batch=1)))
    obligation = verdicts["counts_are_never_negative"]
    assert obligation.verdict is R
    assert obligation.counterexample is not None
    assert len(obligation.counterexample.calls) == 1  # the shorter of the two; with batches of one it takes two calls
    assert obligation.words == obligation.counterexample.words
    assert verdicts["a_query_changes_nothing"].verdict is H
    assert exit_code(verdicts.values()) == 1


@pytest.mark.parametrize("limit", ["depth", "memory"])
def test_inconclusive(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr("blockpool.proofs.explore.search.memory_left", lambda: 0.1)
    found = explore(ONE_BLOCK, depth=0) if limit == "depth" else explore(ONE_BLOCK, memory=0.5)
    verdicts = decided(found, with_impl=True)
    for claim in (*INVARIANTS, *STEP_PROPERTIES):
        assert verdicts[claim.name].verdict is I
    for name in (DEFINED, COVERED, COUNTED, REFINES, "everything_is_free_again"):
        assert verdicts[name].verdict is I
        assert verdicts[name].words == found.stopped
    assert verdicts["every_block_is_lent"].verdict is H  # shown is shown
    assert exit_code(verdicts.values()) == 3


def test_a_failure_counts_also_if_the_search_was_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = [replace(claim, judge=lambda pool: 2 not in pool.refs.values()) for claim in INVARIANTS]
    monkeypatch.setattr(PoolMachine, "invariants", wrong)
    verdicts = decided(explore(ONE_BLOCK, depth=0))
    assert verdicts["counts_are_never_negative"].verdict is R
    assert exit_code(verdicts.values()) == 1


@pytest.mark.parametrize(("more", "verdict"), [((0, 0), H), ((0, 1), R), ((1, 0), R)])
def test_counts(more: tuple[int, int], verdict: Verdict) -> None:
    found = explore(ONE_BLOCK)
    states, steps = 24 + more[0], found.tally.steps + more[1]
    found.scope = replace(ONE_BLOCK, expected=(states, steps))
    counted = decided(found)[COUNTED]
    assert counted.verdict is verdict
    assert counted.words == ("" if verdict is H else f"recorded are {states} states and {steps:,} steps")
    assert (counted.figures["states"], counted.figures["symmetry"]) == (24, 1.0)


def test_without_counts_nothing_is_compared() -> None:
    verdicts = decided(explore(ONE_BLOCK))
    assert COUNTED not in verdicts
    assert verdicts[SEARCHED].verdict is H


def test_a_reason_that_an_action_does_not_declare_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GetNewBlocks, "reasons", frozenset({Reason.RE_ENTRANT, Reason.NOT_ENOUGH_FREE}))
    covered = decided(explore(ONE_BLOCK))[COVERED]
    assert covered.verdict is R
    assert covered.words == "refusals that the action does not declare: get_new_blocks (bad count)"


def test_what_is_never_met_is_named() -> None:
    covered = decided(explore(ONE_BLOCK))[COVERED]
    assert covered.verdict is V
    assert covered.words.startswith("never met: cache_full_blocks (caching disabled), ")
    assert covered.figures["of"] == 51


def test_parts_that_together_leave_nothing_unmet_or_unshown() -> None:
    verdicts = decided(*(explore(part) for part in (TWO_BLOCKS, NESTED, CONTENTS, UNCACHED)))
    assert {name for name, obligation in verdicts.items() if obligation.verdict is not H} == set()


def test_a_search_ends_with_the_part_that_was_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("blockpool.proofs.explore.search.memory_left", lambda: 0.1)
    parts = (ONE_BLOCK, NESTED)
    assert len(list(search(parts, with_impl=False, workers=1, memory=0.5))) == 1
    assert len(list(search(parts, with_impl=False, workers=1))) == 2


def test_a_search_with_the_implementation_follows_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    [found] = search([ONE_BLOCK], with_impl=True, workers=1)
    assert decided(found, with_impl=True)[REFINES].verdict is H
    assert found.tally.followed > 2000
    monkeypatch.setattr(Touch, "answers", lambda self, pool: ("something else",))
    [found] = search([ONE_BLOCK], with_impl=True, workers=1)
    obligation = decided(found, with_impl=True)[REFINES]
    assert obligation.verdict is R
    assert obligation.counterexample is not None
    assert len(obligation.counterexample.calls) == 1
