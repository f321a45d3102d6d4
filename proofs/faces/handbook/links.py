"""Dead links: every link in the built pages, to a file or a place in one, must lead somewhere. Nothing is fetched."""

from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit


class DeadLink(NamedTuple):
    """A link that leads nowhere."""

    page: str
    target: str


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[str] = []
        self.places: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.places.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def dead_links(folder: Path) -> tuple[int, list[DeadLink]]:
    """How many links within the folder there are, and those that lead nowhere."""
    count, dead = 0, []
    for page in sorted(folder.rglob("*.html")):
        for link in _read(page).links:
            if _is_outside(link):
                continue
            count += 1
            if not _leads_somewhere(folder, page, link):
                dead.append(DeadLink(page.relative_to(folder).as_posix(), link))
    _read.cache_clear()
    return count, dead


@cache
def _read(page: Path) -> _Reader:
    reader = _Reader()
    reader.feed(page.read_text(encoding="utf-8"))
    return reader


def _is_outside(link: str) -> bool:
    return bool(urlsplit(link).scheme or urlsplit(link).netloc)


def _leads_somewhere(folder: Path, page: Path, link: str) -> bool:
    parts = urlsplit(link)
    target = page if not parts.path else (page.parent / unquote(parts.path)).resolve()
    if target.is_dir():
        target /= "index.html"
    if not target.is_file() or (not target.is_relative_to(folder.resolve()) and target != page):
        return False
    if not parts.fragment or target.suffix != ".html" or "=" in parts.fragment:
        return True  # what has "=" is no place on a page but a state of the explorer
    return unquote(parts.fragment) in _read(target).places
