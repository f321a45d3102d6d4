"""A state as plain data for the page: what is drawn, in words, with nothing left out that a claim speaks of."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from blockpool.proofs.core.text import show
from blockpool.spec import NULL, BlockId, Life, Pool, World
from blockpool.spec.contract.shadow_state import Books

Picture = dict[str, Any]
"""Of JSON's types only. Blocks are named by strings; what is empty is left out."""


def picture_of(state: Pool | World) -> Picture:
    """The state of either machine."""
    return world_picture(state) if isinstance(state, World) else pool_picture(state)


def pool_picture(pool: Pool) -> Picture:
    """The pool: its blocks, the free queue in order, the index, the outbox. Complete for broken states too."""
    named = {*pool.lendable, *pool.refs, *pool.queue, *pool.primary, *pool.aliases, *pool.watchers, NULL}
    named |= {block for blocks in pool.index.values() for block in blocks}
    notes = ["caching is disabled"] * (not pool.caching) + ["watchers are being told at this moment"] * pool.telling
    return _filled(
        queue=_names(pool.queue),
        blocks=[_block(pool, BlockId(block)) for block in sorted(named)],
        index=[[show(key), _names(sorted(pool.index[key]))] for key in sorted(pool.index)],
        outbox=[show(event) for event in pool.outbox],
        notes=notes,
    )


def _block(pool: Pool, block: BlockId) -> Picture:
    primary = pool.primary.get(block)
    return _filled(
        id=str(block),
        life=str(pool.life_of(block)),
        refs=None if block == NULL and block not in pool.refs else pool.refs.get(block, 0),
        keys=[show(primary)] if primary is not None else [],
        aliases=[show(key) for key in sorted(pool.aliases.get(block, ()))],
        watchers=_names(sorted(pool.watchers.get(block, ()))),
    )


def world_picture(world: World) -> Picture:
    """The pool, what each block really holds and who holds it, and everything around the pool."""
    picture = pool_picture(world.pool)
    holders = _holders(world)
    return picture | _filled(
        blocks=[block | _held(world, holders, BlockId(int(block["id"]))) for block in picture["blocks"]],
        notes=[*picture.get("notes", ()), *_troubles(world)],
        requests=[_request(world, name) for name in sorted(world.plans)],
        around=[[title, lines] for title, lines in _around(world).items() if lines],
    )


def _held(world: World, holders: dict[BlockId, list[str]], block: BlockId) -> Picture:
    """What memory holds in the block, and who has a reference on it."""
    slots = ["unknown" if slot is None else show(slot[1]) for slot in world.memory.get(block, ())]
    return _filled(holds=slots, holders=holders.get(block, []))


def _holders(world: World) -> dict[BlockId, list[str]]:
    """Who has a reference on each block."""
    found: dict[BlockId, list[str]] = {}
    for name, running in world.running.items():
        for group, table in enumerate(running.tables):
            for entry, block in enumerate(table):
                found.setdefault(block, []).append(f"{name}, group {group}, entry {entry}")
    for what, blocks in (("a pending copy", world.retained), ("a deferred release", world.deferred)):
        for block in blocks:
            found.setdefault(block, []).append(what)
    for reader, transfer in world.transfers.items():
        if transfer.pinned:
            found.setdefault(transfer.block, []).append(f"transfer {reader}")
    found.pop(NULL, None)
    return found


def _request(world: World, name: str) -> Picture:
    plan, running = world.plans[name], world.running.get(name)
    if running is None:
        status = "waits" if name in world.waiting else "is gone"
        return {"name": name, "tokens": show(plan.tokens), "prompt": plan.prompt, "status": status}
    tables = [
        {
            "group": f"{group}, {kind.kind} ({kind.block_size} a block)",
            "blocks": _names(running.tables[group]),
            "published": running.cached[group],
        }
        for group, kind in enumerate(world.layout)
    ]
    status = f"computed {running.computed}, scheduled {running.scheduled}"
    status += "" if running.dispatched else ", in no pass yet"
    return {"name": name, "tokens": show(plan.tokens), "prompt": plan.prompt, "status": status, "tables": tables}


def _around(world: World) -> dict[str, list[str]]:
    """What is pending, in words."""
    fresh = sorted(world.fresh)
    return {
        "Published in this pass, not written yet": [
            f"{show(key)} on block {block}, by {name}" for key, block, name in fresh
        ],
        "Copies that run with the pass": [f"block {source} to block {target}" for source, target in world.copies],
        "Given back after the pass": [f"block {block}" for block in world.deferred],
        "Looked up, not claimed": [
            f"{name}: {tokens} tokens in {show(tables)}" for name, (tokens, tables) in sorted(world.looked_up.items())
        ],
        "Transfers": [
            f"{reader} reads {show(transfer)}, which held {_content(transfer.content)}"
            for reader, transfer in sorted(world.transfers.items())
        ],
        "Happened so far": [
            f"{what} {count} of {world.limits[what]}" if what in world.limits else what
            for what, count in sorted(world.used.items())
            if count
        ],
        "Rules broken on purpose": world.rules.broken(),
    }


def _content(slots: Iterable[Any]) -> str:
    return show(tuple("unknown" if slot is None else show(slot[1]) for slot in slots))


def _troubles(world: World) -> Iterator[str]:
    for name, group, position in sorted(world.misread):
        yield f"{name} has read wrong content in group {group} at token {position}"
    yield from (f"the pool refused {what}" for what in sorted(world.refused))


# --- pools judged from outside ---


def books_picture(books: Books, shown: Collection[Any]) -> Picture:
    """What the judge of a trace believes of these blocks; the others are only counted."""
    known = [block for block in shown if block in books.refs]
    queue = [block for block in books.queue if block in known] if books.profile.has_queue else None
    free = sum(books.refs[block] == 0 for block in known)
    held = len(known) - free
    notes = ["the profile promises no order of free blocks"] * (queue is None)
    notes += [f"not shown: {books.free - free} free blocks and {books.held - held} held ones"]
    return _filled(
        queue=None if queue is None else _names(queue),
        blocks=[_judged(books, block) for block in known],
        notes=notes,
    )


def _judged(books: Books, block: Any) -> Picture:
    keys, watchers = books.keys.get(block, {}), books.watchers.get(block, ())
    if books.refs[block]:
        life = Life.PUBLISHED if keys else Life.PRIVATE
    else:
        life = Life.CACHED if keys else Life.WATCHED if watchers else Life.BLANK
    return _filled(
        id=str(block),
        life=str(life),
        refs=books.refs[block],
        keys=[
            f"{_short(key)}, {tokens} tokens" + f" in group {group}" * bool(group)
            for (key, group), tokens in keys.items()
        ],
        watchers=sorted(watchers),
    )


LONGEST = 16
"""Keys of traces are often digests; their beginning says enough."""


def _short(key: str) -> str:
    return key if len(key) <= LONGEST else f"{key[:LONGEST]}…"


def differences(before: Picture, after: Picture) -> list[str]:
    """What changed from one picture to the next, block by block."""
    old = {block["id"]: block for block in before.get("blocks", ())}
    lines = []
    for block in after.get("blocks", ()):
        was = old.get(block["id"], {})
        changed = [
            f"{field} {_shown(was.get(field))} -> {_shown(block.get(field))}"
            for field in dict.fromkeys([*was, *block])
            if was.get(field) != block.get(field)
        ]
        lines += [f"block {block['id']}: {'; '.join(changed)}"] if changed and was else []
    if before.get("queue") != after.get("queue"):
        lines.append(f"queue {_shown(before.get('queue'))} -> {_shown(after.get('queue'))}")
    return lines


def _shown(value: Any) -> str:
    return "none" if value is None else f"[{', '.join(value)}]" if isinstance(value, list) else str(value)


def _names(blocks: Iterable[Any]) -> list[str]:
    return list(map(str, blocks))


def _filled(**fields: Any) -> Picture:
    """The fields that say something; an empty queue and an empty index do."""
    told = ("queue", "index")
    return {name: value for name, value in fields.items() if value is not None and (value != [] or name in told)}
