"""Hypothesis profiles, chosen by BLOCKPOOL_PROFILE: `ci` does the same in every run, `nightly` explores."""

import os

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
settings.load_profile(os.environ.get("BLOCKPOOL_PROFILE", "ci"))
