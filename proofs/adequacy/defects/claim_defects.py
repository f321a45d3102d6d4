"""Seeded defects of the spec, each of which breaks one claim and no other: so every claim is seen to be needed."""

from blockpool.proofs.core.edits import Defect, Edit, defect

_LENDING = (
    defect(
        "spec: a block named twice is queued twice",
        "blockpool.spec.pool.allocation",
        "    by_last_naming = reversed(dict.fromkeys(reversed(blocks)))",
        "    by_last_naming = blocks",
    ),
    defect(
        "spec: a worthless block is lost",
        "blockpool.spec.pool.allocation",
        "        return replace(pool, queue=(*worthless, *pool.queue, *worth_keeping))",
        "        return replace(pool, queue=(*pool.queue, *worth_keeping))",
    ),
    defect(
        "spec: a held block may be freed once too often",
        "blockpool.spec.pool.action",
        "    return any(count > pool.refs[block] for",
        "    return any(count > pool.refs[block] + pool.is_held(block) for",
    ),
    defect(
        "spec: a touch turns the queue",
        "blockpool.spec.pool.allocation",
        "            queue=tuple([block for block in pool.queue if block not in revived]) if revived else pool.queue,",
        "            queue=tuple([block for block in reversed(pool.queue) if block not in revived]),",
    ),
    defect(
        "spec: blocks are handed out from the back",
        "blockpool.spec.pool.allocation",
        "        victims = pool.queue[: self.count]",
        "        victims = pool.queue[len(pool.queue) - self.count :]",
        Edit(
            "blockpool.spec.pool.allocation",
            "            queue=pool.queue[len(answer.blocks) :],",
            "            queue=pool.queue[: len(pool.queue) - len(answer.blocks)],",
        ),
    ),
    defect(
        "spec: the last cancelled watch leaves an empty entry",
        "blockpool.spec.pool.allocation",
        "        if rest:\n",
        "        if True:\n",
    ),
    defect(
        "spec: a copy takes over the watchers",
        "blockpool.spec.pool.eviction",
        "        moved = enter(silent, {self.target: primary.key})",
        "        watchers = {self.target: pool.watchers[self.source]} if self.source in pool.watchers else {}\n"
        "        moved = enter(replace(silent, watchers={**watchers, **silent.watchers}), {self.target: primary.key})",
    ),
    defect(
        "spec: a question switches the events off",
        "blockpool.spec.pool.queries",
        "    def effect(self, pool: Pool, answer: object) -> Pool:\n        return pool",
        "    def effect(self, pool: Pool, answer: object) -> Pool:\n        return replace(pool, reporting=False)",
    ),
)

_CACHING = (
    defect(
        "spec: a foreign block is held at first",
        "blockpool.spec.pool.state",
        "refs=dict.fromkeys(blocks, 0), queue",
        "refs={**dict.fromkeys(blocks, 0), BlockId(size): 1}, queue",
    ),
    defect(
        "spec: the null block gets a key",
        "blockpool.spec.pool.publishing",
        "        return (None if self.block == NULL else self.key,)",
        "        return (self.key,)",
    ),
    defect(
        "spec: the coverage is a token too long",
        "blockpool.spec.pool.publishing",
        "    primary = {block: Primary(key, key.tokens) for block, key in keys.items()}",
        "    primary = {block: Primary(key, key.tokens + 1) for block, key in keys.items()}",
    ),
    defect(
        "spec: the primary key is an alias as well",
        "blockpool.spec.pool.publishing",
        "            pool = enter(pool, {self.block: answer})\n",
        "            pool = add_alias(enter(pool, {self.block: answer}), self.block, answer)\n",
    ),
    defect(
        "spec: an evicted block keeps its primary key",
        "blockpool.spec.pool.eviction",
        "        return drop_keys(pool, sorted(self.blocks))",
        "        return replace(drop_keys(pool, sorted(self.blocks)), primary=pool.primary)",
    ),
    defect(
        "spec: a reset leaves empty entries in the index",
        "blockpool.spec.pool.eviction",
        "        return report(replace(pool, primary={}, aliases={}, index={}, watchers={}), [Cleared()])",
        "        empty = dict.fromkeys(pool.index, frozenset[BlockId]())\n"
        "        return report(replace(pool, primary={}, aliases={}, index=empty, watchers={}), [Cleared()])",
    ),
    defect(
        "spec: a pool without caching publishes partial blocks",
        "blockpool.spec.pool.publishing",
        "            (Reason.CACHING_DISABLED, not pool.caching),\n            (Reason.BAD_RANGE, bad_range),\n"
        "            (Reason.UNKNOWN_BLOCK, not known),",
        "            (Reason.BAD_RANGE, bad_range),\n            (Reason.UNKNOWN_BLOCK, not known),",
    ),
    defect(
        "spec: an unpinned block loses its keys",
        "blockpool.spec.pool.allocation",
        "        nobody: frozenset[Watcher] = frozenset()\n",
        "        nobody: frozenset[Watcher] = frozenset()\n        pool = drop_keys(pool, freed)\n",
    ),
    defect(
        "spec: only the first full block is published",
        "blockpool.spec.pool.publishing",
        "        chosen = self.chosen()\n        pool = drop_keys",
        "        chosen = dict(list(self.chosen().items())[:1])\n        pool = drop_keys",
    ),
    defect(
        "spec: a move forgets the keys",
        "blockpool.spec.pool.eviction",
        "        primary, aliases = pool.primary[self.source], pool.aliases.get(self.source, frozenset())\n",
        "        primary, aliases = pool.primary[self.source], pool.aliases.get(self.source, frozenset())\n"
        "        if primary:\n            return drop_keys(pool, [self.source])\n",
    ),
    defect(
        "spec: a shorter prefix replaces a longer one",
        "blockpool.spec.pool.publishing",
        "        if self.replace_existing or not covers(pool, self.block, self.num_tokens):",
        "        if True:",
    ),
    defect(
        "spec: taking the events leaves all but one",
        "blockpool.spec.pool.queries",
        "        return replace(pool, outbox=())",
        "        return replace(pool, outbox=pool.outbox[1:])",
    ),
    defect(
        "spec: an event names the first tokens of the prefix",
        "blockpool.spec.pool.publishing",
        "            tokens=self.prefix.tokens[start:end],",
        "            tokens=self.prefix.tokens[: end - start],",
    ),
    defect(
        "spec: a hit answers the first group for all",
        "blockpool.spec.pool.queries",
        "        return [pool.index.get(Key(self.prefix, group), frozenset()) for group in self.groups]",
        "        return [pool.index.get(Key(self.prefix, self.groups[0]), frozenset()) for _ in self.groups]",
    ),
)

_REQUESTS = (
    defect(
        "spec: what leaves a window is not given back",
        "blockpool.spec.requests.block_tables",
        "    world = give_back(world, in_release_order(world, tuple(table[entry] for entry in left)))\n",
        "",
        Edit(
            "blockpool.spec.requests.block_tables",
            "    give_back,\n    in_release_order,\n",
            "",
        ),
    ),
    defect(
        "spec: a block of attention is copied like a state",
        "blockpool.spec.requests.scheduler",
        "if group.kind is Kind.STATE and stays_in_block(group.block_size, running.computed, self.upto):",
        "if stays_in_block(group.block_size, running.computed, self.upto):",
        Edit(
            "blockpool.spec.requests.scheduler",
            "if group.kind is Kind.STATE and stays_in_block(group.block_size, start, self.upto):",
            "if stays_in_block(group.block_size, start, self.upto):",
        ),
    ),
)

CLAIM_DEFECTS: tuple[Defect, ...] = (*_LENDING, *_CACHING, *_REQUESTS)
"""All of them; names are unique."""
