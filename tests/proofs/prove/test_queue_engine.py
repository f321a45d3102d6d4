"""The engine itself: what it refuses to guess, and that it is noticed when a part of it stops working."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import z3

from blockpool.proofs.core.obligation import Obligation, Verdict
from blockpool.proofs.prove.queue import execution, invariants, loops, methods, obligations, operations, values
from blockpool.proofs.prove.queue.obligations import Prover, queue_obligations
from blockpool.proofs.prove.queue.operations import BY_NAME
from blockpool.proofs.prove.queue.source import QueueSource, parse_queue

TEXT = Path(__file__).with_name("unchecked_queue.py").read_text()
POPLEFT = '            raise IndexError("empty")\n'


def changed(old: str, new: str) -> QueueSource:
    assert TEXT.count(old) == 1, old
    return parse_queue(TEXT.replace(old, new), "UncheckedQueue")


def first(source: QueueSource, method: str) -> Obligation:
    return next(queue_obligations(source, seeds=(0,), methods=[method]))


def proved(source: QueueSource, method: str) -> bool:
    """By proof alone: the promise about legal calls."""
    return (
        next(Prover(source, (0,), 2_000_000).proofs(BY_NAME[method], ["refines the sequence"])).verdict == Verdict.HOLDS
    )


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("            note(self)\n", "note is called, which the method does not define"),
        ("            [x for x in ()]\n", "Expr is not modelled here: [x for x in ()]"),
        ("            try:\n                pass\n            finally:\n                pass\n", "Try is not modelled"),
        ("            self.hint = 1\n", "self.hint is set"),
        ("            if first.number: pass\n", ".number is read"),
        ("            first.number = None\n", ".number of a block is set"),
        ("            for x in self.append: pass\n", "self.append is read"),
        ("            for x in range(2):\n                pass\n", "no invariant is stated for the loop"),
    ],
)
def test_what_is_not_modelled_is_never_guessed(statement: str, words: str) -> None:
    obligation = first(changed(POPLEFT, statement + POPLEFT), "popleft")
    assert obligation.verdict == Verdict.INCONCLUSIVE
    assert words in obligation.words
    assert "<text>:23: " in obligation.words


def test_what_a_loop_changes_behind_its_text_is_noticed() -> None:
    """popleft_n calls a helper at each step, which fills a list that the loop does not name as one that grows."""
    text = TEXT.replace(
        "            taken.append(node)\n", "            taken.append(node)\n            self.note(node, other)\n"
    )
    text = text.replace("        taken = []\n", "        taken = []\n        other = []\n")
    text += "\n    def note(self, node, other):\n        other.append(node)\n"
    source = parse_queue(text, "UncheckedQueue")
    proof = next(Prover(source, (0,)).proofs(BY_NAME["popleft_n"], ["refines the sequence"]))
    assert proof.verdict == Verdict.INCONCLUSIVE
    assert "changes list 2, which its text does not show" in proof.words


def test_a_crash_is_not_a_refusal() -> None:
    found = list(
        queue_obligations(changed("if not block.left or not block.right:", "if not block.left:"), methods=["remove"])
    )
    assert [o.verdict for o in found] == [Verdict.HOLDS, Verdict.REFUTED]  # the tail sentinel has a block before it
    assert "remove(tail) crashes: AttributeError" in found[1].words


def test_a_loop_that_does_not_end_is_refuted_by_a_run_and_not_proved() -> None:
    endless = changed(
        "            listed.append(node)\n            node = node.right\n", "            listed.append(node)\n"
    )
    assert "does not end" in first(endless, "get_all_free_blocks").words
    assert not proved(endless, "get_all_free_blocks")


def test_a_failed_proof_without_a_broken_run_is_inconclusive_and_shows_a_heap() -> None:
    late = changed(
        "        self.remove(first)\n",
        "        if self.size > 5:\n            self.size += 1\n        self.remove(first)\n",
    )
    obligation = first(late, "popleft")
    assert obligation.verdict == Verdict.INCONCLUSIVE
    assert "no run breaks this" in obligation.words
    assert "the heap before the call" in obligation.words


def test_arguments_that_cannot_exist_make_a_promise_vacuous(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(operations.A_BLOCK, "nonsense", z3.And(operations.LENGTH > 3, operations.LENGTH < 3))
    found = [o.verdict for o in queue_obligations(parse_queue(TEXT, "UncheckedQueue"), seeds=(0,), methods=["remove"])]
    assert found == [Verdict.VACUOUS, Verdict.VACUOUS]


def test_a_promise_that_is_proved_but_fails_in_a_run_cannot_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    source = changed("        self.size -= 1\n", "        pass\n")
    monkeypatch.setattr(obligations, "decide", lambda *_args, **_kwargs: obligations.Outcome(Verdict.HOLDS))
    assert first(source, "remove").verdict == Verdict.REFUTED


def test_a_wrong_invariant_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(invariants.FrontIsTaken):
        def facts(self, loop: Any, k: Any, view: Any) -> Any:
            return {**super().facts(loop, k, view), "wrong": k == 0}

    monkeypatch.setitem(invariants.STATED, ("popleft_n", 0), Wrong())
    assert not proved(parse_queue(TEXT, "UncheckedQueue"), "popleft_n")


def _never_crashes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(execution.Execution, "crashes_if", lambda self, condition, words: self.know("x", z3.Not(condition)))


def _loops_claim_nothing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(loops.Loop, "claim", lambda *_args: None)


def _one_branch_only(patch: pytest.MonkeyPatch) -> None:
    def branch(self: Any, condition: Any) -> bool:
        self.know("branch", condition)
        return True

    patch.setattr(execution.Execution, "branch", branch)


def _writes_are_lost(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(values, "updated", lambda field, at, value: field)


def _is_not_is_is(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(execution.Execution, "different", execution.Execution.same)


def _goals_are_empty(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(methods, "_after_legal_call", lambda ending: {"nothing": z3.BoolVal(True)})


def _counter_is_ignored(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(methods, "_fields", lambda ending, length: {})


ENGINE_DEFECTS = [
    _never_crashes, _loops_claim_nothing, _one_branch_only, _writes_are_lost, _is_not_is_is, _goals_are_empty,
    _counter_is_ignored,
]  # fmt: skip
CANARIES = [  # a defect, and the method of which the proof has to fail
    ("        self.size -= 1\n", "        pass\n", "remove"),
    ("            node = node.right\n            gone.left", "            gone.left", "popleft_n"),
    ("            gone.left = gone.right = None\n", "            gone.left = gone.right = gone\n", "popleft_n"),
    (
        "        block.left.right = block.right\n",
        "        far = block.left.left.left\n        block.left.right = block.right\n",
        "remove",
    ),
    ("        if first is self.list_tail:\n", "        if first is not self.list_tail:\n", "popleft"),
    ("        node.left = self.list_head\n", "        node.left.left = self.list_head\n", "popleft_n"),
]


def proofs_are_sound() -> bool:
    """The right queue is proved, and no canary is."""
    right = parse_queue(TEXT, "UncheckedQueue")
    if not all(proved(right, method) for method in ("remove", "popleft", "popleft_n", "get_all_free_blocks")):
        return False
    return not any(proved(changed(old, new), method) for old, new, method in CANARIES)


def test_the_canaries_are_caught() -> None:
    assert proofs_are_sound()


@pytest.mark.parametrize("defect", ENGINE_DEFECTS)
def test_a_defect_of_the_engine_is_noticed(defect: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    defect(monkeypatch)
    assert not proofs_are_sound()
