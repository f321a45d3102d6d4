"""A pool drawn in plain text: the queue as a row of blocks, then each block with all that is said about it."""

from collections.abc import Iterator

from blockpool.proofs.core.text import show
from blockpool.proofs.prove.pool.structures import blocks_of
from blockpool.spec import NULL, BlockId, Pool


def picture(pool: Pool) -> str:
    """The state as a reader would sketch it. Complete also for states that no pool should ever be in."""
    blocks = sorted({*map(BlockId, pool.lendable)} | blocks_of(pool))
    lines = [f"queue    {_row(pool)}", *(f"block {block}  {_block(pool, block)}" for block in blocks)]
    if pool.index:
        entries = (f"{show(key)}: {_numbers(sorted(pool.index[key]))}" for key in sorted(pool.index))
        lines.append(f"index    {';  '.join(entries)}")
    lines += [f"         {note}" for note in _notes(pool)]
    return "\n".join(lines)


def _row(pool: Pool) -> str:
    blocks = " - ".join(f"[{_label(pool, block)}]" for block in pool.queue)
    return f"front {blocks} back" if blocks else "nothing is free"


def _label(pool: Pool, block: BlockId) -> str:
    """A block in the row: its number, its primary key, and an eye for its watchers."""
    words = [str(block)]
    if block in pool.primary:
        words.append(show(pool.primary[block]))
    if block in pool.watchers:
        words.append("watched")
    return " ".join(words)


def _block(pool: Pool, block: BlockId) -> str:
    queued, count = pool.queue.count(block), pool.refs.get(block)
    words = [
        "null" * (block == NULL),
        "" if count is None else f"{count} reference{'s' * (count != 1)}",
        ("not queued", "queued", f"queued {queued} times")[min(queued, 2)],
        f"primary {show(pool.primary[block])}" if block in pool.primary else "",
        f"aliases {_shown(pool.aliases[block])}" if block in pool.aliases else "",
        f"watched by {_numbers(sorted(pool.watchers[block])) or 'an empty set'}" if block in pool.watchers else "",
    ]
    return ", ".join(word for word in words if word)


def _notes(pool: Pool) -> Iterator[str]:
    if not pool.caching:
        yield "caching is disabled"
    if pool.telling:
        yield "watchers are being told at this moment"
    if pool.outbox:
        yield f"outbox {show(pool.outbox)}"


def _shown(keys: frozenset[object]) -> str:
    return " ".join(map(show, sorted(keys, key=repr))) or "an empty set"


def _numbers(numbers: list[int]) -> str:
    return " ".join(map(str, numbers))
