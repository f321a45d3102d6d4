"""What a scheduler publishes in a pass is written in that pass, or it must not stay findable.

vLLM publishes keys when it schedules, before the content is computed. If the request is dropped from the same pass,
nobody computes it, and a later request is served what was never written. The pool cannot see that: it does not know
who is in a pass.
"""

from collections.abc import Callable, Container, Sequence
from typing import Any, NamedTuple

from blockpool.proofs.systems.vllm.watch import OnBreach, in_words, tell
from blockpool.spec.contract.violation import WRITTEN, Breach


class Pending(NamedTuple):
    """A key that was published before its content was computed."""

    request: str
    computed: int  # tokens of the request that were computed then
    block: Any
    key: bytes
    tokens: int


class Passes:
    """Beside one pool: between `begin` and `end` of a pass it notes what is published ahead of the computation."""

    def __init__(self, pool: Any, on_breach: OnBreach) -> None:
        self._unit = pool.hash_block_size
        self._on_breach = on_breach
        self._pending: list[Pending] = []
        self._in_pass = False
        self.passes = 0
        full, partial = pool.cache_full_blocks, getattr(pool, "cache_partial_block", None)
        pool.cache_full_blocks = self._covered(full, self._note_full)
        if partial is not None:
            pool.cache_partial_block = self._covered(partial, self._note_partial)

    def begin(self) -> None:
        """A pass begins."""
        self._pending.clear()
        self._in_pass = True

    def end(self, scheduled: Container[str]) -> None:
        """A pass has ended, with these requests in its output."""
        self._in_pass = False
        self.passes += 1
        dropped = [key for key in self._pending if key.request not in scheduled and key.block.block_hash == key.key]
        self._pending.clear()
        for key in dropped:
            words = (
                f"pass {self.passes}: request {key.request!r} published block {key.block.block_id} as its first "
                f"{key.tokens} tokens, of which {key.computed} were computed, and was dropped from the pass"
            )
            breach = Breach(WRITTEN, "caller", words, key.block.block_id)
            tell(
                self._on_breach,
                breach,
                "\n".join([words, *in_words(breach, self.passes)[1:]]),
                "Later passes are watched.",
            )

    def _covered(self, method: Callable[..., Any], note: Callable[..., None]) -> Callable[..., Any]:
        def covered(*args: Any, **kwargs: Any) -> Any:
            answer = method(*args, **kwargs)
            if self._in_pass:
                note(*args, **kwargs)
            return answer

        return covered

    def _note_full(
        self,
        request: Any,
        blocks: Sequence[Any],
        num_cached_blocks: int,
        num_full_blocks: int,
        block_size: int,
        kv_cache_group_id: int,
        block_mask: Sequence[bool] | None = None,
    ) -> None:
        first = max(num_cached_blocks, request.num_computed_tokens // block_size)
        for place in range(first, num_full_blocks):
            self._note(request, blocks[place], (place + 1) * block_size, kv_cache_group_id)

    def _note_partial(
        self, request: Any, block: Any, num_tokens: int, kv_cache_group_id: int, *_args: Any, **_kwargs: Any
    ) -> None:
        if num_tokens > request.num_computed_tokens:
            self._note(request, block, num_tokens, kv_cache_group_id)

    def _note(self, request: Any, block: Any, tokens: int, group: int) -> None:
        key = request.block_hashes[tokens // self._unit - 1] + group.to_bytes(4, "big")
        self._pending.append(Pending(request.request_id, request.num_computed_tokens, block, key, tokens))
