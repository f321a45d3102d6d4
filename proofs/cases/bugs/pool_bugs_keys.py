"""Public reports about keys, hits, the order of eviction and KV events: each as calls and replies of the faulty system.

The ids are those of `cases/public_bugs.md`, which names the reports. Numbers are small, and made up.
"""

from dataclasses import replace
from typing import Any

from blockpool.impl.request import Adapter, Item, Request
from blockpool.proofs.cases.bugs.pool_showing import (
    Confused,
    Line,
    PoolBug,
    Run,
    Stream,
    found,
    freed,
    lent,
    partly,
    published,
    shared,
    told,
    unpublished,
    wanted,
)
from blockpool.spec.contract.calls import Fault, Ok, Refused, RemovedKeys, Reset, StoredKeys
from blockpool.spec.contract.profiles import PROFILES
from blockpool.spec.contract.violation import RULES_OF_CALLERS

INDEX = PROFILES["index"]
PER_COPY = replace(INDEX, name="per copy", events="copy")
LAST_COPY = replace(INDEX, name="last copy", events="last_copy")

HIT = "a_hit_carries_its_key"
FOUND = "what_was_published_is_found"
DONE = "a_legal_call_is_done"
ORDER = "blocks_are_lent_in_order"
EVICTION = "the_longest_released_is_evicted_first"
CONSISTENT = "events_are_consistent"
MIRROR = "events_mirror_the_index"

OUTSIDE = "outside the profile"


def stored(key: str, parent: str | None = None, tokens: int = 1) -> StoredKeys:
    return StoredKeys((key,), parent, tokens, tokens)


STALE_KEYS = (
    PoolBug(
        "SH-01",
        "A cached block was lent anew and stayed in the map of cached blocks.",
        HIT,
        "pool",
        Run("lru", (lent(1), published("a", 1), freed(1), lent(1), found("a", 1, right=())), blocks=1),
    ),
    PoolBug(
        "SH-02",
        "A block that was lent anew kept its mark 'computed', and passed for a hit of the new prefix.",
        HIT,
        "pool",
        Run("index", (lent(1), published("a", 1), freed(1), lent(1), found("b", 1, right=())), blocks=1),
    ),
    PoolBug(
        "SH-03",
        "A pool put in the place of vLLM's did not clear the key of an evicted block, so it could not be published "
        "again.",
        DONE,
        "pool",
        Run(
            "vllm-0.14",
            (
                lent(1),
                published("a", 1),
                freed(1),
                unpublished(1),
                lent(1),
                published("b", 1, reply=Fault("AssertionError"), right=Ok((1,))),
            ),
            blocks=1,
        ),
    ),
    PoolBug(
        "SH-04",
        "The key of a prompt's tail was replaced by that of the full block; the next step brought it back.",
        HIT,
        "pool",  # with the hook that runs every step as a part of it
        Run("vllm-0.28", (lent(1), partly("tail", 1, 6), published("full", 1, tokens=8), found("tail", 1, right=()))),
    ),
    PoolBug(
        "SH-06",
        "A block was lent anew and published under another key; its old key still led to it.",
        HIT,
        "pool",
        Run(
            "index",
            (lent(1), published("x", 1), freed(1), lent(1), published("y", 1), found("x", 1, right=())),
            blocks=1,
        ),
    ),
    PoolBug(
        "SH-09",
        "Blocks of a sequence that was removed before it was stored came into the reuse tree with what they held.",
        HIT,
        "pool",
        Run("index", (lent(1, 2), freed(1, 2), found("a", 1, right=()))),
    ),
    PoolBug(
        "SH-10",
        "Blocks were published with caching off; nothing ever took their keys away again.",
        RULES_OF_CALLERS,
        "caller",
        Run("vllm-0.9", (lent(1), published("a", 1, instead=())), caching=False),
        release="0.9.2",
    ),
    PoolBug(
        "SH-11",
        "A reset said that it was done, and a lower tier went on serving the old blocks.",
        HIT,
        "pool",  # with its tiers
        Run("index", (lent(1), published("k", 1), freed(1), Line(Reset(), Ok(True)), found("k", 1, right=()))),
    ),
)

LOST_HITS = (
    PoolBug(
        "LH-01",
        "The second block under a key got no key, and when the first was evicted nothing was found.",
        FOUND,
        OUTSIDE,
        Run(
            "vllm-0.14",
            (lent(1, 2), published("k", 1), published("k", 2), unpublished(1), found("k", right=(2,))),
        ),
    ),
    PoolBug(
        "LH-02",
        "A hit on a free block went through the ordinary allocation, which took its key away.",
        FOUND,
        OUTSIDE,
        Run("index", (lent(1), published("k", 1), freed(1), found("k", 1), shared(1), found("k", right=(1,)))),
    ),
    PoolBug(
        "LH-05",
        "The key was written on the block and not into the index, so the tier stored for ever and never hit.",
        FOUND,
        OUTSIDE,
        Run("index", (lent(1), published("k", 1), found("k", right=(1,)))),
    ),
    PoolBug(
        "QC-07",
        "A freed object was marked invalid, and stayed so in its next life.",
        FOUND,
        OUTSIDE,
        Run("index", (lent(1), freed(1), lent(1), published("k", 1), found("k", right=(1,)))),
    ),
)

EVICTION_ORDER = (
    PoolBug(
        "EO-02",
        "Blocks that were given back later, when a transfer had ended, were queued in another order than at once.",
        ORDER,
        OUTSIDE,
        Run("vllm-0.28", (lent(1, 2, 3, 4), freed(2, 1, 4, 3), lent(4, right=(2,))), blocks=4),
    ),
    PoolBug(
        "EO-05",
        "A block with a successor was lent before its successor.",
        EVICTION,
        OUTSIDE,
        Run("lru", (lent(1, 2), published("a b", 1, 2), freed(2, 1), lent(1, right=(2,))), blocks=2),
    ),
    PoolBug(
        "EO-06",
        "To free whole pages a pool evicted what was used last, where the oldest was to go.",
        EVICTION,
        OUTSIDE,
        Run(
            "lru",
            (
                lent(1, 2, 3, 4),
                published("a b c d", 1, 2, 3, 4),
                freed(1),
                freed(3),
                freed(2),
                freed(4),
                lent(1, 2, right=(1, 3)),
            ),
            blocks=4,
        ),
    ),
    PoolBug(
        "EO-09",
        "An admission that failed gave back the hits that it had touched, and so changed their place in the queue.",
        ORDER,
        OUTSIDE,  # with the admission as a part of the pool
        Run("order-a", (wanted(4, Refused("exhausted")), lent(2, right=(1,)))),
    ),
)


def event(*hashes: int, parent: int | None = None, blocks: int | None = None) -> dict[str, Any]:
    count = len(hashes) if blocks is None else blocks
    tokens = [7] * 4 * count
    return {
        "type": "BlockStored",
        "block_hashes": hashes,
        "parent_block_hash": parent,
        "token_ids": tokens,
        "block_size": 4,
    }


def removal(*hashes: int) -> dict[str, Any]:
    return {"type": "BlockRemoved", "block_hashes": hashes}


EVENTS = (
    PoolBug(
        "EV-01",
        "One of two blocks under a key was evicted, and routers were told that the key is gone.",
        MIRROR,
        OUTSIDE,
        Run(
            LAST_COPY,
            (
                lent(1, 2),
                published("k", 1),
                published("k", 2),
                unpublished(1),
                told(stored("k"), stored("k"), RemovedKeys(("k",)), right=(stored("k"), stored("k"))),
            ),
            events=True,
        ),
        release="0.33.0",
    ),
    PoolBug(
        "EV-02",
        "Consumers took a key for present or absent, where it is stored and removed once for each copy.",
        "what_is_removed_was_stored",
        "caller",  # the consumer
        Stream((event(1), event(1), removal(1), removal(1)), (removal(1),), per_copy=False),
    ),
    PoolBug(
        "EV-03",
        "A key inside a block was told with a parent that was never told.",
        "parents_are_known",
        "pool",
        Stream((event(1), event(6, parent=4)), (event(6, parent=1),)),
    ),
    PoolBug(
        "EV-04",
        "Placeholders were left out of the keys but not out of the tokens.",
        "tokens_fit_the_keys",
        "pool",
        Stream((event(1, 3, blocks=3),), (event(1), event(3))),
    ),
    PoolBug(
        "EV-05",
        "A chunk that is found by its last key only was told with the keys of all its parts.",
        MIRROR,
        OUTSIDE,
        Run(
            PER_COPY,
            (
                lent(1),
                published("h4", 1, tokens=4),
                told(StoredKeys(("h1", "h2", "h3", "h4"), None, 4, 1), right=(stored("h4", tokens=4),)),
            ),
            events=True,
        ),
    ),
    PoolBug(
        "EV-07",
        "The second block of a prefix was told without its parent, so routers took it for a beginning.",
        CONSISTENT,
        OUTSIDE,
        Run(
            PER_COPY,
            (
                lent(1, 2),
                published("a b", 1, 2),
                told(stored("a"), stored("b"), right=(stored("a"), stored("b", "a"))),
            ),
            events=True,
        ),
    ),
    PoolBug(
        "EV-09",
        "Two salts separate what is cached, but both were told under one key.",
        MIRROR,
        OUTSIDE,
        Run(
            PER_COPY,
            (
                lent(1, 2),
                published("k-salted-A", 1),
                published("k-salted-B", 2),
                told(stored("k-salted-A"), stored("k-salted-A"), right=(stored("k-salted-A"), stored("k-salted-B"))),
            ),
            events=True,
        ),
    ),
    PoolBug(
        "EV-14",
        "A new kind of cache inherited a method for events that tells none.",
        MIRROR,
        OUTSIDE,
        Run(PER_COPY, (lent(1), published("k", 1), told(right=(stored("k"),))), events=True),
    ),
)


def a_request(tokens: tuple[int, ...] = (1, 2, 3, 4), **more: Any) -> Request:
    return Request("r", tokens, 4, **more)


def an_image(name: str, at: int) -> tuple[Item, ...]:
    return (Item(name, at, 2),)


def named(request: Request) -> str | None:
    return request.adapter.name if request.adapter is not None else None


def tokens_of(request: Request) -> tuple[int, ...]:
    return tuple(request.all_token_ids)


KEY_FUNCTIONS = (
    PoolBug(
        "HI-01",
        "The name of an adapter and a salt of the same text made the same key.",
        HIT,
        "pool",
        Confused(
            a_request(adapter=Adapter("X", 1)),
            a_request(cache_salt="X"),
            lambda request: (tokens_of(request), *filter(None, (named(request), request.cache_salt))),
        ),
    ),
    PoolBug(
        "HI-02",
        "Two adapters of one name and different ids shared their blocks.",
        HIT,
        "pool",
        Confused(
            a_request(adapter=Adapter("a", 1)),
            a_request(adapter=Adapter("a", 2)),
            lambda request: (tokens_of(request), named(request)),
        ),
    ),
    PoolBug(
        "HI-03",
        "The place of an image among the tokens did not enter the key.",
        HIT,
        "pool",
        Confused(
            a_request(items=an_image("cat", 0)),
            a_request(items=an_image("cat", 2)),
            lambda request: (tokens_of(request), [item.identifier for item in request.items]),
        ),
    ),
    PoolBug(
        "HI-04",
        "An external store made its keys of tokens and salt, and served the blocks of one adapter to another.",
        HIT,
        "pool",
        Confused(
            a_request(adapter=Adapter("A", 1)),
            a_request(adapter=Adapter("B", 2)),
            lambda request: (tokens_of(request), request.cache_salt),
        ),
    ),
    PoolBug(
        "HI-05",
        "The digest of an image was cut to 16 bits, and another image was described.",
        HIT,
        "pool",
        Confused(
            a_request(items=an_image("5eed0001", 0)),
            a_request(items=an_image("5eed0002", 0)),
            lambda request: (tokens_of(request), [(item.identifier[:4], item.offset) for item in request.items]),
        ),
    ),
    PoolBug(
        "HI-06",
        "Two prefixes with the same weak hash were taken for one; the content was not compared.",
        HIT,
        "pool",
        Confused(a_request((1, 2, 3, 4)), a_request((4, 3, 2, 1)), lambda request: sum(tokens_of(request)) % 256),
    ),
)

KEY_BUGS = (*STALE_KEYS, *LOST_HITS, *EVICTION_ORDER, *EVENTS, *KEY_FUNCTIONS)
