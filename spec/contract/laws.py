"""What is promised about calls and answers, so that a pool can be judged from outside.

The claims of `spec/claims` speak of the state of the abstract machine; these speak of what a caller sees. A law
without a knob holds for every pool. A law with one is a choice that a profile makes (`profiles.py`); a pool that breaks
it is outside that profile, and safe nevertheless.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Law:
    """A named law with its sentence and its reason."""

    name: str
    sentence: str
    reason: str
    knob: str | None = None  # the choice of the profile that it belongs to
    needs: str | None = None  # the operation without which it says nothing


A_BLOCK_HAS_ONE_USER_UNTIL_IT_IS_SHARED = Law(
    "a_block_has_one_user_until_it_is_shared",
    "An allocation lends no block that somebody holds, and none twice.",
    "Two requests that write into one block read each other's content.",
)

ONLY_BLOCKS_OF_THE_POOL_ARE_LENT = Law(
    "only_blocks_of_the_pool_are_lent",
    "An allocation lends no reserved block, and no more different blocks than the pool has.",
    "A block from elsewhere is memory of somebody else, or none at all.",
)

FREE_IS_WHAT_IS_NOT_HELD = Law(
    "free_is_what_is_not_held",
    "The number of free blocks is the capacity less the blocks held.",
    "Admission rests on this number: too large, and a request fails half way; too small, and memory is lost.",
)

AN_ALLOCATION_SUCCEEDS_IF_IT_FITS = Law(
    "an_allocation_succeeds_if_it_fits",
    "An allocation is granted, with as many blocks as asked for, if so many are free; and refused if not.",
    "A scheduler checks first and then relies on it; an error in between stops the engine.",
)

A_REPEATED_RELEASE_COUNTS_EACH_NAMING = Law(
    "a_repeated_release_counts_each_naming",
    "A release that names a block twice gives back two references.",
    "A request that holds a block twice, as two groups or two hits of one prefix do, gives it back in one call.",
    needs="share",
)

A_HIT_CARRIES_ITS_KEY = Law(
    "a_hit_carries_its_key",
    "A lookup answers only blocks that carry the key in that group, and were not lent anew since.",
    "A hit is read without any check of its content; a wrong one is a wrong answer of the model.",
    needs="lookup",
)

PUBLISHING_ANSWERS_WHAT_THE_CALLER_HOLDS = Law(
    "publishing_answers_what_the_caller_holds",
    "Publishing answers, for each block, the block itself or one that carries the key; never another.",
    "The caller goes on with the blocks of the answer: they are in its table from then on.",
    needs="publish",
)

WATCHERS_ARE_TOLD_ONCE_BEFORE_REUSE = Law(
    "watchers_are_told_once_before_reuse",
    "Who watches a block is told when it is lent anew or the cache is reset: once, and then no more.",
    "A reader that is not told reads another's content; one told twice acts on a later life of the block.",
    needs="unpin",
)

CANCELLING_ANSWERS_WHETHER_IT_WATCHED = Law(
    "cancelling_answers_whether_it_watched",
    "Cancelling answers yes exactly if the watcher was still to be told.",
    "The answer decides whether the reader may still be called.",
    needs="cancel",
)

WRITABLE_ONLY_IF_UNOBSERVED = Law(
    "writable_only_if_unobserved",
    "A block is writable exactly if it is held once, and nobody finds or watches it.",
    "Writing in place under another reader changes what that reader reads.",
    needs="writable",
)

A_LEGAL_CALL_IS_DONE = Law(
    "a_legal_call_is_done",
    "A call within the rules is neither refused nor fails.",
    "The caller has kept its part; it has no way to go on.",
)

ANSWERS_HAVE_THEIR_SHAPE = Law(
    "answers_have_their_shape",
    "Each answer is of the kind that belongs to its call.",
    "An answer of another kind is not an answer; what the caller makes of it is anybody's guess.",
)

A_REFUSAL_CHANGES_NOTHING = Law(
    "a_refusal_changes_nothing",
    "After an allocation was refused because too little is free, everything is as it was.",
    "Engines try, are refused, and try again later: damage adds up without any error.",
)

BLOCKS_ARE_LENT_IN_ORDER = Law(
    "blocks_are_lent_in_order",
    "An allocation takes the blocks that are next in the order of the profile.",
    "The order is the cache policy, and those who compare two engines rely on it to the block.",
    knob="order",
)

THE_LONGEST_RELEASED_IS_EVICTED_FIRST = Law(
    "the_longest_released_is_evicted_first",
    "Among free blocks with a key, the one released longest ago is lent first.",
    "What was used last is most likely used again; any other order costs hits.",
    knob="order",
    needs="publish",
)

WHAT_WAS_PUBLISHED_IS_FOUND = Law(
    "what_was_published_is_found",
    "A lookup finds a key as long as the profile says that it lasts.",
    "A lost hit is computed again by every request that needs it; nothing ever reports it.",
    knob="keys_last",
    needs="lookup",
)

EQUAL_KEYS_ARE_HANDLED_AS_DECLARED = Law(
    "equal_keys_are_handled_as_declared",
    "If a key is published that another block carries, blocks, references and keys move as the profile says.",
    "The caller must know which block is in its table, and which copy outlives which.",
    knob="duplicates",
    needs="publish",
)

A_LOOKUP_PREFERS_AS_DECLARED = Law(
    "a_lookup_prefers_as_declared",
    "Among several blocks under a key a lookup answers the one that the profile names.",
    "Which copy is revived decides which one is evicted.",
    knob="choice",
    needs="lookup",
)

A_RESET_IS_DONE_AS_DECLARED = Law(
    "a_reset_is_done_as_declared",
    "A reset answers whether it was done, and is done exactly when the profile says.",
    "After new weights are loaded every old key is false; a reset that did nothing must say so.",
    knob="reset",
    needs="reset",
)

EVENTS_ARE_CONSISTENT = Law(
    "events_are_consistent",
    "A Stored event has keys, as many tokens as they have, and the parent that its reader knows.",
    "A reader in another process rebuilds the prefix tree from these fields alone.",
    knob="events",
    needs="events",
)

EVENTS_MIRROR_THE_INDEX = Law(
    "events_mirror_the_index",
    "The events tell each arrival and each loss of a key, and nothing else.",
    "A router sends requests where its mirror promises the longest prefix; a wrong mirror sends them astray.",
    knob="events",
    needs="events",
)

EVENTS_COME_IN_ORDER = Law(
    "events_come_in_order",
    "The events come in the order of the calls that caused them; neighbouring losses may be exchanged.",
    "Read in another order, they describe a cache that never was.",
    knob="events",
    needs="events",
)

A_WRONG_CALL_IS_REFUSED = Law(
    "a_wrong_call_is_refused",
    "A call against the rules is refused.",
    "An error at the wrong call is found in a minute; damage is found after hours, in an innocent caller.",
    knob="misuse",
)

A_WRONG_CALL_DOES_NO_DAMAGE = Law(
    "a_wrong_call_does_no_damage",
    "After a call against the rules everything is as it was.",
    "A serving engine logs the error and goes on with the same pool.",
    knob="misuse",
)

LAWS: tuple[Law, ...] = (
    A_BLOCK_HAS_ONE_USER_UNTIL_IT_IS_SHARED,
    ONLY_BLOCKS_OF_THE_POOL_ARE_LENT,
    FREE_IS_WHAT_IS_NOT_HELD,
    AN_ALLOCATION_SUCCEEDS_IF_IT_FITS,
    A_REPEATED_RELEASE_COUNTS_EACH_NAMING,
    A_HIT_CARRIES_ITS_KEY,
    PUBLISHING_ANSWERS_WHAT_THE_CALLER_HOLDS,
    WATCHERS_ARE_TOLD_ONCE_BEFORE_REUSE,
    CANCELLING_ANSWERS_WHETHER_IT_WATCHED,
    WRITABLE_ONLY_IF_UNOBSERVED,
    A_LEGAL_CALL_IS_DONE,
    ANSWERS_HAVE_THEIR_SHAPE,
    A_REFUSAL_CHANGES_NOTHING,
    BLOCKS_ARE_LENT_IN_ORDER,
    THE_LONGEST_RELEASED_IS_EVICTED_FIRST,
    WHAT_WAS_PUBLISHED_IS_FOUND,
    EQUAL_KEYS_ARE_HANDLED_AS_DECLARED,
    A_LOOKUP_PREFERS_AS_DECLARED,
    A_RESET_IS_DONE_AS_DECLARED,
    EVENTS_ARE_CONSISTENT,
    EVENTS_MIRROR_THE_INDEX,
    EVENTS_COME_IN_ORDER,
    A_WRONG_CALL_IS_REFUSED,
    A_WRONG_CALL_DOES_NO_DAMAGE,
)

PROMISES: dict[str, Law] = {law.name: law for law in LAWS}
"""Each law by its name."""
