"""Replies beside what a vector expects: symbols of blocks, and events key by key."""

import json
from collections.abc import Iterable
from itertools import product
from typing import Any

from blockpool.proofs.oracle.vectors.vector import Answer, Expect
from blockpool.spec.contract import calls
from blockpool.spec.contract.call_text import answered
from blockpool.spec.contract.calls import BlockName, Call, Ok, Refused, RemovedKeys, Reply, StoredKeys, Value
from blockpool.spec.contract.shadow_state import Books

Names = dict[BlockName, BlockName]
"""Symbols of blocks, or a pool's names of them, and what stands for each on the other side."""


def alternatives(books: Books, call: Call, symbols: Names) -> Expect | None:
    """What may be answered to a call with more than one right answer; None if there is one."""
    if isinstance(call, calls.Events):
        return Expect((_settled(_owed(*one) for one in books.outbox),))
    if isinstance(call, calls.Lookup) and books.profile.choice == "any":
        carriers = [list(books.index.get((call.key, group), ())) for group in call.groups]
        if any(len(found) > 1 for found in carriers) and all(carriers):
            return Expect(tuple([symbols[block] for block in chosen] for chosen in product(*carriers)))
    return None


def the_one(reply: Ok, symbols: Names) -> Expect:
    """This reply, and no other."""
    return Expect((_with(symbols, reply.value),), tuple((symbols[block], watcher) for block, watcher in reply.told))


def difference(expect: Expect, call: Call, reply: Reply, blocks: Names) -> str | None:
    """In what the reply is none of those expected; None if it is one. `blocks`: what each symbol stands for."""
    if expect.reasons:
        return None if isinstance(reply, Refused) else f"{answered(reply)}; expected is a refusal"
    if not isinstance(reply, Ok):
        return f"{answered(reply)}; expected is {json.dumps(expect.answers[0])}"
    allowed = [_with(blocks, answer) for answer in expect.answers]
    if _answer(call, reply.value, allowed[0]) not in allowed:
        return f"{answered(reply)}; expected is {' or '.join(map(json.dumps, allowed))}"
    told, due = (sorted(map(str, pairs)) for pairs in (reply.told, ((blocks[b], name) for b, name in expect.told)))
    return None if told == due else f"told {', '.join(told) or 'nobody'}; expected is {', '.join(due) or 'nobody'}"


def _with(names: Names, value: Value | Answer) -> Answer:
    """The answer with the other side's names."""
    if not isinstance(value, tuple | list):
        return value
    return [names.get(block, block) if isinstance(block, int | str) else block for block in value]


def _answer(call: Call, value: Value, model: Answer) -> Answer:
    """The answer of a pool as a vector would say it."""
    match call:
        case calls.Publish(blocks) if value is None:
            return list(blocks)
        case calls.Events() if isinstance(value, tuple):
            told = _settled(one for event in value for one in _flat(event))
            if len(told) != len(model):
                return told
            return [{k: v for k, v in one.items() if k in known} for one, known in zip(told, model, strict=True)]
        case _:
            return list(value) if isinstance(value, tuple) else value


def _flat(event: Any) -> Iterable[dict[str, Any]]:
    match event:
        case StoredKeys(keys, parent, _, block_size, group):
            for key in keys:
                yield {"type": "stored", "key": key, "group": group, "parent": parent, "tokens": block_size}
                parent = key
        case RemovedKeys(keys, group):
            yield from ({"type": "removed", "key": key, "group": group} for key in keys)
        case _:
            yield {"type": "cleared"}


def _owed(kind: str, entry: tuple[str, int] | None, parent: str | None, adds: int | None) -> dict[str, Any]:
    if entry is None:
        return {"type": "cleared"}
    key, group = entry
    if kind == "removed":
        return {"type": "removed", "key": key, "group": group}
    known = {} if adds is None else {"tokens": adds}
    return {"type": "stored", "key": key, "group": group, "parent": parent, **known}


def _settled(told: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Neighbouring removals sorted: they may be exchanged."""
    settled: list[dict[str, Any]] = []
    row: list[dict[str, Any]] = []
    for one in told:
        if one["type"] == "removed":
            row.append(one)
        else:
            settled += [*sorted(row, key=str), one]
            row = []
    return settled + sorted(row, key=str)
