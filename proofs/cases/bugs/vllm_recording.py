"""Runs the defects on the real pool, writes their traces anew: `python -m blockpool.proofs.cases.bugs.vllm_recording`.

The release must have been fetched: `blockpool adapters fetch vllm==0.33.0`.
"""

from collections.abc import Callable
from io import BytesIO
from typing import Any

from blockpool.proofs.cases.bugs.reports import Defect, vllm_defects
from blockpool.proofs.oracle.adapter import InProcess
from blockpool.proofs.oracle.trace import TraceWriter
from blockpool.proofs.systems.vllm.adapter import VllmPool
from blockpool.proofs.systems.vllm.release import core_release
from blockpool.spec.contract.calls import BlockName

RELEASE = "0.33.0"

FREE_ELSEWHERE = 98
"""The adapter's other foreign blocks are held in their pools; this one is free there."""


def queue_again(pool: Any) -> None:
    pool.free_block_queue.append_n([pool.blocks[2]])


def queue_twice(pool: Any) -> None:
    pool.free_block_queue.append(pool.blocks[1])
    pool.free_block_queue.append(pool.blocks[1])


def reset_hash(pool: Any) -> None:
    pool.blocks[1].reset_hash()


BEHIND_ITS_BACK: dict[str, Callable[[Any], None]] = {
    deed.__name__: deed for deed in (queue_again, queue_twice, reset_hash)
}
"""What somebody does to vLLM's BlockPool without asking it."""


class Callbacks(VllmPool):
    """The adapter, with watchers that do more than listen: their names say what."""

    def _watcher(self, name: str) -> Callable[[Any], None]:
        listen = super()._watcher(name)
        deeds: dict[str, Callable[[Any], object]] = {
            "raises": transport_gone,
            "touches": lambda block: self.pool.touch([block]),
            "releases": lambda block: self.pool.free_blocks([block]),
            "unpins": lambda block: self.pool.unpin_blocks([block], print),
        }

        def tell(block: Any) -> None:
            listen(block)
            if name in deeds:
                deeds[name](block)

        return tell

    def _block(self, name: BlockName) -> Any:
        if name == FREE_ELSEWHERE:
            return self._strangers.setdefault(name, self.release.new_pool(4, True, False).blocks[2])
        return super()._block(name)


def transport_gone(_: object) -> None:
    raise KeyError("transport gone")


def recorded(defect: Defect, adapter: VllmPool) -> bytes:
    """The trace of a defect's calls on this pool."""
    subject, file = InProcess(adapter), BytesIO()
    assert isinstance(adapter.profile, str)
    writer = TraceWriter(file, subject.name, subject.operations, adapter.profile)
    _, entries = defect.trace()
    for entry in entries:
        if entry.line in defect.behind_its_back:
            BEHIND_ITS_BACK[defect.behind_its_back[entry.line]](adapter.pool)
        writer.write(entry.call, subject.ask(entry.call))
    return file.getvalue()


if __name__ == "__main__":
    for defect in vllm_defects().executed:
        defect.file.write_bytes(recorded(defect, Callbacks(core_release(RELEASE))))
