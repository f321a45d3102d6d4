"""Guides written by hand: pages of docs/ that read as well in the repository as in the book.

In the book all but those that stand at the top are below `authors`, so links between them are turned; a file of the
repository that a guide links to becomes a page that shows it, and a picture is copied.
"""

import re
import shutil
from pathlib import Path

from blockpool.proofs.cases import CaseError

AT_THE_TOP = ("index.md", "authors.md", "speed.md")
PICTURES = frozenset({".svg", ".png"})
LANGUAGES = {".py": "python", ".c": "c", ".json": "json", ".toml": "toml"}


class NoSuchFileError(CaseError):
    """A guide links to a file that is not there."""


def adopt(root: Path, sources: Path) -> list[str]:
    """Turn the guides in this folder, copied from the repository, into pages; their names. Raises NoSuchFileError."""
    guides = [page for page in sorted(sources.glob("*.md")) if page.name not in AT_THE_TOP]
    below = sources / "authors"
    below.mkdir(exist_ok=True)
    for page in guides:
        text = _with_files(root, sources, page.read_text(encoding="utf-8"), "../")
        for name in AT_THE_TOP:
            text = text.replace(f"]({name}", f"](../{name}")
        (below / page.name).write_text(text, encoding="utf-8")
        page.unlink()
    for page in (sources / name for name in AT_THE_TOP):
        text = _with_files(root, sources, page.read_text(encoding="utf-8"), "")
        for guide in guides:
            text = text.replace(f"]({guide.name}", f"](authors/{guide.name}")
        page.write_text(text, encoding="utf-8")
    return [page.stem for page in guides]


def _with_files(root: Path, sources: Path, text: str, up: str) -> str:
    """The text of a page with its links to files of the repository turned; `up` leads from it to the top."""
    return re.sub(r"\]\(\.\./([^)#\s]+)\)", lambda found: f"]({up}{show_file(root, sources, found[1])})", text)


def show_file(root: Path, sources: Path, file: str) -> str:
    """Make a page that shows a file of the repository, or copy a picture; its path."""
    origin = root / file
    if not origin.is_file():
        raise NoSuchFileError(f"a guide links to {file}, which is not there")
    name = re.sub("[^a-z0-9]+", "-", file.lower()).strip("-")
    (sources / "files").mkdir(exist_ok=True)
    if origin.suffix in PICTURES:
        path = f"files/{name}{origin.suffix}"
        shutil.copy(origin, sources / path)
        return path
    path = f"files/{name}.md"
    fence, text = "`" * 6, origin.read_text(encoding="utf-8")
    if origin.suffix != ".md":
        text = f"# `{file}`\n\n{fence}{LANGUAGES.get(origin.suffix, 'text')}\n{text}\n{fence}\n"
    (sources / path).write_text(f"---\norphan: true\n---\n\n{text}", encoding="utf-8")
    return path
