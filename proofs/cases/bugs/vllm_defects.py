"""The defects of vLLM 0.33.0 that were executed on the real pool: each as calls, and what an audit says of the replies.

The ids are those of the table of executed defects in this project's notes. `Behind` is what somebody does to the pool
without asking it; a trace has no line for it, only for what follows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from blockpool.proofs.systems.vllm.adapter import VllmPool
from blockpool.spec.contract.calls import (
    Alloc,
    BlockName,
    Call,
    Free,
    FreeCount,
    Lookup,
    Move,
    Publish,
    PublishPartial,
    Reset,
    Share,
    Start,
    Unpin,
    Unpublish,
    Writable,
)
from blockpool.spec.contract.violation import RULES_OF_CALLERS

Verdict = tuple[str, str] | None
"""The law and the party at fault; None: nothing is wrong."""

REFUSED: Verdict = ("a_wrong_call_is_refused", "pool")
CALLER: Verdict = (RULES_OF_CALLERS, "caller")
ONE_USER: Verdict = ("a_block_has_one_user_until_it_is_shared", "pool")
OWN_BLOCKS: Verdict = ("only_blocks_of_the_pool_are_lent", "pool")
FREE: Verdict = ("free_is_what_is_not_held", "pool")
DONE: Verdict = ("a_legal_call_is_done", "pool")
HIT: Verdict = ("a_hit_carries_its_key", "pool")
LOST: Verdict = ("what_was_published_is_found", "outside the profile")
RESET: Verdict = ("a_reset_is_done_as_declared", "outside the profile")
ORDER: Verdict = ("blocks_are_lent_in_order", "outside the profile")
TOLD: Verdict = ("watchers_are_told_once_before_reuse", "pool")
WRITABLE: Verdict = ("writable_only_if_unobserved", "pool")


@dataclass(frozen=True, slots=True)
class Behind:
    """Somebody changes the pool behind its back."""

    deed: Callable[[Any], object]  # of vLLM's BlockPool


@dataclass(frozen=True, slots=True)
class Defect:
    """One defect: what happens, what an audit says under three profiles, and the calls."""

    id: str
    what: str
    strict: Verdict  # what our spec promises
    own: Verdict  # what vLLM 0.33 promises
    damage: Verdict  # the same if a wrong call, however it is answered, may change nothing
    blocks: int
    steps: tuple[Call | Behind, ...]
    caching: bool = True

    @property
    def start(self) -> Start:
        return Start(self.blocks, self.caching)

    @property
    def file(self) -> str:
        return f"{self.id}.jsonl"


def publish(keys: str, *blocks: int) -> Publish:
    return Publish(blocks, tuple(keys.split()), tuple(range(1, len(blocks) + 1)))


def wrong(identifier: str, what: str, damage: Verdict, blocks: int, *steps: Call | Behind, **more: Any) -> Defect:
    """A defect that a wrong call brings out."""
    return Defect(identifier, what, REFUSED, CALLER, damage, blocks, steps, **more)


def always(identifier: str, what: str, verdict: Verdict, blocks: int, *steps: Call | Behind) -> Defect:
    """A defect that is one under every profile."""
    return Defect(identifier, what, verdict, verdict, verdict, blocks, steps)


FREE_ELSEWHERE = 98
"""The adapter's other foreign blocks are held in their pools; this one is free there."""


def queue_again(pool: Any) -> None:
    pool.free_block_queue.append_n([pool.blocks[2]])


def queue_twice(pool: Any) -> None:
    pool.free_block_queue.append(pool.blocks[1])
    pool.free_block_queue.append(pool.blocks[1])


LATENT = (
    wrong(
        "B1",
        "A block is released twice in one call; the next allocation fails, of somebody who did nothing.",
        DONE,
        4,
        *(Alloc(1), Free((1, 1)), Alloc(1)),
    ),
    wrong(
        "B2",
        "A cached block is released twice and then hit; it is lent to another user while the first reads it.",
        ONE_USER,
        3,
        *(Alloc(3), publish("k", 1), Free((1,)), Free((1,)), Lookup("k"), Share((1,)), Alloc(1)),
    ),
    wrong(
        "B3",
        "A block is released that was never lent; an allocation that comes to it fails.",
        DONE,
        3,
        *(Free((2,)), FreeCount(), Alloc(1), Alloc(2)),
    ),
    wrong(
        "B4",
        "A block is unpinned and then released; its count is below zero in the queue.",
        DONE,
        3,
        *(Alloc(1), Unpin((1,), "reader"), Free((1,)), FreeCount(), Alloc(3)),
    ),
    wrong(
        "B5",
        "An allocation of minus one block makes the free count grow; later the end of the queue is lent.",
        FREE,
        2,
        *(Alloc(-1), FreeCount(), Alloc(3)),
    ),
    wrong(
        "B6",
        "After an allocation of minus one block a reset is done while a block is held.",
        RESET,
        3,
        *(Alloc(1), publish("k", 1), Alloc(-1), Reset()),
    ),
    wrong(
        "B7-touch",
        "A free block of another pool is touched here; this pool counts one free block less.",
        FREE,
        3,
        *(Share((FREE_ELSEWHERE,)), FreeCount()),
    ),
    wrong(
        "B7-unpin",
        "A block of another pool is unpinned here; this pool queues it and lends it.",
        OWN_BLOCKS,
        3,
        *(Unpin((99,), "reader"), Alloc(4)),
    ),
    wrong(
        "B8",
        "Evicting block -1 evicts the last block.",
        LOST,
        3,
        *(Alloc(3), publish("a b c", 1, 2, 3), Unpublish((-1,)), Lookup("c")),
    ),
    wrong(
        "B9",
        "Keys are moved to the null block, and lookups answer it.",
        HIT,
        3,
        *(Alloc(1), publish("k", 1), Move(1, 0), Lookup("k")),
    ),
    wrong(
        "B10",
        "With caching off a block is published; lent anew, it is still found.",
        HIT,
        2,
        *(Alloc(1), publish("k", 1), Free((1,)), Alloc(1), Lookup("k")),
        caching=False,
    ),
    wrong(
        "B11",
        "Two prefixes of equal length are published on one block; both are found there.",
        HIT,
        3,
        *(Alloc(1), PublishPartial(1, "r", 4), PublishPartial(1, "s", 4), Lookup("s")),
    ),
    always(
        "B12",
        "The public reset_hash of a block takes its key away but not from the index; lent anew, it is still found.",
        HIT,
        1,
        *(Alloc(1), publish("k", 1), Behind(lambda pool: pool.blocks[1].reset_hash())),
        *(Free((1,)), Alloc(1), Lookup("k")),
    ),
    always(
        "B13-twice",
        "A block is put into the queue twice without a word; the counter counts it twice.",
        FREE,
        4,
        *(Alloc(1), Behind(queue_twice), FreeCount()),
    ),
    always(
        "B13-again",
        "A block is put at the end of the queue that stands in it already; those behind it are lost, and an "
        "allocation fails half way.",
        DONE,
        4,
        *(Alloc(1), Behind(queue_again), Alloc(3), FreeCount()),
    ),
)

NOT_ATOMIC = (
    always(
        "C1",
        "A callback raises during an allocation; its four blocks are lost.",
        DONE,
        4,
        *(Alloc(2), Unpin((1, 2), "raises"), Alloc(4), FreeCount()),
    ),
    always(
        "C2",
        "A callback raises during a reset; the index is gone, the keys of the blocks and other watchers are not.",
        DONE,
        3,
        *(Alloc(2), publish("k", 1), Unpin((1,), "raises"), Unpin((2,), "late"), Reset()),
    ),
    wrong(
        "C3",
        "A block is unpinned twice that was held once; the call fails, and the block is in no queue and held by "
        "nobody.",
        FREE,
        4,
        *(Alloc(2), Unpin((1, 1), "reader"), Free((1,)), FreeCount()),
    ),
    wrong(
        "C4",
        "Publishing fails at the second block; the first one is findable already.",
        HIT,
        3,
        *(Alloc(2), PublishPartial(2, "x", 5), publish("a b", 1, 2), Lookup("a")),
    ),
    wrong(
        "C5",
        "One block with a wrong count fails an allocation; all blocks of it are lost.",
        DONE,
        4,
        *(Free((3,)), Alloc(4), FreeCount()),
    ),
    wrong(
        "C7",
        "Evicting a known and an unknown block evicts the first and fails.",
        LOST,
        3,
        *(Alloc(1), publish("a", 1), Unpublish((1, 99)), Lookup("a")),
    ),
)

WATCHERS = (
    always(
        "D-w1",
        "Two readers unpin one block; only the second is told.",
        TOLD,
        2,
        *(Alloc(1), Share((1,)), Unpin((1,), "first"), Unpin((1,), "second"), Alloc(2)),
    ),
    always(
        "D-w2",
        "A watcher outlives a hit on its block and is told at a later reuse. This is our contract too; what vLLM "
        "lacks is a way to cancel.",
        None,
        2,
        *(Alloc(1), publish("k", 1), Unpin((1,), "reader"), Lookup("k"), Share((1,)), Free((1,)), Alloc(2)),
    ),
    Defect(
        "D-w3",
        "A watched block without a key is released last by a plain release, and is the next to be lent.",
        ORDER,
        None,
        None,
        4,
        (Alloc(1), Share((1,)), Unpin((1,), "reader"), Free((1,)), Alloc(1)),
    ),
    always(
        "D-w4",
        "An unpinned block is lent before cached blocks that were released later. This is our contract too: it is "
        "the last resort at that moment.",
        None,
        4,
        *(Alloc(4), publish("a b", 1, 2), Unpin((3,), "reader"), Free((2, 1)), Alloc(1)),
    ),
    always(
        "D-w5",
        "A block that a reader was promised is writable.",
        WRITABLE,
        3,
        *(Alloc(1), Share((1,)), Unpin((1,), "reader"), Writable(1)),
    ),
    always(
        "D-w6-touch",
        "A callback touches the block that is about to be reused; the allocation fails.",
        DONE,
        4,
        *(Alloc(2), publish("k", 1), Unpin((1,), "touches"), Alloc(3)),
    ),
    always(
        "D-w6-free",
        "A callback releases the block that is about to be reused; the allocation fails.",
        DONE,
        4,
        *(Alloc(2), publish("k", 1), Unpin((1,), "releases"), Alloc(3)),
    ),
    always(
        "D-w6-unpin",
        "A callback unpins the block that is about to be reused; the allocation fails.",
        DONE,
        4,
        *(Alloc(2), publish("k", 1), Unpin((1,), "unpins"), Alloc(3)),
    ),
)

DEFECTS = (*LATENT, *NOT_ATOMIC, *WATCHERS)

BELOW_THE_VOCABULARY = {
    "B14": "A walk through the free queue with a cursor is no call of a pool; impl's own walk refuses a lost cursor.",
    "C6": "A call names its blocks at once, so no iterable can fail half way; impl's own pool is asked with one.",
}
"""What no trace can show, and why."""


class Callbacks(VllmPool):
    """The adapter, with watchers that do more than listen: their names say what."""

    def _watcher(self, name: str) -> Callable[[Any], None]:
        listen = super()._watcher(name)
        deeds: dict[str, Callable[[Any], object]] = {
            "raises": transport_gone,
            "touches": lambda block: self.pool.touch([block]),
            "releases": lambda block: self.pool.free_blocks([block]),
            "unpins": lambda block: self.pool.unpin_blocks([block], print),
        }

        def tell(block: Any) -> None:
            listen(block)
            if name in deeds:
                deeds[name](block)

        return tell

    def _block(self, name: BlockName) -> Any:
        if name == FREE_ELSEWHERE:
            return self._strangers.setdefault(name, self.release.new_pool(4, True, False).blocks[2])
        return super()._block(name)


def transport_gone(_: object) -> None:
    raise KeyError("transport gone")
