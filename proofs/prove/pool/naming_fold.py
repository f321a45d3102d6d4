"""The fold of namings: references, the queue, and the numbers of free and held blocks. See `folds.py`."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import z3

from blockpool.proofs.prove.pool.claims import And, Implies, Not, Or, sizes
from blockpool.proofs.prove.pool.folds import Part, it, refusal
from blockpool.proofs.prove.pool.transition import Transition, definition, nothing, same
from blockpool.proofs.prove.pool.vocabulary import (
    AFTER,
    BEFORE,
    MIDDLE,
    NEXT,
    NUMBER,
    Block,
    State,
    a,
    b,
    count,
    every,
    handed,
    lendable_count,
    named,
    named_ahead,
    null,
    queued,
    refused,
    symbol,
)
from blockpool.spec.pool.action import Action
from blockpool.spec.pool.allocation import FreeBlocks, GetNewBlocks, Touch, UnpinBlocks

If = z3.If
passed, passed_next = symbol("passed", Block, NUMBER), symbol("passed'", Block, NUMBER)
turns, turns_next = symbol("turns", NUMBER), symbol("turns'", NUMBER)
"""How often each block has been named so far, and how many namings that were in all."""

QUEUE_FIELDS = ("counted", "refs", "places", "ahead")


def renamed(formula: Any, names: Mapping[Any, Any]) -> Any:
    """The formula about other symbols."""
    functions, constants = [], []
    for old, new in names.items():
        if isinstance(old, z3.FuncDeclRef):
            variables = [z3.Var(place, old.domain(place)) for place in range(old.arity())]
            functions.append((old, new(*variables)))
        else:
            constants.append((old, new))
    formula = z3.substitute(formula, *constants) if constants else formula
    return z3.substitute_funs(formula, *functions) if functions else formula


def between(old: State, new: State) -> dict[Any, Any]:
    """Each symbol of one state, and the same of another."""
    return {symbol: new.symbols()[name] for name, symbol in old.symbols().items()}


@dataclass(frozen=True)
class Naming:
    """How one naming of a block changes references and the queue, from MIDDLE to NEXT."""

    asked: Any  # the symbol for how often a block is named in all
    refs: Any  # references on the block afterwards
    places: Any  # its places in the queue afterwards
    ahead: Callable[[Any], Any]  # is this block ahead of it, if it joins the queue?
    turn: Any = True  # why it is this block's turn


def _giving_back(to_the_front: Callable[[Any], Any]) -> Naming:
    """A freed block joins behind those that joined the same end before it in this call."""
    left = MIDDLE.refs(it) - If(it == null, 0, 1)
    freed = And(it != null, left == 0)

    def joined_the_front(x: Any) -> Any:
        return And(queued(MIDDLE, x), Not(queued(BEFORE, x)), to_the_front(x))

    return Naming(
        named,
        left,
        MIDDLE.places(it) + If(freed, 1, 0),
        lambda x: And(queued(MIDDLE, x), Implies(to_the_front(it), joined_the_front(x))),
    )


NAMINGS: Mapping[type[Action[Any]], Naming] = {
    GetNewBlocks: Naming(
        handed,
        z3.IntVal(1),
        MIDDLE.places(it) - 1,
        nothing,
        And(queued(MIDDLE, it), every(a, so=Not(MIDDLE.ahead(a, it)))),
    ),
    Touch: Naming(
        named,
        MIDDLE.refs(it) + If(it == null, 0, 1),
        If(And(it != null, MIDDLE.refs(it) <= 0), 0, MIDDLE.places(it)),
        nothing,
    ),
    FreeBlocks: _giving_back(lambda x: Not(Or(BEFORE.published(x), BEFORE.listed(x)))),
    UnpinBlocks: _giving_back(nothing),
}
"""The actions that name blocks one after another, and what one naming does."""


def one_naming(naming: Naming) -> dict[str, Any]:
    """From MIDDLE to NEXT: only the block that is named changes; counters follow."""
    p, q = MIDDLE, NEXT
    joins = And(Not(queued(p, it)), queued(q, it))

    def ahead(x: Any, y: Any) -> Any:
        others = And(p.ahead(x, y), Implies(Or(x == it, y == it), queued(q, it)))
        behind = And(x == it, y != it, queued(p, y), Not(naming.ahead(y)))
        return If(joins, Or(others, And(y == it, naming.ahead(x)), behind), others)

    return {
        "turn": And(passed(it) < naming.asked(it), naming.turn),
        "one more is passed": every(b, so=passed_next(b) == passed(b) + If(b == it, 1, 0)),
        "one more turn": turns_next == turns + 1,
        "one: counted": definition(q, "counted", lambda x: Or(p.counted(x), And(x == it, it != null))),
        "one: refs": definition(q, "refs", lambda x: If(x == it, naming.refs, p.refs(x))),
        "one: places": definition(q, "places", lambda x: If(x == it, naming.places, p.places(x))),
        "one: ahead": definition(q, "ahead", ahead),
        "one: free": q.free == p.free + q.places(it) - p.places(it),
        "one: held": q.held == p.held + If(q.refs(it) != 0, 1, 0) - If(p.refs(it) != 0, 1, 0),
    }


def in_order(so_far: Any) -> Any:
    """A block whose last naming was passed comes after those whose last naming is earlier: how a list is walked."""
    passed_whole = And(named_ahead(a, b), named(b) > 0, so_far(b) == named(b))
    return every(a, b, so=Implies(passed_whole, so_far(a) == named(a)))


def queue_loop(transition: Transition, state: State, so_far: Any, turn: Any) -> dict[str, Any]:
    """The loop invariant: the effect of what was named so far."""
    asked = NAMINGS[transition.action].asked
    names = between(AFTER, state) | {asked: so_far, count: turn}
    formulas = transition.formulas()
    said = {f"so far: {field}": renamed(formulas[f"effect: {field}"], names) for field in QUEUE_FIELDS}
    said["so far: no more than named"] = every(b, so=And(so_far(b) >= 0, so_far(b) <= asked(b)))
    said["so far: all counted"] = state.free + state.held == lendable_count
    if asked is named:
        said["so far: in order"] = in_order(so_far)
    if transition.action is GetNewBlocks:
        said["so far: free"] = state.free == BEFORE.free - turn
        said["so far: the front"] = renamed(formulas["answer: the front"], names | {refused: z3.BoolVal(False)})
    return said


def queue_parts(transition: Transition, claim: Any) -> Iterator[Part]:
    """The fold of the namings, up to the claim that every block is free or held."""
    naming = NAMINGS[transition.action]
    now = {"not refused": Not(refused)}
    walked = {} if naming.asked is handed else {"the list is walked in order": in_order(passed_next)}
    before = queue_loop(transition, MIDDLE, passed, turns)
    after = queue_loop(transition, NEXT, passed_next, turns_next)
    nothing_yet = {"nothing is passed": every(b, so=passed(b) == 0), "no turn yet": turns == 0}
    everything = {"all is passed": every(b, so=passed(b) == naming.asked(b)), "all turns": turns == count}
    untouched = {"the first state of the fold": same(BEFORE, MIDDLE)}
    yield Part("start", now | nothing_yet | untouched, before, False)
    yield Part(
        "step", now | before | one_naming(naming) | walked | {"sizes: in the middle": sizes(MIDDLE)}, after, False
    )
    alike = And(*(definition(AFTER, field, MIDDLE.symbols()[field]) for field in QUEUE_FIELDS))
    yield Part("end", now | before | everything, {"the state is that of the call": alike})
    # What was just proved equal has equal sizes.
    sized = {"equal sets have equal sizes": And(AFTER.free == MIDDLE.free, AFTER.held == MIDDLE.held)}
    yield Part("claim", now | before | everything | sized, {"": claim})
    yield refusal(claim)
