"""The findings in vLLM are reproduced on the vLLM that is installed, and with our pool in it, those that it rules out
are not.

Needs the release that they are about; `blockpool[vllm]`, or an environment beside this one.
"""

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("vllm", reason="the real vLLM is not installed here")

from blockpool.proofs.cases import observed
from blockpool.proofs.cases.findings import IN_THE_ENGINE, Finding
from blockpool.proofs.cases.reproductions.engine import Engine, installed
from blockpool.proofs.cases.reproductions.saying import NotReproducedError

pytestmark = pytest.mark.filterwarnings("ignore")  # those of vLLM and of torch are their own

RULED_OUT = {"A4", "A5", "A6", "A7", "A10"}
"""What our pool does otherwise. The others are of its contract, or made around the pool."""


def name(one: Finding) -> str:
    return one.id


@pytest.fixture
def engine() -> Engine:
    return installed()


@pytest.fixture
def engine_with_our_pool(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Engine:
    """Without `replace()`: to undo that would bind the name of our pool anew in other tests too."""
    ours = import_module("blockpool.impl.vllm.pool").VllmBlockPool
    monkeypatch.setattr("vllm.v1.core.kv_cache_coordinator.BlockPool", ours)
    return replace(engine, make_pool=ours)


@pytest.mark.parametrize("one", IN_THE_ENGINE, ids=name)
def test_it_is_observed_as_it_is_kept(one: Finding, engine: Engine) -> None:
    assert list(one.reproduction(engine)) == observed.read().findings[one.id]


def test_what_is_recorded_is_what_is_kept(tmp_path: Path) -> None:
    recorded = observed.record(tmp_path / "findings.json")
    assert recorded.findings == observed.read().findings
    assert recorded.vllm == installed().release
    assert json.loads((tmp_path / "findings.json").read_text())["format"] == observed.FORMAT


@pytest.mark.parametrize("one", [one for one in IN_THE_ENGINE if one.id in RULED_OUT], ids=name)
def test_with_our_pool_it_is_not_so(one: Finding, engine_with_our_pool: Engine) -> None:
    with pytest.raises(NotReproducedError, match="not so: "):
        list(one.reproduction(engine_with_our_pool))
