"""A subject at the other end of a pipe: the one in C, and every way in which a process can fail to be one."""

import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from blockpool.proofs.core.obligation import Obligation, Verdict
from blockpool.proofs.oracle.conformance import conform as judged
from blockpool.proofs.oracle.pipe import PipeSubject, SubjectFailedError
from blockpool.spec.contract.calls import (
    Alloc,
    Fault,
    Free,
    FreeCount,
    Lookup,
    Ok,
    Publish,
    Refused,
    Share,
    Start,
    Started,
)

SOURCE = Path(__file__).parent / "subject.c"


def compiled_to(path: Path, *options: str) -> Path:
    """The subject in C. A compiler is part of what the tests need; .ci/run installs one."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler is not None, "the subject in C needs a C compiler: apt-get install gcc libc6-dev"
    subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", *options, "-o", str(path), str(SOURCE)], check=True)
    return path


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled_to(tmp_path_factory.mktemp("subject") / "subject")


@pytest.fixture
def subject(compiled: Path) -> Iterator[PipeSubject]:
    subject = PipeSubject([str(compiled)])
    yield subject
    subject.close()


def test_the_subject_in_c_is_a_pool(subject: PipeSubject) -> None:
    assert (subject.name, subject.profile) == ("subject.c", "order-a")
    answers = [
        (Start(3), Ok(Started(3))),
        (Alloc(2), Ok((1, 2))),
        (Share((1,)), Ok()),
        (Free((1, 1)), Ok()),
        (FreeCount(), Ok(2)),
        (Publish((2,), ("k",), (4,)), Ok()),
        (Lookup("k"), Ok((2,))),
        (Lookup("other"), Ok()),
        (Free((9,)), Refused("unknown block")),
        (Alloc(-1), Refused("bad count")),
        (Alloc(3), Refused("not enough free blocks")),
        (Free(()), Ok()),
    ]
    for call, answer in answers:
        assert subject.ask(call) == answer, call


def test_a_new_start_is_a_new_pool_also_after_the_process_was_ended(subject: PipeSubject) -> None:
    assert subject.ask(Start(3)) == Ok(Started(3))
    assert subject.ask(Alloc(3)) == Ok((1, 2, 3))
    subject.close()
    assert subject.ask(FreeCount()) == Fault("SubjectFailed", "the process is gone since an earlier call")
    assert subject.ask(Start(2)) == Ok(Started(2))
    assert subject.ask(Alloc(2)) == Ok((1, 2))


HELLO = '{"ok": {"name": "odd", "operations": ["start", "alloc", "free", "free_count"]}}'


def python(*lines: str) -> list[str]:
    """A subject that greets, and then does this for each line it reads."""
    body = "\n".join(f"    {line}" for line in lines)
    program = f"import os, sys, time\ninput()\nprint({HELLO!r}, flush=True)\nfor line in sys.stdin:\n{body}"
    return [sys.executable, "-c", program]


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        (["true"], "ended with exit code 0"),
        (["sh", "-c", "kill -9 $$"], "ended by signal 9"),
        (["/no/such/program"], "cannot be run"),
        (["sleep", "60"], "no answer within 0.5 s"),
        (["yes"], "answers more than it is asked"),
        (["sh", "-c", "read x; echo nonsense; sleep 60"], "not JSON"),
        (["sh", "-c", """read x; echo '{"ok": 3}'; sleep 60"""], "the answer to hello is not one"),
        (["sh", "-c", """read x; echo '{"refused": "no"}'; sleep 60"""], "hello was answered with"),
        (["sh", "-c", """read x; echo '{"ok":{"name":"n","operations":["start"]}}'; sleep 60"""], "no operation alloc"),
        (
            ["sh", "-c", """read x; echo '{"ok":{"name":"n","operations":["start","fly"]}}'; sleep 60"""],
            "unknown operations fly",
        ),
    ],
)
def test_what_does_not_greet_is_no_subject(command: list[str], complaint: str) -> None:
    with pytest.raises(SubjectFailedError, match=complaint):
        PipeSubject(command, timeout=0.5)


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (("sys.exit(3)",), "ended with exit code 3"),
        (("os.kill(os.getpid(), 11)",), "ended by signal 11"),
        (("time.sleep(60)",), "no answer within 1 s"),
        (("print('{', flush=True)",), "not JSON"),
        (("print('{\"ok\": 1}', flush=True)",), "field 'ok'"),
        (("print('x' * 70000, flush=True)",), "not JSON"),
        (('os.write(1, b\'{"ok": {"capacity": 3}}\\n{}\\n\')',), "answers more than it is asked"),
        (("sys.stdout.write('{'); sys.stdout.flush(); time.sleep(60)",), "no answer within 1 s"),
    ],
)
def test_a_process_that_fails_is_a_fault_and_is_started_anew(lines: tuple[str, ...], fault: str) -> None:
    subject = PipeSubject(python(*lines), timeout=1.0)
    for _ in range(2):  # the second start runs the command anew
        reply = subject.ask(Start(3))
        assert isinstance(reply, Fault)
        assert fault in reply.message
    subject.close()


def test_a_subject_that_does_not_read_does_not_hold_us_up() -> None:
    subject = PipeSubject(python("time.sleep(60)"), timeout=1.0)
    reply = subject.ask(Free(tuple(range(200_000))))
    assert reply == Fault("SubjectFailed", "no answer within 1 s")
    subject.close()


def conform(path: Path) -> dict[str, Obligation]:
    subject = PipeSubject([str(path)])
    report = judged(subject, runs=15, calls=30)
    subject.close()
    return {obligation.name: obligation for obligation in report.obligations}


def test_the_subject_in_c_conforms(compiled: Path) -> None:
    assert {name for name, found in conform(compiled).items() if found.verdict is not Verdict.HOLDS} == set()


def test_its_twin_with_a_double_release_is_shrunk_to_four_calls(tmp_path: Path) -> None:
    found = conform(compiled_to(tmp_path / "twin", "-DDOUBLE_RELEASE"))
    broken = {name: one.counterexample for name, one in found.items() if one.verdict is Verdict.REFUTED}
    assert set(broken) == {"a_repeated_release_counts_each_naming"}
    example = broken["a_repeated_release_counts_each_naming"]
    assert example is not None
    assert example.as_dict()["calls"] == ["alloc(1)", "share([1])", "free([1, 1])", "free_count()"]


def test_a_line_that_nobody_asked_for_is_noticed_at_the_next_call() -> None:
    subject = PipeSubject(
        python('print(\'{"ok": {"capacity": 3}}\', flush=True)', "time.sleep(0.3)", "print('{}', flush=True)")
    )
    assert subject.ask(Start(3)) == Ok(Started(3))
    time.sleep(1.0)
    assert subject.ask(FreeCount()) == Fault("SubjectFailed", "it answers more than it is asked")
    subject.close()
