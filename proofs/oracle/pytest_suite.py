"""One pytest test for each law: subclass, say how your pool is made, and run pytest.

    from blockpool.proofs.oracle.pytest_suite import PoolConformance

    class TestMyPool(PoolConformance):
        profile = "lru"

        def make_adapter(self):
            return MyPool()

The pool is checked once for the class; each test then reports its law. A law that the profile does not promise, or
about an operation that the pool does not have, is skipped and says so. `pytest --junit-xml FILE` writes it all down.
"""

from typing import ClassVar

import pytest

from blockpool.proofs.core.obligation import Verdict, message
from blockpool.proofs.oracle.adapter import Adapter, InProcess
from blockpool.proofs.oracle.conformance import Report, conform
from blockpool.spec.contract.laws import LAWS
from blockpool.spec.contract.profiles import Profile


class PoolConformance:
    """The suite. The attributes are those of `blockpool conform`."""

    profile: ClassVar[str | Profile | None] = None  # what the pool promises; None: what its adapter says
    runs: ClassVar[int] = 100
    calls: ClassVar[int] = 60
    blocks: ClassVar[int] = 12
    misuse: ClassVar[bool | None] = None  # make wrong calls too; None: if the profile says what becomes of them

    def make_adapter(self) -> Adapter:
        """The adapter of the pool under test. Called once."""
        raise TypeError(f"{type(self).__name__} has to define make_adapter")

    @pytest.mark.parametrize("law", [law.name for law in LAWS])
    def test_law(self, law: str) -> None:
        """The pool keeps this law."""
        report = self._report()
        if law in report.not_promised:
            pytest.skip("the profile does not promise it")
        if law in report.not_asked:
            pytest.skip("the pool has no such operation")
        # A law about wrong calls has a verdict for each kind of them, named LAW: OPERATION, REASON.
        judged = [obligation for obligation in report.obligations if obligation.name.partition(":")[0] == law]
        assert judged, f"{law} was not judged"
        broken = [
            f"{obligation.name} is {obligation.verdict}: {message(obligation)}"
            for obligation in judged
            if obligation.verdict is not Verdict.HOLDS
        ]
        if broken:
            pytest.fail("\n\n".join(broken), pytrace=False)

    def _report(self) -> Report:
        """What came of checking the pool; once for the class."""
        kind = type(self)
        if "_checked" not in vars(kind):
            subject = InProcess(self.make_adapter())
            options = {"runs": self.runs, "calls": self.calls, "blocks": self.blocks, "misuse": self.misuse}
            kind._checked = conform(subject, self.profile, **options)  # type: ignore[attr-defined,arg-type]
        checked: Report = kind._checked  # type: ignore[attr-defined]
        return checked
