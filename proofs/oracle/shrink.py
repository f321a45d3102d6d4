"""Shrinking: the fewest and smallest calls that still show what was found."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from blockpool.proofs.oracle.session import Line, Trial
from blockpool.spec.contract import calls

Again = Callable[[int, Sequence[Line]], Trial | None]
"""Does it all again with so many blocks: the trial if it still shows what was found, or None."""


def shrunk(found: Trial, again: Again) -> Trial:
    """The smallest trial that still shows it: fewer calls, then fewer blocks in the calls, then a smaller pool."""
    improved = True
    while improved:
        improved = False
        for blocks, lines in _smaller(found):
            other = again(blocks, lines)
            if other is not None and _size(other) < _size(found):
                found, improved = other, True
                break
    return found


def _size(trial: Trial) -> tuple[int, int, int]:
    named = sum(len(getattr(call, "blocks", ())) + getattr(call, "count", 0) for call, _ in trial.lines)
    return len(trial.lines), named, trial.start.blocks


def _smaller(found: Trial) -> Iterator[tuple[int, list[Line]]]:
    """What to try next: halves first, since a long run is mostly noise."""
    lines, blocks = found.lines, found.start.blocks
    length = len(lines) // 2
    while length:
        for start in range(0, len(lines), length):
            yield blocks, lines[:start] + lines[start + length :]
        length //= 2
    for first in range(len(lines)):
        for second in range(first + 1, len(lines) if len(lines) <= PAIRED else 0):
            yield blocks, [line for place, line in enumerate(lines) if place not in (first, second)]
    for place, line in enumerate(lines):
        for simpler in _simpler(line):
            yield blocks, [*lines[:place], simpler, *lines[place + 1 :]]
    yield from ((fewer, lines) for fewer in range(1, min(blocks, len(lines) + 3)))


PAIRED = 12
"""In runs of at most so many calls pairs are left out too: to take a block and to give it back go together."""


def _simpler(line: Line) -> Iterator[Line]:
    call = line.call
    if isinstance(call, calls.Alloc):
        yield from (line._replace(call=calls.Alloc(count)) for count in sorted({1, call.count - 1}) if count > 0)
    elif isinstance(call, calls.Publish):
        for place in range(len(call.blocks) if len(call.blocks) > 1 else 0):
            kept = [other for other in range(len(call.blocks)) if other != place]
            yield line._replace(
                call=replace(
                    call,
                    blocks=tuple(call.blocks[other] for other in kept),
                    keys=tuple(call.keys[other] for other in kept),
                    tokens=tuple(call.tokens[other] for other in kept),
                )
            )
    elif isinstance(call, calls.Share | calls.Free | calls.Unpin | calls.Unpublish) and len(call.blocks) > 1:
        for place in range(len(call.blocks)):
            yield line._replace(call=replace(call, blocks=call.blocks[:place] + call.blocks[place + 1 :]))
