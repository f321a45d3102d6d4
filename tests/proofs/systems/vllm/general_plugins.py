"""A pytest plug-in for vLLM's own tests: it loads vLLM's general plug-ins first, and notes what came of which test.

BLOCKPOOL_VLLM=record BLOCKPOOL_VLLM_TRACE=DIR pytest -p general_plugins …    DIR/tests.tsv: a trace, its test
BLOCKPOOL_VLLM=watch  BLOCKPOOL_VLLM_TRACE=DIR pytest -p general_plugins …    DIR/breaches.tsv: a test, its breach
"""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import vllm.plugins

vllm.plugins.load_general_plugins()

FOLDER = Path(os.environ["BLOCKPOOL_VLLM_TRACE"]) if "BLOCKPOOL_VLLM_TRACE" in os.environ else None


def _note(name: str, *fields: str) -> None:
    assert FOLDER is not None
    with (FOLDER / name).open("a") as file:
        file.write("\t".join(field.replace("\n", " | ") for field in fields) + "\n")


class Breaches(logging.Handler):
    """Notes every breach under the test that is running."""

    def emit(self, record: logging.LogRecord) -> None:
        _note("breaches.tsv", os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0], record.getMessage())


if FOLDER is not None:
    logging.getLogger("blockpool.watch").addHandler(Breaches())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Note the traces that the test leaves."""
    before = set(FOLDER.glob("*.jsonl")) if FOLDER is not None else set()
    yield
    for trace in sorted(set(FOLDER.glob("*.jsonl")) - before) if FOLDER is not None else ():
        _note("tests.tsv", trace.name, item.nodeid)
