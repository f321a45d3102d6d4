"""The page: one HTML file with its style, its script and its data, which asks nobody for anything."""

import html
import json
import re
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from blockpool.proofs.explore.expand import AnyScope
from blockpool.proofs.explore.scopes import Scope
from blockpool.proofs.faces.explorer.graph import MOST_STATES, Graph, packed
from blockpool.proofs.faces.stories.pictures import Picture
from blockpool.proofs.faces.stories.stepping import INSIDE, Stepper
from blockpool.proofs.faces.stories.story import Story
from blockpool.spec import CLAIMS, WORLD_CLAIMS
from blockpool.spec.contract.laws import PROMISES

FOLDER = Path(__file__).parent
DRAWING = ("picture.js", "lights.js", "player.js", "theme.js")
"""The scripts that draw states and play stories."""


def explorer_page(scopes: Sequence[AnyScope] = (), stories: Iterable[Story] = (), *, live: bool = False) -> str:
    """The explorer of these scopes, with these stories to play. Live, it asks the server that it came from."""
    told = list(stories)
    title = "blockpool explorer" if scopes else "blockpool story"
    parts = [live_part(scope) if live else packed_part(scope) for scope in scopes]
    data = {"parts": parts, "stories": told, "claims": sentences()}
    return filled("explorer.html", title, data, (*DRAWING, "sources.js", "explorer.js"))


def live_part(scope: AnyScope) -> Picture:
    """A scope of which the server knows every state."""
    return _part(scope, Stepper(scope), "The spec itself answers each call.")


def packed_part(scope: AnyScope, most: int = MOST_STATES) -> Picture:
    """A scope with its states, as far as there are not too many."""
    graph = Graph(scope, most)
    document = packed(graph.document())
    whole = "the first" if graph.cut else "all"
    note = f"This file holds {whole} {len(graph.states):,} states and {graph.steps:,} steps, as the spec takes them."
    return _part(scope, graph.stepper, note) | {"graph": document}


def _part(scope: AnyScope, stepper: Stepper, note: str) -> Picture:
    return {
        "name": scope.name,
        "sentence": scope.sentence,
        "note": note,
        "word": "refused" if isinstance(scope, Scope) else "not now",
        "inside": INSIDE,
        "claims": stepper.claims(),
    }


def sentences() -> dict[str, list[str]]:
    """Sentence and reason of everything that a story can be about."""
    claims = {claim.name: [claim.sentence, claim.reason] for claim in (*CLAIMS, *WORLD_CLAIMS)}
    return {law.name: [law.sentence, law.reason] for law in PROMISES.values()} | claims


def filled(template: str, title: str, data: Any, scripts: Iterable[str], **more: str) -> str:
    """A template of this folder with everything in it. `more` is HTML."""
    words = {
        "title": html.escape(title),
        "style": _read("explorer.css"),
        "data": json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c"),
        "script": "\n".join(map(_read, scripts)),
        "footer": f"Made by blockpool {version('blockpool')}. This page asks nobody for anything.",
        **more,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: words[found[1]], _read(template))


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8").rstrip("\n")
