"""Writing a page in MyST Markdown: headings, sentences with their terms linked, tables, code, links to other pages."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

TERMS: dict[str, str] = {}
"""Words that are linked to the glossary where a page first uses them: how they are written, and the term they mean."""


@dataclass
class Page:
    """A page while it is written."""

    path: str  # without the suffix
    title: str
    label: str = ""
    parts: list[str] = field(default_factory=list)
    linked: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.parts += [f"({self.label})="] if self.label else []
        self.parts.append(f"# {self.title}\n")

    @property
    def text(self) -> str:
        """The source of the page."""
        return "\n".join(self.parts) + "\n"

    def heading(self, words: str, label: str = "", level: int = 2) -> None:
        self.parts += [f"({label})="] if label else []
        self.parts.append(f"{'#' * level} {words}\n")

    def say(self, words: str) -> None:
        """A paragraph of plain words: nothing in it is markup but `code`."""
        self.parts.append(f"{self.with_terms(plain(words))}\n")

    def markdown(self, text: str) -> None:
        """Written by whoever knows what it is."""
        self.parts.append(f"{text}\n")

    def quote(self, words: str) -> None:
        """What a page is about, in one sentence."""
        self.parts.append(f"> {self.with_terms(plain(words))}\n")

    def items(self, lines: Iterable[str]) -> None:
        """A list; each line is Markdown."""
        self.parts.append("\n".join(f"- {line}" for line in lines) + "\n")

    def code(self, text: str, language: str = "python") -> None:
        self.parts.append(f"```{language}\n{text.rstrip()}\n```\n")

    def html(self, text: str) -> None:
        self.parts.append(text)

    def fold(self, title: str, text: str) -> None:
        """Markdown that is shown when asked for."""
        self.parts.append(f"<details><summary>{title}</summary>\n\n{text}\n\n</details>\n")

    def table(self, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Cells are Markdown."""
        lines = [_cells(head), _cells(["---"] * len(head)), *map(_cells, rows)]
        self.parts.append("\n".join(lines) + "\n")

    def toctree(self, paths: Iterable[str], caption: str = "") -> None:
        """The pages below this one, in the menu."""
        options = f":caption: {caption}\n" if caption else ""
        self.parts.append(f"```{{toctree}}\n:maxdepth: 1\n:hidden:\n{options}\n" + "\n".join(paths) + "\n```\n")

    def with_terms(self, text: str) -> str:
        """The first use of each term of the glossary on this page becomes a link to it."""
        if not TERMS:
            return text
        pieces = re.split(r"(`[^`]*`)", text)  # not within code
        return "".join(piece if place % 2 else _TERM().sub(self._term, piece) for place, piece in enumerate(pieces))

    def _term(self, found: "re.Match[str]") -> str:
        word = found[0]
        term = TERMS[word.lower()]
        if term in self.linked:
            return word
        self.linked.add(term)
        return f"{{term}}`{word} <{term}>`"


def _TERM() -> "re.Pattern[str]":  # noqa: N802
    longest_first = sorted(TERMS, key=len, reverse=True)
    return re.compile(rf"\b({'|'.join(map(re.escape, longest_first))})\b", re.IGNORECASE)


def plain(words: str) -> str:
    """Words as Markdown that shows just these words; `code` stays code."""
    pieces = re.split(r"(`[^`]*`)", words)
    return "".join(
        piece if place % 2 else re.sub(r"([*<>\[\]|_])", r"\\\1", piece) for place, piece in enumerate(pieces)
    )


def claim(name: str) -> str:
    """A link to the page of a claim."""
    return f"[`{name}`](#claim-{name})"


def action(name: str) -> str:
    """A link to the page of an action."""
    return f"[`{name}`](#action-{name})"


def law(name: str) -> str:
    """A link to a law of the oracle."""
    return f"[`{name}`](#law-{name})"


def rule(name: str) -> str:
    """A link to a rule of schedulers."""
    return f"[`{name}`](#rule-{name})"


def named(name: str, known: Mapping[str, object]) -> str:
    """A link to whatever has this name: `known` says which kind of thing each name is."""
    makers = {"claim": claim, "action": action, "law": law, "rule": rule}
    kind = known.get(name)
    return makers[str(kind)](name) if kind in makers else f"`{name}`"


def _cells(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("\n", " ") for cell in cells) + " |"
