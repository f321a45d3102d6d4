"""The explorer over HTTP, for this machine only: the page, and one question about the live spec.

GET /                               the page
GET /walk?scope=NAME&path=12-3.1    the state at the end of the path, and all that can be called in it
"""

import json
from collections.abc import Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from blockpool.proofs.explore.expand import AnyScope
from blockpool.proofs.faces.explorer.page import explorer_page
from blockpool.proofs.faces.stories.stepping import BadPathError, Stepper


class ExplorerServer(ThreadingHTTPServer):
    """Answers on 127.0.0.1; port 0 takes any that is free."""

    daemon_threads = True

    def __init__(self, scopes: Sequence[AnyScope], port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.steppers = {scope.name: Stepper(scope) for scope in scopes}
        self.page = explorer_page(scopes, live=True).encode()

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.server_address[1]}/"

    def answer(self, target: str) -> tuple[HTTPStatus, str, bytes]:
        """Status, type and body for what is asked."""
        asked = urlsplit(target)
        if asked.path == "/":
            return HTTPStatus.OK, "text/html; charset=utf-8", self.page
        if asked.path != "/walk":
            return _json(HTTPStatus.NOT_FOUND, {"error": f"there is nothing at {asked.path}"})
        given = parse_qs(asked.query)
        scope = given.get("scope", [""])[0]
        if scope not in self.steppers:
            return _json(HTTPStatus.NOT_FOUND, {"error": f"there is no scope {scope!r}; {', '.join(self.steppers)}"})
        path = [key for key in given.get("path", [""])[0].split("-") if key]
        try:
            return _json(HTTPStatus.OK, self.steppers[scope].walk(path))
        except BadPathError as error:
            return _json(HTTPStatus.NOT_FOUND, {"error": str(error)})


class _Handler(BaseHTTPRequestHandler):
    server: ExplorerServer

    def do_GET(self) -> None:
        status, kind, body = self.server.answer(self.path)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nobody reads that all is well."""


def _json(status: HTTPStatus, document: Any) -> tuple[HTTPStatus, str, bytes]:
    return status, "application/json", json.dumps(document).encode()
