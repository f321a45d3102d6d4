"""A pool of `impl` as servers call it: arguments of every form, answers that the caller changes, metrics collected.

What the caller hands in stays his, and what he is handed is his: neither may change behind his back.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from random import Random
from typing import Any

from blockpool.impl.block import KVCacheBlock
from blockpool.impl.events import BlockStored, KVCacheEvent
from blockpool.impl.pool import BlockPool
from blockpool.proofs.refine.correspondence import BrokenPoolError


class MaskArray:
    """A mask that is no sequence of Python's but acts like one, as an array of numpy does."""

    def __init__(self, items: Iterable[bool]) -> None:
        self._items = list(items)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, place: int) -> bool:
        return self._items[place]

    def __iter__(self) -> Iterator[bool]:
        return iter(self._items)


FORMS: tuple[Callable[[list[Any]], Any], ...] = (list, tuple, iter, deque, lambda items: (item for item in items))
"""How a collection of blocks may be given."""

INDEXED: tuple[Callable[[list[Any]], Any], ...] = (list, tuple, deque)
"""How a table may be given, of which a part is read."""


SCRIBBLED = object()
"""What a caller leaves in a list that is his."""


class Collector:
    """Metrics as a server collects them: which blocks were lent, read and evicted, and how often all was forgotten."""

    def __init__(self) -> None:
        self.lent: list[int] = []
        self.read: list[int] = []
        self.evicted: list[int] = []
        self.resets = 0

    def on_block_allocated(self, block: KVCacheBlock) -> None:
        self.lent.append(block.block_id)

    def on_block_accessed(self, block: KVCacheBlock) -> None:
        self.read.append(block.block_id)

    def on_block_evicted(self, block: KVCacheBlock) -> None:
        self.evicted.append(block.block_id)

    def reset(self) -> None:
        self.resets += 1


class ProbedPool(BlockPool):
    """The pool, called with arguments of changing form; it keeps what it handed out, to compare it at the end."""

    def __init__(self, blocks: int, unit: int, events: bool, dice: Random, collector: Collector | None = None) -> None:
        super().__init__(blocks, True, unit, events, metrics_collector=collector)
        self.dice = dice
        self.handed_out: list[tuple[Any, Any]] = []  # an answer, and a copy of it as it was
        self.handed_in: list[tuple[list[Any], list[Any]]] = []

    def formed(self, blocks: Iterable[Any], forms: Sequence[Callable[[list[Any]], Any]] = FORMS) -> Any:
        """These blocks in one of the forms; a list is kept, for the pool must not change it."""
        listed = list(blocks)
        made = self.dice.choice(forms)
        if made is list:
            self.handed_in.append((listed, listed.copy()))
            return listed
        return made(listed)

    def answered(self, answer: list[Any] | None, copied: Callable[[Any], Any] = list) -> Any:
        """The caller's copy of an answer. The answer itself is scribbled on, as its owner may do, or kept."""
        if answer is None:
            return None
        mine = copied(answer)
        if self.dice.random() < 0.5:
            for event in answer:
                if isinstance(event, BlockStored):
                    event.block_hashes[:], event.token_ids[:] = [b"scribbled"], [-1]
            answer[:] = [SCRIBBLED]
        else:
            self.handed_out.append((answer, copied(answer)))
        return mine

    def changed_afterwards(self) -> str:
        """What changed although it was somebody else's; empty if nothing did."""
        for now, then in self.handed_out:
            if now != then:
                return f"an answer changed after it was given: {str(then)[:200]} became {str(now)[:200]}"
        wrong = sum(now != then for now, then in self.handed_in)
        return f"{wrong} lists of arguments were changed by the pool" if wrong else ""

    # --- the calls ---

    def get_new_blocks(self, num_blocks: int) -> list[KVCacheBlock]:
        answer: list[KVCacheBlock] = self.answered(super().get_new_blocks(num_blocks))
        return answer

    def touch(self, blocks: Sequence[KVCacheBlock]) -> None:
        super().touch(self.formed(blocks))

    def free_blocks(self, ordered_blocks: Iterable[KVCacheBlock]) -> None:
        super().free_blocks(self.formed(ordered_blocks))

    def unpin_blocks(self, blocks: Iterable[KVCacheBlock], on_reuse: Any) -> None:
        super().unpin_blocks(self.formed(blocks), on_reuse)

    def cache_full_blocks(self, request: Any, blocks: Any, *rest: Any) -> None:
        first, end, size, group, mask = rest
        if mask is not None:
            mask = self.dice.choice((list, tuple, MaskArray))(mask)
        super().cache_full_blocks(request, self.formed(blocks, INDEXED), first, end, size, group, mask)

    def evict_blocks(self, block_ids: Any) -> None:
        forms: tuple[Callable[[Any], Any], ...] = (set, list, dict.fromkeys, lambda ids: dict.fromkeys(ids).keys())
        super().evict_blocks(self.dice.choice(forms)(block_ids))

    def get_cached_block(self, block_hash: bytes, kv_cache_group_ids: Sequence[int]) -> list[KVCacheBlock] | None:
        found: list[KVCacheBlock] | None = self.answered(
            super().get_cached_block(block_hash, self.dice.choice((list, tuple))(kv_cache_group_ids))
        )
        return found

    def take_events(self) -> list[KVCacheEvent]:
        events: list[KVCacheEvent] = self.answered(super().take_events(), deepcopy)
        return events


def check_metrics(collector: Collector, lent: Sequence[int], read: Sequence[int], evicted: Iterable[int]) -> None:
    """Compare what a call reported with its step: lent and read in order, evicted in any. Raises BrokenPoolError."""
    told = (tuple(collector.lent), tuple(collector.read), Counter(collector.evicted))
    wanted = (tuple(lent), tuple(read), Counter(evicted))
    for what, mine, right in zip(("lent", "read", "evicted"), told, wanted, strict=True):
        if mine != right:
            raise BrokenPoolError(f"metrics say {what} {str(mine)[:200]}; right is {str(right)[:200]}")
    collector.lent, collector.read, collector.evicted = [], [], []
