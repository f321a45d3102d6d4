"""Pools to judge: a plain right one, right ones of other kinds, and wrong ones, each with one defect."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from blockpool.proofs.oracle import AllCleared, BlockName, Refusal, RemovedKeys, Started, StoredKeys
from blockpool.spec.contract.profiles import PROFILES, Profile


class Toy:
    """A pool of the lineage of vLLM 0.28 (order d) with every operation; refuses wrong calls."""

    name = "toy"
    profile: str | Profile = replace(PROFILES["strict"], name="toy", order="d", choice="first")
    told: list[tuple[BlockName, str]]

    def start(self, blocks: int, caching: bool, events: bool, groups: int) -> Started:
        self.size, self.caching, self.reporting = blocks + 1, caching, events
        self.free_list: list[int] = list(range(1, blocks + 1))
        self.refs: dict[int, int] = dict.fromkeys(self.free_list, 0)
        self.keys: dict[int, dict[tuple[str, int], int]] = {}
        self.index: dict[tuple[str, int], list[int]] = {}
        self.watchers: dict[int, list[str]] = {}
        self.outbox: list[Any] = []
        return Started(blocks, (0,), tuple(self.free_list))

    # --- lending ---

    def alloc(self, count: int) -> list[int]:
        self.check(count >= 0, "bad count")
        if count > len(self.free_list):
            raise Refusal("exhausted")
        lent = [self.next() for _ in range(count)]
        for block in lent:
            self.told += [(block, name) for name in self.watchers.pop(block, ())]
        for block in lent:
            self.drop(block)
            self.refs[block] = 1
        return lent

    def next(self) -> int:
        return self.free_list.pop(0)

    def share(self, blocks: Sequence[Any]) -> None:
        self.known(blocks)
        for block in self.real(blocks):
            if not self.refs[block]:
                self.free_list.remove(block)
            self.refs[block] += 1

    def free(self, blocks: Sequence[Any]) -> None:
        self.known(blocks)
        self.held(self.real(blocks))
        self.queue(self.give_back(self.real(blocks)))

    def give_back(self, blocks: Iterable[int]) -> list[int]:
        freed = []
        for block in blocks:
            self.refs[block] -= 1
            if not self.refs[block]:
                freed.append(block)
        return freed

    def queue(self, freed: list[int]) -> None:
        front = [block for block in freed if block not in self.keys]
        self.free_list = front + self.free_list + [block for block in freed if block in self.keys]

    def free_count(self) -> int:
        return len(self.free_list)

    def unpin(self, blocks: Sequence[Any], watcher: str) -> None:
        self.known(blocks)
        self.check(0 not in blocks, "null")
        self.held(blocks)
        freed = self.give_back(blocks)
        for block in dict.fromkeys(blocks):
            self.watch(block, watcher)
        self.free_list += freed

    def watch(self, block: int, watcher: str) -> None:
        if watcher not in self.watchers.setdefault(block, []):
            self.watchers[block].append(watcher)

    def cancel(self, block: int, watcher: str) -> bool:
        self.known([block])
        names = self.watchers.get(block, [])
        if watcher not in names:
            return False
        names.remove(watcher)
        if not names:
            del self.watchers[block]
        return True

    def writable(self, block: int) -> bool:
        return self.refs.get(block) == 1 and block not in self.keys and block not in self.watchers

    # --- keys ---

    def publish(
        self, blocks: Sequence[Any], keys: Sequence[str], tokens: Sequence[int], parent: str | None, group: int
    ) -> list[int]:
        self.check(self.caching, "caching is off")
        self.known(blocks)
        real = self.real(blocks)
        self.check(all(self.refs[block] for block in real), "not held")
        self.check(len(set(real)) == len(real), "repeated")
        for block, end in zip(blocks, tokens, strict=True):
            self.check(max(self.keys.get(block, {"": 0}).values()) < end, "already cached")
        start = self.covered(parent, group)
        for block in real:
            self.drop(block)
        new = [place for place, block in enumerate(blocks) if block]
        for place in new:
            self.enter(blocks[place], (keys[place], group), tokens[place])
        for place in new:
            before = keys[place - 1] if place else parent
            size = tokens[place] - (tokens[place - 1] if place else start)
            self.tell(StoredKeys((keys[place],), self.if_known(before, group), size, size, group))
        return list(blocks)

    def covered(self, parent: str | None, group: int) -> int:
        carriers = self.index.get((parent or "", group), [])
        return self.keys[carriers[0]][parent or "", group] if carriers else 0

    def if_known(self, parent: str | None, group: int) -> str | None:
        return parent if (parent, group) in self.index else None

    def publish_partial(self, block: int, key: str, tokens: int, parent: str | None, group: int, replace: bool) -> None:
        self.check(self.caching, "caching is off")
        self.known([block])
        if not block:
            return
        self.check(self.refs[block] > 0, "not held")
        keys = self.keys.get(block, {})
        longest = max(keys.values(), default=0)
        self.check(not keys or replace or (key, group) in keys or longest != tokens, "different content")
        if (key, group) in keys and not replace:
            return
        if replace or longest < tokens:
            self.drop(block)
        self.enter(block, (key, group), tokens)
        self.tell(StoredKeys((key,), self.if_known(parent, group), 1, 1, group))

    def lookup(self, key: str, groups: Sequence[Any]) -> list[int] | None:
        found = [self.index.get((key, group), []) for group in groups]
        return [blocks[0] for blocks in found] if all(found) else None

    def unpublish(self, blocks: Sequence[Any]) -> None:
        self.known(blocks)
        for block in blocks:
            self.drop(block)

    def move(self, source: int, target: int) -> None:
        self.known([source, target])
        self.check(target != 0 and self.refs[target] > 0 and target not in self.keys, "bad target")
        reporting, self.reporting = self.reporting, False
        keys = self.keys.get(source, {})
        self.drop(source)
        for entry, tokens in keys.items():
            self.enter(target, entry, tokens)
        self.reporting = reporting

    def reset(self) -> bool:
        if any(self.refs.values()):
            return False
        self.told += [(block, name) for block, names in self.watchers.items() for name in names]
        self.watchers, self.keys, self.index = {}, {}, {}
        self.tell(AllCleared())
        return True

    def events(self) -> list[Any]:
        taken, self.outbox = self.outbox, []
        return taken

    # --- words ---

    def enter(self, block: int, entry: tuple[str, int], tokens: int) -> None:
        self.index.setdefault(entry, []).append(block)
        self.keys.setdefault(block, {})[entry] = tokens

    def drop(self, block: int) -> None:
        for entry in self.keys.pop(block, {}):
            self.index[entry].remove(block)
            if not self.index[entry]:
                del self.index[entry]
            self.tell(RemovedKeys((entry[0],), entry[1]))

    def tell(self, event: Any) -> None:
        if self.reporting:
            self.outbox.append(event)

    def real(self, blocks: Iterable[int]) -> list[int]:
        return [block for block in blocks if block]

    def known(self, blocks: Iterable[int]) -> None:
        self.check(all(0 <= block < self.size for block in blocks), "unknown block")

    def held(self, blocks: Sequence[Any]) -> None:
        self.check(all(self.refs[block] >= list(blocks).count(block) for block in blocks), "not held")

    def check(self, right: bool, reason: str) -> None:
        if not right:
            raise Refusal(reason)


# --- right, but different ---


class Stack:
    """No counts, no index, names that are strings, last in first out; says nothing about wrong calls."""

    name = "stack"
    profile = replace(PROFILES["safety"], name="stack", order="stack")

    def start(self, blocks: int, caching: bool, events: bool, groups: int) -> Started:
        if groups > 1:
            raise Refusal("one group only")
        self.free_list = [f"block {number}" for number in range(blocks)]
        return Started(blocks, order=tuple(reversed(self.free_list)))

    def alloc(self, count: int) -> list[str]:
        if count > len(self.free_list):
            raise Refusal
        return [self.free_list.pop() for _ in range(count)]

    def free(self, blocks: Sequence[str]) -> None:
        self.free_list += blocks

    def free_count(self) -> int:
        return len(self.free_list)


class Dedup(Toy):
    """Moves the caller to a block that carries the key already; keys go with the last reference; no reserved block."""

    name = "dedup"
    profile = replace(
        PROFILES["index"], name="dedup", duplicates="dedup", keys_last="until_released", order="a", events="last_copy"
    )
    publish_partial = unpin = cancel = move = None  # type: ignore[assignment]

    def start(self, blocks: int, caching: bool, events: bool, groups: int) -> Started:
        super().start(blocks, caching, events, groups)
        return Started(blocks, order=tuple(self.free_list))

    def queue(self, freed: list[int]) -> None:
        for block in freed:
            self.drop(block)
        self.free_list += freed

    def publish(
        self, blocks: Sequence[Any], keys: Sequence[str], tokens: Sequence[int], parent: str | None, group: int
    ) -> list[int]:
        holds = []
        for place, block in enumerate(blocks):
            carriers = self.index.get((keys[place], group))
            if carriers:
                holds.append(carriers[0])
                self.refs[carriers[0]] += 1
                self.queue(self.give_back([block]))
            else:
                one = slice(place, place + 1)
                before = keys[place - 1] if place else parent
                holds += super().publish(blocks[one], keys[one], tokens[one], before, group)
        return holds


class Bulk(Toy):
    """Forgets all free blocks as soon as a block with a key has to go; lends any free block; tells no events."""

    name = "bulk"
    profile = replace(PROFILES["index"], name="bulk", keys_last="under_pressure", duplicates="first_wins", reset="idle")
    publish_partial = unpin = cancel = move = events = None  # type: ignore[assignment]

    def start(self, blocks: int, caching: bool, events: bool, groups: int) -> Started:
        super().start(blocks, caching, False, groups)
        return Started(blocks)

    def alloc(self, count: int) -> list[int]:
        blank = [block for block in self.free_list if block not in self.keys]
        if len(blank) < count <= len(self.free_list):
            for block in self.free_list:
                self.drop(block)
        self.free_list.sort(key=lambda block: (block in self.keys, block % 3))
        return super().alloc(count)

    def enter(self, block: int, entry: tuple[str, int], tokens: int) -> None:
        if entry not in self.index:
            super().enter(block, entry, tokens)


class LastWins(Toy):
    """A plain queue; the last block under a key carries it."""

    name = "last wins"
    profile = replace(PROFILES["lru"], name="last wins", duplicates="last_wins", reset="idle")
    publish_partial = unpin = cancel = move = events = None  # type: ignore[assignment]

    def queue(self, freed: list[int]) -> None:
        self.free_list += freed

    def enter(self, block: int, entry: tuple[str, int], tokens: int) -> None:
        for other in self.index.pop(entry, []):
            del self.keys[other][entry]
            if not self.keys[other]:
                del self.keys[other]
        super().enter(block, entry, tokens)


class Capped(Toy):
    """Sorted like pages; keeps the keys of one free block at most; a refused allocation has evicted them all."""

    name = "capped"
    profile = replace(
        PROFILES["index"], name="capped", keys_last="while_held", order="page", exhaustion="may_evict", reset="idle"
    )
    publish_partial = unpin = cancel = move = events = None  # type: ignore[assignment]

    def queue(self, freed: list[int]) -> None:
        self.free_list = sorted(freed) + self.free_list
        for block in [block for block in self.free_list if block in self.keys][1:]:
            self.drop(block)

    def alloc(self, count: int) -> list[int]:
        if count > len(self.free_list):
            for block in self.free_list:
                self.drop(block)
        return super().alloc(count)


class Forgetful(Toy):
    """Forgets something at every call that changes anything, moves callers now and then, and keeps one block back."""

    name = "forgetful"
    profile = replace(PROFILES["safety"], name="forgetful", exhaustion="early")
    publish_partial = unpin = cancel = move = events = None  # type: ignore[assignment]

    def start(self, blocks: int, caching: bool, events: bool, groups: int) -> Started:
        super().start(blocks, caching, False, groups)
        return Started(blocks, (0,))

    def forget(self) -> None:
        for block in list(self.keys)[:1]:
            self.drop(block)

    def alloc(self, count: int) -> list[int]:
        if count == len(self.free_list) > 1:
            raise Refusal("one is kept back")
        self.forget()
        return super().alloc(count)

    def free(self, blocks: Sequence[Any]) -> None:
        self.forget()
        super().free(blocks)

    def publish(self, blocks: Any, keys: Any, tokens: Any, parent: str | None, group: int) -> list[int]:
        holds = super().publish(blocks, keys, tokens, parent, group)
        block, first = blocks[-1], self.index[keys[-1], group][0]
        if first != block and block % 2:
            self.drop(block)
            if not self.refs[first]:
                self.free_list.remove(first)
            self.refs[first] += 1
            self.queue(self.give_back([block]))
            holds[-1] = first
        return holds


RIGHT: list[Callable[[], Any]] = [Toy, Stack, Dedup, Bulk, LastWins, Capped, Forgetful]
