"""One trial: the gates of `check`, run on a copy of the source with one defect in it, until one of them fails.

Run as `python -m proofs.detect.trial [NAME]`, in a process of its own, since the defect is put in at import. Prints one
line of JSON. The gates and their order are in `gates.py`.
"""

import json
import sys
from time import perf_counter
from typing import Any

from proofs.detect.defects import DEFECTS, Defect
from proofs.detect.loader import install

DIED = "the gate itself fails"
"""Not a catch: a gate that dies has judged nothing."""


def run_trial(defect: Defect) -> dict[str, Any]:
    """Which gate catches the defect, by which claim, in how many calls; `gate` is None if none does."""
    started = perf_counter()
    install(defect)
    # Imported only now: these modules import the defective one.
    from proofs.detect.gates import GATES

    outcome: dict[str, Any] = {"defect": defect.name, "gates": len(GATES), "gate": None}
    for gate, run in GATES.items():
        try:
            caught = run(defect.of_spec)
        except Exception as error:  # noqa: BLE001  whatever it is, it is reported
            caught = {"claim": DIED, "calls": None, "words": f"{type(error).__name__}: {error}"}
        if caught is not None:
            outcome |= {"gate": gate, **caught}
            break
    return outcome | {"seconds": perf_counter() - started}


def main() -> None:
    """Run the trial named on the command line; without a name, one without a defect."""
    nothing = Defect("nothing", ())
    defect = next(defect for defect in DEFECTS if defect.name == sys.argv[1]) if sys.argv[1:] else nothing
    print(json.dumps(run_trial(defect)))


if __name__ == "__main__":
    main()
