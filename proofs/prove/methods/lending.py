"""The careful way of `get_new_blocks`: `lend`, with watchers that are told and a collector."""

# ruff: noqa: SIM300  (names in capitals are the unknowns of formulas)

from __future__ import annotations

from typing import Any

import z3

from blockpool.proofs.prove.methods import abstraction, contracts, models
from blockpool.proofs.prove.methods.getting import (
    AT_PLACE,
    GHOSTS,
    HANDED,
    NUMBER,
    Fused,
    events,
    front_in_order,
    key_of,
)
from blockpool.proofs.prove.methods.lists import Items
from blockpool.proofs.prove.methods.loops import Loop, Rule
from blockpool.proofs.prove.methods.machine import Facts, Run
from blockpool.proofs.prove.methods.method import Method
from blockpool.proofs.prove.methods.values import NO_DIGEST, Number
from blockpool.proofs.prove.methods.world import (
    CARRIES,
    DIGESTS,
    LENGTH,
    POOL,
    QUEUE,
    And,
    I,
    If,
    Implies,
    every,
    queued,
)
from blockpool.proofs.prove.pool.lending_transitions import get_new_blocks


class Lending(Fused):
    """As the fused loop, for blocks that have left the queue already."""

    grows = ("evicted",)

    def heap(self, loop: Loop, k: Any, ghost: Any) -> dict[str, Any]:
        return {name: said for name, said in super().heap(loop, k, ghost).items() if name not in ("next", "prev")}

    def facts(self, loop: Loop, k: Any, names: Any, ghost: Any) -> Facts:
        return {
            "evicted: some": names.evicted.length >= 0,
            **self.lost_so_far(k, ghost[0]),
            **events(loop.run.heap, ghost[1]),
        }

    def next(self, loop: Loop, k: Any, ghost: Any) -> Any:
        (loser, sent), item = ghost, AT_PLACE(k + 1)
        some = key_of(loop.run, item)
        return (
            lambda key: If(CARRIES(item, key), item, loser(key)),
            If(DIGESTS(item) != NO_DIGEST, some, sent),
        )


def _call(run: Run, scope: dict[str, Any]) -> Any:
    def iter_blocks_after(_nothing: Any) -> Items:
        order = run.heap["order"]
        return contracts.walked(run, order.length, order.place, AT_PLACE)

    queue = models.Queue(run, iter_blocks_after=iter_blocks_after, popleft_n=contracts.popleft_n(run, AT_PLACE))
    return scope["lend"](models.pool(run, queue), Number(run, NUMBER))


def _goals(run: Run, kind: str, value: Any) -> Facts:
    told_errors = kind == "raised" and value.__name__ == "WatcherErrors"
    answer = run.parts["result"] if told_errors else value
    raised = value if kind == "raised" and not told_errors else None
    order = run.heap["order"]
    said = abstraction.of_transition(get_new_blocks(), run, order, HANDED, raised=raised)
    said |= abstraction.representation(run, order)
    if raised is not None:
        return said
    return said | (front_in_order(answer) if isinstance(answer, Items) else {"answers a list": z3.BoolVal(False)})


IN_PLACE = {
    "there is a block at each place": every(
        [I],
        Implies(And(1 <= I, I <= LENGTH), And(queued(QUEUE, AT_PLACE(I)), QUEUE.place(AT_PLACE(I)) == I)),
        AT_PLACE(I),
    ),
}
LEND = Method(
    "BlockPool.get_new_blocks, careful way",
    {"references": ("lend",), "checks": ("not_while_telling", "is_count")},
    _call,
    _goals,
    POOL | GHOSTS | IN_PLACE | abstraction.SLOTS,
    {("lend", 0): Lending(), ("lend", 1): Rule(), ("lend", 2): Rule()},
    lambda run: {
        "drop_keys": contracts.drop_keys(run),
        "tell": contracts.tell(run),
        "raise_watcher_errors": contracts.raise_watcher_errors(run),
    },
    {"two of three are taken": And(NUMBER == 2, LENGTH == 3)},
    kinds=("returns a list", "raises WatcherErrors", "raises ReEntrant"),
    through="get_new_blocks",
    contracts=(
        "FreeKVCacheBlockQueue.popleft_n", "FreeKVCacheBlockQueue.iter_blocks_after", "drop_keys", "tell",
        "raise_watcher_errors", "the metrics collector",
    ),
    limits="the order in which watchers are told",
)  # fmt: skip
