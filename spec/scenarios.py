"""Worked stories: what happens in a serving engine, call by call, with every answer written down by hand.

Read them to see the machine move. `tell` runs a story on the spec and objects to the first answer that is not as
written; nothing here is computed from the spec except the one state a watcher sees while it is told.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from blockpool.spec.pool.action import Action, Handed, ResetDone, Step, steps, while_telling
from blockpool.spec.pool.allocation import CancelWatch, FreeBlocks, GetNewBlocks, Touch, UnpinBlocks
from blockpool.spec.pool.events import Cleared, Removed, Stored
from blockpool.spec.pool.eviction import EvictBlocks, MoveBlockHashes, ResetPrefixCache
from blockpool.spec.pool.prefix import Key, Prefix
from blockpool.spec.pool.publishing import CacheFullBlocks, CachePartialBlock
from blockpool.spec.pool.queries import GetCachedBlock, GetNumFreeBlocks, GetUsage, IsBlockWritable, TakeEvents
from blockpool.spec.pool.state import Pool, first_state
from blockpool.spec.pool.terms import BlockId, GroupId, Reason, Watcher


@dataclass(frozen=True, slots=True)
class Line:
    """One call: what happens in the engine, the call, and the answer; a Reason if it is refused."""

    says: str
    action: Action[Any]
    expects: object = None


@dataclass(frozen=True, slots=True)
class Story:
    """Calls in a row, and what they show."""

    name: str
    sentence: str
    first: Pool
    lines: tuple[Line, ...]


class UntrueStoryError(AssertionError):
    """The spec does not do what a line of a story says."""


def tell(story: Story) -> Iterator[Step]:
    """The steps of the story, one for each line. Where the spec leaves a choice, the story has chosen."""
    state = story.first
    for number, line in enumerate(story.lines, 1):
        options = list(steps(state, line.action))
        step = next((step for step in options if _is_expected(step, line.expects)), None)
        if step is None:
            seen = " or ".join(str(set(map(str, option.refused)) or option.answer) for option in options)
            raise UntrueStoryError(f"{story.name}, line {number}, {line.says} Expected {line.expects}, got {seen}")
        yield step
        state = step.after


def _is_expected(step: Step, expects: object) -> bool:
    if step.refused or isinstance(expects, Reason):
        return expects in step.refused
    return bool(step.answer == expects)


# --- the cast ---

ONE, TWO, THREE = map(BlockId, (1, 2, 3))
TEXT, IMAGE = GroupId(0), GroupId(1)  # two kinds of layers
NIC, DISK = Watcher(0), Watcher(1)  # two transfers that read released blocks
HELLO = Prefix((1, 2, 3, 4, 5, 6, 7, 8))  # one prompt; a block has four tokens, a hash unit two
OTHER = Prefix((9, 2, 3, 4))  # parts from it at once
EMPTY = first_state(4, unit=2)  # three blocks to lend
NOBODY: frozenset[tuple[BlockId, Watcher]] = frozenset()


def handed(*blocks: BlockId) -> Handed:
    return Handed(blocks, NOBODY)


def hello(tokens: int, group: GroupId = TEXT) -> Key:
    return Key(Prefix(HELLO.tokens[:tokens]), group)


def publish(prefix: Prefix, *blocks: BlockId, group: GroupId = TEXT) -> CacheFullBlocks:
    return CacheFullBlocks(prefix, blocks, 0, len(blocks), 4, group)


def publish_part(block: BlockId, tokens: int) -> CachePartialBlock:
    return CachePartialBlock(HELLO, block, tokens, TEXT, 8)


def look_up(tokens: int, *groups: GroupId) -> GetCachedBlock:
    return GetCachedBlock(Prefix(HELLO.tokens[:tokens]), groups or (TEXT,))


def inside_a_watcher() -> Pool:
    """Block 1 was unpinned; all three blocks are asked for, and the watcher is being told of it."""
    state = EMPTY
    for action in (GetNewBlocks(1), UnpinBlocks((ONE,), NIC), GetNewBlocks(3)):
        step = next(steps(state, action))
        state = step.after
    seen = while_telling(step)
    assert seen is not None
    return seen


# --- the stories ---

STORIES = (
    Story("computed_once_used_twice", "A second request finds the prefix of a first one that is gone.", EMPTY, (
        Line("The first request needs two blocks.", GetNewBlocks(2), handed(ONE, TWO)),
        Line("It fills and publishes them.", publish(HELLO, ONE, TWO)),
        Line("It ends, and names the end of its sequence first.", FreeBlocks((TWO, ONE))),
        Line("All memory is free: cached blocks count as free.", GetNumFreeBlocks(), 3),
        Line("The second request finds the first block.", look_up(4), (ONE,)),
        Line("And the second.", look_up(8), (TWO,)),
        Line("It claims both hits before it asks for anything new.", Touch((ONE, TWO))),
        Line("It may read them, not write.", IsBlockWritable(ONE), False),
        Line("One block is left for its own tokens.", GetNewBlocks(1), handed(THREE)),
        Line("The pool is full.", GetUsage(), 1.0),
        Line("A third request must wait.", GetNewBlocks(1), Reason.NOT_ENOUGH_FREE),
    )),
    Story("least_recently_released_first", "Among cached blocks the one released first is evicted first.", EMPTY, (
        Line("Two requests hold a block each.", GetNewBlocks(2), handed(ONE, TWO)),
        Line("One publishes its own.", publish(HELLO, ONE)),
        Line("So does the other.", publish(OTHER, TWO)),
        Line("The second ends first.", FreeBlocks((TWO,))),
        Line("Then the first.", FreeBlocks((ONE,))),
        Line("Two blocks are wanted: the blank one, then the older.", GetNewBlocks(2), handed(THREE, TWO)),
        Line("What was released last is still found.", look_up(4), (ONE,)),
        Line("What was evicted is not.", GetCachedBlock(OTHER, (TEXT,)), None),
    )),
    Story("worthless_blocks_first", "A block with nothing to find in it is reused before any cached one.", EMPTY, (
        Line("A request holds all blocks.", GetNewBlocks(3), handed(ONE, TWO, THREE)),
        Line("Only one was filled and published.", publish(HELLO, ONE)),
        Line("It ends, naming the published one first.", FreeBlocks((ONE, TWO, THREE))),
        Line("The two without content are taken, in the order named.", GetNewBlocks(2), handed(TWO, THREE)),
        Line("The cached one has survived.", look_up(4), (ONE,)),
    )),
    Story("released_twice_by_two_holders", "One call may give back two references on one block.", EMPTY, (
        Line("A request holds a block.", GetNewBlocks(1), handed(ONE)),
        Line("It publishes it.", publish(HELLO, ONE)),
        Line("Another shares it.", Touch((ONE,))),
        Line("Both end in the same pass.", FreeBlocks((ONE, ONE))),
        Line("The block is free, and free once.", GetNumFreeBlocks(), 3),
    )),
    Story("double_free", "A reference that is not held cannot be given back, and trying changes nothing.", EMPTY, (
        Line("A request holds two blocks.", GetNewBlocks(2), handed(ONE, TWO)),
        Line("It names one of them twice.", FreeBlocks((TWO, ONE, ONE)), Reason.NOT_HELD),
        Line("Nothing was freed, the other block neither.", GetNumFreeBlocks(), 1),
        Line("It frees them properly.", FreeBlocks((TWO, ONE))),
        Line("It frees one again.", FreeBlocks((ONE,)), Reason.NOT_HELD),
        Line("The next request gets each block once.", GetNewBlocks(3), handed(TWO, ONE, THREE)),
    )),
    Story("a_partial_block_grows", "The tail of a conversation is found under its longest prefix.", EMPTY, (
        Line("A request has a tail block.", GetNewBlocks(1), handed(ONE)),
        Line("Its prompt ends after two tokens of it.", publish_part(ONE, 2), hello(2)),
        Line("Saying so again changes nothing.", publish_part(ONE, 2), hello(2)),
        Line("Decoding adds two more: the block grows.", publish_part(ONE, 4), hello(4)),
        Line("The shorter prefix is no longer found.", look_up(2), None),
        Line("The block is full: it is promoted.", CacheFullBlocks(HELLO, (ONE,), 0, 1, 8, TEXT)),
        Line("It is found under the whole prefix only.", look_up(8), (ONE,)),
        Line("It cannot be published full again.", publish(HELLO, ONE), Reason.ALREADY_CACHED),
        Line("The consumer was told every turn of it.", TakeEvents(), (
            Stored((hello(2),), None, (1, 2), 2),
            Removed(hello(2)),
            Stored((hello(4),), None, (3, 4), 2),
            Removed(hello(4)),
            Stored((hello(8),), None, (1, 2, 3, 4, 5, 6, 7, 8), 8),
        )),
    )),
    Story("aliases", "A block is also found under shorter prefixes that are published after a longer one.", EMPTY, (
        Line("A request has a block.", GetNewBlocks(1), handed(ONE)),
        Line("Four tokens of it are published.", publish_part(ONE, 4), hello(4)),
        Line("Then two: an alias.", publish_part(ONE, 2), hello(2)),
        Line("The long prefix is found.", look_up(4), (ONE,)),
        Line("The short one too.", look_up(2), (ONE,)),
        Line("Evicting the block by name drops both.", EvictBlocks(frozenset({ONE}))),
        Line("Nothing finds it any more, so its holder may write again.", IsBlockWritable(ONE), True),
    )),
    Story("copy_on_write", "A copy takes over the keys; the original's holder goes on writing.", EMPTY, (
        Line("A request has a block.", GetNewBlocks(1), handed(ONE)),
        Line("Its first tokens are published.", publish_part(ONE, 4), hello(4)),
        Line("It must write on, so a copy is made.", GetNewBlocks(1), handed(TWO)),
        Line("The copy takes the key.", MoveBlockHashes(ONE, TWO)),
        Line("The original may be written.", IsBlockWritable(ONE), True),
        Line("A lookup finds the copy.", look_up(4), (TWO,)),
        Line("The move was silent.", TakeEvents(), (Stored((hello(4),), None, (3, 4), 2),)),
        Line("The copy is left to the cache.", FreeBlocks((TWO,))),
        Line("It cannot take keys any more.", MoveBlockHashes(ONE, TWO), Reason.NOT_HELD),
    )),
    Story("an_unpinned_block", "Who still reads a released block is told before it is reused.", EMPTY, (
        Line("A request holds all blocks.", GetNewBlocks(3), handed(ONE, TWO, THREE)),
        Line("A transfer reads block 1 and lets go of it.", UnpinBlocks((ONE,), NIC)),
        Line("The other blocks are released after it.", FreeBlocks((TWO, THREE))),
        Line("They go first: the watched block is the last resort.", GetNewBlocks(2), handed(TWO, THREE)),
        Line("Now there is only that one.", GetNewBlocks(1), Handed((ONE,), frozenset({(ONE, NIC)}))),
        Line("It was told once; the next owner owes it nothing.", FreeBlocks((ONE,))),
        Line("Nobody is told any more.", GetNewBlocks(1), handed(ONE)),
    )),
    Story("two_watchers", "Two readers of one block are both told, unless one has said that it is done.", EMPTY, (
        Line("A request holds a block.", GetNewBlocks(1), handed(ONE)),
        Line("Two more hold it, for two transfers.", Touch((ONE, ONE))),
        Line("The first transfer lets go.", UnpinBlocks((ONE,), NIC)),
        Line("The second too.", UnpinBlocks((ONE,), DISK)),
        Line("The request itself holds it alone, but may not write while it is read.", IsBlockWritable(ONE), False),
        Line("The second is done.", CancelWatch(ONE, DISK), True),
        Line("Saying so twice is no error.", CancelWatch(ONE, DISK), False),
        Line("The request ends. Watched blocks go to the back.", FreeBlocks((ONE,))),
        Line("The first is told.", GetNewBlocks(3), Handed((TWO, THREE, ONE), frozenset({(ONE, NIC)}))),
    )),
    Story("called_from_inside", "While a watcher is told, the pool answers questions and refuses changes.",
          inside_a_watcher(), (
        Line("The watcher wants a block.", GetNewBlocks(1), Reason.RE_ENTRANT),
        Line("It wants to keep the one it reads.", Touch((ONE,)), Reason.RE_ENTRANT),
        Line("It says that it is done.", CancelWatch(ONE, NIC), Reason.RE_ENTRANT),
        Line("It may look: everything is as before the call.", GetNumFreeBlocks(), 3),
    )),
    Story("two_copies", "Equal prefixes computed twice are both kept, and both reported.", EMPTY, (
        Line("Two requests compute the same, side by side.", GetNewBlocks(2), handed(ONE, TWO)),
        Line("One publishes.", publish(HELLO, ONE)),
        Line("The other does too.", publish(HELLO, TWO)),
        Line("A lookup may answer either.", look_up(4), (TWO,)),
        Line("One is evicted by name.", EvictBlocks(frozenset({ONE}))),
        Line("The other is still found.", look_up(4), (TWO,)),
        Line("The consumer can count the copies.", TakeEvents(), (
            Stored((hello(4),), None, (1, 2, 3, 4), 4),
            Stored((hello(4),), None, (1, 2, 3, 4), 4),
            Removed(hello(4)),
        )),
    )),
    Story("new_weights", "The cache is forgotten as a whole, but not while anybody uses a block.", EMPTY, (
        Line("A request holds a block.", GetNewBlocks(1), handed(ONE)),
        Line("It is published.", publish(HELLO, ONE)),
        Line("New weights arrive: not yet.", ResetPrefixCache(), ResetDone(False, NOBODY)),
        Line("A lookup still finds it.", look_up(4), (ONE,)),
        Line("It is released, and still being read.", UnpinBlocks((ONE,), NIC)),
        Line("Now the reset goes through.", ResetPrefixCache(), ResetDone(True, frozenset({(ONE, NIC)}))),
        Line("Nothing is found.", look_up(4), None),
        Line("The consumer knows.", TakeEvents(), (Stored((hello(4),), None, (1, 2, 3, 4), 4), Cleared())),
    )),
    Story("all_groups_or_nothing", "A prefix is a hit only if every group of layers has it.", EMPTY, (
        Line("A request holds a block for each kind of layers.", GetNewBlocks(2), handed(ONE, TWO)),
        Line("One group is published.", publish(HELLO, ONE, group=TEXT)),
        Line("Half a hit is none.", look_up(4, TEXT, IMAGE), None),
        Line("The other group follows.", publish(HELLO, TWO, group=IMAGE)),
        Line("Now it is a hit, a block for each group.", look_up(4, TEXT, IMAGE), (ONE, TWO)),
    )),
)  # fmt: skip
"""Together they use every action."""
