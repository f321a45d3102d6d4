"""Groups: what each kind of layer keeps in its blocks, and which of it a token reads.

A model's layers form groups; each request has one block table for each group. `block_size` is in tokens.

    full      every token's content stays; a token reads all before it
    window    a token reads only the last `window` tokens, itself included; blocks that left the window are given back
    ring      the last block_size tokens of one request in one block, overwritten in turn; never published
    state     one recurrent state a block: the state after the last token computed in it, updated in place
"""

from dataclasses import dataclass
from enum import StrEnum

from blockpool.spec.pool.terms import BlockId, GroupId

Slot = tuple[GroupId, tuple[int, ...]] | None
"""What one place in memory holds: the content that a group computes for a prefix, or nobody knows what."""

Table = tuple[BlockId, ...]
"""The blocks of one request in one group, by position; the null block where nothing is needed."""


class Kind(StrEnum):
    """How a group's layers look back."""

    FULL = "full"
    WINDOW = "window"
    RING = "ring"
    STATE = "state"


@dataclass(frozen=True, slots=True)
class Group:
    """One group of a model."""

    kind: Kind
    block_size: int
    window: int = 0  # of a window group, in tokens; at least 2, since one that sees only itself reads no block

    def __post_init__(self) -> None:
        if self.block_size < 1 or (self.kind is Kind.WINDOW) != (self.window >= 2):
            raise ValueError(f"{self}: blocks hold at least one token, and windows, of window groups, at least two")

    @property
    def slots(self) -> int:
        """Places in one block that can hold different things."""
        return 1 if self.kind is Kind.STATE else self.block_size

    def entry(self, position: int) -> int:
        """Where in the table the block of this token is."""
        return 0 if self.kind is Kind.RING else position // self.block_size

    def slot(self, position: int) -> int:
        """Where in its block the content of this token is."""
        return 0 if self.kind is Kind.STATE else position % self.block_size

    def blocks_for(self, tokens: int) -> int:
        """How long a table for so many tokens is."""
        return min(1, tokens) if self.kind is Kind.RING else -(-tokens // self.block_size)

    def first_needed(self, position: int) -> int:
        """The first token that the computation of the token at `position` reads; `position` itself if none."""
        match self.kind:
            case Kind.FULL:
                return 0
            case Kind.WINDOW:
                return max(0, position - self.window + 1)
            case Kind.RING:
                return max(0, position - self.block_size + 1)
            case Kind.STATE:
                return max(0, position - 1)  # the state after the token before
