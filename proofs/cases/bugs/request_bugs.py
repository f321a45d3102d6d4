"""Public bug reports that need requests to be seen: which claim notices each, and which rule or obligation it breaks.

The ids are those of `cases/public_bugs.md`, which names the reports. What shows them is in `request_runs.py`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from blockpool.proofs.cases.bugs import request_runs as runs
from blockpool.proofs.cases.bugs.showing import Refusal, Scenario, Search

OBLIGATIONS = {
    "conservation": "Every reference that is taken is given back, once, by whoever answers for it.",
    "late writers": "A block goes back when the last step that may write it is done.",
    "copy on write": "A block that others read or find is copied before it is written.",
    "keys name contents": "A block is published under the prefix that it holds, and no other.",
    "publish what is written": "What is findable is written already, or will be in this pass.",
    "readers are told": "Who reads a block without a pin is told before it is reused.",
    "failed for all": "Content that turns out to be wrong is wrong for all who share it, in all groups.",
    "the next token's needs": "A hit is a length at which every group has what the next token reads.",
    "nothing lost": "What was computed is published where a lookup can use it, and is looked for.",
    "null is nothing": "The null block holds nothing: it is not written, not read, not counted, and cannot fail.",
    "tables only grow": "The table of a running request has a block for each token and grows at its end only.",
    "check implies act": "What was checked is what is done: after a positive check the pool refuses nothing.",
    "whole demands": "A demand for blocks is not negative.",
}

Shown = Scenario | Search | Refusal


@dataclass(frozen=True, slots=True)
class RequestBug:
    """One report: what happened, the claim that notices it, and what was not kept."""

    id: str
    happened: str
    claim: str = ""
    rule: str = ""  # a field of spec.Rules, or one of the obligations above
    shown: tuple[Callable[[], Shown], ...] = ()
    not_expressible: str = ""


ACCOUNTED = "every_reference_is_accounted_for"
QUIET = "when_all_is_quiet_every_block_is_free"
SOUND = "hits_are_sound"
OWN_PREFIX = "requests_read_only_their_own_prefix"
TRANSFERS = "transfers_read_the_old_content"
CHECKED = "a_checked_call_is_not_refused"
APPEND = "tables_grow_only_at_the_end"
A_HIT = "a_request_hits_what_another_computed"
A_HIT_AGAIN = "a_preempted_request_hits_its_own_blocks"
REFUSED = "a_refused_call_changes_nothing"

REQUEST_BUGS = (
    RequestBug(
        "DF-03",
        "A merged completion of connector transfers gave back pins that were not its own; the next one freed the "
        "block under a request.",
        ACCOUNTED,
        "conservation",
        (runs.a_merged_completion_gives_back_the_pins_of_two,),
    ),
    RequestBug(
        "LK-02",
        "A finished request lost its table but kept its references, so nothing ever became evictable.",
        ACCOUNTED,
        "conservation",
        (runs.the_table_goes_and_the_references_stay,),
    ),
    RequestBug(
        "LK-03",
        "Each request left one block behind, seen only when a long test had drained.",
        QUIET,
        "conservation",
        (runs.one_block_of_each_request_stays,),
    ),
    RequestBug(
        "LK-06",
        "Hits were touched, the rest did not fit, and the teardown released by a token list that was still empty.",
        ACCOUNTED,
        "conservation",
        (runs.a_failed_admission_keeps_its_touches,),
    ),
    RequestBug(
        "LK-07",
        "A state was taken before the admission was decided, and kept when it was decided against.",
        ACCOUNTED,
        "conservation",
        (runs.a_failed_admission_keeps_its_state,),
    ),
    RequestBug(
        "LK-08",
        "The second chunk of a prompt had forgotten the blocks of the first and allocated them all again.",
        ACCOUNTED,
        "conservation",
        (runs.the_second_chunk_begins_a_new_table,),
    ),
    RequestBug(
        "LK-10",
        "A lookup pinned what it found; only a retrieve that never came would have unpinned it.",
        QUIET,
        "conservation",
        (runs.a_pin_of_a_lookup_is_never_taken_back,),
    ),
    RequestBug(
        "LK-11",
        "A lookup locked more than was loaded afterwards; the rest stayed locked.",
        ACCOUNTED,
        "conservation",
        (runs.only_what_is_loaded_is_unlocked,),
    ),
    RequestBug(
        "LK-12",
        "An aborted load was held for a signal that never came; after a timed reclaim a late one would free again.",
        ACCOUNTED,
        "conservation",
        (runs.the_done_signal_never_comes, runs.the_done_signal_comes_after_the_lease),
    ),
    RequestBug(
        "LK-13",
        "A request was struck off the loading list first, so the completion that frees its blocks was ignored.",
        QUIET,
        "conservation",
        (runs.a_completion_for_a_forgotten_request_is_dropped,),
    ),
    RequestBug(
        "LK-14",
        "The free was left to a sender, which had nothing to send and so never said that it was finished.",
        ACCOUNTED,
        "conservation",
        (runs.a_sender_with_nothing_to_send_says_nothing,),
    ),
    RequestBug(
        "LK-15",
        "The end of a send was never reported for state groups, whose blocks stayed pinned.",
        ACCOUNTED,
        "conservation",
        (runs.a_group_that_is_not_recognised_stays_pinned,),
    ),
    RequestBug(
        "LK-16",
        "The release named another request, or was not sent at all, and the blocks were held for ever.",
        ACCOUNTED,
        "conservation",
        (runs.the_release_names_another_request,),
    ),
    RequestBug(
        "UA-01",
        "A free block was found by a lookup, handed out to another request, and then used as a hit.",
        OWN_PREFIX,
        "claim_at_once",
        (runs.a_hit_is_claimed_late,),
    ),
    RequestBug(
        "UA-02",
        "One group allocated before the hits of the next were touched, and got one of them.",
        OWN_PREFIX,
        "touch_before_allocating",
        (runs.one_group_allocates_what_another_has_hit, runs.one_group_allocates_what_another_has_hit_by_search),
    ),
    RequestBug(
        "UA-03",
        "New blocks were taken before the hits were touched, so that a hit was handed out as new.",
        OWN_PREFIX,
        "touch_before_allocating",
        (runs.new_blocks_are_taken_before_hits_are_touched,),
    ),
    RequestBug(
        "UA-04",
        "What a lookup had promised was partly evicted before it was claimed.",
        OWN_PREFIX,
        "claim_at_once",
        (runs.fewer_blocks_than_promised,),
    ),
    RequestBug(
        "UA-05",
        "Blocks went back while a step on its way could still write them; it wrote over another request's load.",
        OWN_PREFIX,
        "late writers",
        (runs.an_old_step_writes_into_a_new_block,),
    ),
    RequestBug(
        "UA-06",
        "A window was trimmed by the tokens scheduled, and the step on its way still read what was freed.",
        OWN_PREFIX,
        "release_by_processed",
        (runs.a_window_is_left_by_scheduled_tokens, runs.a_window_is_left_by_scheduled_tokens_by_search),
    ),
    RequestBug(
        "UA-07",
        "The guard against writing shared blocks looked at this chunk's matches only, not at earlier ones.",
        OWN_PREFIX,
        "copy on write",
        (runs.a_match_of_an_earlier_chunk_is_written,),
    ),
    RequestBug(
        "UA-08",
        "A half filled block was given to a second writer without a copy.",
        OWN_PREFIX,
        "copy on write",
        (runs.a_shared_tail_gets_a_second_writer,),
    ),
    RequestBug(
        "UA-12",
        "A request's duplicate blocks were freed while its table still named them.",
        ACCOUNTED,
        "conservation",
        (runs.duplicates_are_freed_and_stay_in_the_table,),
    ),
    RequestBug(
        "UA-13",
        "The suffix of a request was written from its first block on, which it shared with another user.",
        SOUND,
        "copy on write",
        (runs.a_suffix_is_written_over_the_shared_beginning,),
    ),
    RequestBug(
        "UA-14",
        "A connector pinned scratch blocks that the allocator moves only while they have one owner.",
        not_expressible="The machine has no speculative blocks and no relocation; a state that is pinned is copied.",
    ),
    RequestBug(
        "UA-15",
        "A state hit from outside was not marked as shared, and was updated in place.",
        SOUND,
        "copy on write",
        (runs.a_shared_state_is_taken_for_private,),
    ),
    RequestBug(
        "UA-17",
        "A pending store was not stopped when its block was reused for a load of another connector.",
        TRANSFERS,
        "readers are told",
        (runs.a_store_is_not_told_that_its_block_is_reused,),
    ),
    RequestBug(
        "SH-05",
        "A session replaced its last token, and the new content was published under the old key.",
        SOUND,
        "keys name contents",
        (runs.a_replaced_token_keeps_its_old_key,),
    ),
    RequestBug(
        "SH-07",
        "A request was dropped after its blocks were published and before they were written.",
        SOUND,
        "withdraw_when_dropped",
        (runs.what_is_dropped_before_it_is_written_stays_published, runs.what_is_dropped_stays_published_by_search),
    ),
    RequestBug(
        "SH-08",
        "A block was published as full when the first chunk had filled half of it.",
        SOUND,
        "publish what is written",
        (runs.a_half_filled_block_is_published_as_full,),
    ),
    RequestBug(
        "SH-12",
        "Coarse blocks were filed one by one under fine keys, which cover less than the blocks before them.",
        SOUND,
        "keys name contents",
        (runs.coarse_blocks_get_fine_keys,),
    ),
    RequestBug(
        "SH-14",
        "One connector stored a block that another was still loading, and offered it.",
        SOUND,
        "publish what is written",
        (runs.a_pending_block_is_stored,),
    ),
    RequestBug(
        "SH-15",
        "Two requests shared blocks whose load failed; one computed them again, the other went on at once.",
        OWN_PREFIX,
        "failed for all",
        (runs.one_sharer_of_a_failed_block_goes_on,),
    ),
    RequestBug(
        "SH-17",
        "The last block of a window hit was dropped, and what was left was shorter than the window.",
        OWN_PREFIX,
        "the next token's needs",
        (runs.a_window_hit_loses_its_last_block,),
    ),
    RequestBug(
        "LH-03",
        "What was cached of a window was one block less than a lookup needed.",
        A_HIT,
        "nothing lost",
        (runs.the_mask_leaves_out_what_the_lookup_needs,),
    ),
    RequestBug(
        "LH-04",
        "Only the window that ends at the last boundary was kept; a prompt edited before it hit nothing.",
        A_HIT,
        "nothing lost",
        (runs.only_the_last_run_is_kept,),
    ),
    RequestBug(
        "LH-06",
        "With three groups, one miss at the first length tried made the whole lookup miss.",
        A_HIT,
        "nothing lost",
        (runs.one_group_misses_once_and_all_miss,),
    ),
    RequestBug(
        "LH-07",
        "Only the state at the end of a chunk was kept, so prompts that share less hit nothing in any group.",
        A_HIT,
        "nothing lost",
        (runs.only_the_last_state_of_a_chunk_is_kept,),
    ),
    RequestBug(
        "LH-08",
        "A preempted request was not looked up again, because it had been loaded once.",
        A_HIT_AGAIN,
        "nothing lost",
        (runs.a_preempted_request_is_not_looked_up_again,),
    ),
    RequestBug(
        "EO-03",
        "Blocks that leave a window early share one eviction order with long lived prefixes and push them out.",
        not_expressible="A policy, and contested: one order is promised, fairness between groups is not.",
    ),
    RequestBug(
        "NB-04",
        "Tokens beyond a request's last block were written to the dummy block.",
        OWN_PREFIX,
        "null is nothing",
        (runs.tokens_run_into_the_null_block,),
    ),
    RequestBug(
        "NB-05",
        "A failed load named the null block, and requests with null entries were taken for failed.",
        OWN_PREFIX,
        "null is nothing",
        (runs.a_null_entry_counts_as_failed,),
    ),
    RequestBug(
        "GC-01",
        "The hit length was the maximum over the groups; blocks that attention did not have counted as computed.",
        OWN_PREFIX,
        "the next token's needs",
        (runs.attention_lags_behind,),
    ),
    RequestBug(
        "GC-02",
        "A connector was offered a boundary behind which one group had no valid state.",
        OWN_PREFIX,
        "the next token's needs",
        (runs.the_state_lags_behind,),
    ),
    RequestBug(
        "GC-03",
        "A failed load was forgotten in one group; the blocks of the others for the same tokens stayed findable.",
        SOUND,
        "failed for all",
        (runs.only_one_group_of_a_failed_span_is_forgotten,),
    ),
    RequestBug(
        "AO-01",
        "The block list of a decoding request was frozen while its tokens grew.",
        OWN_PREFIX,
        "tables only grow",
        (runs.the_table_does_not_grow,),
    ),
    RequestBug(
        "AO-02",
        "Equal blocks of two running requests were merged by rewriting the table of one.",
        APPEND,
        "tables only grow",
        (runs.a_late_merge_rewrites_a_table,),
    ),
    RequestBug(
        "AO-03",
        "At maximum length a block table had no room for speculative blocks.",
        not_expressible="Tables of the machine have no width, and there are no speculative blocks.",
    ),
    RequestBug(
        "OB-04",
        "The admission counted a window with a cap, the allocation took it without.",
        CHECKED,
        "check implies act",
        (runs.a_window_is_counted_with_a_cap,),
    ),
    RequestBug(
        "OB-05",
        "A request that would fit, because its window is recycled, waited for ever.",
        not_expressible="That a request waits breaks no claim: nothing promises progress.",
    ),
    RequestBug(
        "OB-06",
        "Null entries of a table counted as held, and the demand became negative.",
        CHECKED,
        "whole demands",
        (runs.null_entries_count_as_held,),
    ),
    RequestBug(
        "OB-07",
        "The reservation left out the block that the copy of a partial block takes.",
        CHECKED,
        "count_what_hits_take",
        (runs.the_copy_is_not_counted, runs.the_copy_is_not_counted_by_search),
    ),
    RequestBug(
        "OB-10",
        "Another process drained the pool between the count of free blocks and their use.",
        CHECKED,
        "check implies act",
        (runs.a_peer_takes_what_was_counted,),
    ),
    RequestBug(
        "OB-12",
        "The admission forgot the page that the allocation rounds up to.",
        CHECKED,
        "check implies act",
        (runs.a_page_is_not_rounded_up,),
    ),
    RequestBug(
        "OB-13",
        "The pool was sized for the longest request, which then needed one token and so one block more.",
        CHECKED,
        "check implies act",
        (runs.one_token_more_than_the_pool_was_sized_for,),
    ),
    RequestBug(
        "OB-15",
        "The admission ignored the blocks that are reserved for running requests.",
        not_expressible="The machine reserves nothing: a request may be admitted to the last free block.",
    ),
    RequestBug(
        "BA-02",
        "Less was required than held, and the difference was asked for.",
        REFUSED,
        "whole demands",
        (runs.less_is_required_than_held,),
    ),
)
