"""Queues that are wrong only at some size, for some block or after some time: never proved, though small ones work."""

import pytest

from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.core.sources import ROOT
from blockpool.proofs.prove.queue.obligations import queue_obligations
from blockpool.proofs.prove.queue.source import BadSourceError, parse_queue

TEXT = (ROOT / "impl" / "free_queue.py").read_text(encoding="utf-8")
APPEND = '        """Add `block` at the back. O(1)."""\n'
REMOVE = 'It must be in this queue: another queue\'s cannot be told."""\n'
POP = '        """Take the front block. O(1)."""\n'
POP_N = '        """Take the first `n` blocks, in order. O(n)."""\n'
APPEND_N = '        """Add `blocks` at the back, in the order given. O(len(blocks))."""\n'

WRONG = {
    "block 1000 is not queued": ("append", APPEND, "        if block.block_id == 1000:\n            return\n"),
    "a queue of 5000 takes no more": (
        "append",
        APPEND,
        "        if self.num_free_blocks >= 5000:\n            return\n",
    ),
    "a default counts the calls": (
        "append",
        "def append(self, block: KVCacheBlock) -> None:\n" + APPEND,
        "        seen[0] += 1\n        if seen[0] > 500:\n            return\n",
    ),
    "the class counts the calls": (
        "append",
        APPEND,
        "        FreeKVCacheBlockQueue.calls += 1\n        if FreeKVCacheBlockQueue.calls > 500:\n            return\n",
    ),
    "a count is compared by identity": (
        "popleft",
        POP,
        "        if self.num_free_blocks is 257:\n            return self.fake_free_list_head\n",
    ),
    "an attribute of a block decides": (
        "remove",
        REMOVE,
        "        if getattr(block, 'ref_cnt', 0) > 300:\n            return\n",
    ),
    "a hash decides": ("remove", REMOVE, "        if hash(block) % 1000 == 7:\n            return\n"),
    "a text decides": ("remove", REMOVE, "        if repr(block).endswith('99'):\n            return\n"),
    "batches of 64 are cut": ("append_n", APPEND_N, "        blocks = blocks[:64]\n"),
    "batches of 300 leave the last": (
        "append_n",
        APPEND_N,
        "        if len(blocks) >= 300:\n            blocks = list(blocks)\n            blocks.pop()\n",
    ),
    "500 at a time come out reversed": (
        "popleft_n",
        "        self.num_free_blocks -= n\n        return taken\n",
        "        if n >= 500:\n            taken.reverse()\n        return taken\n",
    ),
    "the counter stops at 255": (
        "append",
        "        tail.prev_free_block = block\n        self.num_free_blocks += 1\n",
        "        if self.num_free_blocks > 255:\n            self.num_free_blocks = 255\n",
    ),
    "an error is swallowed": (
        "popleft_n",
        POP_N,
        "        try:\n            self.fake_free_list_head.next_free_block.depth\n"
        "        except Exception:\n            return []\n",
    ),
}


def spoiled(name: str) -> str:
    """The shipped text with one of these faults: its lines stand behind the piece that is named."""
    _, after, more = WRONG[name]
    assert TEXT.count(after) == 1, f"{name}: the source has changed"
    text = TEXT.replace(after, after + more)
    if "seen[0]" in more:
        text = text.replace(
            "def append(self, block: KVCacheBlock) ->", "def append(self, block: KVCacheBlock, seen=[0]) ->"
        )
    return text


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_queue_is_never_proved(name: str) -> None:
    method = WRONG[name][0]
    try:
        source = parse_queue(spoiled(name), "FreeKVCacheBlockQueue")
    except BadSourceError:
        return  # refused as a whole
    found = list(queue_obligations(source, seeds=(0,), methods=[method]))
    assert found
    refines = [one for one in found if "refines" in one.name]
    assert any(one.verdict in (Verdict.REFUTED, Verdict.INCONCLUSIVE) for one in refines), found


def test_the_shipped_queue_is_proved() -> None:
    found = list(
        queue_obligations(parse_queue(TEXT, "FreeKVCacheBlockQueue"), seeds=(0,), methods=["append", "remove"])
    )
    assert {one.verdict for one in found} == {Verdict.HOLDS}
