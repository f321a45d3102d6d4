"""Runs the defects on the real pool and writes their traces: `python -m blockpool.proofs.cases.bugs.vllm_recording`.

The release must have been fetched: `blockpool adapters fetch vllm==0.33.0`.
"""

from io import BytesIO
from pathlib import Path

from blockpool.proofs.cases.bugs.vllm_defects import DEFECTS, Behind, Callbacks, Defect
from blockpool.proofs.oracle.adapter import InProcess
from blockpool.proofs.oracle.trace import TraceWriter
from blockpool.proofs.systems.vllm.adapter import VllmPool
from blockpool.proofs.systems.vllm.release import core_release

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
