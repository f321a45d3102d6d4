"""A request as a trace records it, its prompt as block identities; and as the pool sees it, in the scaled model."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from blockpool.impl.hashing import hash_block_tokens

TRACE_BLOCK = 512
"""Tokens of the prompt that one id of a trace stands for."""


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """A request as a trace records it.

    `hash_ids` has one id for each 512 tokens of the prompt, the last ones possibly fewer. Equal ids mean equal
    prefixes up to and including that block. What the output was, a trace does not say.
    """

    input_length: int
    output_length: int
    hash_ids: tuple[int, ...]
    timestamp: float = 0.0  # ms; the replay keeps the order, not the time

    @property
    def computed_length(self) -> int:
        """Tokens that get KV content: not the last output token, since nothing is computed from it."""
        return self.input_length + max(self.output_length - 1, 0)

    def full_blocks(self, block_size: int) -> list[int]:
        """The identities of the blocks of this size that the prompt fills. Never negative, if the ids are not."""
        parts = TRACE_BLOCK // block_size
        return [self.hash_ids[j // parts] * parts + j % parts for j in range(self.input_length // block_size)]


def check_block_size(block_size: int) -> None:
    """Refuse block sizes that do not divide the 512 tokens of an id."""
    if block_size < 1 or TRACE_BLOCK % block_size:
        allowed = ", ".join(str(size) for size in range(1, TRACE_BLOCK + 1) if TRACE_BLOCK % size == 0)
        raise ValueError(
            f"block size {block_size} does not divide the {TRACE_BLOCK} tokens of a trace id; use one of {allowed}"
        )


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
