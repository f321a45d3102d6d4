"""Findings in the engine around vLLM 0.33's pool, what reproduces them, and what our machine with requests says."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import signature

from blockpool.proofs.cases.reproductions import in_the_engine as engine
from blockpool.proofs.cases.reproductions import on_the_pool as pool
from blockpool.proofs.cases.reproductions.engine import Engine


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding: what happens, what reproduces it, the rules without which our machine does the same, and our claims
    about it."""

    id: str
    title: str
    happens: str
    reproduction: Callable[[Engine], Iterator[str]]  # what is so, sentence by sentence, or NotReproducedError
    rules: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()

    @property
    def of_the_pool(self) -> bool:
        """Do the core files of the release show it?"""
        return "lab" in signature(self.reproduction).parameters


IN_THE_ENGINE = (
    Finding(
        "A1",
        "Silent wrong content after a preemption",
        "With the priority policy a request may be preempted in the pass that scheduled it. What it had published in "
        "that pass stays findable although nothing ever writes it, and a later admission reads it.",
        engine.a_preempted_request_reads_what_nobody_wrote,
        rules=("withdraw_when_dropped",),
        claims=("hits_are_sound",),
    ),
    Finding(
        "A2",
        "A key that was superseded comes back",
        "When decoding fills the block in which a prompt ended, the partial key is removed and the full one stored; "
        "the same call then stores the partial key again, and it stays for the life of the block.",
        engine.a_superseded_key_is_stored_again,
    ),
    Finding(
        "A3",
        "Removed while it is still served",
        "Two blocks are cached under one key and one is evicted: the event says that the key is gone, and a lookup "
        "still hits the other. A consumer that reads events as presence forgets copies that are there.",
        pool.a_key_is_told_removed_and_still_served,
        claims=("events_say_what_the_index_does",),
    ),
    Finding(
        "A4",
        "Reports of hits that are none",
        "In full report mode a partial hit of a hybrid model reports null placeholders and keys that are not in the "
        "index; a short prompt raises an error out of the lookup.",
        engine.hits_are_reported_that_are_none,
    ),
    Finding(
        "A5",
        "An assertion that a client can trigger",
        "In full report mode with decode context parallelism any hit fails an assertion: a block size is not scaled.",
        engine.a_report_of_hits_fails_an_assertion,
    ),
    Finding(
        "A6",
        "Events without keys",
        "When all new blocks are masked or null, a Stored event names tokens and no key; with a sparse mask it names "
        "more tokens than its keys cover.",
        pool.events_name_tokens_without_keys,
        claims=("stored_events_name_their_tokens",),
    ),
    Finding(
        "A7",
        "Parents that nobody was told of",
        "A partial entry, or a full block behind a masked one, names a parent that was never stored.",
        pool.parents_are_named_that_nobody_was_told_of,
        claims=("stored_events_name_their_tokens",),
    ),
    Finding(
        "A8",
        "Deferred releases in another order",
        "The deferred path joins the tables of all groups and reverses them once; the immediate path goes group by "
        "group. The same release leaves the queue in two orders.",
        engine.a_deferred_release_has_another_order,
    ),
    Finding(
        "A9",
        "A reset that clears half",
        "With two pools, of which one is busy, the answer is False while the other pool has been cleared and has said "
        "so.",
        engine.a_refused_reset_clears_the_other_pool,
    ),
    Finding(
        "A10",
        "Evictions that were none",
        "Handing out a block that never had a key counts as an eviction; evicting a held block ends its tracking.",
        engine.evictions_are_counted_that_were_none,
    ),
    Finding(
        "A11",
        "Blocks that can never be hit",
        "After the first block of a running request is evicted by name, later blocks of the chain stay cached, and no "
        "lookup of a longest prefix reaches them.",
        pool.later_blocks_of_a_chain_stay_without_the_first,
        claims=("what_can_be_hit_is_closed_under_prefixes",),
    ),
)
