"""The judgement of answers about keys, hits and events: each is compared with the books, and the call entered there."""

from typing import Any

from blockpool.spec.contract import calls
from blockpool.spec.contract.call_text import answered
from blockpool.spec.contract.calls import BlockName, Ok
from blockpool.spec.contract.event_laws import judge_events
from blockpool.spec.contract.laws import (
    A_HIT_CARRIES_ITS_KEY,
    A_LOOKUP_PREFERS_AS_DECLARED,
    A_RESET_IS_DONE_AS_DECLARED,
    ANSWERS_HAVE_THEIR_SHAPE,
    EQUAL_KEYS_ARE_HANDLED_AS_DECLARED,
    PUBLISHING_ANSWERS_WHAT_THE_CALLER_HOLDS,
    WHAT_WAS_PUBLISHED_IS_FOUND,
)
from blockpool.spec.contract.shadow_state import Books
from blockpool.spec.contract.violation import Broken, are_names, check_told, declared, is_name, misshapen, names


def publish(books: Books, call: calls.Publish, value: Any, reply: Ok) -> None:
    holds = call.blocks if value is None else value
    if not are_names(holds, len(call.blocks)):
        raise misshapen(reply, "one block for each")
    start = 0 if call.parent is None else books.tokens_of((call.parent, call.group))
    for block in call.blocks:
        if block in books.keys:  # published with fewer tokens
            books.drop(block)
    new = [place for place in range(len(holds)) if _enter(books, call, place, holds[place])]
    for place in new:
        reached = call.tokens[place - 1] if place else start
        adds = None if reached is None else call.tokens[place] - reached
        parent = call.keys[place - 1] if place else call.parent
        books.stored((call.keys[place], call.group), parent, adds)
    check_told(reply)


def _enter(books: Books, call: calls.Publish, place: int, held: BlockName) -> bool:
    """One block is published; answers whether events must tell of it."""
    block, rule = call.blocks[place], books.profile.duplicates
    entry = (call.keys[place], call.group)
    carriers = books.index.get(entry, {})
    if held != block:
        _replaced(books, block, held, carriers)
        return False
    if block in books.reserved:
        return False
    if any(map(books.is_sure, carriers)):
        if rule == "dedup":
            words = f"left {block!r} to the caller, though {names(carriers)} carries the key"
            raise Broken(EQUAL_KEYS_ARE_HANDLED_AS_DECLARED.name, f"{words}; {declared(books, 'duplicates')}", block)
        if rule == "first_wins":
            return False
    repeated = rule == "last_wins" and bool(carriers) and books.profile.events == "last_copy"
    if rule == "last_wins":
        books.withdraw(entry)
    doubtful = rule == "first_wins" and bool(carriers)
    return books.enter(block, entry, call.tokens[place], doubtful=doubtful) and not repeated


def _replaced(books: Books, block: BlockName, held: BlockName, carriers: dict[BlockName, None]) -> None:
    """The pool put another block in the place of this one: the caller's reference moves there."""
    if held not in carriers:
        words = f"answered {held!r} for {block!r}; {names(carriers)} carries the key"
        raise Broken(PUBLISHING_ANSWERS_WHAT_THE_CALLER_HOLDS.name, words, block)
    if books.profile.duplicates not in ("dedup", "any"):
        words = f"answered {held!r} for {block!r}; {declared(books, 'duplicates')}"
        raise Broken(EQUAL_KEYS_ARE_HANDLED_AS_DECLARED.name, words, block)
    books.found(held)
    books.share(held)
    books.requeue(books.give_back([block]))


def publish_partial(books: Books, call: calls.PublishPartial, _: Any, reply: Ok) -> None:
    entry = (call.key, call.group)
    if call.block not in books.reserved and (call.replace or entry not in books.keys.get(call.block, ())):
        if call.replace or books.coverage(call.block) < call.tokens:
            books.drop(call.block)
        if books.enter(call.block, entry, call.tokens):
            books.stored(entry, call.parent, None)
    check_told(reply)


def lookup(books: Books, call: calls.Lookup, value: Any, reply: Ok) -> None:
    if value is None:
        _missed(books, call)
    elif type(value) is not tuple or len(value) != len(call.groups):
        raise misshapen(reply, "one block for each group")
    else:
        for group, block in zip(call.groups, value, strict=True):
            _hit(books, call.key, group, block)
    check_told(reply)


def _hit(books: Books, key: str, group: int, block: Any) -> None:
    if not is_name(block):
        raise Broken(ANSWERS_HAVE_THEIR_SHAPE.name, f"answered {block!r}, which is not the name of a block")
    carriers = books.index.get((key, group), {})
    if block not in carriers:
        if block in books.reserved:
            what = "which is reserved"
        elif not books.caching:
            what = "but caching is off"
        else:
            what = f"which does not carry the key in group {group}; {names(carriers)} does"
        raise Broken(A_HIT_CARRIES_ITS_KEY.name, f"answered {block!r}, {what}", block)
    if books.profile.choice == "first" and block != (first := next(iter(carriers))):
        raise Broken(A_LOOKUP_PREFERS_AS_DECLARED.name, f"answered {block!r}; {first!r} has carried it longest", block)
    books.found(block)


def _missed(books: Books, call: calls.Lookup) -> None:
    """Nothing was found: right, unless in each group some block surely carries the key."""
    found = []
    for group in call.groups:
        sure = [block for block in books.index.get((call.key, group), ()) if books.is_sure(block)]
        if not sure:
            return
        found.append(sure[0])
    words = f"found nothing, but {names(found)} carries the key; {declared(books, 'keys_last')}"
    raise Broken(WHAT_WAS_PUBLISHED_IS_FOUND.name, words, found[0] if found else None)


def unpublish(books: Books, call: calls.Unpublish, _: Any, reply: Ok) -> None:
    for block in call.blocks:
        books.drop(block)
    check_told(reply)


def move(books: Books, call: calls.Move, _: Any, reply: Ok) -> None:
    if call.source in books.keys:
        books.drop(call.target, silent=True)  # keys that may have been lost
        for entry, tokens in books.drop(call.source, silent=True).items():
            books.enter(call.target, entry, tokens)
    check_told(reply)


def reset(books: Books, _: calls.Reset, value: Any, reply: Ok) -> None:
    if type(value) is not bool:
        raise misshapen(reply, "yes or no")
    rule = books.profile.reset
    if rule != "any" and value != (rule == "always" or not books.held):
        words = f"{answered(reply)} with {books.held} blocks held; {declared(books, 'reset')}"
        raise Broken(A_RESET_IS_DONE_AS_DECLARED.name, words)
    if value:
        check_told(reply, [(block, name) for block, watching in books.watchers.items() for name in watching])
        books.forget_all()
    else:
        check_told(reply)


def events(books: Books, _: calls.Events, value: Any, reply: Ok) -> None:
    if type(value) is not tuple or not all(map(_is_event, value)):
        raise misshapen(reply, "a list of events")
    finding = judge_events(books, value) if books.reporting else None
    if finding is not None:
        law, words = finding
        raise Broken(law, f"{answered(reply)}: {words}")
    check_told(reply)


def _is_event(event: Any) -> bool:
    match event:
        case calls.StoredKeys(keys, parent, tokens, block_size, group):
            numbers = all(type(number) is int for number in (tokens, block_size, group))
            return _are_keys(keys) and (parent is None or type(parent) is str) and numbers
        case calls.RemovedKeys(keys, group):
            return _are_keys(keys) and type(group) is int
        case _:
            return type(event) is calls.AllCleared


def _are_keys(keys: Any) -> bool:
    return type(keys) is tuple and all(type(key) is str for key in keys)
