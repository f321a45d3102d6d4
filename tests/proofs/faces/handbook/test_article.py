"""The claims ledger: every witness does what its claim says, on each pool that is named; and could fail."""

import inspect
import re

import pytest

from blockpool.proofs.cases.article import CLAIMED, Is, On, Said
from blockpool.proofs.systems.vllm.files import NotFetchedError
from blockpool.proofs.systems.vllm.testbench import Lab, ours, vllm

WITNESSED = [one for one in CLAIMED if one.witness is not None]
OF_A_POOL = [one for one in WITNESSED if one.witness is not None and inspect.signature(one.witness).parameters]
OF_FILES = {"15", "26"}  # what they look at is not a pool


def ids(one: Said) -> str:
    return one.number


def real_pool() -> Lab:
    try:
        return vllm()
    except NotFetchedError as missing:
        pytest.skip(str(missing))


def test_every_mistake_of_the_article_is_there_and_what_is_right() -> None:
    numbers = {int(found[1]) for one in CLAIMED if (found := re.match(r"(\d+)", one.number))}
    assert numbers == set(range(1, 33))
    assert sum(one.verdict is Is.RIGHT for one in CLAIMED) >= 7
    assert len({one.number for one in CLAIMED}) == len({one.said for one in CLAIMED}) == len(CLAIMED)


def test_a_claim_without_a_witness_says_that_it_was_only_seen() -> None:
    assert all((one.witness is None) == (one.on is On.SEEN) for one in CLAIMED)
    assert len(WITNESSED) >= 0.75 * len(CLAIMED)


@pytest.mark.parametrize("one", [one for one in OF_A_POOL if one.on is On.BOTH], ids=ids)
def test_it_is_so_on_our_pool(one: Said) -> None:
    assert one.witness is not None
    one.witness(ours())


@pytest.mark.parametrize("one", OF_A_POOL, ids=ids)
def test_it_is_so_on_the_released_pool(one: Said) -> None:
    assert one.witness is not None
    one.witness(real_pool())


@pytest.mark.parametrize("one", [one for one in WITNESSED if one not in OF_A_POOL], ids=ids)
def test_it_is_so_by_itself(one: Said) -> None:
    assert one.witness is not None
    one.witness()


@pytest.mark.parametrize("one", [one for one in OF_A_POOL if one.on is On.VLLM and one.number not in OF_FILES], ids=ids)
def test_a_witness_fails_where_it_is_not_so(one: Said) -> None:
    """Our pool does otherwise, and the witness notices."""
    assert one.witness is not None
    with pytest.raises(Exception):  # noqa: B017, PT011  whatever it is that our pool does instead
        one.witness(ours())
