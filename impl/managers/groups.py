"""What kinds of layer groups there are, and how a group is described."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from blockpool.impl.managers.errors import GroupError


class Kind(Enum):
    """What a token of the group reads."""

    FULL = "full"  # all tokens before it
    WINDOW = "window"  # the last `window` tokens, itself included
    RING = "ring"  # one block that is overwritten in turn
    STATE = "state"  # the recurrent state after the token before it


@dataclass(frozen=True, slots=True)
class GroupSpec:
    """A group of layers with one block table a request.

    `block_size` is in tokens, a multiple of the pool's hash unit. `window`, in tokens, belongs to the kind WINDOW.
    Raises: GroupError.
    """

    kind: Kind
    block_size: int
    window: int = 0

    def __post_init__(self) -> None:
        if self.block_size < 1:
            raise GroupError("GroupSpec", f"block_size is {self.block_size}")
        if (self.window >= 1) is not (self.kind is Kind.WINDOW) or self.window < 0:
            raise GroupError("GroupSpec", f"a window of {self.window} tokens for the kind {self.kind.name}")
