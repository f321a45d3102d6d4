"""The agenda of `check`: what must not be done in one process is not done in one part."""

from collections.abc import Callable
from functools import partial

import pytest

from blockpool.proofs.core.jobs import Job
from blockpool.proofs.suite import plan as agenda


def made_by(job: Job) -> str:
    """The package of the function that does the job."""
    function = job.func if isinstance(job, partial) else job
    return str(function.__module__).rpartition(".")[0]


@pytest.mark.parametrize("parts_of", [agenda.gate, agenda.nightly])
def test_crosshair_is_in_no_part_with_proofs(parts_of: Callable[[int | None], tuple[list[Job], list[Job]]]) -> None:
    first, second = ({made_by(job) for job in part} for part in parts_of(None))
    assert "blockpool.proofs.symbolic" in first
    assert "blockpool.proofs.prove" in second
    assert "blockpool.proofs.prove" not in first
    assert "blockpool.proofs.symbolic" not in second
