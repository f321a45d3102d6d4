"""The museum: bugs that real pools had, as `proofs/cases/bugs` shows them, by what they concern."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from blockpool.proofs.cases.bugs.reports import Defect, pool_reports, request_reports, vllm_defects
from blockpool.proofs.oracle.audit import audit
from blockpool.spec import ACTIONS
from blockpool.spec.contract.call_text import answered, shown

ACTION_OF = {
    "alloc": "get_new_blocks",
    "share": "touch",
    "free": "free_blocks",
    "unpin": "unpin_blocks",
    "cancel": "cancel_watch",
    "publish": "cache_full_blocks",
    "publish_partial": "cache_partial_block",
    "move": "move_block_hashes",
    "unpublish": "evict_blocks",
    "reset": "reset_prefix_cache",
    "lookup": "get_cached_block",
    "writable": "is_block_writable",
    "free_count": "get_num_free_blocks",
    "events": "take_events",
}
"""The action behind each operation of the oracle. `start` is none; `get_usage` has no operation."""


@dataclass(frozen=True, slots=True)
class Bug:
    """One report or defect, what names it, and the calls that show it, if a pool alone does."""

    id: str
    happened: str
    named_by: tuple[str, ...]  # claims, laws, rules or obligations
    calls: tuple[str, ...] = ()
    actions: frozenset[str] = frozenset()
    of_vllm: bool = False  # executed on vLLM 0.33.0


@cache
def bugs() -> tuple[Bug, ...]:
    """All of them."""
    return (*_of_pools(), *_of_requests(), *_of_vllm())


def naming(name: str) -> list[Bug]:
    """The bugs that this claim, law or rule names."""
    return [bug for bug in bugs() if name in bug.named_by]


def concerning(action: str) -> list[Bug]:
    """The bugs in which this action goes wrong, or is the call that shows it."""
    return [bug for bug in bugs() if action in bug.actions]


def _of_pools() -> Iterator[Bug]:
    for bug in pool_reports():
        yield Bug(bug.id, bug.happened, (bug.law,), _told(bug.run), _actions([line.call for line in bug.run[-1:]]))


def _of_requests() -> Iterator[Bug]:
    obligations = request_reports().obligations
    for bug in request_reports().reports:
        if bug.claim:
            yield Bug(bug.id, bug.happened, (bug.claim, *([] if bug.rule in obligations else [bug.rule])))


def _of_vllm() -> Iterator[Bug]:
    for defect in vllm_defects().executed:
        entries = list(defect.trace()[1])
        laws = tuple(dict.fromkeys(said[0] for said in (defect.strict, defect.own, defect.damage) if said))
        guilty = _actions([_guilty(defect, entries)])
        yield Bug(defect.id, defect.what, laws, _told(entries), guilty, of_vllm=True)


def _told(lines: Iterable[Any]) -> tuple[str, ...]:
    return tuple(f"{shown(line.call)} {answered(line.reply)}" for line in lines)


def _guilty(defect: Defect, entries: list[Any]) -> Any:
    """The call that an audit under our own spec objects to; the last one if it objects to none."""
    found = audit(defect.file, "strict")
    return entries[-1].call if found.entry is None else found.entry.call


def _actions(calls: Iterable[Any]) -> frozenset[str]:
    known = {action.name for action in ACTIONS}
    return frozenset(ACTION_OF[call.op] for call in calls if call.op in ACTION_OF) & known
