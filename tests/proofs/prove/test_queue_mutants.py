"""Defects seeded into our queue make its proofs fail; the few that do not are explained one by one."""

import pytest

from blockpool.proofs.prove.queue.seeded import HARMLESS, harmless, kill_list, mutants
from blockpool.proofs.prove.queue.source import read_queue

OURS = read_queue("blockpool.impl.free_queue:FreeKVCacheBlockQueue")


@pytest.mark.parametrize(
    ("methods", "every"),
    [
        (("popleft", "remove"), 3),
        (("append", "popleft_n"), 4),
        (("append_n", "get_all_free_blocks"), 6),
        (("remove_n",), 9),
    ],
)
def test_proofs_fail_for_seeded_defects(methods: tuple[str, ...], every: int) -> None:
    trials = list(kill_list(OURS, every=every, methods=methods))
    assert len(trials) > 2
    assert [t.mutant.name for t in trials if not t.killed and not harmless(t.mutant)] == []
    assert [t.mutant.name for t in trials if t.killed and harmless(t.mutant)] == []


def test_every_explanation_is_about_a_defect_that_exists() -> None:
    explained = {(m.method, m.words) for m in mutants(OURS) if harmless(m)}
    assert explained == HARMLESS.keys()
