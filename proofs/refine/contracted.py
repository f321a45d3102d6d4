"""Runs of the state machine with the contracts of `impl` switched on.

`python -m blockpool.proofs.refine.contracted RUNS CALLS`


The level is chosen by BLOCKPOOL_CONTRACTS when `impl` is imported, so this is a process of its own. Prints figures as
JSON; a broken contract ends it with a traceback.
"""

import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from unittest.mock import patch

import icontract

from blockpool.impl import BlockPool, Request, contracts, references
from blockpool.proofs.refine.stateful_test import sample


def _spoiled() -> Iterator[tuple[str, BlockPool]]:
    """Pools that somebody has tampered with, each breaking one part of well-formedness."""
    for name in ("a link", "a count", "the index", "an alias", "the null block", "a watcher"):
        pool = BlockPool(4, True, 1)
        block = pool.get_new_blocks(1)[0]
        request = Request("r", [1], 1)
        pool.cache_full_blocks(request, [block], 0, 1, 1, 0)
        match name:
            case "a link":
                pool.free_block_queue.fake_free_list_tail.prev_free_block = block
            case "a count":
                block.ref_cnt = 0
            case "the index":
                pool.cached_block_hash_to_block.clear()
            case "an alias":
                pool._aliases[block] = [(request.block_hashes[0], 0)]
            case "the null block":
                pool.null_block.ref_cnt = 1
            case _:
                pool._watchers[block] = []
        yield name, pool


def unnoticed() -> list[str]:
    """What was tampered with and no contract noticed at the next call; and a broken promise, if that goes unnoticed."""
    missed = []
    for name, pool in _spoiled():
        try:
            pool.evict_blocks(set())
            missed.append(name)
        except icontract.ViolationError:
            continue
    with patch.object(references, "lend", lambda pool, n: []), suppress(icontract.ViolationError):
        BlockPool(4, True, 1, metrics_collector=object()).get_new_blocks(2)
        missed.append("an allocation of nothing")
    return missed


def main() -> None:
    """Run the machine; the first argument is the number of runs, the second the calls in each."""
    if contracts.LEVEL != "full":
        raise SystemExit(f"contracts are {contracts.LEVEL}; set BLOCKPOOL_CONTRACTS=full")
    missed = unnoticed()
    if missed:
        raise SystemExit(f"no contract notices that somebody spoiled {', '.join(missed)}")
    run = sample(int(sys.argv[1]), int(sys.argv[2]))
    if run.failure is not None:
        raise SystemExit(f"{run.failure.claim}: {run.failure.words}")
    print(json.dumps({"runs": run.runs, "calls": run.steps, "canaries": 7}))


if __name__ == "__main__":
    main()
