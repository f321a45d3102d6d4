"""Each shipped adapter asks its pool what it was asked, and reads the answer right: a short story with known answers.

Pools that are not installed, and vLLM releases that were not fetched, are skipped by name; nothing is downloaded.
"""

import pytest

from blockpool.proofs.oracle.adapter import InProcess
from blockpool.proofs.systems.registry import SHIPPED, MissingPoolError, names, shipped
from blockpool.proofs.systems.vllm.files import version_numbers
from blockpool.spec.contract.calls import (
    AllCleared,
    Alloc,
    Cancel,
    Events,
    Fault,
    Free,
    FreeCount,
    Lookup,
    Move,
    Ok,
    Publish,
    PublishPartial,
    Refused,
    RemovedKeys,
    Reset,
    Share,
    Start,
    StoredKeys,
    Unpin,
    Unpublish,
    Writable,
)

WITH_INDEX = [name for name in names() if not name.startswith("sglang")]
VLLM = [name for name in names() if name.startswith("vllm=")]


def subject_of(name: str) -> InProcess:
    try:
        return InProcess(shipped(name))
    except MissingPoolError as missing:
        pytest.skip(str(missing))


def begin(name: str, blocks: int = 6, **more: bool) -> InProcess:
    subject = subject_of(name)
    begun = subject.ask(Start(blocks, **more))
    assert isinstance(begun, Ok), begun
    assert begun.value.capacity == blocks  # type: ignore[union-attr]
    return subject


def value(subject: InProcess, call: object) -> object:
    reply = subject.ask(call)  # type: ignore[arg-type]
    assert isinstance(reply, Ok), (call, reply)
    return reply.value


def test_every_name_is_unique() -> None:
    assert len({one.name for one in SHIPPED}) == len(SHIPPED)


@pytest.mark.parametrize("name", names())
def test_lending_and_taking_back(name: str) -> None:
    subject = begin(name)
    first = value(subject, Alloc(4))
    assert isinstance(first, tuple)
    assert len(set(first)) == 4
    assert value(subject, FreeCount()) == 2
    assert isinstance(subject.ask(Alloc(3)), Refused)
    rest = value(subject, Alloc(2))
    assert isinstance(rest, tuple)
    assert len({*first, *rest}) == 6
    value(subject, Free(first[:1]))
    assert value(subject, FreeCount()) == 1
    assert value(subject, Alloc(1)) == first[:1]


@pytest.mark.parametrize("name", WITH_INDEX)
def test_references_and_keys(name: str) -> None:
    subject = begin(name)
    blocks = value(subject, Alloc(3))
    assert isinstance(blocks, tuple)
    assert value(subject, Publish(blocks[:2], ("a", "b"), (4, 8))) == blocks[:2]
    assert value(subject, Publish(blocks[2:], ("c",), (12,), "b")) == blocks[2:]
    assert [value(subject, Lookup(key)) for key in "abcx"] == [*((block,) for block in blocks), None]
    value(subject, Share(blocks[:1]))
    value(subject, Free(blocks[::-1]))
    assert value(subject, FreeCount()) == 5
    assert value(subject, Lookup("b")) == blocks[1:2]  # free, and still found
    value(subject, Free(blocks[:1]))
    assert value(subject, FreeCount()) == 6
    again = value(subject, Alloc(6))
    assert isinstance(again, tuple)
    assert len(set(again)) == 6
    assert value(subject, Lookup("b")) is None


@pytest.mark.parametrize("name", [*VLLM, "impl", "vllm"])
def test_events_are_read_by_name(name: str) -> None:
    if name == "vllm==0.8.5":
        assert "events" not in subject_of(name).operations
        return
    subject = begin(name, events=True)
    one, two, three = value(subject, Alloc(3))  # type: ignore[misc]
    value(subject, Publish((one, two), ("a", "b"), (4, 8)))
    value(subject, Publish((three,), ("c",), (12,), "b"))
    assert value(subject, Events()) == (StoredKeys(("a", "b"), None, 8, 4), StoredKeys(("c",), "b", 4, 4))
    value(subject, Free((three, two, one)))
    assert value(subject, Events()) == ()
    value(subject, Alloc(4))
    assert value(subject, Events()) == (RemovedKeys(("c",)),)
    value(subject, Free((4, 5, 6, three)))
    assert value(subject, Reset()) is True
    assert value(subject, Events()) == (AllCleared(),)
    assert value(subject, Lookup("a")) is None


@pytest.mark.parametrize("name", [*VLLM, "impl", "vllm"])
def test_groups_are_kept_apart(name: str) -> None:
    subject = subject_of(name)
    if name in ("vllm==0.8.5", "vllm==0.9.0"):
        assert isinstance(subject.ask(Start(6, groups=2)), Refused)
        return
    assert isinstance(subject.ask(Start(6, groups=2)), Ok)
    one, two = value(subject, Alloc(2))  # type: ignore[misc]
    value(subject, Publish((one,), ("a",), (4,), group=0))
    assert value(subject, Lookup("a", (0, 1))) is None
    value(subject, Publish((two,), ("a",), (4,), group=1))
    assert value(subject, Lookup("a", (0, 1))) == (one, two)
    assert value(subject, Lookup("a", (1,))) == (two,)


@pytest.mark.parametrize("name", [*VLLM, "impl", "vllm"])
def test_what_later_releases_can_do(name: str) -> None:
    subject = begin(name)
    version = (99,) if name == "impl" else version_numbers(name.removeprefix("vllm==")) or (0, 33)
    has = {
        "unpublish": version >= (0, 13),
        "publish_partial": version >= (0, 24),
        "move": version >= (0, 26),
        "writable": version >= (0, 29),
        "unpin": version >= (0, 30),
        "cancel": name == "impl",
    }
    assert {op for op, here in has.items() if here} == set(has) & subject.operations
    one, two, three = value(subject, Alloc(3))  # type: ignore[misc]
    value(subject, Publish((one,), ("a",), (4,)))
    if has["unpublish"]:
        value(subject, Unpublish((one,)))
        assert value(subject, Lookup("a")) is None
    if has["publish_partial"]:
        value(subject, PublishPartial(two, "p", 2))
        assert value(subject, Lookup("p")) == (two,)
        value(subject, PublishPartial(two, "q", 3, replace=True))
        assert (value(subject, Lookup("p")), value(subject, Lookup("q"))) == (None, (two,))
    if has["move"]:
        value(subject, Move(two, one))
        assert value(subject, Lookup("q")) == (one,)
    if has["writable"]:
        assert (value(subject, Writable(one)), value(subject, Writable(two))) == (False, True)
    if has["unpin"]:
        value(subject, Unpin((two, three), "reader"))
        if has["cancel"]:
            assert (value(subject, Cancel(three, "reader")), value(subject, Cancel(one, "reader"))) == (True, False)
        told = {(block, "reader") for block in (two, three)} - ({(three, "reader")} if has["cancel"] else set())
        reply = subject.ask(Alloc(5))
        assert isinstance(reply, Ok)
        assert set(reply.told) == told


def test_an_equal_block_takes_the_place_of_a_published_one() -> None:
    for name in ("max-jenga", "transformers"):
        subject = begin(name)
        one, two = value(subject, Alloc(2))  # type: ignore[misc]
        value(subject, Publish((one,), ("a",), (4,)))
        assert value(subject, Publish((two,), ("a",), (4,))) == (one,)
        assert value(subject, FreeCount()) == 5


def test_a_panic_of_a_compiled_pool_is_a_fault() -> None:
    subject = begin("max-jenga")
    (block,) = value(subject, Alloc(1))  # type: ignore[misc]
    reply = subject.ask(Free((block, block)))
    assert isinstance(reply, Fault)
    assert reply.error == "PanicException"
    assert isinstance(subject.ask(Free(("stranger",))), Refused)
