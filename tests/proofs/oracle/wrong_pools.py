"""Toy pools with one defect each, as they were met in pools that people use."""

from collections.abc import Iterable, Sequence
from typing import Any

from blockpool.proofs.oracle import Refusal, RemovedKeys, Started
from tests.proofs.oracle.toy_pools import Dedup, LastWins, Toy


class LendsHeld(Toy):
    """Forgets that a shared block is still held when its first reference goes."""

    def give_back(self, blocks: Iterable[int]) -> list[int]:
        blocks = list(blocks)
        super().give_back(blocks)
        return [block for block in dict.fromkeys(blocks) if self.refs[block] <= 1]

    def free_count(self) -> int:
        return sum(not count for count in self.refs.values())


class LendsNull(Toy):
    """The null block is in the free list."""

    def queue(self, freed: list[int]) -> None:
        super().queue([0 if block == 1 else block for block in freed])
        self.refs[0] = 0


class Miscounts(Toy):
    """Counts every block that was ever given back."""

    def free_count(self) -> int:
        return len(self.free_list) + (len(self.free_list) < self.size - 1 and self.free_list[-1:] == [1])


class RefusesTheLast(Toy):
    """Keeps one block for itself."""

    def alloc(self, count: int) -> list[int]:
        if count == len(self.free_list) > 0:
            raise Refusal("exhausted")
        return super().alloc(count)


class TwoPasses(Toy):
    """Decrements all, then queues each naming whose count is zero: vLLM 0.10 to 0.23."""

    def give_back(self, blocks: Iterable[int]) -> list[int]:
        blocks = list(blocks)
        super().give_back(blocks)
        return [block for block in blocks if not self.refs[block]]


class StaleHit(Toy):
    """The key stays in the index when its block is lent anew."""

    def alloc(self, count: int) -> list[int]:
        index = {entry: list(blocks) for entry, blocks in self.index.items()}
        lent = super().alloc(count)
        self.index = index
        return lent

    def drop(self, block: int) -> None:
        for entry in self.keys.pop(block, {}):
            if block in self.index.get(entry, []):
                self.index[entry].remove(block)
            if not self.index.get(entry):
                self.index.pop(entry, None)
            self.tell(RemovedKeys((entry[0],), entry[1]))


class NullHit(Toy):
    """The null block gets a key: vLLM up to 0.13."""

    def lookup(self, key: str, groups: Sequence[int]) -> list[int] | None:
        return [0] * len(groups) if (key, 0) in self.nulls and groups == (0,) else super().lookup(key, groups)

    def start(self, *setting: Any) -> Started:
        self.nulls: set[tuple[str, int]] = set()
        return super().start(*setting)

    def publish(self, blocks: Any, keys: Any, tokens: Any, parent: str | None, group: int) -> list[int]:
        holds = super().publish(blocks, keys, tokens, parent, group)
        self.nulls.update((key, group) for block, key in zip(blocks, keys, strict=True) if not block)
        return holds


class OneWatcher(Toy):
    """A second reader takes the place of the first: vLLM since 0.30."""

    def watch(self, block: int, watcher: str) -> None:
        self.watchers[block] = [watcher]


class ForgetsCancel(Toy):
    """Answers that nobody was watching."""

    def cancel(self, block: int, watcher: str) -> bool:
        super().cancel(block, watcher)
        return False


class WritableWatched(Toy):
    """A block that somebody reads is writable: vLLM since 0.30."""

    def writable(self, block: int) -> bool:
        return self.refs.get(block) == 1 and block not in self.keys


class Crashes(Toy):
    """Releases of two blocks fail."""

    def free(self, blocks: Sequence[int]) -> None:
        if len(set(blocks)) == 2:
            raise IndexError("list index out of range")
        super().free(blocks)


class AnswersNumbers(Toy):
    """A lookup answers a block, not one for each group."""

    def lookup(self, key: str, groups: Sequence[int]) -> Any:
        found = super().lookup(key, groups)
        return found[0] if found else None


class RefusalEvicts(Toy):
    """A refused allocation has evicted what it could: TGI."""

    def alloc(self, count: int) -> list[int]:
        if count > len(self.free_list):
            for block in self.free_list:
                self.drop(block)
        return super().alloc(count)


class Appends(Toy):
    """Queues all released blocks at the back."""

    def queue(self, freed: list[int]) -> None:
        self.free_list += freed


class EvictsNewest(LastWins):
    """Evicts the block that was released last."""

    def queue(self, freed: list[int]) -> None:
        self.free_list = freed[::-1] + self.free_list


class LosesKeys(Toy):
    """Dropping one of two copies drops the key: Megatron, nano-vllm."""

    def drop(self, block: int) -> None:
        entries = list(self.keys.get(block, {}))
        super().drop(block)
        for entry in entries:
            for other in self.index.pop(entry, []):
                del self.keys[other]
                self.tell(RemovedKeys((entry[0],), entry[1]))


class KeepsTwo(Dedup):
    """Leaves a second block under the key."""

    def publish(self, blocks: Any, keys: Any, tokens: Any, parent: str | None, group: int) -> list[int]:
        return Toy.publish(self, blocks, keys, tokens, parent, group)


class AnswersAnother(Dedup):
    """Moves the caller to a block that does not carry the key."""

    def publish(self, blocks: Any, keys: Any, tokens: Any, parent: str | None, group: int) -> list[int]:
        super().publish(blocks, keys, tokens, parent, group)
        return [block % 2 + 1 for block in blocks]


class PrefersNewest(Toy):
    """A lookup answers the copy published last."""

    def lookup(self, key: str, groups: Sequence[int]) -> list[int] | None:
        found = [self.index.get((key, group), []) for group in groups]
        return [blocks[-1] for blocks in found] if all(found) else None


class ResetsInUse(Toy):
    """Forgets everything while blocks are held: kvcached."""

    def reset(self) -> bool:
        refs, self.refs = self.refs, {}
        done = super().reset()
        self.refs = refs
        return done


class TellsParentsUnknown(Toy):
    """Names parents that no reader knows: vLLM since 0.14."""

    def if_known(self, parent: str | None, group: int) -> str | None:
        return parent


class ForgetsRemoved(Toy):
    """Evictions by name are not told."""

    def unpublish(self, blocks: Sequence[int]) -> None:
        reporting, self.reporting = self.reporting, False
        super().unpublish(blocks)
        self.reporting = reporting


class TellsBackwards(Toy):
    """Events come newest first."""

    def events(self) -> list[Any]:
        return super().events()[::-1]


class NegativeCount(Toy):
    """A negative count makes the free count grow: vLLM 0.10 to 0.33."""

    def alloc(self, count: int) -> list[int]:
        if count < 0:
            self.free_list += [1] * -count
            return []
        return super().alloc(count)


class DoubleFree(Toy):
    """A block that is not held is queued again."""

    def held(self, blocks: Sequence[int]) -> None:
        return


class Ignores(Toy):
    """Wrong releases are ignored without a word."""

    def free(self, blocks: Sequence[int]) -> None:
        try:
            super().free(blocks)
        except Refusal:
            return


CAUGHT: list[tuple[type[Any], str, str]] = [
    (LendsHeld, "a_block_has_one_user_until_it_is_shared", "pool"),
    (LendsNull, "only_blocks_of_the_pool_are_lent", "pool"),
    (Miscounts, "free_is_what_is_not_held", "pool"),
    (RefusesTheLast, "an_allocation_succeeds_if_it_fits", "pool"),
    (TwoPasses, "a_repeated_release_counts_each_naming", "pool"),
    (StaleHit, "a_hit_carries_its_key", "pool"),
    (NullHit, "a_hit_carries_its_key", "pool"),
    (OneWatcher, "watchers_are_told_once_before_reuse", "pool"),
    (ForgetsCancel, "cancelling_answers_whether_it_watched", "pool"),
    (WritableWatched, "writable_only_if_unobserved", "pool"),
    (Crashes, "a_legal_call_is_done", "pool"),
    (AnswersNumbers, "answers_have_their_shape", "pool"),
    (RefusalEvicts, "a_refusal_changes_nothing", "pool"),
    (Appends, "blocks_are_lent_in_order", "outside the profile"),
    (EvictsNewest, "the_longest_released_is_evicted_first", "outside the profile"),
    (LosesKeys, "what_was_published_is_found", "outside the profile"),
    (KeepsTwo, "equal_keys_are_handled_as_declared", "outside the profile"),
    (AnswersAnother, "publishing_answers_what_the_caller_holds", "pool"),
    (PrefersNewest, "a_lookup_prefers_as_declared", "outside the profile"),
    (ResetsInUse, "a_reset_is_done_as_declared", "outside the profile"),
    (TellsParentsUnknown, "events_are_consistent", "outside the profile"),
    (ForgetsRemoved, "events_mirror_the_index", "outside the profile"),
    (TellsBackwards, "events_come_in_order", "outside the profile"),
    (NegativeCount, "a_wrong_call_does_no_damage: alloc, bad count", "pool"),
    (DoubleFree, "a_wrong_call_does_no_damage: free, not held", "pool"),
    (Ignores, "a_wrong_call_is_refused: free, not held", "pool"),
]
"""Each defect with the claim that it must break, and the party at fault."""
