"""Pictures of states and stories as HTML: rows of blocks, each with all that is said of it in words and not by colour.

They are drawn from the pictures of the explorer, so that pages and explorer show the same.
"""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from blockpool.proofs.faces.stories.pictures import Picture


def drawing(picture: Picture, caption: str, before: Picture | None = None) -> str:
    """A state: the free queue in order, the blocks that are held, the index. What differs from `before` is marked."""
    blocks = {block["id"]: block for block in picture["blocks"]}
    old = {} if before is None else {block["id"]: block for block in before["blocks"]}
    queue = picture["queue"]
    held = [name for name, block in blocks.items() if name not in queue and block["life"] != "null"]
    rows = [
        _row("Free queue, next victim first", [_block(blocks.get(name, {"id": name}), old) for name in queue]),
        _row("Held", [_block(blocks[name], old) for name in held]),
    ]
    rows += [_facts(title, lines) for title, lines in _beside(picture) if lines]
    return f'<figure class="pool"><figcaption>{_text(caption)}</figcaption>\n{"".join(rows)}</figure>\n'


def change(before: Picture, call: str, answer: Sequence[str], after: Picture) -> str:
    """A state, a call, and the state after it."""
    lines = "".join(f"<li>{_text(line)}</li>" for line in answer)
    middle = f'<div class="call"><code>{_text(call)}</code><ul>{lines}</ul></div>\n'
    return f'<div class="change">\n{drawing(before, "Before")}{middle}{drawing(after, "After", before)}</div>\n'


EXPLORER = "explorer.html"
"""The explorer in the book: pages below the top link to it."""


def play(number: int) -> str:
    """A link to a story of the explorer, from a page one folder below the top."""
    return f'<p><a href="../{EXPLORER}#story={number}">Play it in the explorer</a></p>\n'


def strip(story: dict[str, Any]) -> str:
    """A story of the explorer, step by step."""
    items, before = [], None
    for number, frame in enumerate(story["frames"]):
        tells = "".join(f"<li>{_text(line)}</li>" for line in frame["tells"])
        called = "At first" if frame["call"] is None else f"{number}. <code>{_text(frame['call'])}</code>"
        shown = drawing(frame["state"], "The state after it" if number else "The state", before)
        items.append(f'<li><p class="call">{called}</p><ul>{tells}</ul>\n{shown}</li>\n')
        before = frame["state"]
    words = f'<p class="verdict">{_text(story["words"])}</p>\n' if story["words"] else ""
    return f'<ol class="story">\n{"".join(items)}</ol>\n{words}'


def _row(title: str, blocks: Sequence[str]) -> str:
    inside = "".join(blocks) or '<li class="none">none</li>'
    return f'<div class="row"><span class="title">{title}</span><ol>{inside}</ol></div>\n'


def _block(block: Picture, old: dict[str, Picture]) -> str:
    name = block["id"]
    life = block.get("life", "foreign")
    words = [f'<span class="life">{life}</span>']
    if block.get("refs"):
        words.append(f"<span>{_count(block['refs'], 'reference')}</span>")
    words += [f'<span class="key">{_text(key)}</span>' for key in block.get("keys", ())]
    words += [f'<span class="key">alias {_text(key)}</span>' for key in block.get("aliases", ())]
    if block.get("watchers"):
        words.append(f"<span>watched by {_text(', '.join(block['watchers']))}</span>")
    if "holds" in block:
        words.append(f'<span class="memory">memory {_text(" ".join(block["holds"]))}</span>')
    changed = bool(old) and old.get(name) != block
    mark = '<span class="mark">changed</span>' if changed else ""
    return f'<li class="block {life}{" changed" * changed}"><b>{_text(name)}</b>{"".join(words)}{mark}</li>'


def _beside(picture: Picture) -> Iterable[tuple[str, list[str]]]:
    yield "Index", [f"{key} → {', '.join(blocks)}" for key, blocks in picture.get("index", ())]
    yield "Outbox", picture.get("outbox", [])
    yield "Requests", [_request(request) for request in picture.get("requests", ())]
    yield from picture.get("around", ())
    yield "Notes", picture.get("notes", [])


def _request(request: Picture) -> str:
    tables = "; ".join(
        f"group {table['group']}: blocks {', '.join(table['blocks'])}" for table in request.get("tables", ())
    )
    wants = f"{request['name']} ({request['tokens']}, prompt {request['prompt']}) {request['status']}"
    return f"{wants}: {tables}" if tables else wants


def _facts(title: str, lines: Iterable[str]) -> str:
    items = "".join(f"<li>{_text(line)}</li>" for line in lines)
    return f'<div class="facts"><span class="title">{_text(title)}</span><ul>{items}</ul></div>\n'


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _text(words: Any) -> str:
    """Escaped, and on one line: a blank line would end the HTML in Markdown."""
    return " ".join(escape(str(words)).split())
