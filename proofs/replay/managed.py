"""The reference managers under the engine: a coordinator over one group of full attention, in blocks of one token.

Its pool counts the calls, and judges them in lockstep. In lockstep two more things are checked here, which no single
call of the pool can show: that the references of every block are accounted for, and that requests read what they should
(`memory.py`). A failure is reported with the latest call of the pool.
"""

from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from blockpool.impl.managers import Coordinator, GroupSpec, Kind
from blockpool.proofs.refine.lockstep import MismatchError
from blockpool.proofs.replay.calls import CountedPool
from blockpool.proofs.replay.memory import Memory
from blockpool.proofs.replay.requests import Sequence

T = TypeVar("T")


class Managed:
    """The calls of the engine on the coordinator. Each raises MismatchError if a check fails, or the call does."""

    def __init__(self, pool: CountedPool, memory: Memory | None) -> None:
        self.pool = pool
        self.coordinator = Coordinator(pool, [GroupSpec(Kind.FULL, 1)])
        self._memory = memory
        self._compared = 0  # full comparisons after which the references were accounted for

    def admit(self, sequence: Sequence) -> bool:
        """Start with the longest hit, and schedule all other tokens; False if there is no room."""
        self.pool.will_ask_about(sequence)
        tokens = len(sequence.all_token_ids)
        return self._call("admit", sequence, lambda: self.coordinator.admit(sequence, tokens, tokens))

    def hit(self, sequence: Sequence) -> int:
        """So many blocks of a request that was just admitted are hits."""
        return self.coordinator.computed(sequence)

    def grow(self, sequence: Sequence) -> bool:
        """Schedule the tokens that are not computed yet; False if there is no room."""
        return self._call("grow", sequence, lambda: self.coordinator.grow(sequence, len(sequence.all_token_ids)))

    def preempt(self, sequence: Sequence) -> None:
        self._call("preempt", sequence, lambda: self.coordinator.preempt(sequence))

    def finish(self, sequence: Sequence) -> None:
        if self._memory is not None:
            self._memory.check_reads(sequence, self.coordinator.tables(sequence)[0])
        self._call("finish", sequence, lambda: self.coordinator.finish(sequence))

    def run_pass(self) -> None:
        """The workers run the copies and compute what is scheduled."""
        if self._memory is not None:
            self._memory.run_pass(self.coordinator)
        self._call("commit", None, self.coordinator.commit)

    def conclude(self) -> None:
        """Nothing runs any more."""
        self.pool.conclude()
        self._account_if_due()

    def _call(self, name: str, sequence: Sequence | None, call: Callable[[], T]) -> T:
        try:
            answer = call()
        except MismatchError:
            raise
        except Exception as error:
            of = "" if sequence is None else f" of request {sequence.request_id}"
            raise MismatchError(f"after it, {name}{of} raised {type(error).__name__}: {error}") from error
        self._account_if_due()
        return answer

    def _account_if_due(self) -> None:
        """After a call in which everything was compared: within the call, a block may be on its way to a table."""
        if self._compared != self.pool.full_comparisons:
            self._compared = self.pool.full_comparisons
            check_conservation(self.coordinator)


def check_conservation(coordinator: Coordinator) -> None:
    """The references of each block are its places in tables, pending copies and deferred releases, no more, no less."""
    places: Counter[int] = Counter()
    for request in coordinator.running:
        for table in coordinator.tables(request):
            places.update([block.block_id for block in table if not block.is_null])
    for copy in coordinator.copies_to_run():
        places.update([block.block_id for block in copy])
    places.update([block.block_id for block in coordinator._pass._deferred])
    for pool in coordinator.pools:
        for block in pool.blocks:
            if block.ref_cnt != places[block.block_id]:
                raise MismatchError(
                    f"after it, block {block.block_id} has ref_cnt {block.ref_cnt}, and"
                    f" {places[block.block_id]} places in tables, pending copies and deferred releases"
                )
