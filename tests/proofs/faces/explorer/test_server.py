"""The explorer over HTTP: the page, the question about the live spec, and how the command ends."""

import json
import re
import signal
import socket
import subprocess
import sys
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
import typer
from typer.testing import CliRunner

from blockpool.proofs.explore.scopes import SCOPES
from blockpool.proofs.faces.cli.explore import explore
from blockpool.proofs.faces.explorer.server import ExplorerServer
from blockpool.proofs.faces.stories.pictures import picture_of

TINY = SCOPES["tiny"][0]


def test_ctrl_c_ends_the_server_and_nothing_else() -> None:
    command = [sys.executable, "-m", "blockpool", "explore", "--scope", "tiny", "--serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())
        assert found is not None, process.stderr.read()
        with urlopen(found[0]) as answer:
            assert b"<title>blockpool explorer</title>" in answer.read()
        with urlopen(f"{found[0]}walk?scope=tiny+nested&path=") as answer:
            assert json.load(answer)["state"] == picture_of(SCOPES["tiny"][2].first_state())
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"{found[0]}etc/passwd")
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        assert process.stderr.read() == ""


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("/walk?scope=huge", "there is no scope 'huge'; tiny"),
        ("/walk", "there is no scope ''"),
        ("/walk?scope=tiny&path=0-9999", "step 2 of the path, '9999', is no step of scope tiny"),
        ("/nothing", "there is nothing at /nothing"),
    ],
)
def test_wrong_questions_are_answered_in_words(target: str, words: str) -> None:
    with ExplorerServer([TINY], 0) as server:
        status, kind, body = server.answer(target)
    assert (status, kind) == (404, "application/json")
    assert words in json.loads(body)["error"]


def test_a_port_that_is_taken_is_wrong_usage() -> None:
    app = typer.Typer()
    app.command()(explore)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        result = CliRunner().invoke(app, ["--serve", "--port", str(taken.getsockname()[1])])
    assert result.exit_code == 2
    assert "cannot be used" in result.output
