"""What the blocks contain, and whether each request reads what it wrote or hit.

No law of the pool is broken when a request is given a block with foreign content, so lockstep does not see it. As
every token of the model stands for one whole prefix, the content of a block is the token that was written last.
"""

from collections.abc import Sequence

from blockpool.impl.block import KVCacheBlock
from blockpool.impl.managers import Coordinator
from blockpool.impl.request import CacheRequest
from blockpool.proofs.refine.lockstep import MismatchError


class Memory:
    """The token in each block; a block that was never written has none."""

    def __init__(self) -> None:
        self._tokens: dict[KVCacheBlock, int] = {}

    def run_pass(self, coordinator: Coordinator) -> None:
        """Copies first, then the writes of the scheduled tokens, then what they read. Raises MismatchError."""
        for source, target in coordinator.copies_to_run():
            if source in self._tokens:
                self._tokens[target] = self._tokens[source]
        scheduled = []
        for request in coordinator.running:
            start, end = coordinator.computed(request), coordinator.scheduled(request)
            if start < end:
                (table,) = coordinator.tables(request)
                _check_length(request, table, end)
                self._tokens.update(zip(table[start:end], request.all_token_ids[start:end], strict=True))
                scheduled.append((request, table))
        for request, table in scheduled:
            self.check_reads(request, table)

    def check_reads(self, request: CacheRequest, table: Sequence[KVCacheBlock]) -> None:
        """Raise MismatchError unless the table has a block for each token, and it contains this token."""
        tokens = request.all_token_ids
        _check_length(request, table, len(tokens))
        if [self._tokens.get(block) for block in table] == list(tokens):
            return
        for block, token in zip(table, tokens, strict=True):
            if (seen := self._tokens.get(block)) != token:
                content = "nothing was written there" if seen is None else f"it contains token {seen}"
                raise MismatchError(
                    f"request {request.request_id} reads block {block.block_id} for token {token}, and {content}"
                )


def _check_length(request: CacheRequest, table: Sequence[KVCacheBlock], tokens: int) -> None:
    if len(table) != tokens:
        raise MismatchError(f"request {request.request_id} has a table of {len(table)} blocks for {tokens} tokens")
