"""What the judge says when something is broken, and the questions it asks of every answer."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from blockpool.spec.contract.call_text import answered
from blockpool.spec.contract.calls import BlockName, Call, Ok, Party, Start
from blockpool.spec.contract.laws import ANSWERS_HAVE_THEIR_SHAPE, PROMISES, WATCHERS_ARE_TOLD_ONCE_BEFORE_REUSE
from blockpool.spec.contract.shadow_state import Books

RULES_OF_CALLERS = "the_caller_keeps_the_rules"
"""What a wrong call breaks where the profile promises nothing about wrong calls."""

OWNED = "an_owner_gives_back_only_what_it_holds"
"""What a release breaks that takes a reference from somebody else."""

WRITTEN = "what_is_published_is_written_in_the_same_pass"
"""What a scheduler breaks that publishes for a request, drops it from the pass, and leaves the keys findable."""

DUTIES = {
    RULES_OF_CALLERS: "Calls are within the rules of callers.",
    OWNED: "Nobody gives back a reference that somebody else took.",
    WRITTEN: "A key that was published ahead of its content is written in the pass that published it, or taken back.",
}
"""The laws for callers, in words."""


@dataclass(frozen=True, slots=True)
class Breach:
    """A law is broken."""

    law: str
    party: Party
    words: str
    block: BlockName | None = None

    @property
    def sentence(self) -> str:
        """The law in words."""
        return PROMISES[self.law].sentence if self.law in PROMISES else DUTIES[self.law]


class Broken(Exception):  # noqa: N818  ends the judgement of one call
    """A law is broken by this call."""

    def __init__(self, law: str, words: str, block: BlockName | None = None) -> None:
        super().__init__(words)
        self.law, self.words, self.block = law, words, block


def misshapen(reply: Ok, wanted: str) -> Broken:
    """An answer that is not one."""
    return Broken(ANSWERS_HAVE_THEIR_SHAPE.name, f"{answered(reply)}, not {wanted}")


def is_name(block: Any) -> bool:
    """Can it be the name of a block?"""
    return type(block) in (int, str)


def are_names(blocks: Any, count: int | None = None) -> bool:
    """Is it a list of names of blocks, of this length?"""
    return type(blocks) is tuple and all(map(is_name, blocks)) and count in (None, len(blocks))


def check_told(reply: Ok, watched: Iterable[tuple[BlockName, str]] = ()) -> None:
    """Were exactly these watchers told, each once?"""
    if not reply.told and not watched:
        return
    told, due = sorted(map(repr, reply.told)), sorted(map(repr, watched))
    if told != due:
        words = f"told {', '.join(told) or 'nobody'}; due was {', '.join(due) or 'nobody'}"
        raise Broken(WATCHERS_ARE_TOLD_ONCE_BEFORE_REUSE.name, words)


def blocks_of(call: Call, reply: object = None) -> list[BlockName]:
    """The blocks that a call names, and those of its answer."""
    named: list[BlockName] = [] if isinstance(call, Start) else list(getattr(call, "blocks", ()))
    named += [getattr(call, field) for field in ("block", "source", "target") if hasattr(call, field)]
    if isinstance(reply, Ok) and isinstance(reply.value, tuple):
        named += [block for block in reply.value if isinstance(block, int | str)]
    return named


def names(blocks: Iterable[Any]) -> str:
    """Blocks in words; a place that was not named yet is any new block."""
    return ", ".join("a new block" if isinstance(block, tuple) else repr(block) for block in blocks) or "no block"


def declared(books: Books, knob: str) -> str:
    """What the profile says, for the end of a sentence."""
    return f"profile {books.profile.name} says {knob} = {getattr(books.profile, knob)}"
