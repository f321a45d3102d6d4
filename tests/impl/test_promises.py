"""The conditions of contracts, one by one: each part of each of them refuses something that no other part does."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import icontract
import pytest

from blockpool.impl import BlockPool, KVCacheBlock, Request, contracts


@pytest.fixture
def parts(pool: BlockPool, request_a: Request) -> SimpleNamespace:
    """Block 1 held, 2 held and keyed, 3 held and watched, 4 and 5 free."""
    new, keyed, watched = pool.get_new_blocks(3)
    pool.cache_full_blocks(request_a, [keyed], 0, 1, 2, 0)
    pool.touch([watched])
    pool.unpin_blocks([watched], print)
    foreign = BlockPool(3, True, 2).get_new_blocks(1)[0]
    return SimpleNamespace(new=new, keyed=keyed, watched=watched, free=pool.blocks[4], foreign=foreign)


# --- sentences ---


@pytest.fixture
def with_contracts(monkeypatch: pytest.MonkeyPatch) -> None:
    """At whichever level `impl` was imported first."""
    monkeypatch.setattr(contracts, "CHEAP", True)
    monkeypatch.setattr(contracts, "FULL", True)


def violation(call: Callable[[], object]) -> str:
    with pytest.raises(icontract.ViolationError) as caught:
        call()
    return str(caught.value)


@pytest.mark.usefixtures("with_contracts")
def test_a_broken_promise_is_named() -> None:
    @contracts.promises(lambda result: result > 0, "the answer is positive")
    def answer() -> int:
        return -1

    assert "the answer is positive" in violation(answer)


def break_links(pool: BlockPool) -> None:
    pool.blocks[5].prev_free_block = None


def break_queue(pool: BlockPool) -> None:
    pool.blocks[4].ref_cnt = 1


def break_index(pool: BlockPool) -> None:
    pool.cached_block_hash_to_block.clear()


def break_aliases(pool: BlockPool) -> None:
    pool._aliases[pool.blocks[5]] = []


def break_null(pool: BlockPool) -> None:
    pool.null_block.prev_free_block = pool.blocks[5]


def break_watchers(pool: BlockPool) -> None:
    pool._watchers[pool.blocks[4]] = []


DAMAGES = [break_links, break_queue, break_index, break_aliases, break_null, break_watchers]


@pytest.mark.parametrize(("damage", "number"), [(damage, i) for i, damage in enumerate(DAMAGES)])
@pytest.mark.usefixtures("parts", "with_contracts")
def test_a_spoiled_pool_is_named(damage: Callable[[BlockPool], None], number: int, pool: BlockPool) -> None:
    @contracts.changes_pool
    def spoil(self: BlockPool) -> None:
        damage(self)

    _, sentence = contracts.WELL_FORMED[number]
    assert sentence in violation(lambda: spoil(pool))


@pytest.mark.usefixtures("with_contracts")
def test_a_counter_out_of_range_is_named(pool: BlockPool) -> None:
    @contracts.changes_pool
    def touch_nothing(self: BlockPool) -> None:
        pass

    pool.free_block_queue.num_free_blocks = 6
    assert "the free counter is within the capacity" in violation(lambda: touch_nothing(pool))


@pytest.mark.usefixtures("with_contracts")
def test_broken_links_of_a_queue_are_named(pool: BlockPool) -> None:
    @contracts.keeps_links_sound
    def cut(self: object) -> None:
        pool.blocks[3].next_free_block = None

    assert "both directions of the queue and its counter agree" in violation(lambda: cut(pool.free_block_queue))


# --- the whole structure ---


@pytest.mark.parametrize("end", ["fake_free_list_head.prev_free_block", "fake_free_list_tail.next_free_block"])
def test_nothing_lies_beyond_either_end_of_the_queue(end: str, pool: BlockPool) -> None:
    sentinel, _, link = end.partition(".")
    assert contracts.links_agree(pool.free_block_queue)
    setattr(getattr(pool.free_block_queue, sentinel), link, pool.blocks[1])
    assert not contracts.links_agree(pool.free_block_queue)


def test_a_table_of_aliases_is_not_empty(pool: BlockPool, parts: SimpleNamespace) -> None:
    pool._aliases[parts.keyed] = []
    assert not contracts.aliases_follow_a_primary(pool)


@pytest.mark.parametrize("link", ["prev_free_block", "next_free_block"])
def test_the_null_block_has_no_link(link: str, pool: BlockPool) -> None:
    setattr(pool.null_block, link, pool.blocks[1])
    assert not contracts.null_is_untouched(pool)


# --- what one call did ---


def test_new_blocks(pool: BlockPool, parts: SimpleNamespace) -> None:
    pool.touch([parts.watched])
    parts.watched.ref_cnt = 1
    assert contracts.are_new_blocks(pool, [parts.new])
    assert contracts.are_new_blocks(pool, [])
    for wrong in (parts.keyed, parts.watched, parts.free, parts.foreign):
        assert not contracts.are_new_blocks(pool, [wrong])
        assert not contracts.are_new_blocks(pool, [parts.new, wrong])
    assert not contracts.are_new_blocks(pool, [parts.new, parts.new])
    pool.null_block.ref_cnt = 1
    assert not contracts.are_new_blocks(pool, [pool.null_block])


def test_as_many_as_asked(pool: BlockPool) -> None:
    old = SimpleNamespace(free=pool.get_num_free_blocks())
    blocks = pool.get_new_blocks(2)
    assert contracts.as_many_as_asked(2, blocks, pool, old)
    assert not contracts.as_many_as_asked(1, blocks, pool, old)
    assert not contracts.as_many_as_asked(2, blocks[:1], pool, old)
    assert not contracts.as_many_as_asked(2, blocks, pool, SimpleNamespace(free=old.free - 1))


def test_named_blocks_are_held_or_null(pool: BlockPool, parts: SimpleNamespace) -> None:
    assert contracts.named_are_held([parts.new, pool.null_block])
    assert not contracts.named_are_held([parts.new, parts.free])


@pytest.mark.parametrize(
    ("condition", "fewer", "equal", "more"),
    [
        (contracts.no_block_became_free, False, True, True),
        (contracts.no_block_was_lent, True, True, False),
        (contracts.free_count_is_unchanged, False, True, False),
    ],
)
def test_free_counts(
    condition: Callable[[BlockPool, object], bool], fewer: bool, equal: bool, more: bool, pool: BlockPool
) -> None:
    """Fewer, as many, or more blocks were free before the call."""
    now = pool.get_num_free_blocks()
    answers = [condition(pool, SimpleNamespace(free=before)) for before in (now - 1, now, now + 1)]
    assert answers == [fewer, equal, more]


def test_watching(pool: BlockPool, parts: SimpleNamespace) -> None:
    assert contracts.named_are_watched(pool, [parts.watched], print)
    assert not contracts.named_are_watched(pool, [parts.watched], repr)
    assert not contracts.named_are_watched(pool, [parts.watched, parts.free], print)
    assert contracts.is_not_watching(pool, parts.free, print)
    assert contracts.is_not_watching(pool, parts.watched, repr)
    assert not contracts.is_not_watching(pool, parts.watched, print)


def test_published_blocks_cover_their_prefix(pool: BlockPool, parts: SimpleNamespace) -> None:
    blocks = [parts.keyed, parts.new, pool.null_block]
    assert contracts.published_are_keyed(blocks, 0, 1, 2, None)
    assert not contracts.published_are_keyed(blocks, 0, 1, 4, None)
    assert not contracts.published_are_keyed(blocks, 0, 2, 2, None)
    assert contracts.published_are_keyed(blocks, 0, 2, 2, [True, False])
    assert not contracts.published_are_keyed(blocks, 1, 2, 2, [True])
    assert contracts.published_are_keyed(blocks, 1, 3, 2, [False, True])


def test_the_key_that_is_returned(pool: BlockPool, parts: SimpleNamespace) -> None:
    key = parts.keyed.block_hash
    assert contracts.is_key_of_block(pool, parts.keyed, 0, key)
    assert not contracts.is_key_of_block(pool, parts.keyed, 1, key)
    assert not contracts.is_key_of_block(pool, parts.new, 0, key)
    assert not contracts.is_key_of_block(pool, parts.keyed, 0, None)
    assert contracts.is_key_of_block(pool, pool.null_block, 0, None)


def test_moved_keys(pool: BlockPool, parts: SimpleNamespace) -> None:
    keys = contracts.keys_of_source(pool, parts.keyed)
    assert keys == pool.keys_of(parts.keyed)
    assert contracts.keys_of_source(pool, None) == ()
    old = SimpleNamespace(keys=keys)
    assert not contracts.keys_have_moved(pool, parts.keyed, parts.new, old), "they have not"
    assert not contracts.keys_have_moved(pool, parts.new, parts.free, old), "neither has any"
    assert contracts.keys_have_moved(pool, parts.keyed, parts.keyed, old), "nothing to move"
    assert contracts.keys_have_moved(pool, parts.new, parts.keyed, old)
    assert not contracts.keys_have_moved(pool, parts.new, parts.keyed, SimpleNamespace(keys=()))
    parts.new._digest, parts.new._group = b"x", parts.keyed._group
    assert not contracts.keys_have_moved(pool, parts.new, parts.keyed, old), "the source has some still"


def test_named_blocks_are_unkeyed(pool: BlockPool, parts: SimpleNamespace) -> None:
    assert contracts.named_are_unkeyed(pool, {1, 4})
    assert not contracts.named_are_unkeyed(pool, {1, 2})


def spoil_index(pool: BlockPool) -> None:
    pool.cached_block_hash_to_block.insert(b"x", 0, pool.blocks[1])


def spoil_aliases(pool: BlockPool) -> None:
    pool._aliases[pool.blocks[1]] = [(b"x", 0)]


def spoil_watchers(pool: BlockPool) -> None:
    pool._watchers[pool.blocks[1]] = [print]


@pytest.mark.parametrize("spoil", [spoil_index, spoil_aliases, spoil_watchers])
def test_after_a_reset_nothing_is_left(spoil: Callable[[BlockPool], None], pool: BlockPool) -> None:
    assert contracts.cleared_or_in_use(pool, True)
    assert not contracts.cleared_or_in_use(pool, False), "nothing is held, so it had to clear"
    spoil(pool)
    assert not contracts.cleared_or_in_use(pool, True)


def test_a_reset_is_refused_while_a_block_is_held(pool: BlockPool) -> None:
    pool.get_new_blocks(1)
    assert contracts.cleared_or_in_use(pool, False)
    assert not contracts.cleared_or_in_use(pool, True)


def test_an_answer_has_a_block_for_each_group(pool: BlockPool, parts: SimpleNamespace) -> None:
    digest = parts.keyed.block_hash[:-4]
    blocks: Any = [parts.keyed]
    assert contracts.answers_every_group(pool, digest, [0], blocks)
    assert contracts.answers_every_group(pool, digest, [0], None)
    assert not contracts.answers_every_group(pool, digest, [1], blocks)
    assert not contracts.answers_every_group(pool, digest, [0], [])
    assert not contracts.answers_every_group(pool, digest, [0], blocks * 2)
    assert not contracts.answers_every_group(pool, digest, [0], [parts.new])
    assert not contracts.answers_every_group(pool, b"x", [0], blocks)


def test_an_outbox_that_was_taken_is_empty(pool: BlockPool) -> None:
    assert contracts.outbox_is_empty(pool)
    pool.kv_event_queue.append(KVCacheBlock(1))  # type: ignore[arg-type]
    assert not contracts.outbox_is_empty(pool)
