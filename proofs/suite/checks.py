"""The parts of the main job that are not searches. Each runs in a process of its own and answers obligations."""

import json
from collections.abc import Sequence
from functools import partial
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

from blockpool.proofs.adequacy.defects.run_defect import DIED
from blockpool.proofs.core.claim_names import REFINES, STARTS
from blockpool.proofs.core.counterexample import Counterexample
from blockpool.proofs.core.jobs import Job, run_module
from blockpool.proofs.core.obligation import Figures, Obligation, Verdict
from blockpool.proofs.explore.search import explore
from blockpool.proofs.explore.serving import SERVING_SCOPES, with_rules
from blockpool.proofs.refine import search_obligations as decide
from blockpool.proofs.refine.key_injectivity import SEPARATES, compare_digests
from blockpool.proofs.refine.lockstep import MismatchError, check_new_pools
from blockpool.proofs.refine.managers_stateful_test import sample_serving
from blockpool.proofs.refine.search_obligations import example
from blockpool.proofs.refine.server_shapes import SHAPES, serve_shapes
from blockpool.proofs.refine.several_pools import SPLITS, compare_pools
from blockpool.proofs.refine.stateful_test import WANTED, PoolMachine, Run, sample
from blockpool.proofs.replay import replay, synthetic_requests
from blockpool.proofs.replay.obligation import RUNS, SERVES, judged
from blockpool.spec import WORLD_POSSIBILITIES

CLAIMS_HOLD = "every_claim_holds_in_long_runs"
CONTRACTS_HOLD = "every_contract_holds_in_long_runs"
CATCHES = "catches"
NEEDED = "something breaks without"
REQUESTS = "every_claim_about_requests_holds_in_long_runs"
SHAPES_SERVED = "impl_follows_the_spec_in_pools_of_server_size"
SILENT = "no_gate_fires_without_a_defect"

SENTENCES = {
    STARTS: "A new pool of impl, of any size and setting tried, is in the first state of the spec.",
    CLAIMS_HOLD: "Every claim holds along random histories of pools of up to 64 blocks.",
    REQUESTS: "The managers keep every rule and every claim about requests holds, for up to 5 requests, mixed groups.",
    CONTRACTS_HOLD: "The contracts of impl hold along random histories, and notice pools that somebody spoiled.",
    SEPARATES: "Two digests are equal exactly when the prefixes are, tokens and extras.",
    SPLITS: "A release that mixes blocks of several pools is one for each pool, or refused whole.",
    SERVES: "A serving engine on a workload keeps impl and spec in lockstep, and leaks nothing.",
    RUNS: "A serving engine on a workload leaks nothing; the spec did not look on.",
    SHAPES_SERVED: "Pools of 300 to 20,000 blocks do what the spec says, in batches, chains and groups as in servers.",
    SILENT: "Run on the source as it is, no gate notices anything.",
}
"""Obligations that are not claims of the spec, in words."""

SHALLOW = 4
"""Most rules show within a few moves; all scopes are searched to this depth before any is searched whole."""


def new_pools() -> list[Obligation]:
    """Does `impl` begin where the spec begins?"""
    started = perf_counter()
    try:
        compared = check_new_pools()
    except MismatchError as mismatch:
        return [Obligation(STARTS, "refine", "9 blocks", Verdict.REFUTED, {}, perf_counter() - started, str(mismatch))]
    return [Obligation(STARTS, "refine", "9 blocks", Verdict.HOLDS, {"pools": compared}, perf_counter() - started)]


def long_runs(runs: int, calls: int, seed: int | None) -> list[Obligation]:
    """`impl` against the spec, and the spec against its claims, on pools of up to 64 blocks."""
    started = perf_counter()
    run = sample(runs, calls, seed)
    seconds = perf_counter() - started
    shown = f"{len(run.shown)} of {len(WANTED)}"
    figures: Figures = {"runs": run.runs, "calls": run.steps, "refused": run.refused, "possibilities": shown}
    scope = f"{PoolMachine.most_blocks} blocks"
    decided = []
    for claim in (REFINES, CLAIMS_HOLD):
        broken = run.failure is not None and (run.failure.claim == REFINES) == (claim == REFINES)
        if broken:
            example = _example(run)
            decided.append(
                Obligation(claim, "sample", scope, Verdict.REFUTED, figures, seconds, example.words, example)
            )
        else:
            # A failure of the other claim ended the runs early; this one was then not looked at to the end.
            verdict, words = Verdict.HOLDS, ""
            if run.failure is not None:
                verdict, words = Verdict.INCONCLUSIVE, f"the runs ended at a failure of {run.failure.claim}"
            elif run.missing:
                verdict, words = Verdict.VACUOUS, f"these runs never showed {', '.join(run.missing)}"
            decided.append(Obligation(claim, "sample", scope, verdict, figures, seconds, words))
    return decided


def _example(run: Run) -> Counterexample:
    failure = run.failure
    assert failure is not None
    sentence = decide.SENTENCES.get(failure.claim, failure.claim)
    return Counterexample(failure.claim, sentence, failure.first, failure.calls, failure.words)


def contracts(runs: int, calls: int) -> list[Obligation]:
    """The contracts of `impl` at their fullest, along runs of the machine; in a new process, since import decides."""
    started = perf_counter()
    ran = run_module("blockpool.proofs.refine.contracted", str(runs), str(calls), BLOCKPOOL_CONTRACTS="full")
    seconds = perf_counter() - started
    scope = f"{PoolMachine.most_blocks} blocks"
    if ran.returncode:
        words = ran.stderr.strip()[-500:]
        return [Obligation(CONTRACTS_HOLD, "sample", scope, Verdict.REFUTED, {}, seconds, words)]
    return [Obligation(CONTRACTS_HOLD, "sample", scope, Verdict.HOLDS, json.loads(ran.stdout), seconds)]


def digests(examples: int, seed: int | None) -> list[Obligation]:
    """SHA-256 chains against prefixes."""
    started = perf_counter()
    pairs = compare_digests(examples, seed)
    figures: Figures = {"compared": pairs.compared, "unequal": pairs.unequal}
    verdict = Verdict.HOLDS if pairs.failure is None else Verdict.REFUTED
    return [
        Obligation(SEPARATES, "sample", "6 tokens", verdict, figures, perf_counter() - started, pairs.failure or "")
    ]


def requests(runs: int, moves: int, seed: int | None) -> list[Obligation]:
    """Requests with mixed groups, on the managers and in the machine with requests."""
    started = perf_counter()
    run = sample_serving(runs, moves, seed)
    seconds = perf_counter() - started
    shown = f"{len(run.shown)} of {len(WORLD_POSSIBILITIES)}"
    figures: Figures = {"runs": run.runs, "moves": run.moves, "possibilities": shown}
    if run.broken is not None:
        claim, first, calls, words = run.broken
        shown_by = Counterexample(claim, decide.SENTENCES[claim], first, calls, words)
        return [Obligation(REQUESTS, "sample", "20 blocks", Verdict.REFUTED, figures, seconds, words, shown_by)]
    if run.missing:
        words = f"these runs never showed {', '.join(run.missing)}"
        return [Obligation(REQUESTS, "sample", "20 blocks", Verdict.VACUOUS, figures, seconds, words)]
    return [Obligation(REQUESTS, "sample", "20 blocks", Verdict.HOLDS, figures, seconds)]


def several_pools(runs: int, seed: int) -> list[Obligation]:
    """Releases that mix the blocks of two pools."""
    started = perf_counter()
    run = compare_pools(runs, seed)
    figures: Figures = {"releases": run.mixed, "refused": run.refused}
    verdict = Verdict.HOLDS if run.failure is None else Verdict.REFUTED
    if not run.refused or run.mixed == run.refused:
        verdict = Verdict.VACUOUS if run.failure is None else verdict
    return [Obligation(SPLITS, "sample", "2 pools", verdict, figures, perf_counter() - started, run.failure or "")]


def served(requests: int, blocks: int, seed: int) -> list[Obligation]:
    """A serving engine on a synthetic workload, in lockstep, with events and without."""
    decided = []
    for events in (True, False):
        started = perf_counter()
        report = replay(synthetic_requests(requests, seed), blocks=blocks, events=events)
        scope = f"{blocks} blocks, events {'on' if events else 'off'}"
        decided.append(judged(report, scope, perf_counter() - started))
    return decided


def server_shapes(times: int, seed: int) -> list[Obligation]:
    """Pools, batches, chains and groups of the sizes that servers have."""
    started = perf_counter()
    run = serve_shapes(seed=seed, times=times)
    scope = f"{max(shape.blocks for shape in SHAPES):,} blocks"
    figures: Figures = {
        "runs": run.runs,
        "calls": run.calls,
        "refused": run.refused,
        "longest batch": run.longest_batch,
        "longest chain": run.longest_chain,
        "most references": run.most_refs,
        "most groups": run.most_groups,
        "resets": run.resets,
    }
    verdict, words = Verdict.HOLDS, run.failure or ""
    if run.failure:
        verdict = Verdict.REFUTED
    elif missing := run.missing():
        verdict, words = Verdict.VACUOUS, f"these runs never had {missing}"
    return [Obligation(SHAPES_SERVED, "sample", scope, verdict, figures, perf_counter() - started, words)]


def needed(rule: str) -> list[Obligation]:
    """Does something break without this rule? A rule that nothing needs is no rule."""
    started = perf_counter()
    name = f"{NEEDED}: {rule}"
    for depth, part in product((SHALLOW, None), SERVING_SCOPES["small"]):
        found = explore(with_rules(part, rule), first_failure_ends=True, depth=depth)
        for failure in found.tally.failures.values():
            shown = example(found, failure)
            figures: Figures = {"breaks": failure.claim, "calls": len(shown.calls)}
            return [Obligation(name, "detect", part.name, Verdict.HOLDS, figures, perf_counter() - started)]
    words = "nothing breaks without this rule"
    return [Obligation(name, "detect", "requests", Verdict.VACUOUS, {}, perf_counter() - started, words)]


def caught(name: str, timeout: float = 120.0) -> list[Obligation]:
    """Is the seeded defect of this name caught?"""
    ran = run_module("blockpool.proofs.adequacy.defects.run_defect", name, timeout=timeout)
    if ran.returncode:
        words = ran.stderr.strip().rpartition("\n")[2]
        return [Obligation(f"{CATCHES}: {name}", "detect", "2 blocks", Verdict.INCONCLUSIVE, {}, 0.0, words)]
    trial: dict[str, Any] = json.loads(ran.stdout)
    if trial["gate"] is None:
        words = "no gate notices this defect"
        return [Obligation(f"{CATCHES}: {name}", "detect", "2 blocks", Verdict.VACUOUS, {}, trial["seconds"], words)]
    figures: Figures = {"gate": trial["gate"], "claim": trial["claim"]}
    if trial["claim"] == DIED:
        return [
            Obligation(f"{CATCHES}: {name}", "detect", "2 blocks", Verdict.INCONCLUSIVE, figures, 0.0, trial["words"])
        ]
    if trial["calls"] is not None:
        figures["calls"] = trial["calls"]
    return [Obligation(f"{CATCHES}: {name}", "detect", "2 blocks", Verdict.HOLDS, figures, trial["seconds"])]


def silent() -> list[Obligation]:
    """Do the gates keep quiet about the source as it is?"""
    ran = run_module("blockpool.proofs.adequacy.defects.run_defect", timeout=600.0)
    if ran.returncode:
        return [Obligation(SILENT, "detect", "2 blocks", Verdict.INCONCLUSIVE, {}, 0.0, ran.stderr.strip()[-500:])]
    trial: dict[str, Any] = json.loads(ran.stdout)
    figures: Figures = {"gates": trial["gates"]}
    if trial["gate"] is None:
        return [Obligation(SILENT, "detect", "2 blocks", Verdict.HOLDS, figures, trial["seconds"])]
    words = f"gate {trial['gate']}: {trial['words']}"
    return [Obligation(SILENT, "detect", "2 blocks", Verdict.REFUTED, figures, trial["seconds"], words)]


def trials(names: Sequence[str]) -> list[Job]:
    """A job for each of these defects."""
    return [partial(caught, name) for name in names]


def caught_from(file: Path, name: str, deep: bool = False) -> list[Obligation]:
    """Is this defect of a file caught? One that does not fit the source is inconclusive, and so is a gate that dies."""
    options = [f"--file={file}", *(["--deep"] if deep else [])]
    ran = run_module("blockpool.proofs.adequacy.defects.run_defect", name, *options, timeout=1800.0)
    scope = "deep" if deep else "check"
    if ran.returncode:
        words = ran.stderr.strip().rpartition("\n")[2]
        return [Obligation(f"{CATCHES}: {name}", "detect", scope, Verdict.INCONCLUSIVE, {}, 0.0, words)]
    found: dict[str, Any] = json.loads(ran.stdout)
    figures: Figures = {"gates": ", ".join(one["gate"] for one in found["caught"])}
    words = "\n".join(f"{one['gate']}: {one['claim']}: {one['words'][:300]}" for one in found["caught"])
    verdict = Verdict.HOLDS if found["caught"] else Verdict.INCONCLUSIVE if found["died"] else Verdict.REFUTED
    words = words or found["died"] or "no gate notices this defect"
    return [Obligation(f"{CATCHES}: {name}", "detect", scope, verdict, figures, found["seconds"], words)]
