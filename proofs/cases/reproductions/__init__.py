"""What reproduces each finding in vLLM: a few calls that are run on the release, and sentences that were so there."""
