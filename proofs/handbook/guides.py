"""Guides written by hand: pages of docs/ that read as well in the repository as in the book.

In the book all but the two that stand at the top are below `authors`, so links between them are turned; a file of the
repository that a guide links to becomes a page that shows it.
"""

import re
from pathlib import Path

from proofs.handbook import HandbookError

AT_THE_TOP = ("index.md", "authors.md")
LANGUAGES = {".py": "python", ".c": "c", ".json": "json", ".md": "markdown", ".toml": "toml"}


class NoSuchFileError(HandbookError):
    """A guide links to a file that is not there."""


def adopt(root: Path, sources: Path) -> list[str]:
    """Turn the guides in this folder, copied from the repository, into pages; their names. Raises NoSuchFileError."""
    guides = [page for page in sorted(sources.glob("*.md")) if page.name not in AT_THE_TOP]
    below = sources / "authors"
    below.mkdir(exist_ok=True)
    for page in guides:
        text = page.read_text(encoding="utf-8")
        text = re.sub(r"\]\(\.\./([^)#\s]+)\)", lambda found: f"](../{show_file(root, sources, found[1])})", text)
        for name in AT_THE_TOP:
            text = text.replace(f"]({name}", f"](../{name}")
        (below / page.name).write_text(text, encoding="utf-8")
        page.unlink()
    for name in AT_THE_TOP:
        page = sources / name
        text = page.read_text(encoding="utf-8")
        for guide in guides:
            text = text.replace(f"]({guide.name}", f"](authors/{guide.name}")
        page.write_text(text, encoding="utf-8")
    return [page.stem for page in guides]


def show_file(root: Path, sources: Path, file: str) -> str:
    """Make a page that shows a file of the repository; its path."""
    origin = root / file
    if not origin.is_file():
        raise NoSuchFileError(f"a guide links to {file}, which is not there")
    path = f"files/{re.sub('[^a-z0-9]+', '-', file.lower()).strip('-')}.md"
    fence = "`" * 6
    code = f"{fence}{LANGUAGES.get(origin.suffix, 'text')}\n{origin.read_text(encoding='utf-8')}\n{fence}\n"
    target = sources / path
    target.parent.mkdir(exist_ok=True)
    target.write_text(f"---\norphan: true\n---\n\n# `{file}`\n\n{code}", encoding="utf-8")
    return path
