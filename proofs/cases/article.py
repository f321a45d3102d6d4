"""The claims ledger: what a well-known article says of vLLM's block pool, what is so, and what shows it.

The article is said in our words. A witness runs on the pools it names; a claim without one is about parts of vLLM that
its core files do not have, and is marked as seen there and not shown here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from blockpool.proofs.cases import right_witnesses as right
from blockpool.proofs.cases import witnesses as w
from blockpool.proofs.cases import world_witnesses as world


class Is(StrEnum):
    """What a claim of the article is."""

    FALSE = "false"
    IMPRECISE = "imprecise"
    RIGHT = "right"


class On(StrEnum):
    """What the witness runs on."""

    BOTH = "impl and vLLM 0.33.0"
    VLLM = "vLLM 0.33.0"  # our pool does not do this
    IMPL = "impl"
    SPEC = "spec"
    SEEN = "seen in an installed vLLM 0.33.0, not shown here"


@dataclass(frozen=True, slots=True)
class Said:
    """One claim: what is said, what is so, and the same as a formula."""

    number: str
    said: str
    verdict: Is
    so: str
    formula: str
    on: On
    witness: Callable[..., Any] | None = None


F, N, R = Is.FALSE, Is.IMPRECISE, Is.RIGHT  # false, not quite, right

CLAIMED = (
    Said("1", "Cached free blocks count as used.", F,
         "They are in the queue and count as free.",
         "usage = 1 - |queue| / (size - 1)", On.BOTH, w.cached_free_blocks_count_as_free),
    Said("2", "A watcher that is left makes a reset answer False.", F,
         "Only held blocks do; all watchers are told.",
         "reset = (refs = 0 everywhere)", On.BOTH, w.pending_watchers_do_not_hinder_a_reset),
    Said("3", "Within a batch, shorter chains reach the front of the queue first.", F,
         "A table is given back from its end, so what covers most tokens goes first.",
         "queue = [16, 12, 8, 4] by tokens covered", On.BOTH, w.the_longest_chain_of_a_batch_goes_first),
    Said("4", "Unpinned blocks are handed out after all others.", F,
         "They are last at that moment; what is released later stands behind them.",
         "queue' = queue + [unpinned]", On.BOTH, w.unpinned_blocks_are_not_handed_out_last),
    Said("5", "After a move the source keeps its primary key.", F,
         "All keys move; the source has none.",
         "keys' source = {} and keys' target = keys source", On.BOTH, w.a_move_leaves_the_source_without_a_key),
    Said("6", "A copy on write at admission adds a reference to both ends.", F,
         "To the new block only; the hit's own reference becomes the source's.",
         "refs' source = refs source and refs' target = refs target + 1", On.SEEN),
    Said("7", "The extra reference of a copy is that of the cache entry.", F,
         "It belongs to the pending copy. When that has run the cached copy is free; cache entries hold nothing.",
         "copies = {} implies refs copy = 0", On.SPEC, world.a_cached_copy_ends_without_a_reference),
    Said("8", "Both ends of a copy stay referenced until it has run.", F,
         "Without deferred release they are given back when scheduling ends, before the worker copies.",
         "released before run, and no allocation in between", On.SEEN),
    Said("9", "Promotion, masks and block size each put several keys on a block.", F,
         "Each leaves one. Further keys come of a shorter prefix published under a longer one, and of moves of those.",
         "|keys| > 1 implies an alias no longer than the primary", On.BOTH, w.only_shorter_prefixes_make_further_keys),
    Said("10", "Only blocks that were written are published.", F,
         "Publishing happens while a pass is scheduled; a lookup hits before anything ran.",
         "key in index and memory = {}", On.SPEC, world.what_is_scheduled_is_found_before_it_is_written),
    Said("11", "A block that is not full has no primary key.", F,
         "The end of a prompt inside a block is its primary key.",
         "coverage = 2 in a block of 4", On.BOTH, w.a_block_that_is_not_full_carries_the_primary_key),
    Said("12", "Whether a block is writable decides copy on write, in several places.", F,
         "It is asked once, in an assertion about recurrent states; alignment of tokens decides.",
         "one call site", On.SEEN),
    Said("13", "Unpinning means that the count is 0.", F,
         "A shared block stays held, and is watched all the same.",
         "refs' = refs - 1", On.BOTH, w.an_unpinned_block_may_stay_held),
    Said("14", "The watcher is registered before the count drops.", F,
         "First the count, then the watcher, then the queue.",
         "at registration refs = 0 and not queued", On.VLLM, w.the_reference_goes_before_the_watcher_comes),
    Said("15", "Eviction by name uses what the internal eviction answers.", F,
         "Nobody does.", "every such call is a statement of its own", On.VLLM, w.nobody_uses_what_eviction_answers),
    Said("16", "The lookup makes groups of different kinds agree.", F,
         "It is asked for groups of one kind at a time; the coordinator makes lengths agree.",
         "agreement is a fixpoint outside of the pool", On.SEEN),
    Said("17", "Releases of all groups are merged; groups may have pools of their own.", F,
         "One call a group, and one pool for all groups; only the deferred path merges.",
         "|pools| = 1", On.SEEN),
    Said("18", "If a group allocates before all hits are touched, one group hits and the other misses.", N,
         "One block gets two owners, and no map of the pool shows it.",
         "invariants hold and a request misreads", On.SPEC, world.one_block_gets_two_owners),
    Said("19", "The queue has six operations, `prepend` among them.", F,
         "Eight, and no `prepend`.", "|methods| = 8", On.VLLM, w.the_queue_has_no_prepend),
    Said("20", "A block that is handed out again has lost its keys.", F,
         "Not with caching disabled: there the old prefix is served from a stranger's block.",
         "caching = off and keys' != {}", On.VLLM, w.without_caching_keys_survive_reallocation),
    Said("21", "A failing count assertion means that a referenced block was queued.", N,
         "The usual cause is a double free, and the assertion fails in an innocent caller.",
         "refs = -1 in the queue", On.VLLM, w.a_double_free_fails_in_an_innocent_caller),
    Said("22", "The bounds check of eviction by name catches wrong numbers.", N,
         "Only those that are too large; -1 evicts the last block.",
         "evict(-1) = evict(size - 1)", On.VLLM, w.a_negative_number_evicts_the_last_block),
    Said("23a", "Cached blocks form the back zone of the queue, blank ones the front.", N,
         "Cached blocks can stand first and blank ones last.",
         "queue = [cached, cached, blank]", On.BOTH, w.cached_blocks_may_stand_first_and_blank_ones_last),
    Said("23b", "Blank blocks are reused last in, first out.", N,
         "From call to call; inside one call the given order is kept.",
         "queue = [3, 4, 1, 2]", On.BOTH, w.inside_one_call_the_given_order_is_kept),
    Said("23c", "A hit moves a block to the recent end.", N,
         "Neither lookup nor touch does; the next release does.",
         "lookup: queue' = queue; touch: queue' = queue without it", On.BOTH, w.only_a_release_makes_a_block_recent),
    Said("24", "A lookup answers any of several copies.", N,
         "vLLM answers the one published first that is still there; the promise leaves the choice.",
         "answer = first of index key", On.BOTH, w.the_first_copy_is_served),
    Said("25", "A Removed event warns of what is about to be evicted.", N,
         "It comes after the fact, and while another copy serves. Not all events come from the pool, either.",
         "Removed k and lookup k != None", On.BOTH, w.a_removal_is_told_while_a_copy_serves),
    Said("26", "Hashing of tokens is memoised.", F, "It is not.", "no cache", On.VLLM, w.hashing_is_not_memoised),
    Said("27", "Lookahead tokens coarsen the boundaries of hashes.", F,
         "The boundaries are the same; the hash comes later.",
         "8 tokens, unit 4, lookahead 2: one hash; 2 tokens later: two", On.IMPL, w.a_lookahead_delays_a_hash),
    Said("28", "Recurrent states are published at selected checkpoints only.", F,
         "By default every state at the end of a chunk is.", "dense retention", On.SEEN),
    Said("29", "The number of free blocks is the only criterion of admission.", F,
         "There are a watermark, a reservation, a cap, and a sentinel of recurrent states.",
         "need <= free - reserved - watermark", On.SEEN),
    Said("30", "A connector that gives back a block with the plain release puts it at the front.", F,
         "Only if it has no key.", "keyed implies back of the queue",
         On.BOTH, w.a_released_block_with_a_key_goes_to_the_back),
    Said("31", "Nothing is allocated from the heap at run time.", N,
         "Publishing 2048 blocks makes more than 2048 objects.", "objects' - objects > 2048",
         On.BOTH, w.publishing_makes_objects),
    Said("32", "An allocation is never done in part.", N,
         "Not when too little is free; a watcher that raises leaves half an allocation, and the blocks are lost.",
         "free = 0 and refs = 0 everywhere", On.VLLM, w.a_raising_watcher_leaves_half_an_allocation),
    Said("R1", "An allocation tells the watchers before it drops keys.", R,
         "So it is; inside the callback a lookup still finds the block.",
         "told before keys' = {}", On.BOTH, right.watchers_are_told_before_keys_go),
    Said("R2", "Blank blocks are reused last in first out, cached ones first in first out.", R,
         "So it is, call by call.", "queue = [4, 3, 1, 2]", On.BOTH, right.blank_blocks_are_reused_last_in_first_out),
    Said("R3", "Equal prefixes computed twice are both kept.", R,
         "So it is: tables only grow, so the second copy cannot be exchanged.",
         "|index k| = 2", On.BOTH, right.equal_prefixes_are_both_kept),
    Said("R4", "A block has one watcher.", R,
         "So it is in vLLM, where a second replaces the first; our promise is that both are told.",
         "watchers' = {second}", On.VLLM, right.a_later_watcher_replaces_an_earlier),
    Said("R5", "The null block is skipped.", R, "So it is, by touch and release.",
         "queue' = queue", On.BOTH, right.the_null_block_is_skipped),
    Said("R6", "The group is part of a key.", R, "So it is.",
         "(prefix, 0) != (prefix, 1)", On.BOTH, right.a_key_belongs_to_one_group),
    Said("R7", "The number of free blocks is kept, not counted.", R, "So it is.",
         "count = |queue|", On.BOTH, right.the_free_count_is_kept_and_not_counted),
)  # fmt: skip
"""In the order of the article's mistakes, then what is right and worth keeping."""
