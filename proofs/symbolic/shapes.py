"""Every small well-formed pool, up to the numbers of its blocks: which blocks are held, found, watched, queued.

A shape says what each block is like. Held blocks come first; free ones stand in the queue, the last number first. Every
other pool of this size is one of these with its blocks renumbered. How many references a held block has is no part of
the shape: that is data, any number from 1 on.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement, product
from typing import NamedTuple

from blockpool.spec import BlockId, GroupId, Key, Pool, Prefix, Primary, Watcher

PREFIX = Prefix((7, 8, 9))
"""The tokens of the one request; the unit is one token."""

SHORT = Key(PREFIX.first(1), GroupId(0))
LONG = Key(PREFIX.first(2), GroupId(0))

CONTENTS: tuple[tuple[Key, ...], ...] = ((), (SHORT,), (LONG,), (LONG, SHORT))
"""The keys of a block, primary first. Blocks may share a key."""

WATCHER = Watcher(0)


class Kind(NamedTuple):
    """What a block is like."""

    held: bool
    keys: tuple[Key, ...]
    watched: bool


Shape = tuple[Kind, ...]


def shapes(blocks: int, contents: Sequence[tuple[Key, ...]], watched: Sequence[bool]) -> Iterator[Shape]:
    """All shapes with so many lendable blocks of these contents."""
    kinds = list(product(contents, watched))
    for held in range(blocks + 1):
        for used in combinations_with_replacement(kinds, held):
            for queued in product(kinds, repeat=blocks - held):
                yield (*(Kind(True, *kind) for kind in used), *(Kind(False, *kind) for kind in queued))


SINGLES: tuple[Shape, ...] = tuple(shapes(1, CONTENTS, (False, True)))
"""One lendable block: held or free, watched or not, with no key, either key, or both."""

FEW: tuple[Shape, ...] = tuple(shapes(1, (CONTENTS[0], CONTENTS[3]), (False, True)))
"""The same with no key or both."""

PAIRS: tuple[Shape, ...] = tuple(shapes(2, (CONTENTS[0], CONTENTS[3]), (False,)))
"""Two lendable blocks: held or free, with no key or both."""

SHORT_PAIRS: tuple[Shape, ...] = tuple(shapes(2, CONTENTS[:2], (False,)))
"""Two lendable blocks: held or free, with no key or the shorter one, which a longer one may replace."""

KEYED_PAIRS: tuple[Shape, ...] = tuple(shapes(2, CONTENTS, (False,)))
"""Two lendable blocks: held or free, with no key, either key, or both."""

WATCHED_PAIRS: tuple[Shape, ...] = tuple(shapes(2, (CONTENTS[0], CONTENTS[3]), (False, True)))
"""Two lendable blocks: held or free, watched or not, with no key or both."""

BLANK_TRIPLES: tuple[Shape, ...] = tuple(shapes(3, CONTENTS[:1], (False,)))
"""Three lendable blocks: held or free."""

TRIPLES: tuple[Shape, ...] = tuple(shapes(3, CONTENTS[:2], (False,)))
"""Three lendable blocks, for what depends on order: held or free, with a key or without."""


def pool_of(shape: Shape, counts: Sequence[int], *, reporting: bool) -> Pool:
    """The pool of this shape; `counts` are the references of held blocks, at least 1 each."""
    blocks = {BlockId(number): kind for number, kind in enumerate(shape, 1)}
    index: dict[Key, frozenset[BlockId]] = {}
    for block, kind in blocks.items():
        for key in kind.keys:
            index[key] = index.get(key, frozenset()) | {block}
    return Pool(
        size=len(shape) + 1,
        reporting=reporting,
        refs={block: counts[block - 1] if kind.held else 0 for block, kind in blocks.items()},
        queue=tuple(block for block in reversed(blocks) if not blocks[block].held),
        primary={block: Primary(kind.keys[0], kind.keys[0].tokens) for block, kind in blocks.items() if kind.keys},
        aliases={block: frozenset(kind.keys[1:]) for block, kind in blocks.items() if kind.keys[1:]},
        index=index,
        watchers={block: frozenset([WATCHER]) for block, kind in blocks.items() if kind.watched},
    )
