"""What is true of the pool at every moment. Together these claims are inductive: each action preserves them all."""

from blockpool.spec.claims.claim import Invariant, collect
from blockpool.spec.pool.state import Pool
from blockpool.spec.pool.terms import NULL


def every_block_is_free_or_held(pool: Pool) -> bool:
    """The free blocks and the held blocks together are all lendable blocks.

    The scheduler admits requests by this count: too high and an allocation fails half way, too low and capacity is
    lost until restart."""
    return len(pool.queue) + sum(count != 0 for count in pool.refs.values()) == len(pool.lendable)


def every_lendable_block_is_counted(pool: Pool) -> bool:
    """Every lendable block has a count of references, and no other block has one.

    A block without a count can be neither lent nor given back; a count without a block is a reference to nothing."""
    return pool.refs.keys() == set(pool.lendable)


def a_block_is_queued_at_most_once(pool: Pool) -> bool | None:
    """No block stands twice in the free queue.

    A block queued twice is handed out twice: two requests write into the same memory."""
    return len(set(pool.queue)) == len(pool.queue) if pool.queue else None


def queued_blocks_are_unheld(pool: Pool) -> bool | None:
    """A block in the free queue has no reference.

    The next allocation would overwrite what a running request reads."""
    return all(pool.refs.get(block) == 0 for block in pool.queue) if pool.queue else None


def unheld_blocks_are_queued(pool: Pool) -> bool | None:
    """A block without reference is in the free queue.

    It would be lost: nobody holds it and nobody can get it."""
    unheld = [block for block, count in pool.refs.items() if count == 0]
    return set(unheld) <= set(pool.queue) if unheld else None


def counts_are_never_negative(pool: Pool) -> bool | None:
    """No block has fewer than zero references.

    A double free shows here first; the next touch of that block would bring the count to 0 while somebody uses it."""
    return all(count >= 0 for count in pool.refs.values()) if pool.refs else None


def coverage_is_the_length_of_the_primary_key(pool: Pool) -> bool | None:
    """The coverage stored with a primary key is the number of tokens the key covers.

    A request that hits would compute too many tokens again, or skip tokens that were never computed."""
    return all(p.tokens == p.key.tokens for p in pool.primary.values()) if pool.primary else None


def aliases_need_a_primary(pool: Pool) -> bool | None:
    """A block with aliases has a primary key, which is not among them.

    The pool decides by the primary whether a block is worth keeping and whether it may be written."""
    if not pool.aliases:
        return None
    return all(
        aliases and block in pool.primary and pool.primary[block].key not in aliases
        for block, aliases in pool.aliases.items()
    )


def no_alias_covers_more_than_the_primary(pool: Pool) -> bool | None:
    """Every alias covers at most as many tokens as the primary key of its block.

    Growth and promotion compare with the primary alone; a longer alias would survive and serve a stale prefix."""
    if not pool.aliases:
        return None
    return all(
        key.tokens <= pool.primary[block].tokens
        for block, aliases in pool.aliases.items()
        for key in aliases
        if block in pool.primary
    )


def every_key_of_a_block_is_in_the_index(pool: Pool) -> bool | None:
    """A block is found under each of its keys.

    Otherwise its content is kept but never hit, and dropping the key later finds nothing to drop."""
    keyed = {*pool.primary, *pool.aliases}
    if not keyed:
        return None
    return all(block in pool.index.get(key, ()) for block in keyed for key in pool.keys_of(block))


def the_index_answers_only_blocks_that_carry_the_key(pool: Pool) -> bool | None:
    """A block under a key in the index carries that key.

    Otherwise a lookup serves a block whose content has changed: silent wrong output."""
    if not pool.index:
        return None
    return all(key in pool.keys_of(block) for key, blocks in pool.index.items() for block in blocks)


def no_index_entry_is_empty(pool: Pool) -> bool | None:
    """A key in the index has at least one block.

    A lookup that finds an empty entry has nothing to answer."""
    return all(pool.index.values()) if pool.index else None


def the_null_block_is_never_used(pool: Pool) -> bool:
    """The null block is not lent, queued, keyed or watched.

    It stands for "nothing here" in every block table; a hit on it would read other requests' junk."""
    return (
        NULL not in pool.refs
        and NULL not in pool.queue
        and NULL not in pool.primary
        and NULL not in pool.aliases
        and NULL not in pool.watchers
        and all(NULL not in blocks for blocks in pool.index.values())
    )


def only_lendable_blocks_are_watched(pool: Pool) -> bool | None:
    """Every watched block is a lendable block with at least one watcher.

    A watcher on anything else is never told and waits for ever."""
    if not pool.watchers:
        return None
    return all(block in pool.lendable and names for block, names in pool.watchers.items())


def a_writable_block_cannot_be_observed(pool: Pool) -> bool | None:
    """A writable block is held once, found under no key and watched by nobody.

    Its holder writes in place; anybody else who can see the block would see the write."""
    writable = {block for block in pool.refs if pool.is_writable(block)}
    if not writable:
        return None
    findable = {block for blocks in pool.index.values() for block in blocks}
    return not writable & findable and not writable & pool.watchers.keys()


def without_caching_nothing_is_findable(pool: Pool) -> bool | None:
    """A pool with caching disabled has no keys at all.

    A key published there is never dropped at reuse: the old prefix is served from a stranger's block."""
    return None if pool.caching else not (pool.primary or pool.aliases or pool.index)


INVARIANTS = collect(
    Invariant,
    every_block_is_free_or_held,
    every_lendable_block_is_counted,
    a_block_is_queued_at_most_once,
    queued_blocks_are_unheld,
    unheld_blocks_are_queued,
    counts_are_never_negative,
    coverage_is_the_length_of_the_primary_key,
    aliases_need_a_primary,
    no_alias_covers_more_than_the_primary,
    every_key_of_a_block_is_in_the_index,
    the_index_answers_only_blocks_that_carry_the_key,
    no_index_entry_is_empty,
    the_null_block_is_never_used,
    only_lendable_blocks_are_watched,
    a_writable_block_cannot_be_observed,
    without_caching_nothing_is_findable,
)
