"""The second stream: long runs on larger pools, as engines use them, drawn by Hypothesis."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from blockpool.proofs.oracle.call_generator import READERS, SIZE, Label
from blockpool.proofs.oracle.campaign import Hunt
from blockpool.proofs.oracle.session import Trial
from blockpool.spec.contract import calls
from blockpool.spec.contract.calls import BlockName, Call, Ok, Start
from blockpool.spec.contract.preconditions import wrong
from blockpool.spec.contract.shadow_state import Books

T = TypeVar("T")

DEPTH = 4
PREFIXES = tuple(
    tuple(Label(f"{name}{end}", SIZE * end, f"{name}{end - 1}" if end > 1 else None) for end in range(1, DEPTH + 1))
    for name in "pqr"
)
"""Three prefixes of some blocks each."""

SHORT = tuple(Label(f"{name}0", SIZE // 2) for name in "pqr")
"""Their beginnings, within the first block."""


def sample(hunt: Hunt, runs: int, length: int, blocks: int, chosen_seed: int | None) -> None:
    """Do so many runs with about so many calls each, on pools of different sizes and settings."""
    events = "events" in hunt.operations and hunt.profile.events != "none"
    wanted = [Start(blocks, True, events), Start(max(2, blocks // 3), True, events)]
    if "publish" in hunt.operations:
        wanted += [Start(blocks, True, events, groups=2), Start(blocks, groups=2), Start(blocks, False)]
    available = [start for start in wanted if hunt.trial(start) is not None]
    if not available:
        return

    @settings(
        max_examples=runs,
        derandomize=chosen_seed is None,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def run(data: st.DataObject) -> None:
        start = data.draw(st.sampled_from(available))
        Run(hunt, start, lambda count: int(data.draw(_below(count)))).run(length)

    (run if chosen_seed is None else seed(chosen_seed)(run))()


@cache
def _below(count: int) -> st.SearchStrategy[int]:
    return st.integers(0, count - 1)


class Run:
    """One run: chooses what to do next from the books."""

    def __init__(self, hunt: Hunt, start: Start, draw: Callable[[int], int]) -> None:
        self.hunt, self.start, self.draw = hunt, start, draw
        self.deeds: list[Callable[[], Iterator[Call]]] = [
            *(self.serve, self.serve, self.hit, self.hit, self.lend, self.release, self.release, self.finish),
            *(self.publish, self.shorten, self.forget, self.unpin, self.cancel, self.ask, self.ask, self.reset),
        ]

    def run(self, length: int) -> None:
        """Take so many calls or a few more, then give everything back."""
        trial = self.hunt.trial(self.start)
        if trial is None:
            return
        self.trial: Trial = trial
        trial.tested = self.hunt.tested
        self.hunt.runs += 1
        while len(trial.lines) < length:
            if not self._take(self.pick(self.deeds)()):
                self.hunt.found(trial)
                return
        if not self._take(self.drain()):
            self.hunt.found(trial)

    def _take(self, deed: Iterator[Call]) -> bool:
        """Take the calls of this deed that are right and not to be avoided."""
        operations, books = self.hunt.operations, self.books
        taken = [calls.FreeCount()]  # so that a deed which does nothing is not chosen for ever
        for call in deed:
            if call.op in operations and wrong(books, call) is None and not self.hunt.avoids(books, call):
                taken = []
                if self.trial.take(call) is not None:
                    return False
        return all(self.trial.take(call) is None for call in taken)

    # --- choosing ---

    @property
    def books(self) -> Books:
        return self.trial.books

    @property
    def answer(self) -> object:
        reply = self.trial.lines[-1].reply if self.trial.lines else None
        return reply.value if isinstance(reply, Ok) else None

    def pick(self, options: Sequence[T]) -> T:
        return options[self.draw(len(options))]

    def some(self, options: Sequence[T], most: int) -> list[T]:
        """Some of these, in any order."""
        rest, chosen = list(options), []
        for _ in range(min(len(rest), 1 + self.draw(most))):
            chosen.append(rest.pop(self.draw(len(rest))))
        return chosen

    def held(self) -> list[BlockName]:
        return [block for block, count in self.books.refs.items() if count]

    def group(self) -> int:
        return self.draw(self.start.groups)

    # --- deeds: what engines do ---

    def serve(self) -> Iterator[Call]:
        """A request: find what is cached of a prefix, take it, and compute and publish the rest."""
        group, labels = self.group(), self.pick(PREFIXES)[: 1 + self.draw(DEPTH)]
        table: list[BlockName] = []
        for label in labels:
            yield calls.Lookup(label.key, (group,))
            answer = self.answer
            if "lookup" not in self.hunt.operations or not isinstance(answer, tuple) or not answer:
                break
            table.append(answer[0])
            yield calls.Share(answer)
        rest = labels[len(table) :]
        if not rest or len(rest) > self.books.free:
            return
        yield calls.Alloc(len(rest))
        new = self.answer
        if isinstance(new, tuple) and len(new) == len(rest):
            keys, tokens = tuple(label.key for label in rest), tuple(label.tokens for label in rest)
            yield calls.Publish(new, keys, tokens, rest[0].parent, group)

    def hit(self) -> Iterator[Call]:
        """Look up a published key, and claim what is found."""
        entries = list(self.books.index)
        if entries:
            key, group = self.pick(entries)
            yield calls.Lookup(key, (group,))
            if isinstance(self.answer, tuple):
                yield calls.Share(self.answer)

    def lend(self) -> Iterator[Call]:
        yield calls.Alloc(self.draw(5) if self.draw(8) else self.books.free + self.draw(2))

    def release(self) -> Iterator[Call]:
        """Give back some references in any order."""
        references = [block for block in self.held() for _ in range(self.books.refs[block])]
        if references:
            chosen = tuple(self.some(references, 6))
            yield calls.Free(chosen)
            yield calls.Free(tuple(dict.fromkeys(chosen)))

    def finish(self) -> Iterator[Call]:
        """Give back all references of some blocks."""
        if self.held():
            chosen = self.some(self.held(), 6)
            yield calls.Free(tuple(block for block in chosen for _ in range(self.books.refs[block])))

    def drain(self) -> Iterator[Call]:
        """Give back everything."""
        for block in self.held():
            yield from (calls.Free((block,)) for _ in range(self.books.refs[block]))
        yield calls.FreeCount()
        yield calls.Alloc(self.books.free)

    def publish(self) -> Iterator[Call]:
        """Publish one block; sometimes under a key that others carry."""
        fresh = [block for block in self.held() if block not in self.books.keys]
        if fresh:
            key, tokens, parent = self.pick(self.pick(PREFIXES))
            yield calls.Publish((self.pick(fresh),), (key,), (tokens,), parent, self.group())

    def shorten(self) -> Iterator[Call]:
        """Publish part of a block."""
        if self.held():
            key, tokens, _ = self.pick(SHORT)
            yield calls.PublishPartial(
                self.pick(self.held()), key, tokens, None, self.group(), replace=not self.draw(4)
            )

    def forget(self) -> Iterator[Call]:
        if self.books.keys:
            source = self.pick(list(self.books.keys))
            if self.held() and self.draw(2):
                yield calls.Move(source, self.pick(self.held()))
            else:
                yield calls.Unpublish((source,))

    def unpin(self) -> Iterator[Call]:
        if self.held():
            yield calls.Unpin(tuple(self.some(self.held(), 3)), self.pick(READERS))

    def cancel(self) -> Iterator[Call]:
        if self.books.watchers:
            yield calls.Cancel(self.pick(list(self.books.watchers)), self.pick(READERS))

    def ask(self) -> Iterator[Call]:
        yield calls.FreeCount()
        yield calls.Lookup(self.pick(self.pick(PREFIXES)).key, (self.group(),))
        if self.books.refs:
            yield calls.Writable(self.pick(list(self.books.refs)))
        if self.books.reporting:
            yield calls.Events()

    def reset(self) -> Iterator[Call]:
        if not self.draw(3):
            yield from self.drain()
            yield calls.Free(tuple(self.held()))
        yield calls.Reset()
