"""Public reports about references, counts and the blocks that are lent: each as calls and replies of the faulty system.

The ids are those of `cases/public_bugs.md`, which names the reports. Numbers are small, and made up.
"""

from dataclasses import replace

from blockpool.proofs.cases.bugs.pool_showing import (
    Line,
    PoolBug,
    Run,
    counted,
    found,
    freed,
    lent,
    published,
    shared,
    unpublished,
    wanted,
)
from blockpool.spec.contract.calls import Fault, Free, Ok, Publish, Refused, Share, Started
from blockpool.spec.contract.profiles import PROFILES
from blockpool.spec.contract.violation import OWNED, RULES_OF_CALLERS

SAFETY, INDEX = PROFILES["safety"], PROFILES["index"]
UNTIL_RELEASED = replace(INDEX, name="until released", keys_last="until_released")
DEDUP = replace(INDEX, name="dedup", duplicates="dedup")
PADDED = replace(SAFETY, name="padded", reserved="skipped")
IN_PAGES = replace(SAFETY, name="in pages", exhaustion="early")

ONE_USER = "a_block_has_one_user_until_it_is_shared"
OWN_BLOCKS = "only_blocks_of_the_pool_are_lent"
FREE = "free_is_what_is_not_held"
FITS = "an_allocation_succeeds_if_it_fits"
REPEATED = "a_repeated_release_counts_each_naming"
HIT = "a_hit_carries_its_key"
DONE = "a_legal_call_is_done"

EXHAUSTED = Refused("exhausted")

DOUBLE_RELEASES = (
    PoolBug(
        "DF-01",
        "A block entered a window twice; its two references were given back in one call, and it was counted free "
        "twice.",
        REPEATED,
        "pool",
        Run("vllm-0.14", (lent(1), shared(1), freed(1, 1), counted(4, right=3))),
        release="0.20.2",
    ),
    PoolBug(
        "DF-02",
        "Release paths named blocks twice that were held once; the free list broke, and a later allocation crashed.",
        RULES_OF_CALLERS,
        "caller",
        Run("vllm-0.14", (lent(1, 2, 3), freed(1, 1, instead=(Free((1,)),)))),
        release="0.23.0",
    ),
    PoolBug(
        "DF-04",
        "The window was trimmed and then the request finished; both gave back the last block of the window.",
        RULES_OF_CALLERS,
        "caller",
        Run("vllm-0.14", (lent(1, 2, 3), freed(3), freed(3, 0, 0, instead=(Free((0, 0)),)))),
        release="0.20.2",
    ),
    PoolBug(
        "DF-05",
        "A subclass of the pool first lowered all counts and then looked which were zero, so a block named twice was "
        "counted free twice, where its base class counts it once.",
        REPEATED,
        "pool",
        Run("vllm-0.28", (lent(1, 2), shared(2), freed(2, 2), counted(5, right=4)), blocks=5),
    ),
    PoolBug(
        "DF-08",
        "A cached free block was pinned but stayed in the free list, and was lent to somebody else.",
        ONE_USER,
        "pool",
        Run("index", (lent(1), published("k", 1), freed(1), found("k", 1), shared(1), lent(1, right=(2,)))),
    ),
    PoolBug(
        "DF-12",
        "A ring table holds one block at two positions; it was copied by owner and given back by position.",
        RULES_OF_CALLERS,
        "caller",
        Run(
            "safety",
            (
                lent(1, 2),
                shared(1, 2, 1),
                lent(3),
                freed(1),
                freed(1, 2, 3),
                freed(1, 2, 1, instead=(Free((1, 2)),)),
            ),
        ),
    ),
    PoolBug(
        "DF-14",
        "Two ranges that met inside one page were both given back, and the page with each of them.",
        RULES_OF_CALLERS,
        "caller",
        Run("safety", (lent(1, 2), freed(2), freed(2, instead=())), blocks=2),
    ),
    PoolBug(
        "DF-16",
        "An entry whose window slot was given back kept its number; recovery gave that slot back again, which was in "
        "use by another request by then.",
        OWNED,
        "caller",
        Run(
            "safety",
            (lent(1).by("r1"), freed(1).by("r1"), lent(1).by("r2"), freed(1, instead=()).by("r1")),
            blocks=1,
        ),
    ),
    PoolBug(
        "DF-17",
        "Two paths recycled the blocks of one request, and more blocks were free than there are.",
        RULES_OF_CALLERS,
        "caller",
        Run("safety", (lent(1, 2), freed(1, 2), freed(2, instead=()))),
    ),
    PoolBug(
        "DF-18",
        "The cache took its reference on a copy of a block but had filed the first one; evicting the entry gave back "
        "a reference of the request that used the first.",
        OWNED,
        "caller",
        Run(
            "index",
            (
                lent(1).by("r1"),
                published("k", 1).by("r1"),
                lent(2).by("r2"),
                shared(2, instead=(Share((1,)),)).by("cache"),
                freed(2).by("r2"),
                freed(1).by("cache"),
            ),
        ),
    ),
    PoolBug(
        "NB-02",
        "Placeholders for page 0 were given back like pages; page 0 came into the free list and was lent.",
        OWN_BLOCKS,
        "pool",
        Run(PADDED, (lent(1), freed(0, 0, 1), lent(0, right=(2,)))),
    ),
)

LEAKS = (
    PoolBug(
        "LK-04",
        "Lent blocks kept a count of zero; giving one back made it minus one, which was not recognised as free.",
        FREE,
        "pool",
        Run("safety", (lent(1), freed(1), counted(2, right=3))),
    ),
    PoolBug(
        "LK-17",
        "Evicting the entries of a prefix cache dropped its map and not its references, so nothing became free.",
        FITS,
        "pool",
        Run(
            "index",
            (
                lent(1, 2),
                published("a b", 1, 2),
                freed(1, 2),
                unpublished(1, 2),
                wanted(3, EXHAUSTED, right=Ok((1, 2, 3))),
            ),
        ),
    ),
    PoolBug(
        "LK-19",
        "The index kept entries of slots that were released; taking over such a prefix succeeded half.",
        HIT,
        "pool",
        Run(UNTIL_RELEASED, (lent(1, 2), published("a b", 1, 2), freed(2), found("b", 2, right=()))),
    ),
    PoolBug(
        "EX-01",
        "A page could not be had half way through an allocation; the blocks taken before were lost.",
        FREE,
        "pool",
        Run(IN_PAGES, (wanted(3, EXHAUSTED), counted(0, right=2)), blocks=2),
    ),
    PoolBug(
        "EX-04",
        "One half of an allocation from two pools was refused; the other half was not given back.",
        FREE,
        "pool",
        Run(
            IN_PAGES,
            (
                lent(1, 2).at("window"),
                wanted(1, EXHAUSTED, instead=()).at("full"),  # asks both pools first
                counted(0).at("window"),
                counted(1, right=2).at("full"),
            ),
            blocks=2,
        ),
    ),
    PoolBug(
        "EX-05",
        "Blocks were taken, then no state was left, and the blocks stayed with nobody.",
        FREE,
        "pool",
        Run(
            IN_PAGES,
            (
                lent(1, 2, 3).at("states"),
                wanted(2, EXHAUSTED, instead=()).at("blocks"),  # asks both pools first
                counted(1, right=3).at("blocks"),
            ),
        ),
    ),
    PoolBug(
        "OB-01",
        "An admission touched its hits and then found that the rest does not fit; the hits stayed referenced.",
        FREE,
        "pool",  # with the admission as a part of it
        Run(
            "order-a",
            (
                lent(1, 2),
                published("a b", 1, 2),
                freed(2, 1),
                wanted(6, EXHAUSTED),  # two hits and four more
                counted(3, right=5),
            ),
            blocks=5,
        ),
    ),
)

USE_AFTER_RELEASE = (
    PoolBug(
        "UA-09",
        "A checkpoint in mid-prefill filed blocks without a reference of the cache's own; they were evicted while "
        "the request used them.",
        ONE_USER,
        "pool",
        Run("index", (lent(1), published("k", 1), lent(2, 3), lent(1, right=EXHAUSTED))),
    ),
    PoolBug(
        "UA-10",
        "Evicting a block set its count to zero in place of dropping one reference; its user read another's content.",
        ONE_USER,
        "pool",
        Run("index", (lent(1), published("k", 1), shared(1), freed(1), lent(1, right=(2,)))),
    ),
    PoolBug(
        "UA-16",
        "Committing a block needed another one, and the eviction for it detached blocks of the committing request.",
        DONE,
        "pool",
        Run(
            "index",
            (
                lent(1, 2),
                published("a", 1),
                Line(Publish((2,), ("b",), (2,), "a"), Fault("SIGSEGV"), right=Ok((2,))),
            ),
        ),
    ),
    PoolBug(
        "GC-04",
        "Two pools name their blocks alike, and a block of the first was given back to the second.",
        FREE,
        "pool",
        Run("safety", (lent(1).at("A"), lent(1).at("B"), freed(1).at("A"), counted(2, right=3).at("A"))),
    ),
    PoolBug(
        "NB-01",
        "The pool took the first block it lent to itself as the null block, and lent block 0, which everybody else "
        "takes for null.",
        OWN_BLOCKS,
        "pool",
        Run("vllm-0.14", (lent(0, right=(1,)),), begun=Started(3, (0,))),
    ),
    PoolBug(
        "OB-14",
        "Scheduler and workers disagreed about the number of blocks, and blocks were lent that no worker has.",
        OWN_BLOCKS,
        "pool",
        Run("vllm-0.28", (lent(1, 2), lent(4, right=(3,)))),
    ),
)

COUNTS = (
    PoolBug(
        "QC-01",
        "Two blocks changed levels before they were taken out of their free lists; each was counted off the other's.",
        FREE,
        "pool",
        Run(
            "safety",
            (lent(1).at("gpu"), lent(1).at("host"), counted(1).at("host"), counted(2, right=1).at("gpu")),
            blocks=2,
        ),
    ),
    PoolBug(
        "QC-02",
        "A page that two nodes of the tree refer to was counted twice as evictable.",
        FREE,
        "pool",
        Run("index", (lent(1), published("k", 1), shared(1), freed(1), freed(1), counted(4, right=3))),
    ),
    PoolBug(
        "QC-03",
        "After all requests had ended, free, evictable and protected pages did not add up to the pool.",
        FREE,
        "pool",
        Run("safety", (lent(1, 2), freed(2), freed(1), counted(2, right=3))),
    ),
    PoolBug(
        "QC-04",
        "A placeholder in the table was counted as a block given back; less than nothing was in use.",
        FREE,
        "pool",
        Run("vllm-0.14", (lent(1), freed(1, 0), counted(4, right=3))),
    ),
    PoolBug(
        "QC-05",
        "Blocks that straddle two pages were counted for each page, so the pool believed in blocks it does not have.",
        FITS,
        "pool",
        Run("safety", (lent(1, 2), wanted(1, EXHAUSTED, right=Ok((3,))))),
    ),
    PoolBug(
        "QC-06",
        "The counter of free blocks was larger than the list; an allocation that passed the check came to its end.",
        REPEATED,
        "pool",
        Run("vllm-0.14", (lent(1), shared(1), freed(1, 1), lent(2, 3, 1, -1, right=EXHAUSTED))),
        release="0.20.2",
    ),
    PoolBug(
        "BA-01",
        "A demand computed from several counters became minus one; each such call made the free count grow.",
        RULES_OF_CALLERS,
        "caller",
        Run("vllm-0.14", (wanted(-1, Ok(()), instead=()),)),
        release="0.23.0",
    ),
    PoolBug(
        "OB-02",
        "Cached blocks that were taken back into use were counted as free and as held.",
        FREE,
        "pool",
        Run(
            "index",
            (
                lent(1, 2),
                published("a b", 1, 2),
                freed(1, 2),
                found("a", 1),
                found("b", 2),
                shared(1, 2),
                counted(2, right=0),
            ),
            blocks=2,
        ),
    ),
    PoolBug(
        "NB-03",
        "The check of capacity counted the null block; a prompt that needs every block waited for ever.",
        FITS,
        "pool",
        Run("safety", (wanted(4, EXHAUSTED, right=Ok((1, 2, 3, 4))),), blocks=4, begun=Started(4, (0,))),
    ),
    PoolBug(
        "OB-11",
        "One caller was refused although everything could have been evicted.",
        FITS,
        "pool",
        Run(
            "index",
            (lent(1, 2), published("a b", 1, 2), freed(1, 2), wanted(1, EXHAUSTED, right=Ok((1,)))),
            blocks=2,
        ),
    ),
)

CRASHES = (
    PoolBug(
        "EX-03",
        "A fork that did not fit stopped the server in place of being refused.",
        DONE,
        "pool",
        Run("safety", (lent(1), wanted(2, Fault("RuntimeError"), right=EXHAUSTED)), blocks=2),
    ),
    PoolBug(
        "EX-06",
        "The second block of a batch under one key was to be replaced by the first; the code relied on its own.",
        DONE,
        "pool",
        Run(
            DEDUP,
            (
                lent(1, 2),
                published("k", 1),
                published("k", 2, reply=Fault("PanicException"), right=Ok((1,))),
            ),
        ),
    ),
    PoolBug(
        "EX-07",
        "With every leaf in use the eviction loop asked an empty list for its smallest, and failed.",
        DONE,
        "pool",
        Run(
            "index",
            (lent(1, 2), published("a b", 1, 2), wanted(1, Fault("IndexError"), right=EXHAUSTED)),
            blocks=2,
        ),
    ),
)

LENDING_BUGS = (*DOUBLE_RELEASES, *LEAKS, *USE_AFTER_RELEASE, *COUNTS, *CRASHES)
