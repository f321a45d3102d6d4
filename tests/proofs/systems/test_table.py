"""What is known of released pools, found by conform: which laws their releases break, each within five calls.

The expected table was measured by other means before this project had an oracle (see the probes of 29 vLLM releases and
the list of defects that its research notes cite). Releases that were not fetched, and pools that are not installed, are
skipped by name.
"""

from dataclasses import replace

import pytest
from typer.testing import CliRunner

from blockpool.proofs.core.obligation import Obligation, Verdict
from blockpool.proofs.faces.cli.adapters import app
from blockpool.proofs.oracle.adapter import InProcess
from blockpool.proofs.oracle.campaign import DAMAGE
from blockpool.proofs.oracle.conformance import Report, conform
from blockpool.proofs.oracle.example import OracleExample
from blockpool.proofs.oracle.session import Line
from blockpool.proofs.systems import table
from blockpool.proofs.systems.registry import MissingPoolError, shipped
from blockpool.spec.contract.calls import Alloc, FreeCount, Ok, Start
from blockpool.spec.contract.profiles import Profile, profile_of
from blockpool.spec.contract.violation import Breach

NULL_IS_KEYED = {"a_hit_carries_its_key", "events_mirror_the_index"}  # one of them sees it first
TWO_PASSES = {"a_repeated_release_counts_each_naming"}
EMPTY_EVENT = {"events_are_consistent"}
ONE_WATCHER = {"watchers_are_told_once_before_reuse", "writable_only_if_unobserved"}

BROKEN_BY_RIGHT_CALLS = {
    "vllm==0.8.5": NULL_IS_KEYED,
    "vllm==0.9.2": NULL_IS_KEYED,
    "vllm==0.10.0": NULL_IS_KEYED | TWO_PASSES,
    "vllm==0.20.2": TWO_PASSES | EMPTY_EVENT,
    "vllm==0.24.0": EMPTY_EVENT,
    "vllm==0.27.1": EMPTY_EVENT,
    "vllm==0.33.0": EMPTY_EVENT | ONE_WATCHER,
    "vllm-mlx": {"what_was_published_is_found"},  # a parent without a key is taken for none
    "max-jenga": set(),
    "transformers": set(),
    "sglang-token": set(),
    "sglang-paged": set(),
}

NEGATIVE, FOREIGN = "alloc, bad count", "free, unknown block"
ALWAYS = {"free, not held", "publish, not held", "publish, caching disabled"}
DAMAGE_BY_WRONG_CALLS = {
    "vllm==0.8.5": ({*ALWAYS, FOREIGN}, {NEGATIVE}),
    "vllm==0.9.2": ({*ALWAYS, FOREIGN}, {NEGATIVE}),
    "vllm==0.10.0": ({*ALWAYS, FOREIGN, NEGATIVE}, set()),
    "vllm==0.20.2": ({*ALWAYS, FOREIGN, NEGATIVE, "unpublish, unknown block"}, set()),
    "vllm==0.24.0": ({*ALWAYS, FOREIGN, NEGATIVE, "unpublish, unknown block"}, set()),
    "vllm==0.27.1": ({*ALWAYS, FOREIGN, NEGATIVE, "unpublish, unknown block"}, set()),
    "vllm==0.33.0": ({*ALWAYS, NEGATIVE, "unpublish, unknown block", "unpin, unknown block"}, {FOREIGN}),
    "vllm-mlx": ({NEGATIVE, "free, not held", "publish, null block"}, {"publish, caching disabled"}),
    "max-jenga": ({"share, not held", "publish, not held"}, {NEGATIVE, FOREIGN}),
    "transformers": ({NEGATIVE, "free, not held", "publish, already cached"}, set()),
    "sglang-token": ({NEGATIVE, FOREIGN, "free, not held", "free, null block"}, set()),
    "sglang-paged": ({NEGATIVE, FOREIGN, "free, not held", "free, null block"}, set()),
}
"""Kinds of wrong calls that do damage, and kinds that do not."""


def subject_of(name: str) -> InProcess:
    try:
        return InProcess(shipped(name))
    except MissingPoolError as missing:
        pytest.skip(str(missing))


def examples(report: Report) -> dict[str, OracleExample]:
    found = {one.name: one.counterexample for one in report.obligations if one.verdict is Verdict.REFUTED}
    assert all(isinstance(example, OracleExample) for example in found.values())
    return found  # type: ignore[return-value]


@pytest.mark.parametrize("name", BROKEN_BY_RIGHT_CALLS)
def test_known_defects_are_found_and_nothing_else(name: str) -> None:
    report = conform(subject_of(name), runs=2, calls=30, blocks=8, misuse=True)
    assert not [one.name for one in report.obligations if one.verdict is Verdict.VACUOUS]
    found = examples(report)
    laws = {claim for claim in found if ":" not in claim}
    expected = BROKEN_BY_RIGHT_CALLS[name]
    if expected >= NULL_IS_KEYED:
        assert laws & NULL_IS_KEYED
        assert laws - NULL_IS_KEYED == expected - NULL_IS_KEYED
    else:
        assert laws == expected
    damage, none = DAMAGE_BY_WRONG_CALLS[name]
    kinds = {claim.removeprefix(f"{DAMAGE}: ") for claim in found if claim.startswith(DAMAGE)}
    assert kinds >= damage
    assert not kinds & none
    classics = [found[law] for law in laws] + [found[f"{DAMAGE}: {kind}"] for kind in damage]
    assert max((len(example.lines) for example in classics), default=0) <= 5


@pytest.mark.parametrize(
    ("release", "profile"),
    [
        ("vllm==0.23.0", "vllm-0.24"),
        ("vllm==0.24.0", "vllm-0.14"),
        ("vllm==0.24.0", "vllm-0.27"),
        ("vllm==0.27.1", "vllm-0.28"),
        ("vllm==0.28.0", "vllm-0.27"),
    ],
)
def test_a_release_does_not_pass_for_another_family(release: str, profile: str) -> None:
    report = conform(subject_of(release), profile, runs=1, calls=5, misuse=False)
    example = examples(report)["blocks_are_lent_in_order"]
    assert example.breach.party == "outside the profile"
    assert len(example.lines) <= 5


def test_the_comparison_names_laws_and_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    breach = Breach("free_is_what_is_not_held", "pool", "words")
    lines = (Line(Alloc(-1), Ok(())), Line(FreeCount(), Ok(3)))
    profile = profile_of("strict")
    law = OracleExample("free_is_what_is_not_held", breach, "impl", profile, Start(2), lines)
    damage = replace(law, claim=f"{DAMAGE}: alloc, bad count")
    obligations = [
        Obligation("a_legal_call_is_done", "conform", "strict", Verdict.HOLDS),
        Obligation(law.claim, "conform", "strict", Verdict.REFUTED, counterexample=law),
        Obligation(damage.claim, "conform", "strict", Verdict.REFUTED, counterexample=damage),
        Obligation(f"{DAMAGE}: free, not held", "conform", "strict", Verdict.HOLDS),
    ]
    monkeypatch.setattr(table, "conform", lambda *_, **__: Report(obligations, [], [], {}))
    assert list(table.rows(["impl"]))[2:] == [
        "| impl | strict | 1 of 2 | free_is_what_is_not_held: `alloc(-1); free_count()` | 1 of 2: alloc, bad count |"
    ]
    assert CliRunner().invoke(app, ["table", "nobody"]).exit_code == 2


def test_a_wrong_declaration_is_noticed() -> None:
    """An adapter that promises more than its pool keeps does not pass."""
    subject = subject_of("max-jenga")
    assert isinstance(subject.profile, Profile)
    wrong = replace(subject.profile, name="wrong", duplicates="keep_all")
    assert "equal_keys_are_handled_as_declared" in examples(conform(subject, wrong, runs=1, calls=5))
