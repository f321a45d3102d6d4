"""Runs the defects on the real pool and writes their traces: `python -m tests.bugs.vllm_recording`.

The release must have been fetched: `blockpool adapters fetch vllm==0.33.0`.
"""

from io import BytesIO
from pathlib import Path

from proofs.oracle.adapter import InProcess
from proofs.oracle.adapters.vllm import VllmPool
from proofs.oracle.adapters.vllm_release import core_release
from proofs.oracle.trace import TraceWriter
from tests.bugs.vllm_defects import DEFECTS, Behind, Callbacks, Defect

RELEASE = "0.33.0"
TRACES = Path(__file__).parent / "vllm-0.33"


def recorded(defect: Defect, adapter: VllmPool) -> bytes:
    """The trace of a defect on this pool."""
    subject, file = InProcess(adapter), BytesIO()
    assert isinstance(adapter.profile, str)
    writer = TraceWriter(file, subject.name, subject.operations, adapter.profile)
    writer.write(defect.start, subject.ask(defect.start))
    for step in defect.steps:
        if isinstance(step, Behind):
            step.deed(adapter.pool)
        else:
            writer.write(step, subject.ask(step))
    return file.getvalue()


if __name__ == "__main__":
    TRACES.mkdir(exist_ok=True)
    for defect in DEFECTS:
        (TRACES / defect.file).write_bytes(recorded(defect, Callbacks(core_release(RELEASE))))
