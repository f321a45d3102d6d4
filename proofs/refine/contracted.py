"""Runs of the state machine with the contracts of `impl` switched on. `python -m proofs.refine.contracted RUNS CALLS`.

The level is chosen by BLOCKPOOL_CONTRACTS when `impl` is imported, so this is a process of its own. Prints figures as
JSON; a broken contract ends it with a traceback.
"""

import json
import sys

from impl import contracts
from proofs.refine.machine import sample


def main() -> None:
    """Run the machine; the first argument is the number of runs, the second the calls in each."""
    if contracts.LEVEL != "full":
        raise SystemExit(f"contracts are {contracts.LEVEL}; set BLOCKPOOL_CONTRACTS=full")
    run = sample(int(sys.argv[1]), int(sys.argv[2]))
    if run.failure is not None:
        raise SystemExit(f"{run.failure.claim}: {run.failure.words}")
    print(json.dumps({"runs": run.runs, "calls": run.steps}))


if __name__ == "__main__":
    main()
