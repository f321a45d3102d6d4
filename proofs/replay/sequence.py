"""A request in the scaled model, as managers and pool see it."""

from collections.abc import Iterable, Iterator

from blockpool.impl.hashing import hash_block_tokens


class Sequence:
    """One token for each block that was begun, and one digest for each block that is full.

    The last block may be begun and not be full: it has a token and no digest, so nobody publishes or finds it. For n
    tokens of the trace that are ceil(n / size) tokens and floor(n / size) digests of the model. A coordinator that is
    told a prompt of ceil(n / size) tokens leaves out the last one and hits at most ceil(n / size) - 1 blocks, which
    is (n - 1) // size: exactly what leaves at least one token of the trace to compute.

    Tokens of output are private: no two requests share one.
    """

    def __init__(self, request_id: str, shared: Iterable[int], private: Iterator[int]) -> None:
        self.request_id = request_id
        self.all_token_ids: list[int] = list(shared)
        self.block_hashes: list[bytes] = []
        self._private = private

    def reach(self, begun: int, full: int) -> None:
        """So many tokens and digests from now on; fewer, if the last ones were not computed after all."""
        del self.block_hashes[full:], self.all_token_ids[begun:]
        while len(self.all_token_ids) < begun:
            self.all_token_ids.append(next(self._private))
        while len(self.block_hashes) < full:
            parent = self.block_hashes[-1] if self.block_hashes else None
            self.block_hashes.append(hash_block_tokens(parent, [self.all_token_ids[len(self.block_hashes)]]))
