"""A built-in workload: chats of several turns that all start with the same system prompt, made from a seed.

Few chats are popular and many are not (the chat of rank r is chosen with weight 1/r). Each turn repeats the whole
chat before it. Only random() and randrange() are used: their numbers are the same in every version of Python.
"""

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate, count
from random import Random

from blockpool.proofs.replay.requests import TRACE_BLOCK, TraceRequest

SYSTEM_TOKENS = 1300  # two blocks that all chats share, and the start of a third one
LONGEST_PROMPT = 24_000  # a chat that would grow beyond it starts again
TURNS_A_CHAT = 6  # on average over all chats


@dataclass(slots=True)
class _Chat:
    tokens: int = SYSTEM_TOKENS
    blocks: list[int] = field(default_factory=list)  # ids of the full blocks so far


def synthetic_requests(requests: int, seed: int) -> list[TraceRequest]:
    """So many requests; the same ones for the same seed."""
    if requests < 1:
        raise ValueError(f"a workload of {requests} requests; at least 1 is needed")
    chance = Random(seed)
    fresh_ids = count()
    system = [next(fresh_ids) for _ in range(SYSTEM_TOKENS // TRACE_BLOCK)]
    weights = list(accumulate(1 / rank for rank in range(1, -(-requests // TURNS_A_CHAT) + 1)))
    chats = [_Chat(blocks=list(system)) for _ in weights]
    found: list[TraceRequest] = []
    now = 0
    for _ in range(requests):
        now += chance.randrange(500)
        place = min(bisect_right(weights, chance.random() * weights[-1]), len(weights) - 1)
        message, answer = 20 + chance.randrange(800), 1 + chance.randrange(700)
        if chats[place].tokens + message > LONGEST_PROMPT:
            chats[place] = _Chat(blocks=list(system))
        found.append(_turn(chats[place], message, answer, now, fresh_ids))
    return found


def _turn(chat: _Chat, message: int, answer: int, now: int, fresh_ids: "count[int]") -> TraceRequest:
    """The next request of a chat. Its last block, if not full, has an id of its own: later it holds more."""
    prompt = chat.tokens + message
    while len(chat.blocks) < prompt // TRACE_BLOCK:
        chat.blocks.append(next(fresh_ids))
    partial = [next(fresh_ids)] if prompt % TRACE_BLOCK else []
    chat.tokens = prompt + answer
    return TraceRequest(prompt, answer, tuple(chat.blocks + partial), float(now))
