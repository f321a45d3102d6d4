"""Seeded defects: a line or two of the spec or of `impl` made wrong, as real pools have had it wrong.

Each edit is a piece of source and what it becomes. The piece must occur exactly once, so that a defect that no longer
fits the source is an error and not a silent pass. `trial.py` runs one; every one must be caught.
"""

from blockpool.proofs.adequacy.defects.claim_defects import CLAIM_DEFECTS
from blockpool.proofs.core.edits import Defect, Edit
from blockpool.proofs.core.edits import defect as _defect

_QUEUE = (
    _defect(
        "popped blocks keep a link",
        "blockpool.impl.free_queue",
        "            block.prev_free_block = None\n            block.next_free_block = None\n            block = after",
        "            block.prev_free_block = None\n            block = after",
    ),
    _defect(
        "removed blocks keep a link",
        "blockpool.impl.free_queue",
        "        for block in blocks:\n            block.next_free_block = None\n",
        "",
    ),
    _defect(
        "freed batch is queued in reverse",
        "blockpool.impl.free_queue",
        "        node: Any = head\n        for block in blocks:",
        "        node: Any = head\n        for block in reversed(blocks):",
    ),
    _defect(
        "cached batch is queued in reverse",
        "blockpool.impl.free_queue",
        "        node = last\n        for block in blocks:",
        "        node = last\n        for block in reversed(blocks):",
    ),
    _defect(
        "free counter counts calls, not blocks",
        "blockpool.impl.free_queue",
        "        first.prev_free_block = node\n        self.num_free_blocks += count",
        "        first.prev_free_block = node\n        self.num_free_blocks += 1",
    ),
    _defect(
        "missing back link after a batch",
        "blockpool.impl.free_queue",
        "        node.next_free_block = first\n        first.prev_free_block = node\n",
        "        node.next_free_block = first\n",
    ),
    _defect(
        "lent blocks keep a link",
        "blockpool.impl.pool",
        "            block.prev_free_block = block.next_free_block = None\n",
        "            block.prev_free_block = None\n",
    ),
    _defect(
        "lent blocks leave the queue its old front",
        "blockpool.impl.pool",
        "        block.prev_free_block = head\n",
        "",
    ),
    _defect(
        "freed cached blocks are not counted",
        "blockpool.impl.references",
        "    queue.num_free_blocks += queued\n",
        "    queue.num_free_blocks += 1 if queued else 0\n",
    ),
    _defect(
        "refused free leaves blocks queued",
        "blockpool.impl.references",
        "            block.prev_free_block = block.next_free_block = None\n",
        "            pass\n",
    ),
    _defect(
        "null block is queued",
        "blockpool.impl.pool",
        "FreeKVCacheBlockQueue(self.blocks[1:])",
        "FreeKVCacheBlockQueue(self.blocks)",
    ),
    _defect(
        "usage counts the null block",
        "blockpool.impl.pool",
        "        capacity = self.num_gpu_blocks - 1",
        "        capacity = self.num_gpu_blocks",
    ),
)

_REFERENCES = (
    _defect(
        "negative count is accepted",
        "blockpool.impl.references",
        "    if not is_count(num_blocks):",
        "    if not isinstance(num_blocks, int):",
        Edit("blockpool.impl.free_queue", "if not isinstance(n, int) or n < 0:", "if not isinstance(n, int):"),
    ),
    _defect(
        "double free in one call is accepted",
        "blockpool.impl.references",
        "    if occurrences > block.ref_cnt:",
        "    if block.ref_cnt == 0:",
    ),
    _defect(
        "double free is accepted",
        "blockpool.impl.references",
        "    if occurrences > block.ref_cnt:",
        "    if False:",
    ),
    _defect(
        "a block freed twice by two holders is refused",
        "blockpool.impl.references",
        "    if occurrences > block.ref_cnt:",
        "    if occurrences > min(1, block.ref_cnt):",
        Edit(
            "blockpool.impl.references",
            "            if block._refs == 1:\n",
            "            if blocks.count(block) > 1:\n                raise Irregular\n"
            "            if block._refs == 1:\n",
        ),
    ),
    _defect(
        "touch forgets to unlink",
        "blockpool.impl.references",
        "    if idle:\n        try:",
        "    if idle and False:\n        try:",
    ),
    _defect(
        "touch counts the null block",
        "blockpool.impl.references",
        "            elif block is not null_block:",
        "            else:",
    ),
    _defect(
        "refused touch keeps the references before the wrong block",
        "blockpool.impl.references",
        "            taken._refs -= not taken.is_null\n",
        "",
    ),
    _defect(
        "refused free drops the references before the wrong block",
        "blockpool.impl.references",
        "        block._refs += 1\n    queue.fake_free_list_head",
        "    queue.fake_free_list_head",
    ),
    _defect(
        "a last reference behind a shared one is lost",
        "blockpool.impl.references",
        "            remaining.__setstate__(len(blocks) - remaining.__length_hint__() - 1)",
        "            pass",
    ),
    _defect(
        "worthless blocks go to the back",
        "blockpool.impl.references",
        "                if block._digest is None:\n",
        "                if False:\n",
    ),
    _defect(
        "a stand-in stays in the queue that was empty",
        "blockpool.impl.references",
        "        pool.free_block_queue.remove(stand_in)\n",
        "        pass\n",
    ),
    _defect(
        "foreign block is touched",
        "blockpool.impl.references",
        'if one is not a block of `pool`."""\n    if checks.num_pools > 1 and any_foreign(pool, blocks):\n',
        'if one is not a block of `pool`."""\n    if False:\n',
    ),
)

_WATCHERS = (
    _defect(
        "second watcher replaces the first",
        "blockpool.impl.references",
        "        pool._watchers.setdefault(block, []).append(on_reuse)",
        "        pool._watchers[block] = [on_reuse]",
    ),
    _defect(
        "watcher stays after it was told",
        "blockpool.impl.watchers",
        "    for block in blocks:\n        del pool._watchers[block]\n",
        "",
    ),
    _defect(
        "watchers are told after the block left the queue",
        "blockpool.impl.references",
        "        victims = islice(pool.free_block_queue.iter_blocks_after(None), num_blocks)\n"
        "        errors = tell(pool, [block for block in victims if block in pool._watchers])\n"
        "    blocks = pool.free_block_queue.popleft_n(num_blocks)\n",
        "        pass\n"
        "    blocks = pool.free_block_queue.popleft_n(num_blocks)\n"
        "    errors = tell(pool, [block for block in blocks if block in pool._watchers])\n",
    ),
    _defect(
        "watchers are not told of an allocation",
        "blockpool.impl.references",
        "        errors = tell(pool, [block for block in victims if block in pool._watchers])",
        "        errors = []",
    ),
    _defect(
        "call from inside a watcher is accepted",
        "blockpool.impl.checks",
        "    if pool._telling:",
        "    if pool._telling and call not in ('free_blocks', 'cancel_watch'):",
    ),
    _defect(
        "unpinned block goes to the front",
        "blockpool.impl.references",
        "    pool.free_block_queue.append_n(idle)",
        "    pool.free_block_queue.prepend_n(idle)",
    ),
    _defect(
        "watched block goes to the front when freed",
        "blockpool.impl.references",
        "            disposable = block._digest is None and block not in block.pool._watchers",
        "            disposable = block._digest is None",
    ),
    _defect(
        "watched block is writable",
        "blockpool.impl.pool",
        " and block._digest is None and block not in self._watchers",
        " and block._digest is None",
    ),
)

_KEYS = (
    _defect(
        "key survives re-allocation",
        "blockpool.impl.references",
        "        if drop_keys(pool, block):\n            evicted.append(block)\n",
        "",
    ),
    _defect(
        "key survives re-allocation on the short cut",
        "blockpool.impl.pool",
        "                    del block._group[digest]\n",
        "",
    ),
    _defect(
        "copies of a key are forgotten once the last alias is gone",
        "blockpool.impl.pool",
        "                if simple:\n",
        "                if simple or not self._aliases:\n",
    ),
    _defect(
        "aliases survive their primary",
        "blockpool.impl.publish",
        "        for alias, group_id in pool._aliases.pop(block, ()):",
        "        for alias, group_id in ():",
    ),
    _defect(
        "promotion keeps the partial key",
        "blockpool.impl.publish",
        "        drop_keys(pool, block)  # a shorter prefix gives way, with all its aliases\n",
        "",
    ),
    _defect(
        "move leaves the source keyed",
        "blockpool.impl.publish",
        "    src._digest = None\n",
        "",
    ),
    _defect(
        "move forgets the aliases",
        "blockpool.impl.publish",
        "        pool._aliases[dst] = aliases",
        "        pass",
    ),
    _defect(
        "evict moves the block to the back of the queue",
        "blockpool.impl.publish",
        "            evicted.append(block)\n",
        "            evicted.append(block)\n"
        "    for block in evicted:\n"
        "        if block.ref_cnt == 0:\n"
        "            pool.free_block_queue.remove(block)\n"
        "            pool.free_block_queue.append(block)\n",
    ),
    _defect(
        "evict accepts block -1",
        "blockpool.impl.publish",
        "        if not is_count(block_id) or block_id >= pool.num_gpu_blocks:",
        "        if block_id >= pool.num_gpu_blocks:",
    ),
    _defect(
        "evict drops keys before it meets an unknown block",
        "blockpool.impl.publish",
        "        if not is_count(block_id) or block_id >= pool.num_gpu_blocks:\n",
        "        if is_count(block_id) and block_id < pool.num_gpu_blocks:\n"
        "            drop_keys(pool, pool.blocks[block_id])\n"
        "        else:\n",
    ),
    _defect(
        "publishing stops half way and keeps what it did",
        "blockpool.impl.publish",
        "        withdraw(pool, blocks[first:j], hashes[first:j], gid)\n",
        "        pass\n",
    ),
    _defect(
        "a free block is published",
        "blockpool.impl.publish",
        "            if block._refs and block._digest is None:",
        "            if block._digest is None:",
    ),
    _defect(
        "caching disabled does not stop publishing",
        "blockpool.impl.checks",
        "    if not pool.enable_caching:",
        "    if not pool.enable_caching and call != 'cache_partial_block':",
    ),
    _defect(
        "a block answers for two contents",
        "blockpool.impl.publish",
        "    if not replace and block._digest is not None and block._num_tokens == num_tokens:",
        "    if False:",
    ),
    _defect(
        "a shorter prefix replaces a longer one",
        "blockpool.impl.publish",
        "    if replace or block._digest is None or block._num_tokens < num_tokens:",
        "    if True:",
    ),
    _defect(
        "coverage is counted in blocks",
        "blockpool.impl.publish",
        "        set_primary(pool, block, digest, group_id, (j + 1) * block_size)",
        "        set_primary(pool, block, digest, group_id, j + 1)",
    ),
    _defect(
        "second copy is lost with the first",
        "blockpool.impl.hash_index",
        "            group[digest], _ = copies.popitem(last=False)",
        "            del group[digest]",
    ),
    _defect(
        "a hit in some groups is a hit",
        "blockpool.impl.pool",
        "                if block is None:\n                    return None\n",
        "                if block is None:\n                    continue\n",
    ),
    _defect(
        "reset while a block is held",
        "blockpool.impl.pool",
        "        if self.free_block_queue.num_free_blocks != self.num_gpu_blocks - 1:",
        "        if self.free_block_queue.num_free_blocks == 0:",
    ),
    _defect(
        "reset leaves the blocks keyed",
        "blockpool.impl.pool",
        "        for block in self.cached_block_hash_to_block.all_blocks():\n            block._digest = None\n",
        "",
    ),
)

_EVENTS = (
    _defect(
        "removed event is missing",
        "blockpool.impl.publish",
        "    if pool.enable_kv_cache_events:\n        pool.kv_event_queue.append(BlockRemoved",
        "    if False:\n        pool.kv_event_queue.append(BlockRemoved",
    ),
    _defect(
        "removed event only with the last copy",
        "blockpool.impl.publish",
        "    if pool.enable_kv_cache_events:\n        pool.kv_event_queue.append(BlockRemoved",
        "    if pool.enable_kv_cache_events and (digest, group_id) not in pool.cached_block_hash_to_block:\n"
        "        pool.kv_event_queue.append(BlockRemoved",
    ),
    _defect(
        "a stored event is lost on the short cut",
        "blockpool.impl.publish",
        "    if event is not None:\n        send(pool, [event])\n",
        "",
    ),
    _defect(
        "stored event names a parent that nobody knows",
        "blockpool.impl.events",
        "            event.parent_block_hash = None\n",
        "            pass\n",
    ),
    _defect(
        "eviction by an allocation is not reported",
        "blockpool.impl.pool",
        "                    if outbox is not None:\n",
        "                    if False:\n",
    ),
    _defect(
        "reset is not reported",
        "blockpool.impl.pool",
        "            self.kv_event_queue.append(AllBlocksCleared(self.medium))",
        "            pass",
    ),
    _defect(
        "taken events are kept",
        "blockpool.impl.pool",
        "        taken, self.kv_event_queue = self.kv_event_queue, []",
        "        taken = list(self.kv_event_queue)",
    ),
)

_DIGESTS = (
    _defect(
        "digest ignores the id of an adapter",
        "blockpool.impl.request",
        'extras.append(("adapter", self.adapter.name, self.adapter.adapter_id))',
        'extras.append(("adapter", self.adapter.name))',
    ),
    _defect(
        "digest ignores the sign of a token",
        "blockpool.impl.hashing",
        'struct.pack(f">{len(token_ids)}q", *token_ids)',
        'struct.pack(f">{len(token_ids)}q", *map(abs, token_ids))',
    ),
    _defect(
        "digest ignores the prefix before",
        "blockpool.impl.hashing",
        'if parent is None else _sized(b"child", parent)',
        "if True else b''",
    ),
    _defect(
        "digest ignores the extras", "blockpool.impl.hashing", "    for extra in extra_keys:", "    for extra in ():"
    ),
    _defect(
        "a salt passes for an adapter",
        "blockpool.impl.request",
        'extras.append(("salt", self.cache_salt))',
        'extras.append(("adapter", self.cache_salt, 1))',
    ),
    _defect(
        "digest ignores where an item stands",
        "blockpool.impl.request",
        '                extras.append(("item", item.identifier, item.offset, min(item_end, end)))',
        '                extras.append(("item", item.identifier))',
    ),
)

_CALLBACKS = (
    _defect(
        "a refused allocation tells the watchers",
        "blockpool.impl.references",
        '        raise NotEnoughFreeBlocks(call, f"{num_blocks} blocks',
        "        for block, watchers in pool._watchers.items():\n            for on_reuse in watchers:\n"
        '                on_reuse(block)\n        raise NotEnoughFreeBlocks(call, f"{num_blocks} blocks',
    ),
    _defect(
        "a cancelled watcher is told",
        "blockpool.impl.pool",
        "        watchers.remove(on_reuse)\n",
        "        watchers.remove(on_reuse)\n        on_reuse(block)\n",
    ),
    _defect(
        "errors of watchers are swallowed",
        "blockpool.impl.watchers",
        "    if not errors:\n        return\n",
        "    return\n",
    ),
    _defect(
        "a watcher that raises stops the others",
        "blockpool.impl.watchers",
        "                except BaseException as error:",
        "                except ZeroDivisionError as error:",
    ),
)

_POOLS = (
    _defect(
        "a release over several pools is not checked for the others",
        "blockpool.impl.references",
        "        if not block.is_null:\n            count_occurrence(call, named, block)\n",
        "        if not block.is_null and owner is pool:\n            count_occurrence(call, named, block)\n",
    ),
    _defect(
        "a foreign share is queued in the calling pool",
        "blockpool.impl.references",
        "        owner.free_block_queue.prepend_n(front)\n        owner.free_block_queue.append_n(back)",
        "        pool.free_block_queue.prepend_n(front)\n        pool.free_block_queue.append_n(back)",
    ),
    _defect(
        "a foreign watched block goes to the front",
        "blockpool.impl.references",
        "block not in block.pool._watchers",
        "block not in pool._watchers",
    ),
    _defect(
        "another pool's watchers may call back",
        "blockpool.impl.references",
        "        not_while_telling(owner, call)\n",
        "",
    ),
)

_LARGE_ONLY = (
    _defect(
        "keys survive in batches of more than four",
        "blockpool.impl.references",
        "        if drop_keys(pool, block):\n",
        "        if block in blocks[:4] and drop_keys(pool, block):\n",
    ),
    _defect(
        "promotion only of the first two blocks",
        "blockpool.impl.publish",
        "        drop_keys(pool, block)  # a shorter prefix gives way, with all its aliases\n",
        "        if j < 2:\n            drop_keys(pool, block)\n",
    ),
    _defect(
        "four or more cached blocks are released in reverse",
        "blockpool.impl.references",
        "        owner.free_block_queue.append_n(back)",
        "        owner.free_block_queue.append_n(back if len(back) < 4 else back[::-1])",
    ),
    _defect(
        "large batches are handed out in reverse",
        "blockpool.impl.pool",
        "        queue.num_free_blocks -= num_blocks\n",
        "        queue.num_free_blocks -= num_blocks\n        if num_blocks > 10:\n            blocks.reverse()\n",
    ),
    _defect(
        "references stop counting at five",
        "blockpool.impl.references",
        "                block._refs = refs + 1",
        "                block._refs = min(5, refs + 1)",
    ),
    _defect(
        "evict stops after three blocks",
        "blockpool.impl.publish",
        "    for block_id in ids:\n        block = pool",
        "    for block_id in list(ids)[:3]:\n        block = pool",
    ),
    _defect(
        "token counts are wrong beyond eight blocks",
        "blockpool.impl.publish",
        "[block_size * (j + 1) for j in range(2 * end)]",
        "[block_size * (j + 1) if j < 8 else 0 for j in range(2 * end)]",
    ),
)

_MANAGERS = (
    _defect(
        "managers: a dropped request leaves what it published",
        "blockpool.impl.managers.coordinator",
        "        self._withdraw(withdrawn)\n",
        "",
    ),
    _defect(
        "managers: a window is left by scheduled tokens",
        "blockpool.impl.managers.window",
        "        num_behind = self._window_start(computed) // self.block_size",
        "        num_behind = self._window_start(upto) // self.block_size",
    ),
    _defect(
        "managers: a watched state is written in place",
        "blockpool.impl.managers.state",
        "        if block.ref_cnt > own or self.pool.is_watched(block):",
        "        if block.ref_cnt > own:",
    ),
    _defect(
        "managers: a state is hit before it is written",
        "blockpool.impl.managers.prefix",
        "        if first is None or not self._is_fresh((digest, self._group_id, first)):",
        "        if True:",
    ),
    _defect(
        "managers: the head of a table is given back first",
        "blockpool.impl.managers.base",
        "        return [block for block in reversed(self._tables.pop(request_id)) if not block.is_null]",
        "        return [block for block in self._tables.pop(request_id) if not block.is_null]",
    ),
    _defect(
        "managers: free hits are not counted",
        "blockpool.impl.managers.coordinator",
        "                if not block.is_null and block.ref_cnt == 0 and block not in idle:",
        "                if False:",
    ),
    _defect(
        "managers: a copy's source is not kept",
        "blockpool.impl.managers.base",
        "            self._pass.add_copy(source, table[-1])",
        "            self._pass.add_copy(table[-1], table[-1])",
    ),
    _defect(
        "managers: requests share a tail",
        "blockpool.impl.managers.base",
        "        if num_tokens % self.block_size == 0 or not table:",
        "        if True:",
    ),
)

_SPEC = (
    _defect(
        "spec: the null block is free at first",
        "blockpool.spec.pool.state",
        "    blocks = [BlockId(block) for block in range(1, size)]",
        "    blocks = [BlockId(block) for block in range(size)]",
    ),
    _defect(
        "spec: a touched block stays queued",
        "blockpool.spec.pool.allocation",
        "            queue=tuple([block for block in pool.queue if block not in revived]) if revived else pool.queue,",
        "            queue=pool.queue,",
    ),
    _defect(
        "spec: a touched block takes one reference however often it is named",
        "blockpool.spec.pool.allocation",
        "{block: pool.refs[block] + count for block, count in gained.items()}",
        "{block: pool.refs[block] + 1 for block, count in gained.items()}",
    ),
    _defect(
        "spec: keys survive re-allocation",
        "blockpool.spec.pool.allocation",
        "        pool = drop_keys(pool, answer.blocks)\n",
        "",
    ),
    _defect(
        "spec: a negative count is accepted",
        "blockpool.spec.pool.allocation",
        "            (Reason.BAD_COUNT, self.count < 0),",
        "            (Reason.BAD_COUNT, False),",
    ),
    _defect(
        "spec: one reference too many may be freed",
        "blockpool.spec.pool.action",
        "    return any(count > pool.refs[block] for",
        "    return any(count > pool.refs[block] + 1 for",
    ),
    _defect(
        "spec: freed blocks are queued in reverse",
        "blockpool.spec.pool.allocation",
        "        return replace(pool, queue=(*worthless, *pool.queue, *worth_keeping))",
        "        return replace(pool, queue=(*reversed(worthless), *pool.queue, *worth_keeping))",
    ),
    _defect(
        "spec: a freed block is queued in the middle",
        "blockpool.spec.pool.allocation",
        "        return replace(pool, queue=(*worthless, *pool.queue, *worth_keeping))",
        "        return replace(pool, queue=(*pool.queue[:1], *worthless, *worth_keeping, *pool.queue[1:]))",
    ),
    _defect(
        "spec: an unpinned block goes to the front",
        "blockpool.spec.pool.allocation",
        "        return replace(pool, queue=(*pool.queue, *freed), watchers",
        "        return replace(pool, queue=(*freed, *pool.queue), watchers",
    ),
    _defect(
        "spec: the second watcher replaces the first",
        "blockpool.spec.pool.allocation",
        "{block: pool.watchers.get(block, nobody) | {self.watcher} for block in self.blocks}",
        "{block: nobody | {self.watcher} for block in self.blocks}",
    ),
    _defect(
        "spec: cancelling one watch cancels all",
        "blockpool.spec.pool.allocation",
        "        rest = pool.watchers[self.block] - {self.watcher}",
        "        rest = frozenset[Watcher]()",
    ),
    _defect(
        "spec: a watched block is writable",
        "blockpool.spec.pool.state",
        "block not in self.primary and block not in self.watchers",
        "block not in self.primary",
    ),
    _defect(
        "spec: promotion keeps the partial key",
        "blockpool.spec.pool.publishing",
        "        pool = drop_keys(pool, chosen.values())\n",
        "",
    ),
    _defect(
        "spec: a longer prefix becomes an alias",
        "blockpool.spec.pool.publishing",
        "        if self.replace_existing or not covers(pool, self.block, self.num_tokens):",
        "        if self.replace_existing or self.block not in pool.primary:",
    ),
    _defect(
        "spec: two contents of one length",
        "blockpool.spec.pool.publishing",
        "            (Reason.DIFFERENT_CONTENT, clashes and self.key not in pool.keys_of(self.block)),",
        "            (Reason.DIFFERENT_CONTENT, False),",
    ),
    _defect(
        "spec: an event names an unknown parent",
        "blockpool.spec.pool.publishing",
        "    return key if key in pool.index else None",
        "    return key if tokens else None",
    ),
    _defect(
        "spec: a move sends events",
        "blockpool.spec.pool.eviction",
        "        silent = replace(drop_keys(pool, [self.source]), outbox=pool.outbox)",
        "        silent = drop_keys(pool, [self.source])",
    ),
    _defect(
        "spec: a removal is reported with the last copy only",
        "blockpool.spec.pool.action",
        "    return report(pool, [Removed(key) for _, key in lost])",
        "    return report(pool, [Removed(key) for _, key in lost if key not in index])",
    ),
    _defect(
        "spec: a reset tells nobody",
        "blockpool.spec.pool.eviction",
        "        return (ResetDone(True, pool.told_about(pool.watchers)),)",
        "        return (ResetDone(True, frozenset()),)",
    ),
    _defect(
        "spec: a refused call turns the queue",
        "blockpool.spec.pool.action",
        "        yield Step(pool, action, refused, None, pool)",
        "        yield Step(pool, action, refused, None, replace(pool, queue=pool.queue[::-1]))",
    ),
    _defect(
        "spec: a question ages the cache",
        "blockpool.spec.pool.queries",
        "    def effect(self, pool: Pool, answer: object) -> Pool:\n        return pool",
        "    def effect(self, pool: Pool, answer: object) -> Pool:\n"
        "        return replace(pool, queue=pool.queue[1:] + pool.queue[:1])",
    ),
    _defect(
        "spec: masked blocks lose their keys",
        "blockpool.spec.pool.publishing",
        "        pool = drop_keys(pool, chosen.values())\n",
        "        pool = drop_keys(pool, [block for block in self.blocks[self.num_cached : self.num_full] if block])\n",
    ),
    _defect(
        "spec: a reset forgets the events before it",
        "blockpool.spec.pool.eviction",
        "watchers={}), [Cleared()])",
        "watchers={}, outbox=()), [Cleared()])",
    ),
    _defect(
        "spec: only the first unpinned block is watched",
        "blockpool.spec.pool.allocation",
        "{self.watcher} for block in self.blocks}",
        "{self.watcher} for block in self.blocks[:1]}",
    ),
    _defect(
        "spec: a held block cannot be touched",
        "blockpool.spec.pool.allocation",
        "            (Reason.UNKNOWN_BLOCK, any_unknown(pool, self.blocks)),\n        )\n\n"
        "    def answers(self, pool: Pool) -> Iterable[None]:\n        return (None,)\n\n"
        "    def effect(self, pool: Pool, answer: None) -> Pool:\n        gained",
        "            (Reason.UNKNOWN_BLOCK, any_unknown(pool, self.blocks)"
        " or any(pool.is_held(block) for block in self.blocks)),\n        )\n\n"
        "    def answers(self, pool: Pool) -> Iterable[None]:\n        return (None,)\n\n"
        "    def effect(self, pool: Pool, answer: None) -> Pool:\n        gained",
    ),
)

DEFECTS: tuple[Defect, ...] = (
    *_QUEUE,
    *_REFERENCES,
    *_WATCHERS,
    *_KEYS,
    *_EVENTS,
    *_DIGESTS,
    *_CALLBACKS,
    *_POOLS,
    *_LARGE_ONLY,
    *_MANAGERS,
    *_SPEC,
    *CLAIM_DEFECTS,
)
"""All of them; names are unique."""

CANARIES: tuple[str, ...] = (
    "popped blocks keep a link",
    "double free in one call is accepted",
    "refused free drops the references before the wrong block",
    "watcher stays after it was told",
    "promotion keeps the partial key",
    "removed event only with the last copy",
    "digest ignores the extras",
    "key survives re-allocation on the short cut",
    "spec: a touched block stays queued",
    "spec: a freed block is queued in the middle",
    "spec: a refused call turns the queue",
)
"""A few of each kind, quick to catch, that `check` tries in every run; `detect` tries all."""
