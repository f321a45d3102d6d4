"""What a key means: the prefix it stands for.

The KV content of a block depends on every token before it, not only on its own. So a block is found again by the
*whole prefix* that ends in it. Here a key simply is that prefix, and therefore two keys are equal exactly if their
prefixes are. A real pool uses a hash of the prefix; that it never confuses two prefixes is an obligation of its own.

    unit         tokens in one hash unit (vLLM: hash_block_size)
    block size   tokens in one block of a group, a multiple of the unit

A *full* key covers a whole block. A *partial* key ends inside a block, at a multiple of the unit.
"""

from dataclasses import dataclass

from blockpool.spec.pool.terms import GroupId


@dataclass(frozen=True, slots=True, order=True)
class Extra:
    """Something besides tokens that changes what a block holds, from token position `at` on.

    The kind is part of it: an adapter named X is not a salt named X.
    """

    kind: str
    value: str
    at: int = 0


@dataclass(frozen=True, slots=True, order=True)
class Prefix:
    """The first tokens of a request, and all that shapes their KV content."""

    tokens: tuple[int, ...]
    extras: tuple[Extra, ...] = ()  # in sorted order

    def __len__(self) -> int:
        return len(self.tokens)

    def first(self, count: int) -> "Prefix":
        """The prefix of the first `count` tokens; an extra belongs to it if it starts within them."""
        return Prefix(self.tokens[:count], tuple(extra for extra in self.extras if extra.at < count))


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """What the index is asked for: a prefix in a group. Groups never share an entry."""

    prefix: Prefix
    group: GroupId

    @property
    def tokens(self) -> int:
        """How many tokens the key covers."""
        return len(self.prefix)
