"""One request of a trace, and its prompt as block identities."""

from dataclasses import dataclass

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
