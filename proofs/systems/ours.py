"""This project's own pool. It has vLLM's interface, more refusals, and watchers that can be cancelled."""

from collections.abc import Sequence
from types import ModuleType

from blockpool import impl
from blockpool.proofs.oracle.adapter import InProcess
from blockpool.proofs.systems.vllm.adapter import VllmPool
from blockpool.proofs.systems.vllm.release import Release
from blockpool.spec.contract.calls import BlockName


class ImplPool(VllmPool):
    """The adapter of `impl.BlockPool`: every operation, every refusal."""

    def __init__(self, pool: ModuleType = impl) -> None:
        """`pool`: another copy of the package, as one with a seeded defect."""
        super().__init__(Release("0.33", pool.BlockPool, pool.KVCacheBlock, pool, pool.BlockStored))
        self._package = pool
        self.name = "impl"
        self.profile = "strict"

    def free(self, blocks: Sequence[BlockName]) -> None:
        # A block of another pool would be given back to that pool, which is right: the foreign ones here are nobody's.
        self._ask(
            "free_blocks",
            [self._block(name) if self._is_own(name) else self._package.KVCacheBlock(-1) for name in blocks],
        )

    def _is_refusal(self, error: Exception, *_: object) -> bool:
        return isinstance(error, self._package.Refusal)


def subject_in(module: ModuleType) -> InProcess:
    """The pool of a copy of `impl`, as a subject."""
    return InProcess(ImplPool(module))
