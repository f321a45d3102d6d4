"""Profiles: what a pool promises beyond safety, as a small number of choices, each said in words.

Block pools differ where their callers cannot tell, or have learned to live with it: which free block is lent next, what
becomes of a key that two blocks carry, when events are sent. A profile fixes these choices. What no pool may ever do is
not a choice; it is in `laws.py`.

    PROFILES["index"]                                            one of the named profiles
    replace(PROFILES["index"], name="mine", order="stack")       the same, with one choice made otherwise
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TypeVar

Block = TypeVar("Block")


def _choice(question: str, default: str, **values: str) -> str:
    """A knob: the question, and every answer in words."""
    chosen: str = field(default=default, metadata={"question": question, "values": values})
    return chosen


@dataclass(frozen=True, slots=True)
class Profile:
    """One way to be a block pool. Without choices: the least that is promised by everyone."""

    name: str
    sentence: str
    order: str = _choice(
        "Which free block is lent next?",
        "any",
        any="Any free block.",
        lru="Of the free blocks with a key, the one released longest ago. When the others are lent is not promised.",
        a="The front of a queue. Released blocks join it at the back, in the order of the call.",
        b="As in a, but released blocks without a key go to the front, in the order of the call.",
        c="As in b with caching on, as in a with caching off.",
        d="As in b; with caching off, all released blocks go to the front.",
        watched="As in d, but a block that somebody watches goes to the back, with or without a key.",
        stack="The block released last. In one call, the block named last is released last.",
        page="The front of a queue. Released blocks go to the front, in ascending order of their names in each call.",
    )
    keys_last: str = _choice(
        "How long is a published key found?",
        "at_will",
        until_lent="Until its block is lent anew, or the key is taken back.",
        until_released="Until the last reference to its block is given back, or the key is taken back.",
        under_pressure="Until its block is lent anew; any allocation may also drop the keys of all free blocks.",
        while_held="As long as its block is held. Any allocation or release may drop the keys of all free blocks.",
        at_will="Until the next call that changes anything.",
    )
    duplicates: str = _choice(
        "What if a key is published that another block carries already?",
        "any",
        keep_all="Both blocks carry it.",
        dedup="The caller gets the other block instead: its reference moves there, and its own block has no key.",
        first_wins="The first block carries it, and the caller keeps its own block, without the key.",
        last_wins="The last block carries it, and the earlier one loses it.",
        any="Any of these.",
    )
    choice: str = _choice(
        "Which of several blocks under a key does a lookup answer?",
        "any",
        any="Any of them.",
        first="The one that has carried it longest.",
    )
    events: str = _choice(
        "What do KV events tell?",
        "none",
        none="Nothing is promised about them.",
        copy="Each block under a key: Stored and Removed once for each block.",
        last_copy="Each key: Removed only when no block carries it any more. Stored may be repeated.",
    )
    parents: str = _choice(
        "Must the parent of what is published be findable?",
        "free",
        free="No.",
        findable="Yes. Another parent is a wrong call.",
    )
    repeats: str = _choice(
        "May one release name a block as often as references are held?",
        "counted",
        counted="Yes, and each naming gives back one reference.",
        refused="No, that is a wrong call.",
    )
    reserved: str = _choice(
        "What if a call names a reserved block?",
        "wrong",
        skipped="It is skipped, as a placeholder in block tables; it is never unpinned and never the target of a move.",
        wrong="That is a wrong call.",
    )
    revival: str = _choice(
        "Which free blocks can be shared?",
        "findable",
        findable="Those that certainly carry a key at that moment. Sharing another free block is a wrong call.",
        every="Every block of the pool.",
    )
    exhaustion: str = _choice(
        "What if more blocks are wanted than are free?",
        "exact",
        exact="Refused, and nothing has changed. What fits is never refused.",
        may_evict="Refused, but free blocks may have lost their keys. What fits is never refused.",
        early="Refused. Blocks come in larger units, so that even what fits may be refused.",
    )
    reset: str = _choice(
        "When does a reset forget all keys?",
        "any",
        idle="When no block is held; else it answers no and changes nothing.",
        always="Always.",
        any="As it says in its answer.",
    )
    misuse: str = _choice(
        "What becomes of a wrong call?",
        "undefined",
        strict="It is refused, and nothing has changed.",
        tolerant="Nothing has changed, whether it is refused, fails or is ignored.",
        undefined="Anything. Nothing is promised afterwards.",
    )

    def __post_init__(self) -> None:
        for knob, values in KNOBS.items():
            value = getattr(self, knob)
            if value not in values:
                raise ValueError(f"profile {self.name}: {knob} is one of {', '.join(values)}, not {value!r}")
        if self.duplicates == "any" and self.keys_last != "at_will":
            raise ValueError(f"profile {self.name}: keys that last {self.keys_last} need a rule for duplicates")
        if self.revival == "every" and self.keys_may_go:
            raise ValueError(f"profile {self.name}: if every block can be shared, keys must not be lost before")
        if self.events != "none" and self.keys_may_go:
            raise ValueError(f"profile {self.name}: events cannot be judged if keys last {self.keys_last}")

    @property
    def keys_may_go(self) -> bool:
        """May a pool drop keys by itself?"""
        return self.keys_last not in ("until_lent", "until_released")

    @property
    def has_queue(self) -> bool:
        """Does it say exactly which block is next?"""
        return self.order not in ("any", "lru")

    def in_words(self) -> list[str]:
        """Each choice as question and answer."""
        return [
            f"{knob.metadata['question']} {knob.metadata['values'][getattr(self, knob.name)]}"
            for knob in fields(self)
            if knob.metadata
        ]


KNOBS: dict[str, dict[str, str]] = {knob.name: knob.metadata["values"] for knob in fields(Profile) if knob.metadata}
"""Each choice and its possible values, in words."""


def released(
    order: str,
    freed: Sequence[Block],
    *,
    caching: bool,
    keyed: Callable[[Block], bool],
    watched: Callable[[Block], bool],
) -> tuple[Sequence[Block], Sequence[Block]]:
    """Where blocks go that became free in one call: to the front of the queue, and to its back; each from its front on.

    An order that is not a queue has the blocks at the back, the one released longest ago first.
    """
    match order:
        case "b" | "d" | "watched":
            kept = {block: keyed(block) or (order == "watched" and watched(block)) for block in freed}
            return [block for block in freed if not kept[block]], [block for block in freed if kept[block]]
        case "c":
            return released("b" if caching else "a", freed, caching=caching, keyed=keyed, watched=watched)
        case "stack":
            return freed[::-1], ()
        case "page":
            return sorted(freed), ()  # type: ignore[type-var]
        case _:
            return (), freed


SAFETY = Profile("safety", "What every pool promises, with or without an index.")
INDEX = Profile(
    "index",
    "A published key is found until its block is lent anew.",
    keys_last="until_lent",
    duplicates="keep_all",
)
LRU = replace(INDEX, name="lru", sentence="And cached blocks are evicted in the order of their release.", order="lru")
_LINEAGE = replace(INDEX, choice="first", reserved="skipped", revival="every", reset="idle")
ORDER_A = replace(_LINEAGE, name="order-a", sentence="vLLM 0.8.5 to 0.23 and its ports: a plain queue.", order="a")
ORDER_B = replace(_LINEAGE, name="order-b", sentence="vLLM 0.24 to 0.26: blocks without a key first.", order="b")
ORDER_C = replace(_LINEAGE, name="order-c", sentence="vLLM 0.27: as b, but a plain queue without caching.", order="c")
ORDER_D = replace(_LINEAGE, name="order-d", sentence="vLLM 0.28 and later: blocks without a key first.", order="d")
STRICT = replace(
    _LINEAGE,
    name="strict",
    sentence="The spec in full.",
    order="watched",
    choice="any",
    events="copy",
    misuse="strict",
)

PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        SAFETY,
        INDEX,
        LRU,
        ORDER_A,
        ORDER_B,
        ORDER_C,
        ORDER_D,
        replace(
            ORDER_A,
            name="vllm-0.8",
            sentence="vLLM 0.8.5: order-a; what is published needs its parent.",
            parents="findable",
        ),
        replace(
            ORDER_A,
            name="vllm-0.9",
            sentence="vLLM 0.9 to 0.13: order-a with events; what is published needs its parent.",
            events="copy",
            parents="findable",
        ),
        replace(ORDER_A, name="vllm-0.14", sentence="vLLM 0.14 to 0.23: order-a with events.", events="copy"),
        replace(ORDER_B, name="vllm-0.24", sentence="vLLM 0.24 to 0.26: order-b with events.", events="copy"),
        replace(ORDER_C, name="vllm-0.27", sentence="vLLM 0.27: order-c with events.", events="copy"),
        replace(ORDER_D, name="vllm-0.28", sentence="vLLM 0.28 to 0.32: order-d with events.", events="copy"),
        replace(ORDER_D, name="vllm-0.33", sentence="vLLM 0.33: order-d with events.", events="copy"),
        STRICT,
    )
}
"""The named profiles, from the least that is promised to the most."""


def profile_of(chosen: str | Profile) -> Profile:
    """A profile, or the one of this name. Raises ValueError if there is none."""
    if isinstance(chosen, Profile):
        return chosen
    if chosen not in PROFILES:
        raise ValueError(f"there is no profile {chosen!r}; there are {', '.join(PROFILES)}")
    return PROFILES[chosen]
