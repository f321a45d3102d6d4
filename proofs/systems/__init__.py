"""Adapters of pools that others wrote. `blockpool adapters list` says what each needs; none of it is a dependency."""
