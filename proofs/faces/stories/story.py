"""Stories: states in a row with the calls between them. A counterexample makes one, and so does a trace.

    {"format": "blockpool-story/1", "title": ..., "claim": ..., "sentence": ..., "words": ...,
     "claims": [names], "frames": [{"call": ..., "tells": [...], "state": a picture, "holds": a letter for each claim}]}

A story is complete in itself: what a defective spec did can be played when the defect is gone. The first frame has no
call. `words`, if there are, say what is broken in the last frame.
"""

import json
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from blockpool.proofs.core.counterexample import Counterexample, beginning, told_of, walk
from blockpool.proofs.core.strict_json import FormatError
from blockpool.proofs.core.text import call as in_words
from blockpool.proofs.faces.stories.pictures import Picture, books_picture, differences, picture_of
from blockpool.proofs.faces.stories.stepping import INSIDE, verdicts
from blockpool.proofs.oracle.audit import Audit, audit
from blockpool.proofs.oracle.example import OracleExample
from blockpool.proofs.oracle.trace import CutOffError, Entry, read_trace
from blockpool.spec import INVARIANTS, STEP_PROPERTIES, WORLD_INVARIANTS, WORLD_STEP_PROPERTIES, World, while_telling
from blockpool.spec.contract.call_text import answered, shown
from blockpool.spec.contract.calls import Call, Ok, Reply, Start, Started
from blockpool.spec.contract.judge import Judge
from blockpool.spec.contract.profiles import Profile
from blockpool.spec.contract.violation import blocks_of

FORMAT = "blockpool-story/1"

Story = dict[str, Any]
"""Of JSON's types only."""


def story_of_any(example: Any) -> Story | None:
    """The story of any counterexample; None for a pool that did not even start."""
    if isinstance(example, OracleExample):
        return None if example.begun is None else story_of_oracle(example, example.begun)
    return story_of(example)


def story_of(example: Counterexample) -> Story:
    """The calls of a counterexample, told by the spec as it is now; the defect that broke it must still be there."""
    world = isinstance(example.first, World)
    of_states = WORLD_INVARIANTS if world else INVARIANTS
    of_steps = WORLD_STEP_PROPERTIES if world else STEP_PROPERTIES
    state: Any = example.first
    silent = "-" * len(of_steps)
    frames = [_frame(None, [beginning(state)], picture_of(state), verdicts(of_states, state) + silent)]
    walked = walk(example.first, example.calls)
    for line in example.calls:
        text = in_words(line.action) + f", {INSIDE}" * line.nested
        try:
            step: Any = next(walked)
        except Exception as error:  # noqa: BLE001  the spec itself may be what is broken
            tells = [f"the spec fails: {type(error).__name__}: {error}"]
            frames.append(_frame(text, tells, picture_of(state), "-" * len(of_states) + silent))
            break
        state = (while_telling(step) or step.after) if line.nested else step.after
        holds = verdicts(of_states, state) + verdicts(of_steps, step)
        frames.append(_frame(text, told_of(step), picture_of(state), holds))
    claims = [claim.name for claim in (*of_states, *of_steps)]
    return _story(f"{example.claim} is broken", example.claim, example.sentence, example.words, claims, frames)


def _story(title: str, claim: str, sentence: str, words: str, claims: list[str], frames: list[Picture]) -> Story:
    return {
        "format": FORMAT,
        "title": title,
        "claim": claim,
        "sentence": sentence,
        "words": words,
        "claims": claims,
        "frames": frames,
    }


def _frame(text: str | None, tells: list[str], state: Picture, holds: str) -> Picture:
    return {"call": text, "tells": tells, "state": state, "holds": holds}


# --- traces ---

QUEUE_SHOWN = 8
"""So many blocks at the front of the queue are shown besides those that the calls name."""


def story_of_trace(file: Path, profile: str | Profile | None, last: int) -> Story:
    """The last calls of a trace, up to the first that breaks a law. Raises FormatError, ValueError and OSError."""
    found = audit(file, profile)
    with file.open("rb") as lines:
        header, entries = read_trace(lines)
        frames = _last_pool(entries, found, last)
    if not frames:
        raise FormatError("there is no pool in this trace that could be drawn")
    claim, sentence, words = "", f"Every call is allowed by profile {found.profile.name}.", ""
    if found.breach is not None:
        claim, sentence, words = found.breach.law, found.breach.sentence, found.story()
    elif found.cut_off is not None:
        words = f"line {found.cut_off} is cut off; the lines before it are allowed"
    title = f"{header.name}: {found.calls:,} calls allowed" + ", then one that is not" * bool(claim)
    return _story(title, claim, sentence, words, [claim] if claim else [], frames)


def _last_pool(entries: Iterable[Entry], found: Audit, last: int) -> list[Picture]:
    """The frames of the last calls of the last pool in the trace; none if it has no pool."""
    judge: Judge | None = None
    kept: deque[Entry] = deque()
    start, skipped = Start(0), 0
    for entry in _up_to(entries, found.entry):
        if isinstance(entry.call, Start):
            start, judge, skipped = entry.call, _begun(found, entry.call, entry.reply), 0
            kept.clear()
            continue
        kept.append(entry)
        if len(kept) > last and judge is not None:
            first = kept.popleft()
            judge.judge(first.call, first.reply)
            skipped += 1
    if judge is None:
        return []
    beginning = [f"a new pool of {start.blocks} blocks", *[f"{skipped:,} calls are not shown"] * bool(skipped)]
    lines = [(entry.call, entry.reply, _origin(entry)) for entry in kept]
    return _judged(judge, beginning, lines, broken=found.breach is not None)


def _begun(found: Audit, start: Start, reply: Reply) -> Judge | None:
    if not isinstance(reply, Ok) or not isinstance(reply.value, Started):
        return None
    return Judge(found.profile, start, reply.value, found.header.operations)


def _up_to(entries: Iterable[Entry], end: Entry | None) -> Iterator[Entry]:
    try:
        for entry in entries:
            yield entry
            if end is not None and entry.line == end.line:
                return
    except CutOffError:
        return


def _origin(entry: Entry) -> list[str]:
    return [f"line {entry.line}", *([f"called by {entry.owner}"] if entry.owner is not None else [])]


def story_of_oracle(example: OracleExample, begun: Started) -> Story:
    """The calls of a counterexample of the oracle, as the judge saw them; the last one breaks the law."""
    start = example.start
    judge = Judge(example.profile, start, begun, example.operations)
    lines: list[tuple[Call, Reply, list[str]]] = [(line.call, line.reply, []) for line in example.lines]
    beginning = [f"a new pool of {start.blocks} blocks, profile {example.profile.name}"]
    frames = _judged(judge, beginning, lines, broken=True)
    title, law = f"{example.claim} is broken", example.breach.law
    return _story(title, law, example.breach.sentence, example.words, [law], frames)


def _judged(
    judge: Judge, beginning: list[str], lines: Sequence[tuple[Call, Reply, list[str]]], *, broken: bool
) -> list[Picture]:
    """A frame for each call. If the last one breaks a law, what it leads to is nobody's promise and not drawn."""
    named: list[Any] = [block for call, reply, _ in lines for block in blocks_of(call, reply)]
    named += [block for block, _ in zip(judge.books.queue, range(QUEUE_SHOWN), strict=False)]
    shown_blocks = dict.fromkeys(named)
    state = books_picture(judge.books, shown_blocks)
    frames = [_frame(None, beginning, state, "-" * broken)]
    for place, (call, reply, notes) in enumerate(lines, 1):
        ends = broken and place == len(lines)
        judge.judge(call, reply)
        after = state if ends else books_picture(judge.books, shown_blocks)
        tells = [answered(reply), *differences(state, after), *notes]
        frames.append(_frame(shown(call), tells, after, ("0" if ends else "1") * broken))
        state = after
    return frames


# --- reading and telling ---


def read_stories(file: Path, profile: str | None, last: int) -> list[Story]:
    """The stories in a file: a trace, a file written with `--json`, or a story. Raises FormatError and OSError."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:  # more than one line: a trace, if anything
        return [story_of_trace(file, profile, last)]
    if not isinstance(document, dict) or "format" not in document:
        raise FormatError("this is neither a trace, nor a file written with --json")
    if document["format"] == FORMAT:
        return [document]
    return stories_in(document)


def stories_in(document: dict[str, Any]) -> list[Story]:
    """The stories of the counterexamples in a file of verdicts."""
    examples = (obligation.get("counterexample") for obligation in document.get("obligations", ()))
    return [example["story"] for example in examples if example is not None and "story" in example]


def told(story: Story) -> str:
    """The story for a console."""
    lines = [story["title"], story["sentence"], ""]
    for number, frame in enumerate(story["frames"]):
        if frame["call"] is None:
            lines += [f"  {line}" for line in frame["tells"]]
        else:
            lines.append(f"  {number}. {frame['call']}")
            lines += [f"       {line}" for line in frame["tells"]]
    return "\n".join([*lines, *([""] * bool(story["words"])), *(f"  {line}" for line in story["words"].splitlines())])
