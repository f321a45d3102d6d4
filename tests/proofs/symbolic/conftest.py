"""Import CrossHair as the package does, before a test module imports it: else icontract is off in this process."""

import blockpool.proofs.symbolic  # noqa: F401
