"""Goals about the free queue: each method does to the linked list what the same change does to a Python list.

Of four blocks the first ones are queued, in order; how many is symbolic, as is which blocks a call names.
"""

from collections.abc import Callable
from typing import Any

from blockpool.impl.block import KVCacheBlock
from blockpool.impl.errors import Refusal
from blockpool.impl.free_queue import FreeKVCacheBlockQueue
from blockpool.proofs.symbolic.goals import nth, plain, untraced, within

BLOCKS = 4
MOST_QUEUED = 2
SCOPE = f"{MOST_QUEUED + 1} lengths"

QUEUE = "FreeKVCacheBlockQueue"


class Trial:
    """A queue, its blocks, and the list that it stands for."""

    def __init__(self, queued: int) -> None:
        self.blocks = [KVCacheBlock(number) for number in range(BLOCKS)]
        self.queue = FreeKVCacheBlockQueue(self.blocks[:queued])
        self.numbers = list(range(queued))

    def named(self, *numbers: int) -> list[KVCacheBlock]:
        return [self.blocks[number] for number in numbers]

    def judge(self, call: Callable[[], Any], wanted: list[int] | None, answer: object = None) -> str:
        """Make the call; `wanted` is the list afterwards, None if the call must be refused and change nothing."""
        try:
            given = call()
        except Refusal as refusal:
            if wanted is not None:
                return f"refused: {refusal.reason}"
        else:
            if wanted is None:
                return "not refused"
            if given != answer:
                return f"the answer is {given}"
        expected = self.named(*(self.numbers if wanted is None else wanted))
        loose = [block for block in self.blocks if block not in expected]
        linked = [block for block in loose if block.prev_free_block is not None or block.next_free_block is not None]
        if linked or self.queue.num_free_blocks != len(expected) or self.queue.get_all_free_blocks() != expected:
            return f"afterwards the queue is {self.queue.get_all_free_blocks()}"
        return ""


def trial(queued: int) -> Trial:
    length = nth(MOST_QUEUED + 1, queued)
    return untraced(lambda: Trial(length))


def possible(queued: int) -> bool:
    return 0 <= queued <= MOST_QUEUED


def possible_with_count(queued: int, count: int) -> bool:
    return possible(queued)


def possible_with_one(queued: int, only: int) -> bool:
    return possible(queued) and 0 <= only < BLOCKS


def possible_with_two(queued: int, first: int, second: int) -> bool:
    return possible_with_one(queued, first) and 0 <= second < BLOCKS


@plain(f"{QUEUE}.popleft", scope=SCOPE, given=possible)
def queue_popleft(queued: int) -> str:
    """The first block is taken, or the empty queue refuses."""
    it = trial(queued)
    if not it.numbers:
        return it.judge(it.queue.popleft, None)
    return it.judge(it.queue.popleft, it.numbers[1:], it.blocks[0])


@plain(f"{QUEUE}.popleft_n", scope=SCOPE, given=possible_with_count)
def queue_popleft_n(queued: int, count: int) -> str:
    """Any number of blocks is taken from the front, or the call is refused."""
    it = trial(queued)
    taken = within(count, -1, len(it.numbers) + 1)
    if not 0 <= taken <= len(it.numbers):
        return it.judge(lambda: it.queue.popleft_n(taken), None)
    return it.judge(lambda: it.queue.popleft_n(taken), it.numbers[taken:], it.blocks[:taken])


@plain(f"{QUEUE}.remove", scope=SCOPE, given=possible_with_one)
def queue_remove(queued: int, only: int) -> str:
    """A queued block leaves; a loose one is refused."""
    it, number = trial(queued), nth(BLOCKS, only)
    wanted = [other for other in it.numbers if other != number] if number in it.numbers else None
    return it.judge(lambda: it.queue.remove(it.blocks[number]), wanted)


@plain(f"{QUEUE}.remove_n", scope=SCOPE, given=possible_with_two)
def queue_remove_n(queued: int, first: int, second: int) -> str:
    """Two different queued blocks leave; a loose or repeated one undoes and refuses the call."""
    it, numbers = trial(queued), [nth(BLOCKS, first), nth(BLOCKS, second)]
    right = set(numbers) <= set(it.numbers) and numbers[0] != numbers[1]
    wanted = [other for other in it.numbers if other not in numbers] if right else None
    return it.judge(lambda: it.queue.remove_n(it.named(*numbers)), wanted)


@plain(f"{QUEUE}.append", scope=SCOPE, given=possible_with_one)
def queue_append(queued: int, only: int) -> str:
    """A loose block joins at the back; a queued one is refused."""
    it, number = trial(queued), nth(BLOCKS, only)
    wanted = None if number in it.numbers else [*it.numbers, number]
    return it.judge(lambda: it.queue.append(it.blocks[number]), wanted)


@plain(f"{QUEUE}.append_n", scope=SCOPE, given=possible_with_two)
def queue_append_n(queued: int, first: int, second: int) -> str:
    """Two different loose blocks join at the back; a queued or repeated one undoes and refuses the call."""
    it, numbers = trial(queued), [nth(BLOCKS, first), nth(BLOCKS, second)]
    wanted = [*it.numbers, *numbers] if are_loose(it, numbers) else None
    return it.judge(lambda: it.queue.append_n(it.named(*numbers)), wanted)


@plain(f"{QUEUE}.prepend_n", scope=SCOPE, given=possible_with_two)
def queue_prepend_n(queued: int, first: int, second: int) -> str:
    """Two different loose blocks join at the front; a queued or repeated one undoes and refuses the call."""
    it, numbers = trial(queued), [nth(BLOCKS, first), nth(BLOCKS, second)]
    wanted = [*numbers, *it.numbers] if are_loose(it, numbers) else None
    return it.judge(lambda: it.queue.prepend_n(it.named(*numbers)), wanted)


def are_loose(it: Trial, numbers: list[int]) -> bool:
    return not set(numbers) & set(it.numbers) and numbers[0] != numbers[1]
