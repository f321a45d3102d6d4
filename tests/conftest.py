"""Hypothesis profiles, chosen by BLOCKPOOL_PROFILE: `ci` does the same in every run, `nightly` explores.

Where hypothesis-crosshair is installed there is a third, `crosshair`, which solves for the inputs of `@given` tests
instead of drawing them. It is slow (minutes a test), no use for state machines, and switches icontract off in the
process. For a nightly run of named tests:

    BLOCKPOOL_PROFILE=crosshair pytest -n 0 tests/impl/test_hashing.py -k equal_digests
"""

import os
from importlib.util import find_spec

from hypothesis import HealthCheck, settings

settings.register_profile("ci", derandomize=True, deadline=None, database=None, max_examples=50)
settings.register_profile(
    "nightly",
    derandomize=False,
    deadline=None,
    database=None,
    max_examples=2000,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
if find_spec("hypothesis_crosshair_provider") is not None:
    settings.register_profile(
        "crosshair",
        backend="crosshair",
        deadline=None,
        database=None,
        max_examples=10,
        suppress_health_check=list(HealthCheck),
    )
settings.load_profile(os.environ.get("BLOCKPOOL_PROFILE", "ci"))
