"""Which claims carry which: the invariants that each proof needs, from minimised unsat cores.

A claim *rests on* an invariant if some action's proof uses it. The invariant is *indispensable* if that proof fails
without it although all others are still assumed; the failure is a step that shows why. The *inductive core* of an
invariant is the least set that holds it and all that its members rest on: it is inductive by itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import indent

from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.prove.pool.claims import INVARIANTS
from blockpool.proofs.prove.pool.induction import rows_of
from blockpool.proofs.prove.pool.step_claims import STEP_CLAIMS, NotSaid
from blockpool.proofs.prove.pool.triage import triage
from blockpool.proofs.prove.solve import Condition, Outcome, decide, minimal_core

PROVED_BEFORE = "proved: "
SEED = (0,)
KNOWN_AS: Mapping[str, str] = {
    "a_block_is_queued_at_most_once": "I2",
    "queued_blocks_are_unheld": "I3a",
    "unheld_blocks_are_queued": "I3b",
    "counts_are_never_negative": "I4",
    "coverage_is_the_length_of_the_primary_key": "I5'",
    "aliases_need_a_primary": "I6",
    "every_key_of_a_block_is_in_the_index": "I7a",
    "the_index_answers_only_blocks_that_carry_the_key": "I7b",
    "no_index_entry_is_empty": "I8",
    "the_null_block_is_never_used": "I9",
    "no_alias_covers_more_than_the_primary": "I10",
    "only_lendable_blocks_are_watched": "I11",
    "a_writable_block_cannot_be_observed": "I13",
}
"""The numbers of the invariants in the notes on semantics."""


@dataclass(frozen=True)
class Use:
    """That the proof of a claim for an action uses an invariant."""

    claim: str
    action: str
    invariant: str
    indispensable: bool
    condition: Condition  # without the invariant
    outcome: Outcome  # of that condition: with the witness if it is indispensable


def uses(claim: str) -> Iterator[Use]:
    """The invariants, the claim itself left out, that its proofs use."""
    for action, row in rows_of(claim).items():
        seen: set[str] = set()
        for condition in () if isinstance(row, NotSaid) else row:
            core = minimal_core(condition, decide(condition, seeds=SEED).core)
            for invariant in sorted({_plain(name) for name in core} & INVARIANTS.keys() - {claim} - seen):
                seen.add(invariant)
                yield _use(claim, action, invariant, condition)


def _use(claim: str, action: str, invariant: str, condition: Condition) -> Use:
    rest = {name: formula for name, formula in condition.hypotheses.items() if _plain(name) != invariant}
    without = replace(condition, hypotheses=rest)
    outcome = decide(without, seeds=SEED)
    return Use(claim, action, invariant, outcome.verdict is Verdict.REFUTED, without, outcome)


def _plain(name: str) -> str:
    """The claim that a hypothesis is, of the state before or, proved already, of the state after."""
    return name.removeprefix(PROVED_BEFORE)


def core_of(claim: str, rests_on: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The least set of invariants that holds this one and all its members rest on."""
    core, new = frozenset({claim}), frozenset({claim})
    while new:
        new = frozenset(other for member in new for other in rests_on[member]) - core
        core |= new
    return core


NOTES: Mapping[str, frozenset[str]] = {
    "I2": frozenset({"I3a"}),
    "I3a": frozenset({"I2"}),
    "I3b": frozenset({"I3a", "I4"}),
    "I4": frozenset(),
    "I5'": frozenset({"I6", "I7a", "I7b"}),
    "I6": frozenset(),
    "I7a": frozenset(),
    "I7b": frozenset(),
    "I8": frozenset(),
    "I9": frozenset(),
    "I10": frozenset({"I6"}),
    "I11": frozenset(),
    "I13": frozenset({"I6", "I7b"}),
}
"""What the notes on semantics (section 3.1) say each rests on. They speak of a pool that counts its free blocks in a
variable of its own (I1) and hands references out by name (I12); `spec` has neither."""

DIFFERENCES: Mapping[str, str] = {
    "I3b": "I3a is not needed: whatever stands in the queue wrongly leaves it by being handed out, and then it is held",
    "I5'": "it stands alone: a move takes the coverage from the moved key itself, not from what the index finds first",
    "I10": "I5' as well: a move sets the coverage to the length of the primary, which must not be less than it was",
}
"""Where the proofs correct the notes, and why."""


def proof_map() -> Iterator[str]:
    """The map as text: the invariants with their cores, the step properties, and a witness for each need."""
    found = {claim: list(uses(claim)) for claim in (*INVARIANTS, *STEP_CLAIMS)}
    rests_on = {claim: frozenset(use.invariant for use in found[claim]) for claim in INVARIANTS}
    for claim, used in found.items():
        yield " ".join(filter(None, (claim, KNOWN_AS.get(claim) and f"({KNOWN_AS[claim]})")))
        said = STEP_CLAIMS.get(claim)
        yield from [f"    not proved here: {said.reason}"] if isinstance(said, NotSaid) else _needs(used)
        if claim in INVARIANTS:
            yield f"    inductive core: {_listed(core_of(claim, rests_on))}"
            yield from _compared(claim, rests_on[claim])
    yield "\nWhy each is indispensable: the state before and the step, if it is not assumed\n"
    for claim in INVARIANTS:
        yield from (witness(use) for use in found[claim] if use.indispensable)


def witness(use: Use) -> str:
    """A step that breaks the claim, where everything but the invariant was true before."""
    why = indent(triage(use.condition, use.outcome).text, "    ")
    return f"{use.claim} without {use.invariant}, {use.action}:\n{why}\n"


def _needs(used: Sequence[Use]) -> Iterator[str]:
    if not used:
        yield "    rests on nothing else"
    for invariant in sorted({use.invariant for use in used}):
        mine = [use for use in used if use.invariant == invariant]
        actions = ", ".join(use.action if use.indispensable else f"{use.action} (or another)" for use in mine)
        yield f"    rests on {invariant}: {actions}"


def _compared(claim: str, needed: frozenset[str]) -> Iterator[str]:
    """Does it agree with the notes?"""
    number = KNOWN_AS.get(claim)
    if number is not None:
        agrees = frozenset(KNOWN_AS.get(other, other) for other in needed) == NOTES[number]
        yield "    as in the notes" if agrees else f"    the notes say {_listed(NOTES[number])}; {DIFFERENCES[number]}"


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names)) or "nothing else"
