"""The light monitor: who is lent which block, and how many are free; nothing about keys, order, events or watchers.

Four methods of the pool are covered. A count for each block is all it keeps, so a call costs one addition a block.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from blockpool.spec.contract.calls import Party
from blockpool.spec.contract.laws import (
    A_BLOCK_HAS_ONE_USER_UNTIL_IT_IS_SHARED,
    AN_ALLOCATION_SUCCEEDS_IF_IT_FITS,
    FREE_IS_WHAT_IS_NOT_HELD,
    ONLY_BLOCKS_OF_THE_POOL_ARE_LENT,
)
from blockpool.spec.contract.violation import RULES_OF_CALLERS, Breach


class Counting:
    """Counts beside `pool`, from now until `close`. The pool must be new; see `instrument.py`."""

    def __init__(self, pool: Any, told: Callable[[Breach], None]) -> None:
        if pool.get_num_free_blocks() != pool.num_gpu_blocks - 1:
            raise ValueError("the pool is in use already; watch it from its construction on")
        self.pool = pool
        self.calls = 0
        self._told = told
        self._refs = [0] * pool.num_gpu_blocks
        self._refs[pool.null_block.block_id] = 1  # lent for ever, to nobody
        self._free = pool.num_gpu_blocks - 1
        self._ended = False
        self._of = {name: getattr(pool, name) for name in COVERED if hasattr(pool, name)}
        for name in self._of:
            setattr(pool, name, getattr(self, name))

    def close(self) -> None:
        """The pool is as it was."""
        for name in self._of:
            delattr(self.pool, name)
        self._of = {}

    def get_new_blocks(self, num_blocks: int) -> Any:
        """Each block was free, and is lent once."""
        blocks = self._of["get_new_blocks"](num_blocks)
        self.calls += 1
        refs, own = self._refs, self.pool.blocks
        for block in blocks:
            number = block.block_id
            if not 0 <= number < len(refs) or block is not own[number]:
                self._breach(ONLY_BLOCKS_OF_THE_POOL_ARE_LENT.name, f"lent block {number}, which is not one of its own")
            elif refs[number]:
                law = A_BLOCK_HAS_ONE_USER_UNTIL_IT_IS_SHARED.name
                self._breach(law, f"lent block {number}, which has {refs[number]} references", number)
            else:
                refs[number] = 1
        self._free -= num_blocks
        if len(blocks) != num_blocks:
            self._breach(AN_ALLOCATION_SUCCEEDS_IF_IT_FITS.name, f"lent {len(blocks)} blocks of {num_blocks}")
        return blocks

    def touch(self, blocks: Sequence[Any]) -> Any:
        """One more reference each."""
        answer = self._of["touch"](blocks)
        self.calls += 1
        refs = self._refs
        for block in blocks:
            if not block.is_null:
                number = block.block_id
                if not refs[number]:
                    self._free -= 1
                refs[number] += 1
        return answer

    def free_blocks(self, ordered_blocks: Iterable[Any]) -> Any:
        """One reference less each, and no more than there are."""
        blocks = list(ordered_blocks)
        answer = self._of["free_blocks"](blocks)
        self._give_back("free_blocks", blocks)
        return answer

    def unpin_blocks(self, blocks: Iterable[Any], on_reuse: Any) -> Any:
        """The same, for counts."""
        blocks = list(blocks)
        answer = self._of["unpin_blocks"](blocks, on_reuse)
        self._give_back("unpin_blocks", blocks)
        return answer

    def get_num_free_blocks(self) -> int:
        """What is not held."""
        free: int = self._of["get_num_free_blocks"]()
        self.calls += 1
        if free != self._free:
            self._breach(FREE_IS_WHAT_IS_NOT_HELD.name, f"{free} blocks are said to be free; {self._free} are not held")
        return free

    def _give_back(self, call: str, blocks: list[Any]) -> None:
        self.calls += 1
        refs, own = self._refs, self.pool.blocks
        for block in blocks:
            number = block.block_id
            if block.is_null or block is not own[number]:  # of another pool: that one counts it
                continue
            if not refs[number]:
                self._breach(RULES_OF_CALLERS, f"{call} of block {number}, which is not held", number, "caller")
                return
            refs[number] -= 1
            if not refs[number]:
                self._free += 1

    def _breach(self, law: str, words: str, block: int | None = None, party: Party = "pool") -> None:
        """Tell the first one; afterwards the counts mean nothing."""
        if not self._ended:
            self._ended = True
            self._told(Breach(law, party, words, block))


COVERED = [name for name in vars(Counting) if not name.startswith("_") and name != "close"]
"""The methods of the pool that are covered."""
