"""Every refusal: the reason, the built-in error that callers catch, and that nothing at all has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from blockpool.impl import BlockPool, BlockPoolError, Refusal, Request

Picture = Callable[[BlockPool], dict[str, Any]]


class Scene:
    """A pool in which something of everything exists.

    Block 1 is held twice; 2 is held and keyed with four tokens, and watched; 3 is held; 4 is free and keyed; 5 is
    free; block 0 is null. `other` is a second pool whose block 1 is held.
    """

    def __init__(self) -> None:
        self.pool = pool = BlockPool(6, True, 2, enable_kv_cache_events=True)
        self.other = BlockPool(3, True, 2)
        self.a = Request("a", range(10, 18), 2)
        self.b = Request("b", range(20, 28), 2)
        self.blocks = list(pool.blocks)
        pool.get_new_blocks(4)
        pool.touch([self.blocks[1], self.blocks[2]])
        pool.cache_full_blocks(self.a, [self.blocks[4], self.blocks[2]], 1, 2, 2, 0)
        pool.cache_full_blocks(self.b, [self.blocks[4]], 0, 1, 2, 1)
        pool.free_blocks([self.blocks[4]])
        pool.unpin_blocks([self.blocks[2]], self.watch)
        self.foreign = self.other.get_new_blocks(1)[0]

    def watch(self, block: Any) -> None:
        raise AssertionError("no test of a refusal reuses a block")

    def full(self, blocks: Any, first: Any = 0, end: Any = 1, size: Any = 2, mask: Any = None, group: Any = 0) -> None:
        self.pool.cache_full_blocks(self.a, blocks, first, end, size, group, mask)

    def partial(self, block: Any, tokens: Any, size: Any = 4, request: Any = None, group: Any = 0) -> Any:
        return self.pool.cache_partial_block(request or self.a, block, tokens, group, size)


def stops(blocks: list[Any]) -> Iterator[Any]:
    yield from blocks
    raise OSError("the iterable itself failed")


Call = Callable[[Scene], Any]
NOT_A_BLOCK = SimpleNamespace(block_id=1, ref_cnt=1, is_null=False)

# name, call, reason, the built-in errors that existing callers catch
REFUSALS: list[tuple[str, Call, str, tuple[type[Exception], ...]]] = [
    ("more than free", lambda s: s.pool.get_new_blocks(3), "not enough free blocks", (ValueError,)),
    ("negative count", lambda s: s.pool.get_new_blocks(-1), "bad count", (ValueError,)),
    ("fractional count", lambda s: s.pool.get_new_blocks(1.0), "bad count", (ValueError,)),
    ("no count", lambda s: s.pool.get_new_blocks(None), "bad count", (ValueError,)),
    ("touch foreign", lambda s: s.pool.touch([s.blocks[4], s.blocks[1], s.foreign]), "unknown block", (RuntimeError,)),
    ("touch foreign null", lambda s: s.pool.touch([s.other.null_block]), "unknown block", (RuntimeError,)),
    ("touch non-block", lambda s: s.pool.touch([s.blocks[4], s.blocks[0], None]), "unknown block", (RuntimeError,)),
    ("touch look-alike", lambda s: s.pool.touch([s.blocks[4], NOT_A_BLOCK]), "unknown block", (RuntimeError,)),
    ("touch no list", lambda s: s.pool.touch(7), "unknown block", (RuntimeError,)),
    (
        "touch sentinel",
        lambda s: s.pool.touch((s.blocks[1], s.pool.free_block_queue.fake_free_list_head)),
        "unknown block",
        (RuntimeError,),
    ),
    ("free thrice", lambda s: s.pool.free_blocks([s.blocks[3], s.blocks[1]] + [s.blocks[1]] * 2), "not held", ()),
    ("free a free one", lambda s: s.pool.free_blocks(iter([s.blocks[3], s.blocks[5]])), "not held", (AssertionError,)),
    ("free non-block", lambda s: s.pool.free_blocks([s.blocks[3], "b"]), "unknown block", (RuntimeError,)),
    (
        "free sentinel",
        lambda s: s.pool.free_blocks([s.blocks[3], s.pool.free_block_queue.fake_free_list_tail]),
        "unknown block",
        (RuntimeError,),
    ),
    ("free no iterable", lambda s: s.pool.free_blocks(None), "unknown block", (RuntimeError,)),
    (
        "free mixed, other not held",
        lambda s: s.pool.free_blocks([s.blocks[3], s.foreign, s.foreign]),
        "not held",
        (AssertionError,),
    ),
    (
        "free mixed, own not held",
        lambda s: s.other.free_blocks([s.foreign, s.blocks[5]]),
        "not held",
        (AssertionError,),
    ),
    ("unpin thrice", lambda s: s.pool.unpin_blocks([s.blocks[1]] * 3, s.watch), "not held", (AssertionError,)),
    ("unpin a free one", lambda s: s.pool.unpin_blocks([s.blocks[3], s.blocks[4]], s.watch), "not held", ()),
    ("unpin null", lambda s: s.pool.unpin_blocks([s.blocks[3], s.blocks[0]], s.watch), "null block", (AssertionError,)),
    ("unpin foreign", lambda s: s.pool.unpin_blocks([s.blocks[3], s.foreign], s.watch), "unknown block", ()),
    ("unpin non-block", lambda s: s.pool.unpin_blocks([s.blocks[3], 3], s.watch), "unknown block", ()),
    ("unpin no iterable", lambda s: s.pool.unpin_blocks(s.blocks[3], s.watch), "unknown block", ()),
    ("unpin for nobody", lambda s: s.pool.unpin_blocks([s.blocks[3]], None), "bad watcher", (TypeError,)),
    ("cancel foreign", lambda s: s.pool.cancel_watch(s.foreign, s.watch), "unknown block", ()),
    ("cancel non-block", lambda s: s.pool.cancel_watch(2, s.watch), "unknown block", ()),
    ("evict id N", lambda s: s.pool.evict_blocks({2, 6}), "unknown block", (AssertionError,)),
    ("evict negative id", lambda s: s.pool.evict_blocks({-1}), "unknown block", (AssertionError,)),
    ("evict no id", lambda s: s.pool.evict_blocks([2, "2"]), "unknown block", (AssertionError,)),
    ("evict a bare id", lambda s: s.pool.evict_blocks(2), "unknown block", ()),
    ("full negative first", lambda s: s.full([s.blocks[3]], -1), "bad range", (AssertionError, IndexError, ValueError)),
    ("full negative end", lambda s: s.full([s.blocks[3]], 0, -1), "bad range", ()),
    ("full fractional", lambda s: s.full([s.blocks[3]], 0.0, 1.0), "bad range", ()),
    ("full size 3", lambda s: s.full([s.blocks[3]], size=3), "bad range", ()),
    ("full size 0", lambda s: s.full([s.blocks[3]], size=0), "bad range", ()),
    ("full size none", lambda s: s.full([s.blocks[3]], size=None), "bad range", ()),
    ("full few blocks", lambda s: s.full([s.blocks[3]], 0, 2), "bad range", ()),
    ("full few hashes", lambda s: s.full([s.blocks[0]] * 5 + [s.blocks[3]], 4, 5), "bad range", ()),
    ("full few hashes, size 4", lambda s: s.full([s.blocks[0]] * 2 + [s.blocks[3]], 2, 3, 4), "bad range", ()),
    ("full short mask", lambda s: s.full([s.blocks[3]] * 2, 0, 2, mask=[True]), "bad range", ()),
    ("full long mask", lambda s: s.full([s.blocks[3]], 0, 1, mask=[True, True]), "bad range", ()),
    ("full no list", lambda s: s.full(s.blocks[3]), "bad range", ()),
    ("full group -1", lambda s: s.full([s.blocks[3]], group=-1), "bad range", ()),
    ("full group list", lambda s: s.full([s.blocks[3]], group=[0]), "bad range", ()),
    ("full foreign", lambda s: s.full([s.blocks[3], s.foreign], 0, 2), "unknown block", ()),
    ("full non-block", lambda s: s.full([s.blocks[3], None], 0, 2), "unknown block", ()),
    ("full repeated", lambda s: s.full([s.blocks[3], s.blocks[1], s.blocks[3]], 0, 3), "repeated block", ()),
    ("full free", lambda s: s.full([s.blocks[3], s.blocks[5]], 0, 2), "not held", (AssertionError,)),
    ("full free behind null", lambda s: s.full([s.blocks[0], s.blocks[3], s.blocks[5]], 0, 3), "not held", ()),
    ("full cached, same", lambda s: s.full([s.blocks[3], s.blocks[2]], 0, 2), "already cached", (AssertionError,)),
    ("full cached, longer", lambda s: s.full([s.blocks[2]], 0, 1), "already cached", ()),
    ("partial 0 tokens", lambda s: s.partial(s.blocks[3], 0), "bad range", (AssertionError,)),
    ("partial 3 tokens", lambda s: s.partial(s.blocks[3], 3), "bad range", ()),
    ("partial -2 tokens", lambda s: s.partial(s.blocks[3], -2), "bad range", ()),
    ("partial 2.0 tokens", lambda s: s.partial(s.blocks[3], 2.0), "bad range", ()),
    ("partial beyond", lambda s: s.partial(s.blocks[3], 10), "bad range", ()),
    ("partial size 3", lambda s: s.partial(s.blocks[3], 2, 3), "bad range", ()),
    ("partial group", lambda s: s.partial(s.blocks[3], 2, group=1 << 32), "bad range", ()),
    ("partial foreign", lambda s: s.partial(s.foreign, 2), "unknown block", ()),
    ("partial non-block", lambda s: s.partial(None, 2), "unknown block", ()),
    ("partial free", lambda s: s.partial(s.blocks[4], 2), "not held", (AssertionError,)),
    ("partial other content", lambda s: s.partial(s.blocks[2], 4, request=s.b), "different content", (ValueError,)),
    ("partial other group", lambda s: s.partial(s.blocks[2], 4, group=1), "different content", (ValueError,)),
    ("move to null", lambda s: s.pool.move_block_hashes(s.blocks[2], s.blocks[0]), "null block", ()),
    ("move to free", lambda s: s.pool.move_block_hashes(s.blocks[2], s.blocks[5]), "not held", ()),
    ("move to keyed", lambda s: s.pool.move_block_hashes(s.blocks[4], s.blocks[2]), "already cached", ()),
    ("move to itself", lambda s: s.pool.move_block_hashes(s.blocks[2], s.blocks[2]), "already cached", ()),
    ("move unkeyed to free", lambda s: s.pool.move_block_hashes(s.blocks[3], s.blocks[5]), "not held", ()),
    ("move from foreign", lambda s: s.pool.move_block_hashes(s.foreign, s.blocks[3]), "unknown block", ()),
    ("move to foreign", lambda s: s.pool.move_block_hashes(s.blocks[2], s.foreign), "unknown block", ()),
    ("move non-block", lambda s: s.pool.move_block_hashes(None, s.blocks[3]), "unknown block", ()),
    ("emit negative", lambda s: s.pool.emit_cached_block_events(s.a, -1, 2, 0), "bad range", ()),
    ("emit beyond", lambda s: s.pool.emit_cached_block_events(s.a, 5, 2, 0), "bad range", ()),
    ("emit size 3", lambda s: s.pool.emit_cached_block_events(s.a, 1, 3, 0), "bad range", ()),
]


@pytest.mark.parametrize(("call", "reason", "caught_as"), [r[1:] for r in REFUSALS], ids=[r[0] for r in REFUSALS])
@pytest.mark.parametrize("events", [True, False], ids=["events", "quiet"])
def test_refused_and_unchanged(
    call: Call, reason: str, caught_as: tuple[type[Exception], ...], events: bool, picture: Picture
) -> None:
    scene = Scene()
    if not events:  # then the hot paths are taken
        scene.pool.enable_kv_cache_events = False
        scene.pool.kv_event_queue.clear()
        scene.pool.cancel_watch(scene.blocks[2], scene.watch)
    before = picture(scene.pool), picture(scene.other)
    with pytest.raises(Refusal) as caught:
        call(scene)
    assert caught.value.reason == reason
    assert all(isinstance(caught.value, error) for error in caught_as)
    assert (picture(scene.pool), picture(scene.other)) == before
    assert len(caught.value.remedy) > 10
    assert caught.value.remedy in str(caught.value)
    assert reason in str(caught.value)
    assert callable(getattr(BlockPool, caught.value.call))
    assert str(caught.value).startswith(f"{caught.value.call}: {reason}")
    assert len(caught.value.detail) > 5


@pytest.mark.parametrize(
    ("call", "block_id"),
    [
        (lambda s: s.pool.free_blocks([s.blocks[3], s.blocks[5]]), 5),
        (lambda s: s.pool.touch([s.blocks[3], s.foreign]), 1),
        (lambda s: s.full([s.blocks[3], s.blocks[2]], 0, 2), 2),
        (lambda s: s.pool.get_new_blocks(-1), None),
    ],
)
def test_the_error_names_the_block(call: Call, block_id: int | None) -> None:
    with pytest.raises(BlockPoolError) as caught:
        call(Scene())
    assert caught.value.block_id == block_id
    assert (f"block {block_id}" in str(caught.value)) == (block_id is not None)


def test_an_iterable_that_fails_changes_nothing(picture: Picture) -> None:
    scene = Scene()
    before = picture(scene.pool)
    for call in (
        lambda: scene.pool.free_blocks(stops([scene.blocks[1]])),
        lambda: scene.pool.touch(stops([scene.blocks[1]])),  # type: ignore[arg-type]
        lambda: scene.pool.unpin_blocks(stops([scene.blocks[1]]), print),
        lambda: scene.pool.evict_blocks(stops([2])),  # type: ignore[arg-type]
    ):
        with pytest.raises(OSError, match="itself failed"):
            call()
    assert picture(scene.pool) == before


def test_a_type_error_of_the_iterable_is_its_own(picture: Picture) -> None:
    def broken() -> Iterator[Any]:
        yield scene.blocks[1]
        raise TypeError("mine")

    scene = Scene()
    before = picture(scene.pool)
    with pytest.raises(TypeError, match="mine"):
        scene.pool.free_blocks(broken())
    assert picture(scene.pool) == before


def test_hashes_without_tokens_are_refused_when_they_would_be_reported(picture: Picture) -> None:
    scene = Scene()
    scene.a.all_token_ids = scene.a.all_token_ids[:2]
    before = picture(scene.pool)
    with pytest.raises(Refusal, match="bad range"):
        scene.full([scene.blocks[1], scene.blocks[3]], 0, 2)
    assert picture(scene.pool) == before


def test_digests_that_cannot_be_keys_are_refused(picture: Picture) -> None:
    scene = Scene()
    scene.pool.enable_kv_cache_events = False
    scene.full([scene.blocks[0], scene.blocks[0]], 0, 2)  # so that the shortcut is prepared
    scene.a.block_hashes[1] = [1]  # type: ignore[call-overload]
    before = picture(scene.pool)
    with pytest.raises(Refusal, match="bad range"):
        scene.full([scene.blocks[1], scene.blocks[3]], 0, 2)
    assert picture(scene.pool) == before


CACHE_CALLS: list[Callable[[BlockPool, Request], Any]] = [
    lambda p, r: p.cache_full_blocks(r, [p.blocks[1]], 0, 1, 2, 0),
    lambda p, r: p.cache_full_blocks(r, [], 0, 0, 2, 0),
    lambda p, r: p.cache_partial_block(r, p.blocks[1], 2, 0, 2),
    lambda p, r: p.cache_partial_block(r, p.null_block, 2, 0, 2),
]


@pytest.mark.parametrize("call", CACHE_CALLS)
def test_publishing_without_caching_is_refused(call: Callable[[BlockPool, Request], Any], picture: Picture) -> None:
    pool = BlockPool(3, False, 2)
    pool.get_new_blocks(1)
    before = picture(pool)
    with pytest.raises(RuntimeError) as caught:
        call(pool, Request("r", range(4), 2))
    assert getattr(caught.value, "reason", None) == "caching disabled"
    assert picture(pool) == before


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ((0, True, 2), "bad count"),
        ((-1, True, 2), "bad count"),
        ((2.5, True, 2), "bad count"),
        ((4, True, 0), "bad range"),
        ((4, True, None), "bad range"),
        ((4, True, 2, False, None, -1), "bad range"),
    ],
)
def test_senseless_pools_are_refused(args: tuple[Any, ...], reason: str) -> None:
    with pytest.raises(ValueError, match="BlockPool") as caught:
        BlockPool(*args)
    assert getattr(caught.value, "reason", None) == reason
