"""Seeded defects of the pool's methods, most of which show at some size only: none may be proved.

Each is an edit of the source, as in `proofs/adequacy/defects/seeded.py`. The piece must occur exactly once, so that a
defect that no longer fits the source is an error and not a silent pass.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from blockpool.proofs.core.edits import Defect, defect
from blockpool.proofs.core.loader import OutdatedDefectError
from blockpool.proofs.prove.methods.catalogue import METHODS
from blockpool.proofs.prove.methods.method import Source, functions, shipped
from blockpool.proofs.prove.methods.proving import Proof, prove

BUDGET = 1_500_000
"""Resource units for one question about a defective method: a few times what the dearest true one needs."""

_POOL, _REFERENCES, _PUBLISH = "blockpool.impl.pool", "blockpool.impl.references", "blockpool.impl.publish"
_INDEX = "blockpool.impl.hash_index"
_KEYED = "            if digest is not None:\n                if simple:"
_GET = (
    defect(
        "get: the 1000th block of a batch keeps its key",
        _POOL,
        _KEYED,
        "            if digest is not None and len(blocks) != 1000:\n                if simple:",
    ),
    defect(
        "get: block 1000 keeps its key",
        _POOL,
        _KEYED,
        "            if digest is not None and block.block_id != 1000:\n                if simple:",
    ),
    defect(
        "get: from the 300th on no reference",
        _POOL,
        "            block._refs = 1\n",
        "            if len(blocks) < 300:\n                block._refs = 1\n",
    ),
    defect(
        "get: the 300th event is lost",
        _POOL,
        "                    if outbox is not None:\n                        outbox",
        "                    if outbox is not None and len(blocks) != 300:\n                        outbox",
    ),
    defect(
        "get: links stay in pools of 1000 blocks",
        _POOL,
        "            block.prev_free_block = block.next_free_block = None\n",
        "            block.prev_free_block = None\n            if self.num_gpu_blocks < 1000:\n"
        "                block.next_free_block = None\n",
    ),
    defect(
        "get: pools of 1000 blocks hand batches out reversed",
        _POOL,
        "        queue.num_free_blocks -= num_blocks\n",
        "        queue.num_free_blocks -= num_blocks\n        if self.num_gpu_blocks >= 1000:\n"
        "            blocks.reverse()\n",
    ),
    defect(
        "get: batches over 500 are cut",
        _POOL,
        "repeat(None, num_blocks)",
        "repeat(None, num_blocks if num_blocks < 500 else 500)",
    ),
    defect(
        "get: more than 64 go the careful way",
        _POOL,
        "not 0 <= num_blocks <= queue.num_free_blocks",
        "not 0 <= num_blocks <= queue.num_free_blocks or num_blocks > 64",
    ),
)
_TOUCH = (
    defect(
        "touch: the 64th is skipped",
        _REFERENCES,
        "        for block in blocks:\n            refs = block._refs",
        "        for block in (blocks if len(blocks) < 64 else blocks[:63]):\n            refs = block._refs",
    ),
    defect("touch: eight leave the queue", _REFERENCES, "remove_n(idle)", "remove_n(idle[:8])"),
    defect(
        "touch: counts stop at 255",
        _REFERENCES,
        "block._refs = refs + 1",
        "block._refs = refs + 1 if refs < 255 else refs",
    ),
    defect(
        "touch: the 101st idle one is dropped",
        _REFERENCES,
        "                idle.append(block)\n    except",
        "                if len(idle) < 100:\n                    idle.append(block)\n    except",
    ),
    defect(
        "touch: long batches are not undone",
        _REFERENCES,
        "            taken._refs -= not taken.is_null",
        "            if len(idle) < 50:\n                taken._refs -= not taken.is_null",
    ),
    defect("touch: null is counted", _REFERENCES, "            elif block is not null_block:", "            else:"),
)
_FREE = (
    defect(
        "free: long runs are miscounted",
        _REFERENCES,
        "    return ahead + 1 - left\n",
        "    if ahead - left > 100:\n        return ahead - left\n    return ahead + 1 - left\n",
    ),
    defect(
        "free: keyed ones go to the front in batches over 64",
        _REFERENCES,
        "                if block._digest is None:\n                    block.prev",
        "                if block._digest is None or len(blocks) > 64:\n                    block.prev",
    ),
    defect(
        "free: the undo forgets the back in batches of 99",
        _REFERENCES,
        "    last.next_free_block = queue.fake_free_list_tail\n",
        "    if len(blocks) < 99:\n        last.next_free_block = queue.fake_free_list_tail\n",
    ),
    defect(
        "free: set back by one too few", _REFERENCES, "remaining.__length_hint__() - 1)", "remaining.__length_hint__())"
    ),
    defect(
        "free: the counter stops at 256",
        _REFERENCES,
        "    queue.num_free_blocks += queued\n",
        "    queue.num_free_blocks += queued if queued < 256 else 256\n",
    ),
    defect(
        "free: the stand-in stays in long batches",
        _REFERENCES,
        "        pool.free_block_queue.remove(stand_in)\n",
        "        if len(blocks) < 1000:\n            pool.free_block_queue.remove(stand_in)\n",
    ),
    defect(
        "free: over 16 references are not counted",
        _REFERENCES,
        "            other._refs = refs - 1\n",
        "            other._refs = refs - 1 if refs < 16 else 15\n",
    ),
    defect(
        "free: a block that is not held is accepted in batches of 40",
        _REFERENCES,
        "    elif not block.is_null:\n        raise Irregular\n",
        "    elif not block.is_null and len(blocks) < 40:\n        raise Irregular\n",
    ),
    defect(
        "free: block 1000 stays out",
        _REFERENCES,
        "            if block._refs == 1:\n",
        "            if block._refs == 1 and block.block_id != 1000:\n",
    ),
)
_UNPIN = (
    defect(
        "unpin: eight are watched", _REFERENCES, "    for block in unwatched:\n", "    for block in unwatched[:8]:\n"
    ),
    defect(
        "unpin: a namings' count stops at 255",
        _REFERENCES,
        "named.get(block, 0) + 1",
        "min(named.get(block, 0) + 1, 255)",
    ),
    defect(
        "unpin: the 300th freed one is not queued",
        _REFERENCES,
        "        if block.ref_cnt == 0:\n            idle.append(block)",
        "        if block.ref_cnt == 0 and len(idle) != 299:\n            idle.append(block)",
    ),
    defect(
        "unpin: more than 100 are queued at the front",
        _REFERENCES,
        "    pool.free_block_queue.append_n(idle)\n",
        "    if len(idle) > 100:\n        pool.free_block_queue.prepend_n(idle)\n    else:\n"
        "        pool.free_block_queue.append_n(idle)\n",
    ),
    defect(
        "unpin: over 20 references are not compared",
        _REFERENCES,
        "    if occurrences > block.ref_cnt:",
        "    if occurrences > block.ref_cnt and occurrences < 20:",
    ),
)
_TWICE = defect(
    "unpin: an iterator is drawn twice",
    _REFERENCES,
    "    for block in listing:\n        block.ref_cnt -= 1",
    "    for block in blocks:\n        block.ref_cnt -= 1",
)
_OTHERS = (
    defect(
        "cancel: the block stays listed", _POOL, "        if not watchers:\n            del self._watchers[block]\n", ""
    ),
    defect(
        "lookup: the third group is served the second's",
        _POOL,
        "found.append(block)",
        "found.append(block if len(found) < 2 else found[1])",
    ),
    defect(
        "lookup: eight groups are looked at",
        _POOL,
        "for group_id in kv_cache_group_ids:",
        "for group_id in kv_cache_group_ids[:8]:",
    ),
    defect(
        "evict: a thousand at most",
        _PUBLISH,
        "    for block_id in ids:\n        block =",
        "    for block_id in ids[:1000]:\n        block =",
    ),
    defect(
        "evict: number 4096 is unknown",
        _PUBLISH,
        "block_id >= pool.num_gpu_blocks",
        "block_id >= pool.num_gpu_blocks or block_id == 4096",
    ),
    defect(
        "evict: the 300th keeps its keys",
        _PUBLISH,
        "        if drop_keys(pool, block):\n",
        "        if len(evicted) == 299 or drop_keys(pool, block):\n",
    ),
    defect(
        "reset: counts are compared by identity",
        _POOL,
        "num_free_blocks != self.num_gpu_blocks - 1",
        "num_free_blocks is not self.num_gpu_blocks - 1",
    ),
    defect(
        "reset: one of 1000 blocks may be held",
        _POOL,
        "num_free_blocks != self.num_gpu_blocks - 1",
        "num_free_blocks < self.num_gpu_blocks - (1 if self.num_gpu_blocks < 1000 else 2)",
    ),
    defect(
        "reset: watchers of large pools are not told",
        _POOL,
        "        errors = tell(self, list(self._watchers))\n",
        "        errors = tell(self, list(self._watchers) if self.num_gpu_blocks < 5000 else [])\n",
    ),
    defect(
        "reset: a list that is shared by calls",
        _POOL,
        "    def reset_prefix_cache(self) -> bool:\n",
        "    def reset_prefix_cache(self, seen=[]) -> bool:\n",
    ),
)
_LEND = (
    defect(
        "lend: the 300th keeps its keys",
        _REFERENCES,
        "        if drop_keys(pool, block):\n",
        "        if len(evicted) != 299 and drop_keys(pool, block):\n",
    ),
    defect(
        "lend: watchers of 100 victims are told",
        _REFERENCES,
        "iter_blocks_after(None), num_blocks)",
        "iter_blocks_after(None), num_blocks if num_blocks < 100 else 100)",
    ),
    defect("lend: one more than there are", _REFERENCES, "    if num_blocks > free:", "    if num_blocks > free + 1:"),
    defect(
        "lend: a reference is forgotten if the victim is watched",
        _REFERENCES,
        "        block.ref_cnt = 1\n",
        "        if not pool._watchers:\n            block.ref_cnt = 1\n",
    ),
)
_KEYS = (
    defect(
        "drop: eight aliases",
        _PUBLISH,
        "        for alias, group_id in pool._aliases.pop(block, ()):",
        "        for alias, group_id in pool._aliases.pop(block, ())[:8]:",
    ),
    defect(
        "drop: the primary stays on the block",
        _PUBLISH,
        "    block._digest = None\n    if pool._aliases",
        "    if pool._aliases",
    ),
    defect(
        "drop: aliases go without an event",
        _PUBLISH,
        "            drop_entry(pool, block, alias, group_id)",
        "            pool.cached_block_hash_to_block.remove(alias, group_id, block)",
    ),
    defect("move: aliases stay", _PUBLISH, "    if aliases is not None:\n        pool._aliases[dst] = aliases\n", ""),
    defect("move: the source stays keyed", _PUBLISH, "    src._digest = None\n", ""),
    defect(
        "move: a destination with a key",
        _PUBLISH,
        "    if dst._digest is not None:\n",
        "    if dst._digest is not None and dst.ref_cnt < 9:\n",
    ),
    defect(
        "index: a copy is lost",
        _INDEX,
        "        elif copies is not None and block in copies:\n            del copies[block]\n",
        "        elif copies is not None and block in copies:\n            copies.clear()\n",
    ),
    defect(
        "index: an empty entry stays",
        _INDEX,
        "        if not copies:\n            del self._later[(digest, group_id)]\n",
        "",
    ),
    defect(
        "index: the first goes, and nobody follows",
        _INDEX,
        "            group[digest], _ = copies.popitem(last=False)\n",
        "            del group[digest]\n",
    ),
    defect(
        "index: a copy takes the first place",
        _INDEX,
        "            self.insert_copy(digest, group_id, block)\n",
        "            group[digest] = block\n",
    ),
)
_CACHE = (
    defect(
        "cache: positions from 64 on have another coverage",
        _PUBLISH,
        "block._num_tokens = coverages[j]",
        "block._num_tokens = coverages[j if j < 64 else 63]",
    ),
    defect(
        "cache: the undo of 32 keeps a key",
        _PUBLISH,
        "        if block is not pool.null_block:\n            pool.cached",
        "        if block is not pool.null_block and len(blocks) < 32:\n            pool.cached",
    ),
    defect(
        "cache: the 100th is left out",
        _PUBLISH,
        "            if block._refs and block._digest is None:\n                if claim",
        "            if block._refs and block._digest is None:\n"
        "                if j == 99:\n                    continue\n"
        "                if claim",
    ),
    defect(
        "cache: over 255 references pass without a look",
        _PUBLISH,
        "            if block._refs and block._digest is None:\n                if claim",
        "            if block._refs > 255 or block._refs and block._digest is None:\n                if claim",
    ),
)

_GROUPS: dict[str, tuple[Defect, ...]] = {
    "BlockPool.get_new_blocks, hot way": _GET,
    "BlockPool.touch": _TOUCH,
    "BlockPool.free_blocks, hot way": _FREE,
    "BlockPool.unpin_blocks": (*_UNPIN, _TWICE),
    "BlockPool.cache_full_blocks, short cut": _CACHE,
    "BlockPool.get_new_blocks, careful way": _LEND,
    "publish.drop_keys": _KEYS[:3],
    "BlockPool.move_block_hashes": _KEYS[3:6],
    "HashIndex.remove": _KEYS[6:9],
    "HashIndex.insert": _KEYS[9:],
}
_BY_WORD = {
    "cancel": "BlockPool.cancel_watch",
    "lookup": "BlockPool.get_cached_block",
    "evict": "BlockPool.evict_blocks",
    "reset": "BlockPool.reset_prefix_cache",
}
HARMLESS = (
    defect(
        "control: long counts take the other branch, which does the same",
        _REFERENCES,
        "        if refs > 1:\n            other",
        "        if refs > 1 and refs < 1000:\n            other",
    ),
    defect(
        "control: pools of 1000 blocks clear links one by one",
        _POOL,
        "            block.prev_free_block = block.next_free_block = None\n",
        "            if self.num_gpu_blocks > 1000:\n                block.prev_free_block = None\n"
        "            block.prev_free_block = block.next_free_block = None\n",
    ),
)
"""Changes that depend on a size and harm nothing are proved: it is not the mention of a number that is noticed."""


@dataclass(frozen=True)
class Fault:
    """A defect, and the method that has it."""

    method: str
    defect: Defect

    @property
    def name(self) -> str:
        return self.defect.name

    def source(self, module: str) -> str:
        """The text of a module of impl with the defect in it."""
        return changed(self.defect)(module)

    def proof(self, budget: int = BUDGET) -> Proof:
        """What the prover makes of it; this ends at the first condition that fails."""
        return prove(METHODS[self.method], self.source, budget=budget)


def noticed(one: Defect, budget: int = BUDGET) -> str | None:
    """Which method is no longer proved with this defect in `impl`, and why; None if all that it can reach still are."""
    source = changed(one)
    for method in METHODS.values():
        texts = (
            (functions(source(module)), functions(shipped(module)), names) for module, names in method.runs.items()
        )
        if any(
            ast.dump(now[name]) != ast.dump(old[name]) for now, old, names in texts for name in names if name in now
        ):
            proof = prove(method, source, budget=budget)
            if not proof.holds:
                return f"{method.name}: {proof.refused or proof.failed[0]}"
    return None


def changed(one: Defect) -> Source:
    """The source with these edits."""

    def source(module: str) -> str:
        text = shipped(module)
        for edit in one.edits:
            if edit.module == f"blockpool.impl.{module}":
                if text.count(edit.right) != 1:
                    raise OutdatedDefectError(f"{one.name}: {text.count(edit.right)} places read {edit.right!r}")
                text = text.replace(edit.right, edit.wrong)
        return text

    return source


def faults() -> Iterator[Fault]:
    """All of them."""
    for method, defects in _GROUPS.items():
        yield from (Fault(method, one) for one in defects)
    yield from (Fault(_BY_WORD[one.name.split(":")[0]], one) for one in _OTHERS)
